//! The one way to change records: lock, edit, check, save.

use super::{Change, Entity, Records};
use crate::{Error, OrganizationId, Result};
use async_trait::async_trait;
use time::OffsetDateTime;

/// Writes records of a kind after checking its rules. The caller checks permission.
///
/// An implementation gives the store and the rules; `create` and `change` are the same for all kinds. Use the stores of
/// a transaction: the checks and all writes must be in the same one.
#[async_trait]
pub trait RecordAdministration<E: Entity>: Send + Sync {
    /// The store.
    fn records(&self) -> &dyn Records<E>;

    /// Checks a state before it is stored, and makes writes that must come first. `before` is the id and the state
    /// it replaces; `None`: the record is new.
    ///
    /// # Errors
    /// Those of the rules.
    async fn before_store(
        &self,
        _organization: OrganizationId,
        _before: Option<(E::Id, &E)>,
        _after: &E,
    ) -> Result<()> {
        Ok(())
    }

    /// Makes the writes that follow from a stored state.
    ///
    /// # Errors
    /// Those of the stores.
    async fn follow_up(
        &self,
        _organization: OrganizationId,
        _id: E::Id,
        _before: Option<&E>,
        _after: &E,
    ) -> Result<()> {
        Ok(())
    }

    /// Stores a new record.
    ///
    /// # Errors
    /// Those of the rules and of [`Records::add`].
    async fn create(&self, organization: OrganizationId, record: &E) -> Result<E::Id> {
        self.before_store(organization, None, record).await?;
        let id = self.records().add(organization, record).await?;
        self.follow_up(organization, id, None, record).await?;
        Ok(id)
    }

    /// Stores new records with few statements, by the same rules as [`Self::create`], and returns their ids in the same
    /// order. `None`: nothing was stored, because a record breaks a rule, or because this kind of record is stored one
    /// by one; then [`Self::create`] stores each, or returns its error.
    async fn create_many(&self, _organization: OrganizationId, _records: &[E]) -> Result<Option<Vec<E::Id>>> {
        Ok(None)
    }

    /// Stores a change. An empty one is neither checked nor stored.
    ///
    /// # Errors
    /// Those of the rules and of [`Records::save`].
    async fn change(&self, organization: OrganizationId, id: E::Id, change: &Change<E>) -> Result<()> {
        if change.is_empty() {
            return Ok(());
        }
        let Change { before, after } = change;
        self.before_store(organization, Some((id, before)), after).await?;
        self.records().save(organization, id, change).await?;
        self.follow_up(organization, id, Some(before), after).await
    }
}

/// Records of a kind without rules.
pub struct AdminWithoutRules<'a, E>(pub &'a dyn Records<E>);

#[async_trait]
impl<E: Entity> RecordAdministration<E> for AdminWithoutRules<'_, E> {
    fn records(&self) -> &dyn Records<E> {
        self.0
    }

    async fn create_many(&self, organization: OrganizationId, records: &[E]) -> Result<Option<Vec<E::Id>>> {
        self.0.add_many(organization, records).await
    }
}

/// Changes a record under its lock, at `now`, and returns its new state.
///
/// # Errors
/// Those of [`find_for_update`] and of [`RecordAdministration::change`].
pub async fn edit<E: Entity>(
    admin: &impl RecordAdministration<E>,
    organization: OrganizationId,
    id: E::Id,
    now: OffsetDateTime,
    edit: impl FnOnce(&mut E) + Send,
) -> Result<E> {
    let before = find_for_update(admin.records(), organization, id).await?;
    let change = Change::from_edit(before, now, edit);
    admin.change(organization, id, &change).await?;
    Ok(change.after)
}

/// The record, locked until the transaction ends.
///
/// # Errors
/// `NotFound` when it does not exist or is deleted; `Internal` outside a transaction.
pub async fn find_for_update<E: Entity>(
    records: &dyn Records<E>,
    organization: OrganizationId,
    id: E::Id,
) -> Result<E> {
    let found = records.find_for_update(organization, id).await?;
    found.filter(|record| !record.is_deleted()).ok_or(Error::NotFound)
}

/// The record, locked until the transaction ends, in the state that the caller read: of two changes of one state, the
/// second one is refused.
///
/// # Errors
/// Those of [`find_for_update`] and of [`check_revision`].
pub async fn find_revision_for_update<E: Entity>(
    records: &dyn Records<E>,
    organization: OrganizationId,
    id: E::Id,
    seen: Option<&str>,
) -> Result<E> {
    let record = find_for_update(records, organization, id).await?;
    check_revision(seen, &record.revision())?;
    Ok(record)
}

/// Refuses a change of a state that is no longer the stored one. `seen`: the revision that the caller read;
/// `None`: any. `stored`: that of the locked record.
///
/// # Errors
/// `Invalid` with `changed_meanwhile` on `revision`.
pub fn check_revision(seen: Option<&str>, stored: &str) -> Result<()> {
    if seen.is_none_or(|seen| seen == stored) {
        return Ok(());
    }
    Err(Error::invalid("revision", "changed_meanwhile", "The record was changed meanwhile"))
}

#[cfg(test)]
#[expect(dead_code, reason = "the mock has more methods than these tests call")]
mod tests {
    use super::*;
    use crate::{PostId, store};
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};
    use time::Duration;
    use time::macros::datetime;

    const NOW: OffsetDateTime = datetime!(2026-03-01 09:30 UTC);
    const LATER: OffsetDateTime = datetime!(2026-03-02 09:30 UTC);
    const HERE: OrganizationId = OrganizationId(1);
    const ID: PostId = PostId(7);

    #[derive(Debug, Clone, PartialEq)]
    pub struct Note {
        text: String,
        deleted: bool,
        updated_at: OffsetDateTime,
    }

    impl Entity for Note {
        type Id = PostId;

        fn updated_at(&mut self) -> Option<&mut OffsetDateTime> {
            Some(&mut self.updated_at)
        }

        fn is_deleted(&self) -> bool {
            self.deleted
        }
    }

    store! {
        /// Stores notes.
        pub trait NoteStore: Records<Note> {
            /// The number of calls of `follow_up`.
            async fn follow_up(&self, id: PostId) -> Result<()>;
        }
    }

    /// A note has a text.
    struct NoteAdministration<'a>(&'a dyn NoteStore);

    #[async_trait]
    impl RecordAdministration<Note> for NoteAdministration<'_> {
        fn records(&self) -> &dyn Records<Note> {
            self.0
        }

        async fn before_store(
            &self,
            _: OrganizationId,
            _: Option<(PostId, &Note)>,
            after: &Note,
        ) -> Result<()> {
            if after.text.is_empty() { Err(Error::rejected("text cannot be blank")) } else { Ok(()) }
        }

        async fn follow_up(&self, _: OrganizationId, id: PostId, _: Option<&Note>, _: &Note) -> Result<()> {
            self.0.follow_up(id).await
        }
    }

    /// The result of a future that never waits, as those of mocks.
    fn at_once<T>(future: impl Future<Output = T>) -> T {
        match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(result) => result,
            Poll::Pending => panic!("a mock waits"),
        }
    }

    fn note(text: &str) -> Note {
        Note { text: text.to_owned(), deleted: false, updated_at: NOW }
    }

    /// A store that has one note, and expects this number of changes of it.
    fn store(saves: usize) -> MockNoteStore {
        let mut store = MockNoteStore::new();
        store.expect_find_for_update().returning(|_, id| Ok((id == ID).then(|| note("trees"))));
        store.expect_save().times(saves).returning(|_, _, _| Ok(()));
        store.expect_follow_up().times(saves).returning(|_| Ok(()));
        store
    }

    async fn edited(saves: usize, text: &str) -> Result<Note> {
        edit(&NoteAdministration(&store(saves)), HERE, ID, LATER, |note| note.text = text.to_owned()).await
    }

    #[test]
    fn a_new_record_is_stored_as_it_is_and_followed_up() {
        at_once(async {
            let mut store = MockNoteStore::new();
            store.expect_add().once().returning(|organization, added| {
                assert_eq!((organization, added), (HERE, &note("trees")));
                Ok(ID)
            });
            store.expect_follow_up().once().withf(|id| *id == ID).returning(|_| Ok(()));
            assert_eq!(NoteAdministration(&store).create(HERE, &note("trees")).await.unwrap(), ID);
        });
    }

    #[test]
    fn a_new_record_that_breaks_a_rule_is_not_stored() {
        at_once(async {
            let refused =
                NoteAdministration(&MockNoteStore::new()).create(HERE, &note("")).await.unwrap_err();
            assert_eq!(refused.description(), "text cannot be blank");
        });
    }

    #[test]
    fn an_edit_changes_what_it_names_and_the_time() {
        at_once(async {
            assert_eq!(edited(1, "benches").await.unwrap(), Note { updated_at: LATER, ..note("benches") });
        });
    }

    #[test]
    fn an_edit_that_changes_nothing_is_not_stored() {
        at_once(async {
            assert_eq!(edited(0, "trees").await.unwrap(), note("trees"));
        });
    }

    #[test]
    fn an_edit_that_breaks_a_rule_is_not_stored() {
        at_once(async {
            assert_eq!(edited(0, "").await.unwrap_err().description(), "text cannot be blank");
        });
    }

    #[test]
    fn a_record_that_is_missing_or_deleted_cannot_be_edited() {
        at_once(async {
            let refused = edit(&NoteAdministration(&store(0)), HERE, PostId(8), LATER, |_| {}).await;
            assert!(matches!(refused, Err(Error::NotFound)));
            let mut store = MockNoteStore::new();
            store
                .expect_find_for_update()
                .returning(|_, _| Ok(Some(Note { deleted: true, ..note("trees") })));
            let refused = edit(&NoteAdministration(&store), HERE, ID, LATER, |_| {}).await;
            assert!(matches!(refused, Err(Error::NotFound)));
        });
    }

    #[test]
    fn a_state_that_changed_after_it_was_read_is_not_changed() {
        at_once(async {
            let (store, seen) = (store(0), note("trees").revision());
            for seen in [Some(seen.as_str()), None] {
                assert_eq!(find_revision_for_update(&store, HERE, ID, seen).await.unwrap(), note("trees"));
            }
            let later = Note { updated_at: LATER, ..note("trees") }.revision();
            for seen in [later.as_str(), "x", "0", ""] {
                let refused = find_revision_for_update(&store, HERE, ID, Some(seen)).await.unwrap_err();
                assert_eq!(refused.details()[0].code, "changed_meanwhile");
            }
        });
    }

    #[test]
    fn the_revision_of_a_record_without_a_time_follows_its_state() {
        #[derive(Debug, Clone, PartialEq)]
        struct Tag(&'static str);
        impl Entity for Tag {
            type Id = PostId;
        }
        assert_eq!(Tag("a").revision(), Tag("a").revision());
        assert_ne!(Tag("a").revision(), Tag("b").revision());
    }

    #[test]
    fn a_change_has_the_time_of_its_edit_unless_it_changes_nothing() {
        let change = Change::from_edit(note("trees"), LATER, |note| note.text.push('!'));
        assert_eq!((change.is_empty(), change.after.updated_at), (false, LATER));
        let empty = Change::from_edit(note("trees"), LATER + Duration::DAY, |_| {});
        assert_eq!((empty.is_empty(), empty.after), (true, note("trees")));
    }
}
