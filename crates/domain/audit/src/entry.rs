//! Entries, and new ones before they are in a chain.

use crate::changes::{change, shorten};
use crate::{Action, Actor, ChainHead, FieldChange, MAX_CHANGES, is_secret};
use civitas_kernel::{OrganizationId, UserId, clock, random_key};
use time::OffsetDateTime;

/// The record that was acted on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    /// Its kind: `api_client`, `organization`, ...
    pub kind: String,
    /// Its id.
    pub id: String,
    /// The name it had.
    pub label: String,
}

/// The digest of the details of an entry: the name of the actor, the nickname of its user, the address, the label of
/// the object, and the changes. The chain has the digest, so that the details can be erased and the chain stays whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Details {
    /// Random text that is hashed with the details: without the salt, guessed details cannot be compared with the
    /// digest. `None`: the details and the salt were erased.
    pub salt: Option<String>,
    /// [`AuditEntry::digest_of_details`] of the details that were written.
    pub digest: String,
}

/// An entry of the audit trail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEntry {
    /// The organization; `None`: the deployment.
    pub organization: Option<OrganizationId>,
    /// Its number in the organization, from 1 without gaps.
    pub number: i64,
    /// When, in whole microseconds. Of two entries written at once the second may have the earlier time.
    pub at: OffsetDateTime,
    /// The actor.
    pub actor: Actor,
    /// The address of the client, if it is known.
    pub from: Option<String>,
    /// What.
    pub action: Action,
    /// On what.
    pub object: Option<Object>,
    /// The fields that changed, at most [`MAX_CHANGES`].
    pub changes: Vec<FieldChange>,
    /// The digest of the details; `None`: they are hashed with the entry, and cannot be erased. New entries have one.
    pub details: Option<Details>,
    /// [`AuditEntry::hash_after`] the entry before it.
    pub hash: String,
}

impl AuditEntry {
    /// Whether its details were erased. Their texts are empty then.
    pub fn is_erased(&self) -> bool {
        self.details.as_ref().is_some_and(|details| details.salt.is_none())
    }
}

/// An entry before it is appended: without number and hash. Texts are cut to [`MAX_TEXT`](crate::MAX_TEXT) characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewAuditEntry {
    organization: Option<OrganizationId>,
    actor: Actor,
    from: Option<String>,
    action: Action,
    object: Option<Object>,
    changes: Vec<FieldChange>,
}

impl NewAuditEntry {
    /// An act that belongs to the deployment, on nothing, without changes.
    pub fn new(actor: Actor, action: Action) -> Self {
        let actor = match actor {
            Actor::Administrator { id, email } => Actor::Administrator { id, email: shorten(&email) },
            Actor::Client { uid, name, user } => {
                let user = user.map(|(id, nickname): (UserId, String)| (id, shorten(&nickname)));
                Actor::Client { uid: shorten(&uid), name: shorten(&name), user }
            }
            Actor::CommandLine { command } => Actor::CommandLine { command: shorten(&command) },
            other @ (Actor::Archive | Actor::Anonymous) => other,
        };
        Self { organization: None, actor, from: None, action, object: None, changes: Vec::new() }
    }

    /// Sets the organization; `None`: the deployment.
    #[must_use]
    pub fn in_organization(mut self, organization: impl Into<Option<OrganizationId>>) -> Self {
        self.organization = organization.into();
        self
    }

    /// Sets the record that was acted on: kind, id, and the name it has.
    #[must_use]
    pub fn with_object(mut self, kind: &str, id: &str, label: &str) -> Self {
        self.object = Some(Object { kind: shorten(kind), id: shorten(id), label: shorten(label) });
        self
    }

    /// Adds a field that changed. Leaves it out when it is a secret ([`is_secret`]), when both values are equal, and
    /// when there are [`MAX_CHANGES`] already.
    #[must_use]
    pub fn with_change(mut self, field: &str, before: Option<&str>, after: Option<&str>) -> Self {
        if before != after && !is_secret(field) && self.changes.len() < MAX_CHANGES {
            self.changes.push(change(field, before, after));
        }
        self
    }

    /// Sets the address of the client, if there is one.
    #[must_use]
    pub fn with_address<'a>(mut self, address: impl Into<Option<&'a str>>) -> Self {
        self.from = address.into().map(shorten);
        self
    }

    /// The organization; `None`: the deployment.
    pub fn organization(&self) -> Option<OrganizationId> {
        self.organization
    }

    /// Who acted.
    pub fn actor(&self) -> &Actor {
        &self.actor
    }

    /// What was done.
    pub fn action(&self) -> Action {
        self.action
    }

    /// On what.
    pub fn object(&self) -> Option<&Object> {
        self.object.as_ref()
    }

    /// Whether a field changed.
    pub fn has_changes(&self) -> bool {
        !self.changes.is_empty()
    }

    /// The entry after the last one of its chain.
    #[must_use]
    pub fn append_to(&self, head: &ChainHead, now: OffsetDateTime) -> AuditEntry {
        let mut entry = AuditEntry {
            organization: self.organization,
            number: head.number + 1,
            at: clock::to_microseconds(now),
            actor: self.actor.clone(),
            from: self.from.clone(),
            action: self.action,
            object: self.object.clone(),
            changes: self.changes.clone(),
            details: None,
            hash: String::new(),
        };
        let salt = random_key();
        let digest = entry.digest_of_details(&salt);
        entry.details = Some(Details { salt: Some(salt), digest });
        entry.hash = entry.hash_after(&head.hash);
        entry
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MAX_TEXT;
    use time::macros::datetime;

    const NOW: OffsetDateTime = datetime!(2026-03-01 09:30 UTC);

    #[test]
    fn secrets_and_equal_values_are_no_changes() {
        let new_entry = NewAuditEntry::new(Actor::Archive, Action::ApiClientUpdated)
            .with_change("client_secret", Some("a"), Some("b"))
            .with_change("name", Some("a"), Some("a"))
            .with_change("scopes", Some(""), Some("public"));
        let entry = new_entry.append_to(&ChainHead::default(), NOW);
        assert_eq!(entry.changes.iter().map(|change| change.field.as_str()).collect::<Vec<_>>(), ["scopes"]);
    }

    #[test]
    fn an_entry_is_bounded() {
        let long = "x".repeat(1000);
        let actor =
            Actor::Client { uid: long.clone(), name: long.clone(), user: Some((UserId(1), long.clone())) };
        let mut new_entry = NewAuditEntry::new(actor, Action::RoleCreated)
            .with_object(&long, &long, &long)
            .with_address(long.as_str());
        for n in 0..100 {
            new_entry = new_entry.with_change(&format!("{n}{long}"), Some(&long), None);
        }
        let entry = new_entry.append_to(&ChainHead::default(), NOW);
        assert_eq!(entry.changes.len(), MAX_CHANGES);
        let texts =
            [entry.actor.name().unwrap(), &entry.object.as_ref().unwrap().label, &entry.changes[9].field];
        for text in texts {
            assert_eq!(text.chars().count(), MAX_TEXT);
        }
    }
}
