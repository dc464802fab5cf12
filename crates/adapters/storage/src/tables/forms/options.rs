//! Answer options.

use crate::columns::{self, Condition, columns};
use crate::engine::{Conn, Db};
use crate::failure::DieselResultExt;
use crate::filter::{FilterColumn, column_condition};
use crate::list_pages::list_page;
use crate::page_rows::{LoadPage, RowReadLimits};
use crate::records::records;
use crate::schema::answer_options;
use crate::session::{ExecuteExt, LoadRowsExt, Session};
use async_trait::async_trait;
use civitas_kernel::{AnswerOptionId, OrganizationId, Page, PageRequest, QuestionId, Result, Translated};
use civitas_surveys::{AnswerOption, AnswerOptionStore, FormFilter, FormOption};
use diesel::prelude::*;

columns! {
    /// An option as its row stores it.
    answer_options as AnswerOption;
    id AnswerOptionId;
    fields {
        question as question_id: QuestionId,
        body: Translated,
    }
}

fn condition(filter: &FormFilter) -> Result<Condition<answer_options::table>> {
    column_condition(FilterColumn::Integer(Box::new(answer_options::id.nullable())), &filter.condition)
}

records! { scoped answer_options: AnswerOptionId => AnswerOption; }

#[async_trait]
impl AnswerOptionStore for Session {
    async fn list(
        &self,
        organization: OrganizationId,
        question: QuestionId,
        filters: &[FormFilter],
        page: PageRequest,
    ) -> Result<Page<(AnswerOptionId, AnswerOption)>> {
        let connection = &mut *self.read_page(page, false).await?;
        let of_parent = || rows_of(organization).filter(answer_options::question_id.eq(question.0));
        let rows = || of_parent().select(columns::all_columns::<Row>()).into_boxed::<Db>();
        let page: Page<Row> = list_page!(connection, page, self.bounds; rows();
            filters, |filter| condition(filter);
            [answer_options::id, answer_options::id, answer_options::id; answer_options::id], answer_options::id);
        Ok(page.map(Into::into))
    }

    async fn count(&self, organization: OrganizationId, question: QuestionId) -> Result<i64> {
        let options = rows_of(organization).filter(answer_options::question_id.eq(question.0)).count();
        options.value_from(self.read()).await
    }

    async fn remove(&self, organization: OrganizationId, id: AnswerOptionId) -> Result<()> {
        diesel::delete(rows_of(organization).filter(answer_options::id.eq(id.0)))
            .change_on(self.write())
            .await
    }
}

/// The options of these questions, in the order of ids.
pub(super) async fn load_for_questions(
    connection: &mut Conn,
    organization: OrganizationId,
    questions: &[i64],
    bounds: RowReadLimits,
) -> Result<Vec<FormOption>> {
    if questions.is_empty() {
        return Ok(Vec::new());
    }
    let rows: Vec<Row> = answer_options::table
        .filter(columns::equals_unindexed(answer_options::organization_id.nullable(), organization.0))
        .filter(columns::any_of(answer_options::question_id.nullable(), questions))
        .order(answer_options::id)
        .select(columns::all_columns::<Row>())
        .load_page(connection, bounds)
        .await
        .map_db_error()?;
    let option = |row: Row| {
        let (id, option) = row.into();
        FormOption { id, option }
    };
    Ok(rows.into_iter().map(option).collect())
}
