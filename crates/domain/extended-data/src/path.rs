//! The path of a value inside extended data, with reads and writes at a path (contract 01 §11.1 to §11.3).

use civitas_kernel::extended_data::{compact, is_blank};
use civitas_kernel::{Error, Result};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fmt;

/// The most segments a path may have.
const MAX_LENGTH: usize = 50;
/// The deepest nesting that is stored, including the root: the same as for a body.
const DEEPEST: usize = 100;

/// The position of a value in extended data: keys joined with dots; `.` is the root. Keys with a dot, and the members
/// of arrays, have no path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ObjectPath(Vec<String>);

impl ObjectPath {
    /// The path of the root.
    pub fn root() -> Self {
        Self(Vec::new())
    }

    /// Reads `.`, `key` or `key.key.key`.
    ///
    /// # Errors
    /// `Invalid object_path` for an empty key, or more than 50 of them.
    pub fn parse(text: &str) -> Result<Self> {
        if text == "." {
            return Ok(Self::root());
        }
        let segments: Vec<String> = text.split('.').map(str::to_owned).collect();
        if segments.len() > MAX_LENGTH || segments.iter().any(String::is_empty) {
            return Err(Error::rejected("Invalid object_path"));
        }
        Ok(Self(segments))
    }

    /// The keys of the path; none for the root.
    pub fn segments(&self) -> &[String] {
        &self.0
    }

    /// The value at the path; `{}` without one (contract 01 §11.2).
    pub fn read(&self, root: &Map<String, Value>) -> Value {
        let Some((first, rest)) = self.0.split_first() else { return Value::Object(root.clone()) };
        let start = root.get(first);
        let found = rest.iter().fold(start, |value, key| value?.as_object()?.get(key));
        found.cloned().unwrap_or_else(|| Value::Object(Map::new()))
    }

    /// Writes at the path: an object is merged into an object, a blank value removes, anything else replaces.
    /// Afterwards all blank values outside arrays are removed (contract 01 §11.3, steps 1 to 5).
    ///
    /// # Errors
    /// `NotFound` when a value along the path is not an object; `Rejected` when a leaf would replace an object, when
    /// the root would not be an object, and when the result would be deeper than 100 levels. Then nothing is changed.
    pub fn write(&self, mut root: Map<String, Value>, data: Value) -> Result<Map<String, Value>> {
        match self.0.split_last() {
            None => match data {
                Value::Object(patch) => merge(&mut root, patch),
                _ => return Err(Error::rejected("data must be an object when object_path is \".\"")),
            },
            Some((key, way)) => {
                let target = way.iter().try_fold(&mut root, |members, key| {
                    let next = members.entry(key).or_insert_with(|| Value::Object(Map::new()));
                    next.as_object_mut().ok_or(Error::NotFound)
                })?;
                self.put(target, key, data)?;
            }
        }
        compact(&mut root);
        if depth(&root) > DEEPEST {
            let text = format!("extended_data is nested deeper than {DEEPEST} levels");
            return Err(Error::rejected_field("extended_data", "too_deep", text));
        }
        Ok(root)
    }

    fn put(&self, target: &mut Map<String, Value>, key: &str, data: Value) -> Result<()> {
        match (target.get_mut(key), data) {
            (Some(Value::Object(members)), Value::Object(patch)) => merge(members, patch),
            (_, data) if is_blank(&data) => drop(target.remove(key)),
            (Some(Value::Object(members)), _) if !members.is_empty() => {
                return Err(Error::rejected(format!("object_path {self} is not a leaf key")));
            }
            (_, data) => drop(target.insert(key.to_owned(), data)),
        }
        Ok(())
    }
}

/// Each key of the patch: a blank value removes it, an object goes into an object, anything else replaces.
fn merge(base: &mut Map<String, Value>, patch: Map<String, Value>) {
    for (key, value) in patch {
        if is_blank(&value) {
            base.remove(&key);
            continue;
        }
        match (base.get_mut(&key), value) {
            (Some(Value::Object(members)), Value::Object(patch)) => merge(members, patch),
            (_, value) => drop(base.insert(key, value)),
        }
    }
}

fn depth(members: &Map<String, Value>) -> usize {
    1 + members.values().map(depth_of).max().unwrap_or(0)
}

fn depth_of(value: &Value) -> usize {
    match value {
        Value::Object(members) => depth(members),
        Value::Array(items) => 1 + items.iter().map(depth_of).max().unwrap_or(0),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

impl fmt::Display for ObjectPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_empty() { "." } else { "" })?;
        f.write_str(&self.0.join("."))
    }
}

impl TryFrom<String> for ObjectPath {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        Self::parse(&text)
    }
}

impl From<ObjectPath> for String {
    fn from(path: ObjectPath) -> Self {
        path.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn object(value: Value) -> Map<String, Value> {
        match value {
            Value::Object(members) => members,
            _ => panic!("{value} is no object"),
        }
    }

    fn write(stored: Value, path: &str, data: Value) -> Result<(Value, Value)> {
        let path = ObjectPath::parse(path)?;
        let root = path.write(object(stored), data)?;
        let answer = path.read(&root);
        Ok((Value::Object(root), answer))
    }

    /// Stored value, path, data, and the new stored value with the answer, or the error. In the order of contract 01
    /// §11.4.
    const EXAMPLES: &str = r#"
        {"p":{"b":"1989"}} | p | {"n":"Jane"} | {"p":{"b":"1989","n":"Jane"}} | {"b":"1989","n":"Jane"}
        {"p":{"b":"1989"}} | p.b | "1990" | {"p":{"b":"1990"}} | "1990"
        {"p":{"b":"1","n":"J"}} | p | {"n":null} | {"p":{"b":"1"}} | {"b":"1"}
        {"p":{"b":"1","n":"J"}} | p | {"b":""} | {"p":{"n":"J"}} | {"n":"J"}
        {"l":{"c":"abc"}} | l | {"c":null} | {} | {}
        {"p":1} | data-store.my-app.foo | {"id":12} | {"p":1,"data-store":{"my-app":{"foo":{"id":12}}}} | {"id":12}
        {} | a.b.c | 12 | {"a":{"b":{"c":12}}} | 12
        {"foo":{"bar":"true"}} | . | {"foo":"bar"} | {"foo":"bar"} | {"foo":"bar"}
        {"a":{"x":1,"y":2}} | . | {"a":{"y":3}} | {"a":{"x":1,"y":3}} | {"a":{"x":1,"y":3}}
        {"a":{"x":1}} | . | {"a":{}} | {} | {}
        {"a":{"x":1}} | a | {} | {"a":{"x":1}} | {"x":1}
        {"a":{"x":1}} | a | null | {} | {}
        {"a":{"x":1}} | a | 5 | object_path a is not a leaf key
        {"a":1} | a.b | 2 | Resource not found
        {"t":[1,2]} | t | [3] | {"t":[3]} | [3]
        {"t":[1]} | . | {"t":[]} | {} | {}
        {"t":[1]} | t.0 | 9 | Resource not found
        {} | f | false | {"f":false} | false
        {} | f | 0 | {"f":0} | 0
        {} | l | [null,"",{}] | {"l":[null,"",{}]} | [null,"",{}]
        {"a":1} | . | {} | {"a":1} | {"a":1}
        {"a":1} | . | "x" | data must be an object when object_path is "."
        {"a":1} | . | null | data must be an object when object_path is "."
        {} | x | "  " | {} | {}
        {} | u | {"w":{"is":{"ok":""}}} | {} | {}
        {"a":{"b":{"c":1}}} | . | {"a":{"b":{"c":null}}} | {} | {}
        {"a":{"b":1}} | . | {"d.e":2} | {"a":{"b":1},"d.e":2} | {"a":{"b":1},"d.e":2}
    "#;

    #[test]
    fn the_worked_examples_of_the_contract_come_out_as_written() {
        let json = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        let lines: Vec<&str> = EXAMPLES.trim().lines().map(str::trim).collect();
        assert_eq!(lines.len(), 27);
        for (line, number) in lines.into_iter().zip(1..) {
            let columns: Vec<&str> = line.split(" | ").collect();
            let written = write(json(columns[0]), columns[1], json(columns[2]));
            match columns[3..] {
                [after, answer] => {
                    assert_eq!(written.unwrap(), (json(after), json(answer)), "example {number}");
                }
                _ => assert_eq!(written.unwrap_err().description(), columns[3], "example {number}"),
            }
        }
    }

    #[test]
    fn reading_nowhere_finds_an_empty_object() {
        let kept = object(json!({"a": {"b": 1}}));
        for (path, expected) in [
            ("a.b", json!(1)),
            ("a", json!({"b": 1})),
            (".", json!({"a": {"b": 1}})),
            ("zz", json!({})),
            ("a.b.c", json!({})),
        ] {
            assert_eq!(ObjectPath::parse(path).unwrap().read(&kept), expected, "{path}");
        }
    }

    #[test]
    fn a_path_has_no_empty_key_and_fifty_at_most() {
        let long = vec!["a"; 50].join(".");
        assert_eq!(ObjectPath::parse(&long).unwrap().to_string(), long);
        for bad in ["", "a..b", ".a", "a.", "..", &format!("{long}.a")] {
            assert_eq!(ObjectPath::parse(bad).unwrap_err().description(), "Invalid object_path", "{bad}");
        }
    }

    #[test]
    fn what_is_kept_can_be_read_back_however_it_was_nested() {
        let way = vec!["a"; 50].join(".");
        let nest = |levels: usize| (0..levels).fold(json!(1), |inner, _| json!({"a": inner}));
        write(json!({}), &way, nest(50)).unwrap();
        let refused = write(json!({}), &way, nest(51)).unwrap_err();
        assert_eq!(refused.description(), "extended_data is nested deeper than 100 levels");
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (-2_i64..3).prop_map(Value::from),
            prop_oneof![Just(""), Just(" "), Just("x")].prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 12, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                prop::collection::btree_map("[abc]", inner, 0..3)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    fn stored() -> impl Strategy<Value = Map<String, Value>> {
        prop::collection::btree_map("[abc]", value(), 0..4).prop_map(|members| {
            let mut root = members.into_iter().collect();
            compact(&mut root);
            root
        })
    }

    fn path() -> impl Strategy<Value = ObjectPath> {
        prop_oneof![Just(".".to_owned()), "[abc](\\.[abc]){0,2}"]
            .prop_map(|text| ObjectPath::parse(&text).unwrap())
    }

    /// All arrays in it, at any depth.
    fn arrays(value: &Value, found: &mut Vec<Value>) {
        match value {
            Value::Array(_) => found.push(value.clone()),
            Value::Object(members) => members.values().for_each(|v| arrays(v, found)),
            _ => {}
        }
    }

    proptest! {
        #[test]
        fn a_write_repeated_changes_nothing_more(root in stored(), path in path(), data in value()) {
            if let Ok(once) = path.write(root, data.clone()) {
                prop_assert_eq!(path.write(once.clone(), data).unwrap(), once);
            }
        }

        #[test]
        fn what_is_kept_is_compact(root in stored(), path in path(), data in value()) {
            if let Ok(written) = path.write(root, data) {
                let mut again = written.clone();
                compact(&mut again);
                prop_assert_eq!(again, written);
            }
        }

        #[test]
        fn keys_beside_the_path_stay(root in stored(), path in path(), data in value()) {
            if let (Ok(written), Some(first)) = (path.write(root.clone(), data), path.segments().first()) {
                for (key, value) in root.iter().filter(|(key, _)| *key != first) {
                    prop_assert_eq!(written.get(key), Some(value));
                }
            }
        }

        #[test]
        fn arrays_are_kept_dropped_or_replaced_whole(root in stored(), path in path(), data in value()) {
            let mut known = Vec::new();
            arrays(&Value::Object(root.clone()), &mut known);
            arrays(&data, &mut known);
            if let Ok(written) = path.write(root, data) {
                let mut kept = Vec::new();
                arrays(&Value::Object(written), &mut kept);
                prop_assert!(kept.iter().all(|array| known.contains(array)));
            }
        }

        #[test]
        fn writes_to_different_keys_can_come_in_any_order(root in stored(), one in value(), other in value()) {
            let (a, b) = (ObjectPath::parse("left").unwrap(), ObjectPath::parse("right").unwrap());
            let forth = b.write(a.write(root.clone(), one.clone()).unwrap(), other.clone()).unwrap();
            let back = a.write(b.write(root, other).unwrap(), one).unwrap();
            prop_assert_eq!(forth, back);
        }
    }
}
