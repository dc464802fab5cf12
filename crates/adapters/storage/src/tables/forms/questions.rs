//! Questions, with their rows.

use crate::bounded_count::BoundedCount;
use crate::columns::{self, ColumnValue, Condition, columns};
use crate::engine::{Conn, Db};
use crate::failure::DieselResultExt;
use crate::filter::{FilterColumn, column_condition};
use crate::list_pages::list_page;
use crate::page_rows::{LoadPage, RowReadLimits};
use crate::records::records;
use crate::schema::{answers, matrix_rows, questions, responses};
use crate::session::{ExecuteExt, LoadRowsExt, Session, borrowed_connection};
use async_trait::async_trait;
use civitas_kernel::{
    AnswerId, MatrixRowId, OrganizationId, Page, PageRequest, QuestionId, QuestionnaireId, Result, Translated,
};
use civitas_surveys::{FormFilter, MAX_COUNTED, MatrixRow, Question, QuestionStore, QuestionType};
use diesel::dsl::{exists, not};
use diesel::prelude::*;
use std::collections::HashMap;

columns! {
    /// A question as its row stores it.
    questions as Question;
    read_only { id: i64 }
    fields {
        questionnaire as questionnaire_id: QuestionnaireId,
        position: i64,
        kind as question_type: QuestionType,
        body: Translated,
        description: Option<Translated>,
        mandatory: bool,
        max_choices: Option<i64>,
        max_characters: i64,
    }
    read_with { rows: Vec<MatrixRow> }
}

/// These questions with their rows.
async fn with_rows(connection: &mut Conn, found: Vec<Row>) -> Result<Vec<(QuestionId, Question)>> {
    let with_matrix: Vec<i64> =
        found.iter().filter(|row| row.question_type.0.has_rows()).map(|row| row.id).collect();
    let mut rows = load_matrix_rows(connection, &with_matrix).await?;
    let questions = found.into_iter().map(|row| {
        let rows = rows.remove(&row.id).unwrap_or_default();
        (QuestionId(row.id), row.into_model(rows))
    });
    Ok(questions.collect())
}

/// The rows of these questions, in their order.
async fn load_matrix_rows(connection: &mut Conn, ids: &[i64]) -> Result<HashMap<i64, Vec<MatrixRow>>> {
    type MatrixRowColumns = (i64, i64, String, i64, <Translated as ColumnValue>::Read);
    let mut rows: HashMap<i64, Vec<MatrixRow>> = HashMap::new();
    if ids.is_empty() {
        return Ok(rows);
    }
    let found: Vec<MatrixRowColumns> = matrix_rows::table
        .filter(columns::any_of(matrix_rows::question_id.nullable(), ids))
        .order((matrix_rows::question_id, matrix_rows::position, matrix_rows::id))
        .select((
            matrix_rows::question_id,
            matrix_rows::id,
            matrix_rows::reference,
            matrix_rows::position,
            matrix_rows::body,
        ))
        .rows_from(borrowed_connection(connection))
        .await?;
    for (question, id, reference, position, body) in found {
        let row = MatrixRow { id: MatrixRowId(id), reference, position, body: body.0 };
        rows.entry(question).or_default().push(row);
    }
    Ok(rows)
}

/// Writes the rows, if they change. A row that stays keeps its id.
async fn write_rows(
    connection: &mut Conn,
    _: OrganizationId,
    id: QuestionId,
    before: Option<&Question>,
    after: &Question,
) -> Result<()> {
    let old = before.map_or(&[][..], |before| &before.rows[..]);
    if old == after.rows {
        return Ok(());
    }
    let gone: Vec<i64> = old
        .iter()
        .filter(|row| after.rows.iter().all(|other| other.id != row.id))
        .map(|row| row.id.0)
        .collect();
    if !gone.is_empty() {
        let of_question = matrix_rows::table.filter(matrix_rows::question_id.eq(id.0));
        diesel::delete(of_question.filter(columns::any_of(matrix_rows::id.nullable(), &gone)))
            .run_on(borrowed_connection(connection))
            .await?;
    }
    for row in after.rows.iter().filter(|row| !old.contains(row)) {
        let values = (
            matrix_rows::question_id.eq(id.0),
            matrix_rows::reference.eq(&row.reference),
            matrix_rows::position.eq(row.position),
            matrix_rows::body.eq(row.body.to_column()),
        );
        let is_stored = old.iter().any(|other| other.id == row.id);
        if is_stored {
            let stored = matrix_rows::table.filter(matrix_rows::id.eq(row.id.0));
            diesel::update(stored).set(values).run_on(borrowed_connection(connection)).await?;
        } else {
            // Of an import that keeps ids.
            let assigned = (row.id.0 != 0).then(|| matrix_rows::id.eq(row.id.0));
            diesel::insert_into(matrix_rows::table)
                .values((assigned, values))
                .run_on(borrowed_connection(connection))
                .await?;
        }
    }
    Ok(())
}

fn condition(filter: &FormFilter) -> Result<Condition<questions::table>> {
    column_condition(FilterColumn::Integer(Box::new(questions::id.nullable())), &filter.condition)
}

records! {
    scoped questions: QuestionId => Question;
    read with_rows;
    write write_rows;
}

#[async_trait]
impl QuestionStore for Session {
    async fn list(
        &self,
        organization: OrganizationId,
        questionnaire: QuestionnaireId,
        filters: &[FormFilter],
        page: PageRequest,
    ) -> Result<Page<(QuestionId, Question)>> {
        let connection = &mut *self.read_page(page, false).await?;
        let of_parent = || rows_of(organization).filter(questions::questionnaire_id.eq(questionnaire.0));
        let rows = || of_parent().select(columns::all_columns::<Row>()).into_boxed::<Db>();
        let page: Page<Row> = list_page!(connection, page, self.bounds; rows();
            filters, |filter| condition(filter);
            [questions::id, questions::id, questions::id; questions::id], (questions::position, questions::id));
        Ok(Page::new(with_rows(connection, page.items).await?, page.has_more).with_total(page.total))
    }

    async fn count(&self, organization: OrganizationId, questionnaire: QuestionnaireId) -> Result<i64> {
        let questions = rows_of(organization).filter(questions::questionnaire_id.eq(questionnaire.0)).count();
        questions.value_from(self.read()).await
    }

    async fn has_answers(&self, organization: OrganizationId, id: QuestionId) -> Result<bool> {
        let answers = answers::table
            .filter(answers::question_id.eq(id.0))
            .filter(answers::organization_id.eq(organization.0));
        diesel::select(exists(answers)).value_from(self.read()).await
    }

    async fn count_answers(&self, organization: OrganizationId, id: QuestionId) -> Result<i64> {
        let some = answers::table
            .filter(answers::question_id.eq(id.0))
            .filter(answers::organization_id.eq(organization.0))
            .limit(MAX_COUNTED)
            .select(answers::organization_id);
        let (number, ..): (i64, i64, Option<i64>, Option<i64>) =
            BoundedCount(some).value_from(self.read()).await?;
        Ok(number)
    }

    async fn answers_with_files(
        &self,
        organization: OrganizationId,
        id: QuestionId,
    ) -> Result<Vec<AnswerId>> {
        let ids: Vec<i64> = answers::table
            .filter(answers::question_id.eq(id.0))
            .filter(answers::organization_id.eq(organization.0))
            .filter(answers::value.is_not_null())
            .select(answers::id)
            .rows_from(self.read())
            .await?;
        Ok(ids.into_iter().map(AnswerId).collect())
    }

    async fn remove(&self, organization: OrganizationId, id: QuestionId) -> Result<()> {
        let atomic = self.transaction().await?;
        let own = rows_of(organization).filter(questions::id.eq(id.0)).select(questions::questionnaire_id);
        let questionnaire: Option<i64> = own.first_from(atomic.connection()).await?;
        diesel::delete(rows_of(organization).filter(questions::id.eq(id.0)))
            .change_on(atomic.connection())
            .await?;
        let left = answers::table.filter(answers::response_id.eq(responses::id));
        let empty = responses::table
            .filter(responses::organization_id.eq(organization.0))
            .filter(responses::questionnaire_id.eq(questionnaire.unwrap_or_default()))
            .filter(not(exists(left)));
        diesel::delete(empty).run_on(atomic.connection()).await?;
        atomic.commit().await
    }
}

/// The questions of these questionnaires.
pub(super) async fn load_for_questionnaires(
    connection: &mut Conn,
    organization: OrganizationId,
    ids: &[i64],
    bounds: RowReadLimits,
) -> Result<Vec<(QuestionId, Question)>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let rows: Vec<Row> = rows_of(organization)
        .filter(columns::any_of(questions::questionnaire_id.nullable(), ids))
        .select(columns::all_columns::<Row>())
        .load_page(connection, bounds)
        .await
        .map_db_error()?;
    with_rows(connection, rows).await
}
