//! Forms in bracket notation, as Rack reads it (contract 01 §2).

use crate::error::ApiError;
use civitas_application::form_pairs;
use civitas_kernel::Error;
use serde_json::{Map, Value};

/// The deepest nesting a body may have.
pub(crate) const MAX_DEPTH: usize = 100;
/// The most fields a form may have, of either encoding.
pub(crate) const MAX_FIELDS: usize = 4_096;

/// A parsed body, or the error.
pub(crate) type MembersResult = Result<Map<String, Value>, ApiError>;

/// The error of a form that is not UTF-8, has a NUL, or contradicts itself.
pub(crate) fn malformed_form_error() -> ApiError {
    Error::rejected("Malformed form").into()
}

/// Parses `application/x-www-form-urlencoded`.
pub(crate) fn parse_form(bytes: &[u8]) -> MembersResult {
    let text = std::str::from_utf8(bytes).map_err(|_| malformed_form_error())?;
    nest_pairs(form_pairs(text))
}

/// Parses bracket notation, in which a name is used once.
///
/// # Errors
/// `Malformed form` for a name that is used twice, or both as a value and as an object.
pub(crate) fn parse_bracket_pairs(pairs: Vec<(String, String)>) -> MembersResult {
    let mut names: Vec<&str> = pairs.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    let is_used_twice = |pair: &[&str]| {
        let rest = pair[1].strip_prefix(pair[0]);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('['))
    };
    if names.windows(2).any(is_used_twice) {
        return Err(malformed_form_error());
    }
    nest_pairs(pairs.into_iter().map(Some))
}

/// Parses bracket notation into an object: `data[title]=x&data[list][]=y` is `{"data": {"title": "x", "list": ["y"]}}`.
/// In a list of objects a name that the last object has begins the next one: `a[][b]=1&a[][c]=2&a[][b]=3` is
/// `{"a": [{"b": "1", "c": "2"}, {"b": "3"}]}`. `None` is a pair that is not UTF-8.
///
/// # Errors
/// `TooLarge` for more than 4,096 pairs; `Malformed form`.
pub(crate) fn nest_pairs(pairs: impl IntoIterator<Item = Option<(String, String)>>) -> MembersResult {
    let mut root = Map::new();
    for (number, pair) in pairs.into_iter().enumerate() {
        if number == MAX_FIELDS {
            return Err(ApiError::TooLarge);
        }
        let inserted = pair.filter(|(name, text)| !name.contains('\0') && !text.contains('\0'));
        let inserted = inserted.and_then(|(name, text)| {
            let (first, path) = path(&name)?;
            insert(root.entry(first).or_insert(Value::Null), &path, text)
        });
        inserted.ok_or_else(malformed_form_error)?;
    }
    Ok(root)
}

/// The first part of a name, and those in brackets; an empty one means a list. `None` for brackets that do not match.
fn path(name: &str) -> Option<(&str, Vec<&str>)> {
    let Some(at) = name.find('[') else { return Some((name, Vec::new())) };
    let (first, rest) = name.split_at(at);
    let path: Vec<&str> = rest[1..].strip_suffix(']')?.split("][").collect();
    let is_sound =
        !first.is_empty() && path.len() < MAX_DEPTH && path.iter().all(|part| !part.contains(['[', ']']));
    is_sound.then_some((first, path))
}

/// Puts a text into the value at a path; null is a value that does not exist yet. `None` when a name is used for two of
/// a text, a list and an object.
fn insert(at: &mut Value, path: &[&str], text: String) -> Option<()> {
    let (name, rest) = match path {
        [] if at.is_array() || at.is_object() => return None,
        [] => {
            *at = Value::String(text);
            return Some(());
        }
        // Lists of lists can only be of texts.
        ["", "", _, ..] => return None,
        [name, rest @ ..] => (*name, rest),
    };
    if at.is_null() {
        *at = if name.is_empty() { Value::Array(Vec::new()) } else { Value::Object(Map::new()) };
    }
    if !name.is_empty() {
        return insert(at.as_object_mut()?.entry(name).or_insert(Value::Null), rest, text);
    }
    let list = at.as_array_mut()?;
    let belongs_to = |last: &Value| last.is_object() && !rest.is_empty() && !has(last, rest);
    if !list.last().is_some_and(belongs_to) {
        list.push(Value::Null);
    }
    insert(list.last_mut()?, rest, text)
}

/// Whether an object has a value at a path without lists.
fn has(object: &Value, path: &[&str]) -> bool {
    !path.contains(&"") && path.iter().try_fold(object, |value, name| value.get(name)).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read_form(text: &str) -> Result<Value, ApiError> {
        parse_form(text.as_bytes()).map(Value::Object)
    }

    #[test]
    fn a_form_has_at_most_4096_fields() {
        assert!(read_form(&"a[]=1&".repeat(4_096)).is_ok());
        assert!(matches!(read_form(&"a[]=1&".repeat(4_097)), Err(ApiError::TooLarge)));
    }

    #[test]
    fn brackets_nest_and_empty_ones_list() {
        let expected = json!({"data": {"title": "x", "list": ["a", "b"]}, "id": "3"});
        assert_eq!(read_form("data[title]=x&data[list][]=a&data[list][]=b&id=3").unwrap(), expected);
        assert_eq!(read_form("a=1&a=2").unwrap(), json!({"a": "2"}));
        assert!(read_form(&format!("a{}=1", "[b]".repeat(99))).is_ok());
        assert!(read_form(&format!("a{}=1", "[b]".repeat(100))).is_err());
    }

    #[test]
    fn lists_of_objects_are_read_as_rack_reads_them() {
        for (sent, expected) in [
            ("a[][b]=1&a[][c]=2&a[][b]=3", json!([{"b": "1", "c": "2"}, {"b": "3"}])),
            ("a[][b][c]=1&a[][b][d]=2&a[][b][c]=3", json!([{"b": {"c": "1", "d": "2"}}, {"b": {"c": "3"}}])),
            ("a[][b][]=1&a[][b][]=2&a[][c]=3&a[][c]=4", json!([{"b": ["1", "2"], "c": "3"}, {"c": "4"}])),
            ("a[][b][][c]=1&a[][b][][c]=2&a[][d]=3", json!([{"b": [{"c": "1"}, {"c": "2"}], "d": "3"}])),
            ("a[x][][b]=1&a[x][][b]=2", json!({"x": [{"b": "1"}, {"b": "2"}]})),
            ("a[0][b]=1&a[1][b]=2", json!({"0": {"b": "1"}, "1": {"b": "2"}})),
            ("a[][]=1&a[][]=2", json!([["1"], ["2"]])),
            ("a[]=1&a[][b]=2&a[]=3", json!(["1", {"b": "2"}, "3"])),
        ] {
            assert_eq!(read_form(sent).unwrap()["a"], expected, "{sent}");
        }
    }

    #[test]
    fn a_form_that_contradicts_itself_is_malformed() {
        for bad in [
            "a[b=1",
            "a[=1",
            "a[b]c=1",
            "a[b]]=1",
            "a[[b]]=1",
            "[a]=1",
            "a=1&a[b]=2",
            "a[b]=1&a=2",
            "a[]=1&a[b]=2",
            "a[b]=1&a[]=2",
            "a[]=1&a=2",
            "a[][b]=1&a[][b][c]=2",
            "a[][b][c]=1&a[][b]=2&a[][b][]=3",
            "a[][][b]=1",
            "a=caf%E9",
            "caf%E9=1",
            "a=%00",
            "%00=1",
        ] {
            assert!(matches!(read_form(bad), Err(ApiError::Error(Error::Rejected(_)))), "{bad}");
        }
        assert!(parse_form(b"a=caf\xe9").is_err(), "not encoded");
    }
}
