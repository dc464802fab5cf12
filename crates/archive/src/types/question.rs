//! `question`: a question of a questionnaire, with its rows.

use super::{
    ExportSource, Import, ImportContext, ImportResult, OrganizationId, PatchField, RecordKind, Result,
    StoredRecord, Translated, async_trait, members, required,
};
use crate::members::{set, set_or_default};
use crate::output::ExportRow;
use crate::record::checked_id;
use civitas_kernel::{Error, MatrixRowId, QuestionId, QuestionnaireId};
use civitas_surveys::{MAX_QUESTIONS, MAX_ROWS, MatrixRow, Question, QuestionType};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashSet;

pub(super) struct QuestionRecordType;

/// A row in a line of an archive.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MatrixRowFields {
    #[serde(rename = "ref")]
    reference: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<Value>,
    position: i64,
    body: Translated,
}

members! { QuestionRecordType, "question", ports.questions(), QuestionFields, |kind, question: Question| {
    questionnaire: parent(QuestionnaireId),
    position: required(i64),
    question_type: custom(QuestionType, set_type, with(question.kind)),
    body: required(Translated),
    description: optional(Translated),
    mandatory: flag(bool),
    max_choices: optional(i64),
    max_characters: custom(i64, set_max_characters, with(question.max_characters)),
    matrix_rows: resolved(Vec<MatrixRowFields>, set_rows, with_non_empty(rows(question, false))),
}}

fn set_type(fields: &mut QuestionFields, question: &mut Question) -> ImportResult {
    set("question_type", std::mem::take(&mut fields.question_type), &mut question.kind)
}

#[expect(clippy::unnecessary_wraps, reason = "setters of other members can fail")]
fn set_max_characters(fields: &mut QuestionFields, question: &mut Question) -> ImportResult {
    set_or_default(std::mem::take(&mut fields.max_characters), &mut question.max_characters);
    Ok(())
}

/// Sets the rows. A row keeps its id if the question has one of the same ref.
async fn set_rows(
    import: &mut Import<'_, '_, QuestionRecordType>,
    fields: &mut QuestionFields,
    question: &mut Question,
) -> ImportResult {
    let given = match std::mem::take(&mut fields.matrix_rows) {
        PatchField::Absent => return Ok(()),
        PatchField::Null => Vec::new(),
        PatchField::Value(given) => given,
    };
    let mut seen = HashSet::new();
    let mut rows = Vec::new();
    for MatrixRowFields { reference, id, position, body } in given {
        if !seen.insert(reference.clone()) {
            return Err(format!("matrix_rows name {reference:?} twice").into());
        }
        let stored = question.rows.iter().find(|row| row.reference == reference);
        let id = row_id(import.context, &reference, id, stored.map(|row| row.id)).await?;
        if id.0 != 0 && rows.iter().any(|row: &MatrixRow| row.id == id) {
            return Err(format!("matrix_rows have the id {id} twice").into());
        }
        rows.push(MatrixRow { id, reference, position, body });
    }
    // New rows get their ids in the order of the file, after the stored ones.
    rows.sort_by_key(|row| (row.position, if row.id.0 == 0 { i64::MAX } else { row.id.0 }));
    question.rows = rows;
    Ok(())
}

/// The id of a row: the stored one, or that of the archive in an import that keeps ids; 0: the store assigns it.
async fn row_id(
    context: &mut ImportContext<'_>,
    reference: &str,
    given: Option<Value>,
    stored: Option<MatrixRowId>,
) -> ImportResult<MatrixRowId> {
    let given = given.map(|id| checked_id(&id)).transpose();
    let given = given.map_err(|reason| format!("matrix_rows: the id of {reference:?} {reason}"))?;
    let kept = given.filter(|_| context.options.keep_ids).map(MatrixRowId);
    match (kept, stored) {
        (Some(kept), Some(stored)) if kept != stored => {
            Err(format!("S-IDS: the row {reference:?} exists with the id {stored} instead of {kept}").into())
        }
        (Some(kept), None) => {
            context.ids.check_free(context.ports, "matrix_row", &[kept.0]).await?;
            Ok(kept)
        }
        _ => Ok(stored.unwrap_or(MatrixRowId(0))),
    }
}

fn rows(question: &Question, with_ids: bool) -> Vec<MatrixRowFields> {
    let row = |row: &MatrixRow| MatrixRowFields {
        reference: row.reference.clone(),
        id: with_ids.then(|| row.id.0.into()),
        position: row.position,
        body: row.body.clone(),
    };
    question.rows.iter().map(row).collect()
}

#[async_trait]
impl RecordKind for QuestionRecordType {
    async fn create(
        &self,
        import: &mut Import<'_, '_, Self>,
        fields: &QuestionFields,
    ) -> ImportResult<Question> {
        let questionnaire: QuestionnaireId =
            import.required_ref("questionnaire", &fields.questionnaire).await?;
        let position = required("position", &fields.position)?;
        let kind = required("question_type", &fields.question_type)?;
        let body = required("body", &fields.body)?;
        if import.context.ports.questions().count(import.owner, questionnaire).await? >= MAX_QUESTIONS {
            return Err(format!("the questionnaire has more than {MAX_QUESTIONS} questions").into());
        }
        Ok(Question::new(questionnaire, position, kind, body))
    }

    fn check(&self, _: &ImportContext<'_>, question: &mut Question) -> ImportResult {
        if question.position < 0 {
            return Err("position must be 0 or more".into());
        }
        if question.max_choices.is_some_and(|most| most < 1) {
            return Err("max_choices must be 1 or more".into());
        }
        if question.max_characters < 0 {
            return Err("max_characters must be 0 or more".into());
        }
        if !question.rows.is_empty() && !question.kind.has_rows() {
            return Err("only questions with a matrix have matrix_rows".into());
        }
        if question.rows.len() > MAX_ROWS {
            return Err(format!("matrix_rows has more than {MAX_ROWS} rows").into());
        }
        Ok(())
    }

    async fn complete(
        &self,
        source: ExportSource<'_>,
        _: OrganizationId,
        (_, question): &StoredRecord<Self>,
        row: ExportRow,
    ) -> Result<ExportRow> {
        let rows = serde_json::to_value(rows(question, true)).map_err(Error::internal)?;
        Ok(if source.with_ids { row.replace("matrix_rows", rows) } else { row })
    }

    async fn follow_up(
        &mut self,
        import: &mut Import<'_, '_, Self>,
        _: QuestionId,
        before: Option<&Question>,
        question: &Question,
    ) -> ImportResult {
        touch(import.context, import.owner, before.is_some(), question.questionnaire).await
    }
}

/// Sets the time of the last change of a questionnaire, if a record of it changed. A new record belongs to the
/// questionnaire as its own line describes it.
async fn touch(
    context: &ImportContext<'_>,
    of: OrganizationId,
    is_change: bool,
    questionnaire: QuestionnaireId,
) -> ImportResult {
    if is_change {
        context.ports.questionnaires().touch(of, questionnaire, context.options.now).await?;
    }
    Ok(())
}

/// The same if a record of a question changed.
pub(super) async fn touch_questionnaire_of_question(
    context: &ImportContext<'_>,
    of: OrganizationId,
    is_change: bool,
    question: QuestionId,
) -> ImportResult {
    if !is_change {
        return Ok(());
    }
    let found = context.ports.questions().find(of, question).await?;
    touch(context, of, true, found.ok_or(Error::NotFound)?.questionnaire).await
}
