//! Tests of the whole program on SQLite in memory, with real transactions.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use async_trait::async_trait;
use civitas_application::{EventCommitter, EventViews, Ports, SavedRecord, SiteSettings, Store, Transaction};
use civitas_embedding_example::{Association, Suggestion, SuggestionBox, explain, publish};
use civitas_kernel::{Ability, Ctx, Event, PageRequest, Result, Subject};
use civitas_organizations::Tenant;
use civitas_proposals::{Drafts, ProposalQuery, READ_PROPOSALS};
use serde_json::{Value, json};
use std::sync::Arc;
use time::OffsetDateTime;
use time::macros::datetime;

const NOW: OffsetDateTime = datetime!(2026-03-01 09:30 UTC);
const BENCHES: &str = "More benches in the park\nThere are two. On Sundays people sit on the grass.";

/// An association with one member, and the member's context.
async fn garden() -> (Association, SuggestionBox, Ctx) {
    let store = civitas_storage_sqlite::in_memory().await.unwrap();
    let association = Association::create(&*store, "Garden friends", NOW).await.unwrap();
    let nora = association.add_member(&*store, "nora", NOW).await.unwrap();
    let suggestions = SuggestionBox { store, component: association.component };
    (association, suggestions, association.member(nora, NOW))
}

/// How many proposals and drafts are stored, as their author sees them.
async fn stored(suggestions: &SuggestionBox, ctx: &Ctx) -> usize {
    let (query, page) = (ProposalQuery::default(), PageRequest::default());
    suggestions.store.proposals().list(ctx.read_context(), &query, page).await.unwrap().items.len()
}

#[tokio::test]
async fn a_suggestion_is_published_and_read_back() {
    let (association, suggestions, nora) = garden().await;
    suggestions.submit(&nora, BENCHES).await.unwrap();
    let otto = association.add_member(&*suggestions.store, "otto", NOW).await.unwrap();
    let later = NOW + time::Duration::HOUR;
    suggestions.submit(&association.member(otto, later), "A second key for the tool shed").await.unwrap();
    let titles = suggestions.titles(&nora).await.unwrap();
    assert_eq!(titles, ["A second key for the tool shed", "More benches in the park"]);
}

#[tokio::test]
async fn a_blank_title_is_refused_and_leaves_no_draft() {
    let (_, suggestions, nora) = garden().await;
    let refused = suggestions.submit(&nora, "\nThere are two benches in the park.").await.unwrap_err();
    assert_eq!(explain(&refused), "Title cannot be blank.");
    assert_eq!(stored(&suggestions, &nora).await, 0);
    suggestions.submit(&nora, BENCHES).await.unwrap();
    assert_eq!(stored(&suggestions, &nora).await, 1);
}

#[tokio::test]
async fn a_reader_may_not_suggest() {
    let (association, suggestions, nora) = garden().await;
    let user = nora.user().unwrap().id;
    let reader = Ctx::for_user(association.organization, association.client, user, &[READ_PROPOSALS], NOW);
    let refused = suggestions.submit(&reader, BENCHES).await.unwrap_err();
    assert_eq!(explain(&refused), "You may not do this here.");
    assert_eq!(stored(&suggestions, &nora).await, 0);
    assert_eq!(suggestions.titles(&reader).await.unwrap(), [] as [&str; 0]);
}

#[tokio::test]
async fn a_taken_nickname_is_refused() {
    let (association, suggestions, _) = garden().await;
    let refused = association.add_member(&*suggestions.store, "nora", NOW).await.unwrap_err();
    assert_eq!(explain(&refused), r#"nickname "nora" has already been taken."#);
}

/// What this program writes into the outbox: the id of the record.
struct Ids;

#[async_trait]
impl EventViews for Ids {
    async fn render_data(
        &self,
        _: &dyn Ports,
        _: &Tenant,
        _: &SiteSettings,
        event: &Event,
        _: Option<SavedRecord<'_>>,
    ) -> Result<Value> {
        Ok(match event.subject {
            Subject::Draft(id) | Subject::Proposal(id) => json!({"id": id.to_string()}),
            _ => Value::Null,
        })
    }
}

#[tokio::test]
async fn an_event_committer_stores_the_events_with_the_change() {
    let (association, suggestions, nora) = garden().await;
    let site = SiteSettings::default();
    let committer = EventCommitter::new(Arc::new(Ids), site);
    let work = async |tx: &dyn Transaction| {
        let drafts = Drafts { store: tx.proposals(), components: tx.component_lookup() };
        publish(&drafts, &nora, association.component, Suggestion::read(BENCHES)).await
    };
    let store: &dyn Store = &*suggestions.store;
    let id = committer.in_transaction(store, NOW, work).await.unwrap();
    let events = store.outbox().page_after(association.organization, None, 10).await.unwrap();
    let names: Vec<_> = events.iter().map(|event| event.name).collect();
    assert_eq!(
        names,
        [Ability::DraftProposalCreation, Ability::DraftProposalUpdate, Ability::ProposalCreation]
    );
    let last: Value = serde_json::from_str(&events[2].payload).unwrap();
    assert_eq!(last["data"], json!({"id": id.to_string()}));
}

#[tokio::test]
async fn a_plain_commit_discards_the_events() {
    let (association, suggestions, nora) = garden().await;
    suggestions.submit(&nora, BENCHES).await.unwrap();
    let events = suggestions.store.outbox().page_after(association.organization, None, 10).await.unwrap();
    assert_eq!(events, []);
}
