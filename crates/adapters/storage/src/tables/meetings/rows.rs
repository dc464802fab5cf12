//! The row of a meeting.

use crate::columns::{self, columns};
use crate::engine::Conn;
use crate::failure::DieselResultExt;
use crate::schema::{meeting_registrations, meetings, users};
use civitas_kernel::extended_data::{ExtendedDataValue, canonical_object};
use civitas_kernel::{ComponentId, Error, MeetingId, OrganizationId, Result, Translated, UserId};
use civitas_meetings::Meeting;
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use diesel_async::RunQueryDsl;
use std::collections::{BTreeSet, HashMap};
use time::OffsetDateTime;

/// The most users in one statement; SQLite allows about 32,000 values.
const AT_ONCE: usize = 10_000;

columns! {
    /// A meeting as its row stores it.
    meetings as Meeting;
    read_only { id: i64 }
    fields {
        component as component_id: ComponentId,
        title: Translated,
        description: Translated,
        start_time: OffsetDateTime,
        end_time: Option<OffsetDateTime>,
        published_at: Option<OffsetDateTime>,
        private: bool,
        transparent: bool,
        withdrawn_at: Option<OffsetDateTime>,
        hidden_at: Option<OffsetDateTime>,
        deleted_at: Option<OffsetDateTime>,
        extended_data: ExtendedDataValue,
        created_at: OffsetDateTime,
        updated_at: OffsetDateTime,
    }
    read_with { registrations: BTreeSet<UserId> }
    write_only { extended_data_text: String = |meeting| canonical_object(&meeting.extended_data) }
}

/// These rows with their registered users.
pub(super) async fn with_registrations(
    connection: &mut Conn,
    rows: Vec<Row>,
) -> Result<Vec<(MeetingId, Meeting)>> {
    let ids: Vec<i64> = rows.iter().map(|row| row.id).collect();
    let registered: Vec<(i64, i64)> = meeting_registrations::table
        .filter(columns::any_of(meeting_registrations::meeting_id.nullable(), &ids))
        .select((meeting_registrations::meeting_id, meeting_registrations::user_id))
        .load(connection)
        .await
        .map_db_error()?;
    let mut registrations: HashMap<i64, BTreeSet<UserId>> = HashMap::new();
    for (meeting, user) in registered {
        registrations.entry(meeting).or_default().insert(UserId(user));
    }
    let meetings = rows.into_iter().map(|row| {
        let registered = registrations.remove(&row.id).unwrap_or_default();
        (MeetingId(row.id), row.into_model(registered))
    });
    Ok(meetings.collect())
}

/// Sets the registered users.
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
        .map_db_error()?;
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
            .map_db_error()?;
        if registered != some.len() {
            return Err(Error::NotFound);
        }
    }
    Ok(())
}
