//! Visibility of proposals.

use super::{ALL, NOW, World, draft, everything, in_component, published};
use crate::{Proposal, ProposalDetail, PublicState, VotingManifest};
use civitas_kernel::records::conformance::replace;
use civitas_kernel::{Direction, Error, LocationFilter, ProposalId, ReadContext, Result, SpaceKind, Viewer};
use time::Duration;

/// Whether the proposal is found, listed, and found in its component.
async fn found_by_each_read(
    world: &World<'_>,
    read_context: ReadContext,
    id: ProposalId,
    proposal: &Proposal,
) -> Result<[bool; 3]> {
    let found = world.proposals.find_visible(read_context, id, LocationFilter::default()).await?.is_some();
    let query = everything(proposal.component, Direction::Ascending);
    let listed = world.list(read_context, &query).await?.contains(&id);
    let inside =
        world.proposals.find_visible(read_context, id, in_component(proposal.component)).await?.is_some();
    Ok([found, listed, inside])
}

/// Published proposals in visible components are visible to all who see those, drafts to their authors, hidden or
/// deleted ones to no viewer. A service token has no drafts.
pub async fn shows_what_is_visible(world: World<'_>) -> Result<()> {
    let [as_admin, as_public] = world.services();
    let (nora, otto, admin) = (
        world.read_context_of(world.nora),
        world.read_context_of(world.otto),
        world.read_context_of(world.admin),
    );
    let everybody = vec![as_admin, as_public, nora, otto, admin];
    let of_otto = Proposal { authors: vec![world.admin, world.otto], ..Proposal::draft(world.wishes, NOW) };
    for (proposal, expected) in [
        (published(world.ideas), everybody.clone()),
        (Proposal { withdrawn_at: Some(NOW), ..published(world.ideas) }, everybody),
        (Proposal { hidden_at: Some(NOW), ..published(world.ideas) }, vec![]),
        (Proposal { deleted_at: Some(NOW), ..published(world.ideas) }, vec![]),
        (published(world.unpublished), vec![as_admin, admin]),
        (draft(world.ideas, world.nora), vec![nora]),
        (Proposal { hidden_at: Some(NOW), ..draft(world.wishes, world.nora) }, vec![]),
        (draft(world.unpublished, world.nora), vec![]),
        (Proposal { client: Some(world.client), ..of_otto }, vec![otto, admin]),
        (Proposal::draft(world.ideas, NOW), vec![]),
    ] {
        let id = world.add(&proposal).await?;
        for read_context in [as_admin, as_public, nora, otto, admin] {
            let sees = expected.contains(&read_context);
            assert_eq!(
                found_by_each_read(&world, read_context, id, &proposal).await?,
                [sees; 3],
                "{read_context:?} of {proposal:?}"
            );
        }
    }
    let (id, elsewhere) = (world.add(&published(world.ideas)).await?, in_component(world.wishes));
    assert_eq!(world.proposals.find_visible(nora, id, elsewhere).await?, None);
    for (kind, number, inside) in [
        (Some(SpaceKind::ParticipatoryProcesses), None, true),
        (Some(SpaceKind::Assemblies), None, false),
        (None, Some(world.space.id), true),
        (None, Some(world.space.id + 100), false),
    ] {
        let part = LocationFilter { space_kind: kind, space_id: number, component: None };
        assert_eq!(world.proposals.find_visible(nora, id, part).await?.is_some(), inside, "{part:?}");
    }
    Ok(())
}

/// A draft is found by its author through the client that created it, until it is published.
pub async fn finds_drafts_of_their_client(world: World<'_>) -> Result<()> {
    let nora = world.read_context_of(world.nora);
    let by_client = Proposal { client: Some(world.client), ..draft(world.ideas, world.nora) };
    let id = world.add(&by_client).await?;
    let find = async |read_context, client, part| {
        let found: Option<ProposalDetail> =
            world.proposals.find_draft(read_context, client, id, part).await?;
        Ok::<_, Error>(found.map(|detail| detail.proposal))
    };
    let anywhere = LocationFilter::default();
    assert_eq!(find(nora, world.client, anywhere).await?.as_ref(), Some(&by_client));
    assert_eq!(find(nora, world.client, in_component(world.wishes)).await?, None);
    assert_eq!(find(nora, world.other_client, anywhere).await?, None);
    assert_eq!(find(world.read_context_of(world.otto), world.client, anywhere).await?, None);
    assert_eq!(find(world.services()[0], world.client, anywhere).await?, None);
    world.save(id, Proposal { client: None, ..by_client.clone() }).await?;
    assert_eq!(find(nora, world.client, anywhere).await?, None, "a draft of the web application");
    world.save(id, Proposal { published_at: Some(NOW), ..by_client }).await?;
    assert_eq!(find(nora, world.client, anywhere).await?, None);
    Ok(())
}

/// All members of a proposal that a reader sees; a reader's own vote; an anonymous viewer has none.
pub async fn tells_all_of_a_proposal(world: World<'_>) -> Result<()> {
    let (accepted, _) =
        world.states.find_by_token(world.mine, world.ideas, "accepted").await?.ok_or(Error::NotFound)?;
    let proposal = Proposal {
        authors: vec![world.otto, world.nora],
        client: Some(world.client),
        state: Some(accepted),
        state_published_at: Some(NOW),
        updated_at: NOW + Duration::days(9_000),
        ..published(world.ideas)
    };
    let id = world.add(&proposal).await?;
    let nora = world.read_context_of(world.nora);
    let before = world.find(nora, id).await?;
    assert_eq!((before.id, &before.proposal), (id, &proposal));
    assert_eq!(before.client_uid.as_deref(), Some(world.client_uid));
    assert_eq!(before.state, PublicState::Answered(accepted, "accepted".to_owned()));
    assert_eq!((before.voted, before.changed_at), (None, proposal.updated_at));

    let vote = world.vote(id, world.nora, 2).await?;
    let (_, mut cast) =
        world.votes.find_visible(nora, vote, LocationFilter::default()).await?.ok_or(Error::NotFound)?;
    cast.updated_at = proposal.updated_at + Duration::days(1);
    replace(world.votes, world.mine, vote, &cast).await?;
    let after = world.find(nora, id).await?;
    assert_eq!((after.voted, after.changed_at), (Some(2), cast.updated_at));
    let listed = world.proposals.list(nora, &everything(world.ideas, Direction::Ascending), ALL).await?;
    assert_eq!(listed.items, std::slice::from_ref(&after), "the list tells the same");
    let otto = world.find(world.read_context_of(world.otto), id).await?;
    assert_eq!((otto.voted, otto.changed_at), (None, proposal.updated_at));
    assert_eq!(world.find(world.services()[0], id).await?.voted, None);

    let nobody = world.proposals.detail(world.mine, id).await?.ok_or(Error::NotFound)?;
    assert_eq!((&nobody.proposal, nobody.voted, nobody.context.participates), (&proposal, None, false));
    let states = [
        (Proposal { withdrawn_at: Some(NOW), ..proposal.clone() }, PublicState::Withdrawn),
        (Proposal { state_published_at: None, ..proposal.clone() }, PublicState::None),
        (Proposal { hidden_at: Some(NOW), state: None, ..proposal }, PublicState::None),
    ];
    for (changed, state) in states {
        world.save(id, changed).await?;
        let detail = world.proposals.detail(world.mine, id).await?.ok_or(Error::NotFound)?;
        assert_eq!(detail.state, state, "hidden or not");
    }
    Ok(())
}

/// A context is a visible proposals component, with its scope, the rules in force, and whether the reader takes part:
/// in a public space every user, in another one its members and administrators.
pub async fn shows_a_context_to_its_readers(world: World<'_>) -> Result<()> {
    let (nora, otto, admin) = (
        world.read_context_of(world.nora),
        world.read_context_of(world.otto),
        world.read_context_of(world.admin),
    );
    let [_, public] = world.services();
    let context = async |read_context, component| world.components.find(read_context, component).await;
    let ideas = context(nora, world.ideas).await?.ok_or(Error::NotFound)?;
    assert_eq!((ideas.component, ideas.space, ideas.scope), (world.ideas, world.space, Some(7)));
    assert!(ideas.rules.voting_is_open() && ideas.rules.voting_manifest == VotingManifest::Simple);
    assert_eq!((ideas.rules.vote_limit, ideas.rules.proposal_length), (3, 500));
    assert_eq!(context(nora, world.wishes).await?.and_then(|p| p.scope), Some(9));
    assert_eq!(context(nora, world.blog).await?, None);
    assert_eq!(context(nora, world.unpublished).await?, None);
    assert!(context(admin, world.unpublished).await?.is_some());
    for (read_context, component, participates) in [
        (nora, world.ideas, true),
        (public, world.ideas, false),
        (nora, world.transparent, true),
        (otto, world.transparent, false),
        (admin, world.transparent, true),
        (public, world.transparent, false),
    ] {
        let found = context(read_context, component).await?.ok_or(Error::NotFound)?;
        assert_eq!(found.participates, participates, "{:?} in {component}", read_context.viewer);
        let id = world.add(&published(component)).await?;
        assert_eq!(*world.find(read_context, id).await?.context, found, "a proposal tells the same");
        let user = match read_context.viewer {
            Viewer::Participant(user) | Viewer::Admin(user) => user,
            Viewer::Public => continue,
        };
        let voting_status =
            world.proposals.voting_statuses(world.mine, user, world.client, &[component]).await?;
        assert_eq!(voting_status[0].participates, participates, "{user} stands in {component}");
    }
    Ok(())
}
