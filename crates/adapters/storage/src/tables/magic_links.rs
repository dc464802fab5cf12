//! Links that sign a user in: one for each user.

use crate::engine::Db;
use crate::schema::magic_links;
use crate::scoped::scoped;
use crate::session::{Models, Rows, Run, Session};
use async_trait::async_trait;
use civitas_accounts::Digest;
use civitas_accounts::magic_links::{MagicLink, MagicLinkStore};
use civitas_kernel::{MagicLinkId, OrganizationId, Result, UserId};
use diesel::prelude::*;
use time::OffsetDateTime;

#[derive(Queryable, Selectable)]
#[diesel(table_name = magic_links, check_for_backend(Db))]
struct Row {
    id: i64,
    user_id: i64,
    digest: String,
    redirect_url: Option<String>,
    created_at: OffsetDateTime,
    expires_at: OffsetDateTime,
}

impl From<Row> for (MagicLinkId, MagicLink) {
    fn from(row: Row) -> Self {
        let link = MagicLink {
            user: UserId(row.user_id),
            digest: Digest::kept(row.digest),
            redirect_url: row.redirect_url,
            created_at: row.created_at,
            expires_at: row.expires_at,
        };
        (MagicLinkId(row.id), link)
    }
}

scoped! { magic_links }

#[async_trait]
impl MagicLinkStore for Session {
    async fn put(&self, organization: OrganizationId, link: &MagicLink) -> Result<MagicLinkId> {
        let atomic = self.transaction().await?;
        let former = of(organization).filter(magic_links::user_id.eq(link.user.0));
        diesel::delete(former).run_on(atomic.connection()).await?;
        let id = diesel::insert_into(magic_links::table)
            .values((
                magic_links::organization_id.eq(organization.0),
                magic_links::user_id.eq(link.user.0),
                magic_links::digest.eq(link.digest.as_str()),
                magic_links::redirect_url.eq(link.redirect_url.as_deref()),
                magic_links::created_at.eq(link.created_at),
                magic_links::expires_at.eq(link.expires_at),
            ))
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
        of(organization)
            .filter(magic_links::digest.eq(digest.as_str()))
            .model_from::<Row, _>(self.read())
            .await
    }

    async fn remove(&self, organization: OrganizationId, id: MagicLinkId) -> Result<bool> {
        let one = of(organization).filter(magic_links::id.eq(id.0));
        diesel::delete(one).run_on(self.write()).await.map(|rows| rows > 0)
    }
}
