//! How the databases execute the reads of records in a component: by ranges of indexes that hold the order. No scan of
//! a table, and no sort of more than one page.

mod every_component;
mod forms;
mod growing;
mod newest;
mod operations;
mod own_votes;
mod publications;
mod queues;
mod random;
mod resources;
mod searches;
mod shares;
mod webhooks;

use civitas_blogs::{PostNeighbours, PostQuery};
use civitas_kernel::records::Records;
use civitas_kernel::{ComponentId, LocationFilter, OrganizationId, PageRequest, ReadContext, Viewer, clock};
use civitas_meetings::MeetingQuery;
use civitas_proposals::{ProposalNeighbours, ProposalQuery};
use civitas_tests::{Engine, World};
use diesel::connection::{Instrumentation, InstrumentationEvent, set_default_instrumentation};
use std::cell::RefCell;
use std::collections::HashSet;
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

/// The plans of the statements that a read sends over this table.
async fn plans<T>(world: &World, table: &str, read: impl Future<Output = T>) -> (T, Vec<Vec<String>>) {
    STATEMENTS.with_borrow_mut(Vec::clear);
    let answer = read.await;
    let mut plans = Vec::new();
    for statement in STATEMENTS.with_borrow(Vec::clone) {
        let sql = statement.split(" -- binds").next().unwrap_or_default();
        if sql.replace(['"', '`'], "").contains(&format!("FROM {table}")) {
            plans.push(world.database.plan(sql).await);
        }
    }
    assert!(!plans.is_empty(), "no statement was recorded");
    (answer, plans)
}

/// The statements that some work sends, each with its plan.
async fn statements(world: &World, work: impl Future<Output = ()>) -> Vec<(String, Vec<String>)> {
    STATEMENTS.with_borrow_mut(Vec::clear);
    work.await;
    let mut planned = Vec::new();
    for statement in STATEMENTS.with_borrow(Vec::clone) {
        let sql = statement.split(" -- binds").next().unwrap_or_default().to_owned();
        let plan = world.database.plan(&sql).await;
        planned.push((sql, plan));
    }
    planned
}

/// Whether a step reads a table from its beginning to its end, or sorts what an index finds.
fn scans(engine: Engine, plan: &[String], table: &str) -> bool {
    let scan = match engine {
        Engine::Sqlite => format!("SCAN {table}"),
        Engine::Postgres => format!("Seq Scan on {table}"),
    };
    plan.iter().any(|step| step.contains(&scan) || step.contains("Bitmap"))
}

/// How many steps read this index in its order: their rows are limited and not sorted before.
fn ranges(engine: Engine, plan: &[String], index: &str) -> usize {
    let steps = plan.iter().enumerate();
    match engine {
        Engine::Sqlite => {
            let sort = "TEMP B-TREE FOR ORDER BY";
            let sorts_inside = plan.iter().any(|step| step.starts_with(' ') && step.contains(sort));
            let ranges = steps.filter(|(_, step)| step.contains(&format!("INDEX {index} (")));
            if sorts_inside { 0 } else { ranges.count() }
        }
        Engine::Postgres => {
            let ranges = steps.filter(|(_, step)| step.contains(&format!("using {index} on")));
            let is_limit = |step: &String| matches!(step.trim(), "Limit" | "->  Limit");
            ranges.filter(|(at, _)| parent(plan, *at).is_some_and(is_limit)).count()
        }
    }
}

/// The step that a step of PostgreSQL gives its rows to: the nearest one before it that is indented less.
fn parent(plan: &[String], at: usize) -> Option<&String> {
    let indent = |step: &str| step.len() - step.trim_start().len();
    plan[..at].iter().rev().find(|step| indent(step) < indent(&plan[at]))
}

/// Checks the statements of one read: none scans, and one has this number of ranges of the index.
fn check(world: &World, read: &str, plans: &[Vec<String>], table: &str, (index, times): (&str, usize)) {
    let engine = world.database.engine;
    let text = plans.iter().map(|plan| plan.join("\n")).collect::<Vec<_>>().join("\n\n");
    assert!(!plans.iter().any(|plan| scans(engine, plan, table)), "{engine:?}, {read}:\n{text}");
    // Within one time, both orders are in the index of the other direction too.
    let indexes = HashSet::from([index.to_owned(), index.replace("_listed", "_newest")]);
    let found: usize =
        plans.iter().flat_map(|plan| indexes.iter().map(|index| ranges(engine, plan, index))).sum();
    assert_eq!(found, times, "{engine:?}, {read}, ranges of {index}:\n{text}");
}

/// Rows of a table in two components in turn, as one statement.
fn insert(
    organization: OrganizationId,
    table: &str,
    components: [ComponentId; 2],
    own: (&str, &str),
) -> String {
    let mut sql = format!(
        "INSERT INTO {table} (organization_id, component_id, title, created_at, updated_at, {}) VALUES ",
        own.0
    );
    for (n, component) in (0..RECORDS).zip(components.into_iter().cycle()) {
        let comma = if n == 0 { "" } else { ", " };
        let at = format!("'2026-01-01 {:02}:{:02}:00+00:00'", n / 60 % 24, n % 60);
        let own = own.1.replace("{at}", &at);
        write!(sql, "{comma}({organization}, {component}, '{{}}', {at}, {at}, {own})").unwrap();
    }
    sql
}

/// A second component with posts: with one the list of the organization is that of the component.
async fn another_blog(world: &World) -> ComponentId {
    let (components, mine) = (world.store().components(), world.fixtures.mine);
    let blog = Records::find(components, mine, world.fixtures.blog).await.unwrap().expect("the first one");
    components.add(mine, &blog).await.unwrap()
}

/// Two components each with proposals, meetings and posts, all published records, and measured tables.
async fn filled(engine: Engine) -> Option<World> {
    filled_and_doubled(engine, 0).await
}

/// The same, with all records doubled so many times.
async fn filled_and_doubled(engine: Engine, times: usize) -> Option<World> {
    let world = doubled(engine, times).await?;
    world.store().analyze().await.unwrap();
    // On one connection, whose statements run on this thread.
    Some(world.in_transaction().await)
}

/// The records, doubled so many times. The tables are not measured.
async fn doubled(engine: Engine, times: usize) -> Option<World> {
    set_default_instrumentation(recorder).unwrap();
    let world = World::fresh(engine).await?;
    let fixtures = &world.fixtures;
    let text = format!("'{{\"en\": \"{}\"}}'", "word ".repeat(100));
    let own =
        ("extended_data, extended_data_text, body, published_at", format!("'{{}}', '{{}}', {text}, {{at}}"));
    let sql = insert(fixtures.mine, "proposals", [fixtures.ideas, fixtures.wishes], (own.0, &own.1));
    world.database.execute(&sql).await;
    let own = (
        "extended_data, extended_data_text, description, published_at, start_time, private, transparent",
        format!("'{{}}', '{{}}', {text}, {{at}}, {{at}}, false, false"),
    );
    let sql = insert(fixtures.mine, "meetings", [fixtures.agenda, fixtures.walks], (own.0, &own.1));
    world.database.execute(&sql).await;
    let own = ("body, published_at", format!("{text}, {{at}}"));
    let sql = insert(fixtures.mine, "posts", [fixtures.blog, another_blog(&world).await], (own.0, &own.1));
    world.database.execute(&sql).await;
    for (table, own) in [
        ("proposals", "body, extended_data, extended_data_text"),
        ("meetings", "description, start_time, private, transparent, extended_data, extended_data_text"),
        ("posts", "body"),
    ] {
        let columns =
            format!("organization_id, component_id, title, created_at, updated_at, published_at, {own}");
        let sql = format!(
            "INSERT INTO {table} ({columns}) SELECT {columns} FROM {table} WHERE published_at IS NOT NULL"
        );
        for _ in 0..times {
            world.database.execute(&sql).await;
        }
    }
    Some(world)
}

fn sights(world: &World) -> [ReadContext; 2] {
    let (organization, nora) = (world.fixtures.mine, world.fixtures.nora);
    [
        ReadContext { organization, viewer: Viewer::Public, participant: None },
        ReadContext { organization, viewer: Viewer::Participant(nora), participant: Some(nora) },
    ]
}

fn within(component: Option<ComponentId>) -> LocationFilter {
    LocationFilter { component, ..LocationFilter::default() }
}

const PAGE: PageRequest = PageRequest::new(1, 20);

#[tokio::test]
async fn proposals_are_read_by_ranges_of_indexes() {
    for engine in Engine::BOTH {
        let Some(world) = filled(engine).await else { continue };
        let (proposals, table) = (world.ports().proposals(), "proposals");
        for read_context in sights(&world) {
            for (component, index) in
                [(None, "proposals_listed"), (Some(world.fixtures.ideas), "proposals_listed_in_component")]
            {
                let query = ProposalQuery { within: within(component), ..ProposalQuery::default() };
                let (page, steps) = plans(&world, table, proposals.list(read_context, &query, PAGE)).await;
                check(&world, "list", &steps, table, (index, 1));
                let page = page.unwrap();
                assert!(page.items.len() == 20 && page.has_more);
                let id = page.items[9].id;
                let beside = proposals.neighbours(read_context, &query, page.items[9].position());
                let (beside, steps) = plans(&world, table, beside).await;
                check(&world, "neighbours", &steps, table, (index, 4));
                let expected =
                    ProposalNeighbours { next: Some(page.items[10].id), prev: Some(page.items[8].id) };
                assert_eq!(beside.unwrap(), expected);
                let both = proposals.find_with_neighbours(read_context, &query, id);
                let (both, steps) = plans(&world, table, both).await;
                check(&world, "show with neighbours", &steps, table, (index, 4));
                assert_eq!(both.unwrap().map(|(found, beside)| (found.id, beside)), Some((id, expected)));
                let (found, steps) =
                    plans(&world, table, proposals.find_visible(read_context, id, query.within)).await;
                check(&world, "show", &steps, table, (index, 0));
                assert_eq!(found.unwrap().map(|found| found.id), Some(id));
            }
        }
    }
}

#[tokio::test]
async fn meetings_are_read_by_ranges_of_indexes() {
    for engine in Engine::BOTH {
        let Some(world) = filled(engine).await else { continue };
        let (meetings, table) = (world.ports().meetings(), "meetings");
        for read_context in sights(&world) {
            for (component, index) in
                [(None, "meetings_listed"), (Some(world.fixtures.agenda), "meetings_listed_in_component")]
            {
                let query = MeetingQuery { within: within(component), ..MeetingQuery::default() };
                let (page, steps) = plans(&world, table, meetings.list(read_context, &query, PAGE)).await;
                check(&world, "list", &steps, table, (index, 1));
                let page = page.unwrap();
                assert!(page.items.len() == 20 && page.has_more);
                let id = page.items[9].id;
                let (found, steps) =
                    plans(&world, table, meetings.find_visible(read_context, id, query.within)).await;
                check(&world, "show", &steps, table, (index, 0));
                assert_eq!(found.unwrap().map(|found| found.id), Some(id));
            }
        }
    }
}

#[tokio::test]
async fn posts_are_read_by_ranges_of_indexes() {
    for engine in Engine::BOTH {
        let Some(world) = filled(engine).await else { continue };
        let (posts, table, now) = (world.ports().posts(), "posts", clock::now());
        for read_context in sights(&world) {
            for (component, index) in
                [(None, "posts_listed"), (Some(world.fixtures.blog), "posts_listed_in_component")]
            {
                let query = PostQuery { within: within(component), ..PostQuery::default() };
                let (page, steps) = plans(&world, table, posts.list(read_context, now, &query, PAGE)).await;
                check(&world, "list", &steps, table, (index, 1));
                let page = page.unwrap();
                assert!(page.items.len() == 20 && page.has_more);
                let (id, at) = (page.items[9].id, page.items[9].post.published_at);
                let (beside, steps) =
                    plans(&world, table, posts.neighbours(read_context, now, &query, id, at)).await;
                check(&world, "neighbours", &steps, table, (index, 4));
                let expected = PostNeighbours { next: Some(page.items[10].id), prev: Some(page.items[8].id) };
                assert_eq!(beside.unwrap(), expected);
                let blog = world.fixtures.blog;
                let id = page.items.iter().find(|detail| detail.post.component == blog).unwrap().id;
                let found = posts.find_visible(read_context, now, id, query.within);
                let (found, steps) = plans(&world, table, found).await;
                check(&world, "show", &steps, table, (index, 0));
                assert_eq!(found.unwrap().map(|found| found.id), Some(id));
            }
        }
    }
}

#[tokio::test]
async fn the_rows_that_a_page_skips_are_read_from_the_index_alone() {
    for engine in Engine::BOTH {
        let Some(world) = filled(engine).await else { continue };
        let (query, page) = (ProposalQuery::default(), PageRequest { page: 2, ..PAGE });
        let list = world.ports().proposals().list(sights(&world)[0], &query, page);
        let (_, steps) = plans(&world, "proposals", list).await;
        let alone = match engine {
            // All columns in the order of the index: the columns of a row that is skipped are not read.
            Engine::Sqlite => "SEARCH proposals USING INDEX proposals_listed (organization_id=?",
            Engine::Postgres => "Index Only Scan using proposals_listed on",
        };
        let steps: Vec<_> = steps.iter().flatten().collect();
        assert!(steps.iter().any(|step| step.contains(alone)), "{engine:?}: {steps:#?}");
        assert!(!steps.iter().any(|step| step.starts_with("USE TEMP B-TREE")), "{engine:?}: {steps:#?}");
    }
}
