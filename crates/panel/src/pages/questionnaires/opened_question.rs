//! The open question of a questionnaire: what its form and its actions share.

use super::opened_survey::OpenedSurvey;
use crate::admin_request::AdminRequest;
use crate::parts::FormError;
use crate::translated::audit_text;
use civitas_application::Transaction;
use civitas_kernel::{Error, Locale, QuestionId, Result, Translated};
use civitas_surveys::{Form, FormQuestion, Question, QuestionAdministration, QuestionType};

pub(crate) const OPTIONS: &str = "options";
pub(crate) const ROWS: &str = "rows";
pub(crate) const CONDITIONS: &str = "conditions";
/// The most blank rows of a part.
const MAX_NEW: i64 = 20;

/// The question that is open.
pub(crate) struct OpenedQuestion {
    /// `None`: it is new.
    pub(crate) id: Option<QuestionId>,
    /// As it is stored; blank for a new one.
    pub(crate) form_question: FormQuestion,
    /// Whether its type cannot change, because it has answers.
    pub(crate) is_locked: bool,
}

impl OpenedQuestion {
    /// A stored question.
    pub(crate) async fn stored(
        req: &AdminRequest,
        survey: &OpenedSurvey,
        form_question: &FormQuestion,
    ) -> Result<Self> {
        let questions = req.store().questions();
        let is_locked = questions.has_answers(survey.organization_id, form_question.id).await?;
        Ok(Self { id: Some(form_question.id), form_question: form_question.clone(), is_locked })
    }

    /// A new question of this type.
    pub(crate) fn new(survey: &OpenedSurvey, kind: QuestionType) -> Self {
        let question = Question::new(survey.id, 0, kind, Translated::default());
        let form_question =
            FormQuestion { id: QuestionId(0), question, options: Vec::new(), conditions: Vec::new() };
        Self { id: None, form_question, is_locked: false }
    }
}

/// The open question in a request.
pub(crate) struct QuestionContext<'a> {
    pub(crate) req: &'a AdminRequest,
    pub(crate) survey: &'a OpenedSurvey,
    pub(crate) opened: &'a OpenedQuestion,
    /// What is wrong with the form that is shown.
    pub(crate) problems: &'a [FormError],
}

/// The use case, in a transaction.
pub(crate) fn admin(tx: &dyn Transaction) -> QuestionAdministration<'_> {
    QuestionAdministration {
        questionnaires: tx.questionnaires(),
        questions: tx.questions(),
        options: tx.answer_options(),
        conditions: tx.display_conditions(),
        files: tx.answer_files(),
    }
}

/// The name of a type: `One choice`.
pub(crate) fn type_name(req: &AdminRequest, kind: QuestionType) -> String {
    req.tr(&format!("question-{}", kind.as_str().replace('_', "-")))
}

/// All types with their names.
pub(crate) fn types(req: &AdminRequest) -> Vec<(&'static str, String)> {
    QuestionType::ALL.into_iter().map(|kind| (kind.as_str(), type_name(req, kind))).collect()
}

/// A question of the questionnaire in the path, with the form it is in.
pub(crate) async fn question_from_path(req: &AdminRequest) -> Result<(OpenedSurvey, Form, QuestionId)> {
    let survey = OpenedSurvey::from_path(req).await?;
    let id = QuestionId(req.path_id("qid")?);
    let form = req.store().questionnaires().form(survey.organization_id, survey.id).await?;
    if form.question(id).is_none() {
        return Err(Error::NotFound);
    }
    Ok((survey, form, id))
}

/// The label of a question in the audit trail.
pub(crate) fn audit_label(question: &Question) -> String {
    let body = audit_text(&question.body);
    let mandatory = if question.mandatory { "; mandatory" } else { "" };
    format!("{}{mandatory}; {body}", question.kind.as_str())
}

/// The text of this key, with the number of these questions and their positions in the list.
pub(crate) fn numbered_questions(
    req: &AdminRequest,
    form: &Form,
    key: &str,
    named: &[(&FormQuestion, usize)],
) -> String {
    let position = |id: QuestionId| form.questions().iter().position(|question| question.id == id);
    let numbers: Vec<String> =
        named.iter().filter_map(|(question, _)| Some((position(question.id)? + 1).to_string())).collect();
    req.tr_args(key, &[("count", numbers.len().into()), ("questions", numbers.join(", ").into())])
}

/// The parts of the form: the stored ones with their keys, then blank ones: `new-1`, `new-2`, ... As many of these as
/// were sent, else as the address asks for.
pub(crate) fn keyed_parts<'a, T>(
    req: &AdminRequest,
    part: &str,
    stored: impl Iterator<Item = (String, &'a T)>,
    blank_rows: i64,
) -> Vec<(String, Option<&'a T>)> {
    let is_sent = |number: &i64| req.form.has_prefix(&format!("{part}[new-{number}]["));
    let sent = (1..=MAX_NEW).take_while(is_sent).count();
    let number = match i64::try_from(sent) {
        Ok(sent) if sent > 0 => sent,
        _ if req.form.has_prefix(&format!("{part}[")) => 0,
        _ => req.query.number(part).map_or(blank_rows, |asked| asked.clamp(blank_rows, MAX_NEW)),
    };
    let new = (1..=number).map(|number| (format!("new-{number}"), None));
    stored.map(|(key, part)| (key, Some(part))).chain(new).collect()
}

pub(crate) fn is_sent(req: &AdminRequest, part: &str, key: &str) -> bool {
    req.form.has_prefix(&format!("{part}[{key}]["))
}

/// The languages of the form, the main one first.
pub(crate) fn languages(survey: &OpenedSurvey) -> Vec<Locale> {
    let main = survey.organization.default_locale;
    let others = survey.organization.available_locales.iter().filter(|locale| *locale != main);
    std::iter::once(main).chain(others).collect()
}
