//! Votes and the voting status of users.

use super::{ALL, NOW, World, draft, in_component, published};
use crate::{Proposal, VOTE_FIELDS, Vote, VoteTally, VotingStatus};
use civitas_kernel::conformance::{check_list, read_pages};
use civitas_kernel::filter::read_filters;
use civitas_kernel::records::conformance::replace;
use civitas_kernel::testing::raw_filter;
use civitas_kernel::{Error, LocationFilter, PageRequest, ProposalId, Result, SpaceKind, VoteId};
use time::Duration;

/// A user has one vote on a proposal; after its removal there may be another one.
pub async fn keeps_one_vote_of_a_user(world: World<'_>) -> Result<()> {
    let id = world.add(&published(world.ideas)).await?;
    let vote = world.vote(id, world.nora, 1).await?;
    let again =
        Vote { proposal: id, user: world.nora, weight: 3, temporary: true, created_at: NOW, updated_at: NOW };
    assert!(matches!(world.votes.add(world.mine, &again).await, Err(Error::Rejected(_))));
    assert!(world.has_vote(world.mine, id, world.nora).await?);
    assert!(!world.has_vote(world.mine, id, world.otto).await?);
    world.vote(id, world.otto, 1).await?;
    world.votes.remove(world.mine, vote).await?;
    assert!(!world.has_vote(world.mine, id, world.nora).await?);
    world.vote(id, world.nora, 2).await?;
    let nowhere = Vote { proposal: ProposalId(i64::MAX), ..again };
    assert!(matches!(world.votes.add(world.mine, &nowhere).await, Err(Error::NotFound)));
    Ok(())
}

/// The final votes on a proposal, counted one by one. The number in its detail is the same.
async fn final_votes(world: &World<'_>, id: ProposalId) -> Result<i64> {
    let votes = world.votes.list_of_proposal(world.mine, id, ALL).await?.items;
    let counted = votes.iter().filter(|(_, vote)| !vote.temporary).count();
    let detail = world.proposals.detail(world.mine, id).await?.ok_or(Error::NotFound)?;
    assert_eq!(usize::try_from(detail.votes_count).ok(), Some(counted));
    Ok(detail.votes_count)
}

/// A user's votes are counted in their component, temporary ones too; a proposal's only when they are final.
pub async fn counts_votes(world: World<'_>) -> Result<()> {
    let mut here = Vec::new();
    for _ in 0..3 {
        let id = world.add(&published(world.ideas)).await?;
        world.vote(id, world.nora, 1).await?;
        here.push(id);
    }
    let there = world.add(&published(world.wishes)).await?;
    world.vote(there, world.nora, 1).await?;
    world.vote(here[0], world.otto, 1).await?;
    let of_nora = async |component| world.votes.count_of_user(world.mine, world.nora, component).await;
    let final_votes = async |id| final_votes(&world, id).await;
    assert_eq!((of_nora(world.ideas).await?, of_nora(world.wishes).await?), (3, 1));
    assert_eq!(final_votes(here[0]).await?, 2);
    world.votes.set_temporary(world.mine, world.nora, world.ideas, true).await?;
    assert_eq!((of_nora(world.ideas).await?, final_votes(here[0]).await?), (3, 1));
    assert_eq!((final_votes(here[1]).await?, final_votes(there).await?), (0, 1));
    world.votes.set_temporary(world.mine, world.nora, world.ideas, false).await?;
    assert_eq!(final_votes(here[0]).await?, 2);
    Ok(())
}

/// The number of final votes of a proposal follows each kind of change: casts, removals, corrections, votes that are added
/// together, and those that become final or temporary. An abstention is a vote.
pub async fn counts_final_votes_of_proposals(world: World<'_>) -> Result<()> {
    let (first, second) =
        (world.add(&published(world.ideas)).await?, world.add(&published(world.ideas)).await?);
    let vote = |proposal, user, temporary| Vote {
        proposal,
        user,
        weight: 0,
        temporary,
        created_at: NOW,
        updated_at: NOW,
    };
    let counts =
        async || Ok::<_, Error>((final_votes(&world, first).await?, final_votes(&world, second).await?));
    let cast = vote(first, world.nora, false);
    let id = world.votes.cast(world.mine, &cast, world.ideas).await?;
    assert!(world.votes.cast(world.mine, &cast, world.ideas).await.is_err());
    assert_eq!(counts().await?, (1, 0));
    let together = [
        vote(first, world.otto, true),
        vote(second, world.otto, false),
        vote(first, world.admin, false),
        vote(second, world.admin, false),
    ];
    let added = world.votes.add_many(world.mine, &together).await?.ok_or(Error::NotFound)?;
    assert_eq!(counts().await?, (2, 2));
    assert_eq!(
        world.votes.add_many(world.mine, &[vote(second, world.nora, false), cast.clone()]).await?,
        None
    );
    assert_eq!(counts().await?, (2, 2), "one is taken: none is added");
    world.votes.set_finality(world.mine, world.ideas, 2).await?;
    assert_eq!(counts().await?, (2, 2), "the one of Nora is temporary, that of Otto is final");
    replace(world.votes, world.mine, id, &vote(second, world.nora, false)).await?;
    assert_eq!(counts().await?, (2, 3), "moved and final");
    replace(world.votes, world.mine, id, &Vote { weight: 3, ..vote(second, world.nora, false) }).await?;
    assert_eq!(counts().await?, (2, 3));
    world.votes.set_finality(world.mine, world.ideas, 3).await?;
    assert_eq!(counts().await?, (0, 0));
    world.votes.set_temporary(world.mine, world.otto, world.ideas, false).await?;
    assert_eq!(counts().await?, (1, 1));
    for id in [added[0], added[2], id] {
        world.votes.remove(world.mine, id).await?;
    }
    assert_eq!(counts().await?, (0, 1));
    Ok(())
}

/// Votes of all users on visible proposals: published, neither hidden nor deleted, in a visible component.
pub async fn shows_votes_on_what_is_visible(world: World<'_>) -> Result<()> {
    let (nora, admin) = (world.read_context_of(world.nora), world.read_context_of(world.admin));
    for (proposal, of_nora, of_admin) in [
        (published(world.ideas), true, true),
        (Proposal { withdrawn_at: Some(NOW), ..published(world.ideas) }, true, true),
        (Proposal { hidden_at: Some(NOW), ..published(world.ideas) }, false, false),
        (Proposal { deleted_at: Some(NOW), ..published(world.ideas) }, false, false),
        (draft(world.ideas, world.nora), false, false),
        (published(world.unpublished), false, true),
    ] {
        let id = world.add(&proposal).await?;
        let vote = world.vote(id, world.otto, 1).await?;
        for (read_context, sees) in [(nora, of_nora), (admin, of_admin)] {
            let found = world.votes.find_visible(read_context, vote, LocationFilter::default()).await?;
            let listed = world.votes.list(read_context, LocationFilter::default(), &[], ALL).await?;
            let listed = listed.items.iter().any(|(id, _)| *id == vote);
            assert_eq!((found.is_some(), listed), (sees, sees), "{:?} on {proposal:?}", read_context.viewer);
        }
    }
    Ok(())
}

/// By voter, proposal, component and space, inside a part of the organization, by id, by pages that do not overlap.
pub async fn filters_votes(world: World<'_>) -> Result<()> {
    let (first, second) =
        (world.add(&published(world.ideas)).await?, world.add(&published(world.wishes)).await?);
    let votes = [
        world.vote(first, world.otto, 1).await?,
        world.vote(second, world.nora, 1).await?,
        world.vote(first, world.nora, 1).await?,
    ];
    let read_context = world.services()[1];
    let list = async |part, key: &str, value: String| {
        let filters = read_filters(VOTE_FIELDS, &raw_filter(key, &value))?;
        let page = world.votes.list(read_context, part, &filters, ALL).await?;
        Ok::<_, Error>(page.items.into_iter().map(|(id, _)| id).collect::<Vec<VoteId>>())
    };
    let all = LocationFilter::default();
    assert_eq!(list(all, "creator_id", world.nora.to_string()).await?, votes[1..]);
    assert_eq!(list(all, "author_id_not_eq", world.nora.to_string()).await?, votes[..1]);
    assert_eq!(list(all, "proposal_id_in", first.to_string()).await?, [votes[0], votes[2]]);
    assert_eq!(list(all, "component_id", world.wishes.to_string()).await?, votes[1..2]);
    assert_eq!(list(all, "participatory_space_id", world.space.id.to_string()).await?, votes);
    assert_eq!(list(all, "participatory_space_id_gt", world.space.id.to_string()).await?, []);
    let processes = LocationFilter { space_kind: Some(SpaceKind::ParticipatoryProcesses), ..all };
    assert_eq!(list(processes, "creator_id_present", "1".to_owned()).await?, votes);
    let assemblies = LocationFilter { space_kind: Some(SpaceKind::Assemblies), ..all };
    assert_eq!(list(assemblies, "creator_id_present", "1".to_owned()).await?, []);
    assert_eq!(list(in_component(world.ideas), "creator_id", world.nora.to_string()).await?, votes[2..]);
    assert_eq!(world.votes.find_visible(read_context, votes[1], in_component(world.ideas)).await?, None);
    let walked = read_pages(1, async |page| world.votes.list(read_context, all, &[], page).await).await?;
    assert_eq!(walked.into_iter().map(|(id, _)| id).collect::<Vec<_>>(), votes);
    assert_eq!(list(all, "weight", "1".to_owned()).await?, votes);
    assert_eq!(list(all, "id_gteq", votes[1].to_string()).await?, votes[1..]);
    check_list(async |raw, page| {
        let page = world.votes.list(read_context, all, &read_filters(VOTE_FIELDS, &raw)?, page).await?;
        Ok(page.map(|(id, vote)| (id, vote.created_at, vote.updated_at)))
    })
    .await
}

/// The voting status of a user in each component: proposals, votes, the draft of the calling client, and the remaining
/// proposals.
pub async fn tells_how_a_user_stands(world: World<'_>) -> Result<()> {
    let (mine, nora) = (world.mine, world.nora);
    let (rejected, _) =
        world.states.find_by_token(mine, world.ideas, "rejected").await?.ok_or(Error::NotFound)?;
    let own = Proposal { authors: vec![world.otto, nora], ..published(world.ideas) };
    let first = world.add(&own).await?;
    let second = world.add(&Proposal { withdrawn_at: Some(NOW), ..own }).await?;
    world.add(&published(world.ideas)).await?;
    let no = Proposal { state: Some(rejected), state_published_at: Some(NOW), ..published(world.ideas) };
    world.add(&no).await?;
    let hidden = world.add(&Proposal { hidden_at: Some(NOW), ..published(world.ideas) }).await?;
    let begun = world.add(&Proposal { client: Some(world.client), ..draft(world.ideas, nora) }).await?;
    for id in [first, second, hidden] {
        world.vote(id, nora, 1).await?;
        world.vote(id, world.otto, 1).await?;
    }
    let components = [world.ideas, world.wishes];
    let voting_statuses =
        async |client| world.proposals.voting_statuses(mine, nora, client, &components).await;
    let tally = |token: &str, proposals, voted| VoteTally { token: token.to_owned(), proposals, voted };
    let mut found = voting_statuses(world.client).await?;
    for voting_status in &mut found {
        voting_status.tallies.sort_by(|a, b| a.token.cmp(&b.token));
    }
    let ideas = VotingStatus {
        component: world.ideas,
        published: 2,
        votes: 3,
        draft: Some(begun),
        participates: true,
        tallies: vec![tally("", 2, 1), tally("rejected", 1, 0), tally("withdrawn", 1, 1)],
    };
    let wishes = VotingStatus {
        component: world.wishes,
        published: 0,
        votes: 0,
        draft: None,
        tallies: vec![],
        ..ideas.clone()
    };
    assert_eq!(found, [ideas, wishes]);
    assert_eq!(
        voting_statuses(world.other_client).await?[0].draft,
        None,
        "another client does not see the draft"
    );
    assert_eq!(world.proposals.voting_statuses(mine, nora, world.client, &[]).await?, []);
    Ok(())
}

/// The votes on a proposal are listed for administrators, the newest first, whether or not it is visible.
pub async fn lists_the_votes_on_a_proposal(world: World<'_>) -> Result<()> {
    let hidden = Proposal { hidden_at: Some(NOW), ..published(world.ideas) };
    let (id, other) = (world.add(&hidden).await?, world.add(&published(world.ideas)).await?);
    world.vote(other, world.nora, 1).await?;
    let vote = |user, temporary, seconds| {
        let at = NOW + Duration::seconds(seconds);
        Vote { proposal: id, user, weight: 1, temporary, created_at: at, updated_at: at }
    };
    let newest = world.votes.add(world.mine, &vote(world.nora, true, 2)).await?;
    let oldest = world.votes.add(world.mine, &vote(world.otto, false, 0)).await?;
    let middle = world.votes.add(world.mine, &vote(world.admin, false, 1)).await?;
    let listed = async |organization, page| {
        let page = world.votes.list_of_proposal(organization, id, page).await?;
        Ok::<_, Error>((page.items.iter().map(|(id, _)| *id).collect::<Vec<VoteId>>(), page.has_more))
    };
    assert_eq!(listed(world.mine, ALL).await?, (vec![newest, middle, oldest], false));
    assert_eq!(listed(world.mine, PageRequest::new(2, 1)).await?, (vec![middle], true));
    assert_eq!(listed(world.other, ALL).await?, (vec![], false));
    Ok(())
}
