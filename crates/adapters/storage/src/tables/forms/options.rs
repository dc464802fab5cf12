//! Answer options.

use crate::columns::{self, columns};
use crate::engine::Conn;
use crate::failure::Stored;
use crate::page_rows::{Bounds, LoadPage};
use crate::records::records;
use crate::schema::answer_options;
use crate::session::{Rows, Run, Session};
use async_trait::async_trait;
use civitas_kernel::{AnswerOptionId, OrganizationId, Page, PageRequest, QuestionId, Result, Translated};
use civitas_surveys::{AnswerOption, AnswerOptionStore, FormOption};
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

records! { scoped answer_options: AnswerOptionId => AnswerOption; }

#[async_trait]
impl AnswerOptionStore for Session {
    async fn list(
        &self,
        organization: OrganizationId,
        question: QuestionId,
        page: PageRequest,
    ) -> Result<Page<(AnswerOptionId, AnswerOption)>> {
        let rows: Vec<Row> = of(organization)
            .filter(answer_options::question_id.eq(question.0))
            .order(answer_options::id)
            .limit(page.fetch())
            .offset(page.offset())
            .select(columns::of::<Row>())
            .load_page(&mut *self.read().await?, self.bounds)
            .await
            .stored()?;
        Ok(Page::cut(rows, page).map(Into::into))
    }

    async fn count(&self, organization: OrganizationId, question: QuestionId) -> Result<i64> {
        let options = of(organization).filter(answer_options::question_id.eq(question.0)).count();
        options.value_from(self.read()).await
    }

    async fn remove(&self, organization: OrganizationId, id: AnswerOptionId) -> Result<()> {
        diesel::delete(of(organization).filter(answer_options::id.eq(id.0))).change_on(self.write()).await
    }
}

/// The options of these questions, in the order of ids.
pub(super) async fn of_questions(
    connection: &mut Conn,
    organization: OrganizationId,
    questions: &[i64],
    bounds: Bounds,
) -> Result<Vec<FormOption>> {
    if questions.is_empty() {
        return Ok(Vec::new());
    }
    let rows: Vec<Row> = answer_options::table
        .filter(columns::equals_unindexed(answer_options::organization_id.nullable(), organization.0))
        .filter(columns::any_of(answer_options::question_id.nullable(), questions))
        .order(answer_options::id)
        .select(columns::of::<Row>())
        .load_page(connection, bounds)
        .await
        .stored()?;
    let option = |row: Row| {
        let (id, option) = row.into();
        FormOption { id, option }
    };
    Ok(rows.into_iter().map(option).collect())
}
