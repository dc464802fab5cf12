//! `vote`: a vote of a user on a proposal. Whether it is temporary is not in the file: it follows from how many
//! votes the user has in the component (contract 06 §4.3).

use super::super::export::{ExportError, PAGE, Row, Sink, every};
use super::super::failure::Fault;
use super::super::import::{Import, Put};
use super::super::members::{Moment, fixed, need, set};
use super::super::record::Record;
use super::RecordType;
use crate::Ports;
use crate::component_admin::minimum_votes;
use async_trait::async_trait;
use civitas_kernel::{ComponentId, Error, Field, OrganizationId, ProposalId, UserId, VoteId};
use civitas_proposals::Vote;
use serde::Deserialize;

pub(super) struct Votes;

/// The weights any way of voting knows (contract 05 §3.8).
const WEIGHTS: std::ops::RangeInclusive<i64> = 0..=3;

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct VoteRecord {
    proposal: Field<String>,
    user: Field<String>,
    weight: Field<i64>,
    created_at: Field<Moment>,
    updated_at: Field<Moment>,
}

impl VoteRecord {
    async fn begin(&self, import: &mut Import<'_>, organization: OrganizationId) -> Result<Vote, Fault> {
        let proposal = import.refs.proposal(organization, &need("proposal", &self.proposal)?).await?;
        let user = import.refs.user(organization, &need("user", &self.user)?).await?;
        let now = import.options.now;
        Ok(Vote { proposal, user, weight: 1, temporary: false, created_at: now, updated_at: now })
    }

    async fn apply(
        self,
        import: &mut Import<'_>,
        organization: OrganizationId,
        vote: &mut Vote,
    ) -> Result<(), Fault> {
        if let Some(proposal) = self.proposal.as_value() {
            let proposal = import.refs.proposal(organization, proposal).await?;
            fixed("proposal", &Field::Value(proposal), &vote.proposal)?;
        }
        if let Some(user) = self.user.as_value() {
            let user = import.refs.user(organization, user).await?;
            fixed("user", &Field::Value(user), &vote.user)?;
        }
        set("weight", self.weight, &mut vote.weight)?;
        set("created_at", self.created_at, &mut vote.created_at)?;
        set("updated_at", self.updated_at, &mut vote.updated_at)?;
        if WEIGHTS.contains(&vote.weight) { Ok(()) } else { Err("weight must be between 0 and 3".into()) }
    }
}

/// The component a proposal stands in, and its minimum of votes.
async fn minimum(
    import: &mut Import<'_>,
    organization: OrganizationId,
    proposal: ProposalId,
) -> Result<(ComponentId, i64), Fault> {
    if let Some(known) = import.minimums.get(&proposal) {
        return Ok(known);
    }
    let gone = || Fault::Store(Error::internal("a proposal without component"));
    let found = import.ports.proposals().find(organization, proposal).await?.ok_or_else(gone)?;
    let component = import.ports.components().find(organization, found.component).await?.ok_or_else(gone)?;
    let answer = (found.component, minimum_votes(&component));
    import.minimums.insert(proposal, answer);
    Ok(answer)
}

async fn settle(
    import: &Import<'_>,
    organization: OrganizationId,
    user: UserId,
    component: ComponentId,
    minimum: i64,
) -> Result<(), Fault> {
    let store = import.ports.votes();
    let votes = store.count_of_user(organization, user, component).await?;
    if votes > 0 {
        store.set_temporary(organization, user, component, votes < minimum).await?;
    }
    Ok(())
}

/// The vote of that row. The port finds votes by what they are about; a page of one begins at any row.
async fn find(
    import: &Import<'_>,
    organization: OrganizationId,
    id: VoteId,
) -> Result<Option<(VoteId, Vote)>, Fault> {
    let found = import.ports.votes().after(organization, Some(VoteId(id.0 - 1)), 1).await?.pop();
    Ok(found.filter(|(found, _)| *found == id))
}

#[async_trait]
impl RecordType for Votes {
    fn name(&self) -> &'static str {
        "vote"
    }

    async fn put(&self, import: &mut Import<'_>, record: Record) -> Result<Put, Fault> {
        let organization = record.home()?;
        let said: VoteRecord = record.members()?;
        let restamped = !said.updated_at.is_absent();
        let before = match record.seen_as(VoteId) {
            Some(id) => find(import, organization, id).await?,
            None => None,
        };
        let mut vote = match &before {
            Some((_, vote)) => vote.clone(),
            None => said.begin(import, organization).await?,
        };
        said.apply(import, organization, &mut vote).await?;
        let store = import.ports.votes();
        match before {
            None => {
                let (component, minimum) = minimum(import, organization, vote.proposal).await?;
                let added = store.add(organization, &vote).await?;
                let id = added.ok_or("the user has already voted on the proposal")?;
                if minimum > 0 {
                    settle(import, organization, vote.user, component, minimum).await?;
                }
                Ok(Put::created(id))
            }
            Some((id, old)) if old == vote => Ok(Put::unchanged(id)),
            Some((id, _)) => {
                if !restamped {
                    vote.updated_at = import.options.now;
                }
                store.save(organization, id, &vote).await?;
                Ok(Put::updated(id))
            }
        }
    }

    async fn export(
        &self,
        ports: &dyn Ports,
        organization: OrganizationId,
        sink: &mut Sink<'_>,
    ) -> Result<(), ExportError> {
        let page = |after| ports.votes().after(organization, after, PAGE);
        every(page, |id, vote| {
            sink.write(
                &Row::of(organization, self.name(), id)
                    .with("proposal", vote.proposal.to_string())
                    .with("user", vote.user.to_string())
                    .with("weight", vote.weight)
                    .stamps(vote.created_at, vote.updated_at),
            )
        })
        .await
    }
}
