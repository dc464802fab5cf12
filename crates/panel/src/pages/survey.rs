//! The questions of a questionnaire: the list with one open, their order, their deletion (contract 08 §5).

use super::content::{counted, title};
use super::opened_question::{OpenedQuestion, admin, described, length, loss, of_path, type_name, types};
use super::survey_form::problems as refused;
use super::survey_home::{OpenedSurvey, list_path, record};
use super::survey_question_form;
use crate::parts::{Act, Html, Problem, render};
use crate::reply::Reply;
use crate::visit::Visit;
use crate::words::Words;
use askama::Template;
use civitas_audit::Action;
use civitas_kernel::{Error, QuestionId, Result};
use civitas_surveys::{Direction, Form, FormQuestion, MOST_COUNTED, QuestionType};

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
    words: &'a Words,
    path: String,
    lines: Vec<Line>,
    /// The form of a new question.
    new_form: Option<Html>,
    types: Vec<(&'static str, String)>,
}

/// What a line says of a question: `One choice · mandatory · 6 options`.
fn facts(visit: &Visit, question: &FormQuestion) -> String {
    let own = &question.question;
    let mut facts = vec![type_name(visit, own.kind)];
    if own.kind.is_presentation() {
        facts.push(visit.say("question-layout"));
    }
    if own.mandatory && !own.kind.is_presentation() {
        facts.push(visit.say("question-is-mandatory"));
    }
    if own.kind.has_rows() {
        facts.push(visit.words.count("question-rows-count", length(own.rows.len())));
    }
    if own.kind.has_options() {
        facts.push(visit.words.count("question-options-count", length(question.options.len())));
    }
    if let Some(most) = own.max_choices {
        facts.push(visit.words.count("question-at-most", most));
    }
    if own.max_characters > 0 {
        facts.push(visit.words.count("question-at-most-characters", own.max_characters));
    }
    facts.join(" · ")
}

pub(crate) async fn show(visit: &mut Visit) -> Result<Reply> {
    let shown = OpenedSurvey::of(visit).await?;
    let form = visit.panel.store().questionnaires().form(shown.organization, shown.id).await?;
    let kind = visit.query.get("new").and_then(QuestionType::parse);
    let opened = match visit.query.number("question") {
        None => kind.map(|kind| OpenedQuestion::new(&shown, kind)),
        Some(id) => match form.question(QuestionId(id)) {
            Some(question) => Some(OpenedQuestion::stored(visit, &shown, question).await?),
            None => None,
        },
    };
    page(visit, &shown, &form, opened.as_ref(), Vec::new()).await
}

/// The page with this question open.
pub(crate) async fn page(
    visit: &Visit,
    shown: &OpenedSurvey,
    form: &Form,
    opened: Option<&OpenedQuestion>,
    problems: Vec<Problem>,
) -> Result<Reply> {
    let path = shown.path();
    let end = form.questions().len().saturating_sub(1);
    let form_of = |id: Option<QuestionId>, place: usize| {
        let opened = opened.filter(|opened| opened.id == id)?;
        Some(survey_question_form::form(visit, shown, form, (opened, length(place) + 1), &problems))
    };
    let lines = form.questions().iter().enumerate().map(|(place, question)| Line {
        id: question.id,
        number: place + 1,
        title: title(visit, &question.question.body),
        facts: facts(visit, question),
        conditions: match question.conditions.len() {
            0 => String::new(),
            number => visit.words.count("question-conditions-count", length(number)),
        },
        path: format!("{path}/questions/{}", question.id),
        token: visit.token(),
        is_layout: question.question.kind.is_presentation(),
        is_first: place == 0,
        is_last: place == end,
        form: form_of(Some(question.id), place),
    });
    let lines = lines.collect();
    let new_form = form_of(None, form.questions().len());
    let list = Questions { words: &visit.words, path, lines, new_form, types: types(visit) };
    let beside = format!("{}?component={}", list_path(shown.organization), shown.summary.place.component);
    let head = shown.own_head(visit, "").act(Act::link(beside, visit.say("survey-of-component")));
    visit.form_page(head, render(&list), problems).await
}

pub(crate) async fn shift(visit: &mut Visit) -> Result<Reply> {
    let (shown, form, id) = of_path(visit).await?;
    let visit = &*visit;
    let way = visit.form.text("direction");
    let direction = match way {
        "up" => Direction::Up,
        "down" => Direction::Down,
        _ => {
            let problem = Problem::new("", visit.say("problem-inclusion"));
            return page(visit, &shown, &form, None, vec![problem]).await;
        }
    };
    let moved = visit.change(async |tx| {
        let own = (shown.id, id);
        let has_moved = admin(tx).shift(shown.organization, own, direction, visit.now).await?;
        if has_moved {
            let field = format!("question {id}");
            let entry = record(visit, &shown, Action::SurveyUpdated).changed(&field, None, Some(way));
            visit.append(tx, &entry).await?;
        }
        Ok(has_moved)
    });
    match moved.await {
        Ok(has_moved) => {
            let key = if has_moved { "question-moved" } else { "question-stays" };
            let name = form.question(id).map(|one| title(visit, &one.question.body)).unwrap_or_default();
            visit.done(key, &[("title", name.into())], shown.path()).await
        }
        Err(fault) => {
            let problems = refused(visit, fault, |_| String::new())?;
            page(visit, &shown, &form, None, problems).await
        }
    }
}

pub(crate) async fn ask_delete(visit: &mut Visit) -> Result<Reply> {
    let (shown, form, id) = of_path(visit).await?;
    let visit = &*visit;
    let question = form.question(id).ok_or(Error::NotFound)?;
    let place = form.questions().iter().position(|one| one.id == id).unwrap_or_default();
    let answers = visit.panel.store().questions().count_answers(shown.organization, id).await?;
    let named = form.conditions_on(id);
    let lost: usize = named.iter().map(|(_, number)| number).sum();
    let numbers = [("count", answers.into()), ("number", counted(visit, answers, MOST_COUNTED).into())];
    let mut effects = vec![
        visit.tell("question-delete-answers", &numbers),
        visit.words.count("question-delete-conditions", length(lost)),
    ];
    if lost > 0 {
        effects.push(loss(visit, &form, "question-delete-shown", &named));
    }
    if !question.options.is_empty() {
        effects.push(visit.words.count("question-delete-options", length(question.options.len())));
    }
    let confirm = visit
        .confirm(
            format!("{}/questions/{id}", shown.path()),
            visit.say("question-delete"),
            format!("{}?question={id}#open-question", shown.path()),
        )
        .delete()
        .effects(effects)
        .stays(visit.say("question-delete-stays"));
    let number = visit.number(length(place) + 1);
    let asked = visit.tell("question-delete-title", &[("number", number.into())]);
    let head = shown.below(visit, asked).lede(title(visit, &question.question.body));
    visit.page(head.here(visit.say("delete")), confirm.html(&[])).await
}

pub(crate) async fn delete(visit: &mut Visit) -> Result<Reply> {
    let (shown, _, id) = of_path(visit).await?;
    let visit = &*visit;
    let removed = visit
        .change(async |tx| {
            let question = admin(tx).remove(shown.organization, (shown.id, id), visit.now).await?;
            let field = format!("question {id}");
            let entry = record(visit, &shown, Action::SurveyUpdated);
            visit.append(tx, &entry.changed(&field, Some(&described(&question)), None)).await?;
            Ok(question)
        })
        .await?;
    let name = title(visit, &removed.body);
    visit.done("question-deleted", &[("title", name.into())], shown.path()).await
}
