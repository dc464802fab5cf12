//! The lists of the panel: filters, a table with the rows of one page, links to the other pages. Every list is a [`List`],
//! logs too:
//!
//! ```text
//! let mut list = List::new(req, "people", &path);
//! let search = UserSearch { text: list.search("people-search"), .. };
//! let page = users.search(id, &search, request).await?;
//! let table = Table::new(req.tr("nav-people"), req.columns("column-name email")).rows(rows);
//! let links = list.page_links(request, &page);
//! list.reply_with_new(head, table, &links, new).await
//! ```

mod links;

pub(crate) use links::PageLinks;

use crate::admin_request::AdminRequest;
use crate::format::{self, Zone};
use crate::parts::{Choice, Column, EmptyState, Field, Head, Html, PageAction, Table, render};
use crate::reply::Reply;
use crate::translator::Translator;
use askama::Template;
use civitas_kernel::{Direction, LogPage, LogRequest, Page, PageRequest, Result};
use std::fmt::Display;
use std::str::FromStr;
use time::OffsetDateTime;

/// The most rows on a page of a list.
pub(crate) const PER_PAGE: i64 = 25;

/// A filter in use, and the address without it.
pub(crate) struct Chip {
    text: String,
    href: String,
}

/// The form of the filters, which is sent with GET.
#[derive(Template)]
#[template(path = "parts/filters.html")]
struct Filters<'a> {
    translator: &'a Translator,
    label: String,
    fields: Vec<Html>,
}

/// All below the filters. Scripts replace it when a filter changes.
#[derive(Template)]
#[template(path = "parts/results.html")]
struct Results<'a> {
    translator: &'a Translator,
    /// The number of rows, or their order.
    text: String,
    chips: Vec<Chip>,
    /// The address without filters.
    all: &'a str,
    table: Html,
    pages: Html,
}

/// A list. Each filter is declared once: it is a field, a condition, and a chip when it is in use. Unknown values in the
/// address are ignored.
pub(crate) struct List<'a> {
    pub(crate) req: &'a AdminRequest,
    /// The keys of its texts begin with it: `jobs-lede`, `jobs-filter`.
    name: &'a str,
    /// The address without parameters.
    path: &'a str,
    fields: Vec<Html>,
    /// The filters in use.
    pub(crate) chips: Vec<Chip>,
    /// The value of `sort` for the other order, and the order of the list.
    order: (Option<&'static str>, Direction),
    /// Whether it is a log: the text above the table is its order, and its pages are newer and older ones.
    is_log: bool,
    /// The text above the table, where it is not the number of its rows.
    summary: Option<String>,
}

impl<'a> List<'a> {
    /// The list of this name at this address.
    pub(crate) fn new(req: &'a AdminRequest, name: &'a str, path: &'a str) -> Self {
        let order = (None, Direction::Ascending);
        Self { req, name, path, fields: Vec::new(), chips: Vec::new(), order, is_log: false, summary: None }
    }

    /// As [`Self::new`], of a log, which has the newest rows first.
    pub(crate) fn log(req: &'a AdminRequest, name: &'a str, path: &'a str) -> Self {
        Self { is_log: true, ..Self::new(req, name, path) }.with_summary(req.tr("newest-first"))
    }

    /// With this text above the table instead of the number of its rows.
    pub(crate) fn with_summary(self, text: String) -> Self {
        Self { summary: Some(text), ..self }
    }

    /// A filter in use, which leads to the list without it.
    pub(crate) fn chip(&self, parameter: &str, text: impl Into<String>) -> Chip {
        Chip { text: text.into(), href: self.req.query.with(self.path, parameter, None) }
    }

    /// Adds a field, and this chip.
    pub(crate) fn field_with_chip(&mut self, field: &Field, chip: Option<Chip>) {
        self.fields.push(field.html(&self.req.translator));
        self.chips.extend(chip);
    }

    /// Adds a field for this parameter, and returns its value, which is the text of the chip.
    pub(crate) fn field(&mut self, parameter: &str, field: &Field) -> Option<&'a str> {
        let value = self.req.query.get(parameter);
        self.field_with_chip(field, value.map(|value| self.chip(parameter, value)));
        value
    }

    /// Adds a search field with this placeholder, and returns its text.
    pub(crate) fn search(&mut self, placeholder: &str) -> Option<String> {
        let req = self.req;
        let field = Field::search("q", req.tr("search"), req.query.field_value("q"));
        self.field("q", &field.placeholder(req.tr(placeholder))).map(str::to_owned)
    }

    /// Adds a line of text.
    pub(crate) fn line(&mut self, parameter: &str, label: &str) -> Option<String> {
        let field = Field::text(parameter, self.req.tr(label), self.req.query.field_value(parameter));
        self.field(parameter, &field).map(str::to_owned)
    }

    /// Adds the first or the last time, in UTC: `from` or `to`.
    pub(crate) fn time(&mut self, parameter: &str) -> Option<OffsetDateTime> {
        let field = Field::datetime(parameter, self.req.tr(parameter), self.req.query.field_value(parameter));
        self.field(parameter, &field).and_then(|text| format::parse_datetime_field(Zone::utc(), text))
    }

    fn select_field(&self, parameter: &str, label: &str, choices: Vec<Choice>) -> Field {
        Field::select(parameter, self.req.tr(label), self.req.query.field_value(parameter), choices)
    }

    /// Adds a choice of all or one of these, and returns the value of the parameter, which the caller parses. Its chip has
    /// the value.
    pub(crate) fn select(
        &mut self,
        parameter: &str,
        label: &str,
        choices: impl IntoIterator<Item = Choice>,
    ) -> Option<&'a str> {
        let all = std::iter::once(Choice::new("", self.req.tr("all")));
        let field = self.select_field(parameter, label, all.chain(choices).collect());
        self.field(parameter, &field)
    }

    /// Adds a choice of all or one of these: the value of the parameter, the key of its text, and what it stands for. Its
    /// chip has the text.
    pub(crate) fn choice<T: Copy>(
        &mut self,
        parameter: &str,
        label: &str,
        choices: &[(&str, &str, T)],
    ) -> Option<T> {
        let req = self.req;
        let all = std::iter::once(Choice::new("", req.tr("all")));
        let fields = choices.iter().map(|(value, key, _)| Choice::new(*value, req.tr(key)));
        let chosen = choices.iter().find(|(value, ..)| Some(*value) == req.query.get(parameter));
        let field = self.select_field(parameter, label, all.chain(fields).collect());
        self.field_with_chip(&field, chosen.map(|(_, key, _)| self.chip(parameter, req.tr(key))));
        chosen.map(|(.., one)| *one)
    }

    /// Adds the choice of the order: descending, or with this value of `sort` ascending. `texts`: the keys of both.
    pub(crate) fn order(&mut self, ascending: &'static str, texts: [&str; 2]) -> Direction {
        let [first, second] = texts.map(|key| self.req.tr(key));
        let choices = vec![Choice::new("", first), Choice::new(ascending, second)];
        self.field_with_chip(&self.select_field("sort", "sort-by", choices), None);
        let is_ascending = self.req.query.get("sort") == Some(ascending);
        self.order = if is_ascending {
            (None, Direction::Ascending)
        } else {
            (Some(ascending), Direction::Descending)
        };
        self.order.1
    }

    /// Makes the head of a column a link to the list in the other order.
    pub(crate) fn with_order_link(&self, table: Table, column: usize) -> Table {
        let (other, direction) = self.order;
        let direction = if direction == Direction::Ascending { "ascending" } else { "descending" };
        table.with_sort_link(column, self.req.query.with(self.path, "sort", other), Some(direction))
    }

    /// The page of a log to read. `id`: makes the id of a row of its number or UUID.
    pub(crate) fn log_request<N: FromStr, I>(&self, id: fn(N) -> I) -> LogRequest<I> {
        LogRequest { start: links::log_start(&self.req.query, id), limit: PER_PAGE }
    }

    /// The links to the pages before and after this one.
    pub(crate) fn page_links<T>(&self, request: PageRequest, page: &Page<T>) -> PageLinks<'a> {
        PageLinks::numbered(self.req, self.path, request, page.has_more, self.is_log)
    }

    /// The links to newer and older rows. `row`: the time and the id of a row.
    pub(crate) fn log_page_links<T, I: Display>(
        &self,
        page: &LogPage<T>,
        row: impl Fn(&T) -> (OffsetDateTime, I),
    ) -> PageLinks<'a> {
        PageLinks::by_time(self.req, self.path, page, row)
    }

    /// What the table shows without rows: `none`, or with filters in use that no row matches (`{name}-no-match`), and this
    /// hint.
    pub(crate) fn empty_state(&self, none: EmptyState, hint: String) -> EmptyState {
        if self.chips.is_empty() {
            return none;
        }
        let action = Some((self.path.to_owned(), self.req.tr("filter-clear")));
        EmptyState { title: self.text("no-match"), text: hint, action }
    }

    fn text(&self, part: &str) -> String {
        self.req.tr(&format!("{}-{part}", self.name))
    }

    /// All below the filters: number of rows, chips, table, links to other pages.
    pub(crate) fn results(self, table: &Table, links: &PageLinks<'_>) -> Html {
        let translator = &self.req.translator;
        let text = self.summary.unwrap_or_else(|| translator.tr_count("found-shown", table.row_count()));
        let (table, pages) = (table.html(), links.html());
        render(&Results { translator, text, chips: self.chips, all: self.path, table, pages })
    }

    /// The page with the list: head with the sentence `{name}-lede`, form of the filters (`{name}-filter`), results.
    pub(crate) async fn reply(mut self, head: Head, table: &Table, links: &PageLinks<'_>) -> Result<Reply> {
        let (req, head) = (self.req, head.lede(self.text("lede")));
        let (label, fields) = (self.text("filter"), std::mem::take(&mut self.fields));
        let filters = Filters { translator: &req.translator, label, fields };
        req.page(head, Html::join([render(&filters), self.results(table, links)])).await
    }

    /// As [`Self::reply`], with the link to the form of a new record: its address and label. The table shows `{name}-none`
    /// or `{name}-no-match` without rows.
    pub(crate) async fn reply_with_new(
        self,
        head: Head,
        table: Table,
        links: &PageLinks<'_>,
        new: (String, String),
    ) -> Result<Reply> {
        let none = EmptyState::new(self.text("none"), self.text("lede")).with_new(new.clone());
        let table = table.empty(self.empty_state(none, String::new()));
        self.reply(head.action(PageAction::primary(new.0, new.1)), &table, links).await
    }
}

impl AdminRequest {
    /// The columns with these keys of their labels, such as `column-name column-people:num:low column-acts`. `num`: numbers;
    /// `low`: left out on a narrow page; `column-acts`: the actions of each row.
    pub(crate) fn columns(&self, keys: &str) -> Vec<Column> {
        let column = |text: &str| {
            let (key, classes) = text.split_once(':').unwrap_or((text, ""));
            let column = Column::new(self.tr(key));
            let column = if key == "column-acts" { column.hidden() } else { column };
            let column = if classes.contains("num") { column.num() } else { column };
            if classes.contains("low") { column.low() } else { column }
        };
        keys.split_whitespace().map(column).collect()
    }
}
