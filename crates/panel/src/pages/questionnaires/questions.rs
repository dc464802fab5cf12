//! The questions of a questionnaire: the list with one open, their order, their deletion (contract 08 §5).

use super::opened_question::{
    OpenedQuestion, QuestionContext, admin, audit_label, numbered_questions, question_from_path, type_name,
    types,
};
use super::opened_survey::{OpenedSurvey, audit_entry, list_path};
use super::survey_form::questionnaire_form_errors;
use crate::admin_request::AdminRequest;
use crate::format::saturating_i64;
use crate::parts::{FormError, FormErrors, Html, PageAction, render};
use crate::reply::Reply;
use crate::translated::title;
use crate::translator::Translator;
use askama::Template;
use civitas_audit::Action;
use civitas_kernel::{Error, QuestionId, Result};
use civitas_surveys::{Form, FormQuestion, MAX_COUNTED, QuestionMove, QuestionType};

/// A question in the list.
struct Line {
    id: QuestionId,
    number: usize,
    title: String,
    facts: String,
    conditions: String,
    path: String,
    token: String,
    is_layout: bool,
    is_first: bool,
    is_last: bool,
    /// The form of the open question.
    form: Option<Html>,
}

#[derive(Template)]
#[template(path = "pages/questions.html")]
struct Questions<'a> {
    translator: &'a Translator,
    path: String,
    lines: Vec<Line>,
    /// The form of a new question.
    new_form: Option<Html>,
    types: Vec<(&'static str, String)>,
}

/// What a line says of a question: `One choice · mandatory · 6 options`.
fn facts(req: &AdminRequest, question: &FormQuestion) -> String {
    let definition = &question.question;
    let mut facts = vec![type_name(req, definition.kind)];
    if definition.kind.is_presentation() {
        facts.push(req.tr("question-layout"));
    }
    if definition.mandatory && !definition.kind.is_presentation() {
        facts.push(req.tr("question-is-mandatory"));
    }
    if definition.kind.has_rows() {
        facts.push(req.tr_count("question-rows-count", definition.rows.len()));
    }
    if definition.kind.has_options() {
        facts.push(req.tr_count("question-options-count", question.options.len()));
    }
    if let Some(most) = definition.max_choices {
        facts.push(req.tr_count("question-at-most", most));
    }
    if definition.max_characters > 0 {
        facts.push(req.tr_count("question-at-most-characters", definition.max_characters));
    }
    facts.join(" · ")
}

pub(crate) async fn show(req: &AdminRequest) -> Result<Reply> {
    let survey = OpenedSurvey::from_path(req).await?;
    let form = req.store().questionnaires().form(survey.organization_id, survey.id).await?;
    let kind = req.query.get("new").and_then(QuestionType::parse);
    let opened = match req.query.number("question") {
        None => kind.map(|kind| OpenedQuestion::new(&survey, kind)),
        Some(id) => match form.question(QuestionId(id)) {
            Some(question) => Some(OpenedQuestion::stored(req, &survey, question).await?),
            None => None,
        },
    };
    show_page(req, &survey, &form, opened.as_ref(), Vec::new()).await
}

/// The page with this question open.
pub(crate) async fn show_page(
    req: &AdminRequest,
    survey: &OpenedSurvey,
    form: &Form,
    opened: Option<&OpenedQuestion>,
    problems: FormErrors,
) -> Result<Reply> {
    let path = survey.path();
    let end = form.questions().len().saturating_sub(1);
    let form_of = |id: Option<QuestionId>, index: usize| {
        let opened = opened.filter(|opened| opened.id == id)?;
        let context = QuestionContext { req, survey, opened, problems: &problems };
        Some(context.form(form, saturating_i64(index) + 1))
    };
    let lines = form.questions().iter().enumerate().map(|(index, question)| Line {
        id: question.id,
        number: index + 1,
        title: title(req, &question.question.body),
        facts: facts(req, question),
        conditions: match question.conditions.len() {
            0 => String::new(),
            number => req.tr_count("question-conditions-count", number),
        },
        path: format!("{path}/questions/{}", question.id),
        token: req.token(),
        is_layout: question.question.kind.is_presentation(),
        is_first: index == 0,
        is_last: index == end,
        form: form_of(Some(question.id), index),
    });
    let lines = lines.collect();
    let new_form = form_of(None, form.questions().len());
    let list = Questions { translator: &req.translator, path, lines, new_form, types: types(req) };
    let beside = format!("{}?in={}", list_path(survey.organization_id), survey.summary.context.component);
    let head = survey.tab_head(req, "").action(PageAction::link(beside, req.tr("survey-of-component")));
    req.form_page(head, render(&list), problems).await
}

pub(crate) async fn reorder(req: &AdminRequest) -> Result<Reply> {
    let (survey, form, id) = question_from_path(req).await?;
    let way = req.form.text("direction");
    let direction = match way {
        "up" => QuestionMove::Up,
        "down" => QuestionMove::Down,
        _ => {
            let problem = FormError::new("", req.tr("problem-inclusion"));
            return show_page(req, &survey, &form, None, vec![problem]).await;
        }
    };
    let field = format!("question {id}");
    let moved = req.change_with_audit(
        async |tx| {
            let ids = (survey.id, id);
            admin(tx).reorder(survey.organization_id, ids, direction, req.now).await
        },
        |has_moved| {
            let entry = audit_entry(req, &survey, Action::SurveyUpdated);
            has_moved.then(|| entry.with_change(&field, None, Some(way)))
        },
    );
    match moved.await {
        Ok(has_moved) => {
            let key = if has_moved { "question-moved" } else { "question-stays" };
            let name = form.question(id).map(|one| title(req, &one.question.body)).unwrap_or_default();
            req.redirect_done(key, &[("title", name.into())], survey.path()).await
        }
        Err(error) => {
            let problems = questionnaire_form_errors(req, error, |_| String::new())?;
            show_page(req, &survey, &form, None, problems).await
        }
    }
}

pub(crate) async fn confirm_delete(req: &AdminRequest) -> Result<Reply> {
    let (survey, form, id) = question_from_path(req).await?;
    let question = form.question(id).ok_or(Error::NotFound)?;
    let index = form.questions().iter().position(|one| one.id == id).unwrap_or_default();
    let answers = req.store().questions().count_answers(survey.organization_id, id).await?;
    let named = form.conditions_on(id);
    let lost: usize = named.iter().map(|(_, number)| number).sum();
    let numbers = [("count", answers.into()), ("number", req.count_text(answers, MAX_COUNTED).into())];
    let mut effects = vec![
        req.tr_args("question-delete-answers", &numbers),
        req.tr_count("question-delete-conditions", lost),
    ];
    if lost > 0 {
        effects.push(numbered_questions(req, &form, "question-delete-shown", &named));
    }
    if !question.options.is_empty() {
        effects.push(req.tr_count("question-delete-options", question.options.len()));
    }
    let confirm = req
        .confirmation(
            format!("{}/questions/{id}", survey.path()),
            req.tr("question-delete"),
            format!("{}?question={id}#open-question", survey.path()),
        )
        .delete()
        .effects(effects)
        .stays(req.tr("question-delete-stays"));
    let number = req.number(saturating_i64(index) + 1);
    let asked = req.tr_with("question-delete-title", "number", number);
    let head = survey.subpage_head(req, asked).lede(title(req, &question.question.body));
    req.page(head.current(req.tr("delete")), confirm.html(&[])).await
}

pub(crate) async fn delete(req: &AdminRequest) -> Result<Reply> {
    let (survey, _, id) = question_from_path(req).await?;
    let removed = req
        .change_with_audit(
            async |tx| admin(tx).remove(survey.organization_id, (survey.id, id), req.now).await,
            |question| {
                let entry = audit_entry(req, &survey, Action::SurveyUpdated);
                Some(entry.with_change(&format!("question {id}"), Some(&audit_label(question)), None))
            },
        )
        .await?;
    let name = title(req, &removed.body);
    req.redirect_done("question-deleted", &[("title", name.into())], survey.path()).await
}
