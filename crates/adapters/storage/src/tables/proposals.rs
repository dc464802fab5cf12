//! Proposals and drafts.

pub(super) mod authors;
mod listing;
mod reading;
mod rows;

pub(super) use self::reading::{is_shown, published_or_own};

use self::authors::{with_authors, write_authors, write_authors_of, written_by};
use self::listing::{ProposalList, load_details};
use self::reading::{PROPOSALS, ProposalColumns, load};
use self::rows::{Row, changeset, changesets};
use crate::failure::DieselResultExt;
use crate::filter::{FilterColumn, column_condition};
use crate::page_rows::RowReadLimits;
use crate::records::records;
use crate::schema::proposals;
use crate::scoped::scoped;
use crate::session::{Session, lock_row};
use crate::tables::component_contexts::load_visible_for_proposals;
use crate::tables::listing::{self as lists, NeighbourIds};
use crate::tables::planner::without_index;
use crate::tables::texts::{self, TextPart};
use async_trait::async_trait;
use civitas_kernel::{
    ClientId, ComponentId, Direction, LocationFilter, Order, OrganizationId, Page, PageRequest, ProposalId,
    ReadContext, Result, UserId,
};
use civitas_proposals::{
    HiddenProposals, ListPosition, Proposal, ProposalDetail, ProposalNeighbours, ProposalQuery,
    ProposalStore, VotingStatus,
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

/// The direction in which neighbours are searched.
fn direction(list: &ProposalList) -> Direction {
    list.base.direction().unwrap_or(Direction::Ascending)
}

/// In random order the next one is any other proposal, and there is no previous one.
fn in_order(order: Order, (next, prev): NeighbourIds) -> ProposalNeighbours {
    let (next, prev) = (next.map(ProposalId), prev.map(ProposalId));
    match order {
        Order::Column(_) | Order::By(_) => ProposalNeighbours { next, prev },
        Order::Random => ProposalNeighbours { next: next.or(prev), prev: None },
    }
}

#[async_trait]
impl ProposalStore for Session {
    async fn list(
        &self,
        read_context: ReadContext,
        query: &ProposalQuery,
        page: PageRequest,
    ) -> Result<Page<ProposalDetail>> {
        let list = ProposalList::open(self, read_context, query).await?;
        let page = lists::page(&list, self, page).await?;
        load_details(self, read_context.organization, read_context.viewer.user(), page).await
    }

    async fn hidden(
        &self,
        organization: OrganizationId,
        list: &HiddenProposals,
        page: PageRequest,
    ) -> Result<Page<ProposalDetail>> {
        // The first conditions are those of the partial indexes.
        let mut found = PROPOSALS
            .records()
            .filter(proposals::organization_id.eq(organization.0))
            .filter(proposals::hidden_at.is_not_null())
            .filter(proposals::deleted_at.is_null());
        if let Some(component) = list.component {
            found = found.filter(proposals::component_id.eq(component.0));
        }
        if let Some(state) = &list.state {
            let token = FilterColumn::<proposals::table>::Ascii(Box::new(proposals::public_state.nullable()));
            found = found.filter(column_condition(token, state)?);
        }
        if let Some(words) = &list.words {
            found = found.filter(texts::matches_by_index::<()>(
                PROPOSALS.name,
                organization,
                TextPart::Either,
                words,
            )?);
        }
        for column in ["hidden_at", "id"] {
            found = found.order(PROPOSALS.column(column), list.direction);
        }
        let rows =
            load(&mut *self.read_long().await?, None, found.with_limit(page), RowReadLimits::NONE).await?;
        load_details(self, organization, None, Page::from_fetched(rows, page)).await
    }

    async fn find_visible(
        &self,
        read_context: ReadContext,
        id: ProposalId,
        within: LocationFilter,
    ) -> Result<Option<ProposalDetail>> {
        reading::find(self, read_context, within, reading::select_visible_by_id(read_context, id, within))
            .await
    }

    async fn neighbours(
        &self,
        read_context: ReadContext,
        query: &ProposalQuery,
        position: ListPosition,
    ) -> Result<ProposalNeighbours> {
        let list = ProposalList::open(self, read_context, query).await?;
        if !list.base.components.ids().contains(&position.component.0) {
            return Ok(ProposalNeighbours::default());
        }
        let connection = &mut *self.read().await?;
        if !query.filters.is_empty() && !list.has(connection, position.id).await? {
            return Ok(ProposalNeighbours::default());
        }
        let ListPosition { id, published_at, .. } = position;
        let beside = lists::neighbours(&list, connection, direction(&list), id.0, published_at).await?;
        Ok(in_order(query.order, beside))
    }

    async fn find_with_neighbours(
        &self,
        read_context: ReadContext,
        query: &ProposalQuery,
        id: ProposalId,
    ) -> Result<Option<(ProposalDetail, ProposalNeighbours)>> {
        if !query.filters.is_empty() {
            let found = ProposalStore::find_visible(self, read_context, id, query.within).await?;
            let Some(detail) = found else { return Ok(None) };
            let beside = ProposalStore::neighbours(self, read_context, query, detail.position()).await?;
            return Ok(Some((detail, beside)));
        }
        let list = ProposalList::open(self, read_context, query).await?;
        let (next, prev) = lists::seeks(&list, direction(&list), id.0, None)?;
        // One statement for a published one.
        let columns = (reading::read_facts(read_context.participant), next, prev);
        let found = reading::select_visible_by_id(read_context, id, query.within).select(columns);
        let rows: Vec<(ProposalColumns, Option<i64>, Option<i64>)> =
            found.load(&mut *self.read().await?).await.map_db_error()?;
        let Some((facts, next, prev)) = rows.into_iter().next() else { return Ok(None) };
        let context = load_visible_for_proposals(self, read_context, query.within, facts.component()).await?;
        let Some(detail) = context.map(|context| facts.detail(context)) else { return Ok(None) };
        let ListPosition { component, published_at, .. } = detail.position();
        let beside = if !list.base.components.ids().contains(&component.0) {
            (None, None)
        } else if published_at.is_some() && !list.has_drafts() {
            (next, prev)
        } else {
            let connection = &mut *self.read().await?;
            match published_at {
                Some(_) => lists::with_drafts(&list, connection, direction(&list), (next, prev)).await?,
                None => lists::neighbours(&list, connection, direction(&list), id.0, None).await?,
            }
        };
        Ok(Some((detail, in_order(query.order, beside))))
    }

    async fn find_draft(
        &self,
        read_context: ReadContext,
        client: ClientId,
        id: ProposalId,
        within: LocationFilter,
    ) -> Result<Option<ProposalDetail>> {
        let draft = reading::select_visible_by_id(read_context, id, within)
            .filter(proposals::published_at.is_null())
            .filter(proposals::api_client_id.eq(client.0));
        reading::find(self, read_context, within, draft).await
    }

    async fn find_draft_for_update(
        &self,
        read_context: ReadContext,
        client: ClientId,
        id: ProposalId,
        within: LocationFilter,
    ) -> Result<Option<ProposalDetail>> {
        let row = rows_of(read_context.organization).filter(proposals::id.eq(id.0)).select(proposals::id);
        if lock_row!(self, row) { self.find_draft(read_context, client, id, within).await } else { Ok(None) }
    }

    async fn detail(&self, organization: OrganizationId, id: ProposalId) -> Result<Option<ProposalDetail>> {
        let found = reading::select_by_id(organization, id);
        let items = load(&mut *self.read().await?, None, found, RowReadLimits::NONE).await?;
        let found = load_details(self, organization, None, Page::new(items, false)).await?;
        Ok(found.items.into_iter().next())
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
        diesel::select(exists(drafts)).get_result(&mut *self.read().await?).await.map_db_error()
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
            .map_db_error()
    }

    async fn remove(&self, organization: OrganizationId, id: ProposalId) -> Result<()> {
        let atomic = self.transaction().await?;
        let removed = diesel::delete(rows_of(organization).filter(proposals::id.eq(id.0)))
            .execute(&mut *atomic.connection().await?)
            .await
            .map_db_error()?;
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
        super::voting_statuses::load_for_user(
            &mut *self.read().await?,
            organization,
            user,
            client,
            components,
        )
        .await
    }
}
