//! Responses and their answers.

use crate::columns::{self, Condition, JsonColumn, LongText, columns};
use crate::engine::sql::{Json, Moment};
use crate::engine::{Conn, Db};
use crate::filter::{FilterColumn, column_condition};
use crate::list_pages::list_page;
use crate::log_pages::log_page;
use crate::records::records;
use crate::schema::{answers, responses};
use crate::session::{ExecuteExt, LoadRowsExt, Session, borrowed_connection};
use crate::tables::planner::BoxedSql;
use crate::tables::select::SqlTemplate;
use async_trait::async_trait;
use civitas_kernel::{
    AnswerId, LogPage, LogRequest, OrganizationId, Page, PageRequest, QuestionId, QuestionnaireId,
    ResponseId, Result, UserId,
};
use civitas_surveys::{
    AnswerDetail, AnswerField, AnswerFilter, AnswerRow, Response, ResponseDetail, ResponseStore,
};
use diesel::dsl::{self, Eq, Filter};
use diesel::prelude::*;
use diesel::sql_types::{Nullable, Text};
use serde_json::Value;
use std::collections::HashMap;
use time::OffsetDateTime;

columns! {
    /// A response as its row stores it.
    responses as Response;
    read_only { id: i64 }
    fields {
        questionnaire as questionnaire_id: QuestionnaireId,
        user as user_id: Option<UserId>,
        session_token: String,
        client_ip: Option<String>,
        created_at: OffsetDateTime,
    }
    read_with { answers: Vec<AnswerRow> }
}

/// An answer as its row stores it.
#[derive(Queryable, Selectable)]
#[diesel(table_name = answers, check_for_backend(Db))]
struct StoredAnswer {
    id: i64,
    response_id: i64,
    question_id: i64,
    questionnaire_id: i64,
    body: Option<LongText>,
    value: Option<JsonColumn<Value>>,
    created_at: OffsetDateTime,
}

impl StoredAnswer {
    fn row(self) -> AnswerRow {
        let value = self.value.map(|value| value.0);
        AnswerRow { question: QuestionId(self.question_id), body: self.body.map(|body| body.0), value }
    }
}

impl From<StoredAnswer> for AnswerDetail {
    fn from(stored: StoredAnswer) -> Self {
        Self {
            id: AnswerId(stored.id),
            questionnaire: QuestionnaireId(stored.questionnaire_id),
            created_at: stored.created_at,
            row: stored.row(),
        }
    }
}

fn condition(filter: &AnswerFilter) -> Result<Condition<answers::table>> {
    let column = match filter.field {
        AnswerField::Id => FilterColumn::Integer(Box::new(answers::id.nullable())),
        AnswerField::CreatedAt => FilterColumn::Time(Box::new(answers::created_at.nullable())),
    };
    column_condition(column, &filter.condition)
}

type ScopedAnswers = Filter<answers::table, Eq<answers::organization_id, i64>>;
/// The answers of one organization.
fn answers_of(organization: OrganizationId) -> ScopedAnswers {
    answers::table.filter(answers::organization_id.eq(organization.0))
}

/// The answers of these responses, in the order of ids.
async fn answers_of_responses(connection: &mut Conn, ids: &[i64]) -> Result<Vec<StoredAnswer>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    answers::table
        .filter(columns::any_of(answers::response_id.nullable(), ids))
        .order(answers::id)
        .select(columns::all_columns::<StoredAnswer>())
        .rows_from(borrowed_connection(connection))
        .await
}

/// These responses with their answers.
async fn with_answers(connection: &mut Conn, rows: Vec<Row>) -> Result<Vec<(ResponseId, Response)>> {
    let ids: Vec<i64> = rows.iter().map(|row| row.id).collect();
    let mut answers: HashMap<i64, Vec<AnswerRow>> = HashMap::new();
    for answer in answers_of_responses(connection, &ids).await? {
        answers.entry(answer.response_id).or_default().push(answer.row());
    }
    let responses = rows.into_iter().map(|row| {
        let answers = answers.remove(&row.id).unwrap_or_default();
        (ResponseId(row.id), row.into_model(answers))
    });
    Ok(responses.collect())
}

/// Writes the answers, if they change: new ones replace all.
async fn write_answers(
    connection: &mut Conn,
    organization: OrganizationId,
    id: ResponseId,
    before: Option<&Response>,
    after: &Response,
) -> Result<()> {
    let is_same = |before: &Response| {
        (&before.answers, before.user, before.questionnaire, before.created_at)
            == (&after.answers, after.user, after.questionnaire, after.created_at)
    };
    if before.is_some_and(is_same) {
        return Ok(());
    }
    if before.is_some() {
        diesel::delete(answers_of(organization).filter(answers::response_id.eq(id.0)))
            .run_on(borrowed_connection(connection))
            .await?;
    }
    if after.answers.is_empty() {
        return Ok(());
    }
    let (questionnaire, at) = (after.questionnaire.0, after.created_at);
    let user = after.user.map_or_else(|| "NULL".to_owned(), |user| user.0.to_string());
    let (mut rows, mut values): (Vec<String>, Vec<BoxedSql>) = (Vec::new(), Vec::new());
    for AnswerRow { question, body, value } in &after.answers {
        rows.push(format!(
            "({}, {questionnaire}, {}, {}, {user}, ?, ?, ?)",
            organization.0, id.0, question.0
        ));
        values.push(Box::new(body.clone().into_sql::<Nullable<Text>>()));
        values.push(Box::new(value.clone().map(JsonColumn).into_sql::<Nullable<Json>>()));
        values.push(Box::new(at.into_sql::<Nullable<Moment>>()));
    }
    let text = format!(
        "INSERT INTO answers (organization_id, questionnaire_id, response_id, question_id, user_id, body, value, \
         created_at) VALUES {}?",
        rows.join(", ")
    );
    // The text depends on the numbers: it is not cached.
    values.push(Box::new(dsl::sql::<Text>("")));
    SqlTemplate::<()>::new(text, values).done_on(borrowed_connection(connection)).await
}

records! {
    scoped responses: ResponseId => Response;
    read with_answers;
    write write_answers;
}

#[async_trait]
impl ResponseStore for Session {
    async fn find_by_answer(
        &self,
        organization: OrganizationId,
        id: AnswerId,
    ) -> Result<Option<(ResponseId, ResponseDetail)>> {
        let connection = &mut *self.read().await?;
        let named = answers_of(organization).filter(answers::id.eq(id.0)).select(answers::response_id);
        let row: Option<Row> = rows_of(organization)
            .filter(responses::id.eq_any(named))
            .select(columns::all_columns::<Row>())
            .first_from(borrowed_connection(connection))
            .await?;
        let Some(row) = row else { return Ok(None) };
        let response = ResponseId(row.id);
        let answers = answers_of_responses(connection, &[response.0]).await?;
        let Some(first) = answers.iter().map(|answer| AnswerId(answer.id)).next() else { return Ok(None) };
        let stored = row.into_model(answers.into_iter().map(StoredAnswer::row).collect());
        let changed_at = stored.created_at;
        Ok(Some((response, ResponseDetail { id: first, response: stored, changed_at })))
    }

    async fn answer_ids(
        &self,
        organization: OrganizationId,
        id: ResponseId,
    ) -> Result<Vec<(QuestionId, AnswerId)>> {
        let ids: Vec<(i64, i64)> = answers_of(organization)
            .filter(answers::response_id.eq(id.0))
            .order(answers::id)
            .select((answers::question_id, answers::id))
            .rows_from(self.read())
            .await?;
        Ok(ids.into_iter().map(|(question, id)| (QuestionId(question), AnswerId(id))).collect())
    }

    async fn set_answer_ids(
        &self,
        organization: OrganizationId,
        id: ResponseId,
        ids: &[(QuestionId, AnswerId)],
    ) -> Result<()> {
        let atomic = self.transaction().await?;
        for (question, answer) in ids {
            let own = answers_of(organization).filter(answers::response_id.eq(id.0));
            diesel::update(own.filter(answers::question_id.eq(question.0)))
                .set(answers::id.eq(answer.0))
                .change_on(atomic.connection())
                .await?;
        }
        atomic.commit().await
    }

    async fn set_value(&self, organization: OrganizationId, id: AnswerId, value: &Value) -> Result<()> {
        diesel::update(answers_of(organization).filter(answers::id.eq(id.0)))
            .set(answers::value.eq(JsonColumn(value)))
            .change_on(self.write())
            .await
    }

    async fn list_answers(
        &self,
        organization: OrganizationId,
        questionnaire: QuestionnaireId,
        user: Option<UserId>,
        filters: &[AnswerFilter],
        page: PageRequest,
    ) -> Result<Page<AnswerDetail>> {
        let listed = || {
            let own = answers_of(organization).filter(answers::questionnaire_id.eq(questionnaire.0));
            let rows = own.select(columns::all_columns::<StoredAnswer>()).into_boxed::<Db>();
            match user {
                Some(user) => rows.filter(answers::user_id.eq(user.0)),
                None => rows,
            }
        };
        let (id, at) = (answers::id, answers::created_at);
        let connection = &mut *self.read_page(page, !filters.is_empty()).await?;
        let page: Page<StoredAnswer> = list_page!(connection, page, self.bounds; listed();
            filters, |filter| condition(filter); [id, at, at; id], (at.desc(), id.desc()));
        Ok(page.map(Into::into))
    }

    async fn log(
        &self,
        organization: OrganizationId,
        questionnaire: QuestionnaireId,
        request: &LogRequest<ResponseId>,
    ) -> Result<LogPage<(ResponseId, ResponseDetail)>> {
        let connection = &mut *self.read().await?;
        let all = rows_of(organization)
            .filter(responses::questionnaire_id.eq(questionnaire.0))
            .select(columns::all_columns::<Row>())
            .into_boxed::<Db>();
        let some = log_page!(all, request, [responses::created_at, responses::id], |id| id.0);
        let rows: Vec<Row> = some.rows_from(borrowed_connection(connection)).await?;
        let page = LogPage::from_fetched(rows, request);
        let ids: Vec<i64> = page.items.iter().map(|row| row.id).collect();
        let mut answers: HashMap<i64, Vec<StoredAnswer>> = HashMap::new();
        for answer in answers_of_responses(connection, &ids).await? {
            answers.entry(answer.response_id).or_default().push(answer);
        }
        Ok(page.map(|row| {
            let (id, answers) = (ResponseId(row.id), answers.remove(&row.id).unwrap_or_default());
            // A response has answers: it is deleted with the last of them.
            let first = answers.iter().map(|answer| AnswerId(answer.id)).next().unwrap_or(AnswerId(0));
            let changed_at = row.created_at;
            let response = row.into_model(answers.into_iter().map(StoredAnswer::row).collect());
            (id, ResponseDetail { id: first, response, changed_at })
        }))
    }

    async fn remove(&self, organization: OrganizationId, id: ResponseId) -> Result<()> {
        let atomic = self.transaction().await?;
        diesel::delete(rows_of(organization).filter(responses::id.eq(id.0)))
            .change_on(atomic.connection())
            .await?;
        self.finish_write(atomic, organization, vec!["answers"], Vec::new()).await
    }
}
