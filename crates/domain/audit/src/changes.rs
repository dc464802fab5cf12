//! What changed: fields with their values before and after.

use serde::{Deserialize, Serialize};

/// The most fields of an entry; others are left out.
pub const MAX_CHANGES: usize = 50;
/// The most characters of a text of an entry; longer ones are cut, and end with an ellipsis.
pub const MAX_TEXT: usize = 200;

/// Names of fields that are never written, whole or as a part between underscores.
const SECRETS: [&str; 6] = ["secret", "password", "token", "hash", "digest", "sealed"];

/// A field with its values before and after. In JSON: `[field, before, after]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Parts", into = "Parts")]
pub struct FieldChange {
    /// Its name. Members of objects are joined with full stops: `name.en`.
    pub field: String,
    /// The value before; `None`: there was none.
    pub before: Option<String>,
    /// The value after; `None`: there is none.
    pub after: Option<String>,
}

type Parts = (String, Option<String>, Option<String>);

impl From<Parts> for FieldChange {
    fn from((field, before, after): Parts) -> Self {
        Self { field, before, after }
    }
}

impl From<FieldChange> for Parts {
    fn from(change: FieldChange) -> Self {
        (change.field, change.before, change.after)
    }
}

/// Whether the values of a field are never written: a part of its name is `secret`, `password`, `token`, `hash`,
/// `digest` or `sealed`.
///
/// ```
/// use civitas_audit::is_secret;
///
/// assert!(is_secret("sealed_secret") && is_secret("smtp.Password") && !is_secret("secretary"));
/// ```
pub fn is_secret(field: &str) -> bool {
    let is_one = |part: &str| SECRETS.iter().any(|secret| part.eq_ignore_ascii_case(secret));
    field.split(['_', '.', '-']).any(is_one)
}

/// The change of a field, with cut texts.
pub(crate) fn change(field: &str, before: Option<&str>, after: Option<&str>) -> FieldChange {
    FieldChange { field: shorten(field), before: before.map(shorten), after: after.map(shorten) }
}

/// At most [`MAX_TEXT`] characters. Control characters become spaces: not every database can store them, and they
/// could change what a terminal shows.
pub(crate) fn shorten(text: &str) -> String {
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    if text.chars().nth(MAX_TEXT).is_none() {
        return text.chars().map(plain).collect();
    }
    text.chars().take(MAX_TEXT - 1).map(plain).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_no_control_characters_and_a_limited_length() {
        let change = change("a", Some(&"é".repeat(MAX_TEXT + 1)), Some("x\u{0}y\nz"));
        let before = change.before.unwrap();
        assert_eq!((before.chars().count(), before.ends_with("é…")), (MAX_TEXT, true));
        assert_eq!(change.after.as_deref(), Some("x y z"));
        assert_eq!(shorten(&"é".repeat(MAX_TEXT)), "é".repeat(MAX_TEXT));
    }
}
