//! The parts of a question in its form: rows and options.

use super::content::typed;
use super::opened_question::{OPTIONS, Opened, ROWS, is_sent, languages, new_keys};
use super::survey_conditions;
use super::survey_home::Shown;
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
    shown: &Shown,
    own: &FormQuestion,
    mut question: Question,
    problems: &mut Vec<Problem>,
) -> Typed {
    let rows = if question.kind.has_rows() && visit.form.has("rows[") {
        let (keys, rows) = read_rows(visit, shown, own, problems);
        question.rows = rows;
        keys
    } else {
        question.rows.iter().map(|row| row.id.to_string()).collect()
    };
    let options = if question.kind.has_options() { read_options(visit, shown, own) } else { Vec::new() };
    let conditions = survey_conditions::read(visit, shown, own, problems);
    Typed { edit: QuestionEdit { question, options, conditions }, rows }
}

fn read_rows(
    visit: &Visit,
    shown: &Shown,
    own: &FormQuestion,
    problems: &mut Vec<Problem>,
) -> (Vec<String>, Vec<MatrixRow>) {
    let (locales, stored) = (&shown.home.available_locales, &own.question.rows);
    let last = stored.iter().map(|row| row.position).max().unwrap_or(-1);
    let (mut keys, mut rows) = (Vec::new(), Vec::new());
    let kept = stored.iter().map(|row| (row.id.to_string(), Some(row)));
    let new = new_keys(visit, ROWS, 0).into_iter().map(|key| (key, None));
    for (key, stored) in kept.chain(new) {
        if is_removed(visit, ROWS, &key) {
            continue;
        }
        let name = format!("{ROWS}[{key}]");
        let none = Translated::default();
        let body = typed(visit, &name, locales, stored.map_or(&none, |row| &row.body));
        if stored.is_none() && body.is_empty() {
            continue;
        }
        let place = format!("{name}[position]");
        let usual = stored.map_or(last.saturating_add(1), |row| row.position);
        let position = match visit.form.text(&place) {
            "" => usual,
            typed => match typed.parse::<i64>() {
                Ok(number) if number >= 1 => number - 1,
                Ok(_) => {
                    problems.push(Problem::new(place, visit.say("problem-greater")));
                    usual
                }
                Err(_) => {
                    problems.push(Problem::new(place, visit.say("problem-number")));
                    usual
                }
            },
        };
        rows.push(MatrixRow {
            id: stored.map_or(MatrixRowId(0), |row| row.id),
            reference: stored.map(|row| row.reference.clone()).unwrap_or_default(),
            position,
            body,
        });
        keys.push(key);
    }
    (keys, rows)
}

fn read_options(
    visit: &Visit,
    shown: &Shown,
    own: &FormQuestion,
) -> Vec<PartEdit<AnswerOptionId, Translated>> {
    let locales = &shown.home.available_locales;
    let stored = own.options.iter().filter_map(|option| {
        let key = option.id.to_string();
        if !is_sent(visit, OPTIONS, &key) {
            return None;
        }
        let body = typed(visit, &format!("{OPTIONS}[{key}]"), locales, &option.option.body);
        let value = (!is_removed(visit, OPTIONS, &key)).then_some(body);
        Some(PartEdit { name: key, id: Some(option.id), value })
    });
    let new = new_keys(visit, OPTIONS, 0).into_iter().filter_map(|key| {
        let body = typed(visit, &format!("{OPTIONS}[{key}]"), locales, &Translated::default());
        (!body.is_empty()).then_some(PartEdit { name: key, id: None, value: Some(body) })
    });
    stored.chain(new).collect()
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

/// The names of fields in messages: the name of the part, its key, `one` of its label.
fn inputs(
    visit: &Visit,
    shown: &Shown,
    (part, key, label): (&str, &str, &str),
    stored: &Translated,
    problems: &[Problem],
) -> Vec<Input> {
    let text = typed(visit, &format!("{part}[{key}]"), &shown.home.available_locales, stored);
    let input = |locale: Locale| {
        let (name, language) = (format!("{part}[{key}][{locale}]"), language_name(&visit.words, locale));
        Input {
            id: format!("{part}-{key}-{locale}"),
            label: visit.tell(label, &[("id", key.into()), ("language", language.as_str().into())]),
            value: text.get(locale).unwrap_or_default().to_owned(),
            problem: Problem::of(problems, &name),
            locale: locale.to_string(),
            name,
            language,
        }
    };
    languages(shown).into_iter().map(input).collect()
}

/// The blank rows that a form of a question has.
fn usual(opened: &Opened) -> i64 {
    if opened.id.is_none() { 4 } else { 1 }
}

/// The rows of a matrix.
pub(crate) fn rows(visit: &Visit, shown: &Shown, opened: &Opened, problems: &[Problem]) -> Html {
    let stored = opened.own.question.rows.iter().map(|row| (row.id.to_string(), Some(row)));
    let new = new_keys(visit, ROWS, usual(opened)).into_iter().map(|key| (key, None));
    let part = |(key, row): (String, Option<&MatrixRow>)| {
        let none = Translated::default();
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
        let body = row.map_or(&none, |row| &row.body);
        Part {
            is_new: row.is_none(),
            is_removed: is_removed(visit, ROWS, &key),
            inputs: inputs(visit, shown, (ROWS, &key, "question-row-in"), body, problems),
            place: Some(place),
            loss: String::new(),
            key,
        }
    };
    let parts = stored.chain(new).map(part).collect();
    table(visit, shown, (ROWS, "question-rows"), parts, true)
}

/// The options. `loss` says which conditions lose an option.
pub(crate) fn options(
    visit: &Visit,
    shown: &Shown,
    opened: &Opened,
    problems: &[Problem],
    loss: impl Fn(AnswerOptionId) -> String,
) -> Html {
    let stored = opened.own.options.iter().map(|option| (option.id.to_string(), Some(option)));
    let new = new_keys(visit, OPTIONS, usual(opened)).into_iter().map(|key| (key, None));
    let part = |(key, option): (String, Option<&FormOption>)| {
        let none = Translated::default();
        let body = option.map_or(&none, |option| &option.option.body);
        Part {
            is_new: option.is_none(),
            is_removed: is_removed(visit, OPTIONS, &key),
            inputs: inputs(visit, shown, (OPTIONS, &key, "question-option-in"), body, problems),
            place: None,
            loss: option.map(|option| loss(option.id)).unwrap_or_default(),
            key,
        }
    };
    let parts = stored.chain(new).map(part).collect();
    table(visit, shown, (OPTIONS, "question-options"), parts, false)
}

fn table(
    visit: &Visit,
    shown: &Shown,
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
