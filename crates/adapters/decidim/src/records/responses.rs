//! Sheet 13 §5.11: `questionnaire_response`. The source has a row for each answered question.

use super::forms::question_type;
use super::{ExtractionRun, Result, Row, attachments, reference, user_loss_code, write_row_record};
use civitas_surveys::QuestionType;
use serde_json::{Map, Value, json};
use std::collections::HashSet;

/// One row for each response, with its `rows`. `place`: the position among the responses of the user. Options and rows of
/// choices are null if they are not those of the question.
fn statement() -> String {
    let files = attachments::FILES;
    format!(
        "SELECT min(t.id) AS id, t.decidim_questionnaire_id, t.decidim_user_id, min(t.ip_hash) AS ip_hash, \
             min(t.created_at) AS created_at, min(z.questionnaire_for_type) AS questionnaire_for_type, \
             row_number() OVER (PARTITION BY t.decidim_questionnaire_id, t.decidim_user_id ORDER BY min(t.id)) AS place, \
             json_agg(json_build_object('id', t.id, 'decidim_question_id', q.id, 'question_type', q.question_type, \
                 'body', t.body, 'choices', c.choices, 'files', f.files) ORDER BY t.id) AS rows \
         FROM decidim_forms_responses t \
         LEFT JOIN decidim_forms_questionnaires z ON z.id = t.decidim_questionnaire_id \
         LEFT JOIN decidim_forms_questions q ON q.id = t.decidim_question_id \
             AND q.decidim_questionnaire_id = t.decidim_questionnaire_id \
         LEFT JOIN (SELECT x.decidim_response_id, json_agg(json_build_object('id', x.id, 'option', o.id, 'row', m.id, \
                 'position', x.position, 'custom_body', x.custom_body) ORDER BY x.id) AS choices \
             FROM decidim_forms_response_choices x \
             JOIN decidim_forms_responses y ON y.id = x.decidim_response_id \
             LEFT JOIN decidim_forms_response_options o ON o.id = x.decidim_response_option_id \
                 AND o.decidim_question_id = y.decidim_question_id \
             LEFT JOIN decidim_forms_question_matrix_rows m ON m.id = x.decidim_question_matrix_row_id \
                 AND m.decidim_question_id = y.decidim_question_id \
             GROUP BY x.decidim_response_id) c ON c.decidim_response_id = t.id \
         LEFT JOIN (SELECT a.attached_to_id, json_agg(row_to_json(a) ORDER BY a.id) AS files FROM ({files}) a \
             WHERE a.attached_to_type IN ('Decidim::Forms::Response', 'Decidim::Forms::Answer') \
             GROUP BY a.attached_to_id) f ON f.attached_to_id = t.id \
         GROUP BY t.decidim_questionnaire_id, t.decidim_user_id, t.session_token, \
             CASE WHEN t.decidim_user_id IS NULL AND t.session_token = '' THEN t.ip_hash END, \
             CASE WHEN t.decidim_user_id IS NULL AND t.session_token = '' \
                 THEN date_trunc('second', t.created_at) END \
         ORDER BY min(t.id)"
    )
}

pub(super) async fn write(run: &mut ExtractionRun<'_>) -> Result {
    let mut rows = run.source.rows("decidim_forms_responses", &statement()).await?;
    while let Some(row) = rows.next().await? {
        response(run, &row).await?;
    }
    Ok(())
}

async fn response(run: &mut ExtractionRun<'_>, row: &Row) -> Result {
    const KIND: &str = "questionnaire_response";
    let questionnaire = row.int("decidim_questionnaire_id");
    let Some(of) = run.organization_of(KIND, row, "questionnaire", questionnaire)? else { return Ok(()) };
    let user = row.int("decidim_user_id");
    if user.is_some() && row.int("place") != Some(1) {
        return run.drop_to_residue(KIND, row, Some(of), "W-RESPONSE");
    }
    let given = row.children("rows", "decidim_forms_responses");
    let is_answer = |row: &Row| {
        answered_type(row).is_some() && run.is_imported("question", row.int("decidim_question_id"), of)
    };
    if !given.iter().any(is_answer) {
        return run.drop_to_residue(KIND, row, Some(of), "W-ORPHAN");
    }
    let loss_code = user.and_then(|user| user_loss_code(run, Some(user), of));
    match loss_code {
        Some(code) if row.str("questionnaire_for_type") == "Decidim::Meetings::Meeting" => {
            return run.drop_to_residue(KIND, row, Some(of), code);
        }
        Some(code) => run.write_loss(row, Some(of), code)?,
        None => {}
    }
    let (mut answers, mut row_ids) = (Map::new(), Map::new());
    for answer in &given {
        let Some(question) = answer.int("decidim_question_id").map(|id| id.to_string()) else {
            run.write_loss(answer, Some(of), "W-ORPHAN")?;
            continue;
        };
        // Questions of unknown types are left out with the answers to them.
        let Some(kind) = answered_type(answer) else { continue };
        if answers.contains_key(&question) {
            run.write_loss(answer, Some(of), "W-RESPONSE")?;
            continue;
        }
        answers.insert(question.clone(), value(run, answer, kind, of).await?);
        row_ids.insert(question, answer.id().into());
    }
    let user = reference(user.filter(|_| loss_code.is_none()));
    write_row_record(run, KIND, row, of, json!({ "user": user, "answers": answers, "row_ids": row_ids }))
}

/// The type of the question of a row; `None` if it takes no answers.
fn answered_type(row: &Row) -> Option<QuestionType> {
    question_type(row).filter(|kind| !kind.is_presentation())
}

/// The answer to a question; null if it has none.
async fn value(run: &mut ExtractionRun<'_>, answer: &Row, kind: QuestionType, of: i64) -> Result<Value> {
    let files = files(run, answer, kind, of).await?;
    if kind == QuestionType::Files {
        return Ok(Some(files).filter(|files| !files.is_empty()).into());
    }
    if !kind.has_options() {
        return Ok(answer.filled("body").into());
    }
    let mut choices = Vec::new();
    for choice in answer.children("choices", "decidim_forms_response_choices") {
        if choice.filled("custom_body").is_some() {
            run.write_loss(&choice, Some(of), "W-FREETEXT")?;
        }
        let row = choice.int("row").filter(|_| kind.has_rows());
        match choice.int("option").filter(|option| run.is_imported("answer_option", Some(*option), of)) {
            Some(option) if row.is_some() == kind.has_rows() => {
                choices.push(Choice { option, row, position: choice.int("position") });
            }
            _ => run.write_loss(&choice, Some(of), "W-ORPHAN")?,
        }
    }
    let (value, lost) = chosen(kind, choices);
    for _ in 0..lost {
        run.codes.count_loss("W-RESPONSE", answer.table, answer.id());
    }
    Ok(value)
}

/// The files of an answer. Only questions for files have any.
async fn files(run: &mut ExtractionRun<'_>, answer: &Row, kind: QuestionType, of: i64) -> Result<Vec<Value>> {
    let mut files = Vec::new();
    for file in answer.children("files", "decidim_attachments") {
        if kind != QuestionType::Files {
            run.write_loss(&file, Some(of), "W-PARENT")?;
            continue;
        }
        match attachments::content(run, &file).await? {
            Ok(mut content) => {
                content.insert("id".to_owned(), file.id().into());
                files.push(content.into());
            }
            Err(code) => run.write_loss(&file, Some(of), code)?,
        }
    }
    Ok(files)
}

/// A chosen option; in a matrix with its row.
struct Choice {
    option: i64,
    row: Option<i64>,
    position: Option<i64>,
}

/// The value of an answer with these choices in the order of their ids, and how many choices it does not have: those that
/// repeat another one, and further ones where one is possible.
fn chosen(kind: QuestionType, mut choices: Vec<Choice>) -> (Value, usize) {
    let is_single = matches!(kind, QuestionType::SingleOption | QuestionType::MatrixSingle);
    let (all, mut seen) = (choices.len(), HashSet::new());
    choices.retain(|choice| seen.insert((choice.row, Some(choice.option).filter(|_| !is_single))));
    let lost = all - choices.len();
    if kind == QuestionType::Sorting {
        choices.sort_by_key(|choice| (choice.position.is_none(), choice.position));
    }
    let mut options: Vec<Value> = Vec::new();
    let mut by_row = Map::new();
    for Choice { option, row, .. } in choices {
        let option = Value::from(option.to_string());
        let Some(row) = row.map(|row| row.to_string()) else {
            options.push(option);
            continue;
        };
        if is_single {
            by_row.insert(row, option);
        } else if let Value::Array(list) = by_row.entry(row).or_insert_with(|| json!([])) {
            list.push(option);
        }
    }
    let value = match (options.is_empty(), by_row.is_empty()) {
        (true, true) => Value::Null,
        (true, false) => by_row.into(),
        (false, _) => options.into(),
    };
    (value, lost)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value_of(kind: QuestionType, choices: &[(i64, Option<i64>, Option<i64>)]) -> (Value, usize) {
        let choice = |(option, row, position): &(i64, Option<i64>, Option<i64>)| Choice {
            option: *option,
            row: *row,
            position: *position,
        };
        chosen(kind, choices.iter().map(choice).collect())
    }

    #[test]
    fn options_are_in_the_order_of_their_choices_and_sorted_ones_by_position() {
        let several = [(8, None, Some(2)), (6, None, Some(0)), (7, None, None)];
        assert_eq!(value_of(QuestionType::MultipleOption, &several), (json!(["8", "6", "7"]), 0));
        assert_eq!(value_of(QuestionType::Sorting, &several), (json!(["6", "8", "7"]), 0));
        assert_eq!(value_of(QuestionType::Sorting, &[]), (Value::Null, 0));
    }

    #[test]
    fn a_matrix_has_its_choices_by_row() {
        let by_row = [(9, Some(1), None), (10, Some(2), None), (11, Some(2), None)];
        let several = json!({ "1": ["9"], "2": ["10", "11"] });
        assert_eq!(value_of(QuestionType::MatrixMultiple, &by_row), (several, 0));
        let single = json!({ "1": "9", "2": "10" });
        assert_eq!(value_of(QuestionType::MatrixSingle, &by_row), (single, 1));
    }

    #[test]
    fn further_and_repeated_choices_are_lost() {
        let twice = [(1, None, None), (2, None, None), (1, None, None)];
        assert_eq!(value_of(QuestionType::SingleOption, &twice), (json!(["1"]), 2));
        assert_eq!(value_of(QuestionType::MultipleOption, &twice), (json!(["1", "2"]), 1));
    }
}
