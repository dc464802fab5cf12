//! The parts of a question in its form: rows and options.

use super::content::typed;
use super::opened_question::{OPTIONS, OpenedQuestion, ROWS, is_sent, keyed, languages};
use super::survey_conditions;
use super::survey_home::OpenedSurvey;
use crate::parts::{Html, Problem, language_name, render};
use crate::visit::Visit;
use crate::words::Words;
use askama::Template;
use civitas_kernel::{AnswerOptionId, Locale, MatrixRowId, Translated};
use civitas_surveys::{FormOption, FormQuestion, MatrixRow, PartEdit, Question, QuestionEdit};

/// What was typed.
pub(crate) struct Typed {
    pub(crate) edit: QuestionEdit,
    /// The names in the form of the rows of the question, in the same order.
    pub(crate) rows: Vec<String>,
}

fn is_removed(visit: &Visit, part: &str, key: &str) -> bool {
    visit.form.switch(&format!("{part}[{key}][_destroy]")) == Some(true)
}

/// Reads all parts.
pub(crate) fn read(
    visit: &Visit,
    shown: &OpenedSurvey,
    own: &FormQuestion,
    mut question: Question,
    problems: &mut Vec<Problem>,
) -> Typed {
    let rows = if question.kind.has_rows() && visit.form.has("rows[") {
        let (keys, rows): (Vec<String>, Vec<MatrixRow>) =
            read_rows(visit, shown, own, problems).into_iter().unzip();
        question.rows = rows;
        keys
    } else {
        question.rows.iter().map(|row| row.id.to_string()).collect()
    };
    let options = if question.kind.has_options() { read_options(visit, shown, own) } else { Vec::new() };
    let conditions = survey_conditions::read(visit, shown, own, problems);
    Typed { edit: QuestionEdit { question, options, conditions }, rows }
}

/// The text that was typed for a part; `None` for a part that is removed, and for a blank new one.
fn read_text(
    visit: &Visit,
    shown: &OpenedSurvey,
    part: &str,
    key: &str,
    stored: Option<&Translated>,
) -> Option<Translated> {
    let (name, none) = (format!("{part}[{key}]"), Translated::default());
    let text = typed(visit, &name, &shown.home.available_locales, stored.unwrap_or(&none));
    let is_part = !is_removed(visit, part, key) && (stored.is_some() || !text.is_empty());
    is_part.then_some(text)
}

fn rows_of<'a>(visit: &Visit, own: &'a FormQuestion, usual: i64) -> Vec<(String, Option<&'a MatrixRow>)> {
    keyed(visit, ROWS, own.question.rows.iter().map(|row| (row.id.to_string(), row)), usual)
}

fn options_of<'a>(visit: &Visit, own: &'a FormQuestion, usual: i64) -> Vec<(String, Option<&'a FormOption>)> {
    keyed(visit, OPTIONS, own.options.iter().map(|option| (option.id.to_string(), option)), usual)
}

fn read_rows(
    visit: &Visit,
    shown: &OpenedSurvey,
    own: &FormQuestion,
    problems: &mut Vec<Problem>,
) -> Vec<(String, MatrixRow)> {
    let last = own.question.rows.iter().map(|row| row.position).max().unwrap_or(-1);
    let mut rows = Vec::new();
    for (key, stored) in rows_of(visit, own, 0) {
        let Some(body) = read_text(visit, shown, ROWS, &key, stored.map(|row| &row.body)) else { continue };
        let place = format!("{ROWS}[{key}][position]");
        let usual = stored.map_or(last.saturating_add(1), |row| row.position);
        let position = match visit.form.text(&place) {
            "" => usual,
            typed => match typed.parse::<i64>() {
                Ok(number) if number >= 1 => number - 1,
                read => {
                    let key = if read.is_ok() { "problem-greater" } else { "problem-number" };
                    problems.push(Problem::new(place, visit.say(key)));
                    usual
                }
            },
        };
        let id = stored.map_or(MatrixRowId(0), |row| row.id);
        let reference = stored.map(|row| row.reference.clone()).unwrap_or_default();
        rows.push((key, MatrixRow { id, reference, position, body }));
    }
    rows
}

fn read_options(
    visit: &Visit,
    shown: &OpenedSurvey,
    own: &FormQuestion,
) -> Vec<PartEdit<AnswerOptionId, Translated>> {
    let edit = |(key, stored): (String, Option<&FormOption>)| {
        let value = read_text(visit, shown, OPTIONS, &key, stored.map(|option| &option.option.body));
        let is_edit = if stored.is_some() { is_sent(visit, OPTIONS, &key) } else { value.is_some() };
        is_edit.then(|| PartEdit { name: key, id: stored.map(|option| option.id), value })
    };
    options_of(visit, own, 0).into_iter().filter_map(edit).collect()
}

/// A field of a part in one language, or its place.
struct Input {
    id: String,
    name: String,
    locale: String,
    language: String,
    label: String,
    value: String,
    problem: Option<String>,
}

/// A row or an option in the form.
struct Part {
    key: String,
    is_new: bool,
    is_removed: bool,
    inputs: Vec<Input>,
    /// Its place among the rows.
    place: Option<Input>,
    /// Which conditions lose it.
    loss: String,
}

#[derive(Template)]
#[template(path = "pages/question_parts.html")]
struct Parts<'a> {
    words: &'a Words,
    name: &'static str,
    legend: String,
    hint: String,
    languages: Vec<String>,
    has_places: bool,
    rows: Vec<Part>,
}

/// A stored row or option, or a blank one: its key and its text.
fn part(
    visit: &Visit,
    shown: &OpenedSurvey,
    (name, label, key): (&str, &str, String),
    stored: Option<&Translated>,
    problems: &[Problem],
) -> Part {
    let none = Translated::default();
    let locales = &shown.home.available_locales;
    let text = typed(visit, &format!("{name}[{key}]"), locales, stored.unwrap_or(&none));
    let input = |locale: Locale| {
        let (field, language) = (format!("{name}[{key}][{locale}]"), language_name(&visit.words, locale));
        Input {
            id: format!("{name}-{key}-{locale}"),
            label: visit.tell(label, &[("id", key.as_str().into()), ("language", language.as_str().into())]),
            value: text.get(locale).unwrap_or_default().to_owned(),
            problem: Problem::of(problems, &field),
            locale: locale.to_string(),
            name: field,
            language,
        }
    };
    Part {
        is_new: stored.is_none(),
        is_removed: is_removed(visit, name, &key),
        inputs: languages(shown).into_iter().map(input).collect(),
        place: None,
        loss: String::new(),
        key,
    }
}

/// The blank rows that a form of a question has.
fn usual(opened: &OpenedQuestion) -> i64 {
    if opened.id.is_none() { 4 } else { 1 }
}

/// The rows of a matrix.
pub(crate) fn rows(
    visit: &Visit,
    shown: &OpenedSurvey,
    opened: &OpenedQuestion,
    problems: &[Problem],
) -> Html {
    let part = |(key, row): (String, Option<&MatrixRow>)| {
        let name = format!("{ROWS}[{key}][position]");
        let usual = row.map(|row| row.position.saturating_add(1).to_string()).unwrap_or_default();
        let place = Input {
            id: format!("{ROWS}-{key}-position"),
            locale: String::new(),
            language: String::new(),
            label: visit.tell("question-row-place", &[("id", key.as_str().into())]),
            value: visit.form.get(&name).map_or(usual, str::to_owned),
            problem: Problem::of(problems, &name),
            name,
        };
        let names = (ROWS, "question-row-in", key);
        Part { place: Some(place), ..part(visit, shown, names, row.map(|row| &row.body), problems) }
    };
    let rows = rows_of(visit, &opened.own, usual(opened)).into_iter().map(part).collect();
    table(visit, shown, (ROWS, "question-rows"), rows, true)
}

/// The options. `loss` says which conditions lose an option.
pub(crate) fn options(
    visit: &Visit,
    shown: &OpenedSurvey,
    opened: &OpenedQuestion,
    problems: &[Problem],
    loss: impl Fn(AnswerOptionId) -> String,
) -> Html {
    let part = |(key, option): (String, Option<&FormOption>)| {
        let names = (OPTIONS, "question-option-in", key);
        let body = option.map(|option| &option.option.body);
        let loss = option.map(|option| loss(option.id)).unwrap_or_default();
        Part { loss, ..part(visit, shown, names, body, problems) }
    };
    let options = options_of(visit, &opened.own, usual(opened)).into_iter().map(part).collect();
    table(visit, shown, (OPTIONS, "question-options"), options, false)
}

fn table(
    visit: &Visit,
    shown: &OpenedSurvey,
    (name, key): (&'static str, &str),
    parts: Vec<Part>,
    has_places: bool,
) -> Html {
    let words = &visit.words;
    render(&Parts {
        words,
        name,
        legend: visit.say(key),
        hint: visit.say(&format!("{key}-hint")),
        languages: languages(shown).into_iter().map(|locale| language_name(words, locale)).collect(),
        has_places,
        rows: parts,
    })
}
