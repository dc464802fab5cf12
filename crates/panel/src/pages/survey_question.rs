//! The creation and the change of a question (contract 08 §5.2).

use super::content::line;
use super::opened_question::{CONDITIONS, OPTIONS, Opened, ROWS, admin, described, of_path, text};
use super::survey::page;
use super::survey_home::{Shown, record};
use super::survey_question_form::{KIND, read, refusal};
use crate::notice::Notice;
use crate::parts::Problem;
use crate::reply::Reply;
use crate::visit::Visit;
use civitas_audit::{Action, Record};
use civitas_kernel::{Error, QuestionId, Result};
use civitas_surveys::{DisplayCondition, FormQuestion, QuestionEdit, QuestionType};

/// Where a saved form leads: to the same question with more rows, if that was asked for.
fn next(visit: &Visit, shown: &Shown, id: QuestionId) -> String {
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
    let shown = Shown::of(visit).await?;
    let visit = &*visit;
    let kind = QuestionType::parse(visit.form.text(KIND)).unwrap_or(QuestionType::ShortAnswer);
    let opened = Opened::new(&shown, kind);
    let (typed, problems) = read(visit, &shown, &opened);
    if !problems.is_empty() {
        return again(visit, &shown, &opened, problems).await;
    }
    let created = visit
        .change(async |tx| {
            let at = (shown.home.default_locale, visit.now);
            let edit = typed.edit.clone();
            let id = admin(tx).create(shown.organization, visit.form.get("revision"), edit, at).await?;
            let record = record(visit, &shown, Action::SurveyUpdated);
            let record = changes(record, &opened.own, id, &typed.edit);
            tx.audit().append(&record, visit.now).await?;
            Ok(id)
        })
        .await;
    match created {
        Ok(id) => {
            let title = text(visit, &typed.edit.question.body);
            let notice = Notice::good(visit.tell("question-created", &[("title", title.into())]));
            visit.redirect(next(visit, &shown, id), notice).await
        }
        Err(fault) => {
            let problems = refusal(visit, &shown, &typed.rows, fault)?;
            again(visit, &shown, &opened, problems).await
        }
    }
}

/// The page of a refused form.
async fn again(visit: &Visit, shown: &Shown, opened: &Opened, problems: Vec<Problem>) -> Result<Reply> {
    let form = visit.panel.store().questionnaires().form(shown.organization, shown.id).await?;
    page(visit, shown, &form, Some(opened), problems).await
}

pub(crate) async fn update(visit: &mut Visit) -> Result<Reply> {
    let (shown, form, id) = of_path(visit).await?;
    let visit = &*visit;
    let own = form.question(id).ok_or(Error::NotFound)?;
    let opened = Opened::stored(visit, &shown, own).await?;
    let (typed, problems) = read(visit, &shown, &opened);
    if !problems.is_empty() {
        return page(visit, &shown, &form, Some(&opened), problems).await;
    }
    let saved = visit
        .change(async |tx| {
            let at = (shown.home.default_locale, visit.now);
            let own = (id, visit.seen());
            let has_changed = admin(tx).update(shown.organization, own, typed.edit.clone(), at).await?;
            if has_changed {
                let record = record(visit, &shown, Action::SurveyUpdated);
                let record = changes(record, &opened.own, id, &typed.edit);
                tx.audit().append(&record, visit.now).await?;
            }
            Ok(())
        })
        .await;
    match saved {
        Ok(()) => {
            let title = text(visit, &typed.edit.question.body);
            let notice = Notice::good(visit.tell("question-saved", &[("title", title.into())]));
            visit.redirect(next(visit, &shown, id), notice).await
        }
        Err(fault) => {
            let problems = refusal(visit, &shown, &typed.rows, fault)?;
            page(visit, &shown, &form, Some(&opened), problems).await
        }
    }
}
