//! Links that confirm an e-mail address.

use crate::columns::columns;
use crate::schema::confirmations;
use crate::scoped::scoped;
use crate::session::{ExecuteExt, LoadModelsExt, Session};
use async_trait::async_trait;
use civitas_accounts::{Confirmation, ConfirmationStore, Digest};
use civitas_kernel::{OrganizationId, Result, UserId};
use diesel::prelude::*;
use time::OffsetDateTime;

columns! {
    /// A link as its row stores it.
    confirmations as Confirmation;
    fields {
        user as user_id: UserId,
        digest: Digest,
        expires_at: OffsetDateTime,
    }
}

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
        let ended = rows_of(organization)
            .filter(confirmations::user_id.eq(confirmation.user.0))
            .filter(confirmations::expires_at.le(now));
        diesel::delete(ended).run_on(atomic.connection()).await?;
        diesel::insert_into(confirmations::table)
            .values((confirmations::organization_id.eq(organization.0), Changeset::new(confirmation)))
            .run_on(atomic.connection())
            .await?;
        atomic.commit().await
    }

    async fn find(&self, organization: OrganizationId, digest: &Digest) -> Result<Option<Confirmation>> {
        rows_of(organization)
            .filter(confirmations::digest.eq(digest.as_str()))
            .model_from::<Row, _>(self.read())
            .await
    }

    async fn remove_of_user(&self, organization: OrganizationId, user: UserId) -> Result<bool> {
        let own = rows_of(organization).filter(confirmations::user_id.eq(user.0));
        diesel::delete(own).any_on(self.write()).await
    }
}
