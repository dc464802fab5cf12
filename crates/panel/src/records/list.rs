//! The list of the records of a kind: filters, order, columns, pages.

use super::components::within_from_query;
use super::{Components, RecordPages, list_path};
use crate::admin_request::AdminRequest;
use crate::pages::content::organization::head;
use crate::pages::content::shared::{open_organization_in_zone, title};
use crate::parts::{
    Cell, Chip, Choice, EmptyState, Field, Filters, Head, Html, PageAction, RowAction, Table,
};
use crate::reply::Reply;
use civitas_kernel::{Direction, LocationFilter, OrganizationId, Result, SpaceRef, Translated};
use std::fmt::Display;

/// The rows of a page of a list.
pub(crate) const PER_PAGE: i64 = 25;

/// The filters of a list. Each is declared once: it is a field, a condition, and a chip above the list when it is in use.
/// Unknown values in the address are ignored.
pub(crate) struct ListFilters<'a> {
    pub(crate) req: &'a AdminRequest,
    path: &'a str,
    fields: Vec<Html>,
    /// The filters in use.
    pub(crate) chips: Vec<Chip>,
    /// The value of `sort` for the other order, and the order of the list.
    order: (Option<&'static str>, Direction),
}

impl<'a> ListFilters<'a> {
    /// Those of the list with this address.
    pub(crate) fn new(req: &'a AdminRequest, path: &'a str) -> Self {
        Self { req, path, fields: Vec::new(), chips: Vec::new(), order: (None, Direction::Ascending) }
    }

    /// Adds a field, and its chip when it is in use.
    pub(crate) fn field(&mut self, field: &Field, chip: Option<Chip>) {
        self.fields.push(field.html(&self.req.translator));
        self.chips.extend(chip);
    }

    fn select(&self, name: &str, label: &str, choices: Vec<Choice>) -> Field {
        Field::select(name, self.req.tr(label), self.req.query.field_value(name), choices)
    }

    /// Adds a search field with this placeholder, and returns its text.
    pub(crate) fn text(&mut self, placeholder: &str) -> Option<String> {
        let (req, query) = (self.req, &self.req.query);
        let field = Field::search("q", req.tr("search"), query.field_value("q"));
        let text = query.get("q").map(str::to_owned);
        let chip = text.clone().map(|text| req.chip(self.path, "q", text));
        self.field(&field.placeholder(req.tr(placeholder)), chip);
        text
    }

    /// Adds a choice of a component or a space.
    pub(crate) fn within(&mut self, components: &Components) -> LocationFilter {
        self.field(&components.filter(self.req), components.chip(self.req, self.path));
        within_from_query(self.req)
    }

    /// Adds a choice of these: the value of the parameter, the key of its text, and what it stands for.
    pub(crate) fn choice<T: Copy>(
        &mut self,
        name: &str,
        label: &str,
        choices: &[(&str, &str, T)],
    ) -> Option<T> {
        let req = self.req;
        let all = std::iter::once(Choice::new("", req.tr("all")));
        let fields = choices.iter().map(|(value, key, _)| Choice::new(*value, req.tr(key)));
        let chosen = choices.iter().find(|(value, ..)| Some(*value) == req.query.get(name));
        let field = self.select(name, label, all.chain(fields).collect());
        self.field(&field, chosen.map(|(_, key, _)| req.chip(self.path, name, req.tr(key))));
        chosen.map(|(.., one)| *one)
    }

    /// Adds the choice of the order: descending, or with this value of `sort` ascending. `texts`: the keys of both.
    pub(crate) fn order(&mut self, ascending: &'static str, texts: [&str; 2]) -> Direction {
        let [first, second] = texts.map(|key| self.req.tr(key));
        let choices = vec![Choice::new("", first), Choice::new(ascending, second)];
        self.field(&self.select("sort", "sort-by", choices), None);
        let is_ascending = self.req.query.get("sort") == Some(ascending);
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
        table.sorted(column, self.req.query.with(self.path, "sort", other), Some(direction))
    }

    /// The page of the list of this name: head, form of the filters, number found, table, links to other pages.
    pub(crate) async fn show(
        self,
        name: &str,
        head: Head,
        found: String,
        table: &Table,
        pages: Html,
    ) -> Result<Reply> {
        let (req, label) = (self.req, self.req.tr(&format!("{name}-filter")));
        let filters = Filters { translator: &req.translator, label, fields: self.fields };
        let results = req.results(self.path, found, self.chips, table, pages);
        req.page(head, Html::join([filters.html(), results])).await
    }

    /// As [`Self::show`], with the texts of the list: `{name}-lede`, `{name}-none`, `{name}-no-match`. `new`: the address and
    /// the label of the form of a new record.
    pub(crate) async fn show_with_new(
        self,
        name: &str,
        head: Head,
        found: String,
        table: Table,
        pages: Html,
        new: (String, String),
    ) -> Result<Reply> {
        let text = |part: &str| self.req.tr(&format!("{name}-{part}"));
        let empty = if self.chips.is_empty() {
            EmptyState::new(text("none"), text("lede")).with_new(new.clone())
        } else {
            self.req.no_match(self.path, text("no-match"))
        };
        let head = head.lede(text("lede")).action(PageAction::primary(new.0, new.1));
        self.show(name, head, found, &table.empty(empty), pages).await
    }
}

/// A list that is shown.
pub(crate) struct ShownList<'a> {
    pub(crate) req: &'a AdminRequest,
    pub(crate) organization: OrganizationId,
    path: &'a str,
    components: &'a Components,
}

impl ShownList<'_> {
    /// The cell of the component of a record, with its space.
    pub(crate) fn component(&self, name: &Translated, space: SpaceRef) -> Cell {
        let space = self.components.space_title(self.req, space).unwrap_or_default();
        Cell::with_subtext(&title(self.req, name), &space)
    }

    /// A row: the title of the record, these cells, and an action: the last part of its address, and the text of its button.
    pub(crate) fn row(
        &self,
        id: &impl Display,
        name: &Translated,
        action: &str,
        key: &str,
        cells: Vec<Cell>,
    ) -> Vec<Cell> {
        let (req, path, row_name) = (self.req, format!("{}/{id}", self.path), title(self.req, name));
        let (edit, number) = (format!("{path}/edit"), req.tr_with("component-id", "id", id.to_string()));
        let title = Cell::link(&edit, &row_name, &number);
        let actions = [
            RowAction::post(format!("{path}/{action}"), req.tr(key), row_name.clone(), req.token()),
            RowAction::link(edit, req.tr("edit"), row_name),
        ];
        std::iter::once(title).chain(cells).chain([Cell::actions(&actions)]).collect()
    }
}

/// `GET` of the list.
pub(crate) async fn show<E: RecordPages>(req: &AdminRequest) -> Result<Reply> {
    let (id, organization) = open_organization_in_zone(req).await?;
    let (path, request) = (list_path::<E>(id), req.query.page(PER_PAGE));
    let new = (format!("{path}/new"), req.tr(&format!("{}-new", E::NAME)));
    let components = Components::load(req, id, E::COMPONENT_KIND).await?;
    let mut filters = ListFilters::new(req, &path);
    let page = E::search(&mut filters, &components, id, request).await?;
    let list = ShownList { req, organization: id, path: &path, components: &components };
    let rows = E::rows(&list, &page.items).await?;
    let (name, shown) = (req.tr(&format!("nav-{}", E::PATH)), req.row_count_text(rows.len()));
    let table = Table::new(name.clone(), req.columns(E::COLUMNS)).rows(rows);
    let table = filters.sorted(table, E::SORTED);
    let pages = req.pagination(&path, request, page.has_more);
    filters.show_with_new(E::PATH, head(req, id, &organization, name), shown, table, pages, new).await
}
