//! Writes meetings: the archive does, the interface only reads them (contract 06 §5.1). The caller checks permission.

use crate::{Meeting, MeetingStore};
use async_trait::async_trait;
use civitas_kernel::records::{RecordAdmin, Records};
use civitas_kernel::{MeetingId, OrganizationId, Result};

/// Writes meetings by the rules of [`Meeting::check`].
pub struct MeetingAdmin<'a> {
    /// The store, in a transaction.
    pub meetings: &'a dyn MeetingStore,
}

#[async_trait]
impl RecordAdmin<Meeting> for MeetingAdmin<'_> {
    fn records(&self) -> &dyn Records<Meeting> {
        self.meetings
    }

    async fn prepare(
        &self,
        _: OrganizationId,
        _: Option<(MeetingId, &Meeting)>,
        after: &Meeting,
    ) -> Result<()> {
        after.check()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MockMeetingStore;
    use civitas_kernel::records::edit;
    use civitas_kernel::{ComponentId, Error, Locale, Translated, UserId};
    use time::macros::datetime;
    use time::{Duration, OffsetDateTime};

    const NOW: OffsetDateTime = datetime!(2026-03-01 09:30 UTC);
    const LATER: OffsetDateTime = datetime!(2026-03-02 09:30 UTC);
    const HERE: OrganizationId = OrganizationId(1);
    const ID: MeetingId = MeetingId(7);

    fn text(en: &str) -> Translated {
        [(Locale::EN, en.to_owned())].into()
    }

    fn kickoff() -> Meeting {
        let registrations = [UserId(1)].into();
        Meeting { registrations, ..Meeting::new(ComponentId(3), text("Kick-off"), NOW, NOW) }
    }

    fn fields(refused: &Error) -> Vec<(&str, &str)> {
        refused.details().iter().map(|fault| (fault.field.as_ref(), fault.code.as_ref())).collect()
    }

    /// A store that has one meeting, and expects so many changes of it.
    fn store(saves: usize) -> MockMeetingStore {
        let mut store = MockMeetingStore::new();
        store.expect_find_for_update().returning(|_, id| Ok((id == ID).then(kickoff)));
        store.expect_save().times(saves).returning(|_, _, _| Ok(()));
        store
    }

    async fn edited(saves: usize, change: impl FnOnce(&mut Meeting) + Send) -> Result<Meeting> {
        edit(&MeetingAdmin { meetings: &store(saves) }, HERE, ID, LATER, change).await
    }

    #[tokio::test]
    async fn a_new_meeting_is_stored_as_it_is() {
        let mut store = MockMeetingStore::new();
        store.expect_add().once().returning(|organization, meeting| {
            assert_eq!((organization, meeting), (HERE, &kickoff()));
            Ok(ID)
        });
        assert_eq!(MeetingAdmin { meetings: &store }.create(HERE, &kickoff()).await.unwrap(), ID);
    }

    #[tokio::test]
    async fn every_fault_of_a_new_meeting_is_named() {
        let backwards = Meeting { title: text(" "), end_time: Some(NOW - Duration::SECOND), ..kickoff() };
        let store = MockMeetingStore::new();
        let refused = MeetingAdmin { meetings: &store }.create(HERE, &backwards).await.unwrap_err();
        assert_eq!(fields(&refused), [("title", "blank"), ("end_time", "greater_than")]);
        let over_at_once = Meeting { end_time: Some(NOW), ..kickoff() };
        over_at_once.check().unwrap();
    }

    #[tokio::test]
    async fn an_edit_changes_what_it_names_and_the_time() {
        let change = |meeting: &mut Meeting| {
            meeting.title = text("Farewell");
            meeting.end_time = Some(LATER);
            meeting.registrations = [UserId(2)].into();
        };
        let mut expected = Meeting { updated_at: LATER, ..kickoff() };
        change(&mut expected);
        assert_eq!(edited(1, change).await.unwrap(), expected);
    }

    #[tokio::test]
    async fn an_edit_that_changes_nothing_is_not_stored() {
        assert_eq!(edited(0, |meeting| meeting.title = text("Kick-off")).await.unwrap(), kickoff());
    }

    #[tokio::test]
    async fn an_edit_that_breaks_a_rule_is_not_stored() {
        let refused = edited(0, |meeting| meeting.title = text("")).await.unwrap_err();
        assert_eq!(fields(&refused), [("title", "blank")]);
    }

    #[tokio::test]
    async fn a_meeting_that_is_missing_or_deleted_cannot_be_edited() {
        let store = store(0);
        let admin = MeetingAdmin { meetings: &store };
        let refused = edit(&admin, HERE, MeetingId(8), NOW, |_| {}).await;
        assert!(matches!(refused, Err(Error::NotFound)));
        let mut store = MockMeetingStore::new();
        let deleted = Meeting { deleted_at: Some(NOW), ..kickoff() };
        store.expect_find_for_update().returning(move |_, _| Ok(Some(deleted.clone())));
        let refused = edit(&MeetingAdmin { meetings: &store }, HERE, ID, NOW, |_| {}).await;
        assert!(matches!(refused, Err(Error::NotFound)));
    }
}
