//! `meeting`: a meeting, and the users registered for it.

use super::{ExtendedDataValue, OrganizationId, Ports, Result, Translated, async_trait};
use super::{Import, Imported, Moment, OrganizationKind, RecordKind, members, required};
use civitas_kernel::records::Records;
use civitas_kernel::{ComponentId, MeetingId, UserId};
use civitas_meetings::{Meeting, REMINDER_NOTICE};
use civitas_spaces::ComponentManifest;

pub(super) struct Meetings;

members! { Meetings, "meeting", OrganizationId, MeetingFields, |kind, meeting: Meeting| {
    component: parent(ComponentId),
    title: required(Translated),
    description: filled(Translated),
    start_time: required(Moment),
    end_time: optional(Moment),
    published_at: optional(Moment),
    private: flag(bool),
    transparent: flag(bool),
    registrations: resolved(
        Vec<String>,
        set_registrations,
        unless_empty(meeting.registrations.iter().map(UserId::to_string).collect::<Vec<_>>())
    ),
    withdrawn_at: optional(Moment),
    hidden_at: optional(Moment),
    deleted_at: optional(Moment),
    extended_data: filled(ExtendedDataValue),
    created_at: required(Moment),
    updated_at: required(Moment),
}}

async fn set_registrations(
    import: &mut Import<'_, '_, Meetings>,
    fields: &mut MeetingFields,
    meeting: &mut Meeting,
) -> Imported {
    let (refs, users) = (&mut import.context.refs, &mut meeting.registrations);
    refs.set_users(import.owner, "registrations", &fields.registrations, users).await
}

impl OrganizationKind for Meetings {
    fn records<'a>(&self, ports: &'a dyn Ports) -> &'a dyn Records<Meeting> {
        ports.meetings()
    }
}

#[async_trait]
impl RecordKind for Meetings {
    const TOGETHER: bool = true;

    async fn create(&self, import: &mut Import<'_, '_, Self>, fields: &MeetingFields) -> Imported<Meeting> {
        let manifest = ComponentManifest::Meetings;
        let component =
            import.context.refs.component_for(import.owner, &fields.component, manifest, "meetings").await?;
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
}
