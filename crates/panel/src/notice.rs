//! The result of the last action, shown once on the next page.

use serde::{Deserialize, Serialize};

/// A value that is shown once.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ShownOnce {
    pub(crate) label: String,
    pub(crate) value: String,
}

/// The result of an action. It is stored encrypted with the session until the next page.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Notice {
    /// `good`, `warn` or `bad`.
    pub(crate) kind: String,
    /// The first words, in bold.
    pub(crate) title: String,
    pub(crate) text: String,
    /// New secrets, with the identifiers that belong to them.
    pub(crate) secrets: Vec<ShownOnce>,
    /// A command to copy, with the secret in it.
    pub(crate) command: String,
}

impl Notice {
    /// A success.
    pub(crate) fn success(title: impl Into<String>) -> Self {
        Self { kind: "good".to_owned(), title: title.into(), ..Self::default() }
    }

    /// A failure.
    pub(crate) fn failure(title: impl Into<String>) -> Self {
        Self { kind: "bad".to_owned(), title: title.into(), ..Self::default() }
    }

    pub(crate) fn text(mut self, text: impl Into<String>) -> Self {
        self.text = text.into();
        self
    }

    /// A value to show once.
    pub(crate) fn shown_once(mut self, label: impl Into<String>, value: impl Into<String>) -> Self {
        self.secrets.push(ShownOnce { label: label.into(), value: value.into() });
        self
    }

    pub(crate) fn command(mut self, command: impl Into<String>) -> Self {
        self.command = command.into();
        self
    }
}
