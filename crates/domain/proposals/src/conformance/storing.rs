//! Writes: stored records and errors.

use super::{ALL, NOW, World, draft, everything, in_component, published, text};
use crate::{PROPOSAL_FIELDS, Proposal, ProposalQuery, ProposalState};
use civitas_kernel::filter::read_filters;
use civitas_kernel::records::conformance::replace;
use civitas_kernel::testing::raw_filter;
use civitas_kernel::{Direction, Error, Locale, LocationFilter, Result, StateId};

/// No organization sees or changes another's proposals, states and votes.
pub async fn isolates_organizations(world: World<'_>) -> Result<()> {
    let other = world.other;
    let id = world.add(&published(world.ideas)).await?;
    let vote = world.vote(id, world.nora, 1).await?;
    let mut foreign = world.read_context_of(world.admin);
    foreign.organization = other;
    for query in [ProposalQuery::default(), everything(world.ideas, Direction::Descending)] {
        assert_eq!(world.proposals.list(foreign, &query, ALL).await?.items, []);
        assert_eq!(world.neighbours(foreign, &query, id).await?, crate::ProposalNeighbours::default());
    }
    assert_eq!(world.proposals.find_visible(foreign, id, LocationFilter::default()).await?, None);
    assert_eq!(world.proposals.detail(other, id).await?, None);
    assert_eq!(world.proposals.voting_statuses(other, world.nora, world.client, &[world.ideas]).await?, []);
    assert_eq!(world.components.find(foreign, world.ideas).await?, None);
    assert_eq!(world.states.find_by_token(other, world.ideas, "accepted").await?, None);
    assert_eq!(world.votes.find_visible(foreign, vote, LocationFilter::default()).await?, None);
    assert_eq!(world.votes.list(foreign, LocationFilter::default(), &[], ALL).await?.items, []);
    assert_eq!(world.votes.count_of_user(other, world.nora, world.ideas).await?, 0);
    assert!(!world.has_vote(other, id, world.nora).await?);
    world.proposals.remove(other, id).await?;
    world.votes.remove(other, vote).await?;
    assert!(
        world
            .votes
            .find_visible(world.read_context_of(world.nora), vote, LocationFilter::default())
            .await?
            .is_some()
    );
    Ok(())
}

/// A user has one draft in a component: another one is refused until the first is published or removed, through any
/// client.
pub async fn keeps_one_draft_of_a_user(world: World<'_>) -> Result<()> {
    let (mine, nora) = (world.mine, world.nora);
    let mine_of = |component| draft(component, nora);
    let has = async || world.proposals.has_draft(mine, nora, world.ideas).await;
    assert!(!has().await?);
    let first = world.add(&mine_of(world.ideas)).await?;
    assert!(has().await?);
    let by_client = Proposal { client: Some(world.client), ..mine_of(world.ideas) };
    assert!(matches!(world.proposals.add(mine, &by_client).await, Err(Error::Rejected(_))));
    world.add(&mine_of(world.wishes)).await?;
    world.add(&draft(world.ideas, world.otto)).await?;
    world.add(&Proposal::draft(world.ideas, NOW)).await?;
    world.add(&Proposal::draft(world.ideas, NOW)).await?;

    world.save(first, Proposal { published_at: Some(NOW), ..mine_of(world.ideas) }).await?;
    assert!(!has().await?);
    let second = world.add(&mine_of(world.ideas)).await?;
    world.save(second, Proposal { deleted_at: Some(NOW), ..mine_of(world.ideas) }).await?;
    assert!(!has().await?, "a deleted draft is none");
    let third = world.add(&mine_of(world.ideas)).await?;
    world.proposals.remove(mine, third).await?;
    assert_eq!(world.proposals.find(mine, third).await?, None);
    world.add(&mine_of(world.ideas)).await?;
    // A second author of a draft has one too, although the row of the first author is free.
    let joined =
        Proposal { authors: vec![world.admin, world.otto], ..Proposal::draft(world.transparent, NOW) };
    world.add(&joined).await?;
    assert!(world.proposals.has_draft(mine, world.otto, world.transparent).await?);
    Ok(())
}

/// A published proposal does not become a draft again when its author has another one meanwhile.
pub async fn a_published_proposal_becomes_no_second_draft(world: World<'_>) -> Result<()> {
    let mine = draft(world.ideas, world.nora);
    let first = world.add(&Proposal { published_at: Some(NOW), ..mine.clone() }).await?;
    world.add(&mine).await?;
    assert!(matches!(world.save(first, mine).await, Err(Error::Rejected(_))));
    Ok(())
}

/// The proposals of a user in a component are counted by authorship, once per proposal, without drafts.
pub async fn knows_the_author_by_position(world: World<'_>) -> Result<()> {
    let of = |authors| Proposal { authors, ..published(world.ideas) };
    world.add(&of(vec![world.nora, world.otto])).await?;
    world.add(&of(vec![world.otto, world.nora])).await?;
    world.add(&Proposal { withdrawn_at: Some(NOW), ..of(vec![world.nora]) }).await?;
    world.add(&Proposal { deleted_at: Some(NOW), ..of(vec![world.nora]) }).await?;
    world.add(&draft(world.ideas, world.nora)).await?;
    world.add(&Proposal { authors: vec![world.nora], ..published(world.wishes) }).await?;
    let count = async |user| world.proposals.count_published(world.mine, user, world.ideas).await;
    assert_eq!((count(world.nora).await?, count(world.otto).await?, count(world.admin).await?), (3, 2, 0));
    Ok(())
}

/// Each proposals component has the built-in states; its tokens are unique; filters follow a new token.
pub async fn a_state_that_is_renamed_is_filtered_by_its_new_name(world: World<'_>) -> Result<()> {
    let (mine, ideas) = (world.mine, world.ideas);
    let mut built_in: Vec<(StateId, ProposalState)> = Vec::new();
    for token in ProposalState::BUILT_IN_STATES {
        let found = world.states.find_by_token(mine, ideas, token).await?;
        built_in.push(found.ok_or(Error::NotFound)?);
        assert_eq!(world.states.find_by_token(mine, world.blog, token).await?, None);
    }
    let titles: Vec<_> = built_in.iter().filter_map(|(_, state)| state.title.get(Locale::EN)).collect();
    assert_eq!(titles, ["Not answered", "Evaluating", "Accepted", "Rejected"]);
    assert!(built_in.iter().all(|(_, state)| state.title.iter().count() == 3));
    let of_ideas = world.states.page_after(mine, None, 100).await?;
    assert!(built_in.iter().all(|state| of_ideas.contains(state)));
    let mut by_token = built_in.clone();
    by_token.sort_by(|(_, one), (_, other)| one.token.cmp(&other.token));
    assert_eq!(world.states.list_of_component(mine, ideas, 100).await?, by_token);
    assert_eq!(world.states.list_of_component(mine, ideas, 2).await?, by_token[..2]);
    assert_eq!(world.states.list_of_component(mine, world.blog, 100).await?, []);
    assert_eq!(world.states.list_of_component(world.other, ideas, 100).await?, []);

    let (accepted, state) = built_in[2].clone();
    let answered = Proposal { state: Some(accepted), state_published_at: Some(NOW), ..published(ideas) };
    let id = world.add(&answered).await?;
    let hidden_answer = Proposal { state_published_at: None, ..answered };
    world.add(&hidden_answer).await?;
    let where_state = async |token: &str| {
        let filters = read_filters(PROPOSAL_FIELDS, &raw_filter("state", token))?;
        let query = ProposalQuery { within: in_component(ideas), filters, ..ProposalQuery::default() };
        world.list(world.read_context_of(world.nora), &query).await
    };
    assert_eq!(where_state("accepted").await?, [id]);
    let renamed = ProposalState { token: "adopted".to_owned(), title: text("Adopted"), ..state };
    replace(world.states, mine, accepted, &renamed).await?;
    assert_eq!((where_state("accepted").await?, where_state("adopted").await?), (vec![], vec![id]));
    assert_eq!(world.find(world.read_context_of(world.nora), id).await?.state.token(), "adopted");

    let (evaluating, state) = built_in[1].clone();
    let to = StateId(evaluating.0 + 1_000);
    assert!(!world.states.renumber(mine, accepted, to).await?, "proposals have it");
    assert!(!world.states.renumber(world.other, evaluating, to).await?);
    assert!(world.states.renumber(mine, evaluating, to).await?);
    assert_eq!(world.states.find(mine, evaluating).await?, None);
    assert_eq!(world.states.find(mine, to).await?, Some(state));
    Ok(())
}

/// A token belongs to one state of its component.
pub async fn refuses_a_token_that_is_taken(world: World<'_>) -> Result<()> {
    let found = world.states.find_by_token(world.mine, world.ideas, "accepted").await?;
    let (accepted, state) = found.ok_or(Error::NotFound)?;
    assert!(matches!(world.states.add(world.mine, &state).await, Err(Error::Rejected(_))));
    let taken = ProposalState { token: "rejected".to_owned(), ..state };
    let refused = replace(world.states, world.mine, accepted, &taken).await;
    assert!(matches!(refused, Err(Error::Rejected(_))));
    Ok(())
}
