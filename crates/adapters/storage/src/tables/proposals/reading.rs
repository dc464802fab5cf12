//! Reads of one proposal: the proposal by id, then its component.

use super::rows::Row;
use crate::columns::{self, Condition, Expr, ListColumn};
use crate::engine::{Conn, Db, dialect, sql};
use crate::failure::DieselResultExt;
use crate::page_rows::{LoadPage, RowReadLimits};
use crate::schema::{api_clients, proposal_authors, proposals, votes};
use crate::session::Session;
use crate::tables::component_contexts::load_visible_for_proposals;
use crate::tables::listing::ListedTable;
use crate::tables::select::{RecordSelect, SqlTemplate, correlated};
use civitas_kernel::{LocationFilter, OrganizationId, ProposalId, ReadContext, Result, UserId};
use civitas_proposals::{ProposalContext, ProposalDetail};
use diesel::dsl::{auto_type, case_when};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Nullable, Text};
use std::sync::Arc;
use time::OffsetDateTime;

/// The proposals.
pub(super) const PROPOSALS: ListedTable =
    ListedTable { name: "proposals", order_column: "published_at", is_read_in_order: true };

/// The columns of a proposal to read.
#[derive(Queryable)]
pub(super) struct ProposalColumns {
    row: Row,
    authors: ListColumn,
    client_uid: Option<String>,
    voted: Option<i64>,
    voted_at: Option<OffsetDateTime>,
}

type ReadFacts = (
    <Row as Selectable<Db>>::SelectExpression,
    SqlTemplate<dialect::NumberList>,
    Expr<proposals::table, Text>,
    Expr<proposals::table, BigInt>,
    Expr<proposals::table, sql::Moment>,
);

/// The vote of this user.
#[auto_type(no_type_alias)]
fn own_vote(user: i64) -> _ {
    votes::table.filter(votes::proposal_id.eq(proposals::id)).filter(votes::user_id.eq(user))
}

/// The columns of [`ProposalColumns`].
pub(super) fn read_facts(reader: Option<UserId>) -> ReadFacts {
    let client = api_clients::table
        .filter(proposals::api_client_id.eq(api_clients::id.nullable()))
        .filter(api_clients::deleted_at.is_null())
        .select(api_clients::uid);
    let voted_at: Expr<proposals::table, sql::Moment> = match reader {
        None => Box::new(None::<OffsetDateTime>.into_sql::<Nullable<sql::Moment>>()),
        Some(user) => Box::new(correlated(own_vote(user.0).select(votes::updated_at))),
    };
    // Most proposals have no client.
    let client_uid = case_when(proposals::api_client_id.is_not_null(), correlated(client));
    (columns::all_columns::<Row>(), authors(), Box::new(client_uid), own_weight(reader), voted_at)
}

/// The weight of the reader's vote; null without one.
pub(super) fn own_weight(reader: Option<UserId>) -> Expr<proposals::table, BigInt> {
    match reader {
        None => Box::new(None::<i64>.into_sql::<Nullable<BigInt>>()),
        Some(user) => Box::new(correlated(own_vote(user.0).select(votes::weight))),
    }
}

impl ProposalColumns {
    /// The component it belongs to.
    pub(super) fn component(&self) -> i64 {
        self.row.component_id
    }

    /// The proposal for reads.
    pub(super) fn detail(self, context: Arc<ProposalContext>) -> ProposalDetail {
        let id = ProposalId(self.row.id);
        let state = self.row.public_state();
        let (votes_count, votes_changed_at) = (self.row.votes_count, self.row.votes_changed_at);
        let proposal = self.row.into_model(self.authors.0.into_iter().map(UserId).collect());
        let times = votes_changed_at.into_iter().chain(self.voted_at);
        let changed_at = times.fold(proposal.updated_at.max(context.changed_at), OffsetDateTime::max);
        ProposalDetail {
            id,
            client_uid: self.client_uid,
            state,
            voted: self.voted,
            votes_count,
            changed_at,
            context,
            proposal,
        }
    }
}

/// Whether a proposal is neither hidden nor deleted.
pub(in crate::tables) fn is_shown() -> Condition<proposals::table> {
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
            Box::new(proposals::published_at.is_not_null().or(correlated(own).is_not_null()).nullable())
        }
    }
}

/// The proposal of this id, visible or not.
pub(super) fn select_by_id(organization: OrganizationId, id: ProposalId) -> RecordSelect {
    PROPOSALS.records().filter(proposals::organization_id.eq(organization.0)).filter(proposals::id.eq(id.0))
}

/// The proposal of this id, if it is visible (contract 06 §1.3) and inside, whatever its component is.
pub(super) fn select_visible_by_id(
    read_context: ReadContext,
    id: ProposalId,
    within: LocationFilter,
) -> RecordSelect {
    let found = select_by_id(read_context.organization, id).filter(is_shown());
    let found = found.filter(published_or_own(read_context.participant));
    match within.component {
        Some(component) => found.filter(proposals::component_id.eq(component.0)),
        None => found,
    }
}

/// The proposal that these are, if its component is visible and inside too.
pub(super) async fn find(
    session: &Session,
    read_context: ReadContext,
    within: LocationFilter,
    found: RecordSelect,
) -> Result<Option<ProposalDetail>> {
    let reader = read_context.participant;
    let rows = load(&mut *session.read().await?, reader, found, RowReadLimits::NONE).await?;
    let Some(facts) = rows.into_iter().next() else { return Ok(None) };
    let context = load_visible_for_proposals(session, read_context, within, facts.component()).await?;
    Ok(context.map(|context| facts.detail(context)))
}

/// These proposals as this user reads them.
pub(super) async fn load(
    connection: &mut Conn,
    reader: Option<UserId>,
    found: RecordSelect,
    bounds: RowReadLimits,
) -> Result<Vec<ProposalColumns>> {
    found.select(read_facts(reader)).load_page(connection, bounds).await.map_db_error()
}

/// The authors of a proposal in the order of joining.
fn authors() -> SqlTemplate<dialect::NumberList> {
    let [begin, end] = dialect::list_of("proposal_authors.user_id", Some("proposal_authors.position"));
    let of_this = "FROM proposal_authors WHERE proposal_authors.proposal_id = proposals.id";
    SqlTemplate::new(format!("{begin} {of_this}{end}"), Vec::new())
}
