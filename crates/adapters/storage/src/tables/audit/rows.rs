//! The rows of entries.

use crate::engine::Db;
use crate::schema::audit_entries as entries;
use crate::scoped::organization_key;
use civitas_audit::{Action, Actor, ActorKind, AuditEntry, Details, Object};
use civitas_kernel::{Error, OrganizationId, Result, UserId};
use diesel::prelude::*;
use time::OffsetDateTime;

/// The columns of an entry, as they are: verification reports content that no entry can have.
#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = entries, check_for_backend(Db), treat_none_as_default_value = false)]
pub(super) struct EntryRow {
    pub(super) organization_id: i64,
    pub(super) number: i64,
    at: OffsetDateTime,
    actor_kind: String,
    actor_id: Option<String>,
    actor_name: Option<String>,
    user_id: Option<i64>,
    user_name: Option<String>,
    address: Option<String>,
    action: String,
    object_kind: Option<String>,
    object_id: Option<String>,
    object_label: Option<String>,
    changes: String,
    details_salt: Option<String>,
    details_digest: Option<String>,
    hash: String,
}

impl EntryRow {
    /// The columns of an entry.
    pub(super) fn new(entry: &AuditEntry) -> Result<Self> {
        let user = entry.actor.user();
        let object = entry.object.clone();
        let (details_salt, details_digest) = match entry.details.clone() {
            Some(Details { salt, digest }) => (salt, Some(digest)),
            None => (None, None),
        };
        let (object_kind, object_id, object_label) = object
            .map_or((None, None, None), |object| (Some(object.kind), Some(object.id), Some(object.label)));
        Ok(Self {
            organization_id: organization_key(entry.organization),
            number: entry.number,
            at: entry.at,
            actor_kind: entry.actor.kind().as_str().to_owned(),
            actor_id: entry.actor.id(),
            actor_name: entry.actor.name().map(str::to_owned),
            user_id: user.map(|(id, _)| id.0),
            user_name: user.map(|(_, nickname)| nickname.to_owned()),
            address: entry.from.clone(),
            action: entry.action.as_str().to_owned(),
            object_kind,
            object_id,
            object_label,
            changes: serde_json::to_string(&entry.changes).map_err(Error::internal)?,
            details_salt,
            details_digest,
            hash: entry.hash.clone(),
        })
    }

    /// `None` when the row has content that no entry can have.
    pub(super) fn into_entry(self) -> Option<AuditEntry> {
        let user = match (self.user_id, self.user_name) {
            (Some(id), Some(nickname)) => Some((UserId(id), nickname)),
            (None, None) => None,
            _ => return None,
        };
        let object = match (self.object_kind, self.object_id, self.object_label) {
            (Some(kind), Some(id), Some(label)) => Some(Object { kind, id, label }),
            (None, None, None) => None,
            _ => return None,
        };
        let details = match (self.details_salt, self.details_digest) {
            (salt, Some(digest)) => Some(Details { salt, digest }),
            (None, None) => None,
            (Some(_), None) => return None,
        };
        let changes = serde_json::from_str(&self.changes).ok()?;
        if serde_json::to_string(&changes).ok()? != self.changes {
            return None;
        }
        Some(AuditEntry {
            organization: Some(self.organization_id).filter(|id| *id != 0).map(OrganizationId),
            number: self.number,
            at: self.at,
            actor: Actor::from_parts(
                ActorKind::parse(&self.actor_kind)?,
                self.actor_id,
                self.actor_name,
                user,
            )?,
            from: self.address,
            action: Action::parse(&self.action)?,
            object,
            changes,
            details,
            hash: self.hash,
        })
    }
}
