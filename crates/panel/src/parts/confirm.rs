//! Pages that ask before something that cannot be undone.

use super::html::render;
use super::{Field, Html, Problem};
use crate::words::Words;
use askama::Template;

/// What will happen, in numbers, and the button that does it.
pub(crate) struct Confirm<'a> {
    pub(crate) words: &'a Words,
    pub(crate) action: String,
    /// `delete` or nothing.
    pub(crate) method: &'static str,
    pub(crate) token: String,
    /// What happens, one sentence each.
    pub(crate) effects: Vec<String>,
    /// What stays as it is.
    pub(crate) stays: String,
    /// The name to type; empty where none is asked for.
    pub(crate) name: String,
    /// The label of the field for the name.
    pub(crate) name_label: String,
    pub(crate) button: String,
    pub(crate) cancel: String,
}

#[derive(Template)]
#[template(path = "parts/confirm.html")]
struct ConfirmView<'a> {
    confirm: &'a Confirm<'a>,
    words: &'a Words,
    field: Option<Html>,
}

impl Confirm<'_> {
    /// Whether the name that was typed is the one asked for.
    pub(crate) fn is_typed(name: &str, typed: &str) -> bool {
        name.trim() == typed.trim()
    }

    pub(crate) fn html(&self, problems: &[Problem]) -> Html {
        let field = (!self.name.is_empty()).then(|| {
            Field::text("confirm", self.name_label.clone(), "")
                .hint(self.name.clone())
                .class("medium")
                .check(problems)
                .html(self.words)
        });
        render(&ConfirmView { confirm: self, words: self.words, field })
    }
}
