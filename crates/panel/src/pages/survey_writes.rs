//! The creation and the change of a question (contract 08 §5.2, §5.3).

use super::survey::{of_path, page};
use super::survey_form::seen;
use super::survey_open::{Opened, admin, text};
use super::survey_question::{KIND, changes, next, read, refusal};
use super::surveys::{Shown, record};
use crate::notice::Notice;
use crate::parts::Problem;
use crate::reply::Reply;
use crate::visit::Visit;
use civitas_audit::Action;
use civitas_kernel::Result;
use civitas_surveys::QuestionType;

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
            let id = admin(tx).create(shown.organization, seen(visit), edit, at).await?;
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
    let own = form.question(id).ok_or(civitas_kernel::Error::NotFound)?;
    let opened = Opened::stored(visit, &shown, own).await?;
    let (typed, problems) = read(visit, &shown, &opened);
    if !problems.is_empty() {
        return page(visit, &shown, &form, Some(&opened), problems).await;
    }
    let saved = visit
        .change(async |tx| {
            let at = (shown.home.default_locale, visit.now);
            let own = (id, seen(visit));
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
