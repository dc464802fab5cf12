//! Display conditions.

use crate::columns::{self, columns};
use crate::engine::Conn;
use crate::records::records;
use crate::schema::display_conditions;
use crate::session::{ExecuteExt, LoadModelsExt, Session, borrowed_connection};
use async_trait::async_trait;
use civitas_kernel::{AnswerOptionId, DisplayConditionId, OrganizationId, QuestionId, Result, Translated};
use civitas_surveys::{ConditionType, DisplayCondition, DisplayConditionStore};
use diesel::prelude::*;

columns! {
    /// A condition as its row stores it.
    display_conditions as DisplayCondition;
    id DisplayConditionId;
    fields {
        question as question_id: QuestionId,
        condition_question as condition_question_id: QuestionId,
        kind as condition_type: ConditionType,
        option as answer_option_id: Option<AnswerOptionId>,
        value: Option<Translated>,
        mandatory: bool,
    }
}

records! { scoped display_conditions: DisplayConditionId => DisplayCondition; }

#[async_trait]
impl DisplayConditionStore for Session {
    async fn list_of_question(
        &self,
        organization: OrganizationId,
        question: QuestionId,
    ) -> Result<Vec<(DisplayConditionId, DisplayCondition)>> {
        rows_of(organization)
            .filter(display_conditions::question_id.eq(question.0))
            .order(display_conditions::id)
            .models_from::<Row, _>(self.read())
            .await
    }

    async fn remove(&self, organization: OrganizationId, id: DisplayConditionId) -> Result<()> {
        diesel::delete(rows_of(organization).filter(display_conditions::id.eq(id.0)))
            .change_on(self.write())
            .await
    }
}

/// The conditions of these questions, in the order of ids.
pub(super) async fn load_for_questions(
    connection: &mut Conn,
    organization: OrganizationId,
    questions: &[i64],
) -> Result<Vec<DisplayCondition>> {
    if questions.is_empty() {
        return Ok(Vec::new());
    }
    display_conditions::table
        .filter(columns::equals_unindexed(display_conditions::organization_id.nullable(), organization.0))
        .filter(columns::any_of(display_conditions::question_id.nullable(), questions))
        .order(display_conditions::id)
        .models_from::<Row, _>(borrowed_connection(connection))
        .await
}
