//! Confirmation pages, for actions that cannot be undone.

use super::html::render;
use super::{Field, FormError, FormErrors, Html};
use crate::form::SubmittedForm;
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
    /// The field of the name to type.
    pub(crate) const NAME_FIELD: &'static str = "confirm";

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

    /// Checks that the form of the confirmation page has this name.
    ///
    /// # Errors
    /// The problem of its field.
    pub(crate) fn check_name(
        translator: &Translator,
        form: &SubmittedForm,
        name: &str,
    ) -> Result<(), FormErrors> {
        let is_same = form.text(Self::NAME_FIELD) == name.trim();
        let problem = || vec![FormError::new(Self::NAME_FIELD, translator.tr("problem-name-typed"))];
        if is_same { Ok(()) } else { Err(problem()) }
    }

    pub(crate) fn html(&self, problems: &[FormError]) -> Html {
        let field = self.name.as_ref().map(|(name, label)| {
            let field = Field::text(Self::NAME_FIELD, label, "").hint(name).class("medium");
            field.check(problems).html(self.translator)
        });
        render(&ConfirmationView { confirm: self, translator: self.translator, field })
    }
}

text_setters!(Confirmation<'_>: stays);
