//! The components of a space: list, publication, deletion (contract 05 §3).

use super::component_settings::{global_field, kind, label, of_level, value};
use super::organization::LIST;
use super::shared::{OpenedSpace, counted, field_of, one_line, published, space_key, title, with_changes};
use crate::admin_request::AdminRequest;
use crate::error;
use crate::notice::Notice;
use crate::parts::{
    Badge, Cell, Choice, Column, Confirm, Empty, Field, FormError, FormErrors, Head, Html, RowAction, Table,
    render,
};
use crate::reply::Reply;
use crate::translator::Translator;
use askama::Template;
use civitas_application::{ComponentAdmin, Transaction};
use civitas_audit::{Action, NewAuditEntry};
use civitas_kernel::records::{Change, RecordAdmin, find_for_update, find_revision_for_update};
use civitas_kernel::{ComponentId, Error, OrganizationId, Result, SpaceManifest, StepId};
use civitas_spaces::{
    Component, ComponentManifest, Level, MAX_RECORDS_COUNTED, Step, check_title, current_step_settings,
};
use serde_json::{Map, Value};
use std::collections::HashMap;

/// The most components that a page shows.
pub(super) const MAX: i64 = 100;

/// The path of the components of an organization.
pub(super) fn components_path(organization: OrganizationId) -> String {
    format!("{LIST}/{organization}/components")
}

/// A component of the path, with its space.
pub(super) struct OpenedComponent {
    pub(super) space: OpenedSpace,
    pub(super) id: ComponentId,
    pub(super) component: Component,
}

impl OpenedComponent {
    pub(super) async fn of_path(req: &AdminRequest) -> Result<Self> {
        let (organization, id) = (OrganizationId(req.path_id("id")?), ComponentId(req.path_id("cid")?));
        let found = req.panel.store().components().find(organization, id).await?;
        let component = found.filter(|component| component.deleted_at.is_none()).ok_or(Error::NotFound)?;
        let space = OpenedSpace::find(req, component.space).await?;
        Ok(Self { space, id, component })
    }

    /// The path of the component.
    pub(super) fn path(&self) -> String {
        format!("{}/{}", components_path(self.space.organization_id), self.id)
    }

    /// The head of one of its pages.
    pub(super) fn head(&self, req: &AdminRequest, tab: &str) -> Head {
        let mut tabs = vec![("edit", "nav-settings")];
        if self.component.manifest == ComponentManifest::Proposals {
            tabs.push(("states", "states"));
        }
        tabs.push(("extended_data", "extended-data"));
        let tabs = tabs.into_iter().map(|(page, key)| (page, req.tr(key)));
        self.space
            .head_below_space(req, self.name(req))
            .badge(published(req, self.component.published_at.is_some()))
            .badge(Badge::plain(kind(req, self.component.manifest)))
            .lede(req.tr_with("component-lede", "id", self.id.to_string()))
            .tabs_of(req.tr("component-one"), &self.path(), tabs, tab)
    }

    /// The name of the component.
    pub(super) fn name(&self, req: &AdminRequest) -> String {
        title(req, &self.component.name)
    }
}

/// The use case, in a transaction.
pub(super) fn admin<'a>(req: &'a AdminRequest, tx: &'a dyn Transaction) -> ComponentAdmin<'a> {
    ComponentAdmin {
        components: tx.components(),
        states: tx.states(),
        votes: tx.votes(),
        locales: &req.panel.settings.site.locales,
    }
}

/// The cell with the settings of the active step that are not at their defaults.
fn changed_step_settings(
    req: &AdminRequest,
    component: &Component,
    active: Option<StepId>,
    comments_max_length: i64,
) -> Cell {
    let settings = of_level(component.manifest, Level::Step);
    if settings.is_empty() {
        return Cell::soft(&req.tr("component-same"));
    }
    let none = Map::new();
    let stored = current_step_settings(active, &component.step_settings, &component.default_step_settings);
    let stored = stored.unwrap_or(&none);
    let set = settings.into_iter().filter_map(|setting| {
        let (value, label) = (value(setting, stored, comments_max_length), label(req, setting));
        (value != setting.default.value(comments_max_length)).then(|| match value {
            Value::Bool(false) => req.tr_with("setting-is-off", "setting", label),
            _ => label,
        })
    });
    let set: Vec<String> = set.collect();
    if set.is_empty() { Cell::soft(&req.tr("component-defaults")) } else { Cell::text(&set.join("; ")) }
}

#[derive(Template)]
#[template(
    source = r#"<h2>{{ translator.tr("components") }}</h2>{{ table }}<form class="line" action="{{ action }}" method="get"><input type="hidden" name="space" value="{{ space }}">{{ field }}<button type="submit">{{ translator.tr("component-add") }}</button></form>"#,
    ext = "html"
)]
struct List<'a> {
    translator: &'a Translator,
    table: Html,
    action: String,
    space: String,
    /// The kind of a new component.
    field: Html,
}

/// The components of a space in their order. `steps` are those of the process.
pub(super) async fn list(req: &AdminRequest, opened: &OpenedSpace, steps: &[(StepId, Step)]) -> Result<Html> {
    let store = req.panel.store().components();
    let components = store.in_space(opened.organization_id, opened.space_ref, MAX).await?;
    let ids: Vec<ComponentId> = components.iter().map(|(id, _)| *id).collect();
    let records: HashMap<ComponentId, i64> =
        store.count_records(opened.organization_id, &ids).await?.into_iter().collect();
    let active = steps.iter().find(|(_, step)| step.active);
    let comments_max_length = opened.organization.comments_max_length;
    let rows = components.iter().map(|(id, component)| {
        let (name, path) =
            (title(req, &component.name), format!("{}/{id}", components_path(opened.organization_id)));
        let is_published = component.published_at.is_some();
        let action = if is_published { "unpublish" } else { "publish" };
        let link = |page: &str, key: &str| RowAction::link(format!("{path}/{page}"), req.tr(key), &name);
        let actions = [
            RowAction::post(format!("{path}/{action}"), req.tr(action), &name, req.token()),
            link("edit", "nav-settings"),
            link("move", "component-move-link"),
        ];
        let place = req.tr_with("component-id", "id", id.to_string());
        vec![
            Cell::link(&format!("{path}/edit"), &name, &place),
            Cell::text(&kind(req, component.manifest)),
            Cell::badge(&published(req, is_published)),
            changed_step_settings(req, component, active.map(|(id, _)| *id), comments_max_length),
            Cell::num(&counted(req, records.get(id).copied().unwrap_or_default(), MAX_RECORDS_COUNTED)),
            Cell::actions(&actions),
        ]
    });
    let column_now = match active {
        Some((_, step)) => req.tr_with("component-in-step", "step", title(req, &step.title)),
        None => req.tr("component-now"),
    };
    let mut columns = req.columns("column-name component-type:low column-state");
    columns.push(Column::new(column_now));
    columns.extend(req.columns("component-records:num column-acts"));
    let empty =
        Empty { title: req.tr("components-none"), text: req.tr("components-none-lede"), action: None };
    let caption = req.tr_with("components-caption", "space", opened.title(req));
    let table = Table::new(caption, columns).rows(rows).empty(empty).html();
    let kinds = ComponentManifest::ALL.map(|manifest| Choice::new(manifest.as_str(), kind(req, manifest)));
    let proposals = ComponentManifest::Proposals.as_str();
    let field = Field::select("manifest", req.tr("component-new-type"), proposals, kinds.to_vec());
    Ok(render(&List {
        translator: &req.translator,
        table,
        action: format!("{}/new", components_path(opened.organization_id)),
        space: space_key(opened.space_ref),
        field: field.html(&req.translator),
    }))
}

/// The entry of the audit trail of a component.
pub(super) fn audit_entry(
    req: &AdminRequest,
    action: Action,
    opened: &OpenedComponent,
    name: &str,
) -> NewAuditEntry {
    req.audit_entry(action).of(Some(opened.space.organization_id)).on(
        "component",
        &opened.id.to_string(),
        name,
    )
}

/// What differs, for the audit trail.
fn changes(before: &Component, after: &Component) -> Vec<(String, String, String)> {
    let published = |component: &Component| component.published_at.is_some().to_string();
    let mut list = vec![
        ("name".to_owned(), one_line(&before.name), one_line(&after.name)),
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
    req: &AdminRequest,
    opened: &OpenedComponent,
    seen: Option<&str>,
    edit: impl Fn(&mut Component),
) -> Result<Component> {
    req.change(async |tx| {
        let components = tx.components();
        let before =
            find_revision_for_update::<Component>(components, opened.space.organization_id, opened.id, seen)
                .await?;
        let change = Change::of(before, req.now, |component| edit(component));
        if change.is_empty() {
            return Ok(change.after);
        }
        if change.before.name != change.after.name {
            check_title("name", &change.after.name, opened.space.organization.default_locale)?;
        }
        admin(req, tx).change(opened.space.organization_id, opened.id, &change).await?;
        let entry = audit_entry(req, Action::ComponentUpdated, opened, &title(req, &change.after.name));
        req.append_audit_entry(tx, &with_changes(entry, changes(&change.before, &change.after))).await?;
        Ok(change.after)
    })
    .await
}

/// The problems of a refused component, beside their fields.
pub(super) fn form_errors(req: &AdminRequest, opened: &OpenedSpace, error: Error) -> Result<FormErrors> {
    let known = |text: &str| {
        let setting = text.strip_prefix("invalid value for setting ")?;
        Some((global_field(setting), "problem-setting"))
    };
    error::translated_form_errors(
        &req.translator,
        error,
        |f| field_of("component", &opened.organization, f),
        known,
    )
}

/// `POST .../publish` and `POST .../unpublish`
pub(crate) async fn publish(req: &AdminRequest) -> Result<Reply> {
    let opened = OpenedComponent::of_path(req).await?;
    let (now, is_published) = (req.now, req.action == "publish");
    save(req, &opened, None, |component| {
        component.published_at = is_published.then(|| component.published_at.unwrap_or(now));
    })
    .await?;
    let action = if is_published { "publish" } else { "unpublish" };
    let done = req.tr_with(&format!("component-{action}ed"), "name", opened.name(req));
    req.redirect(opened.space.path(), Notice::good(done).text(req.tr(&format!("{action}-back")))).await
}

pub(crate) async fn confirm_delete(req: &AdminRequest) -> Result<Reply> {
    let opened = OpenedComponent::of_path(req).await?;
    delete_page(req, &opened, Vec::new()).await
}

/// The sentence about the records of a component that is deleted.
async fn records_lost(req: &AdminRequest, opened: &OpenedComponent) -> Result<String> {
    let counts =
        req.panel.store().components().count_records(opened.space.organization_id, &[opened.id]).await?;
    let count = counts.first().map_or(0, |(_, count)| *count);
    Ok(if count < MAX_RECORDS_COUNTED {
        req.translator.count("component-delete-records", count)
    } else {
        req.tr_with("component-delete-many-records", "count", count - 1)
    })
}

async fn delete_page(req: &AdminRequest, opened: &OpenedComponent, problems: FormErrors) -> Result<Reply> {
    let name = opened.name(req);
    let confirm = req
        .confirm(opened.path(), req.tr("component-delete-button"), format!("{}/edit", opened.path()))
        .delete()
        .effects([req.tr("component-delete-effect"), records_lost(req, opened).await?])
        .stays(req.tr("component-delete-stays"))
        .name(name.clone(), req.tr("component-delete-name"));
    let head = opened
        .space
        .head_below_space(req, req.tr_with("delete-title", "name", name.as_str()))
        .crumb(name, format!("{}/edit", opened.path()))
        .current(req.tr("delete"));
    req.form_page(head, confirm.html(&problems), problems).await
}

pub(crate) async fn delete(req: &AdminRequest) -> Result<Reply> {
    let opened = OpenedComponent::of_path(req).await?;
    let name = opened.name(req);
    if !Confirm::is_typed(&name, req.form.text("confirm")) {
        let problem = FormError::new("confirm", req.tr("problem-name-typed"));
        return delete_page(req, &opened, vec![problem]).await;
    }
    req.change(async |tx| {
        let before =
            find_for_update::<Component>(tx.components(), opened.space.organization_id, opened.id).await?;
        let change = Change::of(before, req.now, |component| component.deleted_at = Some(req.now));
        admin(req, tx).change(opened.space.organization_id, opened.id, &change).await?;
        req.append_audit_entry(tx, &audit_entry(req, Action::ComponentDeleted, &opened, &name)).await
    })
    .await?;
    req.done("component-deleted", &[("name", name.into())], opened.space.path()).await
}

/// The steps of the space, if it is a process.
pub(super) async fn steps(req: &AdminRequest, opened: &OpenedSpace) -> Result<Vec<(StepId, Step)>> {
    if opened.space_ref.manifest != SpaceManifest::ParticipatoryProcesses {
        return Ok(Vec::new());
    }
    req.panel.store().steps().of_process(opened.organization_id, opened.space_ref, MAX).await
}
