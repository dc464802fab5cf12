//! The display conditions of a question in its form.

use super::opened_question::{CONDITIONS, QuestionContext, is_sent, keyed_parts, languages};
use crate::admin_request::AdminRequest;
use crate::parts::{Checkbox, Choice, Field, FormError, FormErrors, Html, language_name, render};
use crate::translated::{title, typed_texts};
use crate::translator::Translator;
use askama::Template;
use civitas_kernel::{AnswerOptionId, QuestionId};
use civitas_surveys::{ConditionType, DisplayCondition, Form, FormQuestion, QuestionPartEdit};

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
    translator: &'a Translator,
    rows: Vec<ConditionRow>,
    options: Vec<OptionGroup>,
}

/// A question by its number in the list: `2 In which district do you live?`
fn numbered(req: &AdminRequest, all: &Form, question: &FormQuestion) -> String {
    let position = all.questions().iter().position(|other| other.id == question.id).unwrap_or_default();
    format!("{} {}", position + 1, title(req, &question.question.body))
}

impl<'a> QuestionContext<'a> {
    /// The conditions of the form: stored ones by their positions, then blank ones.
    fn keyed_conditions(&self) -> Vec<(String, Option<&'a DisplayCondition>)> {
        let stored = self
            .opened
            .form_question
            .conditions
            .iter()
            .enumerate()
            .map(|(position, one)| (position.to_string(), one));
        keyed_parts(self.req, CONDITIONS, stored, i64::from(self.opened.form_question.conditions.is_empty()))
    }

    /// Reads the changes of conditions, and what cannot be read.
    pub(crate) fn read_conditions(
        &self,
        problems: &mut FormErrors,
    ) -> Vec<QuestionPartEdit<usize, DisplayCondition>> {
        let mut edits = Vec::new();
        for (key, stored) in self.keyed_conditions() {
            if !is_sent(self.req, CONDITIONS, &key) {
                continue;
            }
            let name = |member: &str| format!("{CONDITIONS}[{key}][{member}]");
            let id = stored.and_then(|_| key.parse().ok());
            let chosen = self.req.form.text(&name("question"));
            if chosen.is_empty() {
                if id.is_some() {
                    edits.push(QuestionPartEdit { name: key, id, value: None });
                }
                continue;
            }
            let Some(kind) = ConditionType::parse(self.req.form.text(&name("type"))) else {
                problems.push(FormError::new(name("type"), self.req.tr("problem-inclusion")));
                continue;
            };
            let before = stored.and_then(|stored| stored.value.clone()).unwrap_or_default();
            let condition = DisplayCondition {
                question: self.opened.form_question.id,
                condition_question: QuestionId(chosen.parse().unwrap_or_default()),
                kind,
                option: self.req.form.text(&name("option")).parse().ok().map(AnswerOptionId),
                value: Some(typed_texts(
                    self.req,
                    &name("value"),
                    &self.survey.organization.available_locales,
                    &before,
                )),
                mandatory: self.req.form.checkbox(&name("mandatory")) == Some(true),
            };
            edits.push(QuestionPartEdit { name: key, id, value: Some(condition) });
        }
        edits
    }

    /// The display conditions. Nothing where no earlier question has answers.
    pub(crate) fn conditions(&self, all: &Form) -> Html {
        let comparable = all.comparable(self.opened.id);
        if comparable.is_empty() && self.opened.form_question.conditions.is_empty() {
            return Html::default();
        }
        let group = |question: &&FormQuestion| {
            let option = |option: &civitas_surveys::FormOption| {
                (option.id.to_string(), title(self.req, &option.option.body))
            };
            (numbered(self.req, all, question), question.options.iter().map(option).collect())
        };
        let options = comparable.iter().filter(|question| !question.options.is_empty()).map(group).collect();
        let rows = self.keyed_conditions().into_iter().map(|one| self.condition((all, &comparable), one));
        render(&Conditions { translator: &self.req.translator, rows: rows.collect(), options })
    }

    fn condition(
        &self,
        (all, comparable): (&Form, &[&FormQuestion]),
        (key, stored): (String, Option<&DisplayCondition>),
    ) -> ConditionRow {
        let translator = &self.req.translator;
        let name = |member: &str| format!("{CONDITIONS}[{key}][{member}]");
        let sent = |member: &str, stored: Option<String>| {
            self.req.form.get(&name(member)).map_or_else(|| stored.unwrap_or_default(), str::to_owned)
        };
        let mut choices = vec![Choice::new("", self.req.tr("condition-always"))];
        let choice = |one: &FormQuestion| Choice::new(one.id.to_string(), numbered(self.req, all, one));
        choices.extend(comparable.iter().map(|one| choice(one)));
        // A question that was moved behind this one.
        let named = stored.and_then(|stored| all.question(stored.condition_question));
        if let Some(one) = named.filter(|named| comparable.iter().all(|one| one.id != named.id)) {
            choices.push(choice(one));
        }
        let question = sent("question", stored.map(|stored| stored.condition_question.to_string()));
        let kind = sent("type", stored.map(|stored| stored.kind.as_str().to_owned()));
        let kinds = ConditionType::ALL.map(|kind| {
            let key = format!("condition-{}", kind.as_str().replace('_', "-"));
            Choice::new(kind.as_str(), self.req.tr(&key))
        });
        let fields = vec![
            Field::select(&name("question"), self.req.tr("condition-question"), question, choices)
                .check(self.problems)
                .html(translator),
            Field::select(&name("type"), self.req.tr("condition-type"), kind, kinds.to_vec())
                .check(self.problems)
                .html(translator),
        ];
        let before = stored.and_then(|stored| stored.value.clone()).unwrap_or_default();
        let value =
            typed_texts(self.req, &name("value"), &self.survey.organization.available_locales, &before);
        let values = languages(self.survey).into_iter().map(|locale| {
            let language = language_name(translator, locale);
            let label = self.req.tr_with("condition-value", "language", language);
            let field = format!("{}[{locale}]", name("value"));
            Field::text(&field, label, value.get(locale).unwrap_or_default())
                .check(self.problems)
                .html(translator)
        });
        let is_needed = self.req.form.checkbox(&name("mandatory"));
        let is_needed = is_needed.unwrap_or(stored.is_some_and(|stored| stored.mandatory));
        ConditionRow {
            fields,
            option: sent("option", stored.and_then(|stored| stored.option).map(|option| option.to_string())),
            option_problem: FormError::text_for(self.problems, &name("option")),
            values: values.collect(),
            mandatory: Checkbox::new(&name("mandatory"), self.req.tr("condition-needed"), is_needed).html(),
            key,
        }
    }
}
