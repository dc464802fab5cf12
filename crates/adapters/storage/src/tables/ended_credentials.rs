//! Tokens, links and sessions whose time is over, or whose account is erased.

use crate::columns;
use crate::failure::Stored;
use crate::old_rows::remove_oldest;
use crate::schema::{access_tokens, confirmations, magic_links, panel_sessions, sessions};
use crate::session::Session;
use async_trait::async_trait;
use civitas_accounts::EndedCredentials;
use civitas_kernel::{OrganizationId, Result, UserId};
use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use time::OffsetDateTime;

#[async_trait]
impl EndedCredentials for Session {
    async fn remove_before(&self, before: OffsetDateTime, limit: i64) -> Result<u64> {
        let mut removed = remove_oldest!(
            self,
            access_tokens::table,
            access_tokens::table.filter(access_tokens::expires_at.lt(before)),
            order access_tokens::expires_at,
            key access_tokens::id => i64,
            among |ids: Vec<i64>| columns::any_of(access_tokens::id.nullable(), &ids),
            limit limit
        );
        removed += remove_oldest!(
            self,
            magic_links::table,
            magic_links::table.filter(magic_links::expires_at.lt(before)),
            order magic_links::expires_at,
            key magic_links::id => i64,
            among |ids: Vec<i64>| columns::any_of(magic_links::id.nullable(), &ids),
            limit limit
        );
        removed += remove_oldest!(
            self,
            confirmations::table,
            confirmations::table.filter(confirmations::expires_at.lt(before)),
            order confirmations::expires_at,
            key confirmations::digest => String,
            among |digests: Vec<String>| confirmations::digest.eq_any(digests),
            limit limit
        );
        removed += remove_oldest!(
            self,
            sessions::table,
            sessions::table.filter(sessions::expires_at.lt(before)),
            order sessions::expires_at,
            key sessions::digest => String,
            among |digests: Vec<String>| sessions::digest.eq_any(digests),
            limit limit
        );
        removed += remove_oldest!(
            self,
            panel_sessions::table,
            panel_sessions::table.filter(panel_sessions::expires_at.lt(before)),
            order panel_sessions::expires_at,
            key panel_sessions::digest => String,
            among |digests: Vec<String>| panel_sessions::digest.eq_any(digests),
            limit limit
        );
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
                removed +=
                    diesel::delete(own).execute(&mut *atomic.connection().await?).await.stored()? as u64;
            }};
        }
        remove!(confirmations);
        remove!(magic_links);
        remove!(sessions);
        atomic.commit().await?;
        Ok(removed)
    }
}
