//! Reads of one proposal: the proposal by id, then its component.

use super::rows::Row;
use crate::columns::{self, Condition, Expr, ListColumn};
use crate::correlated::Correlated;
use crate::engine::{Db, dialect, sql};
use crate::failure::Stored;
use crate::filter::{Column, holds};
use crate::schema::{api_clients, proposal_authors, proposals, votes};
use crate::session::Session;
use crate::tables::places;
use civitas_kernel::{OrganizationId, ProposalId, ReadContext, Result, UserId, Viewer, Within};
use civitas_proposals::{Place, ProposalDetail, ProposalField, ProposalFilter};
use diesel::dsl::case_when;
use diesel::expression::{AppearsOnTable, Expression, SelectableExpression, ValidGrouping, is_aggregate};
use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::result::QueryResult;
use diesel::sql_types::{BigInt, Nullable, Text};
use diesel_async::RunQueryDsl;
use std::sync::Arc;
use time::OffsetDateTime;

/// The columns of a proposal to read.
#[derive(Queryable)]
pub(super) struct Facts {
    row: Row,
    authors: ListColumn,
    client_uid: Option<String>,
    voted: Option<i64>,
    voted_at: Option<OffsetDateTime>,
}

type ReadFacts = (
    <Row as Selectable<Db>>::SelectExpression,
    Authors,
    Expr<proposals::table, Text>,
    Expr<proposals::table, BigInt>,
    Expr<proposals::table, sql::Moment>,
);

/// The columns of [`Facts`].
pub(super) fn read(reader: Option<UserId>) -> ReadFacts {
    let client = api_clients::table
        .filter(proposals::api_client_id.eq(api_clients::id.nullable()))
        .filter(api_clients::deleted_at.is_null())
        .select(api_clients::uid);
    let voted_at: Expr<proposals::table, sql::Moment> = match reader {
        None => Box::new(None::<OffsetDateTime>.into_sql::<Nullable<sql::Moment>>()),
        Some(user) => Box::new(Correlated(
            votes::table
                .filter(votes::proposal_id.eq(proposals::id))
                .filter(votes::user_id.eq(user.0))
                .select(votes::updated_at),
        )),
    };
    // Most proposals have no client.
    let client_uid = case_when(proposals::api_client_id.is_not_null(), Correlated(client));
    (columns::of::<Row>(), Authors, Box::new(client_uid), own_weight(reader), voted_at)
}

/// The weight of the reader's vote; null without one.
fn own_weight(reader: Option<UserId>) -> Expr<proposals::table, BigInt> {
    match reader {
        None => Box::new(None::<i64>.into_sql::<Nullable<BigInt>>()),
        Some(user) => Box::new(Correlated(
            votes::table
                .filter(votes::proposal_id.eq(proposals::id))
                .filter(votes::user_id.eq(user.0))
                .select(votes::weight),
        )),
    }
}

impl Facts {
    pub(super) fn id(&self) -> i64 {
        self.row.id
    }

    /// The component it belongs to.
    pub(super) fn component(&self) -> i64 {
        self.row.component_id
    }

    /// The proposal for reads.
    pub(super) fn detail(self, place: Arc<Place>) -> ProposalDetail {
        let id = ProposalId(self.row.id);
        let state = self.row.public_state();
        let proposal = self.row.into_model(self.authors.0.into_iter().map(UserId).collect());
        let newest = proposal.updated_at.max(place.changed_at);
        ProposalDetail {
            id,
            client_uid: self.client_uid,
            state,
            voted: self.voted,
            changed_at: self.voted_at.map_or(newest, |at| newest.max(at)),
            place,
            proposal,
        }
    }
}

/// Whether a proposal is neither hidden nor deleted.
pub(in crate::tables) fn shown() -> Condition<proposals::table> {
    Box::new(proposals::hidden_at.is_null().and(proposals::deleted_at.is_null()).nullable())
}

/// Whether a proposal is published, or a draft of this user. For statements that find their rows by id.
pub(in crate::tables) fn published_or_own(author: Option<UserId>) -> Condition<proposals::table> {
    match author {
        None => Box::new(proposals::published_at.is_not_null().nullable()),
        Some(user) => {
            let own = proposal_authors::table
                .filter(proposal_authors::proposal_id.eq(proposals::id))
                .filter(proposal_authors::user_id.eq(user.0))
                .select(proposal_authors::proposal_id);
            Box::new(proposals::published_at.is_not_null().or(Correlated(own).is_not_null()).nullable())
        }
    }
}

/// Whether a proposal satisfies a filter.
pub(super) fn satisfies(
    participant: Option<UserId>,
    filter: &ProposalFilter,
) -> Result<Condition<proposals::table>> {
    let column = match filter.field {
        ProposalField::State => Column::Ascii(Box::new(proposals::public_state.nullable())),
        ProposalField::VotedWeight => Column::Integer(own_weight(participant)),
        ProposalField::ExtendedData => Column::Text(Box::new(proposals::extended_data_text.nullable())),
        ProposalField::Id => Column::Integer(Box::new(proposals::id.nullable())),
    };
    holds(column, &filter.condition)
}

/// The proposal of this id, if it is visible (contract 06 §1.3), inside, and satisfies these conditions.
pub(super) async fn visible(
    session: &Session,
    read_context: ReadContext,
    id: ProposalId,
    within: Within,
    mut conditions: Vec<Condition<proposals::table>>,
) -> Result<Option<ProposalDetail>> {
    conditions.extend(visible_itself(read_context, within));
    let Some(facts) =
        facts(session, read_context.organization, id, read_context.participant, conditions).await?
    else {
        return Ok(None);
    };
    let place = places::visible(session, read_context, within, facts.component()).await?;
    Ok(place.map(|place| facts.detail(place)))
}

/// What a visible proposal inside satisfies, besides being in a visible component.
pub(super) fn visible_itself(read_context: ReadContext, within: Within) -> Vec<Condition<proposals::table>> {
    let mut conditions = vec![shown(), published_or_own(read_context.participant)];
    if let Some(component) = within.component {
        conditions.push(Box::new(proposals::component_id.eq(component.0).nullable()));
    }
    conditions
}

/// The proposal of this id for an anonymous viewer, visible or not.
pub(super) async fn any(
    session: &Session,
    organization: OrganizationId,
    id: ProposalId,
) -> Result<Option<ProposalDetail>> {
    let Some(facts) = facts(session, organization, id, None, Vec::new()).await? else { return Ok(None) };
    let component = facts.component();
    let reader = Viewer::Public.user();
    let mut places = places::of_components(session, organization, reader, &[component]).await?;
    Ok(places.remove(&component).map(|place| facts.detail(place)))
}

/// The proposal of this id, if it satisfies these conditions, without its place.
async fn facts(
    session: &Session,
    organization: OrganizationId,
    id: ProposalId,
    reader: Option<UserId>,
    conditions: Vec<Condition<proposals::table>>,
) -> Result<Option<Facts>> {
    let mut found =
        super::of(organization).filter(proposals::id.eq(id.0)).select(read(reader)).into_boxed::<Db>();
    for condition in conditions {
        found = found.filter(condition);
    }
    found.first(&mut *session.read().await?).await.found()
}

/// The authors of a proposal in the order of joining.
#[derive(Debug, Clone, Copy)]
pub(super) struct Authors;

impl Expression for Authors {
    type SqlType = dialect::List;
}

impl AppearsOnTable<proposals::table> for Authors {}
impl SelectableExpression<proposals::table> for Authors {}

impl<GB> ValidGrouping<GB> for Authors {
    type IsAggregate = is_aggregate::No;
}

impl QueryId for Authors {
    type QueryId = Self;
}

impl QueryFragment<Db> for Authors {
    fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, Db>) -> QueryResult<()> {
        let [begin, end] = dialect::list_of("proposal_authors.user_id", Some("proposal_authors.position"));
        pass.push_sql(&begin);
        pass.push_sql(" FROM proposal_authors WHERE proposal_authors.proposal_id = proposals.id");
        pass.push_sql(&end);
        Ok(())
    }
}
