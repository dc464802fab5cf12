//! Administration of meetings. The caller checks permission.

use crate::{Meeting, MeetingStore};
use async_trait::async_trait;
use civitas_kernel::records::{RecordAdministration, Records};
use civitas_kernel::{Locale, MeetingId, OrganizationId, Result};

/// Administers the meetings of organizations, by the rules of [`Meeting::check`]. Reminders need no write: they are
/// found by the start time (contract 09 C.1).
pub struct MeetingAdministration<'a> {
    /// The store, in a transaction.
    pub store: &'a dyn MeetingStore,
    /// The language in which a title is required: the default one of the organization.
    pub default_locale: Locale,
}

#[async_trait]
impl RecordAdministration<Meeting> for MeetingAdministration<'_> {
    fn records(&self) -> &dyn Records<Meeting> {
        self.store
    }

    async fn before_store(
        &self,
        _: OrganizationId,
        before: Option<(MeetingId, &Meeting)>,
        after: &Meeting,
    ) -> Result<()> {
        after.check(before.map(|(_, meeting)| meeting), self.default_locale)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MockMeetingStore;
    use civitas_kernel::records::edit;
    use civitas_kernel::{ComponentId, Translated};
    use time::macros::datetime;
    use time::{Duration, OffsetDateTime};

    const CITY: OrganizationId = OrganizationId(1);
    const ID: MeetingId = MeetingId(7);
    const NOW: OffsetDateTime = datetime!(2026-03-01 09:30 UTC);

    fn meeting(locale: Locale) -> Meeting {
        let title = Translated::from([(locale, "Kick-off".to_owned())]);
        Meeting::new(ComponentId(1), title, NOW, NOW)
    }

    fn store(stored: Meeting) -> MockMeetingStore {
        let mut store = MockMeetingStore::new();
        store.expect_find_for_update().returning(move |_, _| Ok(Some(stored.clone())));
        store
    }

    #[tokio::test]
    async fn a_new_meeting_needs_a_title_in_the_language_of_its_organization() {
        let mut store = MockMeetingStore::new();
        store.expect_add().once().returning(|_, _| Ok(ID));
        let admin = MeetingAdministration { store: &store, default_locale: Locale::EN };
        let refused = admin.create(CITY, &meeting(Locale::FR)).await.unwrap_err();
        assert_eq!(refused.description(), "Title cannot be blank");
        assert_eq!(admin.create(CITY, &meeting(Locale::EN)).await.unwrap(), ID);
    }

    #[tokio::test]
    async fn a_meeting_is_not_moved_behind_its_end() {
        let stored = Meeting { end_time: Some(NOW + Duration::HOUR), ..meeting(Locale::EN) };
        let mut store = store(stored);
        store.expect_save().once().returning(|_, _, change| {
            assert_eq!(change.after.start_time, NOW + Duration::HOUR);
            Ok(())
        });
        let admin = MeetingAdministration { store: &store, default_locale: Locale::EN };
        let later = NOW + Duration::DAY;
        let refused = edit(&admin, CITY, ID, NOW, |meeting| meeting.start_time = later).await.unwrap_err();
        assert_eq!(refused.details()[0].field, "end_time");
        edit(&admin, CITY, ID, NOW, |meeting| meeting.start_time = NOW + Duration::HOUR).await.unwrap();
    }

    #[tokio::test]
    async fn an_imported_meeting_with_other_texts_can_be_hidden_and_deleted() {
        let mut store = store(meeting(Locale::FR));
        store.expect_save().times(2).returning(|_, _, _| Ok(()));
        let admin = MeetingAdministration { store: &store, default_locale: Locale::EN };
        let hidden = edit(&admin, CITY, ID, NOW, |meeting| meeting.hide(NOW)).await.unwrap();
        assert_eq!(hidden.hidden_at, Some(NOW));
        let deleted = edit(&admin, CITY, ID, NOW, |meeting| meeting.delete(NOW)).await.unwrap();
        assert_eq!(deleted.deleted_at, Some(NOW));
    }
}
