//! Lists of proposals: the published ones with the reader's own drafts, and the hidden ones.

use super::reading::{Facts, PROPOSALS, any, load, published_or_own, satisfies, shown};
use crate::columns::Condition;
use crate::engine::Conn;
use crate::page_rows::Bounds;
use crate::schema::{proposal_authors, proposals, votes};
use crate::session::Session;
use crate::tables::component_places;
use crate::tables::listing::{self, ListedTable, Listing, Members};
use crate::tables::planner::Checked;
use crate::tables::select::Records;
use crate::tables::visible_components::VisibleComponents;
use async_trait::async_trait;
use civitas_kernel::{
    ComponentId, Order, OrganizationId, Page, PageRequest, ProposalId, ReadContext, Result, UserId,
};
use civitas_proposals::{HiddenProposals, ProposalDetail, ProposalField, ProposalFilter, ProposalQuery};
use civitas_spaces::ComponentManifest;
use diesel::prelude::*;

/// The members of a list.
pub(super) struct List<'a> {
    read_context: ReadContext,
    query: &'a ProposalQuery,
    components: VisibleComponents,
    /// The author whose drafts are members.
    author: Option<UserId>,
    bounds: Bounds,
}

impl<'a> List<'a> {
    /// Reads the visible components.
    pub(super) async fn open(
        session: &Session,
        read_context: ReadContext,
        query: &'a ProposalQuery,
    ) -> Result<Self> {
        let kind = Some(ComponentManifest::Proposals);
        let components = VisibleComponents::load(session, read_context, query.within, kind).await?;
        let has_drafts = query.filters.iter().all(|f| f.field != ProposalField::VotedWeight);
        let author = read_context.participant.filter(|_| has_drafts);
        Ok(Self { read_context, query, components, author, bounds: session.bounds })
    }

    /// Whether drafts may be members.
    pub(super) fn has_drafts(&self) -> bool {
        self.author.is_some()
    }

    /// Whether proposals of a component are members. Without filters all are members that the reader sees.
    pub(super) fn may_have(&self, component: ComponentId) -> bool {
        self.components.has(component.0)
    }

    /// Whether a proposal is a member.
    pub(super) async fn has(&self, connection: &mut Conn, id: ProposalId) -> Result<bool> {
        let this = self.filtered(self.by_id())?.filter(proposals::id.eq(id.0));
        let found = this.filter(published_or_own(self.author)).load_ids(connection).await?;
        Ok(!found.is_empty())
    }

    /// Proposals, published and drafts, that are shown and satisfy the filters.
    fn filtered(&self, of_components: Condition<()>) -> Result<Records> {
        let mut found = PROPOSALS.records().filter(of_components).filter(shown());
        for filter in &self.query.filters {
            found = found.filter(satisfies(self.read_context.participant, filter)?);
        }
        if let Some(user) = self.voter() {
            let voted = votes::table.filter(votes::user_id.eq(user.0)).select(votes::proposal_id);
            found = found.filter(proposals::id.eq_any(voted));
        }
        Ok(found)
    }

    /// The user whose votes all members have: they are found by these votes, which are few, and not by the list.
    fn voter(&self) -> Option<UserId> {
        let needs_vote = |filter: &ProposalFilter| {
            filter.field == ProposalField::VotedWeight && !filter.condition.holds_for_null()
        };
        self.read_context.participant.filter(|_| self.query.filters.iter().any(needs_vote))
    }

    fn by_id(&self) -> Condition<()> {
        self.components.contain_records_by_id(PROPOSALS.name, Checked::Few)
    }
}

impl Members for List<'_> {
    fn table(&self) -> ListedTable {
        PROPOSALS
    }

    fn components(&self) -> &VisibleComponents {
        &self.components
    }

    fn dated(&self, checked: Checked) -> Result<Records> {
        // With filters, all rows may be checked for the first ones in an order.
        let checked = if self.query.filters.is_empty() { checked } else { Checked::Many };
        let of_components = match self.voter() {
            Some(_) => self.by_id(),
            None => self.components.contain_records(PROPOSALS.name, checked),
        };
        Ok(self.filtered(of_components)?.filter(proposals::published_at.is_not_null()))
    }

    fn drafts(&self) -> Result<Option<Records>> {
        let Some(user) = self.author else { return Ok(None) };
        let own = proposal_authors::table
            .filter(proposal_authors::user_id.eq(user.0))
            .select(proposal_authors::proposal_id);
        let drafts = self.filtered(self.by_id())?.filter(proposals::id.eq_any(own));
        Ok(Some(drafts.filter(proposals::published_at.is_null())))
    }

    fn are_few(&self) -> bool {
        self.voter().is_some()
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
        return Ok(Page { items: Vec::new(), has_more: false });
    }
    let is_long = !query.filters.is_empty() || query.order == Order::Random;
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
    Ok(Page { items: items.collect(), has_more: page.has_more })
}

/// The proposal of this id for an anonymous viewer, visible or not.
pub(super) async fn detail(
    session: &Session,
    organization: OrganizationId,
    id: ProposalId,
) -> Result<Option<ProposalDetail>> {
    let items = load(&mut *session.read().await?, None, any(organization, id), Bounds::NONE).await?;
    let found = details(session, organization, None, Page { items, has_more: false }).await?;
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
    for filter in &list.filters {
        found = found.filter(satisfies(None, filter)?);
    }
    for column in ["hidden_at", "id"] {
        found = found.order(PROPOSALS.column(column), list.direction);
    }
    let rows = load(&mut *session.read_long().await?, None, found.limited(page), Bounds::NONE).await?;
    details(session, organization, None, Page::cut(rows, page)).await
}
