//! The counts of shown proposals by component and state: equal to a count of the proposals after any changes.

use civitas_tests::{Engine, World};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

const ROUNDS: usize = 8;
const AT: &str = "'2026-03-01 09:30:00+00:00'";
const COUNTED: &str = "SELECT component_id, public_state, count(*) AS shown FROM proposals WHERE published_at IS NOT NULL \
     AND hidden_at IS NULL AND deleted_at IS NULL GROUP BY component_id, public_state";
const STORED: &str = "SELECT component_id, public_state, shown FROM proposal_counts WHERE shown <> 0";

/// A change of one or several proposals: which kind, of which of them, and how.
type Change = (usize, i64, usize);

fn changes() -> impl Strategy<Value = Vec<Change>> {
    vec((0_usize..14, 0_i64..5, 0_usize..3), 1..25)
}

fn statement((kind, part, choice): Change, organization: i64, components: [i64; 2]) -> String {
    let (component, state) = (components[choice % 2], ["", "accepted", "rejected"][choice]);
    let insert = |published: &str| {
        format!(
            "INSERT INTO proposals (organization_id, component_id, title, body, extended_data, extended_data_text, \
             public_state, published_at, created_at, updated_at) \
             VALUES ({organization}, {component}, '{{}}', '{{}}', '{{}}', '{{}}', '{state}', {published}, {AT}, {AT});"
        )
    };
    let update = |set: &str| format!("UPDATE proposals SET {set} WHERE id % 5 = {part};");
    match kind {
        0..4 => insert(AT),
        4 => insert("NULL"),
        5 => update(&format!("published_at = {AT}")),
        6 => update("published_at = NULL"),
        7 => update(&format!("hidden_at = {AT}")),
        8 => update("hidden_at = NULL"),
        9 => update(&format!("deleted_at = {AT}")),
        10 => update("deleted_at = NULL, title = '{}'"),
        11 => update(&format!("public_state = '{state}', component_id = {component}")),
        12 => update(&format!("public_state = '{state}', hidden_at = NULL")),
        _ => format!("DELETE FROM proposals WHERE id % 7 = {part};"),
    }
}

async fn differences(world: &World) -> i64 {
    let mut found = 0;
    for (one, other) in [(COUNTED, STORED), (STORED, COUNTED)] {
        let sql = format!(
            "SELECT count(*) AS number FROM (SELECT * FROM ({one}) AS a EXCEPT SELECT * FROM ({other}) AS b) AS c"
        );
        found += world.database.number(&sql).await;
    }
    found
}

#[tokio::test]
async fn counts_of_proposals_are_exact_after_any_changes() {
    let mut runner = TestRunner::default();
    for engine in Engine::BOTH {
        let Some(world) = World::fresh(engine).await else { continue };
        let fixtures = &world.fixtures;
        let components = [fixtures.ideas.0, fixtures.wishes.0];
        assert_eq!(differences(&world).await, 0, "{engine:?}: the fixtures");
        for _ in 0..ROUNDS {
            let changes = changes().new_tree(&mut runner).unwrap().current();
            let statements = changes.iter().map(|change| statement(*change, fixtures.mine.0, components));
            let sql: String = statements.collect();
            world.database.execute(&sql).await;
            assert_eq!(differences(&world).await, 0, "{engine:?} after {sql}");
        }
        assert!(world.database.number("SELECT count(*) AS number FROM proposal_counts").await > 0);
        world.database.execute(&format!("DELETE FROM components WHERE id = {}", components[0])).await;
        assert_eq!(differences(&world).await, 0, "{engine:?}: without the component");
    }
}

/// The counts of a database of an older build.
#[tokio::test]
async fn a_migration_counts_the_proposals_that_are_there() {
    for engine in Engine::BOTH {
        let Some(world) = World::fresh(engine).await else { continue };
        let (down, up) = match engine {
            Engine::Sqlite => (
                include_str!("../../../migrations/sqlite/2026-11-24-000035_proposal_counts/down.sql"),
                include_str!("../../../migrations/sqlite/2026-11-24-000035_proposal_counts/up.sql"),
            ),
            Engine::Postgres => (
                include_str!("../../../migrations/postgres/2026-11-24-000035_proposal_counts/down.sql"),
                include_str!("../../../migrations/postgres/2026-11-24-000035_proposal_counts/up.sql"),
            ),
        };
        let components = [world.fixtures.ideas.0, world.fixtures.wishes.0];
        world.database.execute(down).await;
        for choice in 0..3 {
            world.database.execute(&statement((0, 0, choice), world.fixtures.mine.0, components)).await;
        }
        world.database.execute(up).await;
        assert_eq!(differences(&world).await, 0, "{engine:?}");
        assert!(world.database.number("SELECT count(*) AS number FROM proposal_counts").await >= 3);
    }
}
