//! Votes.

use super::components::{IsInSpace, is_in_space};
use crate::columns::{self, Condition, columns};
use crate::engine::{Conn, Db, dialect};
use crate::filter::{FilterColumn, column_condition};
use crate::list_pages::list_page;
use crate::page_rows::RowReadLimits;
use crate::prepared::PrepareOnce;
use crate::records::records;
use crate::schema::{components, proposals, spaces, votes};
use crate::session::{ExecuteExt, LoadModelsExt, LoadRowsExt, Session, borrowed_connection};
use crate::visibility::VisibilityRule;
use async_trait::async_trait;
use civitas_kernel::filter::{Comparison, FilterCondition};
use civitas_kernel::records::{Entity, Records};
use civitas_kernel::{
    ComponentId, Error, LocationFilter, OrganizationId, Page, PageRequest, ProposalId, ReadContext, Result,
    UserId, VoteId,
};
use civitas_proposals::{Vote, VoteField, VoteFilter, VoteStore};
use diesel::dsl::{Eq, InnerJoinQuerySource, count_star, sql_query};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};
use std::collections::HashMap;
use time::OffsetDateTime;

diesel::alias!(votes as ballots: Ballots);

columns! {
    /// A vote as its row stores it.
    votes as Vote;
    id VoteId;
    fields {
        proposal as proposal_id: ProposalId,
        user as user_id: UserId,
        weight: i64,
        temporary: bool,
        created_at: OffsetDateTime,
        updated_at: OffsetDateTime,
    }
    write_with { component_id: i64 }
}

/// Votes with their proposals, components and spaces.
type VotesWithProposals = InnerJoinQuerySource<
    InnerJoinQuerySource<
        InnerJoinQuerySource<votes::table, proposals::table>,
        components::table,
        Eq<components::id, votes::component_id>,
    >,
    spaces::table,
    IsInSpace,
>;

/// The visible votes of a reader inside a part of the organization that satisfy these filters, by id.
async fn load_visible(
    connection: &mut Conn,
    read_context: ReadContext,
    within: LocationFilter,
    filters: &[VoteFilter],
    page: PageRequest,
) -> Result<Page<(VoteId, Vote)>> {
    let inside = || -> Condition<VotesWithProposals> {
        match within.component {
            Some(component) => {
                Box::new(votes::component_id.eq(component.0).and(VisibilityRule::IsWithin(within)))
            }
            None => Box::new(VisibilityRule::IsWithin(within)),
        }
    };
    let all = || {
        votes::table
            .inner_join(proposals::table)
            .inner_join(components::table.on(components::id.eq(votes::component_id)))
            .inner_join(spaces::table.on(is_in_space()))
            .filter(votes::organization_id.eq(read_context.organization.0))
            .filter(proposals::published_at.is_not_null())
            .filter(proposals::hidden_at.is_null())
            .filter(proposals::deleted_at.is_null())
            .filter(VisibilityRule::ComponentIsVisible(read_context.viewer))
            .filter(inside())
            .select(columns::all_columns::<Row>())
            .into_boxed::<Db>()
    };
    // A vote does not change: one index for both times.
    let page: Page<Row> = list_page!(connection, page, RowReadLimits::NONE; all();
        filters, |filter| condition(filter);
        [votes::id, votes::created_at, votes::created_at; votes::id], votes::id);
    Ok(page.map(Into::into))
}

fn condition(filter: &VoteFilter) -> Result<Condition<VotesWithProposals>> {
    let column = match filter.field {
        VoteField::User => FilterColumn::Integer(Box::new(votes::user_id.nullable())),
        VoteField::Proposal => FilterColumn::Integer(Box::new(votes::proposal_id.nullable())),
        VoteField::Component => FilterColumn::Integer(Box::new(votes::component_id.nullable())),
        VoteField::SpaceId => FilterColumn::Integer(Box::new(components::space_id.nullable())),
        VoteField::Id => FilterColumn::Integer(Box::new(votes::id.nullable())),
        VoteField::Weight => FilterColumn::Integer(Box::new(votes::weight.nullable())),
        VoteField::CreatedAt => FilterColumn::Time(Box::new(votes::created_at.nullable())),
        VoteField::UpdatedAt => FilterColumn::Time(Box::new(votes::updated_at.nullable())),
    };
    column_condition(column, &filter.condition)
}

/// What to write, with the component of the vote's proposal.
async fn changeset<'a>(
    connection: &mut Conn,
    organization: OrganizationId,
    vote: &'a Vote,
) -> Result<Changeset<'a>> {
    let component: Option<i64> = proposals::table
        .filter(proposals::organization_id.eq(organization.0))
        .filter(proposals::id.eq(vote.proposal.0))
        .select(proposals::component_id)
        .first_from(borrowed_connection(connection))
        .await?;
    Ok(Changeset::new(vote, component.ok_or(Error::NotFound)?))
}

/// The same for several votes.
async fn changesets<'a>(
    connection: &mut Conn,
    organization: OrganizationId,
    votes: &'a [Vote],
) -> Result<Vec<Changeset<'a>>> {
    let ids = columns::distinct_ids(votes.iter().map(|vote| vote.proposal.0));
    let components: Vec<(i64, i64)> = proposals::table
        .filter(proposals::organization_id.eq(organization.0))
        .filter(columns::any_of(proposals::id.nullable(), &ids))
        .select((proposals::id, proposals::component_id))
        .rows_from(borrowed_connection(connection))
        .await?;
    let components: HashMap<i64, i64> = components.into_iter().collect();
    let changeset = |vote: &'a Vote| {
        let component = components.get(&vote.proposal.0).ok_or(Error::NotFound)?;
        Ok::<_, Error>(Changeset::new(vote, *component))
    };
    votes.iter().map(changeset).collect()
}

records! {
    scoped votes: VoteId => Vote;
    changeset changeset;
    many changesets;
}

/// The most proposals whose votes one statement counts: statements have a time limit.
const COUNTED_TOGETHER: i64 = 1_000;

impl Session {
    /// Whether triggers count the votes that the transaction changes from here on, `on` or `off`. On SQLite they always do.
    async fn set_vote_counting(&self, is_counting: &'static str) -> Result<()> {
        let connection = &mut *self.for_update().await?;
        let Some(set) = dialect::SET_VOTE_COUNTING else { return Ok(()) };
        sql_query(set)
            .bind::<Text, _>(is_counting)
            .prepare_once()
            .done_on(borrowed_connection(connection))
            .await
    }
}

#[async_trait]
impl VoteStore for Session {
    async fn list(
        &self,
        read_context: ReadContext,
        within: LocationFilter,
        filters: &[VoteFilter],
        page: PageRequest,
    ) -> Result<Page<(VoteId, Vote)>> {
        let connection = &mut *self.read_page(page, !filters.is_empty()).await?;
        load_visible(connection, read_context, within, filters, page).await
    }

    async fn find_visible(
        &self,
        read_context: ReadContext,
        id: VoteId,
        within: LocationFilter,
    ) -> Result<Option<(VoteId, Vote)>> {
        let this =
            VoteFilter { field: VoteField::Id, condition: FilterCondition::Integer(Comparison::Eq(id.0)) };
        let one = PageRequest::new(1, 1);
        Ok(load_visible(&mut *self.read().await?, read_context, within, &[this], one).await?.items.pop())
    }

    async fn lock(&self, organization: OrganizationId, proposal: ProposalId, user: UserId) -> Result<()> {
        let connection = &mut *self.for_update().await?;
        let Some(lock) = dialect::LOCK_VOTES else { return Ok(()) };
        // A missing row needs no lock.
        sql_query(lock)
            .bind::<BigInt, _>(organization.0)
            .bind::<BigInt, _>(proposal.0)
            .bind::<BigInt, _>(user.0)
            .prepare_once()
            .done_on(borrowed_connection(connection))
            .await
    }

    async fn cast(
        &self,
        organization: OrganizationId,
        vote: &Vote,
        component: ComponentId,
    ) -> Result<VoteId> {
        let atomic = self.transaction().await?;
        let id: Option<i64> = diesel::insert_into(votes::table)
            .values((votes::organization_id.eq(organization.0), Changeset::new(vote, component.0)))
            .on_conflict_do_nothing()
            .returning(votes::id)
            .row_from(atomic.connection())
            .await?;
        let id = id.map(VoteId).ok_or_else(Vote::key_taken_error)?;
        self.finish_write(atomic, organization, vote.lists_changed(None), vote.events(id, None)).await?;
        Ok(id)
    }

    async fn count_of_user(
        &self,
        organization: OrganizationId,
        user: UserId,
        component: ComponentId,
    ) -> Result<i64> {
        rows_of(organization)
            .filter(votes::user_id.eq(user.0))
            .filter(votes::component_id.eq(component.0))
            .count()
            .value_from(self.read())
            .await
    }

    async fn list_of_proposal(
        &self,
        organization: OrganizationId,
        proposal: ProposalId,
        page: PageRequest,
    ) -> Result<Page<(VoteId, Vote)>> {
        rows_of(organization)
            .filter(votes::proposal_id.eq(proposal.0))
            .order((votes::created_at.desc(), votes::id.desc()))
            .page_from::<Row, _>(page, self.read())
            .await
    }

    async fn remove(&self, organization: OrganizationId, id: VoteId) -> Result<()> {
        let atomic = self.transaction().await?;
        let removed = diesel::delete(rows_of(organization).filter(votes::id.eq(id.0)))
            .run_on(atomic.connection())
            .await?;
        if removed > 0 {
            atomic.touch_list(organization, "votes").await?;
        }
        atomic.commit().await
    }

    async fn add_uncounted(
        &self,
        organization: OrganizationId,
        votes: &[Vote],
    ) -> Result<Option<Vec<VoteId>>> {
        self.set_vote_counting("off").await?;
        let added = self.add_many(organization, votes).await?;
        self.set_vote_counting("on").await?;
        Ok(added)
    }

    async fn settle(&self, organization: OrganizationId, minimums: &[(ComponentId, i64)]) -> Result<()> {
        self.set_vote_counting("off").await?;
        for (component, minimum) in minimums {
            self.set_finality(organization, *component, *minimum).await?;
        }
        self.set_vote_counting("on").await?;
        let Some(count) = dialect::COUNT_VOTES else { return Ok(()) };
        let connection = &mut *self.for_update().await?;
        let mut after = 0;
        loop {
            let ids: Vec<i64> = proposals::table
                .filter(proposals::organization_id.eq(organization.0))
                .filter(proposals::id.gt(after))
                .order(proposals::id)
                .limit(COUNTED_TOGETHER)
                .select(proposals::id)
                .rows_from(borrowed_connection(connection))
                .await?;
            let (Some(first), Some(last)) = (ids.first(), ids.last()) else { return Ok(()) };
            after = *last;
            sql_query(count)
                .bind::<BigInt, _>(organization.0)
                .bind::<BigInt, _>(*first)
                .bind::<BigInt, _>(*last)
                .prepare_once()
                .done_on(borrowed_connection(connection))
                .await?;
        }
    }

    async fn set_finality(
        &self,
        organization: OrganizationId,
        component: ComponentId,
        minimum: i64,
    ) -> Result<()> {
        let atomic = self.transaction().await?;
        for temporary in [true, false] {
            let voters = ballots
                .filter(ballots.field(votes::organization_id).eq(organization.0))
                .filter(ballots.field(votes::component_id).eq(component.0))
                .group_by(ballots.field(votes::user_id))
                .having(count_star().lt(minimum).eq(temporary))
                .select(ballots.field(votes::user_id));
            let settled = rows_of(organization)
                .filter(votes::component_id.eq(component.0))
                .filter(votes::temporary.ne(temporary))
                .filter(votes::user_id.eq_any(voters));
            diesel::update(settled).set(votes::temporary.eq(temporary)).run_on(atomic.connection()).await?;
        }
        atomic.commit().await
    }

    async fn set_temporary(
        &self,
        organization: OrganizationId,
        user: UserId,
        component: ComponentId,
        temporary: bool,
    ) -> Result<()> {
        let others = rows_of(organization)
            .filter(votes::user_id.eq(user.0))
            .filter(votes::component_id.eq(component.0))
            .filter(votes::temporary.ne(temporary));
        diesel::update(others).set(votes::temporary.eq(temporary)).prepare_once().done_on(self.write()).await
    }
}
