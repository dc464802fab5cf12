//! `questionnaire_response`: the answers of one submission. Its session token is not a member: it follows from the
//! respondent and the salt of the questionnaire.

use super::super::refs::{Refs, unknown};
use super::{Field, ImportContext, Map, OrganizationId, Ports, Result, Value, async_trait};
use super::{Import, Imported, Moment, OrganizationKind, PAGE, RecordKind, Rows, members, required};
use civitas_kernel::records::{RecordAdmin, Records};
use civitas_kernel::{AnswerOptionId, Error, QuestionId, QuestionnaireId, ResponseId, UserId};
use civitas_surveys::{AnswerRow, Form, FormQuestion, QuestionType, Response, ResponseStore};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

pub(super) struct Responses {
    /// The forms of exported responses.
    exported: HashMap<QuestionnaireId, Form>,
}

members! { Responses, "questionnaire_response", OrganizationId, ResponseFields, |kind, response: Response| {
    questionnaire: parent(QuestionnaireId),
    user: resolved(String, check_user, optional(response.user.map(|user| user.to_string()))),
    answers: resolved(Map<String, Value>, set_answers, with(kind.answers(response))),
    client_ip_digest: custom(String, set_digest, optional(response.client_ip.clone())),
    created_at: required(Moment),
}}

impl Responses {
    pub(super) fn new() -> Self {
        Self { exported: HashMap::new() }
    }

    /// The answers of an exported response. Options that were deleted are left out.
    fn answers(&self, response: &Response) -> Map<String, Value> {
        let form = self.exported.get(&response.questionnaire);
        let exported = |row: &AnswerRow| {
            let question = form.and_then(|form| form.question(row.question));
            let value = question.map_or(Value::Null, |question| exported(question, row));
            (row.question.to_string(), value)
        };
        response.answers.iter().map(exported).collect()
    }
}

/// The value of an exported answer, with refs of rows.
fn exported(question: &FormQuestion, row: &AnswerRow) -> Value {
    let exists = |option: &Value| question.options.iter().any(|other| *option == other.id.to_string());
    let existing = |options: &Value| -> Value {
        options.as_array().into_iter().flatten().filter(|option| exists(option)).cloned().collect()
    };
    let value = row.read_back();
    match question.question.kind {
        // The files of answers: their content comes from the port of attachments, which has none yet.
        QuestionType::Files => Value::Null,
        kind if kind.has_rows() => {
            let rows = value.as_object().into_iter().flatten().filter_map(|(id, chosen)| {
                let row = question.question.rows.iter().find(|row| row.id.to_string() == *id)?;
                let chosen = if chosen.is_array() { existing(chosen) } else { chosen.clone() };
                (chosen.is_array() || exists(&chosen)).then(|| (row.reference.clone(), chosen))
            });
            if value.is_null() { value } else { Value::Object(rows.collect()) }
        }
        kind if kind.has_options() && !value.is_null() => existing(&value),
        _ => value,
    }
}

/// The respondent cannot change.
async fn check_user(
    import: &mut Import<'_, '_, Responses>,
    fields: &mut ResponseFields,
    response: &mut Response,
) -> Imported {
    let user: Option<UserId> = match &fields.user {
        Field::Absent => return Ok(()),
        Field::Null => None,
        Field::Value(reference) => Some(import.context.refs.resolve(import.owner, reference).await?),
    };
    if user == response.user { Ok(()) } else { Err("user cannot change".into()) }
}

fn set_digest(fields: &mut ResponseFields, response: &mut Response) -> Imported {
    std::mem::take(&mut fields.client_ip_digest).apply(&mut response.client_ip);
    Ok(())
}

async fn set_answers(
    import: &mut Import<'_, '_, Responses>,
    fields: &mut ResponseFields,
    response: &mut Response,
) -> Imported {
    let given = match std::mem::take(&mut fields.answers) {
        Field::Absent => return Ok(()),
        Field::Null => return Err("answers cannot be null".into()),
        Field::Value(given) if given.is_empty() => return Err("answers must not be empty".into()),
        Field::Value(given) => given,
    };
    let form = import.context.ports.questionnaires().form(import.owner, response.questionnaire).await?;
    let mut read = HashMap::new();
    for (reference, value) in &given {
        let id: QuestionId = import.context.refs.resolve(import.owner, reference).await?;
        let question = form.question(id).ok_or_else(|| unknown("question", reference))?;
        let value = with_ids(&mut import.context.refs, import.owner, question, value).await?;
        let answer = question.read_answer(&value);
        let answer = answer.map_err(|error| format!("answers: {reference}: {}", error.description()))?;
        read.insert(id, AnswerRow::of(id, answer.as_ref()));
    }
    response.answers = form.questions().iter().filter_map(|question| read.remove(&question.id)).collect();
    Ok(())
}

/// The value with the ids of options and rows instead of their refs.
async fn with_ids(
    refs: &mut Refs<'_>,
    of: OrganizationId,
    question: &FormQuestion,
    value: &Value,
) -> Imported<Value> {
    let kind = question.question.kind;
    if kind == QuestionType::Files && !value.is_null() {
        // The content of files: to be stored by the port of attachments.
        return Err("files of responses cannot be imported".into());
    }
    if !kind.has_options() || value.is_null() {
        return Ok(value.clone());
    }
    if !kind.has_rows() {
        let ids = option_ids(refs, of, value).await?;
        return Ok(match (kind, ids) {
            (QuestionType::SingleOption, Value::Array(ids)) if ids.len() == 1 => ids[0].clone(),
            (_, ids) => ids,
        });
    }
    let mut rows = Map::new();
    for (reference, chosen) in value.as_object().ok_or("answers: a matrix is answered by row")? {
        let row = question.question.rows.iter().find(|row| row.reference == *reference);
        let row = row.ok_or_else(|| unknown("row", reference))?;
        rows.insert(row.id.to_string(), option_ids(refs, of, chosen).await?);
    }
    Ok(Value::Object(rows))
}

/// The ids of one option or of a list.
async fn option_ids(refs: &mut Refs<'_>, of: OrganizationId, value: &Value) -> Imported<Value> {
    let Value::Array(list) = value else {
        let Some(reference) = value.as_str() else { return Ok(value.clone()) };
        let id: AnswerOptionId = refs.resolve(of, reference).await?;
        return Ok(id.to_string().into());
    };
    let mut ids = Vec::new();
    for item in list {
        let reference = item.as_str().ok_or("answers: options are named by their refs")?;
        let id: AnswerOptionId = refs.resolve(of, reference).await?;
        ids.push(Value::from(id.to_string()));
    }
    Ok(Value::Array(ids))
}

/// Responses, with the error of an import.
struct ImportedResponses<'a>(&'a dyn ResponseStore);

#[async_trait]
impl RecordAdmin<Response> for ImportedResponses<'_> {
    fn records(&self) -> &dyn Records<Response> {
        self.0
    }

    async fn create(&self, organization: OrganizationId, response: &Response) -> Result<ResponseId> {
        self.0.add(organization, response).await.map_err(|error| match error {
            Error::Invalid { .. } => Error::rejected("the user has already answered the questionnaire"),
            other => other,
        })
    }
}

impl Responses {
    /// Adds the form of a questionnaire to those of the export.
    async fn load(&mut self, ports: &dyn Ports, of: OrganizationId, id: QuestionnaireId) -> Result<()> {
        if let Entry::Vacant(entry) = self.exported.entry(id) {
            entry.insert(ports.questionnaires().form(of, id).await?);
        }
        Ok(())
    }
}

#[async_trait]
impl OrganizationKind for Responses {
    fn records<'a>(&self, ports: &'a dyn Ports) -> &'a dyn Records<Response> {
        ports.responses()
    }

    fn admin<'a>(&self, context: &ImportContext<'a>) -> Box<dyn RecordAdmin<Response> + 'a> {
        let ports = context.ports;
        Box::new(ImportedResponses(ports.responses()))
    }

    /// Also loads the forms of the page.
    async fn page(&mut self, ports: &dyn Ports, of: OrganizationId, after: Option<ResponseId>) -> Rows<Self> {
        let rows = ports.responses().page_after(of, after, PAGE).await?;
        for (_, response) in &rows {
            self.load(ports, of, response.questionnaire).await?;
        }
        Ok(rows)
    }
}

#[async_trait]
impl RecordKind for Responses {
    async fn create(&self, import: &mut Import<'_, '_, Self>, fields: &ResponseFields) -> Imported<Response> {
        let of = import.owner;
        let reference = required("questionnaire", &fields.questionnaire)?;
        let id: QuestionnaireId = import.context.refs.resolve(of, &reference).await?;
        required("answers", &fields.answers)?;
        let user: Option<UserId> = match fields.user.as_value() {
            Some(reference) => Some(import.context.refs.resolve(of, reference).await?),
            None => None,
        };
        let questionnaire = import.context.ports.questionnaires().find(of, id).await?;
        let questionnaire = questionnaire.ok_or_else(|| unknown("questionnaire", &reference))?;
        Ok(Response::new(id, &questionnaire, user, import.context.options.now))
    }

    /// Clients know a response by its first answer.
    async fn number(&self, import: &Import<'_, '_, Self>, id: ResponseId) -> Imported<Option<i64>> {
        let answers = import.context.ports.responses().answer_ids(import.owner, id).await?;
        Ok(answers.first().map(|(_, id)| id.0))
    }
}
