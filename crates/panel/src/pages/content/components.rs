//! The components of a space: list, publication, deletion (contract 05 §3). They are not saved by
//! [`crate::records::save()`]: what differs in settings is listed by setting and step, not by fields of the record.

use super::component_settings::{
    component_kind_name, global_field, setting_label, setting_value, settings_of_level,
};
use super::opened_space::OpenedSpace;
use super::organization::LIST;
use crate::admin_request::AdminRequest;
use crate::error;
use crate::parts::{
    Badge, Cell, Choice, Column, Confirmation, EmptyState, Field, FormErrors, Head, Html, RowAction, Table,
    render,
};
use crate::records::{RecordAction, field_name, publication_action, with_changes};
use crate::reply::Reply;
use crate::translated::{audit_text, title};
use crate::translator::Translator;
use askama::Template;
use civitas_application::{ComponentAdministration, Transaction};
use civitas_audit::{Action, NewAuditEntry};
use civitas_kernel::records::{Change, RecordAdministration, find_for_update, find_revision_for_update};
use civitas_kernel::{ComponentId, Error, FieldError, OrganizationId, Result, SpaceKind, StepId};
use civitas_spaces::{
    Component, ComponentKind, MAX_RECORDS_COUNTED, SettingLevel, Step, check_title, current_step_settings,
};
use serde_json::{Map, Value};
use std::collections::HashMap;

/// The most components of a space that a page shows.
pub(super) const MAX_SPACE_COMPONENTS: i64 = 100;
/// The most steps of a process that a page shows.
const MAX_STEPS: i64 = 100;

type ComponentAction = RecordAction<Component>;

const ACTIONS: &[ComponentAction] = &[
    ComponentAction::new("publish", Component::publish, |component, _| component.published_at.is_none()),
    ComponentAction::new(
        "unpublish",
        |component, _| component.unpublish(),
        |component, _| component.published_at.is_some(),
    ),
];

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
    pub(super) async fn from_path(req: &AdminRequest) -> Result<Self> {
        let (organization, id) = (OrganizationId(req.path_id("id")?), ComponentId(req.path_id("cid")?));
        let found = req.store().components().find(organization, id).await?;
        let component = found.filter(|component| component.deleted_at.is_none()).ok_or(Error::NotFound)?;
        let space = OpenedSpace::find(req, component.space).await?;
        Ok(Self { space, id, component })
    }

    /// The path of the component.
    pub(super) fn path(&self) -> String {
        format!("{}/{}", components_path(self.space.organization_id), self.id)
    }

    /// The head of one of the tabs of the component.
    pub(super) fn tab_head(&self, req: &AdminRequest, tab: &str) -> Head {
        let mut tabs = vec![("edit", "nav-settings")];
        if self.component.kind == ComponentKind::Proposals {
            tabs.push(("states", "states"));
        }
        tabs.push(("extended_data", "extended-data"));
        let tabs = tabs.into_iter().map(|(page, key)| (page, req.tr(key)));
        self.space
            .subpage_head(req, self.name(req))
            .badge(Badge::published(&req.translator, self.component.published_at.is_some()))
            .badge(Badge::plain(component_kind_name(req, self.component.kind)))
            .lede(req.tr_with("component-lede", "id", self.id.to_string()))
            .record_tabs(req.tr("component-one"), &self.path(), tabs, tab)
    }

    /// The head of a page below the page of the component.
    pub(super) fn subpage_head(&self, req: &AdminRequest, title: String) -> Head {
        self.space.subpage_head(req, title).crumb(self.name(req), format!("{}/edit", self.path()))
    }

    /// The name of the component.
    pub(super) fn name(&self, req: &AdminRequest) -> String {
        title(req, &self.component.name)
    }
}

/// The use case, in a transaction.
pub(super) fn admin<'a>(req: &'a AdminRequest, tx: &'a dyn Transaction) -> ComponentAdministration<'a> {
    ComponentAdministration {
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
    let settings = settings_of_level(component.kind, SettingLevel::Step);
    if settings.is_empty() {
        return Cell::muted(&req.tr("component-same"));
    }
    let none = Map::new();
    let stored = current_step_settings(active, &component.step_settings, &component.default_step_settings);
    let stored = stored.unwrap_or(&none);
    let set = settings.into_iter().filter_map(|setting| {
        let (value, label) =
            (setting_value(setting, stored, comments_max_length), setting_label(req, setting));
        (value != setting.default.value(comments_max_length)).then(|| match value {
            Value::Bool(false) => req.tr_with("setting-is-off", "setting", label),
            _ => label,
        })
    });
    let set: Vec<String> = set.collect();
    if set.is_empty() { Cell::muted(&req.tr("component-defaults")) } else { Cell::text(&set.join("; ")) }
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
pub(super) async fn list_html(
    req: &AdminRequest,
    opened: &OpenedSpace,
    steps: &[(StepId, Step)],
) -> Result<Html> {
    let store = req.store().components();
    let components =
        store.list_in_space(opened.organization_id, opened.space_ref, MAX_SPACE_COMPONENTS).await?;
    let ids: Vec<ComponentId> = components.iter().map(|(id, _)| *id).collect();
    let records: HashMap<ComponentId, i64> =
        store.count_records(opened.organization_id, &ids).await?.into_iter().collect();
    let active = steps.iter().find(|(_, step)| step.active);
    let comments_max_length = opened.organization.comments_max_length;
    let rows = components.iter().map(|(id, component)| {
        let (name, path) =
            (title(req, &component.name), format!("{}/{id}", components_path(opened.organization_id)));
        let is_published = component.published_at.is_some();
        let action = publication_action(is_published);
        let link = |page: &str, key: &str| RowAction::link(format!("{path}/{page}"), req.tr(key), &name);
        let actions = [
            RowAction::post(format!("{path}/{action}"), req.tr(action), &name, req.token()),
            link("edit", "nav-settings"),
            link("move", "component-move-link"),
        ];
        let number = req.tr_with("component-id", "id", id.to_string());
        vec![
            Cell::link(&format!("{path}/edit"), &name, &number),
            Cell::text(&component_kind_name(req, component.kind)),
            Cell::badge(&Badge::published(&req.translator, is_published)),
            changed_step_settings(req, component, active.map(|(id, _)| *id), comments_max_length),
            Cell::text(&req.count_text(records.get(id).copied().unwrap_or_default(), MAX_RECORDS_COUNTED)),
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
    let empty = EmptyState::new(req.tr("components-none"), req.tr("components-none-lede"));
    let caption = req.tr_with("components-caption", "space", opened.title(req));
    let table = Table::new(caption, columns).rows(rows).empty(empty).html();
    let kinds = ComponentKind::ALL.map(|one| Choice::new(one.as_str(), component_kind_name(req, one)));
    let proposals = ComponentKind::Proposals.as_str();
    let field = Field::select("manifest", req.tr("component-new-type"), proposals, kinds.to_vec());
    Ok(render(&List {
        translator: &req.translator,
        table,
        action: format!("{}/new", components_path(opened.organization_id)),
        space: opened.space_ref.to_string(),
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
    req.audit_entry(action).in_organization(opened.space.organization_id).with_object(
        "component",
        &opened.id.to_string(),
        name,
    )
}

/// What differs, for the audit trail.
fn changes(before: &Component, after: &Component) -> Vec<(String, String, String)> {
    let published = |component: &Component| component.published_at.is_some().to_string();
    let mut list = vec![
        ("name".to_owned(), audit_text(&before.name), audit_text(&after.name)),
        ("published".to_owned(), published(before), published(after)),
    ];
    let empty = Map::new();
    let mut settings = |prefix: String, old: &Map<String, Value>, new: &Map<String, Value>| {
        let text = |value: Option<&Value>| value.map(Value::to_string).unwrap_or_default();
        let added = new.keys().filter(|key| !old.contains_key(*key));
        for key in old.keys().chain(added) {
            list.push((format!("{prefix}{key}"), text(old.get(key)), text(new.get(key))));
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
pub(super) async fn change(
    req: &AdminRequest,
    opened: &OpenedComponent,
    seen: Option<&str>,
    edit: impl Fn(&mut Component),
) -> Result<()> {
    let (organization, id) = (opened.space.organization_id, opened.id);
    let saved = req.change_with_audit(
        async |tx| {
            let before =
                find_revision_for_update::<Component>(tx.components(), organization, id, seen).await?;
            let change = Change::from_edit(before, req.now, |component| edit(component));
            if change.before.name != change.after.name {
                check_title("name", &change.after.name, opened.space.organization.default_locale)?;
            }
            admin(req, tx).change(organization, id, &change).await?;
            Ok(change)
        },
        |change| {
            let entry = audit_entry(req, Action::ComponentUpdated, opened, &title(req, &change.after.name));
            (!change.is_empty()).then(|| with_changes(entry, changes(&change.before, &change.after)))
        },
    );
    saved.await.map(drop)
}

/// The problems of a refused component, beside their fields.
pub(super) fn form_errors(req: &AdminRequest, opened: &OpenedSpace, error: Error) -> Result<FormErrors> {
    let field = |field_error: &FieldError| match field_error.code.as_ref() {
        "invalid_setting" => global_field(&field_error.field),
        "unknown_setting" => String::new(),
        _ => field_name("component", &opened.organization, field_error),
    };
    let text = |field_error: &FieldError| match field_error.code.as_ref() {
        "invalid_setting" => Some(req.tr("problem-setting")),
        "unknown_setting" => Some(field_error.description.clone()),
        _ => None,
    };
    error::form_errors_with_texts(&req.translator, error, field, text)
}

/// `POST .../{action}`
pub(crate) async fn perform(req: &AdminRequest) -> Result<Reply> {
    let opened = OpenedComponent::from_path(req).await?;
    let action = RecordAction::from_path(req, ACTIONS)?;
    change(req, &opened, None, |component| (action.edit)(component, req.now)).await?;
    req.redirect(opened.space.path(), action.notice(req, "component", opened.name(req))).await
}

pub(crate) async fn confirm_delete(req: &AdminRequest) -> Result<Reply> {
    let opened = OpenedComponent::from_path(req).await?;
    delete_page(req, &opened, Vec::new()).await
}

/// The sentence about the records of a component that is deleted.
async fn records_lost(req: &AdminRequest, opened: &OpenedComponent) -> Result<String> {
    let counts = req.store().components().count_records(opened.space.organization_id, &[opened.id]).await?;
    let count = counts.first().map_or(0, |(_, count)| *count);
    Ok(if count < MAX_RECORDS_COUNTED {
        req.tr_count("component-delete-records", count)
    } else {
        req.tr_with("component-delete-many-records", "count", count - 1)
    })
}

async fn delete_page(req: &AdminRequest, opened: &OpenedComponent, problems: FormErrors) -> Result<Reply> {
    let name = opened.name(req);
    let confirm = req
        .confirmation(opened.path(), req.tr("component-delete-button"), format!("{}/edit", opened.path()))
        .delete()
        .effects([req.tr("component-delete-effect"), records_lost(req, opened).await?])
        .stays(req.tr("component-delete-stays"))
        .name(name.clone(), req.tr("component-delete-name"));
    let head = opened.subpage_head(req, req.tr_with("delete-title", "name", name)).current(req.tr("delete"));
    req.form_page(head, confirm.html(&problems), problems).await
}

pub(crate) async fn delete(req: &AdminRequest) -> Result<Reply> {
    let opened = OpenedComponent::from_path(req).await?;
    let name = opened.name(req);
    if let Err(problems) = Confirmation::check_name(&req.translator, &req.form, &name) {
        return delete_page(req, &opened, problems).await;
    }
    req.change_with_audit(
        async |tx| {
            let (organization, id) = (opened.space.organization_id, opened.id);
            let before = find_for_update::<Component>(tx.components(), organization, id).await?;
            let change = Change::from_edit(before, req.now, |component| component.deleted_at = Some(req.now));
            admin(req, tx).change(organization, id, &change).await
        },
        |()| Some(audit_entry(req, Action::ComponentDeleted, &opened, &name)),
    )
    .await?;
    req.redirect_done("component-deleted", &[("name", name.into())], opened.space.path()).await
}

/// The steps of the space, if it is a process.
pub(super) async fn steps_of_space(req: &AdminRequest, opened: &OpenedSpace) -> Result<Vec<(StepId, Step)>> {
    if opened.space_ref.kind != SpaceKind::ParticipatoryProcesses {
        return Ok(Vec::new());
    }
    req.store().steps().list_of_process(opened.organization_id, opened.space_ref, MAX_STEPS).await
}
