//! Proposals and drafts.

mod listing;
mod neighbours;
mod reading;
mod rows;

use self::rows::{Row, add_authors, authors_of, changeset, replace_authors};
use crate::columns::{self, Condition};
use crate::engine::Conn;
use crate::failure::{Stored, changed};
use crate::schema::{proposal_authors, proposals};
use crate::session::{Session, lock_row};
use async_trait::async_trait;
use civitas_kernel::{
    Change, ClientId, ComponentId, Error, Event, EventName, OrganizationId, Page, PageRequest, ProposalId,
    ReadContext, Result, Subject, UserId, Within,
};
use civitas_proposals::{Neighbours, Proposal, ProposalDetail, ProposalQuery, ProposalStore, VotingStatus};
use diesel::dsl::{Eq, Filter, auto_type, exists};
use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use time::OffsetDateTime;

const TAKEN: &str = "Draft Proposal already exists for this component";

type Scoped = Filter<proposals::table, Eq<proposals::organization_id, i64>>;

/// The proposals of one organization; the only access to the table.
fn of(organization: OrganizationId) -> Scoped {
    proposals::table.filter(proposals::organization_id.eq(organization.0))
}

/// The proposals and drafts a user is an author of. What is asked of them beside, `+ 0` keeps from SQLite's indices:
/// it would walk all records of a component, to look in each for the user.
#[auto_type(no_type_alias)]
pub(super) fn written_by(user: i64) -> _ {
    proposals::table
        .inner_join(proposal_authors::table)
        .filter(proposal_authors::user_id.eq(user))
        .filter(proposals::deleted_at.is_null())
}

/// These rows with their authors, in their order.
async fn with_authors(connection: &mut Conn, rows: Vec<Row>) -> Result<Vec<(ProposalId, Proposal)>> {
    let ids: Vec<i64> = rows.iter().map(|row| row.id).collect();
    let mut authors = authors_of(connection, &ids).await?;
    let proposals = rows.into_iter().map(|row| {
        let authors = authors.remove(&row.id).unwrap_or_default();
        (ProposalId(row.id), row.into_model(authors))
    });
    Ok(proposals.collect())
}

/// Whether a proposal can be met in lists by others than its authors.
fn is_listed(proposal: &Proposal) -> bool {
    proposal.published_at.is_some() && proposal.hidden_at.is_none() && proposal.deleted_at.is_none()
}

#[async_trait]
impl ProposalStore for Session {
    async fn list(
        &self,
        read_context: ReadContext,
        query: &ProposalQuery,
        page: PageRequest,
    ) -> Result<Page<ProposalDetail>> {
        listing::page(&mut *self.read().await?, read_context, query, page).await
    }

    async fn find_visible(
        &self,
        read_context: ReadContext,
        id: ProposalId,
        within: Within,
    ) -> Result<Option<ProposalDetail>> {
        reading::visible(&mut *self.read().await?, read_context, id, within, Vec::new()).await
    }

    async fn neighbours(
        &self,
        read_context: ReadContext,
        query: &ProposalQuery,
        id: ProposalId,
    ) -> Result<Neighbours> {
        neighbours::neighbours(&mut *self.read().await?, read_context, query, id).await
    }

    async fn find_draft(
        &self,
        read_context: ReadContext,
        client: ClientId,
        id: ProposalId,
        within: Within,
    ) -> Result<Option<ProposalDetail>> {
        let connection = &mut *self.read().await?;
        let conditions: Vec<Condition<proposals::table>> = vec![
            Box::new(proposals::published_at.is_null().nullable()),
            Box::new(proposals::api_client_id.eq(client.0)),
        ];
        reading::visible(connection, read_context, id, within, conditions).await
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
        reading::any(&mut *self.read().await?, organization, id).await
    }

    async fn has_draft(
        &self,
        organization: OrganizationId,
        user: UserId,
        component: ComponentId,
    ) -> Result<bool> {
        let drafts = written_by(user.0)
            .filter((proposals::organization_id + 0_i64).eq(organization.0))
            .filter((proposals::component_id + 0_i64).eq(component.0))
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
            .filter((proposals::organization_id + 0_i64).eq(organization.0))
            .filter((proposals::component_id + 0_i64).eq(component.0))
            .filter(proposals::published_at.is_not_null())
            .count()
            .get_result(&mut *self.read().await?)
            .await
            .stored()
    }

    async fn find(&self, organization: OrganizationId, id: ProposalId) -> Result<Option<Proposal>> {
        let connection = &mut *self.read().await?;
        let rows: Vec<Row> = of(organization)
            .filter(proposals::id.eq(id.0))
            .select(columns::of::<Row>())
            .load(connection)
            .await
            .stored()?;
        Ok(with_authors(connection, rows).await?.pop().map(|(_, proposal)| proposal))
    }

    async fn find_for_update(
        &self,
        organization: OrganizationId,
        id: ProposalId,
    ) -> Result<Option<Proposal>> {
        let row = of(organization).filter(proposals::id.eq(id.0)).select(proposals::id);
        if lock_row!(self, row) { ProposalStore::find(self, organization, id).await } else { Ok(None) }
    }

    async fn add(
        &self,
        organization: OrganizationId,
        proposal: &Proposal,
        announce: &[EventName],
    ) -> Result<Option<ProposalId>> {
        self.check_recordable(announce)?;
        let atomic = self.atomic().await?;
        let mut connection = atomic.connection().await?;
        let written = changeset(&mut connection, proposal).await?;
        let id: Option<i64> = diesel::insert_into(proposals::table)
            .values((proposals::organization_id.eq(organization.0), written))
            .on_conflict_do_nothing()
            .returning(proposals::id)
            .get_result(&mut *connection)
            .await
            .optional()
            .stored()?;
        let Some(id) = id.map(ProposalId) else {
            drop(connection);
            return atomic.commit().await.map(|()| None);
        };
        add_authors(&mut connection, id, &proposal.authors).await?;
        drop(connection);
        atomic.commit().await?;
        let subject =
            if proposal.published_at.is_some() { Subject::Proposal(id) } else { Subject::Draft(id) };
        self.record_events(organization, announce.iter().map(|name| Event { name: *name, subject }))?;
        Ok(Some(id))
    }

    async fn save(
        &self,
        organization: OrganizationId,
        id: ProposalId,
        change: Change<Proposal>,
    ) -> Result<()> {
        let Change { state: proposal, events } = change;
        self.check_recordable(&events)?;
        let atomic = self.atomic().await?;
        let mut connection = atomic.connection().await?;
        let row = of(organization).filter(proposals::id.eq(id.0));
        let before: Row = row
            .select(columns::of::<Row>())
            .first(&mut *connection)
            .await
            .optional()
            .stored()?
            .ok_or(Error::NotFound)?;
        let before = before.into_model(Vec::new());
        let written = changeset(&mut connection, &proposal).await?;
        diesel::update(row)
            .set(written)
            .execute(&mut *connection)
            .await
            .stored_unless_taken(TAKEN)
            .and_then(changed)?;
        replace_authors(&mut connection, id, &proposal.authors).await?;
        drop(connection);
        let withdrawn = before.withdrawn_at.is_none() && proposal.withdrawn_at.is_some();
        if is_listed(&before) && (withdrawn || !is_listed(&proposal)) {
            atomic.touch_list(organization, "proposals").await?;
        }
        atomic.commit().await?;
        self.record_events(organization, events)
    }

    async fn remove(&self, organization: OrganizationId, id: ProposalId, _: OffsetDateTime) -> Result<()> {
        let atomic = self.atomic().await?;
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

    async fn page_after(
        &self,
        organization: OrganizationId,
        after: Option<ProposalId>,
        limit: i64,
    ) -> Result<Vec<(ProposalId, Proposal)>> {
        let connection = &mut *self.read().await?;
        let rows: Vec<Row> = of(organization)
            .filter(proposals::id.gt(after.map_or(i64::MIN, |id| id.0)))
            .order(proposals::id)
            .limit(limit)
            .select(columns::of::<Row>())
            .load(connection)
            .await
            .stored()?;
        with_authors(connection, rows).await
    }
}
