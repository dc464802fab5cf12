//! Ports: what this crate needs from outside.

use crate::{Proposal, ProposalContext, ProposalDetail, ProposalState, Vote, VotingStatus};
use async_trait::async_trait;
use civitas_kernel::filter::{FieldKind, FilterCondition, ListQuery};
use civitas_kernel::records::Records;
use civitas_kernel::{
    ClientId, ComponentId, Direction, LocationFilter, OrganizationId, Page, PageRequest, ProposalId,
    ReadContext, Result, StateId, UserId, VoteId, filter_fields, store,
};
use time::OffsetDateTime;

filter_fields! {
    /// The fields for filters of proposals (contract 06 §1.4, 01 §6.2).
    pub enum ProposalField = PROPOSAL_FIELDS, ProposalFilter {
        /// The public state token; a proposal without one has an empty token, never null.
        State: "state", FieldKind::Text;
        /// The weight of the reader's own vote; null without one.
        VotedWeight: "voted_weight", FieldKind::IntegerText;
        ExtendedData: "extended_data", FieldKind::ExtendedData;
        Id: "id", FieldKind::Integer;
        CreatedAt: "created_at", FieldKind::Time;
        UpdatedAt: "updated_at", FieldKind::Time;
        /// The time of publication; null for a draft.
        PublishedAt: "published_at", FieldKind::Time;
        /// The title, in any language.
        Title: "title", FieldKind::Text;
        /// The body, in any language.
        Body: "body", FieldKind::Text;
        /// Title or body.
        SearchText: "search_text" | "title_or_body", FieldKind::SearchText;
        Component: "component_id", FieldKind::Integer;
        /// The number of the space, of any kind.
        SpaceId: "participatory_space_id", FieldKind::Integer;
        /// The class name of the space.
        SpaceType: "participatory_space_type", FieldKind::Text;
        /// Any of the authors that are users.
        Author: "author_id", FieldKind::Integer;
        /// The number of votes that count; 0 where the component hides it, and for drafts.
        VotesCount: "votes_count" | "proposal_votes_count", FieldKind::Integer;
    }
}

/// The query of a list of proposals. The column of the order is `published_at`: proposals without it come last
/// ascending and first descending; ids ascend in both. A condition on `VotedWeight` leaves drafts out.
pub type ProposalQuery = ListQuery<ProposalField>;

/// A list of hidden proposals, for administrators.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HiddenProposals {
    /// Those of this component.
    pub component: Option<ComponentId>,
    /// Those whose public state token satisfies this.
    pub state: Option<FilterCondition>,
    /// Those whose title or body has these [words](Condition::words).
    pub words: Option<FilterCondition>,
    /// Descending: the one that was hidden last comes first.
    pub direction: Direction,
}

/// What decides the position of a proposal in lists, as it was read before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListPosition {
    /// The proposal.
    pub id: ProposalId,
    /// Its component.
    pub component: ComponentId,
    /// When it was published; `None` for a draft.
    pub published_at: Option<OffsetDateTime>,
}

impl ProposalDetail {
    /// Its position.
    #[must_use]
    pub fn position(&self) -> ListPosition {
        let Proposal { component, published_at, .. } = self.proposal;
        ListPosition { id: self.id, component, published_at }
    }
}

/// The neighbours of a proposal in the list of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ProposalNeighbours {
    /// The next one.
    pub next: Option<ProposalId>,
    /// The previous one; always `None` in random order.
    pub prev: Option<ProposalId>,
}

store! {
    /// The store of proposals and drafts.
    ///
    /// Visible means (contract 06 §1.3): in a visible component, neither deleted nor hidden, and published, or a draft
    /// of which the reader is an author.
    pub trait ProposalStore: Records<Proposal> {
        /// The visible proposals of a query.
        async fn list(&self, read_context: ReadContext, query: &ProposalQuery, page: PageRequest)
        -> Result<Page<ProposalDetail>>;
        /// The hidden proposals and drafts that are not deleted, as an anonymous viewer reads them, by the time they
        /// were hidden and id.
        async fn hidden(&self, organization: OrganizationId, list: &HiddenProposals, page: PageRequest)
        -> Result<Page<ProposalDetail>>;
        /// The proposal, if it is visible and inside.
        async fn find_visible(&self, read_context: ReadContext, id: ProposalId, within: LocationFilter)
        -> Result<Option<ProposalDetail>>;
        /// The neighbours of a proposal that this reader sees in the list of a query; none when it is not in that list.
        async fn neighbours(&self, read_context: ReadContext, query: &ProposalQuery, position: ListPosition)
        -> Result<ProposalNeighbours>;
        /// The proposal, if it is visible and inside the part of a query, and its neighbours in the list of the query.
        async fn find_with_neighbours(&self, read_context: ReadContext, query: &ProposalQuery, id: ProposalId)
        -> Result<Option<(ProposalDetail, ProposalNeighbours)>>;
        /// The draft of this reader, created through this client, in a visible component, inside (contract 06 §2.2).
        async fn find_draft(&self, read_context: ReadContext, client: ClientId, id: ProposalId, within: LocationFilter)
        -> Result<Option<ProposalDetail>>;
        /// The draft of [`Self::find_draft`], locked against other writers until the transaction ends. `Internal`
        /// outside a transaction.
        async fn find_draft_for_update(
            &self,
            read_context: ReadContext,
            client: ClientId,
            id: ProposalId,
            within: LocationFilter,
        ) -> Result<Option<ProposalDetail>>;
        /// The proposal as an anonymous viewer reads it, visible or not: for events.
        async fn detail(&self, organization: OrganizationId, id: ProposalId) -> Result<Option<ProposalDetail>>;
        /// Whether the user is an author of a draft in this component, created through any client.
        async fn has_draft(&self, organization: OrganizationId, user: UserId, component: ComponentId) -> Result<bool>;
        /// The user's published proposals in this component, withdrawn ones included.
        async fn count_published(&self, organization: OrganizationId, user: UserId, component: ComponentId)
        -> Result<i64>;
        /// Removes its row.
        async fn remove(&self, organization: OrganizationId, id: ProposalId) -> Result<()>;
        /// The voting status of the user in each of these components.
        async fn voting_statuses(
            &self,
            organization: OrganizationId,
            user: UserId,
            client: ClientId,
            components: &[ComponentId],
        ) -> Result<Vec<VotingStatus>>;
    }
}

/// Reads components for proposals.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait ComponentLookup: Send + Sync {
    /// The visible proposals component of this id; `None` also when it is of another kind.
    async fn find(
        &self,
        read_context: ReadContext,
        component: ComponentId,
    ) -> Result<Option<ProposalContext>>;
}

store! {
    /// The store of the states of proposals. `save` also changes the token that is stored with each proposal which has
    /// the state as public answer.
    pub trait StateStore: Records<ProposalState> {
        /// The state of this token in a component.
        async fn find_by_token(&self, organization: OrganizationId, component: ComponentId, token: &str)
        -> Result<Option<(StateId, ProposalState)>>;
        /// Gives a state another id, which must be free. False, and no change, when there is none, or proposals have it.
        async fn renumber(&self, organization: OrganizationId, id: StateId, to: StateId) -> Result<bool>;
        /// The states of a component in the order of their tokens, at most `limit`.
        async fn list_of_component(&self, organization: OrganizationId, component: ComponentId, limit: i64)
        -> Result<Vec<(StateId, ProposalState)>>;
    }
}

filter_fields! {
    /// The fields for filters of votes (contract 06 §4.4, 01 §6.2).
    pub enum VoteField = VOTE_FIELDS, VoteFilter {
        Id: "id", FieldKind::Integer;
        /// The weight; 0 is an abstention.
        Weight: "weight", FieldKind::Integer;
        CreatedAt: "created_at", FieldKind::Time;
        UpdatedAt: "updated_at", FieldKind::Time;
        User: "creator_id" | "author_id", FieldKind::Integer;
        Proposal: "proposal_id", FieldKind::Integer;
        Component: "component_id", FieldKind::Integer;
        /// The number of the space, of any kind.
        SpaceId: "participatory_space_id", FieldKind::Integer;
    }
}

store! {
    /// The store of votes. Visible means: on a published proposal, neither hidden nor deleted, in a visible component.
    pub trait VoteStore: Records<Vote> {
        /// The visible votes, by id.
        async fn list(&self, read_context: ReadContext, within: LocationFilter, filters: &[VoteFilter], page: PageRequest)
        -> Result<Page<(VoteId, Vote)>>;
        /// The vote, if it is visible and inside.
        async fn find_visible(&self, read_context: ReadContext, id: VoteId, within: LocationFilter)
        -> Result<Option<(VoteId, Vote)>>;
        /// Locks the votes of this user and on this proposal against casts and removals until the transaction ends, and
        /// the settings of the component against changes: those that are read next are current until then.
        /// `Internal` outside a transaction.
        async fn lock(&self, organization: OrganizationId, proposal: ProposalId, user: UserId) -> Result<()>;
        /// Adds a vote on a proposal of this component.
        async fn cast(&self, organization: OrganizationId, vote: &Vote, component: ComponentId) -> Result<VoteId>;
        /// The user's votes in a component, temporary ones included.
        async fn count_of_user(&self, organization: OrganizationId, user: UserId, component: ComponentId)
        -> Result<i64>;
        /// The votes on a proposal, temporary ones included, the newest first by `created_at` and id. For
        /// administrators: the proposal may be invisible.
        async fn list_of_proposal(&self, organization: OrganizationId, proposal: ProposalId, page: PageRequest)
        -> Result<Page<(VoteId, Vote)>>;
        /// Removes a vote.
        async fn remove(&self, organization: OrganizationId, id: VoteId) -> Result<()>;
        /// Adds votes as [`Records::add_many`]. [`Self::settle`] must follow before the commit: until then the numbers of
        /// votes of their proposals need not be right. `Internal` outside a transaction.
        async fn add_uncounted(&self, organization: OrganizationId, votes: &[Vote]) -> Result<Option<Vec<VoteId>>>;
        /// Makes the votes in components final or temporary, by these minimums of votes per user, then counts the final
        /// votes of each proposal of the organization. `Internal` outside a transaction.
        async fn settle(&self, organization: OrganizationId, minimums: &[(ComponentId, i64)]) -> Result<()>;
        /// Makes all votes in a component final or temporary, by this minimum of votes per user.
        async fn set_finality(&self, organization: OrganizationId, component: ComponentId, minimum: i64)
        -> Result<()>;
        /// Makes all votes of a user in a component temporary, or all final.
        async fn set_temporary(
            &self,
            organization: OrganizationId,
            user: UserId,
            component: ComponentId,
            temporary: bool,
        ) -> Result<()>;
    }
}
