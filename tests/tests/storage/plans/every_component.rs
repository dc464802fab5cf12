//! Lists of a reader who sees each component of a kind: they do not compare the component of each record, which would cost
//! more than the step in the index for each record that a page skips. What the reader does not see is in no list.

use super::{PAGE, STATEMENTS, recorder, sights};
use civitas_kernel::{ComponentId, clock};
use civitas_proposals::ProposalQuery;
use civitas_spaces::Component;
use civitas_tests::{Engine, World, commit, replace};
use diesel::connection::set_default_instrumentation;
use std::collections::BTreeSet;

/// Publishes a component, or ends its publication.
async fn publish(world: &World, id: ComponentId, is_published: bool) {
    let mine = world.fixtures.mine;
    let done = commit(world.store(), async |tx| {
        let mut component = tx.components().find(mine, id).await?.expect("the component");
        component.published_at = is_published.then(clock::now);
        replace(tx.components(), mine, id, &component).await
    });
    done.await.unwrap();
}

/// Adds a published proposal.
async fn add(world: &World, component: ComponentId) {
    let (organization, at) = (world.fixtures.mine, "'2026-03-01 09:30:00+00:00'");
    let sql = format!(
        "INSERT INTO proposals (organization_id, component_id, title, body, extended_data, extended_data_text, \
         public_state, published_at, created_at, updated_at) \
         VALUES ({organization}, {component}, '{{}}', '{{}}', '{{}}', '{{}}', '', {at}, {at}, {at})"
    );
    world.database.execute(&sql).await;
}

/// The components with a proposal in the list, and whether the list compared components.
async fn listed(world: &World) -> (BTreeSet<ComponentId>, bool) {
    let [public, _] = sights(world);
    STATEMENTS.with_borrow_mut(Vec::clear);
    let page = world.store().proposals().list(public, &ProposalQuery::default(), PAGE).await.unwrap();
    let found = page.items.iter().map(|item| item.proposal.component).collect();
    let compared = STATEMENTS.with_borrow(|sent| {
        let list =
            sent.iter().find(|sql| sql.contains("OFFSET") || sql.contains("LIMIT 21")).expect("the list");
        // Once as a column that is read.
        list.matches("component_id").count() > 1
    });
    (found, compared)
}

#[tokio::test]
async fn a_component_that_is_not_seen_is_in_no_list_also_after_each_was_seen() {
    set_default_instrumentation(recorder).unwrap();
    for engine in Engine::BOTH {
        let Some(world) = World::fresh(engine).await else { continue };
        let fixtures = &world.fixtures;
        let seen = [fixtures.ideas, fixtures.wishes, fixtures.transparent];
        let each: BTreeSet<_> = seen.into_iter().chain([fixtures.unpublished]).collect();
        for component in &each {
            add(&world, *component).await;
        }
        let seen = BTreeSet::from(seen);
        assert_eq!(listed(&world).await, (seen.clone(), true), "{engine:?}");
        publish(&world, fixtures.unpublished, true).await;
        assert_eq!(listed(&world).await, (each.clone(), false), "{engine:?}");
        publish(&world, fixtures.unpublished, false).await;
        assert_eq!(listed(&world).await, (seen, true), "{engine:?}");

        publish(&world, fixtures.unpublished, true).await;
        assert_eq!(listed(&world).await, (each.clone(), false), "{engine:?}");
        let new = commit(world.store(), async |tx| {
            let known = tx.components().find(fixtures.mine, fixtures.ideas).await?.expect("the component");
            let unpublished = Component { published_at: None, ..known };
            tx.components().add(fixtures.mine, &unpublished).await
        });
        add(&world, new.await.unwrap()).await;
        assert_eq!(listed(&world).await, (each, true), "{engine:?}");
    }
}
