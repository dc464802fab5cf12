//! The counts of shown records by component, those of proposals by state too, and of the votes of proposals: equal to a count
//! of the rows after any changes.

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
const STORED_RECORDS: &str =
    "SELECT component_id, shown, restricted FROM record_counts WHERE shown <> 0 OR restricted <> 0";

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
    differences_between(world, COUNTED, STORED).await
}

async fn differences_between(world: &World, counted: &str, stored: &str) -> i64 {
    let mut found = 0;
    for (one, other) in [(counted, stored), (stored, counted)] {
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

const COUNTED_VOTES: &str = "SELECT proposals.id, count(votes.id) AS votes FROM proposals \
     LEFT JOIN votes ON votes.proposal_id = proposals.id AND NOT votes.temporary GROUP BY proposals.id";
const STORED_VOTES: &str = "SELECT id, votes_count AS votes FROM proposals";

fn vote_statement((kind, part, choice): Change, organization: i64, users: [i64; 3]) -> String {
    let user = users[choice];
    let temporary = if kind % 2 == 0 { "TRUE" } else { "FALSE" };
    match kind {
        0..6 => format!(
            "INSERT INTO votes (organization_id, proposal_id, component_id, user_id, weight, temporary, created_at, \
             updated_at) SELECT {organization}, id, component_id, {user}, {choice}, {temporary}, {AT}, {AT} \
             FROM proposals WHERE id % 5 = {part} ON CONFLICT DO NOTHING;"
        ),
        6 | 7 => format!("UPDATE votes SET temporary = {temporary}, weight = 0 WHERE user_id = {user};"),
        8 | 9 => format!("UPDATE votes SET temporary = NOT temporary WHERE id % 5 = {part};"),
        10 => format!("UPDATE votes SET weight = {choice} WHERE id % 5 = {part};"),
        11 => "DELETE FROM votes WHERE proposal_id = (SELECT min(id) FROM proposals); \
             UPDATE votes SET proposal_id = (SELECT min(id) FROM proposals), temporary = FALSE \
             WHERE proposal_id = (SELECT max(id) FROM proposals);"
            .to_owned(),
        12 => format!("DELETE FROM votes WHERE id % 5 = {part};"),
        _ => format!("DELETE FROM proposals WHERE id % 7 = {part};"),
    }
}

#[tokio::test]
async fn counts_of_votes_are_exact_after_any_changes() {
    let mut runner = TestRunner::default();
    for engine in Engine::BOTH {
        let Some(world) = World::fresh(engine).await else { continue };
        let fixtures = &world.fixtures;
        let users = [fixtures.nora.0, fixtures.otto.0, fixtures.admin.0];
        let are_exact = async || differences_between(&world, COUNTED_VOTES, STORED_VOTES).await == 0;
        for _ in 0..ROUNDS {
            let mut sql = String::new();
            for choice in 0..3 {
                sql += &statement((0, 0, choice), fixtures.mine.0, [fixtures.ideas.0, fixtures.wishes.0]);
            }
            let changes = changes().new_tree(&mut runner).unwrap().current();
            sql.extend(changes.iter().map(|change| vote_statement(*change, fixtures.mine.0, users)));
            world.database.execute(&sql).await;
            assert!(are_exact().await, "{engine:?} after {sql}");
        }
        let some: String = (0..5).map(|part| vote_statement((1, part, 0), fixtures.mine.0, users)).collect();
        world.database.execute(&some).await;
        let total =
            "SELECT count(*) AS number FROM proposals WHERE votes_count > 0 AND votes_changed_at IS NOT NULL";
        assert!(world.database.number(total).await > 0, "{engine:?}: the changes count something");
    }
}

/// A table of records other than proposals.
struct Kind {
    table: &'static str,
    /// The columns of an insert that are its own, and their values.
    own: (&'static str, &'static str),
    /// The columns that decide whether a record is shown.
    times: &'static [&'static str],
    flags: &'static [&'static str],
    shown: &'static str,
    restricted: &'static str,
}

const KINDS: [Kind; 4] = [
    Kind {
        table: "posts",
        own: ("title, body", "'{}', '{}'"),
        times: &["published_at", "hidden_at", "deleted_at"],
        flags: &[],
        shown: "published_at IS NOT NULL AND hidden_at IS NULL AND deleted_at IS NULL",
        restricted: "FALSE",
    },
    Kind {
        table: "meetings",
        own: (
            "title, description, extended_data, extended_data_text, start_time, private, transparent",
            "'{}', '{}', '{}', '{}', '2026-03-01 09:30:00+00:00', TRUE, FALSE",
        ),
        times: &["published_at", "hidden_at", "deleted_at"],
        flags: &["private", "transparent"],
        shown: "published_at IS NOT NULL AND hidden_at IS NULL AND deleted_at IS NULL AND (NOT private OR transparent)",
        restricted: "published_at IS NOT NULL AND hidden_at IS NULL AND deleted_at IS NULL AND private AND NOT transparent",
    },
    Kind {
        table: "entries",
        own: ("kind, id, title", "'page', (SELECT coalesce(max(id), 0) + 1 FROM entries), '{}'"),
        times: &["hidden_at", "deleted_at"],
        flags: &[],
        shown: "hidden_at IS NULL AND deleted_at IS NULL",
        restricted: "FALSE",
    },
    Kind {
        table: "surveys",
        own: ("starts_at", "NULL"),
        times: &["deleted_at"],
        flags: &[],
        shown: "deleted_at IS NULL",
        restricted: "FALSE",
    },
];

impl Kind {
    fn statement(&self, (kind, part, choice): Change, organization: i64, components: [i64; 2]) -> String {
        let (table, component) = (self.table, components[choice % 2]);
        let update = |set: &str| format!("UPDATE {table} SET {set} WHERE id % 5 = {part};");
        match kind {
            0..4 => format!(
                "INSERT INTO {table} (organization_id, component_id, created_at, updated_at, {}) \
                 VALUES ({organization}, {component}, {AT}, {AT}, {});",
                self.own.0, self.own.1
            ),
            4..8 => update(&format!("{} = {AT}", self.times[choice % self.times.len()])),
            8..10 => update(&format!("{} = NULL", self.times[choice % self.times.len()])),
            10 | 11 if self.flags.is_empty() => update("updated_at = created_at"),
            10 => update(&format!("{} = TRUE", self.flags[choice % 2])),
            11 => update(&format!("{} = FALSE, updated_at = created_at", self.flags[choice % 2])),
            12 => update(&format!("component_id = {component}, deleted_at = NULL")),
            _ => format!("DELETE FROM {table} WHERE id % 7 = {part};"),
        }
    }
}

/// The stored counts, counted from the rows.
fn counted_records() -> String {
    let tables = KINDS.iter().map(|Kind { table, shown, restricted, .. }| {
        format!(
            "SELECT component_id, CASE WHEN {shown} THEN 1 ELSE 0 END AS shown, \
             CASE WHEN {restricted} THEN 1 ELSE 0 END AS restricted FROM {table}"
        )
    });
    format!(
        "SELECT component_id, sum(shown) AS shown, sum(restricted) AS restricted FROM ({}) AS records \
         GROUP BY component_id HAVING sum(shown) <> 0 OR sum(restricted) <> 0",
        tables.collect::<Vec<_>>().join(" UNION ALL ")
    )
}

#[tokio::test]
async fn counts_of_other_records_are_exact_after_any_changes() {
    let mut runner = TestRunner::default();
    let counted = counted_records();
    for engine in Engine::BOTH {
        let Some(world) = World::fresh(engine).await else { continue };
        let fixtures = &world.fixtures;
        let components = [fixtures.agenda.0, fixtures.walks.0];
        let are_exact = async || differences_between(&world, &counted, STORED_RECORDS).await == 0;
        assert!(are_exact().await, "{engine:?}: the fixtures");
        for kind in &KINDS {
            for _ in 0..ROUNDS {
                let changes = changes().new_tree(&mut runner).unwrap().current();
                let statements =
                    changes.iter().map(|change| kind.statement(*change, fixtures.mine.0, components));
                let sql: String = statements.collect();
                world.database.execute(&sql).await;
                assert!(are_exact().await, "{engine:?} after {sql}");
            }
        }
        let private = "published_at = created_at, hidden_at = NULL, deleted_at = NULL, private = TRUE, transparent = FALSE";
        for sql in [
            KINDS[1].statement((0, 0, 0), fixtures.mine.0, components),
            KINDS[3].statement((0, 0, 0), fixtures.mine.0, components),
            format!("UPDATE meetings SET {private};"),
        ] {
            world.database.execute(&sql).await;
            assert!(are_exact().await, "{engine:?} after {sql}");
        }
        let counts = "SELECT count(*) AS number FROM record_counts WHERE restricted > 0 AND shown > 0";
        assert!(world.database.number(counts).await > 0, "{engine:?}: the changes count something");
        world.database.execute(&format!("DELETE FROM components WHERE id = {}", components[0])).await;
        assert!(are_exact().await, "{engine:?}: without the component");
    }
}
