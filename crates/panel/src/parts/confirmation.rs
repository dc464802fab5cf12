//! Confirmation pages, for actions that cannot be undone.

use super::html::render;
use super::{Field, FormError, Html};
use crate::translator::Translator;
use askama::Template;

/// The body of a confirmation page: what the action does, and its button.
pub(crate) struct Confirmation<'a> {
    translator: &'a Translator,
    action: String,
    /// `delete` or nothing.
    method: &'static str,
    token: String,
    effects: Vec<String>,
    /// What the action does not change.
    stays: String,
    /// The name to type, and the label of its field.
    name: Option<(String, String)>,
    button: String,
    cancel: String,
}

#[derive(Template)]
#[template(path = "parts/confirm.html")]
struct ConfirmationView<'a> {
    confirm: &'a Confirmation<'a>,
    translator: &'a Translator,
    field: Option<Html>,
}

impl<'a> Confirmation<'a> {
    pub(crate) fn new(
        translator: &'a Translator,
        action: String,
        token: String,
        button: String,
        cancel: String,
    ) -> Self {
        let (effects, stays) = (Vec::new(), String::new());
        Self { translator, action, method: "", token, effects, stays, name: None, button, cancel }
    }

    /// Sends it as `DELETE`.
    pub(crate) fn delete(mut self) -> Self {
        self.method = "delete";
        self
    }

    /// What happens, one sentence each.
    pub(crate) fn effects(mut self, effects: impl IntoIterator<Item = String>) -> Self {
        self.effects.extend(effects);
        self
    }

    /// The name that must be typed, and the label of its field.
    pub(crate) fn name(mut self, name: impl Into<String>, label: impl Into<String>) -> Self {
        self.name = Some((name.into(), label.into())).filter(|(name, _)| !name.is_empty());
        self
    }

    /// Whether the name that was typed is the one asked for.
    pub(crate) fn is_name_typed(name: &str, typed: &str) -> bool {
        name.trim() == typed.trim()
    }

    pub(crate) fn html(&self, problems: &[FormError]) -> Html {
        let field = self.name.as_ref().map(|(name, label)| {
            let field = Field::text("confirm", label, "").hint(name).class("medium");
            field.check(problems).html(self.translator)
        });
        render(&ConfirmationView { confirm: self, translator: self.translator, field })
    }
}

text_setters!(Confirmation<'_>: stays);
