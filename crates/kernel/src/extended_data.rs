//! Extended data: JSON that clients attach to records (contract 01 §11).

use crate::{Error, Result};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::ops::Deref;
use std::sync::OnceLock;

/// The extended data of a record. What was read from a database stays text until a member is read: an answer passes it
/// on, and values need up to a hundred times the memory of their text.
#[derive(Debug, Clone, Default)]
pub struct ExtendedDataValue {
    /// An object, if the members are not set.
    text: Option<Box<RawValue>>,
    members: OnceLock<Map<String, Value>>,
}

impl Deref for ExtendedDataValue {
    type Target = Map<String, Value>;

    fn deref(&self) -> &Self::Target {
        let read = |text: &RawValue| serde_json::from_str(text.get()).ok();
        self.members.get_or_init(|| self.text.as_deref().and_then(read).unwrap_or_default())
    }
}

impl From<Map<String, Value>> for ExtendedDataValue {
    fn from(members: Map<String, Value>) -> Self {
        Self { text: None, members: members.into() }
    }
}

impl<const N: usize> From<[(&str, Value); N]> for ExtendedDataValue {
    fn from(members: [(&str, Value); N]) -> Self {
        members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Map<_, _>>().into()
    }
}

impl From<Box<RawValue>> for ExtendedDataValue {
    /// The text is that of an object.
    fn from(text: Box<RawValue>) -> Self {
        Self { text: Some(text), members: OnceLock::new() }
    }
}

impl From<ExtendedDataValue> for Map<String, Value> {
    fn from(data: ExtendedDataValue) -> Self {
        let _ = &*data;
        data.members.into_inner().unwrap_or_default()
    }
}

impl PartialEq for ExtendedDataValue {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Serialize for ExtendedDataValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.text {
            Some(text) => text.serialize(serializer),
            None => (**self).serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for ExtendedDataValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Map::deserialize(deserializer).map(Self::from)
    }
}

/// The text in which `filter[extended_data_cont]` searches (contract 01 §6.1): one space after `:` and `,`, no
/// other white space outside strings, keys ordered by their length in bytes, then bytewise, at every level.
///
/// ```
/// let data = serde_json::json!({"phone": "+33", "key": {"is": "awesome"}});
/// let text = civitas_kernel::extended_data::canonical_object(data.as_object().unwrap());
/// assert_eq!(text, r#"{"key": {"is": "awesome"}, "phone": "+33"}"#);
/// ```
pub fn canonical_object(data: &Map<String, Value>) -> String {
    let mut text = String::new();
    write_object(data, &mut text);
    text
}

fn write_object(members: &Map<String, Value>, text: &mut String) {
    let mut members: Vec<_> = members.iter().collect();
    members.sort_by(|(a, _), (b, _)| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
    text.push('{');
    for (i, (key, value)) in members.into_iter().enumerate() {
        text.push_str(if i == 0 { "" } else { ", " });
        text.push_str(&Value::from(key.as_str()).to_string());
        text.push_str(": ");
        write(value, text);
    }
    text.push('}');
}

fn write(value: &Value, text: &mut String) {
    match value {
        Value::Object(members) => write_object(members, text),
        Value::Array(items) => {
            text.push('[');
            for (i, item) in items.iter().enumerate() {
                text.push_str(if i == 0 { "" } else { ", " });
                write(item, text);
            }
            text.push(']');
        }
        scalar => text.push_str(&scalar.to_string()),
    }
}

/// The text to search for in the same form: `:` and `,` outside strings are followed by exactly one space.
pub fn canonical_needle(needle: &str) -> String {
    let mut text = String::with_capacity(needle.len() + 8);
    let (mut quoted, mut escaped) = (false, false);
    let mut rest = needle.chars().peekable();
    while let Some(c) = rest.next() {
        text.push(c);
        if quoted {
            quoted = escaped || c != '"';
            escaped = c == '\\' && !escaped;
        } else if c == '"' {
            quoted = true;
        } else if c == ':' || c == ',' {
            while rest.next_if(|c| c.is_whitespace()).is_some() {}
            text.push(' ');
        }
    }
    // A text that ends in `:` matches with and without the space.
    if needle.ends_with([':', ',']) && text.ends_with(' ') { text.trim_end().to_owned() } else { text }
}

/// Whether a value is blank: null, empty or white text, `[]`, `{}`. `false` and `0` are not.
pub fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Removes every key whose value is blank, through all objects; an object that becomes empty is removed too. Arrays are
/// not changed (contract 01 §11.3 step 5).
pub fn compact(root: &mut Map<String, Value>) {
    root.retain(|_, value| {
        if let Value::Object(members) = value {
            compact(members);
        }
        !is_blank(value)
    });
}

/// Checks the size of the extended data of a record (contract 01 §11.3 step 6). `limit` is in bytes of compact JSON,
/// inclusive.
///
/// # Errors
/// `extended_data exceeds maximum size of N bytes`.
pub fn check_size(root: &Map<String, Value>, limit: usize) -> Result<()> {
    if serde_json::to_string(root).map_err(Error::internal)?.len() <= limit {
        return Ok(());
    }
    let text = format!("extended_data exceeds maximum size of {limit} bytes");
    Err(Error::rejected_field("extended_data", "too_large", text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keys_go_by_length_then_by_bytes_at_every_level() {
        let data = json!({"bb": 1, "a": [{"z": 1, "y": "x:y"}], "aa": null});
        assert_eq!(
            canonical_object(data.as_object().unwrap()),
            r#"{"a": [{"y": "x:y", "z": 1}], "aa": null, "bb": 1}"#
        );
    }

    #[test]
    fn a_needle_is_spaced_outside_strings_only() {
        assert_eq!(canonical_needle(r#""foo":"b:a,r","x":   1"#), r#""foo": "b:a,r", "x": 1"#);
        assert_eq!(canonical_needle(r#""a\"b:c":1"#), r#""a\"b:c": 1"#);
        assert_eq!(canonical_needle(r#""foo":"#), r#""foo":"#);
    }

    #[test]
    fn compaction_empties_upwards_and_spares_arrays_false_and_zero() {
        let mut data = json!({"a": {"b": {"c": " "}}, "l": [null, "", {}], "f": false, "n": 0, "e": []});
        compact(data.as_object_mut().unwrap());
        assert_eq!(data, json!({"l": [null, "", {}], "f": false, "n": 0}));
    }
}
