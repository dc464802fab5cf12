//! Lists of proposals: the published ones with the reader's own drafts; and their filters (contract 06 §1.4, 01 §6.2).

use super::reading::{PROPOSALS, ProposalColumns, is_shown, load, own_weight, published_or_own};
use crate::columns::{self, Condition};
use crate::engine::Conn;
use crate::engine::dialect::{self, BoundIds};
use crate::filter::{FilterColumn, column_condition};
use crate::schema::{proposal_authors, proposals, votes};
use crate::session::Session;
use crate::tables::component_contexts;
use crate::tables::listing::{self, ListBase, ListCondition, ListKind, ListMembers, ListedField, Listing};
use crate::tables::planner::{CheckedRows, LimitOffset};
use crate::tables::select::{OrderKey, RecordSelect, TableColumn, correlated, in_subquery};
use crate::tables::texts::TextPart;
use async_trait::async_trait;
use civitas_kernel::filter::{self, Comparison};
use civitas_kernel::{OrganizationId, Page, ProposalId, ReadContext, Result, UserId};
use civitas_proposals::{ProposalDetail, ProposalField, ProposalQuery};
use civitas_spaces::ComponentKind;
use diesel::dsl::{case_when, not};
use diesel::prelude::*;
use diesel::sql_types::BigInt;

/// The members of a list.
pub(super) struct ProposalList {
    pub(super) base: ListBase,
    read_context: ReadContext,
    /// The author whose drafts are members.
    author: Option<UserId>,
    /// These drafts, where they are not apart from the other members.
    own_drafts: Vec<i64>,
    /// The components that hide the number of votes, where it is compared.
    pub(super) hidden_votes: Option<BoundIds>,
}

impl ProposalList {
    /// Reads the visible components, and what the order and the filters need.
    pub(super) async fn open(
        session: &Session,
        read_context: ReadContext,
        query: &ProposalQuery,
    ) -> Result<Self> {
        let kind = ListKind { table: PROPOSALS, component_kind: ComponentKind::Proposals, field };
        let base_query = (query.within, &query.filters[..], query.order);
        let base = ListBase::open(session, read_context, &kind, base_query).await?;
        let has = |field: ProposalField| query.filters.iter().any(|filter| filter.field == field);
        let author = read_context.participant.filter(|_| !has(ProposalField::VotedWeight));
        let compares_votes = base.table.order_column == "votes_count" || has(ProposalField::VotesCount);
        let mut list = Self { base, read_context, author, own_drafts: Vec::new(), hidden_votes: None };
        if compares_votes {
            let ids = list.base.components.ids();
            let contexts =
                component_contexts::load_for_proposals(session, read_context.organization, None, ids).await?;
            let hidden = contexts.into_values().filter(|context| context.rules.votes_hidden);
            let hidden: Vec<i64> = hidden.map(|context| context.component.0).collect();
            list.hidden_votes = Some(BoundIds::new(&hidden)).filter(|_| !hidden.is_empty());
        }
        if list.base.is_sorted()
            && let Some(user) = author
        {
            let drafts = list.drafts_of(user);
            list.own_drafts = drafts.load_ids(&mut *session.read().await?).await?;
        }
        Ok(list)
    }

    /// Whether drafts may be members, apart from the others.
    pub(super) fn has_drafts(&self) -> bool {
        self.author.is_some() && !self.base.is_sorted()
    }

    /// Whether a proposal is a member.
    pub(super) async fn has(&self, connection: &mut Conn, id: ProposalId) -> Result<bool> {
        let this = shown_in(self.by_id()).filter(proposals::id.eq(id.0));
        let this = listing::compared(self, this)?.filter(published_or_own(self.author));
        Ok(!this.load_ids(connection).await?.is_empty())
    }

    /// The drafts of a user, without filters.
    fn drafts_of(&self, user: UserId) -> RecordSelect {
        let own = proposal_authors::table
            .filter(proposal_authors::user_id.eq(user.0))
            .select(proposal_authors::proposal_id);
        let drafts = shown_in(self.by_id()).filter(proposals::id.eq_any(own));
        drafts.filter(proposals::published_at.is_null())
    }

    fn by_id(&self) -> Condition<()> {
        self.base.components.contain_by_id(PROPOSALS.name, CheckedRows::Few)
    }
}

/// Proposals of components, published and drafts, that are shown.
fn shown_in(of_components: Condition<()>) -> RecordSelect {
    PROPOSALS.records().filter(of_components).filter(is_shown())
}

impl ListMembers for ProposalList {
    fn base(&self) -> &ListBase {
        &self.base
    }

    fn unfiltered(&self, of_components: Condition<()>) -> RecordSelect {
        let shown = shown_in(of_components);
        if self.own_drafts.is_empty() {
            return shown.filter(proposals::published_at.is_not_null());
        }
        let own: Condition<proposals::table> = columns::any_of(proposals::id.nullable(), &self.own_drafts);
        shown.filter(proposals::published_at.is_not_null().nullable().or(own))
    }

    fn own_condition(
        &self,
        field: ListedField,
        wanted: &filter::FilterCondition,
    ) -> Result<Option<ListCondition>> {
        Ok(Some(match (field, wanted, &self.hidden_votes) {
            (ListedField::Author, filter::FilterCondition::Integer(is), _) => author(is)?,
            (ListedField::OwnVote, ..) => own_vote(self.read_context.participant, wanted)?,
            (ListedField::Rank(_), _, Some(hidden)) => shown_votes(hidden, wanted)?,
            _ => return Ok(None),
        }))
    }

    fn key(&self) -> OrderKey {
        let column = self.base.table.key();
        match &self.hidden_votes {
            Some(hidden) if self.base.table.order_column == "votes_count" => OrderKey::Shown {
                column,
                component: PROPOSALS.column("component_id"),
                hidden: hidden.clone(),
            },
            _ => column.into(),
        }
    }

    fn drafts(&self) -> Option<RecordSelect> {
        Some(self.drafts_of(self.author.filter(|_| !self.base.is_sorted())?))
    }
}

#[async_trait]
impl Listing for ProposalList {
    type Row = ProposalColumns;

    async fn load(&self, connection: &mut Conn, records: RecordSelect) -> Result<Vec<ProposalColumns>> {
        load(connection, self.read_context.participant, records, self.base.bounds).await
    }
}

/// The proposals of a page with their contexts.
pub(super) async fn load_details(
    session: &Session,
    organization: OrganizationId,
    reader: Option<UserId>,
    page: Page<ProposalColumns>,
) -> Result<Page<ProposalDetail>> {
    let mut ids: Vec<i64> = page.items.iter().map(ProposalColumns::component).collect();
    ids.sort_unstable();
    ids.dedup();
    let contexts = component_contexts::load_for_proposals(session, organization, reader, &ids).await?;
    let items = page.items.into_iter().filter_map(|facts| {
        let context = contexts.get(&facts.component())?.clone();
        Some(facts.detail(context))
    });
    Ok(Page::new(items.collect(), page.has_more).with_total(page.total))
}

/// What a field compares.
fn field(field: ProposalField) -> ListedField {
    match field {
        ProposalField::VotedWeight => ListedField::OwnVote,
        ProposalField::Author => ListedField::Author,
        ProposalField::Id => ListedField::Number("id"),
        ProposalField::State => ListedField::Ascii("public_state"),
        ProposalField::ExtendedData => ListedField::Text("extended_data_text"),
        ProposalField::CreatedAt => ListedField::IndexedTime("created_at"),
        ProposalField::UpdatedAt => ListedField::IndexedTime("updated_at"),
        ProposalField::PublishedAt => ListedField::IndexedTime("published_at"),
        ProposalField::Title => ListedField::Translated("title", TextPart::Title),
        ProposalField::Body => ListedField::Translated("body", TextPart::Body),
        ProposalField::SearchText => ListedField::Searched(TextPart::Either),
        ProposalField::Component => ListedField::Component,
        ProposalField::SpaceId => ListedField::SpaceId,
        ProposalField::SpaceType => ListedField::SpaceType,
        ProposalField::VotesCount => ListedField::Rank("votes_count"),
    }
}

/// Whether the weight of the reader's vote satisfies a condition.
fn own_vote(reader: Option<UserId>, wanted: &filter::FilterCondition) -> Result<ListCondition> {
    let weight = column_condition(FilterColumn::Integer(own_weight(reader)), wanted)?;
    Ok(match reader.filter(|_| !wanted.holds_for_null()) {
        None => ListCondition::compared(weight),
        Some(user) => ListCondition::Few(Box::new(voted(user).and(weight))),
    })
}

/// Whether the user voted on a proposal: found by the votes, which are few.
fn voted(user: UserId) -> Condition<proposals::table> {
    let voted = votes::table.filter(votes::user_id.eq(user.0)).select(votes::proposal_id);
    Box::new(proposals::id.eq_any(voted).nullable())
}

/// Whether one of the authors satisfies a condition. A negative one is satisfied by proposals with authors of which none is
/// named.
fn author(is: &Comparison<i64>) -> Result<ListCondition> {
    let some = |is: &Comparison<i64>| -> Result<Condition<proposals::table>> {
        let one = LimitOffset { limit: 1, offset: 0 };
        let of_this = authors(is)?.filter(proposal_authors::proposal_id.eq(proposals::id)).with_limit(one);
        Ok(Box::new(correlated(of_this.select(PROPOSAL)).is_not_null().nullable()))
    };
    let others = |named: Comparison<i64>| -> Result<Condition<proposals::table>> {
        Ok(Box::new(some(&Comparison::Blank(false))?.and(not(some(&named)?))))
    };
    let compared: Condition<proposals::table> = match is {
        Comparison::Eq(_) | Comparison::In(_) => {
            let found = in_subquery(PROPOSALS.column("id"), authors(is)?.select(PROPOSAL));
            let (test, found) = (Box::new(some(is)?), Box::new(found));
            return Ok(ListCondition::Sought { test, found, members: None });
        }
        Comparison::NotEq(user) => others(Comparison::Eq(*user))?,
        Comparison::NotIn(users) => others(Comparison::In(users.clone()))?,
        Comparison::Blank(true) => Box::new(not(some(&Comparison::Blank(false))?)),
        _ => some(is)?,
    };
    Ok(ListCondition::compared(compared))
}

/// The proposal of an author.
const PROPOSAL: TableColumn = TableColumn::new("proposal_authors", "proposal_id");

/// The authors whose id satisfies a condition.
fn authors(is: &Comparison<i64>) -> Result<RecordSelect> {
    let id = FilterColumn::<proposal_authors::table>::Integer(Box::new(proposal_authors::user_id.nullable()));
    Ok(RecordSelect::from_table("proposal_authors")
        .filter(column_condition(id, &filter::FilterCondition::Integer(is.clone()))?))
}

/// Whether the number of votes satisfies a condition, as it is shown: 0 in components that hide it.
fn shown_votes(hidden: &BoundIds, wanted: &filter::FilterCondition) -> Result<ListCondition> {
    let component = Box::new(proposals::component_id.nullable());
    let is_hidden = dialect::is_one_of_few::<proposals::table>(component, hidden);
    let none = 0_i64.into_sql::<BigInt>().nullable();
    let shown = case_when(is_hidden, none).otherwise(proposals::votes_count.nullable());
    let shown = FilterColumn::<proposals::table>::Integer(Box::new(shown));
    Ok(ListCondition::compared(column_condition(shown, wanted)?))
}
