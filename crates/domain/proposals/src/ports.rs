//! Ports: what this crate needs from outside.

use crate::{Proposal, ProposalDetail, ProposalPlace, ProposalState, Vote, VotingStatus};
use async_trait::async_trait;
use civitas_kernel::filter::{Condition, Kind, ListQuery};
use civitas_kernel::records::Records;
use civitas_kernel::{
    ClientId, ComponentId, Direction, OrganizationId, Page, PageRequest, ProposalId, ReadContext, Result,
    StateId, UserId, VoteId, Within, filter_fields, store,
};
use time::OffsetDateTime;

filter_fields! {
    /// The fields for filters of proposals (contract 06 §1.4, 01 §6.2).
    pub enum ProposalField = PROPOSAL_FIELDS, ProposalFilter {
        /// The public state token; a proposal without one has an empty token, never null.
        State: "state", Kind::Text;
        /// The weight of the reader's own vote; null without one.
        VotedWeight: "voted_weight", Kind::IntegerText;
        ExtendedData: "extended_data", Kind::ExtendedData;
        Id: "id", Kind::Integer;
        CreatedAt: "created_at", Kind::Time;
        UpdatedAt: "updated_at", Kind::Time;
        /// The time of publication; null for a draft.
        PublishedAt: "published_at", Kind::Time;
        /// The title, in any language.
        Title: "title", Kind::Text;
        /// The body, in any language.
        Body: "body", Kind::Text;
        /// Title or body.
        SearchText: "search_text" | "title_or_body", Kind::SearchText;
        Component: "component_id", Kind::Integer;
        /// The number of the space, of any kind.
        SpaceId: "participatory_space_id", Kind::Integer;
        /// The class name of the space.
        SpaceType: "participatory_space_type", Kind::Text;
        /// Any of the authors that are users.
        Author: "author_id", Kind::Integer;
        /// The number of votes that count; 0 where the component hides it, and for drafts.
        VotesCount: "votes_count" | "proposal_votes_count", Kind::Integer;
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
    pub state: Option<Condition>,
    /// Those whose title or body has these [words](Condition::words).
    pub words: Option<Condition>,
    /// Descending: the one that was hidden last comes first.
    pub direction: Direction,
}

/// What decides the place of a proposal in lists, as it was read before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
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
    pub fn position(&self) -> Position {
        let Proposal { component, published_at, .. } = self.proposal;
        Position { id: self.id, component, published_at }
    }
}

/// The neighbours of a proposal in the list of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Neighbours {
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
        async fn find_visible(&self, read_context: ReadContext, id: ProposalId, within: Within)
        -> Result<Option<ProposalDetail>>;
        /// The neighbours of a proposal that this reader sees in the list of a query; none when it is not in that list.
        async fn neighbours(&self, read_context: ReadContext, query: &ProposalQuery, position: Position)
        -> Result<Neighbours>;
        /// The proposal, if it is visible and inside the part of a query, and its neighbours in the list of the query.
        async fn find_with_neighbours(&self, read_context: ReadContext, query: &ProposalQuery, id: ProposalId)
        -> Result<Option<(ProposalDetail, Neighbours)>>;
        /// The draft of this reader, created through this client, in a visible component, inside (contract 06 §2.2).
        async fn find_draft(&self, read_context: ReadContext, client: ClientId, id: ProposalId, within: Within)
        -> Result<Option<ProposalDetail>>;
        /// The draft of [`Self::find_draft`], locked against other writers until the transaction ends. `Internal`
        /// outside a transaction.
        async fn find_draft_for_update(
            &self,
            read_context: ReadContext,
            client: ClientId,
            id: ProposalId,
            within: Within,
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
    async fn find(&self, read_context: ReadContext, component: ComponentId) -> Result<Option<ProposalPlace>>;
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
        async fn of_component(&self, organization: OrganizationId, component: ComponentId, limit: i64)
        -> Result<Vec<(StateId, ProposalState)>>;
    }
}

filter_fields! {
    /// The fields for filters of votes (contract 06 §4.4, 01 §6.2).
    pub enum VoteField = VOTE_FIELDS, VoteFilter {
        Id: "id", Kind::Integer;
        /// The weight; 0 is an abstention.
        Weight: "weight", Kind::Integer;
        CreatedAt: "created_at", Kind::Time;
        UpdatedAt: "updated_at", Kind::Time;
        User: "creator_id" | "author_id", Kind::Integer;
        Proposal: "proposal_id", Kind::Integer;
        Component: "component_id", Kind::Integer;
        /// The number of the space, of any kind.
        SpaceId: "participatory_space_id", Kind::Integer;
    }
}

store! {
    /// The store of votes. Visible means: on a published proposal, neither hidden nor deleted, in a visible component.
    pub trait VoteStore: Records<Vote> {
        /// The visible votes, by id.
        async fn list(&self, read_context: ReadContext, within: Within, filters: &[VoteFilter], page: PageRequest)
        -> Result<Page<(VoteId, Vote)>>;
        /// The vote, if it is visible and inside.
        async fn find_visible(&self, read_context: ReadContext, id: VoteId, within: Within)
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
        async fn of_proposal(&self, organization: OrganizationId, proposal: ProposalId, page: PageRequest)
        -> Result<Page<(VoteId, Vote)>>;
        /// Removes a vote.
        async fn remove(&self, organization: OrganizationId, id: VoteId) -> Result<()>;
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
