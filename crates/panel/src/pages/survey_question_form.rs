//! The form of a question (contract 08 §5.2).

use super::opened_question::{OpenedQuestion, ROWS, loss, type_name, types};
use super::survey_conditions;
use super::survey_form::problems as refused;
use super::survey_home::OpenedSurvey;
use super::survey_parts::{self, Typed};
use crate::parts::{Checkbox, Choice, Field, Html, Problem, Texts, render};
use crate::records::FormInput;
use crate::visit::Visit;
use crate::words::Words;
use askama::Template;
use civitas_kernel::records::Entity;
use civitas_kernel::{Error, Result};
use civitas_surveys::{Form, Question, QuestionType};

pub(crate) const KIND: &str = "question[question_type]";
const BODY: &str = "question[body]";
const DESCRIPTION: &str = "question[description]";
const MANDATORY: &str = "question[mandatory]";
const MAX_CHOICES: &str = "question[max_choices]";
const MAX_CHARACTERS: &str = "question[max_characters]";

#[derive(Template)]
#[template(path = "pages/question.html")]
struct QuestionForm<'a> {
    words: &'a Words,
    action: String,
    method: &'static str,
    token: String,
    revision: String,
    title: String,
    close: String,
    fields: Vec<Html>,
    texts: Html,
    mandatory: Html,
    parts: Vec<Html>,
    conditions: Html,
    save: String,
    delete: Option<(String, String)>,
}

#[derive(Template)]
#[template(
    source = r#"<div class="field"><span class="label">{{ label }}</span><span class="hint">{{ hint }}</span><p>{{ text }}</p></div>"#,
    ext = "html"
)]
struct Fixed {
    label: String,
    hint: String,
    text: String,
}

/// The question with what was typed, and what cannot be read. What was not sent stays as it is.
pub(crate) fn read(visit: &Visit, shown: &OpenedSurvey, opened: &OpenedQuestion) -> (Typed, Vec<Problem>) {
    let mut question = opened.own.question.clone();
    let mut input = FormInput::new(visit, "question", &shown.home.available_locales);
    let kind = input.choice("question_type", &QuestionType::ALL, QuestionType::as_str);
    question.kind = kind.unwrap_or(question.kind);
    input.texts("body", &mut question.body);
    let mut description = question.description.take().unwrap_or_default();
    input.texts("description", &mut description);
    question.description = Some(description).filter(|text| !text.is_empty());
    input.flag("mandatory", &mut question.mandatory);
    let mut problems = input.into_problems();
    let mut number = |name: &str, stored: Option<i64>| match visit.form.get(name).map(str::trim) {
        None => stored,
        Some("") => None,
        Some(typed) => typed.parse().ok().or_else(|| {
            problems.push(Problem::new(name, visit.say("problem-number")));
            stored
        }),
    };
    question.max_choices = number(MAX_CHOICES, question.max_choices);
    question.max_characters = number(MAX_CHARACTERS, Some(question.max_characters)).unwrap_or_default();
    (survey_parts::read(visit, shown, &opened.own, question, &mut problems), problems)
}

/// The problems of a refused question, beside their fields.
pub(crate) fn refusal(
    visit: &Visit,
    shown: &OpenedSurvey,
    rows: &[String],
    fault: Error,
) -> Result<Vec<Problem>> {
    let main = shown.home.default_locale;
    refused(visit, fault, |field| {
        let place = field.strip_prefix("rows[").and_then(|rest| rest.strip_suffix(']')?.parse().ok());
        match (field, place.and_then(|place: usize| rows.get(place))) {
            (_, Some(row)) => format!("{ROWS}[{row}][{main}]"),
            ("body" | "description", _) => format!("question[{field}][{main}]"),
            ("max_choices" | "max_characters" | "question_type", _) => format!("question[{field}]"),
            _ if field.starts_with("options[") => format!("{field}[{main}]"),
            _ if field.starts_with("conditions[") && field.ends_with("[value]") => format!("{field}[{main}]"),
            _ if field.starts_with("conditions[") => field.to_owned(),
            _ => String::new(),
        }
    })
}

/// The form of the open question, which is this one in the list.
pub(crate) fn form(
    visit: &Visit,
    shown: &OpenedSurvey,
    all: &Form,
    (opened, number): (&OpenedQuestion, i64),
    problems: &[Problem],
) -> Html {
    let (words, path) = (&visit.words, shown.path());
    let question = read(visit, shown, opened).0.edit.question;
    let locales = &shown.home.available_locales;
    let description = question.description.clone().unwrap_or_default();
    let texts = Texts::new("question-texts", visit.say("texts"), locales, shown.home.default_locale)
        .text(BODY, visit.say("question-body"), "", &question.body, 1)
        .text(DESCRIPTION, visit.say("question-description"), "", &description, 3);
    let mandatory = Checkbox::new(MANDATORY, visit.say("question-mandatory"), question.mandatory)
        .hint(visit.say("question-mandatory-hint"));
    let is_layout = question.kind.is_presentation();
    let mut parts = Vec::new();
    if question.kind.has_rows() {
        parts.push(survey_parts::rows(visit, shown, opened, problems));
    }
    if question.kind.has_options() {
        parts.push(survey_parts::options(visit, shown, opened, problems, |option| {
            let named = all.conditions_on_option(option);
            if named.is_empty() { String::new() } else { loss(visit, all, "question-option-loss", &named) }
        }));
    }
    let number = visit.number(number);
    let saved = if opened.id.is_some() { "question-save" } else { "question-create" };
    let form = QuestionForm {
        words,
        action: opened.id.map_or_else(|| format!("{path}/questions"), |id| format!("{path}/questions/{id}")),
        method: if opened.id.is_some() { "put" } else { "" },
        token: visit.token(),
        revision: visit.revision(shown.questionnaire.revision()),
        title: visit.tell("question-number", &[("number", number.clone().into())]),
        fields: fields(visit, opened, &question, problems),
        texts: texts.html(words, problems),
        mandatory: if is_layout { Html::default() } else { mandatory.html() },
        parts,
        conditions: survey_conditions::conditions(visit, shown, all, opened, problems),
        save: visit.tell(saved, &[("number", number.clone().into())]),
        delete: opened.id.map(|id| {
            let label = visit.tell("question-delete-link", &[("number", number.into())]);
            (format!("{path}/questions/{id}/delete"), label)
        }),
        close: path,
    };
    render(&form)
}

/// The fields of the type and the limits.
fn fields(visit: &Visit, opened: &OpenedQuestion, question: &Question, problems: &[Problem]) -> Vec<Html> {
    let words = &visit.words;
    let label = visit.say("question-type");
    let mut fields = vec![if opened.is_locked {
        let text = type_name(visit, opened.own.question.kind);
        render(&Fixed { label, hint: visit.say("question-type-locked"), text })
    } else {
        let choices = types(visit).into_iter().map(|(value, label)| Choice::new(value, label));
        Field::select(KIND, label, question.kind.as_str(), choices.collect())
            .hint(visit.say("question-type-hint"))
            .check(problems)
            .html(words)
    }];
    let limit = |name: &str, key: &str, stored: Option<i64>| {
        let value = visit.form.get(name).map(str::to_owned);
        let value = value.unwrap_or_else(|| stored.map(|number| number.to_string()).unwrap_or_default());
        Field::number(name, visit.say(key), value)
            .hint(visit.say(&format!("{key}-hint")))
            .check(problems)
            .html(words)
    };
    if question.kind.has_options() {
        fields.push(limit(MAX_CHOICES, "question-max-choices", question.max_choices));
    }
    if question.kind == QuestionType::LongAnswer {
        let stored = Some(question.max_characters).filter(|most| *most > 0);
        fields.push(limit(MAX_CHARACTERS, "question-max-characters", stored));
    }
    fields
}
