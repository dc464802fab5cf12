//! Sessions of participants.

use crate::schema::sessions;
use crate::scoped::scoped;
use crate::session::{ExecuteExt, LoadRowsExt, Session};
use async_trait::async_trait;
use civitas_accounts::{Digest, ParticipantSession, SessionStore};
use civitas_kernel::{OrganizationId, Result, UserId};
use diesel::prelude::*;
use time::OffsetDateTime;

scoped! { sessions }

#[async_trait]
impl SessionStore for Session {
    async fn add(&self, organization: OrganizationId, session: &ParticipantSession) -> Result<()> {
        let atomic = self.transaction().await?;
        let ended = rows_of(organization)
            .filter(sessions::user_id.eq(session.user.0))
            .filter(sessions::expires_at.le(session.created_at));
        diesel::delete(ended).run_on(atomic.connection()).await?;
        diesel::insert_into(sessions::table)
            .values((
                sessions::digest.eq(session.digest.as_str()),
                sessions::organization_id.eq(organization.0),
                sessions::user_id.eq(session.user.0),
                sessions::created_at.eq(session.created_at),
                sessions::expires_at.eq(session.expires_at),
            ))
            .run_on(atomic.connection())
            .await?;
        atomic.commit().await
    }

    async fn find(
        &self,
        organization: OrganizationId,
        digest: &Digest,
        now: OffsetDateTime,
    ) -> Result<Option<UserId>> {
        let user: Option<i64> = rows_of(organization)
            .filter(sessions::digest.eq(digest.as_str()))
            .filter(sessions::expires_at.gt(now))
            .select(sessions::user_id)
            .first_from(self.read())
            .await?;
        Ok(user.map(UserId))
    }
}
