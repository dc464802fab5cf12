//! Random pages of long lists: ranges of an index by id, from a random id on.

use super::{PAGE, doubled, filled_and_doubled, sights, statements, within};
use civitas_blogs::PostQuery;
use civitas_kernel::{Order, PageRequest, ProposalId, clock};
use civitas_meetings::MeetingQuery;
use civitas_proposals::{Proposal, ProposalQuery};
use civitas_tests::{Engine, World};
use std::collections::HashSet;

/// Reads a page, which is found by ranges of an index.
async fn check(world: &World, index: &str, read: impl AsyncFn() -> HashSet<i64>) {
    let mut ids = HashSet::new();
    let sent = statements(world, async { ids = read().await }).await;
    assert_eq!(ids.len(), 20, "{index}: a page of different members");
    let ranges: Vec<_> = sent.iter().filter(|(sql, _)| sql.contains(" + 0 ASC")).collect();
    assert!(ranges.len() >= 2, "{index}: the first and the last id, then those of the page");
    for (sql, plan) in ranges {
        let uses_index = |step: &String| step.split_whitespace().any(|word| word == index);
        assert!(plan.iter().any(uses_index), "{index}: {sql}\n{}", plan.join("\n"));
    }
    assert!(!sent.iter().any(|(sql, _)| sql.contains("random()")), "{index}: nothing is sorted at random");
}

#[tokio::test]
async fn random_pages_are_ranges_of_an_index() {
    for engine in Engine::BOTH {
        // 12,000 records of each kind, half of them in each component.
        let Some(world) = filled_and_doubled(engine, 2).await else { continue };
        let (ports, fixtures, order) = (world.ports(), &world.fixtures, Order::Random);
        for read_context in sights(&world) {
            for (component, index) in
                [(None, "proposals_by_id"), (Some(fixtures.ideas), "proposals_by_id_in_component")]
            {
                let query = ProposalQuery { within: within(component), order, ..ProposalQuery::default() };
                check(&world, index, async || {
                    let page = ports.proposals().list(read_context, &query, PAGE).await.unwrap();
                    page.items.iter().map(|proposal| proposal.id.0).collect()
                })
                .await;
            }
            for (component, index) in
                [(None, "meetings_by_id"), (Some(fixtures.agenda), "meetings_by_id_in_component")]
            {
                let query = MeetingQuery { within: within(component), order, ..MeetingQuery::default() };
                check(&world, index, async || {
                    let page = ports.meetings().list(read_context, &query, PAGE).await.unwrap();
                    page.items.iter().map(|meeting| meeting.id.0).collect()
                })
                .await;
            }
            for (component, index) in
                [(None, "posts_by_id"), (Some(fixtures.blog), "posts_by_id_in_component")]
            {
                let query = PostQuery { within: within(component), order, ..PostQuery::default() };
                check(&world, index, async || {
                    let page = ports.posts().list(read_context, clock::now(), &query, PAGE).await.unwrap();
                    page.items.iter().map(|post| post.id.0).collect()
                })
                .await;
            }
        }
    }
}

/// The average number of records in a component says nothing about the largest one.
#[tokio::test]
async fn random_pages_of_a_large_component_beside_many_small_ones_are_ranges_too() {
    for engine in Engine::BOTH {
        let Some(world) = doubled(engine, 2).await else { continue };
        let ideas = world.fixtures.ideas;
        let columns = "organization_id, space_manifest, space_id, manifest, name, published_at, weight, settings, \
                       default_step_settings, step_settings, extended_data, extended_data_text, created_at, updated_at";
        let copies =
            "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 300)";
        let sql = format!(
            "{copies} INSERT INTO components ({columns}) SELECT {columns} FROM components, numbers WHERE id = {ideas}"
        );
        let records = "title, body, extended_data, extended_data_text, public_state, published_at, created_at, \
                       updated_at";
        let small = format!(
            "INSERT INTO proposals (organization_id, component_id, {records}) SELECT components.organization_id, \
             components.id, '{{}}', '{{}}', '{{}}', '{{}}', '', components.created_at, components.created_at, \
             components.created_at FROM components WHERE components.id > (SELECT max(id) - 300 FROM components)"
        );
        world.database.execute(&sql).await;
        world.database.execute(&small).await;
        world.store().analyze().await.unwrap();
        let world = world.in_transaction().await;
        for read_context in sights(&world) {
            let query = ProposalQuery { order: Order::Random, ..ProposalQuery::default() };
            check(&world, "proposals_by_id", async || {
                let page = world.ports().proposals().list(read_context, &query, PAGE).await.unwrap();
                page.items.iter().map(|proposal| proposal.id.0).collect()
            })
            .await;
        }
    }
}

#[tokio::test]
async fn random_pages_wrap_round_and_have_each_member_and_the_drafts_of_the_reader() {
    for engine in Engine::BOTH {
        let Some(world) = World::fresh(engine).await else { continue };
        let world = world.in_transaction().await;
        let (fixtures, [_, nora]) = (&world.fixtures, sights(&world));
        let proposals = world.ports().proposals();
        let mut members = HashSet::new();
        for number in 0..7 {
            let published_at = (number != 3).then(clock::now);
            let authors = if number == 3 { vec![fixtures.nora] } else { Vec::new() };
            let proposal =
                Proposal { published_at, authors, ..Proposal::draft(fixtures.wishes, clock::now()) };
            members.insert(proposals.add(fixtures.mine, &proposal).await.unwrap());
        }
        let query = ProposalQuery {
            within: within(Some(fixtures.wishes)),
            order: Order::Random,
            ..ProposalQuery::default()
        };
        let read = async |page| -> Vec<ProposalId> {
            let some = proposals.list(nora, &query, PageRequest::new(page, 3)).await.unwrap();
            some.items.iter().map(|found| found.id).collect()
        };
        let (mut seen, mut orders) = (HashSet::new(), HashSet::new());
        for _ in 0..60 {
            let page = read(1).await;
            let different: HashSet<ProposalId> = page.iter().copied().collect();
            assert_eq!((page.len(), different.len()), (3, 3), "{engine:?}: {page:?}");
            seen.extend(different);
            orders.insert(page);
        }
        assert_eq!(seen, members, "{engine:?}");
        // Seven ranges in six orders.
        assert!(orders.len() > 15, "{engine:?}: {orders:?}");
        for (page, expected) in [(2, 3), (3, 1), (4, 0)] {
            assert_eq!(read(page).await.len(), expected, "{engine:?}, page {page}");
        }
    }
}
