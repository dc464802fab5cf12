//! Sheet 13 §5.11: `survey`, `questionnaire`, `question`, `answer_option`, `display_condition`.
//! The responses are in `responses`.

use super::{ExtractionRun, Result, Row, each_row, kind_of, reference, write_row_record};
use crate::settings::boolean;
use crate::version::Version;
use civitas_surveys::{ConditionType, QuestionType};
use serde_json::{Value, json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// `global` and `phase`: the settings of the component, where Decidim 0.29 has the members of a survey.
const SURVEYS: &str = "SELECT t.*, c.settings->'global' AS global, CASE WHEN s.id IS NULL \
         THEN c.settings->'default_step' ELSE c.settings->'steps'->s.id::text END AS phase \
     FROM decidim_surveys_surveys t \
     LEFT JOIN decidim_components c ON c.id = t.decidim_component_id \
     LEFT JOIN decidim_participatory_process_steps s ON s.active \
         AND c.participatory_space_type = 'Decidim::ParticipatoryProcess' \
         AND s.decidim_participatory_process_id = c.participatory_space_id \
     ORDER BY t.id";

/// `place`: the position among the questionnaires of the same host, those with questions first.
const QUESTIONNAIRES: &str = "SELECT t.*, row_number() OVER (PARTITION BY t.questionnaire_for_type, \
         t.questionnaire_for_id ORDER BY q.id IS NULL, t.id) AS place \
     FROM decidim_forms_questionnaires t \
     LEFT JOIN (SELECT DISTINCT decidim_questionnaire_id AS id FROM decidim_forms_questions) q ON q.id = t.id \
     ORDER BY t.id";

/// Questions and rows without a position come last, in the order of their ids.
const QUESTIONS: &str = "SELECT t.*, r.matrix_rows, coalesce(t.position, \
         coalesce(max(t.position) OVER (PARTITION BY t.decidim_questionnaire_id), -1) + count(*) \
             FILTER (WHERE t.position IS NULL) OVER (PARTITION BY t.decidim_questionnaire_id ORDER BY t.id)) AS place \
     FROM decidim_forms_questions t \
     LEFT JOIN (SELECT decidim_question_id, json_agg(json_build_object('id', id, 'position', position, 'body', body) \
             ORDER BY position, id) AS matrix_rows \
         FROM decidim_forms_question_matrix_rows GROUP BY decidim_question_id) r ON r.decidim_question_id = t.id \
     ORDER BY t.id";

const OPTIONS: &str = "SELECT t.*, q.question_type FROM decidim_forms_response_options t \
     LEFT JOIN decidim_forms_questions q ON q.id = t.decidim_question_id ORDER BY t.id";

/// `is_earlier`: the condition question comes before the question, in the same questionnaire. `option`: the option, if it
/// is one of the condition question.
const CONDITIONS: &str = "WITH positions AS (SELECT id, decidim_questionnaire_id, row_number() OVER ( \
         PARTITION BY decidim_questionnaire_id ORDER BY position, id) AS ordinal FROM decidim_forms_questions) \
     SELECT t.*, c.ordinal < q.ordinal AS is_earlier, o.id AS option \
     FROM decidim_forms_display_conditions t \
     LEFT JOIN positions q ON q.id = t.decidim_question_id \
     LEFT JOIN positions c ON c.id = t.decidim_condition_question_id \
         AND c.decidim_questionnaire_id = q.decidim_questionnaire_id \
     LEFT JOIN decidim_forms_response_options o ON o.id = t.decidim_response_option_id \
         AND o.decidim_question_id = t.decidim_condition_question_id \
     ORDER BY t.id";

pub(super) async fn write(run: &mut ExtractionRun<'_>) -> Result {
    let mut rows = run.source.rows("decidim_surveys_surveys", SURVEYS).await?;
    while let Some(row) = rows.next().await? {
        survey(run, &row).await?;
    }
    each_row(run, "decidim_forms_questionnaires", QUESTIONNAIRES, questionnaire).await?;
    each_row(run, "decidim_forms_questions", QUESTIONS, question).await?;
    each_row(run, "decidim_forms_response_options", OPTIONS, answer_option).await?;
    each_row(run, "decidim_forms_display_conditions", CONDITIONS, display_condition).await
}

async fn survey(run: &mut ExtractionRun<'_>, row: &Row) -> Result {
    let Some((of, _)) = run.organization_and_component("survey", row, "surveys")? else { return Ok(()) };
    let (mut starts_at, mut ends_at) = (row.time("starts_at"), row.time("ends_at"));
    let mut is_open = row.flag("allow_responses") && !row.time("published_at").is_null();
    let mut is_for_all = row.flag("allow_unregistered");
    if run.source.version == Version::V29 {
        let setting = |part: &str, name: &str| row.get(part).get(name).cloned().unwrap_or_default();
        starts_at = local_time(run, &setting("global", "starts_at"), of).await?;
        ends_at = local_time(run, &setting("global", "ends_at"), of).await?;
        is_open = boolean(&setting("phase", "allow_answers")) == Some(true);
        is_for_all = boolean(&setting("phase", "allow_unregistered")) == Some(true);
    }
    if !is_open {
        ends_at = earlier(ends_at, row.time("updated_at"));
        run.codes.count_loss("W-SURVEYCLOSED", row.table, row.id());
    }
    if !is_for_all {
        run.codes.count_loss("W-ANONYMOUS", row.table, row.id());
    }
    write_row_record(run, "survey", row, of, json!({ "starts_at": starts_at, "ends_at": ends_at }))
}

/// A time in ISO 8601, without an offset in the time zone of the organization. Null if it is none.
async fn local_time(run: &ExtractionRun<'_>, text: &Value, of: i64) -> Result<Value> {
    let text = text.as_str().unwrap_or_default();
    if OffsetDateTime::parse(text, &Rfc3339).is_ok() {
        return Ok(text.into());
    }
    let zone = run.organizations.get(&of).map_or("UTC", |facts| facts.time_zone.as_str());
    let Some(local) = without_offset(text) else { return Ok(Value::Null) };
    let statement = format!(
        "SELECT to_char(timestamp '{local}' AT TIME ZONE '{zone}' AT TIME ZONE 'UTC', \
         'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')"
    );
    run.source.value(&statement).await
}

/// A time without offset, with seconds.
fn without_offset(text: &str) -> Option<String> {
    let text = text.trim().replacen(' ', "T", 1);
    [text.clone(), format!("{text}:00"), format!("{text}T00:00:00")]
        .into_iter()
        .find(|text| OffsetDateTime::parse(&format!("{text}Z"), &Rfc3339).is_ok())
}

/// The earlier of two times in UTC; null is no time.
fn earlier(first: Value, second: Value) -> Value {
    let parsed = |time: &Value| OffsetDateTime::parse(time.as_str().unwrap_or_default(), &Rfc3339).ok();
    match (parsed(&first), parsed(&second)) {
        (Some(one), Some(other)) if one <= other => first,
        (Some(_), None) => first,
        _ => second,
    }
}

fn questionnaire(run: &mut ExtractionRun<'_>, row: &Row) -> Result {
    let (kind, host) = (kind_of(row.str("questionnaire_for_type")), row.int("questionnaire_for_id"));
    if !["survey", "meeting"].contains(&kind) || run.outcome(kind, host).is_none() {
        run.counts(None, "questionnaire").source += 1;
        return run.drop_to_residue("questionnaire", row, None, "W-FORM");
    }
    let Some(of) = run.organization_of("questionnaire", row, kind, host)? else { return Ok(()) };
    if row.int("place") != Some(1) {
        return run.drop_to_residue("questionnaire", row, Some(of), "W-FORM");
    }
    write_row_record(run, "questionnaire", row, of, json!({ kind: reference(host) }))
}

/// The type of a question; 0.31 has renamed two of them.
pub(super) fn question_type(row: &Row) -> Option<QuestionType> {
    QuestionType::parse(match row.str("question_type") {
        "short_response" => "short_answer",
        "long_response" => "long_answer",
        other => other,
    })
}

fn question(run: &mut ExtractionRun<'_>, row: &Row) -> Result {
    let parent = row.int("decidim_questionnaire_id");
    let Some(of) = run.organization_of("question", row, "questionnaire", parent)? else { return Ok(()) };
    let Some(kind) = question_type(row) else {
        return run.drop_to_residue("question", row, Some(of), "W-QUESTION");
    };
    let members = json!({
        "position": row.int("place").map(|position| position.max(0)),
        "question_type": kind.as_str(),
        "description": match row.get("description") {
            Value::Null => Value::Null,
            _ => run.content(row, "description", of),
        },
        "max_choices": row.int("max_choices").filter(|most| *most > 0),
        "max_characters": row.int("max_characters").map(|most| most.max(0)),
        "matrix_rows": matrix_rows(run, row, kind, of)?,
    });
    write_row_record(run, "question", row, of, members)
}

/// The rows of a matrix; null for other questions.
fn matrix_rows(run: &mut ExtractionRun<'_>, row: &Row, kind: QuestionType, of: i64) -> Result<Value> {
    let (mut rows, mut next) = (Vec::new(), 0);
    for matrix_row in row.children("matrix_rows", "decidim_forms_question_matrix_rows") {
        if !kind.has_rows() {
            run.write_loss(&matrix_row, Some(of), "W-ORPHAN")?;
            continue;
        }
        let (id, position) = (matrix_row.id(), matrix_row.int("position").unwrap_or(next));
        next = position.saturating_add(1);
        let body = run.content(&matrix_row, "body", of);
        rows.push(json!({ "ref": id.to_string(), "id": id, "position": position, "body": body }));
    }
    Ok(if kind.has_rows() { rows.into() } else { Value::Null })
}

fn answer_option(run: &mut ExtractionRun<'_>, row: &Row) -> Result {
    let question = row.int("decidim_question_id");
    let Some(of) = run.organization_of("answer_option", row, "question", question)? else { return Ok(()) };
    if !question_type(row).is_some_and(QuestionType::has_options) {
        return run.drop_to_residue("answer_option", row, Some(of), "W-ORPHAN");
    }
    write_row_record(run, "answer_option", row, of, Value::Null)
}

fn display_condition(run: &mut ExtractionRun<'_>, row: &Row) -> Result {
    let (question, other) = (row.int("decidim_question_id"), row.int("decidim_condition_question_id"));
    let Some(of) = run.organization_of("display_condition", row, "question", question)? else {
        return Ok(());
    };
    let value = run.content(row, "condition_value", of);
    let option = row.int("option").filter(|option| run.is_imported("answer_option", Some(*option), of));
    let kind = condition_type(row.int("condition_type"), option, &value);
    let (Some(kind), true) = (kind, row.flag("is_earlier") && run.is_imported("question", other, of)) else {
        return run.drop_to_residue("display_condition", row, Some(of), "W-CONDITION");
    };
    let has_option = matches!(kind, ConditionType::Equal | ConditionType::NotEqual);
    let members = json!({
        "condition_type": kind.as_str(),
        "answer_option": reference(option.filter(|_| has_option)),
        "value": Some(value).filter(|_| kind == ConditionType::Match),
    });
    write_row_record(run, "display_condition", row, of, members)
}

/// The type of a condition; `None` if it has no option or value to compare with.
fn condition_type(number: Option<i64>, option: Option<i64>, value: &Value) -> Option<ConditionType> {
    let has_value = value.as_object().is_some_and(|value| !value.is_empty());
    match number? {
        0 => Some(ConditionType::Answered),
        1 => Some(ConditionType::NotAnswered),
        2 if option.is_some() => Some(ConditionType::Equal),
        3 if option.is_some() => Some(ConditionType::NotEqual),
        4 if has_value => Some(ConditionType::Match),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(columns: &Value) -> Row {
        Row { table: "decidim_forms_questions", columns: columns.as_object().unwrap().clone() }
    }

    #[test]
    fn a_closed_survey_ends_when_it_was_last_changed_if_not_before() {
        let (january, may) = (json!("2025-01-01T00:00:00Z"), json!("2025-05-01T00:00:00.5Z"));
        assert_eq!(earlier(january.clone(), may.clone()), january);
        assert_eq!(earlier(may.clone(), january.clone()), january);
        assert_eq!(earlier(Value::Null, may.clone()), may);
    }

    #[test]
    fn times_without_an_offset_are_recognised() {
        assert_eq!(without_offset("2025-05-01 10:00").as_deref(), Some("2025-05-01T10:00:00"));
        assert_eq!(without_offset("2025-05-01T10:00:00.000").as_deref(), Some("2025-05-01T10:00:00.000"));
        assert_eq!(without_offset("2025-05-01").as_deref(), Some("2025-05-01T00:00:00"));
        for none in ["", "soon", "2025-13-01", "2025-05-01'; --"] {
            assert_eq!(without_offset(none), None, "{none}");
        }
    }

    #[test]
    fn question_types_of_all_versions_are_recognised() {
        let of = |name: &str| question_type(&row(&json!({ "question_type": name })));
        assert_eq!(of("short_response"), Some(QuestionType::ShortAnswer));
        assert_eq!(of("long_answer"), Some(QuestionType::LongAnswer));
        assert_eq!(of("drawing"), None);
    }

    #[test]
    fn a_condition_has_what_it_compares_with() {
        let of = |number: i64, option, value: Value| condition_type(Some(number), option, &value);
        assert_eq!(of(0, None, json!({})), Some(ConditionType::Answered));
        assert_eq!(of(2, Some(1), json!({})), Some(ConditionType::Equal));
        assert_eq!(of(3, None, json!({})), None);
        assert_eq!(of(4, None, json!({ "en": "tram" })), Some(ConditionType::Match));
        assert_eq!(of(4, None, json!({})), None);
        assert_eq!(of(5, None, json!({})), None);
    }
}
