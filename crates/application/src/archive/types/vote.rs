//! `vote`: a vote of a user on a proposal. Whether it is temporary is not a member: it follows from the number of
//! votes of the user in the component (contract 06 §4.3).

use super::super::refs::BoundedCache;
use super::{Found, Import, ImportContext, Imported, Moment, PAGE, RecordKind, Rows, members, required};
use super::{OrganizationId, Ports, Result, async_trait};
use crate::component_admin::minimum_votes;
use civitas_kernel::{ComponentId, Error, ProposalId, UserId, VoteId};
use civitas_proposals::Vote;

pub(super) struct Votes {
    /// The component of a proposal and the minimum of votes there.
    minimums: BoundedCache<ProposalId, (ComponentId, i64)>,
}

/// The weights that any component allows (contract 05 §3.8).
const WEIGHTS: std::ops::RangeInclusive<i64> = 0..=3;

members! { Votes, "vote", OrganizationId, VoteFields, |kind, vote: Vote| {
    proposal: parent(ProposalId),
    user: parent(UserId),
    weight: required(i64),
    created_at: required(Moment),
    updated_at: updated(Moment),
}}

impl Votes {
    pub(super) fn new() -> Self {
        Self { minimums: BoundedCache::new() }
    }

    /// The component of a proposal and the minimum of votes there.
    async fn minimum(
        &mut self,
        ports: &dyn Ports,
        of: OrganizationId,
        proposal: ProposalId,
    ) -> Result<(ComponentId, i64)> {
        if let Some(cached) = self.minimums.get(&proposal) {
            return Ok(cached);
        }
        let missing = || Error::internal("a proposal without component");
        let found = ports.proposals().find(of, proposal).await?.ok_or_else(missing)?;
        let component = ports.components().find(of, found.component).await?.ok_or_else(missing)?;
        let minimum = (found.component, minimum_votes(&component));
        self.minimums.insert(proposal, minimum);
        Ok(minimum)
    }
}

#[async_trait]
impl RecordKind for Votes {
    type Id = VoteId;

    /// The store cannot find a vote by id alone; a page of one row can.
    async fn find(&self, ports: &dyn Ports, of: OrganizationId, id: VoteId) -> Result<Option<Vote>> {
        let row = ports.votes().page_after(of, Some(VoteId(id.0 - 1)), 1).await?.pop();
        Ok(row.filter(|(found, _)| *found == id).map(|(_, vote)| vote))
    }

    async fn page(&mut self, ports: &dyn Ports, of: OrganizationId, after: Option<VoteId>) -> Rows<Self> {
        ports.votes().page_after(of, after, PAGE).await
    }

    async fn create(&self, import: &mut Import<'_, '_, Self>, fields: &VoteFields) -> Imported<Vote> {
        let proposal =
            import.context.refs.resolve(import.owner, &required("proposal", &fields.proposal)?).await?;
        let user = import.context.refs.resolve(import.owner, &required("user", &fields.user)?).await?;
        let now = import.context.options.now;
        Ok(Vote { proposal, user, weight: 1, temporary: false, created_at: now, updated_at: now })
    }

    fn check(&self, _: &ImportContext<'_>, vote: &mut Vote) -> Imported {
        if WEIGHTS.contains(&vote.weight) { Ok(()) } else { Err("weight must be between 0 and 3".into()) }
    }

    async fn add(&mut self, import: &Import<'_, '_, Self>, vote: &Vote) -> Imported<VoteId> {
        let (component, minimum) = self.minimum(import.context.ports, import.owner, vote.proposal).await?;
        let store = import.context.ports.votes();
        let id = store.add(import.owner, vote).await?.ok_or("the user has already voted on the proposal")?;
        if minimum > 0 {
            let votes = store.count_of_user(import.owner, vote.user, component).await?;
            if votes > 0 {
                store.set_temporary(import.owner, vote.user, component, votes < minimum).await?;
            }
        }
        Ok(id)
    }

    async fn save(&self, import: &Import<'_, '_, Self>, (id, _): &Found<Self>, vote: Vote) -> Imported {
        Ok(import.context.ports.votes().save(import.owner, *id, &vote).await?)
    }

    fn invalidate_cache(&mut self, name: &str) {
        if name == "component" {
            self.minimums.clear();
        }
    }
}
