//! The creation and the change of a question (contract 08 §5.2). It is not saved by [`crate::records::save()`]: the use case
//! stores the question with its options and conditions, and compares the revision of the questionnaire.

use super::opened_question::{
    CONDITIONS, OPTIONS, OpenedQuestion, QuestionContext, ROWS, admin, audit_label, question_from_path,
};
use super::opened_survey::{OpenedSurvey, audit_entry};
use super::question_form::KIND;
use super::questions::show_page;
use crate::admin_request::AdminRequest;
use crate::reply::Reply;
use crate::translated::{audit_text, title};
use civitas_audit::{Action, NewAuditEntry};
use civitas_kernel::{Error, QuestionId, Result};
use civitas_surveys::{DisplayCondition, Form, FormQuestion, QuestionEdit, QuestionType};

/// The page after a save: the same question with more rows, if the form requests them; else the list.
fn next_path(req: &AdminRequest, survey: &OpenedSurvey, id: QuestionId) -> String {
    let path = survey.path();
    let more = req.form.text("_do").strip_prefix("more_");
    match more.filter(|name| [OPTIONS, ROWS, CONDITIONS].contains(name)) {
        Some(CONDITIONS) => format!("{path}?question={id}&{CONDITIONS}=1#{CONDITIONS}"),
        Some(name) => format!("{path}?question={id}&{name}=5#{name}"),
        None => path,
    }
}

/// What the form changes of a question, for the audit trail.
fn changes(
    entry: NewAuditEntry,
    form_question: &FormQuestion,
    id: QuestionId,
    edit: &QuestionEdit,
) -> NewAuditEntry {
    let before = (form_question.id == id).then(|| audit_label(&form_question.question));
    let field = format!("question {id}");
    let mut entry = entry.with_change(&field, before.as_deref(), Some(&audit_label(&edit.question)));
    for part in &edit.options {
        let stored = form_question.options.iter().find(|option| Some(option.id) == part.id);
        let before = stored.map(|option| audit_text(&option.option.body));
        let after = part.value.as_ref().map(audit_text);
        entry = entry.with_change(&format!("option {}", part.name), before.as_deref(), after.as_deref());
    }
    for part in &edit.conditions {
        let summary = |condition: &DisplayCondition| {
            let option = condition.option.map(|option| format!(" option {option}")).unwrap_or_default();
            let value =
                condition.value.as_ref().map(|value| format!(" {}", audit_text(value))).unwrap_or_default();
            let needed = if condition.mandatory { " needed" } else { "" };
            let (question, kind) = (condition.condition_question, condition.kind.as_str());
            format!("question {question} {kind}{option}{value}{needed}")
        };
        let before = part.id.and_then(|position| form_question.conditions.get(position)).map(summary);
        let after = part.value.as_ref().map(summary);
        entry = entry.with_change(&format!("condition {}", part.name), before.as_deref(), after.as_deref());
    }
    entry
}

pub(crate) async fn create(req: &AdminRequest) -> Result<Reply> {
    let survey = OpenedSurvey::from_path(req).await?;
    let kind = QuestionType::parse(req.form.text(KIND)).unwrap_or(QuestionType::ShortAnswer);
    create_or_update(req, &survey, &OpenedQuestion::new(&survey, kind), None).await
}

pub(crate) async fn update(req: &AdminRequest) -> Result<Reply> {
    let (survey, form, id) = question_from_path(req).await?;
    let opened = OpenedQuestion::stored(req, &survey, form.question(id).ok_or(Error::NotFound)?).await?;
    create_or_update(req, &survey, &opened, Some(form)).await
}

/// Creates or changes the question. `form`: the questionnaire that it is in, if it was read.
async fn create_or_update(
    req: &AdminRequest,
    survey: &OpenedSurvey,
    opened: &OpenedQuestion,
    form: Option<Form>,
) -> Result<Reply> {
    let context = QuestionContext { req, survey, opened, problems: &[] };
    let (typed, mut problems) = context.read_form();
    if problems.is_empty() {
        let organization = survey.organization_id;
        let saved = req.change_with_audit(
            async |tx| {
                let (admin, edit) = (admin(tx), typed.edit.clone());
                let at = (survey.organization.default_locale, req.now);
                let Some(id) = opened.id else {
                    let revision = req.form.get("revision");
                    return Ok((admin.create(organization, revision, edit, at).await?, true));
                };
                Ok((id, admin.update(organization, (id, req.form_revision()), edit, at).await?))
            },
            |(id, has_changed)| {
                let entry = audit_entry(req, survey, Action::SurveyUpdated);
                has_changed.then(|| changes(entry, &opened.form_question, *id, &typed.edit))
            },
        );
        problems = match saved.await {
            Ok((id, _)) => {
                let key = if opened.id.is_some() { "question-saved" } else { "question-created" };
                let name = title(req, &typed.edit.question.body);
                return req.redirect_done(key, &[("title", name.into())], next_path(req, survey, id)).await;
            }
            Err(error) => context.form_errors(&typed.rows, error)?,
        };
    }
    let form = match form {
        Some(form) => form,
        None => req.store().questionnaires().form(survey.organization_id, survey.id).await?,
    };
    show_page(req, survey, &form, Some(opened), problems).await
}
