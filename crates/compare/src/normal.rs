//! The normal form of an item: two items that mean the same have the same text (sheet 13 §9).

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value, json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// The normal form of an item of a list. `links` become their names, or with `strict` addresses without host.
pub(crate) fn item(item: &Value, strict: bool) -> Value {
    let mut item = member(item, "", "", strict);
    item.sort_all_objects();
    item
}

/// The identity of an item in normal form among those of its group: the id, of a space its kind and id.
pub(crate) fn key(item: &Value) -> String {
    let id = item["id"].as_str().unwrap_or("-");
    match item["attributes"]["manifest_name"].as_str() {
        Some(manifest) if item["type"] == "space" => format!("{manifest}/{id}"),
        _ => id.to_owned(),
    }
}

fn member(value: &Value, name: &str, parent: &str, strict: bool) -> Value {
    match value {
        Value::Object(_) if name == "extended_data" => compact(value).unwrap_or_else(|| json!({})),
        Value::Object(links) if name == "links" && !strict => {
            links.keys().map(|name| (name.clone(), Value::Null)).collect()
        }
        Value::Object(members) => {
            let is_text = is_translated(members);
            let kept = members.iter().filter(|(_, value)| !(is_text && is_blank(value)));
            kept.map(|(key, value)| (key.clone(), member(value, key, name, strict))).collect()
        }
        Value::Array(list) => {
            let mut list: Vec<Value> = list.iter().map(|value| member(value, "", name, strict)).collect();
            // Those of a relationship: their order is not part of the interface of the module.
            if name == "data" && list.iter().all(|value| value["id"].is_string()) {
                list.sort_by_cached_key(|value| (text_of(&value["id"]), text_of(&value["type"])));
            }
            Value::Array(list)
        }
        Value::Number(number) if name == "id" || name.ends_with("_id") => Value::String(number.to_string()),
        Value::String(text) => Value::String(string(text, name, parent)),
        other => other.clone(),
    }
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn string(text: &str, name: &str, parent: &str) -> String {
    if name == "href" {
        let path = text.split_once("://").and_then(|(_, rest)| rest.find('/').map(|at| &rest[at..]));
        return path.unwrap_or(text).to_owned();
    }
    if name == "id"
        && let Some(role) = role(text)
    {
        return role;
    }
    // Milliseconds count in the times of posts only.
    let is_exact = name == "published_at" && parent == "attributes";
    instant(text, if is_exact { 1_000_000 } else { 1_000_000_000 })
        .unwrap_or_else(|| without_prefix(text).to_owned())
}

/// A time in UTC, cut to this unit in nanoseconds.
fn instant(text: &str, unit: i128) -> Option<String> {
    let bytes = text.as_bytes();
    if bytes.get(4) != Some(&b'-') || bytes.get(10) != Some(&b'T') {
        return None;
    }
    let time = OffsetDateTime::parse(text, &Rfc3339).ok()?;
    let cut = time.unix_timestamp_nanos().div_euclid(unit) * unit;
    OffsetDateTime::from_unix_timestamp_nanos(cut).ok()?.format(&Rfc3339).ok()
}

fn without_prefix(text: &str) -> &str {
    let class = ["Decidim::", "Platform::"].iter().find_map(|prefix| text.strip_prefix(prefix));
    class.filter(|class| !class.contains(char::is_whitespace)).unwrap_or(text)
}

/// The id of a role is JSON in base64 (contract 03 §4.1).
fn role(id: &str) -> Option<String> {
    let json = URL_SAFE_NO_PAD.decode(id.trim_end_matches('=')).ok()?;
    let role: Value = serde_json::from_slice(&json).ok()?;
    role.get("resource_type")?;
    Some(item(&role, false).to_string())
}

/// Whether these are texts by locale. Their empty ones count as absent.
fn is_translated(members: &Map<String, Value>) -> bool {
    !members.is_empty()
        && members.iter().all(|(key, value)| is_locale(key) && (value.is_string() || value.is_null()))
}

/// `en`, `pt-BR`, `zh-TW` (contract 01 §5). No member of the interface that holds a string has such a name, but `id`.
pub(crate) fn is_locale(name: &str) -> bool {
    let (language, region) = name.split_once('-').unwrap_or((name, "XX"));
    (2..=3).contains(&language.len())
        && language.bytes().all(|byte| byte.is_ascii_lowercase())
        && (2..=4).contains(&region.len())
        && region.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && name != "id"
}

/// Blank values of extended data count as absent; arrays stay as they are (contract 01 §11.3).
fn compact(value: &Value) -> Option<Value> {
    if is_blank(value) {
        return None;
    }
    let Value::Object(members) = value else { return Some(value.clone()) };
    let kept = members.iter().filter_map(|(key, value)| Some((key.clone(), compact(value)?)));
    let kept: Map<String, Value> = kept.collect();
    (!kept.is_empty()).then_some(Value::Object(kept))
}

fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn same(left: &Value, right: &Value) {
        assert_eq!(item(left, false).to_string(), item(right, false).to_string());
    }

    #[track_caller]
    fn different(left: &Value, right: &Value) {
        assert_ne!(item(left, false).to_string(), item(right, false).to_string());
    }

    #[test]
    fn prefixes_of_classes_do_not_count_but_in_texts() {
        same(&json!({"a": "Decidim::Assembly"}), &json!({"a": "Platform::Assembly"}));
        different(&json!({"a": "Decidim::Assembly is new"}), &json!({"a": "Platform::Assembly is new"}));
    }

    #[test]
    fn ids_of_roles_are_compared_as_what_they_say() {
        let role = |text: &str| json!({"id": URL_SAFE_NO_PAD.encode(text), "type": "role"});
        let old = role(
            r#"{"type":"space_moderator","resource_type":"Decidim::Assembly","resource_id":7,"user_id":4,"invited_at":"2026-02-01T09:00:00.250+01:00"}"#,
        );
        let new = role(
            r#"{"resource_type":"Platform::Assembly","resource_id":7,"user_id":4,"invited_at":"2026-02-01T08:00:00Z","type":"space_moderator"}"#,
        );
        same(&old, &new);
        assert_eq!(key(&item(&old, false)), key(&item(&new, false)));
    }

    #[test]
    fn times_are_instants_in_seconds_and_of_posts_in_milliseconds() {
        let at = |member: &str, time: &str| json!({"attributes": {member: time}});
        same(&at("created_at", "2026-03-01T09:30:00.999+01:00"), &at("created_at", "2026-03-01T08:30:00Z"));
        same(&at("published_at", "2026-03-01T08:30:00.000Z"), &at("published_at", "2026-03-01T08:30:00Z"));
        different(
            &at("published_at", "2026-03-01T08:30:00.001Z"),
            &at("published_at", "2026-03-01T08:30:00Z"),
        );
        same(
            &json!({"meta": {"published_at": "2026-03-01T08:30:00.001Z"}}),
            &json!({"meta": {"published_at": "2026-03-01T08:30:00Z"}}),
        );
    }

    #[test]
    fn empty_texts_and_blank_extended_data_are_absent() {
        same(&json!({"title": {"en": "A", "fr": "", "pt-BR": null}}), &json!({"title": {"en": "A"}}));
        different(&json!({"title": {"en": "A", "fr": "B"}}), &json!({"title": {"en": "A"}}));
        same(
            &json!({"extended_data": {"a": {"b": " "}, "c": [], "d": false, "e": [""]}}),
            &json!({"extended_data": {"d": false, "e": [""]}}),
        );
        different(&json!({"name": ""}), &json!({}));
        different(&json!({"extended_data": {"a": 1}}), &json!({"extended_data": {"a": "1"}}));
    }

    #[test]
    fn numbers_in_ids_are_texts_and_relationships_have_no_order() {
        same(&json!({"id": 7, "user_id": 8}), &json!({"id": "7", "user_id": "8"}));
        different(&json!({"weight": 7}), &json!({"weight": "7"}));
        let related = |ids: [&str; 2]| json!({"relationships": {"coauthors": {"data": ids.map(|id| json!({"type": "user", "id": id}))}}});
        same(&related(["10", "9"]), &related(["9", "10"]));
    }

    #[test]
    fn links_are_their_names_and_with_strict_addresses_without_hosts() {
        let links =
            |host: &str, path: &str| json!({"links": {"self": {"href": format!("https://{host}{path}")}}});
        same(&links("a.example", "/x/1"), &links("b.example", "/y"));
        assert_eq!(item(&links("a.example", "/x/1"), true), item(&links("b.example", "/x/1"), true));
        assert_ne!(item(&links("a.example", "/x/1"), true), item(&links("a.example", "/x/2"), true));
    }

    #[test]
    fn spaces_of_two_kinds_have_two_keys() {
        let space =
            |manifest: &str| json!({"id": "1", "type": "space", "attributes": {"manifest_name": manifest}});
        assert_eq!(key(&space("assemblies")), "assemblies/1");
        assert_ne!(key(&space("assemblies")), key(&space("conferences")));
    }
}
