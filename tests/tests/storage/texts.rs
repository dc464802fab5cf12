//! The texts in which words are searched are stored for records of before texts were stored.

use civitas_application::{FillPosition, Store, fill_texts, missing_texts};
use civitas_kernel::filter::FilterCondition;
use civitas_kernel::records::Change;
use civitas_kernel::testing::text;
use civitas_kernel::{Direction, OrganizationId, PageRequest, SpaceRef};
use civitas_proposals::{HiddenProposals, Proposal};
use civitas_spaces::SpaceSearch;
use civitas_tests::{World, commit};
use time::macros::datetime;
use tokio::sync::watch;

const NOW: time::OffsetDateTime = datetime!(2026-11-28 10:00 UTC);
/// More than one step stores.
const PROPOSALS: i64 = 600;

/// Adds hidden proposals, past the store: they have no texts.
async fn add_proposals(world: &World) {
    let (organization, component) = (world.fixtures.mine, world.fixtures.ideas);
    let at = "'2026-03-01 09:30:00+00:00'";
    let sql = format!(
        "INSERT INTO proposals (organization_id, component_id, title, body, extended_data, extended_data_text, \
         public_state, published_at, hidden_at, created_at, updated_at) \
         WITH RECURSIVE n (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < {PROPOSALS}) \
         SELECT {organization}, {component}, '{{\"en\": \"Große Bäume\"}}', '{{\"en\": \"<p>Old</p>\"}}', '{{}}', '{{}}', \
         '', {at}, {at}, {at}, {at} FROM n"
    );
    world.database.execute(&sql).await;
}

async fn spaces(store: &dyn Store, organization: OrganizationId, text: &str) -> Vec<SpaceRef> {
    let search = SpaceSearch { text: Some(text.to_owned()), ..SpaceSearch::default() };
    let page = store.spaces().search(organization, &search, PageRequest::new(1, 100)).await.unwrap();
    page.items.into_iter().map(|(id, _)| id).collect()
}

/// How many proposals of a page have these words.
async fn proposals(store: &dyn Store, organization: OrganizationId, words: &str) -> usize {
    let (words, direction) = (FilterCondition::words(words), Direction::Ascending);
    let list = HiddenProposals { component: None, state: None, words, direction };
    let page = store.proposals().hidden(organization, &list, PageRequest::new(1, 100)).await.unwrap();
    page.items.len()
}

async fn count_missing(store: &dyn Store) -> i64 {
    missing_texts(store).await.unwrap().iter().map(|(_, count)| count).sum()
}

async fn fill(store: &dyn Store) -> u64 {
    let (_sender, stop) = watch::channel(false);
    fill_texts(store, stop).await.unwrap()
}

#[tokio::test]
async fn records_of_before_are_found_after_a_fill_that_was_interrupted() {
    for world in World::on_both_engines().await {
        let (store, mine) = (world.store(), world.fixtures.mine);
        assert_eq!(count_missing(store).await, 0);
        add_proposals(&world).await;
        world.database.execute("DELETE FROM record_texts").await;
        let missing = count_missing(store).await;
        assert!(missing > PROPOSALS, "{missing}");
        assert_eq!(proposals(store, mine, "GROSSE baume").await, 0);
        assert!(spaces(store, world.mine, "Stréets").await.is_empty());
        let (next, stored) =
            store.missing_texts().fill(mine, FillPosition::default()).await.unwrap().unwrap();
        assert_eq!((next.0, stored), (0, 500));
        assert_eq!(count_missing(store).await, missing - 500);
        // Another process goes on.
        let again = world.database.open_again().await;
        assert_eq!(fill(&*again).await, missing.unsigned_abs() - 500);
        assert_eq!(count_missing(store).await, 0);
        assert_eq!(fill(&*again).await, 0);
        assert_eq!(proposals(store, mine, "GROSSE baume").await, 100);
        assert_eq!(proposals(store, mine, "old").await, 100, "in the body");
        let found = spaces(store, world.mine, "Stréets").await;
        assert!(found.contains(&world.space) && found.contains(&world.assembly), "{found:?}");
        assert!(found.contains(&world.conference), "{found:?}");
    }
}

/// Indexes all texts.
async fn index(store: &dyn Store) {
    while store.missing_texts().index().await.unwrap() > 0 {}
}

#[tokio::test]
async fn words_are_found_before_and_after_a_text_is_indexed_and_never_when_they_are_gone() {
    for world in World::on_both_engines().await {
        let (store, mine, ideas) = (world.store(), world.fixtures.mine, world.fixtures.ideas);
        let hidden = Proposal {
            title: text("Große Bäume"),
            published_at: Some(NOW),
            hidden_at: Some(NOW),
            ..Proposal::draft(ideas, NOW)
        };
        let id = commit(store, async |tx| tx.proposals().add(mine, &hidden).await).await.unwrap();
        let found = async |words: &str| proposals(store, mine, words).await;
        assert_eq!((found("grosse BAU").await, found("BA").await), (1, 1));
        index(store).await;
        assert_eq!((found("grosse BAU").await, found("BA").await), (1, 1));
        let change = Change::from_edit(hidden.clone(), NOW, |proposal| proposal.title = text("Kleine Bänke"));
        commit(store, async |tx| tx.proposals().save(mine, id, &change).await).await.unwrap();
        assert_eq!((found("grosse BAU").await, found("kleine").await), (0, 1));
        index(store).await;
        assert_eq!((found("grosse BAU").await, found("kleine").await), (0, 1));
        commit(store, async |tx| tx.proposals().remove(mine, id).await).await.unwrap();
        assert_eq!(found("kleine").await, 0);
        let left = world
            .database
            .number("SELECT count(*) AS number FROM record_texts WHERE title LIKE '%kleine%'")
            .await;
        assert_eq!(left, 0);
    }
}

#[tokio::test]
async fn a_text_that_was_stored_meanwhile_stays() {
    for world in World::on_both_engines().await {
        let (store, id) = (world.store(), world.space);
        world.database.execute("DELETE FROM record_texts").await;
        let space = store.spaces().find(world.mine, id).await.unwrap().unwrap();
        let change = Change::from_edit(space, NOW, |space| space.title = text("Newer name"));
        commit(store, async |tx| tx.spaces().save(world.mine, id, &change).await).await.unwrap();
        // What a step read before that.
        let stale = format!(
            "UPDATE spaces SET title = '{{\"en\": \"Stale\"}}' WHERE organization_id = {}",
            world.mine
        );
        world.database.execute(&stale).await;
        fill(store).await;
        assert_eq!(spaces(store, world.mine, "newer NAME").await, [id]);
        let others = spaces(store, world.mine, "stale").await;
        assert!(!others.contains(&id) && others.contains(&world.assembly), "{others:?}");
    }
}

#[tokio::test]
async fn a_fill_ends_when_it_is_stopped() {
    for world in World::on_both_engines().await {
        let store = world.store();
        world.database.execute("DELETE FROM record_texts").await;
        let missing = count_missing(store).await;
        let (_sender, stop) = watch::channel(true);
        assert_eq!(fill_texts(store, stop).await.unwrap(), 0);
        assert_eq!(count_missing(store).await, missing);
    }
}
