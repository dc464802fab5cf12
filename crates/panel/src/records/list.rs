//! The list of the records of a kind: filters, order, columns, pages.

use super::components::within;
use super::{Components, RecordPages, list_path};
use crate::pages::content::{in_its_zone, title};
use crate::pages::organization::head;
use crate::parts::{Act, Cell, Chip, Choice, Column, Empty, Field, Filters, Html, RowAct, Table};
use crate::reply::Reply;
use crate::visit::Visit;
use civitas_kernel::{Direction, OrganizationId, Result, SpaceRef, Translated, Within};
use std::fmt::Display;

/// The rows of a page of a list.
pub(crate) const PER_PAGE: i64 = 25;

/// The filters of a list. Each is declared once: it is a field, a condition, and a mark above the list when it is in use.
/// Unknown values in the address are left out.
pub(crate) struct ListFilters<'a> {
    pub(crate) visit: &'a Visit,
    path: &'a str,
    fields: Vec<Html>,
    /// The filters in use.
    pub(crate) chips: Vec<Chip>,
    /// The value of `sort` for the other order, and the order of the list.
    order: (Option<&'static str>, Direction),
}

impl<'a> ListFilters<'a> {
    /// Those of the list with this address.
    pub(crate) fn new(visit: &'a Visit, path: &'a str) -> Self {
        Self { visit, path, fields: Vec::new(), chips: Vec::new(), order: (None, Direction::Ascending) }
    }

    /// A field, and its mark when it is in use.
    pub(crate) fn field(&mut self, field: &Field, chip: Option<Chip>) {
        self.fields.push(field.html(&self.visit.words));
        self.chips.extend(chip);
    }

    fn select(&self, name: &str, label: &str, choices: Vec<Choice>) -> Field {
        Field::select(name, self.visit.say(label), self.visit.query.shown(name), choices)
    }

    /// A part of a text, with the text of its placeholder.
    pub(crate) fn text(&mut self, placeholder: &str) -> Option<String> {
        let (visit, query) = (self.visit, &self.visit.query);
        let field = Field::search("q", visit.say("search"), query.shown("q"));
        let text = query.get("q").map(str::to_owned);
        let chip = text.clone().map(|text| visit.chip(self.path, "q", text));
        self.field(&field.placeholder(visit.say(placeholder)), chip);
        text
    }

    /// A component or a space.
    pub(crate) fn place(&mut self, components: &Components) -> Within {
        self.field(&components.filter(self.visit), components.chip(self.visit, self.path));
        within(self.visit)
    }

    /// One of these: the value of the parameter, its text, and what it stands for.
    pub(crate) fn choice<T: Copy>(
        &mut self,
        name: &str,
        label: &str,
        choices: &[(&str, &str, T)],
    ) -> Option<T> {
        let visit = self.visit;
        let all = std::iter::once(Choice::new("", visit.say("all")));
        let fields = choices.iter().map(|(value, key, _)| Choice::new(*value, visit.say(key)));
        let chosen = choices.iter().find(|(value, ..)| Some(*value) == visit.query.get(name));
        let field = self.select(name, label, all.chain(fields).collect());
        self.field(&field, chosen.map(|(_, key, _)| visit.chip(self.path, name, visit.say(key))));
        chosen.map(|(.., one)| *one)
    }

    /// The order: descending, or ascending with this value of `sort`. The texts of both, descending first.
    pub(crate) fn order(&mut self, ascending: &'static str, texts: [&str; 2]) -> Direction {
        let [first, second] = texts.map(|key| self.visit.say(key));
        let choices = vec![Choice::new("", first), Choice::new(ascending, second)];
        self.field(&self.select("sort", "sort-by", choices), None);
        let is_ascending = self.visit.query.get("sort") == Some(ascending);
        self.order = if is_ascending {
            (None, Direction::Ascending)
        } else {
            (Some(ascending), Direction::Descending)
        };
        self.order.1
    }

    /// Makes a column change the order.
    pub(crate) fn sorted(&self, table: Table, column: usize) -> Table {
        let (other, direction) = self.order;
        let direction = if direction == Direction::Ascending { "ascending" } else { "descending" };
        table.sorted(column, self.visit.query.with(self.path, "sort", other), Some(direction))
    }

    /// The form of the filters, with the text of its name.
    pub(crate) fn html(self, label: &str) -> Html {
        Filters { words: &self.visit.words, label: self.visit.say(label), fields: self.fields }.html()
    }
}

/// A list that is shown.
pub(crate) struct ShownList<'a> {
    pub(crate) visit: &'a Visit,
    pub(crate) organization: OrganizationId,
    path: &'a str,
    components: &'a Components,
}

impl ShownList<'_> {
    /// The cell of the component of a record, with its space.
    pub(crate) fn place(&self, name: &Translated, space: SpaceRef) -> Cell {
        let space = self.components.space(self.visit, space).unwrap_or_default();
        Cell::with_sub(&title(self.visit, name), &space)
    }

    /// A row: the title of the record, these cells, and an act: the last part of its address, and the text of its button.
    pub(crate) fn row(
        &self,
        (id, name): (impl Display, &Translated),
        (act, key): (&str, &str),
        cells: Vec<Cell>,
    ) -> Vec<Cell> {
        let (visit, own, of) = (self.visit, format!("{}/{id}", self.path), title(self.visit, name));
        let (edit, number) =
            (format!("{own}/edit"), visit.tell("component-id", &[("id", id.to_string().into())]));
        let title = Cell::link(&edit, &of, &number);
        let acts = [
            RowAct::post(format!("{own}/{act}"), visit.say(key), of.clone(), visit.token()),
            RowAct::link(edit, visit.say("edit"), of),
        ];
        std::iter::once(title).chain(cells).chain([Cell::acts(&acts)]).collect()
    }
}

/// `GET` of the list.
pub(crate) async fn show<E: RecordPages>(visit: &mut Visit) -> Result<Reply> {
    let (id, home) = in_its_zone(visit).await?;
    let (visit, path, request) = (&*visit, list_path::<E>(id), visit.query.page(PER_PAGE));
    let text = |part: &str| visit.say(&format!("{}-{part}", E::PATH));
    let new = (format!("{path}/new"), visit.say(&format!("{}-new", E::NAME)));
    let components = Components::load(visit, id, E::COMPONENTS).await?;
    let mut filters = ListFilters::new(visit, &path);
    let page = E::search(&mut filters, &components, id, request).await?;
    let list = ShownList { visit, organization: id, path: &path, components: &components };
    let rows = E::rows(&list, &page.items).await?;
    let shown = visit.shown(rows.len());
    let empty = if filters.chips.is_empty() {
        Empty { title: text("none"), text: text("lede"), act: Some(new.clone()) }
    } else {
        visit.no_match(&path, text("no-match"))
    };
    let columns = E::COLUMNS.iter().map(|(key, is_low)| {
        let column = Column::new(visit.say(key));
        if *is_low { column.low() } else { column }
    });
    let columns = columns.chain([Column::acts(visit.say("column-acts"))]).collect();
    let name = visit.say(&format!("nav-{}", E::PATH));
    let table = Table::new(name.clone(), columns).rows(rows);
    let table = filters.sorted(table.empty(empty), E::SORTED);
    let chips = std::mem::take(&mut filters.chips);
    let pages = visit.pages(&path, request, page.has_more);
    let results = visit.results(&path, (shown, chips), &table, pages);
    let head = head(visit, id, &home, name).lede(text("lede")).act(Act::primary(new.0, new.1));
    visit.page(head, Html::join([filters.html(&format!("{}-filter", E::PATH)), results])).await
}
