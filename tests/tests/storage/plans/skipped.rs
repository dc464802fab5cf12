//! Lists that skip many records before their first member are not read on the caller's thread, which on SQLite serves
//! other requests too.

use super::{PAGE, STATEMENTS, recorder, sights};
use civitas_meetings::MeetingQuery;
use civitas_proposals::ProposalQuery;
use civitas_tests::{Engine, World};
use diesel::connection::set_default_instrumentation;

/// Whether a read sends a statement over this table on this thread.
async fn is_here(table: &str, read: impl Future<Output = ()>) -> bool {
    STATEMENTS.with_borrow_mut(Vec::clear);
    read.await;
    STATEMENTS.with_borrow(|sent| sent.iter().any(|sql| sql.contains(&format!("FROM `{table}`"))))
}

/// Adds published records, the first ones of their lists.
async fn add(world: &World, table: &str, own: (&str, &str), component: i64, number: i64) {
    let (organization, at) = (world.fixtures.mine, "'2020-01-01 09:00:00+00:00'");
    let sql = format!(
        "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {number}) \
         INSERT INTO {table} (organization_id, component_id, title, extended_data, extended_data_text, published_at, \
         created_at, updated_at, {}) SELECT {organization}, {component}, '{{}}', '{{}}', '{{}}', {at}, {at}, {at}, {} \
         FROM numbers",
        own.0, own.1
    );
    world.database.execute(&sql).await;
}

#[tokio::test]
async fn a_list_behind_many_records_that_the_reader_does_not_see_is_read_on_another_thread() {
    set_default_instrumentation(recorder).unwrap();
    let Some(world) = World::fresh(Engine::Sqlite).await else { return };
    let (fixtures, [public, _]) = (&world.fixtures, sights(&world));
    let of_proposals = ("body, public_state", "'{}', ''");
    let of_meetings =
        ("description, start_time, private, transparent", "'{}', '2020-01-01 09:00:00+00:00', true, false");
    add(&world, "proposals", of_proposals, fixtures.ideas.0, 3).await;
    add(&world, "proposals", of_proposals, fixtures.wishes.0, 3).await;
    let open = (of_meetings.0, "'{}', '2019-01-01 09:00:00+00:00', false, false");
    add(&world, "meetings", open, fixtures.walks.0, 3).await;
    let (proposals, meetings) = (ProposalQuery::default(), MeetingQuery::default());
    let list_proposals = async || {
        let page = world.store().proposals().list(public, &proposals, PAGE).await.unwrap();
        let first = page.items.first().expect("a proposal");
        let found =
            world.store().proposals().find_with_neighbours(public, &proposals, first.id).await.unwrap();
        assert!(found.is_some());
    };
    let list_meetings = async || {
        let page = world.store().meetings().list(public, &meetings, PAGE).await.unwrap();
        assert!(!page.items.is_empty());
    };
    assert!(is_here("proposals", list_proposals()).await && is_here("meetings", list_meetings()).await);
    for (number, expected) in [(500, true), (2_000, false)] {
        add(&world, "proposals", of_proposals, fixtures.unpublished.0, number).await;
        let own = (
            "description, start_time, private, transparent",
            "'{}', '2020-01-01 09:00:00+00:00', true, false",
        );
        add(&world, "meetings", own, fixtures.agenda.0, number).await;
        assert_eq!(is_here("proposals", list_proposals()).await, expected, "{number} proposals");
        assert_eq!(is_here("meetings", list_meetings()).await, expected, "{number} meetings");
    }
}
