//! The form of a question, its creation and its change (contract 08 §5.2).

use super::content::line;
use super::content::typed;
use super::survey::{admin, described, loss, of_path, page, text, type_name, types};
use super::survey_conditions;
use super::survey_form::{problems as refused, revision, seen};
use super::survey_parts::{self, CONDITIONS, OPTIONS, ROWS};
use super::surveys::{Shown, record};
use crate::notice::Notice;
use crate::parts::{Choice, Field, Html, Problem, Texts, Tick, render};
use crate::reply::Reply;
use crate::visit::Visit;
use crate::words::Words;
use askama::Template;
use civitas_audit::{Action, Record};
use civitas_kernel::{QuestionId, Result, Translated};
use civitas_surveys::{Form, FormQuestion, Question, QuestionEdit, QuestionType};

const KIND: &str = "question[question_type]";
const BODY: &str = "question[body]";
const DESCRIPTION: &str = "question[description]";
const MANDATORY: &str = "question[mandatory]";
const MAX_CHOICES: &str = "question[max_choices]";
const MAX_CHARACTERS: &str = "question[max_characters]";

/// The question that is open.
pub(crate) struct Opened {
    /// `None`: it is new.
    pub(crate) id: Option<QuestionId>,
    /// As it is stored; blank for a new one.
    pub(crate) own: FormQuestion,
    /// Whether its type cannot change, because it has answers.
    is_locked: bool,
}

impl Opened {
    /// A stored question.
    pub(crate) async fn stored(visit: &Visit, shown: &Shown, own: &FormQuestion) -> Result<Self> {
        let questions = visit.panel.store().questions();
        let is_locked = questions.has_answers(shown.organization, own.id).await?;
        Ok(Self { id: Some(own.id), own: own.clone(), is_locked })
    }

    /// A new question of this type.
    pub(crate) fn new(shown: &Shown, kind: QuestionType) -> Self {
        let question = Question::new(shown.id, 0, kind, Translated::default());
        let own = FormQuestion { id: QuestionId(0), question, options: Vec::new(), conditions: Vec::new() };
        Self { id: None, own, is_locked: false }
    }
}

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
fn read(visit: &Visit, shown: &Shown, opened: &Opened) -> (survey_parts::Typed, Vec<Problem>) {
    let (form, locales) = (&visit.form, &shown.home.available_locales);
    let (mut question, mut problems) = (opened.own.question.clone(), Vec::new());
    if let Some(name) = form.get(KIND) {
        match QuestionType::parse(name) {
            Some(kind) => question.kind = kind,
            None => problems.push(Problem::new(KIND, visit.say("problem-inclusion"))),
        }
    }
    question.body = typed(visit, BODY, locales, &question.body);
    let description = typed(visit, DESCRIPTION, locales, &question.description.clone().unwrap_or_default());
    question.description = Some(description).filter(|text| !text.is_empty());
    if let Some(is_mandatory) = form.switch(MANDATORY) {
        question.mandatory = is_mandatory;
    }
    let mut number = |name: &str, stored: Option<i64>| match form.get(name).map(str::trim) {
        None => stored,
        Some("") => None,
        Some(typed) => match typed.parse() {
            Ok(number) => Some(number),
            Err(_) => {
                problems.push(Problem::new(name, visit.say("problem-number")));
                stored
            }
        },
    };
    question.max_choices = number(MAX_CHOICES, question.max_choices);
    question.max_characters = number(MAX_CHARACTERS, Some(question.max_characters)).unwrap_or_default();
    let typed = survey_parts::read(visit, shown, &opened.own, question, &mut problems);
    (typed, problems)
}

/// The problems of a refused question, beside their fields.
fn refusal(
    visit: &Visit,
    shown: &Shown,
    rows: &[String],
    fault: civitas_kernel::Error,
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
    shown: &Shown,
    all: &Form,
    (opened, number): (&Opened, i64),
    problems: &[Problem],
) -> Html {
    let (words, path) = (&visit.words, shown.path());
    let question = read(visit, shown, opened).0.edit.question;
    let locales = &shown.home.available_locales;
    let description = question.description.clone().unwrap_or_default();
    let texts = Texts::new("question-texts", visit.say("texts"), locales, shown.home.default_locale)
        .text(BODY, visit.say("question-body"), "", &question.body, 1)
        .text(DESCRIPTION, visit.say("question-description"), "", &description, 3);
    let mandatory = Tick::new(MANDATORY, visit.say("question-mandatory"), question.mandatory)
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
        revision: revision(visit, shown, problems),
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
fn fields(visit: &Visit, opened: &Opened, question: &Question, problems: &[Problem]) -> Vec<Html> {
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
        let say = |condition: &civitas_surveys::DisplayCondition| {
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
