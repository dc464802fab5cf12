//! Tokens, links and sessions whose time is over, or whose account is erased.

use crate::old_rows::remove_oldest;
use crate::schema::{access_tokens, confirmations, magic_links, panel_sessions, sessions};
use crate::session::{ExecuteExt, Session};
use async_trait::async_trait;
use civitas_accounts::EndedCredentials;
use civitas_kernel::{OrganizationId, Result, UserId};
use diesel::prelude::*;
use time::OffsetDateTime;

#[async_trait]
impl EndedCredentials for Session {
    async fn remove_before(&self, before: OffsetDateTime, limit: i64) -> Result<u64> {
        let mut removed = remove_oldest!(self, access_tokens by id, expires_at < before, limit);
        removed += remove_oldest!(self, magic_links by id, expires_at < before, limit);
        removed += remove_oldest!(self, confirmations by digest, expires_at < before, limit);
        removed += remove_oldest!(self, sessions by digest, expires_at < before, limit);
        removed += remove_oldest!(self, panel_sessions by digest, expires_at < before, limit);
        Ok(removed)
    }

    async fn remove_of_user(&self, organization: OrganizationId, user: UserId) -> Result<u64> {
        let atomic = self.transaction().await?;
        let mut removed = 0;
        macro_rules! remove {
            ($table:ident) => {{
                let own = $table::table
                    .filter($table::user_id.eq(user.0))
                    .filter($table::organization_id.eq(organization.0));
                removed += diesel::delete(own).run_on(atomic.connection()).await?;
            }};
        }
        remove!(confirmations);
        remove!(magic_links);
        remove!(sessions);
        atomic.commit().await?;
        Ok(removed)
    }
}
