//! Votes: cast, read, remove (contract 06 §4).

use crate::drafts::participation;
use crate::{ProposalContext, ProposalDetail, ProposalStore, VOTE_FIELDS, Vote, VoteStore};
use async_trait::async_trait;
use civitas_kernel::filter::{RawFilter, read_filters};
use civitas_kernel::records::Entity;
use civitas_kernel::{
    Ability, Access, CommandHandler, Ctx, Error, LocationFilter, Page, PageRequest, ProposalId, Result,
    Scope, UserId, VoteId, commands, integer,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The rights to cast and remove votes.
pub const CAST_VOTES: Access = Access::user(Scope::Proposals, &[Ability::ProposalsVote]);
/// The rights to read votes.
pub const READ_VOTES: Access =
    Access::any_of(Scope::Proposals, &[Ability::ProposalsRead, Ability::ProposalsVote]);

/// Casts a vote on a proposal.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CastVote {
    /// The proposal.
    pub proposal: ProposalId,
    /// The part of the organization to search.
    pub within: LocationFilter,
    /// The `data` of the body as sent: its `weight` is read after other checks.
    pub data: Option<Value>,
    /// Whether the answer is the proposal rather than the vote.
    pub include_proposal: bool,
}

/// A vote that was cast, and the proposal it was cast on.
#[derive(Debug)]
pub struct CastResult {
    /// The vote's id.
    pub id: VoteId,
    /// The vote.
    pub vote: Vote,
    /// The proposal, if the answer shows it.
    pub proposal: Option<ProposalDetail>,
}

/// Removes a vote.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RemoveVote {
    /// The vote.
    pub id: VoteId,
    /// The part of the organization to search.
    pub within: LocationFilter,
}

commands! {
    CastVote: "vote_proposals#create", CAST_VOTES => CastResult;
    RemoveVote: "vote_proposals#destroy", CAST_VOTES => (VoteId, Vote);
}

/// Reads and writes votes.
pub struct Votes<'a> {
    /// The store of votes.
    pub store: &'a dyn VoteStore,
    /// The proposals they are cast on.
    pub proposals: &'a dyn ProposalStore,
}

impl Votes<'_> {
    /// The visible votes of all users.
    ///
    /// # Errors
    /// `Forbidden`; `Unknown filter`, `Invalid value for filter`.
    pub async fn list(
        &self,
        ctx: &Ctx,
        within: LocationFilter,
        filter: &RawFilter,
        page: PageRequest,
    ) -> Result<Page<(VoteId, Vote)>> {
        ctx.require(&READ_VOTES)?;
        self.store.list(ctx.read_context(), within, &read_filters(VOTE_FIELDS, filter)?, page).await
    }

    /// One visible vote.
    ///
    /// # Errors
    /// `Forbidden`; `NotFound`.
    pub async fn find(&self, ctx: &Ctx, id: VoteId, within: LocationFilter) -> Result<(VoteId, Vote)> {
        ctx.require(&READ_VOTES)?;
        self.store.find_visible(ctx.read_context(), id, within).await?.ok_or(Error::NotFound)
    }

    /// Checks 1, 2, 4 and 5 of contract 06 §4.3.
    async fn open_proposal(&self, ctx: &Ctx, command: &CastVote) -> Result<ProposalDetail> {
        ctx.require(&CAST_VOTES)?;
        let found = self.proposals.find_visible(ctx.read_context(), command.proposal, command.within).await?;
        let found = found.filter(|p| p.proposal.published_at.is_some()).ok_or(Error::NotFound)?;
        voting_is_open(&found.context)?;
        Ok(found)
    }

    /// Checks 12 and 13.
    async fn limits_allow(&self, ctx: &Ctx, user: UserId, proposal: &ProposalDetail) -> Result<()> {
        let rules = &proposal.context.rules;
        if rules.vote_limit > 0 {
            let votes = self.store.count_of_user(ctx.organization, user, proposal.context.component).await?;
            if !rules.admits_vote(votes) {
                return Err(Error::rejected("Vote limit reached"));
            }
        }
        if !proposal.is_votable() || !rules.admits_final_vote(proposal.votes_count) {
            return Err(Error::rejected("Vote is invalid"));
        }
        Ok(())
    }

    /// Makes a user's votes in the component temporary or final, by their number. Returns whether they are temporary.
    async fn set_user_finality(&self, ctx: &Ctx, user: UserId, context: &ProposalContext) -> Result<bool> {
        let minimum = context.rules.minimum_votes_per_user;
        if minimum == 0 {
            return Ok(false);
        }
        let votes = self.store.count_of_user(ctx.organization, user, context.component).await?;
        let temporary = votes < minimum;
        self.store.set_temporary(ctx.organization, user, context.component, temporary).await?;
        Ok(temporary)
    }
}

#[async_trait]
impl CommandHandler<CastVote> for Votes<'_> {
    async fn check_enqueue(&self, ctx: &Ctx, command: &CastVote) -> Result<()> {
        self.open_proposal(ctx, command).await?;
        sent_weight(command.data.as_ref()).map(drop)
    }

    async fn handle(&self, ctx: &Ctx, command: CastVote) -> Result<CastResult> {
        ctx.require(&CAST_VOTES)?;
        let user = ctx.user()?.id;
        // Before all reads, so that their results stay current until the transaction ends.
        self.store.lock(ctx.organization, command.proposal, user).await?;
        let proposal = self.open_proposal(ctx, &command).await?;
        participation(proposal.context.participates)?;
        if proposal.voted.is_some() {
            return Err(Vote::key_taken_error());
        }
        let weight = accepted_weight(sent_weight(command.data.as_ref())?, &proposal.context)?;
        self.limits_allow(ctx, user, &proposal).await?;
        let vote = Vote {
            proposal: proposal.id,
            user,
            weight,
            temporary: proposal.context.rules.minimum_votes_per_user > 0,
            created_at: ctx.now,
            updated_at: ctx.now,
        };
        let id = self.store.cast(ctx.organization, &vote, proposal.context.component).await?;
        let temporary = self.set_user_finality(ctx, user, &proposal.context).await?;
        let vote = Vote { temporary, ..vote };
        let proposal = command.include_proposal.then(|| proposal.with_vote(&vote));
        Ok(CastResult { id, vote, proposal })
    }
}

#[async_trait]
impl CommandHandler<RemoveVote> for Votes<'_> {
    async fn handle(&self, ctx: &Ctx, RemoveVote { id, within }: RemoveVote) -> Result<(VoteId, Vote)> {
        ctx.require(&CAST_VOTES)?;
        let user = ctx.user()?.id;
        let (_, vote) =
            self.store.find_visible(ctx.read_context(), id, within).await?.ok_or(Error::NotFound)?;
        if vote.user != user {
            return Err(Error::Forbidden);
        }
        self.store.lock(ctx.organization, vote.proposal, user).await?;
        // Read again under the lock: of two concurrent removals, one finds no vote.
        let (_, vote) =
            self.store.find_visible(ctx.read_context(), id, within).await?.ok_or(Error::NotFound)?;
        let found =
            self.proposals.find_visible(ctx.read_context(), vote.proposal, LocationFilter::default()).await?;
        let proposal = found.ok_or(Error::NotFound)?;
        voting_is_open(&proposal.context)?;
        self.store.remove(ctx.organization, id).await?;
        self.set_user_finality(ctx, user, &proposal.context).await?;
        Ok((id, vote))
    }
}

fn voting_is_open(context: &ProposalContext) -> Result<()> {
    // As on the wire.
    if context.rules.voting_is_open() { Ok(()) } else { Err(Error::rejected("Vote are disabled")) }
}

/// Check 8: `data.weight` is present and a whole number. Digits in a text are accepted.
fn sent_weight(data: Option<&Value>) -> Result<i64> {
    let data = data.and_then(Value::as_object).ok_or_else(|| Error::missing("data"))?;
    let sent = data.get("weight").filter(|w| !w.is_null() && w.as_str() != Some(""));
    let weight = integer(sent.ok_or_else(|| Error::missing("weight"))?);
    weight.ok_or_else(|| wrong_weight("Must be an integer"))
}

/// Checks 9 to 11.
fn accepted_weight(weight: i64, context: &ProposalContext) -> Result<i64> {
    let weights = context.rules.weights();
    match weight {
        ..0 => Err(wrong_weight("Negative weight not supported")),
        0 if !context.rules.abstain => Err(wrong_weight("Abstention not supported")),
        _ if !weights.contains(&weight) => Err(wrong_weight("Weight not supported")),
        _ => Ok(weight),
    }
}

fn wrong_weight(why: &str) -> Error {
    Error::rejected(format!("Weight: error in the weight field. {why}"))
}
