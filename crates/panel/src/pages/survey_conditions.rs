//! The display conditions of a question in its form.

use super::content::{title, typed};
use super::opened_question::{CONDITIONS, OpenedQuestion, is_sent, keyed, languages};
use super::survey_home::OpenedSurvey;
use crate::parts::{Checkbox, Choice, Field, Html, Problem, language_name, render};
use crate::visit::Visit;
use crate::words::Words;
use askama::Template;
use civitas_kernel::{AnswerOptionId, QuestionId};
use civitas_surveys::{ConditionType, DisplayCondition, Form, FormQuestion, PartEdit};

/// The conditions of the form: stored ones by their places, then blank ones.
fn conditions_of<'a>(visit: &Visit, own: &'a FormQuestion) -> Vec<(String, Option<&'a DisplayCondition>)> {
    let stored = own.conditions.iter().enumerate().map(|(place, one)| (place.to_string(), one));
    keyed(visit, CONDITIONS, stored, i64::from(own.conditions.is_empty()))
}

/// Reads the changes of conditions, and what cannot be read.
pub(crate) fn read(
    visit: &Visit,
    shown: &OpenedSurvey,
    own: &FormQuestion,
    problems: &mut Vec<Problem>,
) -> Vec<PartEdit<usize, DisplayCondition>> {
    let mut edits = Vec::new();
    for (key, stored) in conditions_of(visit, own) {
        if !is_sent(visit, CONDITIONS, &key) {
            continue;
        }
        let name = |member: &str| format!("{CONDITIONS}[{key}][{member}]");
        let id = stored.and_then(|_| key.parse().ok());
        let chosen = visit.form.text(&name("question"));
        if chosen.is_empty() {
            if id.is_some() {
                edits.push(PartEdit { name: key, id, value: None });
            }
            continue;
        }
        let Some(kind) = ConditionType::parse(visit.form.text(&name("type"))) else {
            problems.push(Problem::new(name("type"), visit.say("problem-inclusion")));
            continue;
        };
        let before = stored.and_then(|stored| stored.value.clone()).unwrap_or_default();
        let condition = DisplayCondition {
            question: own.id,
            condition_question: QuestionId(chosen.parse().unwrap_or_default()),
            kind,
            option: visit.form.text(&name("option")).parse().ok().map(AnswerOptionId),
            value: Some(typed(visit, &name("value"), &shown.home.available_locales, &before)),
            mandatory: visit.form.switch(&name("mandatory")) == Some(true),
        };
        edits.push(PartEdit { name: key, id, value: Some(condition) });
    }
    edits
}

/// A condition in the form.
struct ConditionRow {
    key: String,
    fields: Vec<Html>,
    /// The id of the chosen option; empty without one.
    option: String,
    option_problem: Option<String>,
    values: Vec<Html>,
    mandatory: Html,
}

/// A question with its options: ids and texts.
type OptionGroup = (String, Vec<(String, String)>);

#[derive(Template)]
#[template(path = "pages/question_conditions.html")]
struct Conditions<'a> {
    words: &'a Words,
    rows: Vec<ConditionRow>,
    options: Vec<OptionGroup>,
}

/// A question by its number in the list: `2 In which district do you live?`
fn numbered(visit: &Visit, all: &Form, question: &FormQuestion) -> String {
    let place = all.questions().iter().position(|other| other.id == question.id).unwrap_or_default();
    format!("{} {}", place + 1, title(visit, &question.question.body))
}

/// The display conditions. Nothing where no earlier question has answers.
pub(crate) fn conditions(
    visit: &Visit,
    shown: &OpenedSurvey,
    all: &Form,
    opened: &OpenedQuestion,
    problems: &[Problem],
) -> Html {
    let comparable = all.comparable(opened.id);
    if comparable.is_empty() && opened.own.conditions.is_empty() {
        return Html::default();
    }
    let group = |question: &&FormQuestion| {
        let option =
            |option: &civitas_surveys::FormOption| (option.id.to_string(), title(visit, &option.option.body));
        (numbered(visit, all, question), question.options.iter().map(option).collect())
    };
    let options = comparable.iter().filter(|question| !question.options.is_empty()).map(group).collect();
    let rows = conditions_of(visit, &opened.own)
        .into_iter()
        .map(|one| condition(visit, shown, (all, &comparable), one, problems));
    render(&Conditions { words: &visit.words, rows: rows.collect(), options })
}

fn condition(
    visit: &Visit,
    shown: &OpenedSurvey,
    (all, comparable): (&Form, &[&FormQuestion]),
    (key, stored): (String, Option<&DisplayCondition>),
    problems: &[Problem],
) -> ConditionRow {
    let words = &visit.words;
    let name = |member: &str| format!("{CONDITIONS}[{key}][{member}]");
    let sent = |member: &str, stored: Option<String>| {
        visit.form.get(&name(member)).map_or_else(|| stored.unwrap_or_default(), str::to_owned)
    };
    let mut choices = vec![Choice::new("", visit.say("condition-always"))];
    choices.extend(comparable.iter().map(|one| Choice::new(one.id.to_string(), numbered(visit, all, one))));
    // A question that was moved behind this one.
    let named = stored.and_then(|stored| all.question(stored.condition_question));
    if let Some(one) = named.filter(|named| comparable.iter().all(|one| one.id != named.id)) {
        choices.push(Choice::new(one.id.to_string(), numbered(visit, all, one)));
    }
    let question = sent("question", stored.map(|stored| stored.condition_question.to_string()));
    let kind = sent("type", stored.map(|stored| stored.kind.as_str().to_owned()));
    let kinds = ConditionType::ALL.map(|kind| {
        let key = format!("condition-{}", kind.as_str().replace('_', "-"));
        Choice::new(kind.as_str(), visit.say(&key))
    });
    let fields = vec![
        Field::select(&name("question"), visit.say("condition-question"), question, choices)
            .check(problems)
            .html(words),
        Field::select(&name("type"), visit.say("condition-type"), kind, kinds.to_vec())
            .check(problems)
            .html(words),
    ];
    let before = stored.and_then(|stored| stored.value.clone()).unwrap_or_default();
    let value = typed(visit, &name("value"), &shown.home.available_locales, &before);
    let values = languages(shown).into_iter().map(|locale| {
        let language = language_name(words, locale);
        let label = visit.tell("condition-value", &[("language", language.into())]);
        let field = format!("{}[{locale}]", name("value"));
        Field::text(&field, label, value.get(locale).unwrap_or_default()).check(problems).html(words)
    });
    let is_needed = visit.form.switch(&name("mandatory"));
    let is_needed = is_needed.unwrap_or(stored.is_some_and(|stored| stored.mandatory));
    ConditionRow {
        fields,
        option: sent("option", stored.and_then(|stored| stored.option).map(|option| option.to_string())),
        option_problem: Problem::of(problems, &name("option")),
        values: values.collect(),
        mandatory: Checkbox::new(&name("mandatory"), visit.say("condition-needed"), is_needed).html(),
        key,
    }
}
