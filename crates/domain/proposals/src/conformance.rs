//! Conformance tests: what every implementation of the ports must pass. Each is a function that fails on a violation.

mod listing;
mod reading;
mod samples;
mod storing;
mod voting;

pub use listing::{
    filters_by_state_and_number, filters_by_votes_and_leaves_drafts_out, lists_hidden_proposals,
    lists_in_order_without_overlap, neighbours_are_those_of_the_list,
    neighbours_stay_inside_and_satisfy_the_filters,
};
pub use reading::{
    finds_drafts_of_their_client, shows_a_context_to_its_readers, shows_what_is_visible,
    tells_all_of_a_proposal,
};
pub use samples::{proposals, states, votes};
pub use storing::{
    a_published_proposal_becomes_no_second_draft, a_state_that_is_renamed_is_filtered_by_its_new_name,
    isolates_organizations, keeps_one_draft_of_a_user, knows_the_author_by_position,
    refuses_a_token_that_is_taken,
};
pub use voting::{
    counts_final_votes_of_proposals, counts_votes, filters_votes, keeps_one_vote_of_a_user,
    lists_the_votes_on_a_proposal, shows_votes_on_what_is_visible, tells_how_a_user_stands,
};

use crate::{
    ComponentLookup, Proposal, ProposalDetail, ProposalNeighbours, ProposalQuery, ProposalStore, StateStore,
    Vote, VoteStore,
};
use civitas_kernel::records::conformance::replace;
use civitas_kernel::testing::{ALL, in_component, service_read_context, text, viewer_read_context};
use civitas_kernel::{
    ClientId, ComponentId, Direction, Error, LocationFilter, Order, OrganizationId, ProposalId, ReadContext,
    Result, SpaceRef, UserId, Viewer, VoteId, conformance_world,
};
use time::OffsetDateTime;
use time::macros::datetime;

conformance_world! {
    /// The stores, two existing organizations, and their contents.
    pub struct World {
        ports(proposals: ProposalStore, components: ComponentLookup, states: StateStore, votes: VoteStore)
        /// An anonymous viewer.
        nora: UserId,
        /// Another user.
        otto: UserId,
        /// An administrator.
        admin: UserId,
        /// An API client.
        client: ClientId,
        /// Its public name.
        client_uid: &'static str,
        /// Another one.
        other_client: ClientId,
        /// A public, published process of the first organization.
        space: SpaceRef,
        /// A published proposals component there, with `votes_enabled` in its active step, `vote_limit` 3, and no scope
        /// where the space's is 7.
        ideas: ComponentId,
        /// Another one, with scope 9.
        wishes: ComponentId,
        /// An unpublished one.
        unpublished: ComponentId,
        /// A published one of a transparent assembly of which Nora is a member.
        transparent: ComponentId,
        /// A published component of another kind.
        blog: ComponentId,
    }
}

const NOW: OffsetDateTime = datetime!(2026-03-01 09:30:00.123456 UTC);

/// A published, official proposal.
fn published(component: ComponentId) -> Proposal {
    Proposal { published_at: Some(NOW), ..Proposal::draft(component, NOW) }
}

/// A draft of one author.
fn draft(component: ComponentId, author: UserId) -> Proposal {
    Proposal { authors: vec![author], ..Proposal::draft(component, NOW) }
}

impl World<'_> {
    async fn add(&self, proposal: &Proposal) -> Result<ProposalId> {
        self.proposals.add(self.mine, proposal).await
    }

    async fn save(&self, id: ProposalId, after: Proposal) -> Result<()> {
        replace(self.proposals, self.mine, id, &after).await
    }

    async fn vote(&self, proposal: ProposalId, user: UserId, weight: i64) -> Result<VoteId> {
        let vote = Vote { proposal, user, weight, temporary: false, created_at: NOW, updated_at: NOW };
        self.votes.add(self.mine, &vote).await
    }

    /// Whether a user has voted on a proposal.
    async fn has_vote(&self, of: OrganizationId, proposal: ProposalId, user: UserId) -> Result<bool> {
        let votes = self.votes.page_after(of, None, 100).await?;
        Ok(votes.iter().any(|(_, vote)| (vote.proposal, vote.user) == (proposal, user)))
    }

    /// The context of a token of this user.
    fn read_context_of(&self, user: UserId) -> ReadContext {
        let viewer = if user == self.admin { Viewer::Admin(user) } else { Viewer::Participant(user) };
        viewer_read_context(self.mine, viewer)
    }

    /// The contexts of a service token, with and without an administrator.
    fn services(&self) -> [ReadContext; 2] {
        [Viewer::Admin(self.admin), Viewer::Public].map(|viewer| service_read_context(self.mine, viewer))
    }

    async fn list(&self, read_context: ReadContext, query: &ProposalQuery) -> Result<Vec<ProposalId>> {
        Ok(ids(&self.proposals.list(read_context, query, ALL).await?.items))
    }

    /// The neighbours of a proposal in its position, also for readers who do not see it.
    async fn neighbours(
        &self,
        read_context: ReadContext,
        query: &ProposalQuery,
        id: ProposalId,
    ) -> Result<ProposalNeighbours> {
        let detail = self.proposals.detail(self.mine, id).await?.ok_or(Error::NotFound)?;
        let beside = self.proposals.neighbours(read_context, query, detail.position()).await?;
        // A reader who sees it gets the same with the proposal.
        let visible = self.proposals.find_visible(read_context, id, query.within).await?;
        let both = self.proposals.find_with_neighbours(read_context, query, id).await?;
        if query.order == Order::Random {
            assert_eq!(both.map(|(found, _)| found), visible);
        } else {
            assert_eq!(both, visible.map(|found| (found, beside)));
        }
        Ok(beside)
    }

    async fn find(&self, read_context: ReadContext, id: ProposalId) -> Result<ProposalDetail> {
        self.proposals.find_visible(read_context, id, LocationFilter::default()).await?.ok_or(Error::NotFound)
    }
}

fn ids(details: &[ProposalDetail]) -> Vec<ProposalId> {
    details.iter().map(|detail| detail.id).collect()
}

fn everything(component: ComponentId, direction: Direction) -> ProposalQuery {
    ProposalQuery { within: in_component(component), filters: Vec::new(), order: Order::Column(direction) }
}
