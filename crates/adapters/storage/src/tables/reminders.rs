//! Which reminders of meetings were sent.

use crate::schema::{meeting_reminders, meetings};
use crate::session::{ExecuteExt, LoadRowsExt, Session};
use async_trait::async_trait;
use civitas_kernel::{MeetingId, OrganizationId, Result};
use civitas_meetings::ReminderStore;
use diesel::dsl::{exists, not, sql};
use diesel::expression::SqlLiteral;
use diesel::prelude::*;
use diesel::sql_types::Bool;
use time::OffsetDateTime;

/// The condition of the index `meetings_to_remind`, exactly.
fn is_eligible() -> SqlLiteral<Bool> {
    sql(
        "meetings.published_at IS NOT NULL AND meetings.withdrawn_at IS NULL AND meetings.hidden_at IS NULL AND \
         meetings.deleted_at IS NULL",
    )
}

/// Records the reminder of an eligible meeting whose start time satisfies the condition, for this start time, unless
/// there is one. The number of reminders: 0 or 1.
macro_rules! insert {
    ($session:expr, $organization:expr, $meeting:expr, $condition:expr) => {{
        let current = meetings::table
            .filter(meetings::organization_id.eq($organization.0))
            .filter(meetings::id.eq($meeting.0))
            .filter(is_eligible())
            .filter($condition)
            .select((meetings::id, meetings::start_time));
        let inserted = diesel::insert_into(meeting_reminders::table)
            .values(current)
            .into_columns((meeting_reminders::meeting_id, meeting_reminders::start_time))
            .on_conflict_do_nothing()
            .run_on($session.write())
            .await?;
        inserted
    }};
}

#[async_trait]
impl ReminderStore for Session {
    async fn due(
        &self,
        now: OffsetDateTime,
        until: OffsetDateTime,
        limit: i64,
    ) -> Result<Vec<(OrganizationId, MeetingId)>> {
        let sent = meeting_reminders::table
            .filter(meeting_reminders::meeting_id.eq(meetings::id))
            .filter(meeting_reminders::start_time.eq(meetings::start_time));
        let rows: Vec<(i64, i64)> = meetings::table
            .filter(is_eligible())
            .filter(meetings::start_time.gt(now))
            .filter(meetings::start_time.le(until))
            .filter(not(exists(sent)))
            .filter(sql::<Bool>(
                "meetings.organization_id NOT IN (SELECT id FROM organizations WHERE deleted_at IS NOT NULL \
                 OR move_state IN ('left', 'arriving'))",
            ))
            .order((meetings::start_time, meetings::id))
            .limit(limit)
            .select((meetings::organization_id, meetings::id))
            .rows_from(self.read())
            .await?;
        Ok(rows.into_iter().map(|(organization, id)| (OrganizationId(organization), MeetingId(id))).collect())
    }

    async fn claim(
        &self,
        organization: OrganizationId,
        meeting: MeetingId,
        now: OffsetDateTime,
        until: OffsetDateTime,
    ) -> Result<bool> {
        let is_near = meetings::start_time.gt(now).and(meetings::start_time.le(until));
        Ok(insert!(self, organization, meeting, is_near) > 0)
    }

    async fn mark_due(
        &self,
        organization: OrganizationId,
        meeting: MeetingId,
        until: OffsetDateTime,
    ) -> Result<()> {
        insert!(self, organization, meeting, meetings::start_time.le(until));
        Ok(())
    }
}
