//! Lists of proposals: the published ones with the reader's own drafts, and the hidden ones.

use super::filters::{FilterContext, condition, field};
use super::reading::{Facts, PROPOSALS, any, load, published_or_own, shown};
use crate::columns::{self, Condition};
use crate::engine::Conn;
use crate::engine::dialect::BoundIds;
use crate::filter::{Column, holds};
use crate::page_rows::Bounds;
use crate::schema::{proposal_authors, proposals};
use crate::session::Session;
use crate::tables::component_places;
use crate::tables::listing::{self, FilterCondition, ListedTable, Listing, Members};
use crate::tables::planner::Checked;
use crate::tables::select::{Key, Records};
use crate::tables::texts::{self, TextPart};
use crate::tables::visible_components::VisibleComponents;
use async_trait::async_trait;
use civitas_kernel::{
    ComponentId, Locales, Order, OrganizationId, Page, PageRequest, ProposalId, ReadContext, Result, Sort,
    SortColumn, UserId,
};
use civitas_proposals::{HiddenProposals, ProposalDetail, ProposalField, ProposalQuery};
use civitas_spaces::ComponentManifest;
use diesel::prelude::*;

/// The members of a list.
pub(super) struct List<'a> {
    read_context: ReadContext,
    query: &'a ProposalQuery,
    components: VisibleComponents,
    /// The author whose drafts are members.
    author: Option<UserId>,
    /// These drafts, where they are not apart from the other members.
    own_drafts: Vec<i64>,
    /// The components that hide the number of votes, where it is compared.
    hidden_votes: Option<BoundIds>,
    locales: Locales,
    bounds: Bounds,
}

impl<'a> List<'a> {
    /// Reads the visible components, and what the order and the filters need.
    pub(super) async fn open(
        session: &Session,
        read_context: ReadContext,
        query: &'a ProposalQuery,
    ) -> Result<Self> {
        let kind = ComponentManifest::Proposals;
        let filters = query.filters.iter();
        let places = filters.filter_map(|filter| field(filter.field)?.of_place(&filter.condition));
        let places = places.collect::<Result<_>>()?;
        let components =
            VisibleComponents::load_filtered(session, read_context, query.within, kind, places).await?;
        let has_drafts = query.filters.iter().all(|f| f.field != ProposalField::VotedWeight);
        let author = read_context.participant.filter(|_| has_drafts);
        let (locales, bounds) = (session.locales().clone(), session.bounds);
        let mut list = Self {
            read_context,
            query,
            components,
            author,
            own_drafts: Vec::new(),
            hidden_votes: None,
            locales,
            bounds,
        };
        if list.compares_votes() {
            let ids = list.components.ids();
            let places =
                component_places::of_proposals(session, read_context.organization, None, ids).await?;
            let hidden = places.into_values().filter(|place| place.rules.votes_hidden);
            let hidden: Vec<i64> = hidden.map(|place| place.component.0).collect();
            list.hidden_votes = Some(BoundIds::of(&hidden)).filter(|_| !hidden.is_empty());
        }
        if list.is_sorted()
            && let Some(user) = author
        {
            let drafts = list.drafts_of(user);
            list.own_drafts = drafts.load_ids(&mut *session.read().await?).await?;
        }
        Ok(list)
    }

    fn compares_votes(&self) -> bool {
        let by_votes = matches!(self.query.order, Order::By(Sort { column: SortColumn::Votes, .. }));
        by_votes || self.query.filters.iter().any(|filter| filter.field == ProposalField::VotesCount)
    }

    /// Whether drafts may be members, apart from the others.
    pub(super) fn has_drafts(&self) -> bool {
        self.author.is_some() && !self.is_sorted()
    }

    /// Whether proposals of a component are members. Without filters all are members that the reader sees.
    pub(super) fn may_have(&self, component: ComponentId) -> bool {
        self.components.has(component.0)
    }

    /// Whether a proposal is a member.
    pub(super) async fn has(&self, connection: &mut Conn, id: ProposalId) -> Result<bool> {
        let this = shown_in(self.by_id()).filter(proposals::id.eq(id.0));
        let this = listing::compared(this, self.filters()?).filter(published_or_own(self.author));
        Ok(!this.load_ids(connection).await?.is_empty())
    }

    /// The drafts of a user, without filters.
    fn drafts_of(&self, user: UserId) -> Records {
        let own = proposal_authors::table
            .filter(proposal_authors::user_id.eq(user.0))
            .select(proposal_authors::proposal_id);
        let drafts = shown_in(self.by_id()).filter(proposals::id.eq_any(own));
        drafts.filter(proposals::published_at.is_null())
    }

    fn by_id(&self) -> Condition<()> {
        self.components.contain_records_by_id(PROPOSALS.name, Checked::Few)
    }
}

/// Proposals of components, published and drafts, that are shown.
fn shown_in(of_components: Condition<()>) -> Records {
    PROPOSALS.records().filter(of_components).filter(shown())
}

impl Members for List<'_> {
    fn table(&self) -> ListedTable {
        PROPOSALS.sorted(self.query.order)
    }

    fn components(&self) -> &VisibleComponents {
        &self.components
    }

    fn unfiltered(&self, of_components: Condition<()>) -> Records {
        let shown = shown_in(of_components);
        if self.own_drafts.is_empty() {
            return shown.filter(proposals::published_at.is_not_null());
        }
        let own: Condition<proposals::table> = columns::any_of(proposals::id.nullable(), &self.own_drafts);
        shown.filter(proposals::published_at.is_not_null().nullable().or(own))
    }

    fn filters(&self) -> Result<Vec<FilterCondition>> {
        let context = FilterContext {
            reader: self.read_context.participant,
            hidden_votes: self.hidden_votes.as_ref(),
            locales: &self.locales,
        };
        let conditions = self.query.filters.iter().map(|filter| condition(self, &context, filter));
        conditions.filter_map(Result::transpose).collect()
    }

    fn key(&self) -> Key {
        let column = self.table().key();
        match &self.hidden_votes {
            Some(hidden) if self.table().date == "votes_count" => {
                Key::Shown { column, component: PROPOSALS.column("component_id"), hidden: hidden.clone() }
            }
            _ => column.into(),
        }
    }

    fn is_sorted(&self) -> bool {
        matches!(self.query.order, Order::By(_))
    }

    fn drafts(&self) -> Result<Option<Records>> {
        let Some(user) = self.author.filter(|_| !self.is_sorted()) else { return Ok(None) };
        Ok(Some(listing::compared(self.drafts_of(user), self.filters()?)))
    }
}

#[async_trait]
impl Listing for List<'_> {
    type Row = Facts;

    async fn load(&self, connection: &mut Conn, records: Records) -> Result<Vec<Facts>> {
        load(connection, self.read_context.participant, records, self.bounds).await
    }
}

/// One page of a list.
pub(super) async fn page(
    session: &Session,
    read_context: ReadContext,
    query: &ProposalQuery,
    page: PageRequest,
) -> Result<Page<ProposalDetail>> {
    let list = List::open(session, read_context, query).await?;
    if list.components().is_empty() {
        // No connection is needed.
        return Ok(Page::of(Vec::new(), false).with_total(page.is_counted.then_some(0)));
    }
    let is_short = query.filters.is_empty() && query.order != Order::Random && list.hidden_votes.is_none();
    let is_long = !is_short || page.is_counted;
    let page = listing::page(&list, &mut *session.read_page(page, is_long).await?, query.order, page).await?;
    details(session, read_context.organization, read_context.viewer.user(), page).await
}

/// The proposals of a page with their places.
pub(super) async fn details(
    session: &Session,
    organization: OrganizationId,
    reader: Option<UserId>,
    page: Page<Facts>,
) -> Result<Page<ProposalDetail>> {
    let mut ids: Vec<i64> = page.items.iter().map(Facts::component).collect();
    ids.sort_unstable();
    ids.dedup();
    let places = component_places::of_proposals(session, organization, reader, &ids).await?;
    let items = page.items.into_iter().filter_map(|facts| {
        let place = places.get(&facts.component())?.clone();
        Some(facts.detail(place))
    });
    Ok(Page::of(items.collect(), page.has_more).with_total(page.total))
}

/// The proposal of this id for an anonymous viewer, visible or not.
pub(super) async fn detail(
    session: &Session,
    organization: OrganizationId,
    id: ProposalId,
) -> Result<Option<ProposalDetail>> {
    let items = load(&mut *session.read().await?, None, any(organization, id), Bounds::NONE).await?;
    let found = details(session, organization, None, Page::of(items, false)).await?;
    Ok(found.items.into_iter().next())
}

/// One page of hidden proposals and drafts. The first conditions are those of the partial indexes.
pub(super) async fn hidden(
    session: &Session,
    organization: OrganizationId,
    list: &HiddenProposals,
    page: PageRequest,
) -> Result<Page<ProposalDetail>> {
    let mut found = PROPOSALS
        .records()
        .filter(proposals::organization_id.eq(organization.0))
        .filter(proposals::hidden_at.is_not_null())
        .filter(proposals::deleted_at.is_null());
    if let Some(component) = list.component {
        found = found.filter(proposals::component_id.eq(component.0));
    }
    if let Some(state) = &list.state {
        let token = Column::<proposals::table>::Ascii(Box::new(proposals::public_state.nullable()));
        found = found.filter(holds(token, state)?);
    }
    if let Some(words) = &list.words {
        found = found.filter(texts::found::<()>(PROPOSALS.name, organization, TextPart::Either, words)?);
    }
    for column in ["hidden_at", "id"] {
        found = found.order(PROPOSALS.column(column), list.direction);
    }
    let rows = load(&mut *session.read_long().await?, None, found.limited(page), Bounds::NONE).await?;
    details(session, organization, None, Page::cut(rows, page)).await
}
