//! Reads forms: a constant number of statements for any number of questionnaires.

use super::{conditions, options, questions};
use crate::engine::Conn;
use crate::page_rows::RowReadLimits;
use civitas_kernel::{OrganizationId, QuestionId, Result};
use civitas_surveys::{DisplayCondition, Form, FormOption, FormQuestion};
use std::collections::HashMap;

/// The forms of these questionnaires, by id. A questionnaire without questions has none.
pub(super) async fn load_for_questionnaires(
    connection: &mut Conn,
    organization: OrganizationId,
    ids: &[i64],
    bounds: RowReadLimits,
) -> Result<HashMap<i64, Form>> {
    let found = questions::load_for_questionnaires(connection, organization, ids, bounds).await?;
    let all: Vec<i64> = found.iter().map(|(id, _)| id.0).collect();
    let with_options: Vec<i64> =
        found.iter().filter(|(_, question)| question.kind.has_options()).map(|(id, _)| id.0).collect();
    let mut options: HashMap<QuestionId, Vec<FormOption>> = HashMap::new();
    for option in options::load_for_questions(connection, organization, &with_options, bounds).await? {
        options.entry(option.option.question).or_default().push(option);
    }
    let mut conditions: HashMap<QuestionId, Vec<DisplayCondition>> = HashMap::new();
    for condition in conditions::load_for_questions(connection, organization, &all).await? {
        conditions.entry(condition.question).or_default().push(condition);
    }
    let mut forms: HashMap<i64, Vec<FormQuestion>> = HashMap::new();
    for (id, question) in found {
        let options = options.remove(&id).unwrap_or_default();
        let conditions = conditions.remove(&id).unwrap_or_default();
        let form = forms.entry(question.questionnaire.0).or_default();
        form.push(FormQuestion { id, question, options, conditions });
    }
    Ok(forms.into_iter().map(|(id, questions)| (id, Form::new(questions))).collect())
}
