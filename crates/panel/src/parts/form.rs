//! Forms: sections with fields, one bar to save, and the list of problems of a refused form.

use super::Html;
use super::field::field_id;
use crate::translator::Translator;
use askama::Template;

/// What is wrong with a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FormError {
    /// The name of the field; empty: the form as a whole.
    pub(crate) field: String,
    pub(crate) text: String,
}

/// What is wrong with a form.
pub(crate) type FormErrors = Vec<FormError>;

impl FormError {
    pub(crate) fn new(field: impl Into<String>, text: impl Into<String>) -> Self {
        Self { field: field.into(), text: text.into() }
    }

    /// The text of the problem of this field.
    pub(crate) fn text_for(problems: &[Self], field: &str) -> Option<String> {
        let of_field = problems.iter().filter(|problem| problem.field == field);
        let text = of_field.map(|problem| problem.text.as_str()).collect::<Vec<_>>().join(" ");
        (!text.is_empty()).then_some(text)
    }

    /// The id of the field.
    pub(crate) fn target(&self) -> String {
        field_id(&self.field)
    }
}

/// A part of a form with a heading.
#[derive(Debug, Clone)]
pub(crate) struct Section {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) hint: String,
    pub(crate) fields: Vec<Html>,
}

impl Section {
    pub(crate) fn new(id: &str, title: impl Into<String>) -> Self {
        Self { id: id.to_owned(), title: title.into(), hint: String::new(), fields: Vec::new() }
    }

    pub(crate) fn field(mut self, field: Html) -> Self {
        self.fields.push(field);
        self
    }
}

text_setters!(Section: hint);

/// A form with sections.
#[derive(Template)]
#[template(path = "parts/form.html")]
pub(crate) struct Form<'a> {
    pub(crate) translator: &'a Translator,
    pub(crate) action: String,
    /// `put`, `delete` or nothing.
    pub(crate) method: &'static str,
    pub(crate) token: String,
    /// Hidden fields besides the token.
    pub(crate) hidden: Vec<(String, String)>,
    pub(crate) sections: Vec<Section>,
    /// The label of the button.
    pub(crate) submit_label: String,
    pub(crate) cancel: String,
    pub(crate) note: String,
    /// Whether the form is sent as `multipart/form-data`.
    pub(crate) has_file: bool,
}

impl<'a> Form<'a> {
    pub(crate) fn new(
        translator: &'a Translator,
        action: impl Into<String>,
        token: String,
        submit_key: &str,
    ) -> Self {
        Self {
            translator,
            action: action.into(),
            method: "",
            token,
            hidden: Vec::new(),
            sections: Vec::new(),
            submit_label: translator.tr(submit_key),
            cancel: String::new(),
            note: String::new(),
            has_file: false,
        }
    }

    /// `put` or `delete`, sent as `_method`.
    pub(crate) fn method(mut self, method: &'static str) -> Self {
        self.method = method;
        self
    }

    /// The form changes a record: it is sent as PUT, with the revision that the form shows.
    pub(crate) fn put(self, revision: impl Into<String>) -> Self {
        self.method("put").hidden("revision", revision)
    }

    /// Sends the content of files too.
    pub(crate) fn with_file(mut self) -> Self {
        self.has_file = true;
        self
    }

    pub(crate) fn hidden(mut self, name: &str, value: impl Into<String>) -> Self {
        self.hidden.push((name.to_owned(), value.into()));
        self
    }

    pub(crate) fn section(mut self, section: Section) -> Self {
        self.sections.push(section);
        self
    }

    pub(crate) fn sections(mut self, sections: impl IntoIterator<Item = Section>) -> Self {
        self.sections.extend(sections);
        self
    }
}

text_setters!(Form<'_>: note, cancel);
