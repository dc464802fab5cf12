//! Proposals and drafts.

pub(super) mod authors;
mod filters;
mod listing;
mod neighbours;
mod reading;
mod rows;

pub(super) use self::reading::{published_or_own, shown};

use self::authors::{with_authors, write_authors, write_authors_of, written_by};
use self::rows::{Row, changeset, changesets};
use crate::failure::Stored;
use crate::records::records;
use crate::schema::proposals;
use crate::scoped::scoped;
use crate::session::{Session, lock_row};
use crate::tables::planner::without_index;
use async_trait::async_trait;
use civitas_kernel::{
    ClientId, ComponentId, OrganizationId, Page, PageRequest, ProposalId, ReadContext, Result, UserId, Within,
};
use civitas_proposals::{
    HiddenProposals, Neighbours, Position, Proposal, ProposalDetail, ProposalQuery, ProposalStore,
    VotingStatus,
};
use diesel::dsl::exists;
use diesel::prelude::*;
use diesel_async::RunQueryDsl;

scoped! { proposals }

records! {
    proposals: ProposalId => Proposal;
    read with_authors;
    changeset changeset;
    write write_authors;
    many changesets then write_authors_of;
}

#[async_trait]
impl ProposalStore for Session {
    async fn list(
        &self,
        read_context: ReadContext,
        query: &ProposalQuery,
        page: PageRequest,
    ) -> Result<Page<ProposalDetail>> {
        listing::page(self, read_context, query, page).await
    }

    async fn hidden(
        &self,
        organization: OrganizationId,
        list: &HiddenProposals,
        page: PageRequest,
    ) -> Result<Page<ProposalDetail>> {
        listing::hidden(self, organization, list, page).await
    }

    async fn find_visible(
        &self,
        read_context: ReadContext,
        id: ProposalId,
        within: Within,
    ) -> Result<Option<ProposalDetail>> {
        reading::find(self, read_context, within, reading::visible(read_context, id, within)).await
    }

    async fn neighbours(
        &self,
        read_context: ReadContext,
        query: &ProposalQuery,
        position: Position,
    ) -> Result<Neighbours> {
        neighbours::neighbours(self, read_context, query, position).await
    }

    async fn find_with_neighbours(
        &self,
        read_context: ReadContext,
        query: &ProposalQuery,
        id: ProposalId,
    ) -> Result<Option<(ProposalDetail, Neighbours)>> {
        neighbours::with_neighbours(self, read_context, query, id).await
    }

    async fn find_draft(
        &self,
        read_context: ReadContext,
        client: ClientId,
        id: ProposalId,
        within: Within,
    ) -> Result<Option<ProposalDetail>> {
        let draft = reading::visible(read_context, id, within)
            .filter(proposals::published_at.is_null())
            .filter(proposals::api_client_id.eq(client.0));
        reading::find(self, read_context, within, draft).await
    }

    async fn find_draft_for_update(
        &self,
        read_context: ReadContext,
        client: ClientId,
        id: ProposalId,
        within: Within,
    ) -> Result<Option<ProposalDetail>> {
        let row = of(read_context.organization).filter(proposals::id.eq(id.0)).select(proposals::id);
        if lock_row!(self, row) { self.find_draft(read_context, client, id, within).await } else { Ok(None) }
    }

    async fn detail(&self, organization: OrganizationId, id: ProposalId) -> Result<Option<ProposalDetail>> {
        listing::detail(self, organization, id).await
    }

    async fn has_draft(
        &self,
        organization: OrganizationId,
        user: UserId,
        component: ComponentId,
    ) -> Result<bool> {
        let drafts = written_by(user.0)
            .filter(without_index(proposals::organization_id).eq(organization.0))
            .filter(without_index(proposals::component_id).eq(component.0))
            .filter(proposals::published_at.is_null());
        diesel::select(exists(drafts)).get_result(&mut *self.read().await?).await.stored()
    }

    async fn count_published(
        &self,
        organization: OrganizationId,
        user: UserId,
        component: ComponentId,
    ) -> Result<i64> {
        written_by(user.0)
            .filter(without_index(proposals::organization_id).eq(organization.0))
            .filter(without_index(proposals::component_id).eq(component.0))
            .filter(proposals::published_at.is_not_null())
            .count()
            .get_result(&mut *self.read().await?)
            .await
            .stored()
    }

    async fn remove(&self, organization: OrganizationId, id: ProposalId) -> Result<()> {
        let atomic = self.transaction().await?;
        let removed = diesel::delete(of(organization).filter(proposals::id.eq(id.0)))
            .execute(&mut *atomic.connection().await?)
            .await
            .stored()?;
        if removed > 0 {
            atomic.touch_list(organization, "proposals").await?;
        }
        atomic.commit().await
    }

    async fn voting_statuses(
        &self,
        organization: OrganizationId,
        user: UserId,
        client: ClientId,
        components: &[ComponentId],
    ) -> Result<Vec<VotingStatus>> {
        super::voting_statuses::of_user(&mut *self.read().await?, organization, user, client, components)
            .await
    }
}
