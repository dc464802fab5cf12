//! Tables. Narrow ones are laid out as cards, so each cell has the label of its column and the roles of a table.

use super::html::render;
use super::{Badge, Html};
use askama::Template;

/// The head of a column.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    label: String,
    /// `num`, `low` or both.
    class: &'static str,
    /// The address that sorts by it.
    sort: Option<String>,
    /// `ascending` or `descending`.
    sorted: Option<&'static str>,
    /// Whether only screen readers get the label.
    is_hidden: bool,
}

impl Column {
    pub(crate) fn new(label: impl Into<String>) -> Self {
        Self { label: label.into(), class: "", sort: None, sorted: None, is_hidden: false }
    }

    /// Numbers, at the right.
    pub(crate) fn num(mut self) -> Self {
        self.class = "num";
        self
    }

    /// Left out on a narrow page.
    pub(crate) fn low(mut self) -> Self {
        self.class = if self.class == "num" { "num low" } else { "low" };
        self
    }

    /// With a label for screen readers alone.
    pub(crate) fn hidden(mut self) -> Self {
        self.is_hidden = true;
        self
    }
}

/// A cell.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    html: Html,
    class: &'static str,
}

/// An action on a row. Screen readers also get the name of the row.
#[derive(Debug, Clone)]
pub(crate) enum RowAction {
    Link { href: String, label: String, row_name: String },
    Post { action: String, label: String, row_name: String, token: String, method: &'static str },
}

impl RowAction {
    pub(crate) fn link(href: impl Into<String>, label: String, row_name: impl Into<String>) -> Self {
        Self::Link { href: href.into(), label, row_name: row_name.into() }
    }

    pub(crate) fn post(
        action: impl Into<String>,
        label: String,
        row_name: impl Into<String>,
        token: String,
    ) -> Self {
        Self::Post { action: action.into(), label, row_name: row_name.into(), token, method: "" }
    }
}

#[derive(Template)]
#[template(
    source = r#"{% if !href.is_empty() %}<a class="{{ class }}" href="{{ href }}">{{ text }}</a>{% else %}<span class="{{ class }}">{{ text }}</span>{% endif %}{% if !sub.is_empty() %}<span class="sub">{{ sub }}</span>{% endif %}"#,
    ext = "html"
)]
struct Named<'a> {
    href: &'a str,
    class: &'a str,
    text: &'a str,
    sub: &'a str,
}

#[derive(Template)]
#[template(path = "parts/row_actions.html")]
struct RowActions<'a> {
    actions: &'a [RowAction],
}

#[derive(Template)]
#[template(
    source = r#"<ul class="bare long">{% for name in names %}<li>{% for part in name.split_inclusive('.') %}{{ part }}<wbr>{% endfor %}</li>{% endfor %}</ul>"#,
    ext = "html"
)]
struct Names<'a> {
    names: &'a [String],
}

impl Cell {
    pub(crate) fn html(html: Html) -> Self {
        Self { html, class: "" }
    }

    pub(crate) fn text(text: &str) -> Self {
        Self::html(Html::text(text))
    }

    /// Something that is absent.
    pub(crate) fn muted(text: &str) -> Self {
        Self::html(render(&Named { href: "", class: "soft", text, sub: "" }))
    }

    /// A link, such as the name of a row to its page, with a text below it.
    pub(crate) fn link(href: &str, text: &str, sub: &str) -> Self {
        Self::html(render(&Named { href, class: "", text, sub }))
    }

    /// Text with something below it.
    pub(crate) fn with_subtext(text: &str, sub: &str) -> Self {
        Self::html(render(&Named { href: "", class: "", text, sub }))
    }

    /// An identifier.
    pub(crate) fn mono(href: &str, text: &str) -> Self {
        Self::html(render(&Named { href, class: "mono", text, sub: "" }))
    }

    pub(crate) fn badge(badge: &Badge) -> Self {
        Self::html(badge.html())
    }

    /// States.
    pub(crate) fn badges(badges: &[Badge]) -> Self {
        Self::html(Html::join(badges.iter().flat_map(|badge| [badge.html(), Html::text(" ")])))
    }

    /// A state, and why it is so.
    pub(crate) fn badge_with_subtext(badge: &Badge, sub: &str) -> Self {
        Self::html(Html::join([badge.html(), render(&Named { href: "", class: "sub", text: sub, sub: "" })]))
    }

    /// A time: as machines read it, and as the page writes it.
    pub(crate) fn time(iso: &str, text: &str) -> Self {
        Self::html(Html::element("time", &[("class", "nowrap"), ("datetime", iso)], text))
    }

    /// Names on the wire, one below the other.
    pub(crate) fn names(names: &[String]) -> Self {
        Self::html(render(&Names { names }))
    }

    pub(crate) fn actions(actions: &[RowAction]) -> Self {
        Self { html: render(&RowActions { actions }), class: "acts-cell" }
    }

    /// The content of the cell, without its class.
    pub(crate) fn into_html(self) -> Html {
        self.html
    }

    /// Over the whole width where rows are cards.
    pub(crate) fn full_width(mut self) -> Self {
        self.class = "whole";
        self
    }
}

/// What a table without rows shows.
#[derive(Debug, Clone, Default)]
pub(crate) struct EmptyState {
    pub(crate) title: String,
    pub(crate) text: String,
    /// Address and label of the one action.
    pub(crate) action: Option<(String, String)>,
}

impl EmptyState {
    /// Without an action.
    pub(crate) fn new(title: impl Into<String>, text: impl Into<String>) -> Self {
        Self { title: title.into(), text: text.into(), action: None }
    }

    /// With the link to the form of a new record: address and label.
    pub(crate) fn with_new(self, new: (String, String)) -> Self {
        Self { action: Some(new), ..self }
    }
}

/// A table. The first cell of a row is its name.
#[derive(Debug, Template)]
#[template(path = "parts/table.html")]
pub(crate) struct Table {
    caption: String,
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
    empty: EmptyState,
}

impl Table {
    pub(crate) fn new(caption: impl Into<String>, columns: Vec<Column>) -> Self {
        Self { caption: caption.into(), columns, rows: Vec::new(), empty: EmptyState::default() }
    }

    pub(crate) fn rows(mut self, rows: impl IntoIterator<Item = Vec<Cell>>) -> Self {
        self.rows.extend(rows);
        self
    }

    pub(crate) fn empty(mut self, empty: EmptyState) -> Self {
        self.empty = empty;
        self
    }

    /// Makes the head of a column a link: its position, the address of the list sorted by it, the direction now.
    pub(crate) fn with_sort_link(
        mut self,
        position: usize,
        href: String,
        direction: Option<&'static str>,
    ) -> Self {
        if let Some(column) = self.columns.get_mut(position) {
            (column.sort, column.sorted) = (Some(href), direction);
        }
        self
    }

    /// The number of rows.
    pub(crate) fn row_count(&self) -> usize {
        self.rows.len()
    }

    /// The rows, each cell with the label and the classes of its column.
    fn cells(&self) -> Vec<Vec<PlacedCell<'_>>> {
        let placed = |(at, cell): (usize, &Cell)| {
            let column = self.columns.get(at);
            let label = column.filter(|column| !column.is_hidden).map_or("", |column| &column.label);
            let class = format!("{} {}", column.map_or("", |column| column.class), cell.class);
            PlacedCell { html: cell.html.clone(), label, class: class.trim().to_owned() }
        };
        self.rows.iter().map(|cells| cells.iter().enumerate().map(placed).collect()).collect()
    }
}

/// A cell in its column.
struct PlacedCell<'a> {
    html: Html,
    label: &'a str,
    class: String,
}
