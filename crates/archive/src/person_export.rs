//! Export of one person: what is kept of an account, as an archive.

use super::context::{ExportServices, ExportSource};
use super::error::ExportError;
use super::export::export_rows;
use super::members::Timestamp;
use super::output::{ArchiveWriter, ExportRow, PAGE};
use super::person::ExportedPerson;
use super::types;
use civitas_application::{Ports, Store};
use civitas_audit::{Actor, AuditEntry};
use civitas_jobs::{JobDetail, JobLogFilter};
use civitas_kernel::{Error, EventName, LogRequest, LogStart, OrganizationId, UserId};
use civitas_webhooks::{OutboxEvent, describes_user};
use serde_json::{Value, json};
use std::io::Write;

/// The number of jobs read by one query.
const JOBS: i64 = 100;

/// Writes what is kept of a person, without secrets: the records of the types of an archive that are theirs, then
/// `job`, `event` and `audit_entry` (docs/PRIVACY.md). It cannot be imported: the records of others that it refers to are not
/// in it. Reads all records of the organization in pages, so memory is bounded. The caller checks permission.
///
/// # Errors
/// See [`ExportError`]; [`Error::NotFound`] when the organization has no such account.
pub async fn export_person(
    store: &dyn Store,
    services: ExportServices<'_>,
    organization: OrganizationId,
    id: UserId,
    mut writer: impl Write + Send,
) -> Result<(), ExportError> {
    let user = store.users().find(organization, id).await?.ok_or(Error::NotFound)?;
    let mut output = ArchiveWriter::new(&mut writer, false);
    output.person = Some(ExportedPerson::new(id, user.email));
    let source = ExportSource { ports: store, services, with_ids: false };
    export_rows(source, &mut types::person_record_types(), Some(organization), &mut output).await?;
    write_jobs(source.ports, organization, id, &mut output).await?;
    write_events(source.ports, organization, id, &mut output).await?;
    write_audit_entries(source.ports, organization, id, &mut output).await?;
    writer.flush().map_err(ExportError::Write)
}

/// Writes the jobs of the person's tokens, the newest first.
async fn write_jobs(
    ports: &dyn Ports,
    of: OrganizationId,
    id: UserId,
    output: &mut ArchiveWriter<'_>,
) -> Result<(), ExportError> {
    let filter = JobLogFilter { organization: Some(of), ..JobLogFilter::default() };
    let mut start = LogStart::Newest;
    loop {
        let page = ports.job_log().list(&filter, LogRequest { start, limit: JOBS }).await?;
        for job in &page.items {
            if job.user.as_ref().is_none_or(|user| user.id != id) {
                continue;
            }
            if let Some(detail) = ports.job_log().find(job.summary.id).await? {
                let row = output.row("job", &job.summary.id.to_string(), Some(of));
                output.write(&job_row(detail, row))?;
            }
        }
        match page.items.last() {
            Some(last) if page.has_older => {
                start = LogStart::OlderThan(last.summary.created_at, last.summary.id);
            }
            _ => return Ok(()),
        }
    }
}

fn job_row(detail: JobDetail, row: ExportRow) -> ExportRow {
    let (job, answer) = (detail.job, detail.answer);
    let result = answer.result.and_then(|text| serde_json::from_str::<Value>(&text).ok());
    row.with("command", job.summary.command_key)
        .with_optional("api_client", job.client.uid_and_name.map(|(uid, _)| uid))
        .with("status", job.summary.status.as_str())
        .with_optional("request", detail.request)
        .with_optional("result", result)
        .with_optional("error", answer.failure.map(|failure| failure.message))
        .with("created_at", Timestamp(job.summary.created_at))
        .with("updated_at", Timestamp(job.summary.updated_at))
}

/// Writes the stored events with the data of the account, the oldest first.
async fn write_events(
    ports: &dyn Ports,
    of: OrganizationId,
    id: UserId,
    output: &mut ArchiveWriter<'_>,
) -> Result<(), ExportError> {
    let mut after = None;
    loop {
        let page = ports.outbox().page_after(of, after, PAGE).await?;
        let Some(last) = page.last() else { return Ok(()) };
        after = Some(last.id);
        for event in page.iter().filter(|event| is_event_of(event, id)) {
            let row = output.row("event", &event.id.to_string(), Some(of));
            let payload: Value = serde_json::from_str(&event.payload).unwrap_or_default();
            let row = row.with("name", event.name.as_str()).with("payload", payload);
            output.write(&row.with("occurred_at", Timestamp(event.occurred_at)))?;
        }
    }
}

fn is_event_of(event: &OutboxEvent, id: UserId) -> bool {
    matches!(event.name, EventName::UserCreated | EventName::UserUpdated)
        && describes_user(&event.payload, id)
}

/// Writes the entries of the audit trail about the account, and of acts for the person, the oldest first.
async fn write_audit_entries(
    ports: &dyn Ports,
    of: OrganizationId,
    id: UserId,
    output: &mut ArchiveWriter<'_>,
) -> Result<(), ExportError> {
    let mut number = 0;
    loop {
        let page = ports.audit().page_after(Some(of), number, PAGE).await?;
        let Some(last) = page.last() else { return Ok(()) };
        number = last.number;
        for entry in page.iter().filter_map(|read| read.entry.as_ref()) {
            let row = output.row("audit_entry", &entry.number.to_string(), Some(of));
            if let Some(row) = audit_row(entry, id, row) {
                output.write(&row)?;
            }
        }
    }
}

/// An entry; `None` if it is neither about the account nor of an act for the person. It has no names of other people: no
/// label of another object and no changes of it, and of the actor only the kind and an API client.
fn audit_row(entry: &AuditEntry, id: UserId, row: ExportRow) -> Option<ExportRow> {
    let is_for = entry.actor.user().is_some_and(|(user, _)| user == id);
    let object = entry.object.as_ref();
    let is_about = object.is_some_and(|object| object.kind == "user" && object.id == id.to_string());
    if !is_for && !is_about {
        return None;
    }
    let changes = entry.changes.iter().filter(|_| is_about);
    let changes: Vec<Value> = changes
        .map(|change| json!({"field": change.field, "before": change.before, "after": change.after}))
        .collect();
    let client = match &entry.actor {
        Actor::Client { uid, .. } => Some(uid),
        _ => None,
    };
    Some(
        row.with("action", entry.action.as_str())
            .with("actor", entry.actor.kind().as_str())
            .with_optional("api_client", client)
            .with_optional("from", entry.from.as_ref().filter(|_| is_for))
            .with_optional("object", object.map(|object| json!({"type": object.kind, "ref": object.id})))
            .with_non_empty("changes", changes)
            .with("at", Timestamp(entry.at)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use civitas_audit::{Action, Object};
    use civitas_kernel::clock;

    const ADA: UserId = UserId(7);

    fn entry(actor: Actor, kind: &str, object: &str) -> AuditEntry {
        AuditEntry {
            organization: Some(OrganizationId(1)),
            number: 1,
            at: clock::now(),
            actor,
            from: Some("203.0.113.9".to_owned()),
            action: Action::UserBlocked,
            object: Some(Object {
                kind: kind.to_owned(),
                id: object.to_owned(),
                label: "a label".to_owned(),
            }),
            changes: Vec::new(),
            details: None,
            hash: String::new(),
        }
    }

    fn written(entry: &AuditEntry) -> Option<Value> {
        let mut sink = Vec::new();
        let row = ArchiveWriter::new(&mut sink, false).row("audit_entry", "1", None);
        audit_row(entry, ADA, row).map(|row| serde_json::to_value(&row).unwrap())
    }

    #[test]
    fn an_entry_about_the_account_names_no_administrator() {
        let actor = Actor::Administrator { id: 3, email: "root@city.example".to_owned() };
        let text = written(&entry(actor.clone(), "user", "7")).unwrap().to_string();
        assert!(text.contains(r#""actor":"administrator""#) && text.contains("user.blocked"), "{text}");
        assert!(
            !text.contains("root@") && !text.contains("203.0.113.9") && !text.contains("label"),
            "{text}"
        );
        assert_eq!(written(&entry(actor.clone(), "user", "8")), None);
        assert_eq!(written(&entry(actor, "proposal", "7")), None);
    }

    #[test]
    fn an_act_for_the_person_has_its_client_and_address() {
        let client = |user| Actor::Client {
            uid: "app-client".to_owned(),
            name: "App".to_owned(),
            user: Some((user, "ada".to_owned())),
        };
        let found = written(&entry(client(ADA), "role", "4")).unwrap();
        assert_eq!((&found["api_client"], &found["from"]), (&"app-client".into(), &"203.0.113.9".into()));
        assert_eq!(found["object"], json!({"type": "role", "ref": "4"}));
        assert_eq!(written(&entry(client(UserId(8)), "role", "4")), None);
    }
}
