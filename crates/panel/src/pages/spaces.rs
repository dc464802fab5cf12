//! Participatory spaces of an organization: list and creation (contract 05 §2).

use super::content::{base, kind, kind_key, opened, path, published, title, visibility};
use super::organization;
use super::space_form;
use crate::notice::Notice;
use crate::parts::{Act, Cell, Choice, Column, Empty, Field, Html, Problem, Table};
use crate::records::{self, EditableRecord, ListFilters, PER_PAGE};
use crate::reply::Reply;
use crate::visit::Visit;
use civitas_audit::Action;
use civitas_kernel::{OrganizationId, Result, SpaceManifest, SpaceRef, Translated};
use civitas_organizations::Organization;
use civitas_spaces::{Space, SpaceSearch};
use std::collections::HashMap;

/// Declares the filters, and returns what they ask for.
fn search(filters: &mut ListFilters<'_>) -> SpaceSearch {
    let kinds = SpaceManifest::ALL.map(|manifest| (manifest.as_str(), kind_key(manifest), manifest));
    let kinds = kinds.each_ref().map(|(value, key, manifest)| (*value, key.as_str(), *manifest));
    let states = [("published", "published", true), ("not_published", "not-published", false)];
    SpaceSearch {
        text: filters.text("spaces-search"),
        manifest: filters.choice("kind", "column-kind", &kinds),
        published: filters.choice("state", "column-state", &states),
    }
}

/// The row of a space: `active` has the titles of active steps, `components` the numbers of components.
fn row(
    visit: &Visit,
    id: OrganizationId,
    own: SpaceRef,
    space: &Space,
    active: &HashMap<SpaceRef, String>,
    components: &HashMap<SpaceRef, i64>,
) -> Vec<Cell> {
    vec![
        Cell::link(&path(id, own), &title(visit, &space.title), space.slug.as_deref().unwrap_or("")),
        Cell::text(&kind(visit, own.manifest)),
        Cell::text(&own.id.to_string()),
        Cell::badge(&published(visit, space.published_at.is_some())),
        Cell::text(&visibility(visit, space.visibility)),
        match active.get(&own) {
            Some(step) => Cell::text(step),
            None if own.manifest == SpaceManifest::ParticipatoryProcesses => {
                Cell::soft(&visit.say("step-none-active"))
            }
            None => Cell::text(""),
        },
        Cell::num(&visit.number(components.get(&own).copied().unwrap_or_default())),
        Cell::text(&visit.date(space.updated_at)),
    ]
}

fn columns(visit: &Visit) -> Vec<Column> {
    vec![
        Column::new(visit.say("column-title")),
        Column::new(visit.say("column-kind")),
        Column::new(visit.say("column-id")).low(),
        Column::new(visit.say("column-state")),
        Column::new(visit.say("visibility")),
        Column::new(visit.say("step-active")),
        Column::new(visit.say("components")).num().low(),
        Column::new(visit.say("column-changed")),
    ]
}

pub(crate) async fn list(visit: &mut Visit) -> Result<Reply> {
    let (id, organization) = opened(visit).await?;
    let visit = &*visit;
    let (store, base) = (visit.panel.store(), base(id));
    let mut filters = ListFilters::new(visit, &base);
    let (search, request) = (search(&mut filters), visit.query.page(PER_PAGE));
    let page = store.spaces().search(id, &search, request).await?;
    let refs: Vec<SpaceRef> = page.items.iter().map(|(space, _)| *space).collect();
    let active = store.steps().active_of(id, &refs).await?;
    let active: HashMap<SpaceRef, String> =
        active.into_iter().map(|(_, step)| (step.space, title(visit, &step.title))).collect();
    let components: HashMap<SpaceRef, i64> =
        store.components().count_in(id, &refs).await?.into_iter().collect();
    let rows = page.items.iter().map(|(own, space)| row(visit, id, *own, space, &active, &components));
    let chips = std::mem::take(&mut filters.chips);
    let empty = if chips.is_empty() {
        let act = Some((format!("{base}/new"), visit.say("space-new")));
        Empty { title: visit.say("spaces-none"), text: visit.say("spaces-lede"), act }
    } else {
        visit.no_match(&base, visit.say("spaces-no-match"))
    };
    let name = organization::name(visit, &organization).into();
    let caption = visit.tell("spaces-caption", &[("organization", name)]);
    let table = Table::new(caption, columns(visit)).rows(rows).empty(empty);
    let pages = visit.named_pages(&base, visit.say("spaces-pages"), request, page.has_more).html();
    let results = visit.results(&base, (visit.shown(page.items.len()), chips), &table, pages);
    let head = organization::head(visit, id, &organization, visit.say("spaces"))
        .lede(visit.say("spaces-lede"))
        .act(Act::primary(format!("{base}/new"), visit.say("space-new")));
    visit.page(head, Html::join([filters.html("spaces-filter"), results])).await
}

/// The kind that was chosen in the form, or with the address.
fn chosen_kind(visit: &Visit) -> SpaceManifest {
    let name = visit.form.get("space[manifest]").or_else(|| visit.query.get("manifest"));
    name.and_then(SpaceManifest::parse).unwrap_or(SpaceManifest::ParticipatoryProcesses)
}

pub(crate) async fn new(visit: &mut Visit) -> Result<Reply> {
    let (id, organization) = opened(visit).await?;
    let space = Space::new(chosen_kind(visit), Translated::default(), visit.now);
    show_new(visit, id, &organization, &space, Vec::new()).await
}

async fn show_new(
    visit: &Visit,
    id: OrganizationId,
    organization: &Organization,
    space: &Space,
    problems: Vec<Problem>,
) -> Result<Reply> {
    let kinds = SpaceManifest::ALL.map(|manifest| Choice::new(manifest.as_str(), kind(visit, manifest)));
    let of_kind =
        Field::select("space[manifest]", visit.say("column-kind"), space.manifest.as_str(), kinds.to_vec())
            .hint(visit.say("space-kind-hint"))
            .class("medium")
            .check(&problems)
            .html(&visit.words);
    let action = (base(id), "space-create");
    let form =
        space_form::form(visit, organization, space, action, &problems, Some(of_kind)).cancel(base(id));
    let head = organization::head(visit, id, organization, visit.say("space-new"))
        .crumb(visit.say("spaces"), base(id))
        .lede(visit.say("space-new-lede"));
    visit.form_page(head, form.html(), problems).await
}

pub(crate) async fn create(visit: &mut Visit) -> Result<Reply> {
    let (id, organization) = opened(visit).await?;
    let visit = &*visit;
    let mut space = Space::new(chosen_kind(visit), Translated::default(), visit.now);
    let problems = space_form::read(visit, &mut space);
    if !problems.is_empty() {
        return show_new(visit, id, &organization, &space, problems).await;
    }
    let new = (&space, Action::SpaceCreated);
    match records::create(visit, id, &organization, new, async |_| Ok(())).await {
        Ok(own) => {
            let name = title(visit, &space.title);
            let notice = Notice::good(visit.tell("space-created", &[("name", name.into())]));
            visit.redirect(path(id, own), notice.text(visit.say("space-created-next"))).await
        }
        Err(fault) => {
            let problems = Space::problems(visit, &organization, fault)?;
            show_new(visit, id, &organization, &space, problems).await
        }
    }
}
