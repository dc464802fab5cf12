//! The components of a space: list, publication, deletion (contract 05 §3).

use super::component_settings::{kind, label, of_level, value};
use super::content::{OpenedSpace, counted, field_of, line, number, published, title, with_changes};
use super::organization::LIST;
use crate::error;
use crate::notice::Notice;
use crate::parts::{
    Badge, Cell, Choice, Column, Confirm, Empty, Field, Head, Html, Problem, RowAct, Table, render,
};
use crate::reply::Reply;
use crate::visit::Visit;
use crate::words::Words;
use askama::Template;
use civitas_application::{ComponentAdmin, Transaction};
use civitas_audit::{Action, Record};
use civitas_kernel::records::{Change, RecordAdmin, find_for_update, find_revision_for_update};
use civitas_kernel::{ComponentId, Error, OrganizationId, Result, SpaceManifest, StepId};
use civitas_spaces::{
    Component, ComponentManifest, Level, MOST_RECORDS_COUNTED, Step, check_title, current_phase,
};
use serde_json::{Map, Value};
use std::collections::HashMap;

/// The most components that a page shows.
pub(super) const MOST: i64 = 100;

/// The path of the components of an organization.
pub(super) fn base(organization: OrganizationId) -> String {
    format!("{LIST}/{organization}/components")
}

/// A component of the path, with its space.
pub(super) struct OpenedComponent {
    pub(super) here: OpenedSpace,
    pub(super) id: ComponentId,
    pub(super) component: Component,
}

impl OpenedComponent {
    pub(super) async fn of_path(visit: &mut Visit) -> Result<Self> {
        let (organization, id) = (OrganizationId(visit.id("id")?), ComponentId(visit.id("cid")?));
        let found = visit.panel.store().components().find(organization, id).await?;
        let component = found.filter(|component| component.deleted_at.is_none()).ok_or(Error::NotFound)?;
        let here = OpenedSpace::find(visit, component.space).await?;
        Ok(Self { here, id, component })
    }

    /// Its path.
    pub(super) fn path(&self) -> String {
        format!("{}/{}", base(self.here.id), self.id)
    }

    /// The head of one of its pages.
    pub(super) fn head(&self, visit: &Visit, tab: &str) -> Head {
        let mut tabs = vec![("edit", "nav-settings")];
        if self.component.manifest == ComponentManifest::Proposals {
            tabs.push(("states", "states"));
        }
        tabs.push(("extended_data", "extended-data"));
        let tabs = tabs.into_iter().map(|(page, key)| (page, visit.say(key)));
        self.here
            .below(visit, self.name(visit))
            .badge(published(visit, self.component.published_at.is_some()))
            .badge(Badge::plain(kind(visit, self.component.manifest)))
            .lede(visit.tell("component-lede", &[("id", self.id.to_string().into())]))
            .tabs_of(visit.say("component-one"), &self.path(), tabs, tab)
    }

    /// Its name.
    pub(super) fn name(&self, visit: &Visit) -> String {
        title(visit, &self.component.name)
    }
}

/// The use case, in a transaction.
pub(super) fn admin<'a>(visit: &'a Visit, tx: &'a dyn Transaction) -> ComponentAdmin<'a> {
    ComponentAdmin {
        components: tx.components(),
        states: tx.states(),
        votes: tx.votes(),
        locales: &visit.panel.settings.site.locales,
    }
}

/// The settings of steps that are not at their defaults now.
fn now(visit: &Visit, component: &Component, active: Option<StepId>, length: i64) -> Cell {
    let settings = of_level(component.manifest, Level::Phase);
    if settings.is_empty() {
        return Cell::soft(&visit.say("component-same"));
    }
    let none = Map::new();
    let stored = current_phase(active, &component.step_settings, &component.default_step_settings);
    let stored = stored.unwrap_or(&none);
    let set = settings.into_iter().filter_map(|setting| {
        let (value, label) = (value(setting, stored, length), label(visit, setting));
        (value != setting.default.value(length)).then(|| match value {
            Value::Bool(false) => visit.tell("setting-is-off", &[("setting", label.into())]),
            _ => label,
        })
    });
    let set: Vec<String> = set.collect();
    if set.is_empty() { Cell::soft(&visit.say("component-defaults")) } else { Cell::text(&set.join("; ")) }
}

#[derive(Template)]
#[template(
    source = r#"<h2>{{ words.say("components") }}</h2>{{ table }}<form class="line" action="{{ action }}" method="get"><input type="hidden" name="space" value="{{ space }}">{{ field }}<button type="submit">{{ words.say("component-add") }}</button></form>"#,
    ext = "html"
)]
struct List<'a> {
    words: &'a Words,
    table: Html,
    action: String,
    space: String,
    /// The kind of a new component.
    field: Html,
}

/// The components of a space in their order. `steps` are those of the process.
pub(super) async fn list(visit: &Visit, here: &OpenedSpace, steps: &[(StepId, Step)]) -> Result<Html> {
    let store = visit.panel.store().components();
    let components = store.in_space(here.id, here.own, MOST).await?;
    let ids: Vec<ComponentId> = components.iter().map(|(id, _)| *id).collect();
    let records: HashMap<ComponentId, i64> = store.count_records(here.id, &ids).await?.into_iter().collect();
    let active = steps.iter().find(|(_, step)| step.active);
    let length = here.organization.comments_max_length;
    let rows = components.iter().map(|(id, component)| {
        let (name, path) = (title(visit, &component.name), format!("{}/{id}", base(here.id)));
        let is_published = component.published_at.is_some();
        let act = if is_published { "unpublish" } else { "publish" };
        let link = |page: &str, key: &str| RowAct::link(format!("{path}/{page}"), visit.say(key), &name);
        let acts = [
            RowAct::post(format!("{path}/{act}"), visit.say(act), &name, visit.token()),
            link("edit", "nav-settings"),
            link("move", "component-move-link"),
        ];
        let place = visit.tell("component-id", &[("id", id.to_string().into())]);
        vec![
            Cell::link(&format!("{path}/edit"), &name, &place),
            Cell::text(&kind(visit, component.manifest)),
            Cell::badge(&published(visit, is_published)),
            now(visit, component, active.map(|(id, _)| *id), length),
            Cell::num(&counted(visit, records.get(id).copied().unwrap_or_default(), MOST_RECORDS_COUNTED)),
            Cell::acts(&acts),
        ]
    });
    let column_now = match active {
        Some((_, step)) => visit.tell("component-in-step", &[("step", title(visit, &step.title).into())]),
        None => visit.say("component-now"),
    };
    let columns = vec![
        Column::new(visit.say("column-name")),
        Column::new(visit.say("component-type")).low(),
        Column::new(visit.say("column-state")),
        Column::new(column_now),
        Column::new(visit.say("component-records")).num(),
        Column::acts(visit.say("column-acts")),
    ];
    let empty =
        Empty { title: visit.say("components-none"), text: visit.say("components-none-lede"), act: None };
    let caption = visit.tell("components-caption", &[("space", here.title(visit).into())]);
    let table = Table::new(caption, columns).rows(rows).empty(empty).html();
    let kinds = ComponentManifest::ALL.map(|manifest| Choice::new(manifest.as_str(), kind(visit, manifest)));
    let proposals = ComponentManifest::Proposals.as_str();
    let field = Field::select("manifest", visit.say("component-new-type"), proposals, kinds.to_vec());
    Ok(render(&List {
        words: &visit.words,
        table,
        action: format!("{}/new", base(here.id)),
        space: number(here.own),
        field: field.html(&visit.words),
    }))
}

/// The entry of the audit trail of a component.
pub(super) fn record(visit: &Visit, action: Action, own: &OpenedComponent, name: &str) -> Record {
    visit.record(action).of(Some(own.here.id)).on("component", &own.id.to_string(), name)
}

/// What differs, for the audit trail.
fn changes(before: &Component, after: &Component) -> Vec<(String, String, String)> {
    let published = |component: &Component| component.published_at.is_some().to_string();
    let mut list = vec![
        ("name".to_owned(), line(&before.name), line(&after.name)),
        ("published".to_owned(), published(before), published(after)),
    ];
    let empty = Map::new();
    let mut settings = |of: String, old: &Map<String, Value>, new: &Map<String, Value>| {
        let text = |value: Option<&Value>| value.map(Value::to_string).unwrap_or_default();
        let added = new.keys().filter(|key| !old.contains_key(*key));
        for key in old.keys().chain(added) {
            list.push((format!("{of}{key}"), text(old.get(key)), text(new.get(key))));
        }
    };
    settings(String::new(), &before.settings, &after.settings);
    settings("without steps: ".to_owned(), &before.default_step_settings, &after.default_step_settings);
    for (step, new) in &after.step_settings {
        settings(format!("step {step}: "), before.step_settings.get(step).unwrap_or(&empty), new);
    }
    list
}

/// Changes the component, with an entry in the audit trail.
pub(super) async fn save(
    visit: &Visit,
    own: &OpenedComponent,
    seen: Option<&str>,
    edit: impl Fn(&mut Component),
) -> Result<Component> {
    visit
        .change(async |tx| {
            let components = tx.components();
            let before = find_revision_for_update::<Component>(components, own.here.id, own.id, seen).await?;
            let change = Change::of(before, visit.now, |component| edit(component));
            if change.is_empty() {
                return Ok(change.after);
            }
            if change.before.name != change.after.name {
                check_title("name", &change.after.name, own.here.organization.default_locale)?;
            }
            admin(visit, tx).change(own.here.id, own.id, &change).await?;
            let entry = record(visit, Action::ComponentUpdated, own, &title(visit, &change.after.name));
            visit.append(tx, &with_changes(entry, changes(&change.before, &change.after))).await?;
            Ok(change.after)
        })
        .await
}

/// The problems of a refused component, beside their fields.
pub(super) fn refusal(visit: &Visit, here: &OpenedSpace, fault: Error) -> Result<Vec<Problem>> {
    let mut problems =
        error::problems(&visit.words, fault, |f| field_of("component", &here.organization, f))?;
    for problem in &mut problems {
        if let Some(setting) = problem.text.strip_prefix("invalid value for setting ") {
            let field = super::component_settings::global_field(setting);
            *problem = Problem::new(field, visit.say("problem-setting"));
        }
    }
    Ok(problems)
}

/// `POST .../publish` and `POST .../unpublish`
pub(crate) async fn publish(visit: &mut Visit) -> Result<Reply> {
    let own = OpenedComponent::of_path(visit).await?;
    let visit = &*visit;
    let (now, is_published) = (visit.now, visit.act == "publish");
    save(visit, &own, None, |component| {
        component.published_at = is_published.then(|| component.published_at.unwrap_or(now));
    })
    .await?;
    let act = if is_published { "publish" } else { "unpublish" };
    let done = visit.tell(&format!("component-{act}ed"), &[("name", own.name(visit).into())]);
    visit.redirect(own.here.path(), Notice::good(done).text(visit.say(&format!("{act}-back")))).await
}

pub(crate) async fn ask(visit: &mut Visit) -> Result<Reply> {
    let own = OpenedComponent::of_path(visit).await?;
    delete_page(visit, &own, Vec::new()).await
}

/// The sentence about the records of a component that is deleted.
async fn records_lost(visit: &Visit, own: &OpenedComponent) -> Result<String> {
    let counts = visit.panel.store().components().count_records(own.here.id, &[own.id]).await?;
    let count = counts.first().map_or(0, |(_, count)| *count);
    Ok(if count < MOST_RECORDS_COUNTED {
        visit.words.count("component-delete-records", count)
    } else {
        visit.tell("component-delete-many-records", &[("count", (count - 1).into())])
    })
}

async fn delete_page(visit: &Visit, own: &OpenedComponent, problems: Vec<Problem>) -> Result<Reply> {
    let name = own.name(visit);
    let confirm = visit
        .confirm(own.path(), visit.say("component-delete-button"), format!("{}/edit", own.path()))
        .delete()
        .effects([visit.say("component-delete-effect"), records_lost(visit, own).await?])
        .stays(visit.say("component-delete-stays"))
        .name(name.clone(), visit.say("component-delete-name"));
    let head = own
        .here
        .below(visit, visit.tell("delete-title", &[("name", name.as_str().into())]))
        .crumb(name, format!("{}/edit", own.path()))
        .here(visit.say("delete"));
    visit.form_page(head, confirm.html(&problems), problems).await
}

pub(crate) async fn delete(visit: &mut Visit) -> Result<Reply> {
    let own = OpenedComponent::of_path(visit).await?;
    let visit = &*visit;
    let name = own.name(visit);
    if !Confirm::is_typed(&name, visit.form.text("confirm")) {
        let problem = Problem::new("confirm", visit.say("problem-name-typed"));
        return delete_page(visit, &own, vec![problem]).await;
    }
    visit
        .change(async |tx| {
            let before = find_for_update::<Component>(tx.components(), own.here.id, own.id).await?;
            let change = Change::of(before, visit.now, |component| component.deleted_at = Some(visit.now));
            admin(visit, tx).change(own.here.id, own.id, &change).await?;
            visit.append(tx, &record(visit, Action::ComponentDeleted, &own, &name)).await
        })
        .await?;
    visit.done("component-deleted", &[("name", name.into())], own.here.path()).await
}

/// The steps of the space, if it is a process.
pub(super) async fn steps(visit: &Visit, here: &OpenedSpace) -> Result<Vec<(StepId, Step)>> {
    if here.own.manifest != SpaceManifest::ParticipatoryProcesses {
        return Ok(Vec::new());
    }
    visit.panel.store().steps().of_process(here.id, here.own, MOST).await
}
