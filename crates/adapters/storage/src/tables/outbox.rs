//! The outbox of events.

use crate::columns::{self, EnumColumn, JsonColumn, UuidColumn};
use crate::engine::Db;
use crate::failure::Stored;
use crate::schema::outbox;
use crate::session::Session;
use async_trait::async_trait;
use civitas_kernel::{EventName, OrganizationId, Result};
use civitas_webhooks::{Announcement, Outbox};
use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use serde_json::Value;
use time::OffsetDateTime;
use uuid::Uuid;

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = outbox, check_for_backend(Db), treat_none_as_default_value = false)]
struct Row {
    id: UuidColumn,
    organization_id: i64,
    name: EnumColumn<EventName>,
    payload: JsonColumn<Value>,
    occurred_at: OffsetDateTime,
}

impl From<Row> for Announcement {
    fn from(row: Row) -> Self {
        Self {
            id: row.id.0,
            organization: OrganizationId(row.organization_id),
            name: row.name.0,
            payload: row.payload.0,
            occurred_at: row.occurred_at,
        }
    }
}

impl From<&Announcement> for Row {
    fn from(announcement: &Announcement) -> Self {
        Self {
            id: UuidColumn(announcement.id),
            organization_id: announcement.organization.0,
            name: EnumColumn(announcement.name),
            payload: JsonColumn(announcement.payload.clone()),
            occurred_at: announcement.occurred_at,
        }
    }
}

#[async_trait]
impl Outbox for Session {
    async fn append(&self, announcements: &[Announcement]) -> Result<()> {
        let atomic = self.atomic().await?;
        for announcement in announcements {
            diesel::insert_into(outbox::table)
                .values(Row::from(announcement))
                .execute(&mut *atomic.connection().await?)
                .await
                .stored()?;
        }
        atomic.commit().await
    }

    async fn page_after(
        &self,
        organization: OrganizationId,
        after: Option<Uuid>,
        limit: i64,
    ) -> Result<Vec<Announcement>> {
        let rows: Vec<Row> = outbox::table
            .filter(outbox::organization_id.eq(organization.0))
            .filter(outbox::id.gt(UuidColumn(after.unwrap_or(Uuid::nil()))))
            .order(outbox::id)
            .limit(limit)
            .select(columns::of::<Row>())
            .load(&mut *self.read().await?)
            .await
            .stored()?;
        Ok(rows.into_iter().map(Into::into).collect())
    }
}
