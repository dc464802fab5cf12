//! The extended data of a record as JSON (contract 01 §11.3).

use super::components::OpenedComponent;
use super::opened_space::OpenedSpace;
use super::organization;
use super::proposals::OpenedProposal;
use crate::admin_request::AdminRequest;
use crate::error;
use crate::format::saturating_i64;
use crate::pages::people::persons::OpenedPerson;
use crate::parts::{Field, FormError, FormErrors, Head, Html, Json, Section};
use crate::reply::Reply;
use civitas_audit::Action;
use civitas_extended_data::{
    DataReplacement, ExtendedDataOwner, ExtendedDataService, ExtendedDataStore, StoredExtendedData,
};
use civitas_kernel::records::revision_at;
use civitas_kernel::{FieldError, OrganizationId, Result, read_json};
use serde_json::{Map, Value};
use std::fmt::Display;

const EXTENDED_DATA: &str = "extended_data";
/// The longest text that a form shows, in bytes. Longer data is changed through the interface.
const MAX_SHOWN: usize = 256 * 1024;
/// The most bytes of a member that an entry of the audit trail has.
const MAX_RECORDED: usize = 1_000;

/// A record as the audit trail names it.
struct AuditedRecord {
    kind: &'static str,
    id: String,
    name: String,
}

impl AuditedRecord {
    fn new(kind: &'static str, id: impl Display, name: String) -> Self {
        Self { kind, id: id.to_string(), name }
    }
}

/// A record with extended data.
struct DataOwner {
    organization_id: OrganizationId,
    owner: ExtendedDataOwner,
    record: AuditedRecord,
    /// The path of the page.
    path: String,
    head: Head,
}

impl DataOwner {
    /// The record of the path; the organization where it names no other one.
    async fn from_path(req: &AdminRequest) -> Result<Self> {
        let named = ["uid", "sid", "cid", "pid"].into_iter().find(|name| req.params.contains_key(*name));
        let (organization_id, owner, record, path, head): (_, ExtendedDataOwner, _, _, _) = match named {
            Some("uid") => {
                let opened = OpenedPerson::from_path(req).await?;
                let (path, head) = (opened.path(), opened.tab_head(req, EXTENDED_DATA));
                let record = AuditedRecord::new("user", opened.id, opened.user.name);
                let OpenedPerson { organization_id, id, .. } = opened;
                (organization_id, id.into(), record, path, head)
            }
            Some("sid") => {
                let opened = OpenedSpace::from_path(req).await?;
                let (path, head) = (opened.path(), opened.tab_head(req, EXTENDED_DATA));
                let record = AuditedRecord::new("space", opened.space_ref, opened.title(req));
                let OpenedSpace { organization_id, space_ref, .. } = opened;
                (organization_id, space_ref.into(), record, path, head)
            }
            Some("cid") => {
                let opened = OpenedComponent::from_path(req).await?;
                let (path, head) = (opened.path(), opened.tab_head(req, EXTENDED_DATA));
                let record = AuditedRecord::new("component", opened.id, opened.name(req));
                (opened.space.organization_id, opened.id.into(), record, path, head)
            }
            Some(_) => {
                let opened = OpenedProposal::from_path(req).await?;
                let (path, head) = (opened.path(), opened.tab_head(req, EXTENDED_DATA));
                let record = AuditedRecord::new("proposal", opened.id, opened.title(req));
                let OpenedProposal { organization_id, id, .. } = opened;
                (organization_id, id.into(), record, path, head)
            }
            None => {
                let (id, organization) = organization::find_from_path(req).await?;
                let name = organization::name(req, &organization);
                let head = organization::settings_tab_head(req, id, &name, EXTENDED_DATA);
                let path = format!("{}/{id}", organization::LIST);
                (id, id.into(), AuditedRecord::new("organization", id, name), path, head)
            }
        };
        req.set_navigation_organization(organization_id).await?;
        Ok(Self { organization_id, owner, record, path: format!("{path}/{EXTENDED_DATA}"), head })
    }
}

fn admin<'a>(req: &AdminRequest, store: &'a dyn ExtendedDataStore) -> ExtendedDataService<'a> {
    ExtendedDataService { store, limit: req.panel.settings.extended_data_limit }
}

/// The data, indented.
fn indented(data: &Map<String, Value>) -> String {
    serde_json::to_string_pretty(data).unwrap_or_default()
}

pub(crate) async fn show(req: &AdminRequest) -> Result<Reply> {
    let data_owner = DataOwner::from_path(req).await?;
    show_page(req, data_owner, Vec::new()).await
}

async fn show_page(req: &AdminRequest, data_owner: DataOwner, problems: FormErrors) -> Result<Reply> {
    let store = req.store().extended_data();
    let StoredExtendedData { data, updated_at } =
        admin(req, store).read_any(data_owner.organization_id, data_owner.owner).await?;
    let text = indented(&data);
    let translator = &req.translator;
    if text.len() > MAX_SHOWN {
        let json = Json::new(translator, "json", req.tr("extended-data-by"), &text);
        let note = Html::paragraph("soft", &req.tr("extended-data-large"));
        return req.page(data_owner.head, Html::join([note, json.html()])).await;
    }
    let typed = req.form.get(EXTENDED_DATA).map_or(text, str::to_owned);
    let limit = saturating_i64(req.panel.settings.extended_data_limit);
    let size = super::attachments::size_text(req, limit);
    let field = Field::area(EXTENDED_DATA, req.tr("extended-data-json"), typed, 24)
        .hint(req.tr_with("extended-data-hint", "size", size))
        .class("mono")
        .check(&problems);
    let section = Section::new("data", req.tr("extended-data"))
        .hint(req.tr("extended-data-lede"))
        .field(field.html(translator));
    let form = req
        .build_form(data_owner.path.clone(), "extended-data-save")
        .put(req.revision(revision_at(updated_at)))
        .section(section)
        .note(req.tr_with("extended-data-changed", "time", req.time(updated_at)));
    req.form_page(data_owner.head, form.html(), problems).await
}

/// The object that was typed.
fn read_form(req: &AdminRequest) -> std::result::Result<Value, FormError> {
    let text = req.form.text(EXTENDED_DATA);
    let problem = |text: String| FormError::new(EXTENDED_DATA, text);
    let data = read_json(if text.is_empty() { "{}" } else { text }).map_err(|error| {
        if error.is_data() {
            return problem(req.tr("problem-json-number"));
        }
        let values = [("line", error.line().into()), ("column", error.column().into())];
        problem(req.tr_args("problem-json", &values))
    })?;
    if data.is_object() { Ok(data) } else { Err(problem(req.tr("problem-json-object"))) }
}

pub(crate) async fn update(req: &AdminRequest) -> Result<Reply> {
    let data_owner = DataOwner::from_path(req).await?;
    let data = match read_form(req) {
        Ok(data) => data,
        Err(problem) => return show_page(req, data_owner, vec![problem]).await,
    };
    let AuditedRecord { kind, id, name } = &data_owner.record;
    let (organization, owner) = (data_owner.organization_id, data_owner.owner);
    let saved = req.change_with_audit(
        async |tx| {
            let sent = (data.clone(), req.form_revision());
            admin(req, tx.extended_data()).replace(organization, owner, sent, req.now).await
        },
        |replaced| {
            let changes = changes(replaced);
            let entry = req
                .audit_entry(Action::ExtendedDataUpdated)
                .in_organization(organization)
                .with_object(kind, id, name);
            let entry = changes.iter().fold(entry, |entry, (field, old, new)| {
                entry.with_change(field, old.as_deref(), new.as_deref())
            });
            (!changes.is_empty()).then_some(entry)
        },
    );
    match saved.await {
        Ok(_) => req.redirect_done("extended-data-saved", &[], data_owner.path).await,
        Err(error) => {
            let text = |field_error: &FieldError| error_key(field_error).map(|key| req.tr(key));
            let field = |_: &FieldError| EXTENDED_DATA.to_owned();
            let problems = error::form_errors_with_texts(&req.translator, error, field, text)?;
            show_page(req, data_owner, problems).await
        }
    }
}

/// The key of the text for an error.
fn error_key(field_error: &FieldError) -> Option<&'static str> {
    match field_error.code.as_ref() {
        "nul" => Some("problem-nul"),
        "too_large" => Some("problem-json-large"),
        "too_deep" => Some("problem-json-deep"),
        "reserved" => Some("problem-json-reserved"),
        _ => None,
    }
}

/// The members that differ, with their old and new values as JSON, for the audit trail. Long values are truncated.
fn changes(
    DataReplacement { before, after }: &DataReplacement,
) -> Vec<(String, Option<String>, Option<String>)> {
    let text = |value: Option<&Value>| value.map(|value| truncated(value.to_string()));
    let added = after.keys().filter(|key| !before.contains_key(*key));
    let keys = before.keys().chain(added).filter(|key| before.get(*key) != after.get(*key));
    keys.map(|key| (truncated(key.clone()), text(before.get(key)), text(after.get(key)))).collect()
}

fn truncated(mut text: String) -> String {
    if text.len() > MAX_RECORDED {
        let end = (0..=MAX_RECORDED).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
        text.truncate(end);
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_entry_of_the_trail_names_the_members_that_differ() {
        let object = |value: Value| value.as_object().cloned().unwrap_or_default();
        let replaced = DataReplacement {
            before: object(json!({"same": 1, "old": {"x": 1}, "gone": "é".repeat(1_000)})),
            after: object(json!({"same": 1, "old": {"x": 2}, "new": [1]})),
        };
        let changes = changes(&replaced);
        let text = |text: &str| Some(text.to_owned());
        assert!(changes.contains(&("old".to_owned(), text("{\"x\":1}"), text("{\"x\":2}"))));
        assert!(changes.contains(&("new".to_owned(), None, text("[1]"))));
        let gone = changes.iter().find(|(field, _, _)| field == "gone");
        assert!(
            gone.is_some_and(
                |(_, old, new)| old.as_ref().is_some_and(|old| old.len() < 1_010) && new.is_none()
            )
        );
        assert_eq!(changes.len(), 3);
    }
}
