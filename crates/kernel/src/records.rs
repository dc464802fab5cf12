//! Records of an organization, with an id. One port stores them all ([`Records`]), and there is one way to change them
//! ([`RecordAdministration`], [`edit`]).
//!
//! ```
//! use civitas_kernel::records::{Change, Entity};
//! use civitas_kernel::{PostId, Result};
//! use time::{OffsetDateTime, macros::datetime};
//!
//! #[derive(Debug, Clone, PartialEq)]
//! struct Note {
//!     text: String,
//!     updated_at: OffsetDateTime,
//! }
//!
//! impl Entity for Note {
//!     type Id = PostId;
//!
//!     civitas_kernel::time_fields!(updated_at);
//! }
//!
//! let (then, now) = (datetime!(2026-03-01 09:30 UTC), datetime!(2026-03-02 10:00 UTC));
//! let note = Note { text: "Trees".to_owned(), updated_at: then };
//! let change = Change::from_edit(note.clone(), now, |note| note.text = "Benches".to_owned());
//! assert_eq!(change.after.updated_at, now);
//! assert_ne!(change.after.revision(), note.revision());
//! assert!(Change::from_edit(note, now, |_| {}).is_empty());
//! ```

mod admin;
#[cfg(feature = "conformance")]
pub mod conformance;
mod fields;
mod mock;

pub use admin::{
    AdminWithoutRules, RecordAdministration, check_revision, edit, find_for_update, find_revision_for_update,
};
pub use fields::{RecordField, RecordFields};

use crate::text::{TRANSLATION_END, searchable, searchable_html};
use crate::{Error, Event, OrganizationId, Result, Translated};
use async_trait::async_trait;
use std::fmt::Debug;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use time::OffsetDateTime;

/// A record of an organization, which a store stores under an id.
pub trait Entity: Clone + PartialEq + Debug + Send + Sync + 'static {
    /// The id of a stored record.
    type Id: Copy + PartialEq + Debug + Send + Sync + 'static;

    /// The time of the last change. `None`: the record has none.
    fn updated_at(&mut self) -> Option<&mut OffsetDateTime> {
        None
    }

    /// The revision of this state, which a form sends back ([`find_revision_for_update`]): the time of the last change;
    /// for a record without one, a digest of the state.
    fn revision(&self) -> String {
        if let Some(at) = self.clone().updated_at() {
            return revision_at(*at);
        }
        let digest = BuildHasherDefault::<DefaultHasher>::default().hash_one(format!("{self:?}"));
        format!("{digest:016x}")
    }

    /// Whether the record is deleted: its row stays, and cannot be changed ([`find_for_update`]).
    fn is_deleted(&self) -> bool {
        false
    }

    /// The events that follow when `before` becomes this state (contract 09 C.1). `None`: the record is new.
    fn events(&self, _id: Self::Id, _before: Option<&Self>) -> Vec<Event> {
        Vec::new()
    }

    /// The names of the lists that lose the record, or show it to other viewers, when `before` becomes this state
    /// (contract 01 §8). `None`: the record is new.
    fn lists_changed(&self, _before: Option<&Self>) -> Vec<&'static str> {
        Vec::new()
    }

    /// The texts in which words are searched; `None` for records that have none.
    fn search_texts(&self) -> Option<SearchTexts> {
        None
    }

    /// The error when another record has the key of this one. By default `Conflict`: the transaction is repeated.
    fn key_taken_error() -> Error {
        Error::Conflict("another record has the same key".into())
    }
}

/// The methods of [`Entity`] that read times: `updated_at`, and for records whose row stays when they are deleted also
/// `deleted_at`, an `Option`.
#[macro_export]
macro_rules! time_fields {
    (updated_at $(, $deleted_at:ident)?) => {
        fn updated_at(&mut self) -> Option<&mut ::time::OffsetDateTime> {
            Some(&mut self.updated_at)
        }

        $(
            fn is_deleted(&self) -> bool {
                self.$deleted_at.is_some()
            }
        )?
    };
}

/// The texts of a record in their searchable form, each translation between two [`TRANSLATION_END`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchTexts {
    /// The title or name.
    pub title: String,
    /// The body or description, without tags; empty for records without one.
    pub body: String,
}

impl SearchTexts {
    /// The texts of a record with a title in several languages, and perhaps a body of HTML.
    pub fn new(title: &Translated, body: Option<&Translated>) -> Self {
        let texts =
            |text: &Translated, form: fn(&str) -> String| joined(text.iter().map(|(_, text)| form(text)));
        Self {
            title: texts(title, searchable),
            body: body.map(|body| texts(body, searchable_html)).unwrap_or_default(),
        }
    }

    /// The texts of a record with a name in one language.
    pub fn from_name(name: &str) -> Self {
        Self { title: joined([searchable(name)].into_iter()), body: String::new() }
    }
}

/// The texts that are not empty, each between two [`TRANSLATION_END`].
fn joined(texts: impl Iterator<Item = String>) -> String {
    let mut all = String::new();
    for text in texts.filter(|text| !text.is_empty()) {
        if all.is_empty() {
            all.push(TRANSLATION_END);
        }
        all.push_str(&text);
        all.push(TRANSLATION_END);
    }
    all
}

/// The revision of a record that was last changed at this time ([`Entity::revision`]).
pub fn revision_at(updated_at: OffsetDateTime) -> String {
    updated_at.unix_timestamp_nanos().to_string()
}

/// A record before and after a change. The caller loads the record; a store does not load it again.
#[derive(Debug, Clone, PartialEq)]
pub struct Change<E> {
    /// The state that is stored.
    pub before: E,
    /// The state to store.
    pub after: E,
}

impl<E: Entity> Change<E> {
    /// A change from one state to another.
    pub fn new(before: E, after: E) -> Self {
        Self { before, after }
    }

    /// The change of an edit at `now`. An edit without effect does not change `updated_at` either.
    pub fn from_edit(before: E, now: OffsetDateTime, edit: impl FnOnce(&mut E)) -> Self {
        let mut after = before.clone();
        edit(&mut after);
        if after != before
            && let Some(at) = after.updated_at()
        {
            *at = now;
        }
        Self { before, after }
    }

    /// Whether both states are equal.
    pub fn is_empty(&self) -> bool {
        self.before == self.after
    }

    /// The events that follow from it ([`Entity::events`]).
    pub fn events(&self, id: E::Id) -> Vec<Event> {
        self.after.events(id, Some(&self.before))
    }

    /// The lists it changes ([`Entity::lists_changed`]).
    pub fn lists_changed(&self) -> Vec<&'static str> {
        self.after.lists_changed(Some(&self.before))
    }
}

/// Stores the records of a kind.
///
/// `add` and `save` are atomic: they store the record with its events and list changes, or nothing. A write with events
/// needs a transaction, where they are recorded; outside of one it is `Internal`.
#[async_trait]
pub trait Records<E: Entity>: Send + Sync {
    /// The record, deleted or not.
    async fn find(&self, organization: OrganizationId, id: E::Id) -> Result<Option<E>>;

    /// The record, locked against other writers until the transaction ends.
    ///
    /// # Errors
    /// `Internal` outside a transaction.
    async fn find_for_update(&self, organization: OrganizationId, id: E::Id) -> Result<Option<E>>;

    /// Stores a new record.
    ///
    /// # Errors
    /// [`Entity::key_taken_error`] when another record has its key; the transaction can continue.
    async fn add(&self, organization: OrganizationId, record: &E) -> Result<E::Id>;

    /// Stores new records with few statements, and returns their ids in the same order. `None`: nothing was stored,
    /// because one of them has the key of another record, or because this kind of record is stored one by one; then
    /// [`Self::add`] stores each, or returns its error.
    async fn add_many(&self, _organization: OrganizationId, _records: &[E]) -> Result<Option<Vec<E::Id>>> {
        Ok(None)
    }

    /// Stores a new state.
    ///
    /// # Errors
    /// `NotFound` when there is no such record. [`Entity::key_taken_error`] when another record has its key; on
    /// PostgreSQL this aborts the transaction.
    async fn save(&self, organization: OrganizationId, id: E::Id, change: &Change<E>) -> Result<()>;

    /// The records after `after` in ascending order of id, at most `limit`; for export.
    async fn page_after(
        &self,
        organization: OrganizationId,
        after: Option<E::Id>,
        limit: i64,
    ) -> Result<Vec<(E::Id, E)>>;
}
