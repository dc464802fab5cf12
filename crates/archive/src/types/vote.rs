//! `vote`: a vote of a user on a proposal. Whether it is temporary is not a member: it follows from the number of
//! votes of the user in the component (contract 06 §4.3).

use super::{
    ExportedPerson, Import, ImportContext, ImportResult, PAGE, RecordKind, StoredRecord, Timestamp, members,
};
use super::{OrganizationId, Ports, Result, async_trait};
use crate::refs::BoundedCache;
use civitas_application::minimum_votes;
use civitas_kernel::records::{RecordAdministration, Records};
use civitas_kernel::{ComponentId, Error, ProposalId, UserId, VoteId};
use civitas_proposals::{Vote, VoteStore};
use civitas_spaces::ComponentKind;
use std::collections::BTreeSet;

pub(super) struct VoteRecordType {
    /// The component of a proposal and the minimum of votes there.
    minimums: BoundedCache<ProposalId, (ComponentId, i64)>,
    /// The organizations whose votes were added together.
    unsettled: BTreeSet<OrganizationId>,
}

/// The weights that any component allows (contract 05 §3.8).
const WEIGHTS: std::ops::RangeInclusive<i64> = 0..=3;

members! { VoteRecordType, "vote", ports.votes(), VoteFields, |kind, vote: Vote| {
    proposal: parent(ProposalId),
    user: parent(UserId),
    weight: required(i64),
    created_at: required(Timestamp),
    updated_at: required(Timestamp),
}, |context| ImportedVotes(context.ports.votes())}

impl VoteRecordType {
    pub(super) fn new() -> Self {
        Self { minimums: BoundedCache::new(), unsettled: BTreeSet::new() }
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

/// Votes, with the error of an import.
struct ImportedVotes<'a>(&'a dyn VoteStore);

#[async_trait]
impl RecordAdministration<Vote> for ImportedVotes<'_> {
    fn records(&self) -> &dyn Records<Vote> {
        self.0
    }

    async fn create(&self, organization: OrganizationId, vote: &Vote) -> Result<VoteId> {
        self.0.add(organization, vote).await.map_err(|error| match error {
            Error::Rejected(_) => Error::rejected("the user has already voted on the proposal"),
            other => other,
        })
    }

    async fn create_many(&self, organization: OrganizationId, votes: &[Vote]) -> Result<Option<Vec<VoteId>>> {
        self.0.add_uncounted(organization, votes).await
    }
}

#[async_trait]
impl RecordKind for VoteRecordType {
    const IN_BATCHES: bool = true;

    async fn create(&self, import: &mut Import<'_, '_, Self>, fields: &VoteFields) -> ImportResult<Vote> {
        let proposal = import.required_ref("proposal", &fields.proposal).await?;
        let user = import.required_ref("user", &fields.user).await?;
        let now = import.context.options.now;
        Ok(Vote { proposal, user, weight: 1, temporary: false, created_at: now, updated_at: now })
    }

    fn check(&self, _: &ImportContext<'_>, vote: &mut Vote) -> ImportResult {
        if WEIGHTS.contains(&vote.weight) { Ok(()) } else { Err("weight must be between 0 and 3".into()) }
    }

    /// Makes the votes of the user in the component temporary or final by their number, where a minimum is set.
    async fn follow_up(
        &mut self,
        import: &mut Import<'_, '_, Self>,
        _: VoteId,
        before: Option<&Vote>,
        vote: &Vote,
    ) -> ImportResult {
        if before.is_some() {
            return Ok(());
        }
        let (ports, of) = (import.context.ports, import.owner);
        let (component, minimum) = self.minimum(ports, of, vote.proposal).await?;
        if minimum > 0 {
            let votes = ports.votes().count_of_user(of, vote.user, component).await?;
            ports.votes().set_temporary(of, vote.user, component, votes < minimum).await?;
        }
        Ok(())
    }

    async fn follow_up_batch(
        &mut self,
        import: &mut Import<'_, '_, Self>,
        _: &[VoteId],
        _: &[Vote],
    ) -> ImportResult {
        self.unsettled.insert(import.owner);
        Ok(())
    }

    /// Makes the votes of all users in a component temporary or final at once, and counts them.
    async fn finish(&mut self, context: &mut ImportContext<'_>) -> ImportResult {
        for of in std::mem::take(&mut self.unsettled) {
            let (mut after, mut minimums) = (None, Vec::new());
            loop {
                let page = context.ports.components().page_after(of, after, PAGE).await?;
                let Some((last, _)) = page.last() else { break };
                after = Some(*last);
                for (id, component) in &page {
                    let minimum = minimum_votes(component);
                    if component.kind == ComponentKind::Proposals && minimum > 0 {
                        minimums.push((*id, minimum));
                    }
                }
            }
            context.ports.votes().settle(of, &minimums).await?;
        }
        Ok(())
    }

    fn invalidate_cache(&mut self, name: &str) {
        if name == "component" {
            self.minimums.clear();
        }
    }

    fn belongs_to_person(&self, person: &mut ExportedPerson, (_, vote): &mut StoredRecord<Self>) -> bool {
        vote.user == person.id
    }
}
