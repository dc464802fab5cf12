//! Questionnaires, questions, options, answers, and attachments.

use super::{PAGE, RECORDS, check, plans, recorder, scans, sights};
use civitas_attachments::AttachmentReader;
use civitas_kernel::filter::{Comparison, FilterCondition};
use civitas_kernel::{QuestionId, QuestionnaireId, clock};
use civitas_surveys::{QuestionnaireField, QuestionnaireFilter};
use civitas_tests::{Engine, World};
use diesel::connection::set_default_instrumentation;

/// Checks the statements of a list that have no inner select: they read by this index. Sorted are at most the rows of
/// one questionnaire or question, which are limited.
fn check_in_order(world: &World, read: &str, plans: &[Vec<String>], table: &str, index: &str) {
    let engine = world.database.engine;
    let text = plans.iter().map(|plan| plan.join("\n")).collect::<Vec<_>>().join("\n\n");
    let sorts = |step: &String| step.contains("Sort") || step.contains("TEMP B-TREE");
    let reads = |step: &String| step.split(' ').any(|word| word == index);
    let is_limited = table != "answers";
    assert!(
        is_limited || !plans.iter().any(|plan| scans(engine, plan, table)),
        "{engine:?}, {read}:\n{text}"
    );
    assert!(is_limited || !plans.iter().flatten().any(sorts), "{engine:?}, {read} sorts:\n{text}");
    assert!(plans.iter().flatten().any(reads), "{engine:?}, {read} without {index}:\n{text}");
}

/// `INSERT INTO table (columns) SELECT values FROM source, numbers` for numbers from 1 to `times`.
async fn insert(world: &World, table: &str, times: i64, values: &[(&str, &str)], source: &str) {
    let columns: Vec<&str> = values.iter().map(|(column, _)| *column).collect();
    let chosen: Vec<&str> = values.iter().map(|(_, value)| *value).collect();
    let sql = format!(
        "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {times}) \
         INSERT INTO {table} ({}) SELECT {} FROM {source} numbers",
        columns.join(", "),
        chosen.join(", ")
    );
    world.database.execute(&sql).await;
}

const AT: &str = "'2026-01-01 09:00:00+00:00'";

/// Questionnaires, questions, options, responses and answers: [`RECORDS`] of each, half of them in one parent.
async fn questionnaires(world: &World) {
    let fixtures = &world.fixtures;
    let (mine, half) = (fixtures.mine.to_string(), RECORDS / 2);
    let (mine, nora, otto) = (mine.as_str(), fixtures.nora.to_string(), fixtures.otto.to_string());
    for component in [fixtures.surveys, fixtures.more_surveys] {
        let component = component.to_string();
        let survey =
            [("organization_id", mine), ("component_id", &component), ("created_at", AT), ("updated_at", AT)];
        insert(world, "surveys", half, &survey, "").await;
    }
    let texts = format!("'{{\"en\": \"{}\"}}'", "word ".repeat(100));
    let texts = texts.as_str();
    let rows = [
        ("organization_id", mine),
        ("component_id", "surveys.component_id"),
        ("survey_id", "surveys.id"),
        ("title", texts),
        ("description", texts),
        ("tos", texts),
        ("salt", "'salt'"),
        ("created_at", "surveys.created_at"),
        ("updated_at", "surveys.updated_at"),
    ];
    insert(world, "questionnaires", 1, &rows, "surveys,").await;
    let rows = [
        ("organization_id", mine),
        ("questionnaire_id", "questionnaires.id"),
        ("position", "1"),
        ("question_type", "'single_option'"),
        ("body", texts),
        ("mandatory", "false"),
        ("max_characters", "0"),
    ];
    insert(world, "questions", 2, &rows, "questionnaires,").await;
    let rows = [("organization_id", mine), ("question_id", "questions.id"), ("body", texts)];
    insert(world, "answer_options", 2, &rows, "questions,").await;
    for (user, prefix) in [(&nora, "'nora' || n"), (&otto, "'otto' || n")] {
        let rows = [
            ("organization_id", mine),
            ("questionnaire_id", "one.id"),
            ("user_id", user),
            ("session_token", prefix),
            ("created_at", AT),
        ];
        let source =
            "(SELECT min(id) AS id FROM questionnaires UNION ALL SELECT max(id) FROM questionnaires) AS one,";
        insert(world, "responses", half, &rows, source).await;
    }
    let rows = [
        ("organization_id", mine),
        ("questionnaire_id", "responses.questionnaire_id"),
        ("response_id", "responses.id"),
        ("question_id", "question.id"),
        ("user_id", "responses.user_id"),
        ("body", "'Words'"),
        ("created_at", "responses.created_at"),
    ];
    let source = "responses, (SELECT min(id) AS id FROM questions) AS question,";
    insert(world, "answers", 1, &rows, source).await;
}

/// As many attachments of the organization and of answers.
async fn attachments(world: &World) {
    let mine = world.fixtures.mine.to_string();
    let common = [
        ("organization_id", mine.as_str()),
        ("title", "'{}'"),
        ("description", "'{}'"),
        ("weight", "0"),
        ("link", "'https://city.example'"),
        ("created_at", AT),
        ("updated_at", AT),
    ];
    let of_city = [
        ("attached_to_type", "'Platform::Organization'"),
        ("attached_to_id", mine.as_str()),
        ("file_type", "'link'"),
    ];
    insert(world, "attachments", RECORDS, &[&common[..], &of_city].concat(), "").await;
    let of_answers = [
        ("attached_to_type", "'Platform::Forms::Answer'"),
        ("attached_to_id", "answers.id"),
        ("answer_id", "answers.id"),
        ("file_type", "'document'"),
    ];
    insert(world, "attachments", 1, &[&common[..], &of_answers].concat(), "answers,").await;
}

async fn filled(engine: Engine) -> Option<World> {
    set_default_instrumentation(recorder).unwrap();
    let world = World::fresh(engine).await?;
    questionnaires(&world).await;
    attachments(&world).await;
    world.store().analyze().await.unwrap();
    // On one connection, whose statements run on this thread.
    Some(world.in_transaction().await)
}

#[tokio::test]
async fn questionnaires_are_read_by_ranges_of_indexes() {
    for engine in Engine::BOTH {
        let Some(world) = filled(engine).await else { continue };
        let (ports, table) = (world.ports(), "questionnaires");
        let of_component = QuestionnaireFilter {
            field: QuestionnaireField::Component,
            condition: FilterCondition::Integer(Comparison::Eq(world.fixtures.surveys.0)),
        };
        for read_context in sights(&world) {
            for (filters, index) in [
                (vec![], "questionnaires_in_order"),
                (vec![of_component.clone()], "questionnaires_of_component"),
            ] {
                let list = ports.questionnaires().list(read_context, &filters, PAGE);
                let (page, steps) = plans(&world, table, list).await;
                check(&world, "list", &steps, table, (index, 1));
                assert_eq!(page.unwrap().items.len(), 20);
            }
        }
    }
}

#[tokio::test]
async fn questions_options_and_answers_are_read_in_the_order_of_an_index() {
    for engine in Engine::BOTH {
        let Some(world) = filled(engine).await else { continue };
        let (ports, mine) = (world.ports(), world.fixtures.mine);
        let (one, question) = (QuestionnaireId(1), QuestionId(1));
        let (page, steps) = plans(&world, "questions", ports.questions().list(mine, one, &[], PAGE)).await;
        check_in_order(&world, "questions", &steps, "questions", "questions_in_order");
        assert_eq!(page.unwrap().items.len(), 2);
        let list = ports.answer_options().list(mine, question, &[], PAGE);
        let (page, steps) = plans(&world, "answer_options", list).await;
        check_in_order(&world, "options", &steps, "answer_options", "answer_options_of_question");
        assert_eq!(page.unwrap().items.len(), 2);
        for (user, index) in [(None, "answers_in_order"), (Some(world.fixtures.nora), "answers_of_user")] {
            let list = ports.responses().list_answers(mine, one, user, &[], PAGE);
            let (page, steps) = plans(&world, "answers", list).await;
            check_in_order(&world, "answers", &steps, "answers", index);
            let page = page.unwrap();
            assert!(page.items.len() == 20 && page.has_more);
            let (found, steps) =
                plans(&world, "answers", ports.responses().find_by_answer(mine, page.items[0].id)).await;
            assert!(!steps.iter().any(|plan| scans(engine, plan, "answers")), "{engine:?}: {steps:#?}");
            let (response, _) = found.unwrap().unwrap();
            let (_, steps) = plans(&world, "answers", ports.responses().answer_ids(mine, response)).await;
            let by_response = |step: &String| {
                (step.contains("SEARCH") || step.contains("Index Cond")) && step.contains("response_id")
            };
            assert!(steps.iter().flatten().any(by_response), "{engine:?}: {steps:#?}");
        }
    }
}

#[tokio::test]
async fn attachments_are_read_by_ranges_of_indexes_and_without_those_of_answers() {
    for engine in Engine::BOTH {
        let Some(world) = filled(engine).await else { continue };
        let (ports, table) = (world.ports(), "attachments");
        for (read_context, reads_answers, index) in [
            (sights(&world)[0], false, "attachments_listed_but_answers"),
            (sights(&world)[1], false, "attachments_listed_but_answers"),
            (sights(&world)[0], true, "attachments_listed"),
        ] {
            let reader = AttachmentReader { read_context, reads_answers, now: clock::now() };
            let (page, steps) = plans(&world, table, ports.attachments().list(reader, &[], PAGE)).await;
            check(&world, "list", &steps, table, (index, 1));
            assert_eq!(page.unwrap().items.len(), 20);
        }
    }
}
