//! Links that confirm an e-mail address.

use crate::schema::confirmations;
use crate::scoped::scoped;
use crate::session::{Rows, Run, Session};
use async_trait::async_trait;
use civitas_accounts::{Confirmation, ConfirmationStore, Digest};
use civitas_kernel::{OrganizationId, Result, UserId};
use diesel::prelude::*;
use time::OffsetDateTime;

scoped! { confirmations }

#[async_trait]
impl ConfirmationStore for Session {
    async fn add(
        &self,
        organization: OrganizationId,
        confirmation: &Confirmation,
        now: OffsetDateTime,
    ) -> Result<()> {
        let atomic = self.transaction().await?;
        let ended = of(organization)
            .filter(confirmations::user_id.eq(confirmation.user.0))
            .filter(confirmations::expires_at.le(now));
        diesel::delete(ended).run_on(atomic.connection()).await?;
        diesel::insert_into(confirmations::table)
            .values((
                confirmations::digest.eq(confirmation.digest.as_str()),
                confirmations::organization_id.eq(organization.0),
                confirmations::user_id.eq(confirmation.user.0),
                confirmations::expires_at.eq(confirmation.expires_at),
            ))
            .run_on(atomic.connection())
            .await?;
        atomic.commit().await
    }

    async fn find(&self, organization: OrganizationId, digest: &Digest) -> Result<Option<Confirmation>> {
        let row: Option<(i64, OffsetDateTime)> = of(organization)
            .filter(confirmations::digest.eq(digest.as_str()))
            .select((confirmations::user_id, confirmations::expires_at))
            .first_from(self.read())
            .await?;
        let digest = digest.clone();
        Ok(row.map(|(user, expires_at)| Confirmation { user: UserId(user), digest, expires_at }))
    }

    async fn remove_of_user(&self, organization: OrganizationId, user: UserId) -> Result<bool> {
        let own = of(organization).filter(confirmations::user_id.eq(user.0));
        diesel::delete(own).run_on(self.write()).await.map(|rows| rows > 0)
    }
}
