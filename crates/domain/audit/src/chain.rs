//! The chain of an organization: every entry has the hash of the one before it.

use crate::AuditEntry;
use civitas_kernel::text::hexadecimal;
use ring::digest::{SHA256, digest};
use serde_json::json;
use std::fmt;

/// The hash before the first entry.
pub const EMPTY_HASH: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// The version of the canonical form with the details.
const WITH_DETAILS: i64 = 1;
/// The version of the canonical form with the digest of the details.
const WITH_DIGEST: i64 = 2;

/// The ends of a chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainHead {
    /// The number of the last entry; 0: there was none yet.
    pub number: i64,
    /// Its hash.
    pub hash: String,
    /// The number of the last entry that was removed because of its age; 0: none was.
    pub removed_number: i64,
    /// Its hash: the rest of the chain is verified from it.
    pub removed_hash: String,
}

/// A chain without entries.
impl Default for ChainHead {
    fn default() -> Self {
        let empty = || EMPTY_HASH.to_owned();
        Self { number: 0, hash: empty(), removed_number: 0, removed_hash: empty() }
    }
}

/// Why a chain is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChainError {
    /// The hash of the entry is not that of its content and of the entry before it.
    HashDiffers,
    /// The entry is missing.
    Missing,
    /// The entry has content that no entry can have.
    Unreadable,
    /// The head of the chain is missing, or does not have the number and the hash of the last entry.
    HeadDiffers,
}

impl ChainError {
    /// The name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::HashDiffers => "hash_differs",
            Self::Missing => "missing",
            Self::Unreadable => "unreadable",
            Self::HeadDiffers => "head_differs",
        }
    }
}

impl fmt::Display for ChainError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::HashDiffers => "its hash is not that of its content and of the entry before it",
            Self::Missing => "the entry is missing",
            Self::Unreadable => "it has content that no entry can have",
            Self::HeadDiffers => "the head of the chain does not match the last entry",
        })
    }
}

impl AuditEntry {
    /// The hash of the entry after one with the hash `previous`: SHA-256 of its canonical form, in hexadecimal.
    ///
    /// The canonical form is a JSON array without spaces: 2, the hash before, organization, number, time in
    /// microseconds since 1970, kind and id of the actor, id of its user, action, kind and id of the object, and the
    /// digest of the details. What is absent is null. That of an entry without a digest has 1 instead, and the details
    /// at their positions: the name after the id of the actor, the nickname after that of its user, then the address; the
    /// label after the id of the object, then the changes.
    pub fn hash_after(&self, previous: &str) -> String {
        let Some(details) = &self.details else { return self.hash_with_details(previous) };
        let user = self.actor.user();
        let object = self.object.as_ref();
        let form = json!([
            WITH_DIGEST,
            previous,
            self.organization,
            self.number,
            microseconds(self.at),
            self.actor.kind().as_str(),
            self.actor.id(),
            user.map(|(id, _)| id),
            self.action.as_str(),
            object.map(|object| &object.kind),
            object.map(|object| &object.id),
            details.digest,
        ]);
        sha256(&form.to_string())
    }

    /// The digest of the details: SHA-256, in hexadecimal, of a JSON array without spaces: the salt, the name of the
    /// actor, the nickname of its user, the address, the label of the object, and the changes as `[field, before,
    /// after]`.
    pub fn digest_of_details(&self, salt: &str) -> String {
        let nickname = self.actor.user().map(|(_, nickname)| nickname);
        let label = self.object.as_ref().map(|object| &object.label);
        let form = json!([salt, self.actor.name(), nickname, self.from, label, self.changes]);
        sha256(&form.to_string())
    }

    /// Whether the details are those of the digest, or were erased and are empty.
    fn has_its_details(&self) -> bool {
        let Some(details) = &self.details else { return true };
        if let Some(salt) = &details.salt {
            return details.digest == self.digest_of_details(salt);
        }
        let nickname = self.actor.user().map(|(_, nickname)| nickname);
        let label = self.object.as_ref().map(|object| object.label.as_str());
        let texts = [self.actor.name(), nickname, label];
        texts.into_iter().flatten().all(str::is_empty) && self.from.is_none() && self.changes.is_empty()
    }

    fn hash_with_details(&self, previous: &str) -> String {
        let user = self.actor.user();
        let object = self.object.as_ref();
        let form = json!([
            WITH_DETAILS,
            previous,
            self.organization,
            self.number,
            microseconds(self.at),
            self.actor.kind().as_str(),
            self.actor.id(),
            self.actor.name(),
            user.map(|(id, _)| id),
            user.map(|(_, nickname)| nickname),
            self.from,
            self.action.as_str(),
            object.map(|object| &object.kind),
            object.map(|object| &object.id),
            object.map(|object| &object.label),
            self.changes,
        ]);
        sha256(&form.to_string())
    }

    /// Checks that the entry is the one after the entry with this number and hash.
    ///
    /// # Errors
    /// [`ChainError::Missing`] when an entry between them is missing, [`ChainError::HashDiffers`].
    pub fn check_chain_link(&self, number: i64, hash: &str) -> Result<(), ChainError> {
        if self.number != number + 1 {
            return Err(ChainError::Missing);
        }
        if self.hash != self.hash_after(hash) || !self.has_its_details() {
            return Err(ChainError::HashDiffers);
        }
        Ok(())
    }
}

fn microseconds(at: time::OffsetDateTime) -> i64 {
    i64::try_from(at.unix_timestamp_nanos() / 1_000).unwrap_or(i64::MAX)
}

fn sha256(form: &str) -> String {
    hexadecimal(digest(&SHA256, form.as_bytes()).as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Action, Actor, Details, NewAuditEntry, Object};
    use civitas_kernel::{OrganizationId, UserId};
    use proptest::prelude::*;
    use time::macros::datetime;

    fn new_entry(n: i64) -> NewAuditEntry {
        let actor = Actor::Client {
            uid: "id_app".to_owned(),
            name: "App".to_owned(),
            user: Some((UserId(3), "ada".to_owned())),
        };
        NewAuditEntry::new(actor, Action::RoleCreated)
            .in_organization(Some(OrganizationId(5)))
            .with_address("192.0.2.7")
            .with_object("role", &n.to_string(), "Youth council")
            .with_change("kind", None, Some("member"))
    }

    /// A chain of this many entries.
    fn chain(length: i64) -> Vec<AuditEntry> {
        let mut head = ChainHead::default();
        let entry = |n| {
            let entry = new_entry(n).append_to(&head, datetime!(2026-03-01 09:30:00.000001 UTC));
            head = ChainHead { number: entry.number, hash: entry.hash.clone(), ..ChainHead::default() };
            entry
        };
        (1..=length).map(entry).collect()
    }

    /// The number and the error of the first entry that does not follow.
    fn broken(entries: &[AuditEntry]) -> Option<(i64, ChainError)> {
        let (mut number, mut hash) = (0, EMPTY_HASH);
        for entry in entries {
            if let Err(error) = entry.check_chain_link(number, hash) {
                return Some((number + 1, error));
            }
            (number, hash) = (entry.number, &entry.hash);
        }
        None
    }

    #[test]
    fn a_chain_is_numbered_from_one_without_gaps() {
        let entries = chain(4);
        assert_eq!(entries.iter().map(|entry| entry.number).collect::<Vec<_>>(), [1, 2, 3, 4]);
        assert_eq!(broken(&entries), None);
    }

    #[test]
    fn the_canonical_form_is_the_documented_one() {
        let mut entry = chain(1).remove(0);
        let Details { salt: Some(salt), digest: of_details } = entry.details.clone().unwrap() else {
            panic!()
        };
        let details =
            format!(r#"["{salt}","App","ada","192.0.2.7","Youth council",[["kind",null,"member"]]]"#);
        assert_eq!(of_details, sha256(&details));
        let form = format!(
            r#"[2,"{EMPTY_HASH}",5,1,1772357400000001,"client","id_app",3,"role.created","role","1","{of_details}"]"#
        );
        assert_eq!(entry.hash, sha256(&form));
        entry.details = None;
        entry.hash = entry.hash_after(EMPTY_HASH);
        let form = format!(
            r#"[1,"{EMPTY_HASH}",5,1,1772357400000001,"client","id_app","App",3,"ada","192.0.2.7","role.created","role","1","Youth council",[["kind",null,"member"]]]"#
        );
        assert_eq!(entry.hash, sha256(&form));
    }

    #[test]
    fn details_are_erased_whole_and_the_chain_stays() {
        let erase = |entry: &mut AuditEntry| {
            let user = Some((UserId(3), String::new()));
            entry.actor = Actor::Client { uid: "id_app".to_owned(), name: String::new(), user };
            (entry.from, entry.changes) = (None, Vec::new());
            edit(entry, |object| object.label.clear());
            entry.details.as_mut().unwrap().salt = None;
        };
        let mut entries = chain(3);
        assert!(!entries[1].is_erased());
        erase(&mut entries[1]);
        assert!(entries[1].is_erased());
        assert_eq!(broken(&entries), None);
        let edits: [fn(&mut AuditEntry); 5] = [
            |entry| entry.from = Some("192.0.2.7".to_owned()),
            |entry| edit(entry, |object| object.label.push('x')),
            |entry| entry.changes = chain(1)[0].changes.clone(),
            |entry| entry.details.as_mut().unwrap().digest = EMPTY_HASH.to_owned(),
            |entry| entry.details = None,
        ];
        for (n, edit) in edits.into_iter().enumerate() {
            let mut entries = entries.clone();
            edit(&mut entries[1]);
            assert_eq!(broken(&entries), Some((2, ChainError::HashDiffers)), "{n}");
        }
    }

    #[test]
    fn an_entry_that_is_removed_or_moved_is_found() {
        let entries = chain(5);
        for removed in 0..4 {
            let mut entries = entries.clone();
            let number = entries.remove(removed).number;
            assert_eq!(broken(&entries), Some((number, ChainError::Missing)));
        }
        for (a, b) in [(0, 1), (1, 2), (0, 4)] {
            let mut swapped = entries.clone();
            swapped.swap(a, b);
            let number = i64::try_from(a).unwrap() + 1;
            assert_eq!(broken(&swapped), Some((number, ChainError::Missing)));
            // Not even with their numbers.
            swapped[a].number = entries[a].number;
            swapped[b].number = entries[b].number;
            assert_eq!(broken(&swapped), Some((number, ChainError::HashDiffers)));
        }
    }

    #[test]
    fn a_change_of_any_column_is_found() {
        let edits: [fn(&mut AuditEntry); 14] = [
            |entry| entry.organization = Some(OrganizationId(6)),
            |entry| entry.organization = None,
            |entry| entry.at += time::Duration::MICROSECOND,
            |entry| entry.actor = Actor::Anonymous,
            |entry| {
                entry.actor = Actor::Client { uid: "id_app".to_owned(), name: "App".to_owned(), user: None }
            },
            |entry| entry.from = None,
            |entry| entry.action = Action::RoleDeleted,
            |entry| entry.object = None,
            |entry| edit(entry, |object| object.kind.push('s')),
            |entry| edit(entry, |object| object.id.push('0')),
            |entry| edit(entry, |object| object.label.clear()),
            |entry| entry.changes[0].field.push('s'),
            |entry| entry.changes[0].before = Some(String::new()),
            |entry| entry.changes.clear(),
        ];
        for (n, edit) in edits.into_iter().enumerate() {
            let mut entries = chain(3);
            edit(&mut entries[1]);
            assert_eq!(broken(&entries), Some((2, ChainError::HashDiffers)), "{n}");
        }
        let mut entries = chain(3);
        // A hash that was computed again does not match the next entry.
        entries[1].action = Action::RoleDeleted;
        entries[1].hash = entries[1].hash_after(&entries[0].hash);
        assert_eq!(broken(&entries), Some((3, ChainError::HashDiffers)));
    }

    fn edit(entry: &mut AuditEntry, edit: impl FnOnce(&mut Object)) {
        entry.object.as_mut().map(edit).unwrap();
    }

    proptest! {
        #[test]
        fn texts_cannot_move_between_columns(a in ".{0,8}", b in ".{0,8}", c in ".{0,8}", d in ".{0,8}") {
            let entry = |id: &str, label: &str| NewAuditEntry::new(Actor::Archive, Action::UserBlocked)
                .with_object("user", id, label)
                .append_to(&ChainHead::default(), datetime!(2026-03-01 09:30 UTC));
            let (one, other) = (entry(&a, &b), entry(&c, &d));
            prop_assert_eq!(one.object == other.object, one.digest_of_details("") == other.digest_of_details("")
                && one.hash_with_details("") == other.hash_with_details(""));
        }
    }
}
