//! The extended data of a record as JSON (contract 01 §11.3).

use super::components::OpenedComponent;
use super::organization;
use super::proposals::OpenedProposal;
use super::shared::{OpenedSpace, space_key};
use crate::admin_request::AdminRequest;
use crate::error;
use crate::format::Zone;
use crate::pages::people::persons::Person;
use crate::parts::{Field, Form, FormError, FormErrors, Head, Html, Json, Section};
use crate::reply::Reply;
use civitas_audit::Action;
use civitas_extended_data::{ExtendedData, ExtendedDataStore, Owner, Replaced, StoredData, refusals};
use civitas_kernel::records::revision_at;
use civitas_kernel::{OrganizationId, Result, read_json};
use serde_json::{Map, Value};

const DATA: &str = "extended_data";
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

/// A record with extended data.
struct DataOwner {
    organization_id: OrganizationId,
    owner: Owner,
    record: AuditedRecord,
    /// The path of the page.
    path: String,
    head: Head,
}

impl DataOwner {
    /// The record of the path; the organization where it names no other one. Times of the page are in its zone.
    async fn of_path(req: &AdminRequest) -> Result<Self> {
        let named = ["uid", "sid", "cid", "pid"].into_iter().find(|name| req.params.contains_key(*name));
        let (organization_id, zone, owner, record, path, head) = match named {
            Some("uid") => {
                let opened = Person::of_path(req).await?;
                let (path, head) = (opened.path(), opened.tabbed_head(req, DATA));
                let record =
                    AuditedRecord { kind: "user", id: opened.id.to_string(), name: opened.user.name };
                let Person { organization_id, organization, id, .. } = opened;
                (organization_id, organization.time_zone, Owner::from(id), record, path, head)
            }
            Some("sid") => {
                let opened = OpenedSpace::of_path(req).await?;
                let (path, head) = (opened.path(), opened.head(req, DATA));
                let record =
                    AuditedRecord { kind: "space", id: space_key(opened.space_ref), name: opened.title(req) };
                let OpenedSpace { organization_id, organization, space_ref, .. } = opened;
                (organization_id, organization.time_zone, Owner::from(space_ref), record, path, head)
            }
            Some("cid") => {
                let opened = OpenedComponent::of_path(req).await?;
                let (path, head) = (opened.path(), opened.head(req, DATA));
                let record =
                    AuditedRecord { kind: "component", id: opened.id.to_string(), name: opened.name(req) };
                let OpenedSpace { organization_id, organization, .. } = opened.space;
                (organization_id, organization.time_zone, Owner::from(opened.id), record, path, head)
            }
            Some(_) => {
                let opened = OpenedProposal::of_path(req).await?;
                let (path, head) = (opened.path(), opened.tabbed_head(req, DATA));
                let record =
                    AuditedRecord { kind: "proposal", id: opened.id.to_string(), name: opened.title(req) };
                let OpenedProposal { organization_id, organization, id, .. } = opened;
                (organization_id, organization.time_zone, Owner::from(id), record, path, head)
            }
            None => {
                let (id, organization) = organization::organization(req).await?;
                let name = organization::name(req, &organization);
                let head = organization::settings_head(req, id, &name, DATA);
                let path = format!("{}/{id}", organization::LIST);
                (
                    id,
                    organization.time_zone,
                    Owner::from(id),
                    AuditedRecord { kind: "organization", id: id.to_string(), name },
                    path,
                    head,
                )
            }
        };
        req.open_organization(organization_id).await?;
        req.zone.set(Zone::named(&zone));
        Ok(Self { organization_id, owner, record, path: format!("{path}/{DATA}"), head })
    }
}

fn admin<'a>(req: &AdminRequest, store: &'a dyn ExtendedDataStore) -> ExtendedData<'a> {
    ExtendedData { store, limit: req.panel.settings.extended_data_limit }
}

/// The data, indented.
fn indented(data: &Map<String, Value>) -> String {
    serde_json::to_string_pretty(data).unwrap_or_default()
}

pub(crate) async fn show(req: &AdminRequest) -> Result<Reply> {
    let data_owner = DataOwner::of_path(req).await?;
    page(req, data_owner, Vec::new()).await
}

async fn page(req: &AdminRequest, data_owner: DataOwner, problems: FormErrors) -> Result<Reply> {
    let store = req.panel.store().extended_data();
    let StoredData { data, updated_at } =
        admin(req, store).read_any(data_owner.organization_id, data_owner.owner).await?;
    let text = indented(&data);
    let translator = &req.translator;
    if text.len() > MAX_SHOWN {
        let json = Json::new(translator, "json", req.tr("extended-data-by"), &text);
        let note = Html::paragraph("soft", &req.tr("extended-data-large"));
        return req.page(data_owner.head, Html::join([note, json.html()])).await;
    }
    let typed = req.form.get(DATA).map_or(text, str::to_owned);
    let limit = i64::try_from(req.panel.settings.extended_data_limit).unwrap_or(i64::MAX);
    let size = super::attachments::size_text(req, limit);
    let field = Field::area(DATA, req.tr("extended-data-json"), typed, 24)
        .hint(req.tr_with("extended-data-hint", "size", size))
        .class("mono")
        .check(&problems);
    let section = Section::new("data", req.tr("extended-data"))
        .hint(req.tr("extended-data-lede"))
        .field(field.html(translator));
    let form = Form::new(translator, data_owner.path.clone(), req.token(), "extended-data-save")
        .method("put")
        .hidden("revision", req.revision(revision_at(updated_at)))
        .section(section)
        .note(req.tr_with("extended-data-changed", "time", req.time(updated_at)));
    req.form_page(data_owner.head, form.html(), problems).await
}

/// The object that was typed.
fn read(req: &AdminRequest) -> std::result::Result<Value, FormError> {
    let text = req.form.text(DATA);
    let problem = |text: String| FormError::new(DATA, text);
    let data = read_json(if text.is_empty() { "{}" } else { text }).map_err(|error| {
        if error.is_data() {
            return problem(req.tr("problem-json-number"));
        }
        let number = |place: usize| i64::try_from(place).unwrap_or_default();
        let values = [("line", number(error.line()).into()), ("column", number(error.column()).into())];
        problem(req.tr_args("problem-json", &values))
    })?;
    if data.is_object() { Ok(data) } else { Err(problem(req.tr("problem-json-object"))) }
}

pub(crate) async fn save(req: &AdminRequest) -> Result<Reply> {
    let data_owner = DataOwner::of_path(req).await?;
    let data = match read(req) {
        Ok(data) => data,
        Err(problem) => return page(req, data_owner, vec![problem]).await,
    };
    let AuditedRecord { kind, id, name } = &data_owner.record;
    let saved = req.change(async |tx| {
        let admin = admin(req, tx.extended_data());
        let replaced = admin
            .replace(
                data_owner.organization_id,
                data_owner.owner,
                (data.clone(), req.form_revision()),
                req.now,
            )
            .await?;
        let changes = changes(&replaced);
        if changes.is_empty() {
            return Ok(());
        }
        let entry = req
            .audit_entry(Action::ExtendedDataUpdated)
            .of(Some(data_owner.organization_id))
            .on(kind, id, name);
        let entry = changes
            .iter()
            .fold(entry, |entry, (field, old, new)| entry.changed(field, old.as_deref(), new.as_deref()));
        req.append_audit_entry(tx, &entry).await
    });
    match saved.await {
        Ok(()) => req.done("extended-data-saved", &[], data_owner.path).await,
        Err(error) => {
            let mut problems = error::form_errors(&req.translator, error, |_| DATA.to_owned())?;
            let changed = req.tr("problem-changed-meanwhile");
            for problem in problems.iter_mut().filter(|problem| problem.text != changed) {
                translate_problem(req, problem);
            }
            page(req, data_owner, problems).await
        }
    }
}

/// Sets the field and the translated text of a problem.
fn translate_problem(req: &AdminRequest, problem: &mut FormError) {
    DATA.clone_into(&mut problem.field);
    let known = [
        (refusals::NUL, "problem-nul"),
        ("exceeds maximum size", "problem-json-large"),
        ("nested deeper", "problem-json-deep"),
        ("is reserved", "problem-json-reserved"),
    ];
    if let Some((_, key)) = known.into_iter().find(|(part, _)| problem.text.contains(part)) {
        problem.text = req.tr(key);
    }
}

/// The members that differ, with their old and new values as JSON, for the audit trail. Long values are truncated.
fn changes(Replaced { before, after }: &Replaced) -> Vec<(String, Option<String>, Option<String>)> {
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
        let replaced = Replaced {
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
