//! Participatory spaces of an organization: list and creation (contract 05 §2).

use super::opened_space::{space_kind_key, space_kind_name, space_path, spaces_path, visibility_name};
use super::organization::{self, open_organization};
use super::space_form;
use crate::admin_request::AdminRequest;
use crate::list::{List, PER_PAGE};
use crate::notice::Notice;
use crate::parts::{Badge, Cell, Choice, Field, FormErrors, Table};
use crate::records::{self, EditableRecord};
use crate::reply::Reply;
use crate::translated::title;
use civitas_audit::Action;
use civitas_kernel::{OrganizationId, Result, SpaceKind, SpaceRef, Translated};
use civitas_organizations::Organization;
use civitas_spaces::{Space, SpaceSearch};
use std::collections::HashMap;

/// Declares the filters, and returns what they ask for.
fn read_search(list: &mut List<'_>) -> SpaceSearch {
    let kinds = SpaceKind::ALL.map(|kind| (kind.as_str(), space_kind_key(kind), kind));
    let kinds = kinds.each_ref().map(|(value, key, kind)| (*value, key.as_str(), *kind));
    let states = [("published", "published", true), ("not_published", "not-published", false)];
    SpaceSearch {
        text: list.search("spaces-search"),
        kind: list.choice("kind", "column-kind", &kinds),
        published: list.choice("state", "column-state", &states),
    }
}

/// The row of a space: `active` has the titles of active steps, `components` the numbers of components.
fn row(
    req: &AdminRequest,
    id: OrganizationId,
    space_ref: SpaceRef,
    space: &Space,
    active: &HashMap<SpaceRef, String>,
    components: &HashMap<SpaceRef, i64>,
) -> Vec<Cell> {
    vec![
        Cell::link(
            &space_path(id, space_ref),
            &title(req, &space.title),
            space.slug.as_deref().unwrap_or(""),
        ),
        Cell::text(&space_kind_name(req, space_ref.kind)),
        Cell::text(&space_ref.id.to_string()),
        Cell::badge(&Badge::published(&req.translator, space.published_at.is_some())),
        Cell::text(&visibility_name(req, space.visibility)),
        match active.get(&space_ref) {
            Some(step) => Cell::text(step),
            None if space_ref.kind == SpaceKind::ParticipatoryProcesses => {
                Cell::muted(&req.tr("step-none-active"))
            }
            None => Cell::text(""),
        },
        Cell::text(&req.number(components.get(&space_ref).copied().unwrap_or_default())),
        Cell::text(&req.date(space.updated_at)),
    ]
}

pub(crate) async fn list(req: &AdminRequest) -> Result<Reply> {
    let (id, organization) = open_organization(req).await?;
    let (store, base) = (req.store(), spaces_path(id));
    let mut list = List::new(req, "spaces", &base);
    let (search, request) = (read_search(&mut list), req.query.page(PER_PAGE));
    let page = store.spaces().search(id, &search, request).await?;
    let refs: Vec<SpaceRef> = page.items.iter().map(|(space, _)| *space).collect();
    let active = store.steps().active_of(id, &refs).await?;
    let active: HashMap<SpaceRef, String> =
        active.into_iter().map(|(_, step)| (step.space, title(req, &step.title))).collect();
    let components: HashMap<SpaceRef, i64> =
        store.components().count_in(id, &refs).await?.into_iter().collect();
    let rows =
        page.items.iter().map(|(space_ref, space)| row(req, id, *space_ref, space, &active, &components));
    let caption = req.tr_with("spaces-caption", "organization", organization::name(req, &organization));
    let columns = req.columns(
        "column-title column-kind column-id:low column-state visibility step-active components:num:low \
         column-changed",
    );
    let links = list.page_links(request, &page).label(req.tr("spaces-pages"));
    let table = Table::new(caption, columns).rows(rows);
    let head = organization::head(req, id, &organization, req.tr("spaces"));
    let new = (format!("{base}/new"), req.tr("space-new"));
    list.reply_with_new(head, table, &links, new).await
}

/// The kind that was chosen in the form, or with the address.
fn chosen_kind(req: &AdminRequest) -> SpaceKind {
    let name = req.form.get("space[manifest]").or_else(|| req.query.get("manifest"));
    name.and_then(SpaceKind::parse).unwrap_or(SpaceKind::ParticipatoryProcesses)
}

pub(crate) async fn new(req: &AdminRequest) -> Result<Reply> {
    let (id, organization) = open_organization(req).await?;
    let space = Space::new(chosen_kind(req), Translated::default(), req.now);
    new_page(req, id, &organization, &space, Vec::new()).await
}

async fn new_page(
    req: &AdminRequest,
    id: OrganizationId,
    organization: &Organization,
    space: &Space,
    problems: FormErrors,
) -> Result<Reply> {
    let kinds = SpaceKind::ALL.map(|one| Choice::new(one.as_str(), space_kind_name(req, one)));
    let of_kind =
        Field::select("space[manifest]", req.tr("column-kind"), space.kind.as_str(), kinds.to_vec())
            .hint(req.tr("space-kind-hint"))
            .class("medium")
            .check(&problems)
            .html(&req.translator);
    let [mut identity, who] = space_form::sections(req, organization, space, &problems, true);
    identity.fields.insert(0, of_kind);
    let path = spaces_path(id);
    let form = req.build_form(&path, "space-create").sections([identity, who]).cancel(&path);
    let head = organization::head(req, id, organization, req.tr("space-new"))
        .crumb(req.tr("spaces"), spaces_path(id))
        .lede(req.tr("space-new-lede"));
    req.form_page(head, form.html(), problems).await
}

pub(crate) async fn create(req: &AdminRequest) -> Result<Reply> {
    let (id, organization) = open_organization(req).await?;
    let mut space = Space::new(chosen_kind(req), Translated::default(), req.now);
    let problems = space_form::read_form(req, &mut space);
    if !problems.is_empty() {
        return new_page(req, id, &organization, &space, problems).await;
    }
    let created = records::create(req, id, &organization, &space, Action::SpaceCreated, async |_| Ok(()));
    match created.await {
        Ok(space_ref) => {
            let name = title(req, &space.title);
            let notice = Notice::success(req.tr_with("space-created", "name", name));
            req.redirect(space_path(id, space_ref), notice.text(req.tr("space-created-next"))).await
        }
        Err(error) => {
            let problems = Space::form_errors(req, &organization, error)?;
            new_page(req, id, &organization, &space, problems).await
        }
    }
}
