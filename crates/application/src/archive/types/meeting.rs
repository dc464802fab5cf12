//! `meeting`: a meeting, and who is registered for it.

use super::super::export::{ExportError, PAGE, Row, Sink, every};
use super::super::failure::Fault;
use super::super::import::{Import, Put};
use super::super::members::{Moment, fill, fixed, maybe, need, set};
use super::super::record::Record;
use super::RecordType;
use super::component::component_for;
use crate::Ports;
use async_trait::async_trait;
use civitas_kernel::{Field, MeetingId, OrganizationId, Translated, UserId};
use civitas_meetings::Meeting;
use civitas_spaces::ComponentManifest;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

pub(super) struct Meetings;

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct MeetingRecord {
    component: Field<String>,
    title: Field<Translated>,
    description: Field<Translated>,
    start_time: Field<Moment>,
    end_time: Field<Moment>,
    published_at: Field<Moment>,
    private: Field<bool>,
    transparent: Field<bool>,
    registrations: Field<Vec<String>>,
    withdrawn_at: Field<Moment>,
    hidden_at: Field<Moment>,
    deleted_at: Field<Moment>,
    extended_data: Field<Map<String, Value>>,
    created_at: Field<Moment>,
    updated_at: Field<Moment>,
}

impl MeetingRecord {
    async fn begin(&self, import: &mut Import<'_>, organization: OrganizationId) -> Result<Meeting, Fault> {
        let reference = need("component", &self.component)?;
        let manifest = ComponentManifest::Meetings;
        let component = component_for(import, organization, &reference, manifest, "meetings").await?;
        let (title, start_time) = (need("title", &self.title)?, need("start_time", &self.start_time)?);
        Ok(Meeting::new(component, title, start_time.into(), import.options.now))
    }

    async fn apply(
        self,
        import: &mut Import<'_>,
        organization: OrganizationId,
        meeting: &mut Meeting,
    ) -> Result<(), Fault> {
        if let Some(component) = self.component.as_value() {
            let component = import.refs.component(organization, component).await?;
            fixed("component", &Field::Value(component), &meeting.component)?;
        }
        set("title", self.title, &mut meeting.title)?;
        fill(self.description, &mut meeting.description);
        set("start_time", self.start_time, &mut meeting.start_time)?;
        maybe(self.end_time, &mut meeting.end_time);
        maybe(self.published_at, &mut meeting.published_at);
        set("private", self.private, &mut meeting.private)?;
        set("transparent", self.transparent, &mut meeting.transparent)?;
        match self.registrations {
            Field::Absent => {}
            Field::Null => meeting.registrations.clear(),
            Field::Value(said) => {
                meeting.registrations = registrations(import, organization, &said).await?;
            }
        }
        maybe(self.withdrawn_at, &mut meeting.withdrawn_at);
        maybe(self.hidden_at, &mut meeting.hidden_at);
        maybe(self.deleted_at, &mut meeting.deleted_at);
        fill(self.extended_data, &mut meeting.extended_data);
        set("created_at", self.created_at, &mut meeting.created_at)?;
        set("updated_at", self.updated_at, &mut meeting.updated_at)
    }
}

async fn registrations(
    import: &mut Import<'_>,
    organization: OrganizationId,
    said: &[String],
) -> Result<BTreeSet<UserId>, Fault> {
    let mut people = BTreeSet::new();
    for reference in said {
        let user = import.refs.user(organization, reference).await?;
        if !people.insert(user) {
            return Err(format!("registrations name {reference:?} twice").into());
        }
    }
    Ok(people)
}

#[async_trait]
impl RecordType for Meetings {
    fn name(&self) -> &'static str {
        "meeting"
    }

    async fn put(&self, import: &mut Import<'_>, record: Record) -> Result<Put, Fault> {
        let organization = record.home()?;
        let said: MeetingRecord = record.members()?;
        let restamped = !said.updated_at.is_absent();
        let store = import.ports.meetings();
        let before = match record.seen_as(MeetingId) {
            Some(id) => store.find(organization, id).await?.map(|meeting| (id, meeting)),
            None => None,
        };
        let mut meeting = match &before {
            Some((_, meeting)) => meeting.clone(),
            None => said.begin(import, organization).await?,
        };
        said.apply(import, organization, &mut meeting).await?;
        match before {
            None => Ok(Put::created(store.add(organization, &meeting).await?)),
            Some((id, old)) if old == meeting => Ok(Put::unchanged(id)),
            Some((id, _)) => {
                if !restamped {
                    meeting.updated_at = import.options.now;
                }
                store.save(organization, id, &meeting).await?;
                Ok(Put::updated(id))
            }
        }
    }

    async fn export(
        &self,
        ports: &dyn Ports,
        organization: OrganizationId,
        sink: &mut Sink<'_>,
    ) -> Result<(), ExportError> {
        let page = |after| ports.meetings().after(organization, after, PAGE);
        every(page, |id, meeting| {
            let registrations: Vec<_> = meeting.registrations.iter().map(UserId::to_string).collect();
            sink.write(
                &Row::of(organization, self.name(), id)
                    .with("component", meeting.component.to_string())
                    .with("title", meeting.title)
                    .unless_empty("description", meeting.description)
                    .time("start_time", Some(meeting.start_time))
                    .time("end_time", meeting.end_time)
                    .time("published_at", meeting.published_at)
                    .unless_empty("private", meeting.private)
                    .unless_empty("transparent", meeting.transparent)
                    .unless_empty("registrations", registrations)
                    .time("withdrawn_at", meeting.withdrawn_at)
                    .time("hidden_at", meeting.hidden_at)
                    .time("deleted_at", meeting.deleted_at)
                    .unless_empty("extended_data", meeting.extended_data)
                    .stamps(meeting.created_at, meeting.updated_at),
            )
        })
        .await
    }
}
