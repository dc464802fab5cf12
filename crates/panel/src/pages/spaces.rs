//! Participatory spaces of an organization: list and creation (contract 05 §2).

use super::content::{base, field_of, kind, number, opened, path, published, title, visibility};
use super::organization::{self, LIST};
use super::space_form;
use crate::error;
use crate::notice::Notice;
use crate::parts::{Act, Cell, Chip, Choice, Column, Empty, Field, Head, Html, Problem, Table};
use crate::reply::Reply;
use crate::visit::Visit;
use civitas_audit::Action;
use civitas_kernel::records::RecordAdmin;
use civitas_kernel::{OrganizationId, Result, SpaceManifest, SpaceRef, Translated};
use civitas_organizations::Organization;
use civitas_spaces::{Space, SpaceAdmin, SpaceSearch, check_title};
use std::collections::HashMap;

const PER_PAGE: i64 = 25;

/// What the filters ask for. Unknown values are left out.
fn search(visit: &Visit) -> SpaceSearch {
    SpaceSearch {
        manifest: visit.query.get("kind").and_then(SpaceManifest::parse),
        published: match visit.query.get("state") {
            Some("published") => Some(true),
            Some("not_published") => Some(false),
            _ => None,
        },
        text: visit.query.get("q").map(str::to_owned),
    }
}

fn kinds(visit: &Visit) -> Vec<Choice> {
    let choice = |manifest: SpaceManifest| Choice::new(manifest.as_str(), kind(visit, manifest));
    SpaceManifest::ALL.into_iter().map(choice).collect()
}

fn filters(visit: &Visit) -> Html {
    let states = [("published", "published"), ("not_published", "not-published")];
    visit
        .filters(visit.say("spaces-filter"))
        .search(visit.say("spaces-search"))
        .select("kind", visit.say("column-kind"), kinds(visit))
        .select(
            "state",
            visit.say("column-state"),
            states.map(|(name, key)| Choice::new(name, visit.say(key))),
        )
        .html()
}

/// The filters in use.
fn chips(visit: &Visit, list: &str, search: &SpaceSearch) -> Vec<Chip> {
    let chip = |name: &str, text: String| visit.chip(list, name, text);
    let text = search.text.clone().map(|text| chip("q", text));
    let manifest = search.manifest.map(|manifest| chip("kind", kind(visit, manifest)));
    let state = search.published.map(|is| {
        let text = visit.say(if is { "published" } else { "not-published" });
        chip("state", text)
    });
    [text, manifest, state].into_iter().flatten().collect()
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
    let (search, request) = (search(visit), visit.query.page(PER_PAGE));
    let page = store.spaces().search(id, &search, request).await?;
    let refs: Vec<SpaceRef> = page.items.iter().map(|(space, _)| *space).collect();
    let active = store.steps().active_of(id, &refs).await?;
    let active: HashMap<SpaceRef, String> =
        active.into_iter().map(|(_, step)| (step.space, title(visit, &step.title))).collect();
    let components: HashMap<SpaceRef, i64> =
        store.components().count_in(id, &refs).await?.into_iter().collect();
    let rows = page.items.iter().map(|(own, space)| row(visit, id, *own, space, &active, &components));
    let chips = chips(visit, &base, &search);
    let empty = if chips.is_empty() {
        let act = Some((format!("{base}/new"), visit.say("space-new")));
        Empty { title: visit.say("spaces-none"), text: visit.say("spaces-lede"), act }
    } else {
        visit.no_match(&base, visit.say("spaces-no-match"))
    };
    let name = organization::name(visit, &organization);
    let caption = visit.tell("spaces-caption", &[("organization", name.as_str().into())]);
    let table = Table::new(caption, columns(visit)).rows(rows).empty(empty);
    let pages = visit.named_pages(&base, visit.say("spaces-pages"), request, page.has_more).html();
    let results = visit.results(&base, (visit.shown(page.items.len()), chips), &table, pages);
    let head = Head::new(visit.say("spaces"))
        .crumb(name, format!("{LIST}/{id}"))
        .lede(visit.say("spaces-lede"))
        .act(Act::primary(format!("{base}/new"), visit.say("space-new")));
    visit.page(head, Html::join([filters(visit), results])).await
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
    let of_kind =
        Field::select("space[manifest]", visit.say("column-kind"), space.manifest.as_str(), kinds(visit))
            .hint(visit.say("space-kind-hint"))
            .class("medium")
            .check(&problems)
            .html(&visit.words);
    let form =
        space_form::form(visit, organization, space, base(id), "space-create", &problems, Some(of_kind))
            .cancel(base(id));
    let head = Head::new(visit.say("space-new"))
        .crumb(organization::name(visit, organization), format!("{LIST}/{id}"))
        .crumb(visit.say("spaces"), base(id))
        .lede(visit.say("space-new-lede"));
    visit.form_page(head, form.html(), problems).await
}

pub(crate) async fn create(visit: &mut Visit) -> Result<Reply> {
    let (id, organization) = opened(visit).await?;
    let visit = &*visit;
    let blank = Space::new(chosen_kind(visit), Translated::default(), visit.now);
    let (space, problems) = space_form::read(visit, blank);
    if !problems.is_empty() {
        return show_new(visit, id, &organization, &space, problems).await;
    }
    let name = title(visit, &space.title);
    let created = visit
        .change(async |tx| {
            check_title("title", &space.title, organization.default_locale)?;
            let own = SpaceAdmin { spaces: tx.spaces() }.create(id, &space).await?;
            let record = visit.record(Action::SpaceCreated).of(Some(id));
            let record = record.on("space", &number(own), &name);
            tx.audit().append(&record, visit.now).await?;
            Ok(own)
        })
        .await;
    match created {
        Ok(own) => {
            let notice = Notice::good(visit.tell("space-created", &[("name", name.into())]));
            visit.redirect(path(id, own), notice.text(visit.say("space-created-next"))).await
        }
        Err(fault) => {
            let problems = error::problems(&visit.words, fault, |f| field_of("space", &organization, f))?;
            let problems = space_form::refusal(visit, problems);
            show_new(visit, id, &organization, &space, problems).await
        }
    }
}
