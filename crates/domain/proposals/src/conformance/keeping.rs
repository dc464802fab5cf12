//! Writes: what is stored, what is refused.

use super::{ALL, NOW, World, draft, everything, published, text, within};
use crate::{PROPOSAL_FIELDS, Proposal, ProposalQuery, ProposalState, Vote};
use civitas_kernel::filter::{RawFilter, RawValue, read};
use civitas_kernel::{Change, Direction, Error, Locale, ProposalId, Result, StateId, Within};
use serde_json::json;
use time::Duration;

/// What is kept comes back, member by member; so does its change.
pub async fn keeps_every_member(world: World<'_>) -> Result<()> {
    let at = |seconds| Some(NOW + Duration::seconds(seconds));
    let state = ProposalState {
        component: world.ideas,
        token: "in_doubt".to_owned(),
        title: [(Locale::FR, "À voir".to_owned())].into(),
        bg_color: Some("#fff".to_owned()),
        text_color: Some("black".to_owned()),
    };
    let state_id = world.states.add(world.mine, &state).await?;
    assert_eq!(world.states.find(world.mine, state_id).await?.as_ref(), Some(&state));
    let unusual = Proposal {
        title: [(Locale::EN, "Trees".to_owned()), (Locale::FR, "Arbres".to_owned())].into(),
        body: [(Locale::ES, String::new())].into(),
        authors: vec![world.otto, world.nora],
        client: Some(world.client),
        published_at: at(1),
        state: Some(state_id),
        state_published_at: at(2),
        withdrawn_at: at(3),
        hidden_at: at(4),
        deleted_at: at(5),
        scope_id: Some(3),
        extended_data: json!({"a": [null, {"é": 1.5}]}).as_object().cloned().unwrap_or_default(),
        updated_at: NOW + Duration::days(1),
        ..Proposal::draft(world.ideas, NOW)
    };
    let id = world.add(&unusual).await?;
    assert_eq!(world.proposals.find(world.mine, id).await?.as_ref(), Some(&unusual));
    let plain = Proposal { authors: vec![world.nora], ..draft(world.wishes, world.nora) };
    world.save(id, plain.clone()).await?;
    assert_eq!(world.proposals.find(world.mine, id).await?, Some(plain));
    world.save(id, published(world.ideas)).await?;

    let vote = Vote {
        proposal: id,
        user: world.nora,
        weight: 3,
        temporary: true,
        created_at: NOW,
        updated_at: NOW + Duration::hours(1),
    };
    let vote_id = world.votes.add(world.mine, &vote).await?.ok_or(Error::NotFound)?;
    let of_nora = async || world.votes.find_of_user(world.mine, id, world.nora).await;
    assert_eq!(of_nora().await?, Some((vote_id, vote.clone())));
    let changed = Vote { weight: 0, temporary: false, updated_at: NOW, ..vote };
    world.votes.save(world.mine, vote_id, &changed).await?;
    assert_eq!(of_nora().await?, Some((vote_id, changed)));
    Ok(())
}

/// No organization sees or changes another's proposals, states and votes.
pub async fn keeps_organizations_apart(world: World<'_>) -> Result<()> {
    let other = world.other;
    let id = world.add(&published(world.ideas)).await?;
    let vote = world.vote(id, world.nora, 1).await?;
    let (state, kept) =
        world.states.find_by_token(world.mine, world.ideas, "accepted").await?.ok_or(Error::NotFound)?;
    let mut foreign = world.of(world.admin);
    foreign.organization = other;
    for query in [ProposalQuery::default(), everything(world.ideas, Direction::Descending)] {
        assert_eq!(world.proposals.list(foreign, &query, ALL).await?.items, []);
        assert_eq!(world.proposals.neighbours(foreign, &query, id).await?, crate::Neighbours::default());
    }
    assert_eq!(world.proposals.find_visible(foreign, id, Within::default()).await?, None);
    assert_eq!(world.proposals.find(other, id).await?, None);
    assert_eq!(world.proposals.detail(other, id).await?, None);
    assert_eq!(world.proposals.page_after(other, None, 9).await?, []);
    assert_eq!(world.proposals.voting_statuses(other, world.nora, world.client, &[world.ideas]).await?, []);
    assert_eq!(world.components.find(foreign, world.ideas).await?, None);
    assert_eq!(world.states.find(other, state).await?, None);
    assert_eq!(world.states.find_by_token(other, world.ideas, "accepted").await?, None);
    assert_eq!(world.votes.find_visible(foreign, vote, Within::default()).await?, None);
    assert_eq!(world.votes.list(foreign, Within::default(), &[], ALL).await?.items, []);
    assert_eq!(world.votes.count_of_user(other, world.nora, world.ideas).await?, 0);
    assert!(!world.votes.has(other, id, world.nora).await?);
    assert_eq!(world.votes.page_after(other, None, 9).await?, []);

    let stolen = world.proposals.save(other, id, Change::quiet(published(world.ideas))).await;
    assert!(matches!(stolen, Err(Error::NotFound)));
    assert!(matches!(world.states.save(other, state, &kept).await, Err(Error::NotFound)));
    world.proposals.remove(other, id, NOW).await?;
    world.votes.remove(other, vote, NOW).await?;
    assert!(world.votes.find_visible(world.of(world.nora), vote, Within::default()).await?.is_some());
    let unknown = world.save(ProposalId(i64::MAX), published(world.ideas)).await;
    assert!(matches!(unknown, Err(Error::NotFound)));
    Ok(())
}

/// A user begins one draft in a component: another is refused until the first is published or gone, whoever asks.
pub async fn keeps_one_draft_of_a_user(world: World<'_>) -> Result<()> {
    let (mine, nora) = (world.mine, world.nora);
    let mine_of = |component| draft(component, nora);
    let has = async || world.proposals.has_draft(mine, nora, world.ideas).await;
    assert!(!has().await?);
    let first = world.add(&mine_of(world.ideas)).await?;
    assert!(has().await?);
    let by_client = Proposal { client: Some(world.client), ..mine_of(world.ideas) };
    assert_eq!(world.proposals.add(mine, &by_client, &[]).await?, None);
    world.add(&mine_of(world.wishes)).await?;
    world.add(&draft(world.ideas, world.otto)).await?;
    world.add(&Proposal::draft(world.ideas, NOW)).await?;
    world.add(&Proposal::draft(world.ideas, NOW)).await?;

    world.save(first, Proposal { published_at: Some(NOW), ..mine_of(world.ideas) }).await?;
    assert!(!has().await?);
    let second = world.add(&mine_of(world.ideas)).await?;
    let back = world.save(first, mine_of(world.ideas)).await;
    assert!(matches!(back, Err(Error::Rejected(_))), "there is a draft meanwhile");
    world.save(second, Proposal { deleted_at: Some(NOW), ..mine_of(world.ideas) }).await?;
    assert!(!has().await?, "a deleted draft is none");
    let third = world.add(&mine_of(world.ideas)).await?;
    world.proposals.remove(mine, third, NOW).await?;
    assert_eq!(world.proposals.find(mine, third).await?, None);
    world.add(&mine_of(world.ideas)).await?;
    // Who joined another's draft has one too, though the place of the first author is free.
    let joined =
        Proposal { authors: vec![world.admin, world.otto], ..Proposal::draft(world.transparent, NOW) };
    world.add(&joined).await?;
    assert!(world.proposals.has_draft(mine, world.otto, world.transparent).await?);
    Ok(())
}

/// What a user has in a component is counted by authorship, once per proposal, drafts left out.
pub async fn knows_the_author_by_place(world: World<'_>) -> Result<()> {
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
    for token in ProposalState::BUILT_IN {
        let found = world.states.find_by_token(mine, ideas, token).await?;
        built_in.push(found.ok_or(Error::NotFound)?);
        assert_eq!(world.states.find_by_token(mine, world.blog, token).await?, None);
    }
    let titles: Vec<_> = built_in.iter().filter_map(|(_, state)| state.title.get(Locale::EN)).collect();
    assert_eq!(titles, ["Not answered", "Evaluating", "Accepted", "Rejected"]);
    assert!(built_in.iter().all(|(_, state)| state.title.iter().count() == 3));
    let of_ideas = world.states.page_after(mine, None, 100).await?;
    assert!(built_in.iter().all(|state| of_ideas.contains(state)));

    let (accepted, state) = built_in[2].clone();
    assert!(matches!(world.states.add(mine, &state).await, Err(Error::Rejected(_))));
    let taken = ProposalState { token: "rejected".to_owned(), ..state.clone() };
    assert!(matches!(world.states.save(mine, accepted, &taken).await, Err(Error::Rejected(_))));
    let answered = Proposal { state: Some(accepted), state_published_at: Some(NOW), ..published(ideas) };
    let id = world.add(&answered).await?;
    let hidden_answer = Proposal { state_published_at: None, ..answered };
    world.add(&hidden_answer).await?;
    let where_state = async |token: &str| {
        let raw = RawFilter(vec![("state".to_owned(), RawValue::One(token.to_owned()))]);
        let filters = read(PROPOSAL_FIELDS, &raw)?;
        let query = ProposalQuery { within: within(ideas), filters, ..ProposalQuery::default() };
        world.list(world.of(world.nora), &query).await
    };
    assert_eq!(where_state("accepted").await?, [id]);
    let renamed = ProposalState { token: "adopted".to_owned(), title: text("Adopted"), ..state };
    world.states.save(mine, accepted, &renamed).await?;
    assert_eq!((where_state("accepted").await?, where_state("adopted").await?), (vec![], vec![id]));
    assert_eq!(world.find(world.of(world.nora), id).await?.state.token(), "adopted");
    Ok(())
}
