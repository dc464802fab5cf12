//! The list of the records of a kind, and the rows of its table.

use super::{ComponentChoice, RecordPages, list_path};
use crate::admin_request::AdminRequest;
use crate::list::{List, PER_PAGE};
use crate::pages::content::organization::{head, open_organization};
use crate::parts::{Cell, RowAction, Table};
use crate::reply::Reply;
use crate::translated::title;
use civitas_kernel::{OrganizationId, Result, SpaceRef, Translated};
use std::fmt::Display;

/// What the rows of a table need besides their records.
pub(crate) struct RowContext<'a> {
    pub(crate) req: &'a AdminRequest,
    pub(crate) organization: OrganizationId,
    /// The address of the list.
    path: &'a str,
    components: &'a ComponentChoice,
}

impl RowContext<'_> {
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
pub(crate) async fn list<E: RecordPages>(req: &AdminRequest) -> Result<Reply> {
    let (id, organization) = open_organization(req).await?;
    let (path, request) = (list_path::<E>(id), req.query.page(PER_PAGE));
    let new = (format!("{path}/new"), req.tr(&format!("{}-new", E::NAME)));
    let components = ComponentChoice::load(req, id, E::COMPONENT_KIND).await?;
    let mut list = List::new(req, E::PATH, &path);
    let page = E::search(&mut list, &components, id, request).await?;
    let context = RowContext { req, organization: id, path: &path, components: &components };
    let rows = E::rows(&context, &page.items).await?;
    let name = req.tr(&format!("nav-{}", E::PATH));
    let table = Table::new(name.clone(), req.columns(E::COLUMNS)).rows(rows);
    let (table, links) = (list.with_order_link(table, E::SORTED), list.page_links(request, &page));
    list.reply_with_new(head(req, id, &organization, name), table, &links, new).await
}
