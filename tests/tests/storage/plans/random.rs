//! Random pages of long lists: drawn from buckets that an index holds.

use super::{PAGE, doubled, filled_and_doubled, sights, statements, within};
use civitas_blogs::PostQuery;
use civitas_kernel::{Order, clock};
use civitas_meetings::MeetingQuery;
use civitas_proposals::ProposalQuery;
use civitas_tests::{Engine, World};
use std::collections::HashSet;

/// Reads pages until one is drawn: if few members are in the measured buckets, the list is sorted.
async fn check(world: &World, index: &str, read: impl AsyncFn() -> HashSet<i64>) {
    for _ in 0..8 {
        let mut ids = HashSet::new();
        let sent = statements(world, async { ids = read().await }).await;
        assert_eq!(ids.len(), 20, "{index}: a page of different members");
        for (sql, plan) in sent.iter().filter(|(sql, _)| sql.contains("% 65521")) {
            let uses_index = |step: &String| step.split_whitespace().any(|word| word == index);
            assert!(plan.iter().any(uses_index), "{index}: {sql}\n{}", plan.join("\n"));
        }
        if !sent.iter().any(|(sql, _)| sql.contains("random()")) {
            return;
        }
    }
    panic!("{index}: no page was drawn");
}

#[tokio::test]
async fn random_pages_are_drawn_from_buckets_of_an_index() {
    for engine in Engine::BOTH {
        // 12,000 records of each kind, half of them in each component.
        let Some(world) = filled_and_doubled(engine, 2).await else { continue };
        let (ports, fixtures, order) = (world.ports(), &world.fixtures, Order::Random);
        for read_context in sights(&world) {
            for (component, index) in
                [(None, "proposals_sampled"), (Some(fixtures.ideas), "proposals_sampled_in_component")]
            {
                let query = ProposalQuery { within: within(component), order, ..ProposalQuery::default() };
                check(&world, index, async || {
                    let page = ports.proposals().list(read_context, &query, PAGE).await.unwrap();
                    page.items.iter().map(|proposal| proposal.id.0).collect()
                })
                .await;
            }
            for (component, index) in
                [(None, "meetings_sampled"), (Some(fixtures.agenda), "meetings_sampled_in_component")]
            {
                let query = MeetingQuery { within: within(component), order, ..MeetingQuery::default() };
                check(&world, index, async || {
                    let page = ports.meetings().list(read_context, &query, PAGE).await.unwrap();
                    page.items.iter().map(|meeting| meeting.id.0).collect()
                })
                .await;
            }
            for (component, index) in
                [(None, "posts_sampled"), (Some(fixtures.blog), "posts_sampled_in_component")]
            {
                let query = PostQuery { within: within(component), order };
                check(&world, index, async || {
                    let page = ports.posts().list(read_context, clock::now(), query, PAGE).await.unwrap();
                    page.items.iter().map(|post| post.id.0).collect()
                })
                .await;
            }
        }
    }
}

/// The average number of records in a component says nothing about the largest one.
#[tokio::test]
async fn random_pages_of_a_large_component_beside_many_small_ones_are_drawn_too() {
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
            check(&world, "proposals_sampled", async || {
                let page = world.ports().proposals().list(read_context, &query, PAGE).await.unwrap();
                page.items.iter().map(|proposal| proposal.id.0).collect()
            })
            .await;
        }
    }
}
