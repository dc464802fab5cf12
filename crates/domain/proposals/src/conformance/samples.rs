//! Records for the conformance tests of [`Records`](civitas_kernel::records::Records).

use super::{NOW, World, draft, published, text};
use crate::{Proposal, ProposalState, Vote};
use civitas_kernel::records::conformance::Samples;
use civitas_kernel::{Error, Locale, ProposalId, Result, StateId, VoteId};
use serde_json::json;
use time::Duration;

/// Proposals.
pub async fn proposals(world: World<'_>) -> Result<Samples<'_, Proposal>> {
    let at = |seconds| Some(NOW + Duration::seconds(seconds));
    let accepted = world.states.find_by_token(world.mine, world.ideas, "accepted").await?;
    let (accepted, _) = accepted.ok_or(Error::NotFound)?;
    let unusual = Proposal {
        title: [(Locale::EN, "Trees".to_owned()), (Locale::FR, "Arbres".to_owned())].into(),
        body: [(Locale::ES, String::new())].into(),
        authors: vec![world.otto, world.nora],
        client: Some(world.client),
        published_at: at(1),
        state: Some(accepted),
        state_published_at: at(2),
        withdrawn_at: at(3),
        hidden_at: at(4),
        deleted_at: at(5),
        scope_id: Some(3),
        extended_data: json!({"a": [null, {"é": 1.5}]}).as_object().cloned().unwrap_or_default().into(),
        updated_at: NOW + Duration::days(1),
        ..Proposal::draft(world.ideas, NOW)
    };
    let answered = Proposal { state: Some(accepted), state_published_at: at(6), ..published(world.ideas) };
    let early = Proposal { created_at: NOW - Duration::days(1), ..draft(world.wishes, world.nora) };
    let samples = [unusual, early, answered];
    Ok(Samples::new(world.proposals, [world.mine, world.other], samples, ProposalId(i64::MAX)))
}

/// States of proposals.
pub async fn states(world: World<'_>) -> Result<Samples<'_, ProposalState>> {
    let unusual = ProposalState {
        component: world.ideas,
        token: "in_doubt".to_owned(),
        title: [(Locale::FR, "À voir".to_owned())].into(),
        bg_color: Some("#fff".to_owned()),
        text_color: Some("black".to_owned()),
        updated_at: NOW + Duration::days(1),
    };
    let plain = ProposalState {
        component: world.wishes,
        token: "plain".to_owned(),
        title: text("Plain"),
        bg_color: None,
        text_color: None,
        updated_at: NOW,
    };
    let dark =
        ProposalState { token: "dark".to_owned(), bg_color: Some("black".to_owned()), ..plain.clone() };
    Ok(Samples::new(world.states, [world.mine, world.other], [unusual, plain, dark], StateId(i64::MAX)))
}

/// Votes on proposals that are added for them.
pub async fn votes(world: World<'_>) -> Result<Samples<'_, Vote>> {
    let idea = world.add(&published(world.ideas)).await?;
    let wish = world.add(&published(world.wishes)).await?;
    let plain = Vote {
        proposal: idea,
        user: world.nora,
        weight: 1,
        temporary: false,
        created_at: NOW,
        updated_at: NOW,
    };
    let heavy = Vote { weight: 3, temporary: true, updated_at: NOW + Duration::hours(1), ..plain.clone() };
    let early = Vote { user: world.otto, created_at: NOW - Duration::days(1), ..plain.clone() };
    let samples = [Vote { proposal: wish, ..heavy }, plain, early];
    Ok(Samples::new(world.votes, [world.mine, world.other], samples, VoteId(i64::MAX)))
}
