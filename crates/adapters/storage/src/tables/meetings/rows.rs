//! A meeting as its row holds it.

use crate::columns::Document;
use crate::engine::{Conn, Db};
use crate::failure::Stored;
use crate::schema::{meeting_registrations, meetings, users};
use civitas_kernel::extended_data::canonical_text;
use civitas_kernel::{ComponentId, Error, MeetingId, OrganizationId, Result, Translated, UserId};
use civitas_meetings::Meeting;
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use diesel_async::RunQueryDsl;
use serde_json::{Map, Value};
use std::collections::{BTreeSet, HashMap};
use time::OffsetDateTime;

/// How many people one statement names; SQLite takes some 32,000 values.
pub(super) const AT_ONCE: usize = 10_000;

#[derive(Queryable, Selectable)]
#[diesel(table_name = meetings, check_for_backend(Db))]
pub(super) struct Row {
    pub(super) id: i64,
    component_id: i64,
    title: Document<Translated>,
    description: Document<Translated>,
    start_time: OffsetDateTime,
    end_time: Option<OffsetDateTime>,
    published_at: Option<OffsetDateTime>,
    private: bool,
    transparent: bool,
    withdrawn_at: Option<OffsetDateTime>,
    hidden_at: Option<OffsetDateTime>,
    deleted_at: Option<OffsetDateTime>,
    extended_data: Document<Map<String, Value>>,
    created_at: OffsetDateTime,
    updated_at: OffsetDateTime,
}

impl Row {
    /// The meeting with who is registered.
    pub(super) fn with(self, registrations: BTreeSet<UserId>) -> Meeting {
        Meeting {
            component: ComponentId(self.component_id),
            title: self.title.0,
            description: self.description.0,
            start_time: self.start_time,
            end_time: self.end_time,
            published_at: self.published_at,
            private: self.private,
            transparent: self.transparent,
            registrations,
            withdrawn_at: self.withdrawn_at,
            hidden_at: self.hidden_at,
            deleted_at: self.deleted_at,
            extended_data: self.extended_data.0,
            created_at: self.created_at,
            updated_at: self.updated_at,
        }
    }
}

#[derive(Insertable, AsChangeset)]
#[diesel(table_name = meetings, treat_none_as_null = true, treat_none_as_default_value = false)]
pub(super) struct Written<'a> {
    component_id: i64,
    title: Document<&'a Translated>,
    description: Document<&'a Translated>,
    start_time: OffsetDateTime,
    end_time: Option<OffsetDateTime>,
    published_at: Option<OffsetDateTime>,
    private: bool,
    transparent: bool,
    withdrawn_at: Option<OffsetDateTime>,
    hidden_at: Option<OffsetDateTime>,
    deleted_at: Option<OffsetDateTime>,
    extended_data: Document<&'a Map<String, Value>>,
    extended_data_text: String,
    created_at: OffsetDateTime,
    updated_at: OffsetDateTime,
}

impl<'a> From<&'a Meeting> for Written<'a> {
    fn from(meeting: &'a Meeting) -> Self {
        Self {
            component_id: meeting.component.0,
            title: Document(&meeting.title),
            description: Document(&meeting.description),
            start_time: meeting.start_time,
            end_time: meeting.end_time,
            published_at: meeting.published_at,
            private: meeting.private,
            transparent: meeting.transparent,
            withdrawn_at: meeting.withdrawn_at,
            hidden_at: meeting.hidden_at,
            deleted_at: meeting.deleted_at,
            extended_data: Document(&meeting.extended_data),
            extended_data_text: canonical_text(&Value::Object(meeting.extended_data.clone())),
            created_at: meeting.created_at,
            updated_at: meeting.updated_at,
        }
    }
}

/// Who is registered for these meetings.
pub(super) async fn registrations_of(
    connection: &mut Conn,
    ids: Vec<i64>,
) -> Result<HashMap<i64, BTreeSet<UserId>>> {
    let rows: Vec<(i64, i64)> = meeting_registrations::table
        .filter(meeting_registrations::meeting_id.eq_any(ids))
        .select((meeting_registrations::meeting_id, meeting_registrations::user_id))
        .load(connection)
        .await
        .stored()?;
    let mut registrations: HashMap<i64, BTreeSet<UserId>> = HashMap::new();
    for (meeting, user) in rows {
        registrations.entry(meeting).or_default().insert(UserId(user));
    }
    Ok(registrations)
}

/// Registers these people, and nobody else.
///
/// # Errors
/// `NotFound` when one of them has no account in the organization.
pub(super) async fn register(
    connection: &mut Conn,
    organization: OrganizationId,
    id: MeetingId,
    people: &BTreeSet<UserId>,
) -> Result<()> {
    diesel::delete(meeting_registrations::table.filter(meeting_registrations::meeting_id.eq(id.0)))
        .execute(connection)
        .await
        .stored()?;
    let people: Vec<i64> = people.iter().map(|user| user.0).collect();
    for some in people.chunks(AT_ONCE) {
        let known = users::table
            .filter(users::organization_id.eq(organization.0))
            .filter(users::id.eq_any(some))
            .select((id.0.into_sql::<BigInt>(), users::id));
        let registered = diesel::insert_into(meeting_registrations::table)
            .values(known)
            .into_columns((meeting_registrations::meeting_id, meeting_registrations::user_id))
            .execute(connection)
            .await
            .stored()?;
        if registered != some.len() {
            return Err(Error::NotFound);
        }
    }
    Ok(())
}
