//! The rows of records that the archive imported, by their refs.

use crate::failure::Stored;
use crate::schema::archive_refs::{self, dsl};
use crate::session::Session;
use async_trait::async_trait;
use civitas_application::RefStore;
use civitas_kernel::{OrganizationId, Result};
use diesel::prelude::*;
use diesel_async::RunQueryDsl;

/// Records without organization are stored under 0: a primary key has no nulls.
fn key(organization: Option<OrganizationId>) -> i64 {
    organization.map_or(0, |id| id.0)
}

#[async_trait]
impl RefStore for Session {
    async fn find(
        &self,
        organization: Option<OrganizationId>,
        kind: &str,
        reference: &str,
    ) -> Result<Option<String>> {
        archive_refs::table
            .find((key(organization), kind, reference))
            .select(dsl::record_id)
            .first(&mut *self.read().await?)
            .await
            .optional()
            .stored()
    }

    async fn add(
        &self,
        organization: Option<OrganizationId>,
        kind: &str,
        reference: &str,
        id: &str,
    ) -> Result<()> {
        diesel::insert_into(archive_refs::table)
            .values((
                dsl::organization_id.eq(key(organization)),
                dsl::kind.eq(kind),
                dsl::reference.eq(reference),
                dsl::record_id.eq(id),
            ))
            .on_conflict((dsl::organization_id, dsl::kind, dsl::reference))
            .do_update()
            .set(dsl::record_id.eq(id))
            .execute(&mut *self.write().await?)
            .await
            .stored()
            .map(drop)
    }
}
