//! `meeting`: a meeting, and the users registered for it.

use super::{ExportedPerson, Import, ImportResult, RecordKind, StoredRecord, Timestamp, members, required};
use super::{ExtendedDataValue, Translated, async_trait};
use civitas_kernel::{ComponentId, MeetingId};
use civitas_meetings::{Meeting, REMINDER_NOTICE};
use civitas_spaces::ComponentKind;

pub(super) struct MeetingRecordType;

members! { MeetingRecordType, "meeting", ports.meetings(), MeetingFields, |kind, meeting: Meeting| {
    component: parent(ComponentId),
    title: required(Translated),
    description: filled(Translated),
    start_time: required(Timestamp),
    end_time: optional(Timestamp),
    published_at: optional(Timestamp),
    private: flag(bool),
    transparent: flag(bool),
    registrations: users(with_non_empty),
    withdrawn_at: optional(Timestamp),
    hidden_at: optional(Timestamp),
    deleted_at: optional(Timestamp),
    extended_data: filled(ExtendedDataValue),
    created_at: required(Timestamp),
    updated_at: required(Timestamp),
}}

#[async_trait]
impl RecordKind for MeetingRecordType {
    const IN_BATCHES: bool = true;

    async fn create(
        &self,
        import: &mut Import<'_, '_, Self>,
        fields: &MeetingFields,
    ) -> ImportResult<Meeting> {
        let component = import.component(&fields.component, ComponentKind::Meetings, "meetings").await?;
        let (title, start_time) =
            (required("title", &fields.title)?, required("start_time", &fields.start_time)?);
        Ok(Meeting::new(component, title, start_time.into(), import.context.options.now))
    }

    /// Records the reminder as sent if it is due at the time of the import (contract 10 §1).
    async fn follow_up(
        &mut self,
        import: &mut Import<'_, '_, Self>,
        id: MeetingId,
        _: Option<&Meeting>,
        meeting: &Meeting,
    ) -> ImportResult {
        let now = import.context.options.now;
        if meeting.is_to_remind() && now < meeting.start_time && meeting.start_time <= now + REMINDER_NOTICE {
            import.context.ports.reminders().mark_due(import.owner, id, now + REMINDER_NOTICE).await?;
        }
        Ok(())
    }

    /// A meeting that the person is registered for, with this registration alone.
    fn belongs_to_person(&self, person: &mut ExportedPerson, (_, meeting): &mut StoredRecord<Self>) -> bool {
        meeting.registrations.retain(|user| *user == person.id);
        meeting.extended_data = ExtendedDataValue::default();
        !meeting.registrations.is_empty()
    }
}
