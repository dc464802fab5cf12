//! Two organizations: texts of one that background work has not indexed yet cost the other nothing, and both find their own
//! words.

use civitas_application::index_texts;
use civitas_kernel::testing::{raw_filter, text, viewer_read_context};
use civitas_kernel::{ComponentId, OrganizationId, PageRequest, Viewer, clock, filter};
use civitas_proposals::{PROPOSAL_FIELDS, Proposal, ProposalQuery};
use civitas_spaces::{Component, ComponentKind};
use civitas_tests::{Engine, World, commit};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// The imported proposals: more than two steps index.
const IMPORTED: i64 = 250;
/// How often each of their texts is stored again: the steps for all take 15 s, far longer than the rounds.
const COPIES: i64 = 120;
/// How often the other one adds and searches.
const ROUNDS: usize = 60;

/// An organization, and a component for its proposals.
type Party = (OrganizationId, ComponentId);

/// One that has imported proposals, whose texts are indexed first, and the other one.
async fn parties(world: &World) -> [Party; 2] {
    let now = clock::now();
    let component = Component {
        published_at: Some(now),
        ..Component::new(world.space, ComponentKind::Proposals, text("Ideas"), now)
    };
    let component = world.store().components().add(world.mine, &component).await.unwrap();
    let importing = (world.mine, component);
    add(world, importing, (0..IMPORTED).map(|number| format!("Proposal number {number}"))).await;
    [importing, (world.fixtures.mine, world.fixtures.ideas)]
}

/// Adds published proposals with these titles in one transaction.
async fn add(world: &World, (organization, component): Party, titles: impl IntoIterator<Item = String>) {
    let now = clock::now();
    let proposal = |title: String| Proposal {
        title: text(&title),
        body: text("We would like to see this done before next summer."),
        published_at: Some(now),
        ..Proposal::draft(component, now)
    };
    let proposals: Vec<Proposal> = titles.into_iter().map(proposal).collect();
    let added = commit(world.store(), async |tx| tx.proposals().add_many(organization, &proposals).await);
    assert_eq!(added.await.unwrap().expect("they are stored together").len(), proposals.len());
}

/// The number of proposals whose title has these words, of which the first page has as many as it can.
async fn found(world: &World, (organization, _): Party, words: &str) -> i64 {
    let filters = filter::read_filters(PROPOSAL_FIELDS, &raw_filter("title_cont", words)).unwrap();
    let query = ProposalQuery { filters, ..ProposalQuery::default() };
    let page = PageRequest { is_counted: true, ..PageRequest::new(1, 20) };
    let list =
        world.store().proposals().list(viewer_read_context(organization, Viewer::Public), &query, page);
    let page = list.await.unwrap();
    let total = page.total.unwrap();
    assert_eq!(page.items.len(), usize::try_from(total).unwrap().min(20), "{words}");
    total
}

#[tokio::test]
async fn both_find_their_own_words_while_the_texts_of_one_are_indexed() {
    for world in World::on_both_engines().await {
        let engine = world.database.engine;
        let [importing, other] = parties(&world).await;
        for own in 1..=5 {
            add(&world, other, [format!("Proposal number {own} of the other")]).await;
            assert_eq!(found(&world, other, &format!("number {own} of")).await, 1, "{engine:?}");
            assert_eq!(found(&world, other, "proposal NUMBER").await, own, "{engine:?}");
            assert_eq!(found(&world, importing, "proposal NUMBER").await, IMPORTED, "{engine:?}");
            assert_eq!(found(&world, importing, "number 24").await, 11, "{engine:?}: 24, and 240 to 249");
            assert_eq!(found(&world, importing, "of the other").await, 0, "{engine:?}");
            let indexed = world.store().missing_texts().index().await.unwrap();
            assert_eq!(indexed > 0, engine == Engine::Sqlite, "PostgreSQL fills its indexes itself");
        }
    }
}

/// The times of a write, and of the search that finds it.
async fn timed(world: &World, party: Party, number: usize) -> [Duration; 2] {
    let begun = Instant::now();
    add(world, party, [format!("Bench {number} of many")]).await;
    let write = begun.elapsed();
    let begun = Instant::now();
    let found = found(world, party, &format!("bench {number} of")).await;
    let search = begun.elapsed();
    assert_eq!(found, 1);
    [write, search]
}

/// The median of each of the two.
fn medians(times: &[[Duration; 2]]) -> [Duration; 2] {
    [0, 1].map(|part| {
        let mut times: Vec<Duration> = times.iter().map(|round| round[part]).collect();
        times.sort();
        times[times.len() / 2]
    })
}

/// Compared with the same steps in a database without these texts, in turns: both have the same noise of the machine.
#[tokio::test(flavor = "multi_thread")]
async fn texts_that_are_still_to_be_indexed_cost_their_organization_alone() {
    let quiet = World::fresh(Engine::Sqlite).await.unwrap();
    let busy = World::fresh(Engine::Sqlite).await.unwrap();
    let ([_, alone], [(importing, _), beside]) = (parties(&quiet).await, parties(&busy).await);
    for (world, party) in [(&quiet, alone), (&busy, beside)] {
        // More than a search compares before it uses the index.
        add(world, party, (0..200).map(|number| format!("Tree {number}"))).await;
    }
    let copies = format!(
        "INSERT INTO record_texts (organization_id, scope, record_id, title, body) \
         WITH RECURSIVE n (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < {COPIES}) \
         SELECT organization_id, scope, record_id + value * 1000000, title, body FROM record_texts CROSS JOIN n \
         WHERE organization_id = {importing}"
    );
    busy.database.execute(&copies).await;
    let to_index = format!(
        "SELECT count(*) AS number FROM record_texts WHERE NOT is_indexed AND organization_id = {importing}"
    );
    let all = busy.database.number(&to_index).await;
    assert!(all > IMPORTED * COPIES, "{all}");
    let (sender, stop) = watch::channel(false);
    let store = busy.database.store();
    let indexing = tokio::spawn(async move { index_texts(&*store, stop).await });
    let (mut times_alone, mut times_beside) = (Vec::new(), Vec::new());
    for number in 0..ROUNDS {
        times_alone.push(timed(&quiet, alone, number).await);
        times_beside.push(timed(&busy, beside, number).await);
    }
    let left = busy.database.number(&to_index).await;
    sender.send_replace(true);
    indexing.await.unwrap().unwrap();
    assert!((1..all).contains(&left), "{left} of {all}: the texts are indexed meanwhile");
    let (alone, beside) = (medians(&times_alone), medians(&times_beside));
    println!("a write and a search: alone {alone:?}, beside {beside:?}, {left} of {all} texts left");
    for (alone, beside) in alone.into_iter().zip(beside) {
        assert!(beside < 3 * alone, "{beside:?} instead of {alone:?}");
    }
}
