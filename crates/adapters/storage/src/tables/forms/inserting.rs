//! Inserts all answers of a response with one statement.

use crate::columns::JsonColumn;
use crate::engine::{Db, sql};
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::result::QueryResult;
use diesel::sql_types::{Nullable, Text};
use serde_json::Value;
use time::OffsetDateTime;

/// The answers of one response.
pub(super) struct InsertAnswers {
    pub(super) organization: i64,
    pub(super) questionnaire: i64,
    pub(super) response: i64,
    pub(super) user: Option<i64>,
    pub(super) created_at: OffsetDateTime,
    /// At least one.
    pub(super) rows: Vec<NewAnswer>,
}

/// One answer.
pub(super) struct NewAnswer {
    pub(super) question: i64,
    pub(super) body: Option<String>,
    pub(super) value: Option<JsonColumn<Value>>,
}

impl QueryId for InsertAnswers {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl QueryFragment<Db> for InsertAnswers {
    fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, Db>) -> QueryResult<()> {
        // The text depends on the numbers.
        pass.unsafe_to_cache_prepared();
        let Self { organization, questionnaire, response, .. } = self;
        let user = self.user.map_or_else(|| "NULL".to_owned(), |user| user.to_string());
        pass.push_sql(
            "INSERT INTO answers (organization_id, questionnaire_id, response_id, question_id, user_id, body, value, \
             created_at) VALUES ",
        );
        for (place, row) in self.rows.iter().enumerate() {
            let comma = if place == 0 { "" } else { ", " };
            let NewAnswer { question, .. } = row;
            pass.push_sql(&format!(
                "{comma}({organization}, {questionnaire}, {response}, {question}, {user}, "
            ));
            pass.push_bind_param::<Nullable<Text>, _>(&row.body)?;
            pass.push_sql(", ");
            pass.push_bind_param::<Nullable<sql::Json>, _>(&row.value)?;
            pass.push_sql(", ");
            pass.push_bind_param::<sql::Moment, _>(&self.created_at)?;
            pass.push_sql(")");
        }
        Ok(())
    }
}
