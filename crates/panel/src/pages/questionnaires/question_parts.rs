//! The parts of a question in its form: rows and options.

use super::opened_question::{
    OPTIONS, OpenedQuestion, QuestionContext, ROWS, is_sent, keyed_parts, languages,
};
use crate::admin_request::AdminRequest;
use crate::parts::{FormError, FormErrors, Html, language_name, render};
use crate::translated::typed_texts;
use crate::translator::Translator;
use askama::Template;
use civitas_kernel::{AnswerOptionId, Locale, MatrixRowId, Translated};
use civitas_surveys::{FormOption, MatrixRow, Question, QuestionEdit, QuestionPartEdit};

/// What was typed.
pub(crate) struct TypedQuestion {
    pub(crate) edit: QuestionEdit,
    /// The names in the form of the rows of the question, in the same order.
    pub(crate) rows: Vec<String>,
}

fn is_removed(req: &AdminRequest, part: &str, key: &str) -> bool {
    req.form.checkbox(&format!("{part}[{key}][_destroy]")) == Some(true)
}

/// A field of a part in one language, or its position.
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
    /// The position of the row among the rows.
    position: Option<Input>,
    /// Which conditions lose it.
    loss: String,
}

#[derive(Template)]
#[template(path = "pages/question_parts.html")]
struct Parts<'a> {
    translator: &'a Translator,
    name: &'static str,
    legend: String,
    hint: String,
    languages: Vec<String>,
    has_positions: bool,
    rows: Vec<Part>,
}

/// The blank rows that a form of a question has.
fn blank_rows(opened: &OpenedQuestion) -> i64 {
    if opened.id.is_none() { 4 } else { 1 }
}

impl<'a> QuestionContext<'a> {
    /// Reads all parts.
    pub(crate) fn read_parts(&self, mut question: Question, problems: &mut FormErrors) -> TypedQuestion {
        let rows = if question.kind.has_rows() && self.req.form.has_prefix("rows[") {
            let (keys, rows): (Vec<String>, Vec<MatrixRow>) = self.read_rows(problems).into_iter().unzip();
            question.rows = rows;
            keys
        } else {
            question.rows.iter().map(|row| row.id.to_string()).collect()
        };
        let options = if question.kind.has_options() { self.read_options() } else { Vec::new() };
        let conditions = self.read_conditions(problems);
        TypedQuestion { edit: QuestionEdit { question, options, conditions }, rows }
    }

    /// The text that was typed for a part; `None` for a part that is removed, and for a blank new one.
    fn read_text(&self, part: &str, key: &str, stored: Option<&Translated>) -> Option<Translated> {
        let (name, none) = (format!("{part}[{key}]"), Translated::default());
        let text = typed_texts(
            self.req,
            &name,
            &self.survey.organization.available_locales,
            stored.unwrap_or(&none),
        );
        let is_part = !is_removed(self.req, part, key) && (stored.is_some() || !text.is_empty());
        is_part.then_some(text)
    }

    fn keyed_rows(&self, blank_rows: i64) -> Vec<(String, Option<&'a MatrixRow>)> {
        let rows = self.opened.form_question.question.rows.iter();
        keyed_parts(self.req, ROWS, rows.map(|row| (row.id.to_string(), row)), blank_rows)
    }

    fn keyed_options(&self, blank_rows: i64) -> Vec<(String, Option<&'a FormOption>)> {
        let options = self.opened.form_question.options.iter();
        keyed_parts(self.req, OPTIONS, options.map(|option| (option.id.to_string(), option)), blank_rows)
    }

    fn read_rows(&self, problems: &mut FormErrors) -> Vec<(String, MatrixRow)> {
        let last = self.opened.form_question.question.rows.iter().map(|row| row.position).max().unwrap_or(-1);
        let mut rows = Vec::new();
        for (key, stored) in self.keyed_rows(0) {
            let Some(body) = self.read_text(ROWS, &key, stored.map(|row| &row.body)) else { continue };
            let name = format!("{ROWS}[{key}][position]");
            let default_position = stored.map_or(last.saturating_add(1), |row| row.position);
            let position = match self.req.form.text(&name) {
                "" => default_position,
                typed => match typed.parse::<i64>() {
                    Ok(number) if number >= 1 => number - 1,
                    read => {
                        let key = if read.is_ok() { "problem-greater" } else { "problem-number" };
                        problems.push(FormError::new(name, self.req.tr(key)));
                        default_position
                    }
                },
            };
            let id = stored.map_or(MatrixRowId(0), |row| row.id);
            let reference = stored.map(|row| row.reference.clone()).unwrap_or_default();
            rows.push((key, MatrixRow { id, reference, position, body }));
        }
        rows
    }

    fn read_options(&self) -> Vec<QuestionPartEdit<AnswerOptionId, Translated>> {
        let edit = |(key, stored): (String, Option<&FormOption>)| {
            let value = self.read_text(OPTIONS, &key, stored.map(|option| &option.option.body));
            let is_edit = if stored.is_some() { is_sent(self.req, OPTIONS, &key) } else { value.is_some() };
            is_edit.then(|| QuestionPartEdit { name: key, id: stored.map(|option| option.id), value })
        };
        self.keyed_options(0).into_iter().filter_map(edit).collect()
    }

    /// A stored row or option, or a blank one: its key and its text.
    fn part(&self, (name, label, key): (&str, &str, String), stored: Option<&Translated>) -> Part {
        let none = Translated::default();
        let locales = &self.survey.organization.available_locales;
        let text = typed_texts(self.req, &format!("{name}[{key}]"), locales, stored.unwrap_or(&none));
        let input = |locale: Locale| {
            let field = format!("{name}[{key}][{locale}]");
            let language = language_name(&self.req.translator, locale);
            let values = [("id", key.as_str().into()), ("language", language.as_str().into())];
            Input {
                id: format!("{name}-{key}-{locale}"),
                label: self.req.tr_args(label, &values),
                value: text.get(locale).unwrap_or_default().to_owned(),
                problem: FormError::text_for(self.problems, &field),
                locale: locale.to_string(),
                name: field,
                language,
            }
        };
        Part {
            is_new: stored.is_none(),
            is_removed: is_removed(self.req, name, &key),
            inputs: languages(self.survey).into_iter().map(input).collect(),
            position: None,
            loss: String::new(),
            key,
        }
    }

    /// The rows of a matrix.
    pub(crate) fn rows(&self) -> Html {
        let part = |(key, row): (String, Option<&MatrixRow>)| {
            let name = format!("{ROWS}[{key}][position]");
            let stored_position =
                row.map(|row| row.position.saturating_add(1).to_string()).unwrap_or_default();
            let position = Input {
                id: format!("{ROWS}-{key}-position"),
                locale: String::new(),
                language: String::new(),
                label: self.req.tr_with("question-row-place", "id", key.as_str()),
                value: self.req.form.get(&name).map_or(stored_position, str::to_owned),
                problem: FormError::text_for(self.problems, &name),
                name,
            };
            let names = (ROWS, "question-row-in", key);
            Part { position: Some(position), ..self.part(names, row.map(|row| &row.body)) }
        };
        let rows = self.keyed_rows(blank_rows(self.opened)).into_iter().map(part).collect();
        self.table((ROWS, "question-rows"), rows, true)
    }

    /// The options. `loss` says which conditions lose an option.
    pub(crate) fn options(&self, loss: impl Fn(AnswerOptionId) -> String) -> Html {
        let part = |(key, option): (String, Option<&FormOption>)| {
            let names = (OPTIONS, "question-option-in", key);
            let body = option.map(|option| &option.option.body);
            let loss = option.map(|option| loss(option.id)).unwrap_or_default();
            Part { loss, ..self.part(names, body) }
        };
        let options = self.keyed_options(blank_rows(self.opened)).into_iter().map(part).collect();
        self.table((OPTIONS, "question-options"), options, false)
    }

    fn table(&self, (name, key): (&'static str, &str), parts: Vec<Part>, has_positions: bool) -> Html {
        let translator = &self.req.translator;
        let languages = languages(self.survey).into_iter().map(|locale| language_name(translator, locale));
        render(&Parts {
            translator,
            name,
            legend: self.req.tr(key),
            hint: self.req.tr(&format!("{key}-hint")),
            languages: languages.collect(),
            has_positions,
            rows: parts,
        })
    }
}
