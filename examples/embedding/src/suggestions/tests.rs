//! Unit tests of the program's own code, on mocks of the stores.

use super::*;
use civitas_kernel::records::Change;
use civitas_kernel::{ClientId, Locale, OrganizationId, SpaceKind, SpaceRef, Translated, UserId};
use civitas_proposals::{
    ComponentRules, MockComponentLookup, MockProposalStore, Proposal, ProposalContext, ProposalDetail,
    PublicState, WRITE_DRAFTS,
};
use time::OffsetDateTime;
use time::macros::datetime;

const NOW: OffsetDateTime = datetime!(2026-03-01 09:30 UTC);
const COMPONENT: ComponentId = ComponentId(4);
const ID: ProposalId = ProposalId(9);

fn nora() -> Ctx {
    Ctx::for_user(OrganizationId(1), ClientId(1), UserId(7), &[WRITE_DRAFTS], NOW)
}

fn context() -> ProposalContext {
    ProposalContext {
        component: COMPONENT,
        name: Translated::default(),
        space: SpaceRef { kind: SpaceKind::ParticipatoryProcesses, id: 1 },
        scope: None,
        rules: ComponentRules::default(),
        participates: true,
        changed_at: NOW,
    }
}

fn draft(title: &str) -> ProposalDetail {
    let text: Translated = [(Locale::EN, title.to_owned())].into();
    let proposal = Proposal { title: text.clone(), body: text, ..Proposal::draft(COMPONENT, NOW) };
    let (client_uid, state, voted) = (None, PublicState::None, None);
    ProposalDetail {
        id: ID,
        proposal,
        client_uid,
        state,
        voted,
        votes_count: 0,
        context: context().into(),
        changed_at: NOW,
    }
}

/// A component in which the user takes part.
fn components() -> MockComponentLookup {
    let mut components = MockComponentLookup::new();
    components.expect_find().returning(|_, _| Ok(Some(context())));
    components
}

/// A store in which the user has one draft, of this title.
fn store(title: &'static str) -> MockProposalStore {
    let mut store = MockProposalStore::new();
    store.expect_has_draft().returning(|_, _, _| Ok(false));
    store.expect_count_published().returning(|_, _, _| Ok(0));
    store.expect_add().once().returning(|_, _| Ok(ID));
    store.expect_find_draft_for_update().returning(move |_, _, _, _| Ok(Some(draft(title))));
    store
}

async fn publish_on(store: &MockProposalStore, message: &str) -> Result<ProposalId> {
    let drafts = Drafts { store, components: &components() };
    publish(&drafts, &nora(), COMPONENT, Suggestion::read(message)).await
}

#[test]
fn the_first_line_is_the_title() {
    let suggestion = Suggestion::read(" More benches in the park \n\nThere are two.\nWe need ten.\n");
    assert_eq!(suggestion.title, "More benches in the park");
    assert_eq!(suggestion.body, "There are two.\nWe need ten.");
    let short = Suggestion::read("More benches in the park");
    assert_eq!(short.title, short.body);
}

#[tokio::test]
async fn a_suggestion_is_saved_with_its_texts_and_then_published() {
    let mut store = store("An older title of it");
    let saved = |published: bool, title: &'static str| {
        move |_: &OrganizationId, id: &ProposalId, change: &Change<Proposal>| {
            let proposal = &change.after;
            *id == ID
                && proposal.published_at.is_some() == published
                && proposal.title.get(Locale::EN) == Some(title)
        }
    };
    store.expect_save().withf(saved(false, "More benches, please")).once().returning(|_, _, _| Ok(()));
    store.expect_save().withf(saved(true, "An older title of it")).once().returning(|_, _, _| Ok(()));
    assert_eq!(publish_on(&store, "More benches, please").await.unwrap(), ID);
}

#[tokio::test]
async fn a_title_that_breaks_a_rule_is_not_saved() {
    let mut store = store("An older title of it");
    store.expect_save().never();
    let refused = publish_on(&store, "Ten benches\nThere are two, we need ten.").await.unwrap_err();
    assert_eq!(explain(&refused), "Title is too short (under 15 characters).");
}

#[tokio::test]
async fn without_the_right_no_store_is_called() {
    let ctx = Ctx::for_user(OrganizationId(1), ClientId(1), UserId(7), &[], NOW);
    let drafts = Drafts { store: &MockProposalStore::new(), components: &MockComponentLookup::new() };
    let refused =
        publish(&drafts, &ctx, COMPONENT, Suggestion::read("More benches, please")).await.unwrap_err();
    assert_eq!(explain(&refused), "You may not do this here.");
}
