//! `meeting`: a meeting, and the users registered for it.

use super::{ExtendedDataValue, Translated, async_trait};
use super::{Import, Imported, Moment, Person, RecordKind, StoredRecord, members, required};
use civitas_kernel::{ComponentId, MeetingId};
use civitas_meetings::{Meeting, REMINDER_NOTICE};
use civitas_spaces::ComponentManifest;

pub(super) struct Meetings;

members! { Meetings, "meeting", ports.meetings(), MeetingFields, |kind, meeting: Meeting| {
    component: parent(ComponentId),
    title: required(Translated),
    description: filled(Translated),
    start_time: required(Moment),
    end_time: optional(Moment),
    published_at: optional(Moment),
    private: flag(bool),
    transparent: flag(bool),
    registrations: users(unless_empty),
    withdrawn_at: optional(Moment),
    hidden_at: optional(Moment),
    deleted_at: optional(Moment),
    extended_data: filled(ExtendedDataValue),
    created_at: required(Moment),
    updated_at: required(Moment),
}}

#[async_trait]
impl RecordKind for Meetings {
    const TOGETHER: bool = true;

    async fn create(&self, import: &mut Import<'_, '_, Self>, fields: &MeetingFields) -> Imported<Meeting> {
        let component = import.component(&fields.component, ComponentManifest::Meetings, "meetings").await?;
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
    ) -> Imported {
        let now = import.context.options.now;
        if meeting.is_to_remind() && now < meeting.start_time && meeting.start_time <= now + REMINDER_NOTICE {
            import.context.ports.reminders().mark_due(import.owner, id, now + REMINDER_NOTICE).await?;
        }
        Ok(())
    }

    /// A meeting that the person is registered for, with this registration alone.
    fn is_of_person(&self, person: &mut Person, (_, meeting): &mut StoredRecord<Self>) -> bool {
        meeting.registrations.retain(|user| *user == person.id);
        meeting.extended_data = ExtendedDataValue::default();
        !meeting.registrations.is_empty()
    }
}
