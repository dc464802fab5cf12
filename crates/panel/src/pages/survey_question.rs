//! The creation and the change of a question (contract 08 §5.2).

use super::content::{line, title};
use super::opened_question::{CONDITIONS, OPTIONS, OpenedQuestion, ROWS, admin, described, of_path};
use super::survey::page;
use super::survey_home::{OpenedSurvey, record};
use super::survey_question_form::{KIND, read, refusal};
use crate::reply::Reply;
use crate::visit::Visit;
use civitas_audit::{Action, Record};
use civitas_kernel::{Error, QuestionId, Result};
use civitas_surveys::{DisplayCondition, Form, FormQuestion, QuestionEdit, QuestionType};

/// Where a saved form leads: to the same question with more rows, if that was asked for.
fn next(visit: &Visit, shown: &OpenedSurvey, id: QuestionId) -> String {
    let path = shown.path();
    let more = visit.form.text("_do").strip_prefix("more_");
    match more.filter(|name| [OPTIONS, ROWS, CONDITIONS].contains(name)) {
        Some(CONDITIONS) => format!("{path}?question={id}&{CONDITIONS}=1#{CONDITIONS}"),
        Some(name) => format!("{path}?question={id}&{name}=5#{name}"),
        None => path,
    }
}

/// What the form changes of a question, for the audit trail.
fn changes(record: Record, own: &FormQuestion, id: QuestionId, edit: &QuestionEdit) -> Record {
    let before = (own.id == id).then(|| described(&own.question));
    let field = format!("question {id}");
    let mut record = record.changed(&field, before.as_deref(), Some(&described(&edit.question)));
    for part in &edit.options {
        let stored = own.options.iter().find(|option| Some(option.id) == part.id);
        let before = stored.map(|option| line(&option.option.body));
        let after = part.value.as_ref().map(line);
        record = record.changed(&format!("option {}", part.name), before.as_deref(), after.as_deref());
    }
    for part in &edit.conditions {
        let say = |condition: &DisplayCondition| {
            let option = condition.option.map(|option| format!(" option {option}")).unwrap_or_default();
            let value = condition.value.as_ref().map(|value| format!(" {}", line(value))).unwrap_or_default();
            let needed = if condition.mandatory { " needed" } else { "" };
            let (question, kind) = (condition.condition_question, condition.kind.as_str());
            format!("question {question} {kind}{option}{value}{needed}")
        };
        let before = part.id.and_then(|place| own.conditions.get(place)).map(say);
        let after = part.value.as_ref().map(say);
        record = record.changed(&format!("condition {}", part.name), before.as_deref(), after.as_deref());
    }
    record
}

pub(crate) async fn create(visit: &mut Visit) -> Result<Reply> {
    let shown = OpenedSurvey::of(visit).await?;
    let kind = QuestionType::parse(visit.form.text(KIND)).unwrap_or(QuestionType::ShortAnswer);
    save(visit, &shown, &OpenedQuestion::new(&shown, kind), None).await
}

pub(crate) async fn update(visit: &mut Visit) -> Result<Reply> {
    let (shown, form, id) = of_path(visit).await?;
    let opened = OpenedQuestion::stored(visit, &shown, form.question(id).ok_or(Error::NotFound)?).await?;
    save(visit, &shown, &opened, Some(form)).await
}

/// Creates or changes the question. `form`: the questionnaire that it is in, if it was read.
async fn save(
    visit: &Visit,
    shown: &OpenedSurvey,
    opened: &OpenedQuestion,
    form: Option<Form>,
) -> Result<Reply> {
    let (typed, mut problems) = read(visit, shown, opened);
    if problems.is_empty() {
        let saved = visit.change(async |tx| {
            let (admin, edit) = (admin(tx), typed.edit.clone());
            let at = (shown.home.default_locale, visit.now);
            let (id, has_changed) = match opened.id {
                Some(id) => {
                    (id, admin.update(shown.organization, (id, visit.form_revision()), edit, at).await?)
                }
                None => (admin.create(shown.organization, visit.form.get("revision"), edit, at).await?, true),
            };
            if has_changed {
                let entry = record(visit, shown, Action::SurveyUpdated);
                visit.append(tx, &changes(entry, &opened.own, id, &typed.edit)).await?;
            }
            Ok(id)
        });
        problems = match saved.await {
            Ok(id) => {
                let key = if opened.id.is_some() { "question-saved" } else { "question-created" };
                let name = title(visit, &typed.edit.question.body);
                return visit.done(key, &[("title", name.into())], next(visit, shown, id)).await;
            }
            Err(fault) => refusal(visit, shown, &typed.rows, fault)?,
        };
    }
    let form = match form {
        Some(form) => form,
        None => visit.panel.store().questionnaires().form(shown.organization, shown.id).await?,
    };
    page(visit, shown, &form, Some(opened), problems).await
}
