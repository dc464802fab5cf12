//! `meeting`: a meeting, and the users registered for it.

use super::{Field, Map, OrganizationId, Ports, Result, Translated, Value, async_trait};
use super::{Found, ImportContext, Moment, PAGE, RecordError, RecordKind, Rows, members, required};
use civitas_kernel::{ComponentId, MeetingId, UserId};
use civitas_meetings::Meeting;
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
    extended_data: filled(Map<String, Value>),
    created_at: required(Moment),
    updated_at: updated(Moment),
}}

async fn set_registrations(
    context: &mut ImportContext<'_>,
    organization: OrganizationId,
    fields: &mut MeetingFields,
    meeting: &mut Meeting,
) -> Result<(), RecordError> {
    match &fields.registrations {
        Field::Absent => {}
        Field::Null => meeting.registrations.clear(),
        Field::Value(references) => {
            let users = context.refs.distinct_users(organization, "registrations", references).await?;
            meeting.registrations = users.into_iter().collect();
        }
    }
    Ok(())
}

#[async_trait]
impl RecordKind for Meetings {
    type Id = MeetingId;

    async fn find(&self, ports: &dyn Ports, of: OrganizationId, id: MeetingId) -> Result<Option<Meeting>> {
        ports.meetings().find(of, id).await
    }

    async fn page(&mut self, ports: &dyn Ports, of: OrganizationId, after: Option<MeetingId>) -> Rows<Self> {
        ports.meetings().after(of, after, PAGE).await
    }

    async fn create(
        &self,
        context: &mut ImportContext<'_>,
        of: OrganizationId,
        fields: &MeetingFields,
    ) -> Result<Meeting, RecordError> {
        let manifest = ComponentManifest::Meetings;
        let component = context.refs.component_for(of, &fields.component, manifest, "meetings").await?;
        let (title, start_time) =
            (required("title", &fields.title)?, required("start_time", &fields.start_time)?);
        Ok(Meeting::new(component, title, start_time.into(), context.options.now))
    }

    async fn add(
        &mut self,
        context: &mut ImportContext<'_>,
        of: OrganizationId,
        meeting: &Meeting,
    ) -> Result<MeetingId, RecordError> {
        Ok(context.ports.meetings().add(of, meeting).await?)
    }

    async fn save(
        &mut self,
        context: &mut ImportContext<'_>,
        of: OrganizationId,
        (id, _): &Found<Self>,
        meeting: Meeting,
    ) -> Result<(), RecordError> {
        Ok(context.ports.meetings().save(of, *id, &meeting).await?)
    }
}
