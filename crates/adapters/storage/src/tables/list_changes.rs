//! When lists last lost something.

use crate::engine::dialect;
use crate::failure::Stored;
use crate::schema::list_changes::{self, dsl};
use crate::session::Session;
use async_trait::async_trait;
use civitas_application::ListChanges;
use civitas_kernel::{OrganizationId, Result};
use diesel::prelude::*;
use diesel::upsert::excluded;
use diesel_async::RunQueryDsl;
use time::OffsetDateTime;

#[async_trait]
impl ListChanges for Session {
    async fn newest(&self, organization: OrganizationId, lists: &[&str]) -> Result<Option<OffsetDateTime>> {
        list_changes::table
            .filter(dsl::organization_id.eq(organization.0))
            .filter(dsl::list.eq_any(lists))
            .order(dsl::changed_at.desc())
            .select(dsl::changed_at)
            .first(&mut *self.read().await?)
            .await
            .optional()
            .stored()
    }

    async fn note(&self, organization: OrganizationId, list: &str, now: OffsetDateTime) -> Result<()> {
        diesel::insert_into(list_changes::table)
            .values((dsl::organization_id.eq(organization.0), dsl::list.eq(list), dsl::changed_at.eq(now)))
            .on_conflict((dsl::organization_id, dsl::list))
            .do_update()
            .set(dsl::changed_at.eq(dialect::later(dsl::changed_at, excluded(dsl::changed_at))))
            .execute(&mut *self.write().await?)
            .await
            .stored()
            .map(drop)
    }
}
