//! Words, times and orders of proposals: each by an index. A search reads neither all texts nor all proposals, and no list
//! is sorted as a whole.

use super::{PAGE, RECORDS, doubled, parent, plans, sights, within};
use civitas_kernel::filter::{RawFilter, RawValue, read_filters};
use civitas_kernel::testing::text;
use civitas_kernel::{Direction, Order, PageRequest, Sort, SortColumn, clock};
use civitas_proposals::{PROPOSAL_FIELDS, Proposal, ProposalQuery};
use civitas_tests::{Engine, World, commit};
use time::Duration;
use time::format_description::well_known::Rfc3339;

/// As many further proposals with texts, of which every hundredth has a rare word, on one connection. Each was changed a
/// minute after the one before.
async fn with_texts(engine: Engine) -> Option<World> {
    let world = doubled(engine, 0).await?;
    let (mine, ideas, now) = (world.fixtures.mine, world.fixtures.ideas, clock::now());
    let proposal = |number: i64| {
        let at = now - Duration::minutes(RECORDS - number);
        let title =
            if number % 100 == 0 { format!("A zebra {number}") } else { format!("Proposal {number}") };
        Proposal {
            title: text(&title),
            body: text("We would like to see this done before next summer."),
            published_at: Some(at),
            updated_at: at,
            ..Proposal::draft(ideas, at)
        }
    };
    let proposals: Vec<Proposal> = (0..RECORDS).map(proposal).collect();
    for some in proposals.chunks(500) {
        let added = commit(world.store(), async |tx| tx.proposals().add_many(mine, some).await).await;
        assert_eq!(added.unwrap().expect("they are stored together").len(), some.len());
    }
    world.store().analyze().await.unwrap();
    Some(world.in_transaction().await)
}

/// A query with this filter.
fn filtered(key: &str, value: &str) -> ProposalQuery {
    let raw = RawFilter::new(vec![(key.to_owned(), RawValue::One(value.to_owned()))]);
    ProposalQuery { filters: read_filters(PROPOSAL_FIELDS, &raw).unwrap(), ..ProposalQuery::default() }
}

/// The plans of a list in one text.
fn joined(plans: &[Vec<String>]) -> String {
    plans.iter().map(|plan| plan.join("\n")).collect::<Vec<_>>().join("\n\n")
}

#[tokio::test]
async fn a_word_of_three_characters_is_found_by_its_trigrams() {
    for engine in Engine::BOTH {
        let Some(world) = with_texts(engine).await else { continue };
        for read_context in sights(&world) {
            for (key, columns) in [
                ("title_cont", &["title"] as &[_]),
                ("body_cont", &["body"]),
                ("search_text_cont", &["title", "body"]),
            ] {
                // Words that are in no text, or in few.
                for word in ["xylophone", "Zebra"] {
                    let query = filtered(key, word);
                    let list = world.ports().proposals().list(read_context, &query, PAGE);
                    let (page, plans) = plans(&world, "proposals", list).await;
                    let found = page.unwrap().items.len();
                    let has_word = word == "Zebra" && columns.contains(&"title");
                    assert_eq!(found, if has_word { 20 } else { 0 }, "{engine:?}: {key} {word}");
                    let text = joined(&plans);
                    match engine {
                        Engine::Sqlite => {
                            assert!(text.contains("record_words VIRTUAL TABLE INDEX"), "{key}:\n{text}");
                            // Of the texts that are not indexed yet, those of the organization alone.
                            let own = "INDEX record_texts_to_index (organization_id=? AND scope=?)";
                            assert!(text.contains(own), "{key}:\n{text}");
                        }
                        Engine::Postgres => {
                            for column in columns {
                                let index = format!("Bitmap Index Scan on record_texts_{column}_words");
                                assert!(text.contains(&index), "{key}, no {index}:\n{text}");
                            }
                        }
                    }
                    let scan = match engine {
                        Engine::Sqlite => ["SCAN proposals", "SCAN record_texts"],
                        Engine::Postgres => ["Seq Scan on proposals", "Seq Scan on record_texts"],
                    };
                    assert!(!scan.iter().any(|scan| text.contains(scan)), "{engine:?}, {key}:\n{text}");
                }
            }
        }
    }
}

/// Shorter words have no trigram: the texts of the organization are compared, and no others.
#[tokio::test]
async fn a_word_of_two_characters_reads_the_texts_of_one_kind_of_the_organization() {
    let Some(world) = with_texts(Engine::Sqlite).await else { return };
    for word in ["x", "xy", "図書"] {
        let query = filtered("title_cont", word);
        let list = world.ports().proposals().list(sights(&world)[0], &query, PAGE);
        let (page, plans) = plans(&world, "proposals", list).await;
        assert!(page.unwrap().items.is_empty());
        let text = joined(&plans);
        let by_scope = "record_texts USING INDEX record_texts_of_record (organization_id=? AND scope=?";
        assert!(text.contains(by_scope), "{word}:\n{text}");
        assert!(!text.contains("SCAN record_texts") && !text.contains("record_words"), "{word}:\n{text}");
    }
}

#[tokio::test]
async fn a_word_of_two_characters_reads_all_texts_once_whatever_the_values() {
    let Some(world) = with_texts(Engine::Postgres).await else { return };
    let query = filtered("search_text_cont", "xy");
    let list = world.ports().proposals().list(sights(&world)[0], &query, PAGE);
    let (page, plans) = plans(&world, "proposals", list).await;
    assert!(page.unwrap().items.is_empty());
    let scan = plans.last().expect("a plan").join("\n");
    assert!(scan.contains("record_texts"), "{scan}");
    assert!(!scan.contains("record_id = proposals.id") && !scan.contains("_words"), "{scan}");
}

#[tokio::test]
async fn proposals_that_changed_since_a_time_are_found_by_an_index() {
    for engine in Engine::BOTH {
        let Some(world) = with_texts(engine).await else { continue };
        let since = (clock::now() - Duration::minutes(11)).format(&Rfc3339).unwrap();
        for read_context in sights(&world) {
            for key in ["updated_at_gteq", "updated_at_gt"] {
                let query = filtered(key, &since);
                let list = world.ports().proposals().list(read_context, &query, PAGE);
                let (page, plans) = plans(&world, "proposals", list).await;
                assert!(!page.unwrap().items.is_empty(), "{engine:?}: {key}");
                let text = joined(&plans);
                let (ranges, scan) = match engine {
                    Engine::Sqlite => ("updated_at>?", "SCAN proposals"),
                    Engine::Postgres => ("updated_at >", "Seq Scan on proposals"),
                };
                let by_index = text.lines().any(|step| {
                    let condition = engine == Engine::Sqlite || step.contains("Index Cond");
                    condition && step.contains(ranges)
                });
                assert!(by_index && !text.contains(scan), "{engine:?}, {key}:\n{text}");
            }
        }
    }
}

/// Whether a plan reads an index of proposals in its order: nothing is sorted before its rows are limited.
fn is_read_in_order(engine: Engine, plan: &[String]) -> bool {
    match engine {
        Engine::Sqlite => {
            let sorts = |step: &String| step.starts_with(' ') && step.contains("TEMP B-TREE FOR ORDER BY");
            plan.iter().any(|step| step.contains("SEARCH proposals USING")) && !plan.iter().any(sorts)
        }
        Engine::Postgres => plan.iter().enumerate().any(|(at, step)| {
            let is_of_index = step.contains(" using ") && step.contains(" on proposals");
            // Rows of one value are sorted by their ids where these descend in the index.
            let is_limited = |parent: &str| parent.contains("Limit") || parent.contains("Incremental Sort");
            is_of_index && parent(plan, at).is_some_and(|parent| is_limited(parent))
        }),
    }
}

#[tokio::test]
async fn the_first_page_of_each_order_is_read_from_an_index() {
    for engine in Engine::BOTH {
        let Some(world) = with_texts(engine).await else { continue };
        let columns = [SortColumn::Id, SortColumn::CreatedAt, SortColumn::UpdatedAt, SortColumn::Votes];
        for read_context in sights(&world) {
            for component in [None, Some(world.fixtures.ideas)] {
                for column in columns {
                    for direction in [Direction::Ascending, Direction::Descending] {
                        if (column, direction) == (SortColumn::Votes, Direction::Ascending) {
                            // Of no use: most proposals have no vote. It has no index, which each vote would write.
                            continue;
                        }
                        let order = Order::By(Sort { column, direction });
                        let query =
                            ProposalQuery { within: within(component), order, ..ProposalQuery::default() };
                        let list = world.ports().proposals().list(read_context, &query, PAGE);
                        let (page, plans) = plans(&world, "proposals", list).await;
                        assert_eq!(page.unwrap().items.len(), 20);
                        let context = format!("{engine:?}, {column:?} {direction:?} in {component:?}");
                        let text = joined(&plans);
                        let reads = plans.iter().any(|plan| is_read_in_order(engine, plan));
                        assert!(reads && !text.contains("Seq Scan on proposals"), "{context}:\n{text}");
                        assert!(!text.contains("SCAN proposals"), "{context}:\n{text}");
                    }
                }
            }
        }
    }
}

#[tokio::test]
async fn a_total_is_counted_beside_the_page() {
    for engine in Engine::BOTH {
        let Some(world) = with_texts(engine).await else { continue };
        let page = PageRequest { is_counted: true, ..PAGE };
        for (query, expected) in [
            (ProposalQuery::default(), 2 * RECORDS),
            (filtered("title_cont", "zebra"), RECORDS / 100),
            (filtered("body_cont", "summer"), RECORDS),
            (filtered("title_cont", "x"), 0),
        ] {
            let list = world.ports().proposals().list(sights(&world)[0], &query, page);
            let (page, plans) = plans(&world, "proposals", list).await;
            assert_eq!(page.unwrap().total, Some(expected), "{engine:?}: {query:?}");
            assert!(plans.len() <= 4, "{engine:?}: {plans:#?}");
        }
    }
}

#[tokio::test]
async fn a_step_that_fills_texts_begins_behind_those_of_the_step_before() {
    let Some(world) = with_texts(Engine::Postgres).await else { return };
    world.database.execute("DELETE FROM record_texts WHERE record_id > 2000").await;
    let step = world.store().missing_texts().fill(world.fixtures.mine, (0, 2_000));
    let (filled, plans) = plans(&world, "proposals", step).await;
    assert!(filled.unwrap().is_some());
    let plans: Vec<_> = plans.iter().filter(|plan| plan.join("\n").contains("record_texts")).collect();
    assert_eq!(plans.len(), 2);
    for plan in plans {
        let texts = plan.iter().any(|step| step.contains("Index Cond") && step.contains("record_id > "));
        assert!(texts, "{}", plan.join("\n"));
    }
}
