//! The form of a question (contract 08 §5.2).

use super::opened_question::{QuestionContext, ROWS, numbered_questions, type_name, types};
use super::question_parts::TypedQuestion;
use super::survey_form::questionnaire_form_errors;
use crate::parts::{Checkbox, Choice, Field, FormError, FormErrors, Html, TranslatedFields, render};
use crate::records::FormInput;
use crate::translator::Translator;
use askama::Template;
use civitas_kernel::records::Entity;
use civitas_kernel::{Error, Result};
use civitas_surveys::{Form, Question, QuestionType};

pub(crate) const KIND: &str = "question[question_type]";
const BODY_FIELD: &str = "question[body]";
const DESCRIPTION_FIELD: &str = "question[description]";
const MANDATORY_FIELD: &str = "question[mandatory]";
const MAX_CHOICES_FIELD: &str = "question[max_choices]";
const MAX_CHARACTERS_FIELD: &str = "question[max_characters]";

#[derive(Template)]
#[template(path = "pages/question.html")]
struct QuestionForm<'a> {
    translator: &'a Translator,
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
    submit_label: String,
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

impl QuestionContext<'_> {
    /// The question with what was typed, and what cannot be read. What was not sent stays as it is.
    pub(crate) fn read_form(&self) -> (TypedQuestion, FormErrors) {
        let mut question = self.opened.form_question.question.clone();
        let mut input = FormInput::new(self.req, "question", &self.survey.organization.available_locales);
        let kind = input.read_choice("question_type", &QuestionType::ALL, QuestionType::as_str);
        question.kind = kind.unwrap_or(question.kind);
        input.read_texts("body", &mut question.body);
        let mut description = question.description.take().unwrap_or_default();
        input.read_texts("description", &mut description);
        question.description = Some(description).filter(|text| !text.is_empty());
        input.read_flag("mandatory", &mut question.mandatory);
        let mut problems = input.into_problems();
        let mut number = |name: &str, stored: Option<i64>| match self.req.form.get(name).map(str::trim) {
            None => stored,
            Some("") => None,
            Some(typed) => typed.parse().ok().or_else(|| {
                problems.push(FormError::new(name, self.req.tr("problem-number")));
                stored
            }),
        };
        question.max_choices = number(MAX_CHOICES_FIELD, question.max_choices);
        question.max_characters =
            number(MAX_CHARACTERS_FIELD, Some(question.max_characters)).unwrap_or_default();
        (self.read_parts(question, &mut problems), problems)
    }

    /// The problems of a refused question, beside their fields.
    pub(crate) fn form_errors(&self, rows: &[String], error: Error) -> Result<FormErrors> {
        let main = self.survey.organization.default_locale;
        questionnaire_form_errors(self.req, error, |field| {
            let position = field.strip_prefix("rows[").and_then(|rest| rest.strip_suffix(']')?.parse().ok());
            match (field, position.and_then(|position: usize| rows.get(position))) {
                (_, Some(row)) => format!("{ROWS}[{row}][{main}]"),
                ("body" | "description", _) => format!("question[{field}][{main}]"),
                ("max_choices" | "max_characters" | "question_type", _) => format!("question[{field}]"),
                _ if field.starts_with("options[") => format!("{field}[{main}]"),
                _ if field.starts_with("conditions[") && field.ends_with("[value]") => {
                    format!("{field}[{main}]")
                }
                _ if field.starts_with("conditions[") => field.to_owned(),
                _ => String::new(),
            }
        })
    }

    /// The form of the open question, which is this one in the list.
    pub(crate) fn form(&self, all: &Form, number: i64) -> Html {
        let (translator, path, id) = (&self.req.translator, self.survey.path(), self.opened.id);
        let question = self.read_form().0.edit.question;
        let locales = &self.survey.organization.available_locales;
        let description = question.description.clone().unwrap_or_default();
        let texts = TranslatedFields::new(
            "question-texts",
            self.req.tr("texts"),
            locales,
            self.survey.organization.default_locale,
        )
        .text(BODY_FIELD, self.req.tr("question-body"), "", &question.body, 1)
        .text(DESCRIPTION_FIELD, self.req.tr("question-description"), "", &description, 3);
        let mandatory = Checkbox::new(MANDATORY_FIELD, self.req.tr("question-mandatory"), question.mandatory)
            .hint(self.req.tr("question-mandatory-hint"));
        let is_layout = question.kind.is_presentation();
        let mut parts = Vec::new();
        if question.kind.has_rows() {
            parts.push(self.rows());
        }
        if question.kind.has_options() {
            parts.push(self.options(|option| {
                let named = all.conditions_on_option(option);
                if named.is_empty() {
                    String::new()
                } else {
                    numbered_questions(self.req, all, "question-option-loss", &named)
                }
            }));
        }
        let number = self.req.number(number);
        let submit_key = if id.is_some() { "question-save" } else { "question-create" };
        let form = QuestionForm {
            translator,
            action: id.map_or_else(|| format!("{path}/questions"), |id| format!("{path}/questions/{id}")),
            method: if id.is_some() { "put" } else { "" },
            token: self.req.token(),
            revision: self.req.revision(self.survey.questionnaire.revision()),
            title: self.req.tr_with("question-number", "number", number.clone()),
            fields: self.fields(&question),
            texts: texts.html(translator, self.problems),
            mandatory: if is_layout { Html::default() } else { mandatory.html() },
            parts,
            conditions: self.conditions(all),
            submit_label: self.req.tr_with(submit_key, "number", number.clone()),
            delete: id.map(|id| {
                let label = self.req.tr_with("question-delete-link", "number", number);
                (format!("{path}/questions/{id}/delete"), label)
            }),
            close: path,
        };
        render(&form)
    }

    /// The fields of the type and the limits.
    fn fields(&self, question: &Question) -> Vec<Html> {
        let translator = &self.req.translator;
        let label = self.req.tr("question-type");
        let mut fields = vec![if self.opened.is_locked {
            let text = type_name(self.req, self.opened.form_question.question.kind);
            render(&Fixed { label, hint: self.req.tr("question-type-locked"), text })
        } else {
            let choices = types(self.req).into_iter().map(|(value, label)| Choice::new(value, label));
            Field::select(KIND, label, question.kind.as_str(), choices.collect())
                .hint(self.req.tr("question-type-hint"))
                .check(self.problems)
                .html(translator)
        }];
        let limit = |name: &str, key: &str, stored: Option<i64>| {
            let value = self.req.form.get(name).map(str::to_owned);
            let value = value.unwrap_or_else(|| stored.map(|number| number.to_string()).unwrap_or_default());
            Field::number(name, self.req.tr(key), value)
                .hint(self.req.tr(&format!("{key}-hint")))
                .check(self.problems)
                .html(translator)
        };
        if question.kind.has_options() {
            fields.push(limit(MAX_CHOICES_FIELD, "question-max-choices", question.max_choices));
        }
        if question.kind == QuestionType::LongAnswer {
            let stored = Some(question.max_characters).filter(|most| *most > 0);
            fields.push(limit(MAX_CHARACTERS_FIELD, "question-max-characters", stored));
        }
        fields
    }
}
