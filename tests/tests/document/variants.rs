//! Variants of a schema do not overlap: no value is valid for two schemas of one `oneOf`. Generated clients try one after
//! the other, and validators refuse a value that fits two.

use super::document;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The schemas that a value must all satisfy: this one without its reference, and those of its `allOf`.
fn parts(schema: &Value) -> Vec<&Value> {
    let schema = match schema["$ref"].as_str().and_then(|target| target.strip_prefix('#')) {
        Some(pointer) => document().pointer(pointer).expect("a schema"),
        None => schema,
    };
    let all = schema["allOf"].as_array().into_iter().flatten();
    std::iter::once(schema).chain(all.flat_map(parts)).collect()
}

/// The types or the values that one of the parts allows; `None` if no part limits them.
fn allowed(parts: &[&Value], list: &str, single: &str) -> Option<BTreeSet<String>> {
    parts.iter().find_map(|part| {
        let one = part.get(single).filter(|value| !value.is_array()).map(|value| vec![value.clone()]);
        let some = one.or_else(|| part[list].as_array().cloned())?;
        Some(some.iter().map(Value::to_string).collect())
    })
}

fn differ(first: Option<BTreeSet<String>>, second: Option<BTreeSet<String>>) -> bool {
    matches!((first, second), (Some(first), Some(second)) if first.is_disjoint(&second))
}

fn required<'a>(parts: &[&'a Value]) -> BTreeSet<&'a str> {
    let lists = parts.iter().filter_map(|part| part["required"].as_array());
    lists.flatten().filter_map(Value::as_str).collect()
}

/// Whether a part allows no other members, and not this one.
fn excludes(parts: &[&Value], member: &str) -> bool {
    parts.iter().any(|part| part["additionalProperties"] == false && part["properties"].get(member).is_none())
}

fn members<'a>(parts: &[&'a Value], name: &str) -> Vec<&'a Value> {
    parts.iter().filter_map(|part| part["properties"].get(name)).collect()
}

/// Whether each variant inside of one of the parts is distinct from a schema.
fn has_distinct_variants(parts: &[&Value], other: &Value) -> bool {
    let mut variants = parts.iter().filter_map(|part| part["oneOf"].as_array());
    variants.any(|variants| variants.iter().all(|variant| are_distinct(variant, other)))
}

/// Whether no value is valid for both: by its type, by a value, by a member that one requires and the other excludes, or by
/// a member that both require.
fn are_distinct(first: &Value, second: &Value) -> bool {
    let (a, b) = (parts(first), parts(second));
    if differ(allowed(&a, "type", "type"), allowed(&b, "type", "type"))
        || differ(allowed(&a, "enum", "const"), allowed(&b, "enum", "const"))
        || has_distinct_variants(&a, second)
        || has_distinct_variants(&b, first)
    {
        return true;
    }
    let (of_a, of_b) = (required(&a), required(&b));
    if of_a.iter().any(|member| excludes(&b, member)) || of_b.iter().any(|member| excludes(&a, member)) {
        return true;
    }
    of_a.intersection(&of_b).any(|member| {
        let (in_a, in_b) = (members(&a, member), members(&b, member));
        in_a.iter().any(|x| in_b.iter().any(|y| are_distinct(x, y)))
    })
}

/// The numbers of two variants that are not distinct.
fn overlap(variants: &[Value]) -> Option<(usize, usize)> {
    let pairs = (0..variants.len()).flat_map(|second| (0..second).map(move |first| (first, second)));
    pairs.into_iter().find(|(first, second)| !are_distinct(&variants[*first], &variants[*second]))
}

/// Every list of variants, with its place.
fn lists<'a>(value: &'a Value, place: &str, found: &mut Vec<(String, &'a [Value])>) {
    match value {
        Value::Object(all) => {
            if let Some(variants) = all.get("oneOf").and_then(Value::as_array) {
                found.push((place.to_owned(), variants));
            }
            all.iter().for_each(|(name, member)| lists(member, &format!("{place}/{name}"), found));
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(n, item)| lists(item, &format!("{place}/{n}"), found));
        }
        _ => {}
    }
}

#[test]
fn no_value_is_valid_for_two_variants() {
    let mut found = Vec::new();
    lists(document(), "", &mut found);
    assert!(found.len() > 10, "only {} lists of variants", found.len());
    for (place, variants) in found {
        assert_eq!(overlap(variants), None, "{place}: {variants:?}");
    }
}

#[test]
fn variants_that_overlap_are_found() {
    let object = |required: &[&str], kind: Value, closed: bool| {
        let properties = json!({"kind": kind, "a": {}, "b": {}});
        json!({"type": "object", "required": required, "properties": properties, "additionalProperties": !closed})
    };
    let of = |kinds: &[&str]| json!({"enum": kinds});
    for (first, second, expected) in [
        (json!({"type": "string"}), json!({"type": "null"}), true),
        (json!({"type": "string"}), json!({"type": ["string", "null"]}), false),
        (object(&["kind"], of(&["x"]), false), object(&["kind"], of(&["y"]), false), true),
        (object(&["kind"], of(&["x"]), false), object(&["kind"], of(&["y", "x"]), false), false),
        (object(&[], of(&["x"]), false), object(&["kind"], of(&["y"]), false), false),
        (object(&["other"], json!({}), false), object(&[], json!({}), true), true),
        (object(&["a"], json!({}), false), object(&["b"], json!({}), true), false),
        (
            json!({"allOf": [object(&["kind"], of(&["x"]), false)]}),
            object(&["kind"], of(&["y"]), false),
            true,
        ),
    ] {
        assert_eq!(are_distinct(&first, &second), expected, "{first} and {second}");
        let both = [first, second];
        assert_eq!(overlap(&both).is_none(), expected);
    }
}
