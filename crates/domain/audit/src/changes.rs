//! What changed: fields with their values before and after.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

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

/// The fields that differ between two objects, in the order of their names. Objects inside are compared member by
/// member; other values are written as text, lists joined with commas. Fields of [`is_secret`] are left out, and what is
/// more than [`MAX_CHANGES`]. A value that is no object has no fields.
pub fn changes_between(before: &Value, after: &Value) -> Vec<FieldChange> {
    let mut changes = Vec::new();
    compare("", before.as_object(), after.as_object(), &mut changes);
    changes.truncate(MAX_CHANGES);
    changes
}

fn compare(
    prefix: &str,
    before: Option<&Map<String, Value>>,
    after: Option<&Map<String, Value>>,
    changes: &mut Vec<FieldChange>,
) {
    let names: BTreeSet<&String> = before.into_iter().chain(after).flat_map(Map::keys).collect();
    for name in names {
        if changes.len() >= MAX_CHANGES {
            return;
        }
        if is_secret(name) {
            continue;
        }
        let [old, new] = [before, after].map(|object| object.and_then(|object| object.get(name)));
        if old == new {
            continue;
        }
        let field = format!("{prefix}{name}");
        if let (Some(Value::Object(_)), None | Some(Value::Object(_) | Value::Null))
        | (None | Some(Value::Null), Some(Value::Object(_))) = (old, new)
        {
            let prefix = format!("{field}.");
            compare(&prefix, old.and_then(Value::as_object), new.and_then(Value::as_object), changes);
        } else {
            let [before, after] = [old, new].map(|value| value.and_then(text));
            if before != after {
                changes.push(change(&field, before.as_deref(), after.as_deref()));
            }
        }
    }
}

/// The change of a field, with cut texts.
pub(crate) fn change(field: &str, before: Option<&str>, after: Option<&str>) -> FieldChange {
    FieldChange { field: cut(field), before: before.map(cut), after: after.map(cut) }
}

/// A value as text; `None` for null.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        Value::Array(items) => Some(items.iter().filter_map(text).collect::<Vec<_>>().join(", ")),
        Value::Object(members) => {
            let shown = members.iter().filter(|(name, _)| !is_secret(name));
            let shown: Vec<_> =
                shown.filter_map(|(name, value)| Some(format!("{name}: {}", text(value)?))).collect();
            Some(shown.join(", "))
        }
        other => Some(other.to_string()),
    }
}

/// At most [`MAX_TEXT`] characters. Control characters become spaces: not every database can store them, and they
/// could change what a terminal shows.
pub(crate) fn cut(text: &str) -> String {
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    if text.chars().nth(MAX_TEXT).is_none() {
        return text.chars().map(plain).collect();
    }
    text.chars().take(MAX_TEXT - 1).map(plain).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn listed(before: &Value, after: &Value) -> Vec<(String, Option<String>, Option<String>)> {
        changes_between(before, after).into_iter().map(Parts::from).collect()
    }

    fn part(field: &str, before: Option<&str>, after: Option<&str>) -> Parts {
        (field.to_owned(), before.map(str::to_owned), after.map(str::to_owned))
    }

    #[test]
    fn the_fields_that_differ_are_listed_by_name() {
        let before =
            json!({"host": "a.example", "name": {"en": "City", "fr": "Ville"}, "same": 1, "gone": true});
        let after =
            json!({"host": "b.example", "name": {"en": "Town", "fr": "Ville"}, "same": 1, "list": ["a", 2]});
        let expected = [
            part("gone", Some("true"), None),
            part("host", Some("a.example"), Some("b.example")),
            part("list", None, Some("a, 2")),
            part("name.en", Some("City"), Some("Town")),
        ];
        assert_eq!(listed(&before, &after), expected);
        assert_eq!(listed(&json!({"a": null}), &json!({})), []);
        assert_eq!(listed(&json!(null), &json!({"a": {"b": 1}})), [part("a.b", None, Some("1"))]);
        assert_eq!(listed(&json!({"a": {"b": 1}}), &json!({"a": 2})), [part("a", Some("b: 1"), Some("2"))]);
    }

    #[test]
    fn secrets_are_left_out_at_any_depth() {
        let before =
            json!({"secret": "s1", "smtp": {"Password": "s2", "port": 1}, "items": [{"token": "s3"}]});
        let after = json!({"password_hash": "s4", "smtp": {"port": 2}, "items": [{"token": "s5", "n": 1}]});
        let changes = changes_between(&before, &after);
        assert_eq!(changes.iter().map(|c| c.field.as_str()).collect::<Vec<_>>(), ["items", "smtp.port"]);
        let text = serde_json::to_string(&changes).unwrap();
        for secret in ["s1", "s2", "s3", "s4", "s5"] {
            assert!(!text.contains(secret), "{text}");
        }
    }

    #[test]
    fn the_number_of_fields_and_the_length_of_texts_are_limited() {
        let many: Map<String, Value> = (0..80).map(|n| (format!("f{n}"), json!(n))).collect();
        assert_eq!(changes_between(&json!({}), &Value::Object(many)).len(), MAX_CHANGES);
        let long = "é".repeat(MAX_TEXT + 1);
        let changes = changes_between(&json!({"a": long}), &json!({"a": "x\u{0}y\nz"}));
        let before = changes[0].before.as_deref().unwrap();
        assert_eq!((before.chars().count(), before.ends_with("é…")), (MAX_TEXT, true));
        assert_eq!(changes[0].after.as_deref(), Some("x y z"));
        assert_eq!(cut(&"é".repeat(MAX_TEXT)), "é".repeat(MAX_TEXT));
    }
}
