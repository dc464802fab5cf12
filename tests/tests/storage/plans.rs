//! How the databases execute the reads of records in a component: by ranges of indexes that hold the order. No scan of
//! a table, and no sort of more than one page.

use civitas_kernel::{ComponentId, MeetingId, PageRequest, ProposalId, Sight, Viewer, Within};
use civitas_meetings::MeetingQuery;
use civitas_proposals::ProposalQuery;
use civitas_tests::{Engine, World};
use diesel::connection::{Instrumentation, InstrumentationEvent, set_default_instrumentation};
use std::cell::RefCell;
use std::fmt::Write;

/// Rows of each table: enough that reading all of them costs more than reading a page by an index.
const RECORDS: i64 = 3000;

thread_local! {
    /// The statements of the connections this thread uses: both engines send them on the thread that waits.
    static STATEMENTS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

#[expect(clippy::unnecessary_wraps, reason = "Diesel's signature")]
fn recorder() -> Option<Box<dyn Instrumentation>> {
    Some(Box::new(|event: InstrumentationEvent<'_>| {
        if let InstrumentationEvent::StartQuery { query, .. } = event {
            STATEMENTS.with_borrow_mut(|statements| statements.push(query.to_string()));
        }
    }))
}

/// The plans of the statements that a read sends and that name this table, without those of other tables.
async fn plans<T>(world: &World, table: &str, read: impl Future<Output = T>) -> (T, Vec<Vec<String>>) {
    STATEMENTS.with_borrow_mut(Vec::clear);
    let answer = read.await;
    let mut plans = Vec::new();
    for statement in STATEMENTS.with_borrow(Vec::clone) {
        let sql = statement.split(" -- binds").next().unwrap_or_default().to_owned();
        if sql.replace(['"', '`'], "").contains(&format!("FROM {table}")) {
            plans.push(world.database.plan(&sql).await);
        }
    }
    (answer, plans)
}

/// Fills two components in turn with published records, and measures the tables.
async fn filled(engine: Engine) -> Option<(World, Vec<i64>)> {
    set_default_instrumentation(recorder).unwrap();
    let world = World::fresh(engine).await?;
    let rooms = &world.rooms;
    let text = format!("{{\"en\": \"{}\"}}", "word ".repeat(100));
    for (table, time, more, value, components) in [
        ("proposals", "published_at", "body", format!("'{text}'"), [rooms.ideas, rooms.wishes]),
        (
            "meetings",
            "start_time",
            "description, private, transparent, published_at",
            format!("'{text}', false, false, '2026-01-01 00:00:00+00:00'"),
            [rooms.agenda, rooms.walks],
        ),
    ] {
        let mut sql = format!(
            "INSERT INTO {table} (organization_id, component_id, title, extended_data, extended_data_text, \
             created_at, updated_at, {time}, {more}) VALUES "
        );
        for (n, component) in (0..RECORDS).zip(components.into_iter().cycle()) {
            let comma = if n == 0 { "" } else { ", " };
            let at = format!("2026-01-01 {:02}:{:02}:00+00:00", n / 60 % 24, n % 60);
            let ComponentId(component) = component;
            write!(sql, "{comma}({}, {component}, '{{}}', '{{}}', '{{}}', '{at}', '{at}', '{at}', {value})", rooms.mine)
                .unwrap();
        }
        world.database.execute(&sql).await;
    }
    world.store().analyze().await.unwrap();
    Some((world, Vec::new()))
}

#[tokio::test]
async fn print() {
    for engine in Engine::BOTH {
        let Some((world, _)) = filled(engine).await else { continue };
        let rooms = &world.rooms;
        let (ports, nora) = (world.ports(), rooms.nora);
        let service = Sight { organization: rooms.mine, viewer: Viewer::Public, participant: None };
        let user = Sight { organization: rooms.mine, viewer: Viewer::Participant(nora), participant: Some(nora) };
        let one = Within { component: Some(rooms.ideas), ..Within::default() };
        let page = PageRequest { page: 1, per_page: 20 };
        for sight in [service, user] {
            for within in [Within::default(), one] {
                let query = ProposalQuery { within, ..ProposalQuery::default() };
                let (listed, p) = plans(&world, "proposals", ports.proposals().list(sight, &query, page)).await;
                println!("== {engine:?} list {within:?}\n{}", p.iter().map(|p| p.join("\n")).collect::<Vec<_>>().join("\n--\n"));
                let id: ProposalId = listed.unwrap().items[10].id;
                let (_, p) = plans(&world, "proposals", ports.proposals().neighbours(sight, &query, id)).await;
                println!("== {engine:?} neighbours {within:?}\n{}", p.iter().map(|p| p.join("\n")).collect::<Vec<_>>().join("\n--\n"));
                let (_, p) = plans(&world, "proposals", ports.proposals().find_visible(sight, id, within)).await;
                println!("== {engine:?} show {within:?}\n{}", p.iter().map(|p| p.join("\n")).collect::<Vec<_>>().join("\n--\n"));
            }
            for component in [None, Some(rooms.agenda)] {
                let query = MeetingQuery { within: Within { component, ..Within::default() }, ..MeetingQuery::default() };
                let (listed, p) = plans(&world, "meetings", ports.meetings().list(sight, &query, page)).await;
                println!("== {engine:?} meetings {component:?}\n{}", p.iter().map(|p| p.join("\n")).collect::<Vec<_>>().join("\n--\n"));
                let id: MeetingId = listed.unwrap().items[10].id;
                let (_, p) = plans(&world, "meetings", ports.meetings().find_visible(sight, id, Within::default())).await;
                println!("== {engine:?} meeting\n{}", p.iter().map(|p| p.join("\n")).collect::<Vec<_>>().join("\n--\n"));
            }
        }
    }
}
