//! Links that sign a user in: one for each user.

use crate::columns::columns;
use crate::schema::magic_links;
use crate::scoped::scoped;
use crate::session::{ExecuteExt, LoadModelsExt, LoadRowsExt, Session};
use async_trait::async_trait;
use civitas_accounts::Digest;
use civitas_accounts::magic_links::{MagicLink, MagicLinkStore};
use civitas_kernel::{MagicLinkId, OrganizationId, Result, UserId};
use diesel::prelude::*;
use time::OffsetDateTime;

columns! {
    /// A link as its row stores it.
    magic_links as MagicLink;
    id MagicLinkId;
    fields {
        user as user_id: UserId,
        digest: Digest,
        redirect_url: Option<String>,
        created_at: OffsetDateTime,
        expires_at: OffsetDateTime,
    }
}

scoped! { magic_links }

#[async_trait]
impl MagicLinkStore for Session {
    async fn replace(&self, organization: OrganizationId, link: &MagicLink) -> Result<MagicLinkId> {
        let atomic = self.transaction().await?;
        let former = rows_of(organization).filter(magic_links::user_id.eq(link.user.0));
        diesel::delete(former).run_on(atomic.connection()).await?;
        let id = diesel::insert_into(magic_links::table)
            .values((magic_links::organization_id.eq(organization.0), Changeset::new(link)))
            .returning(magic_links::id)
            .value_from(atomic.connection())
            .await?;
        atomic.commit().await?;
        Ok(MagicLinkId(id))
    }

    async fn find(
        &self,
        organization: OrganizationId,
        digest: &Digest,
    ) -> Result<Option<(MagicLinkId, MagicLink)>> {
        rows_of(organization)
            .filter(magic_links::digest.eq(digest.as_str()))
            .model_from::<Row, _>(self.read())
            .await
    }

    async fn remove(&self, organization: OrganizationId, id: MagicLinkId) -> Result<bool> {
        let one = rows_of(organization).filter(magic_links::id.eq(id.0));
        diesel::delete(one).any_on(self.write()).await
    }
}
