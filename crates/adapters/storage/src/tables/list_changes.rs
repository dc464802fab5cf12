//! The time at which each list last lost a record.

use crate::engine::dialect;
use crate::prepared::PrepareOnce;
use crate::schema::list_changes::{self, dsl};
use crate::session::{ExecuteExt, LoadRowsExt, Session};
use async_trait::async_trait;
use civitas_application::ListChanges;
use civitas_kernel::{OrganizationId, Result};
use diesel::prelude::*;
use diesel::upsert::excluded;
use time::OffsetDateTime;

#[async_trait]
impl ListChanges for Session {
    async fn last_removal(
        &self,
        organization: OrganizationId,
        lists: &[&str],
    ) -> Result<Option<OffsetDateTime>> {
        if lists.is_empty() {
            return Ok(None);
        }
        // All lists of the organization, which are few.
        let all = self.look_up(|lookups| &lookups.removals, organization.0, async {
            let all: Vec<(String, OffsetDateTime)> = list_changes::table
                .filter(dsl::organization_id.eq(organization.0))
                .select((dsl::list, dsl::changed_at))
                .rows_from(self.read())
                .await?;
            Ok(Some(all.into()))
        });
        let all = all.await?.unwrap_or_default();
        Ok(all.iter().filter(|(list, _)| lists.contains(&list.as_str())).map(|(_, at)| *at).max())
    }

    async fn touch_list(&self, organization: OrganizationId, list: &str, now: OffsetDateTime) -> Result<()> {
        diesel::insert_into(list_changes::table)
            .values((dsl::organization_id.eq(organization.0), dsl::list.eq(list), dsl::changed_at.eq(now)))
            .on_conflict((dsl::organization_id, dsl::list))
            .do_update()
            .set(dsl::changed_at.eq(dialect::later(dsl::changed_at, excluded(dsl::changed_at))))
            .prepare_once()
            .done_on(self.write())
            .await
    }
}
