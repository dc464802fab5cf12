//! Differences of two items, and those that are expected of the module of Decidim (sheet 13 §9).

use crate::normal::is_locale;
use serde_json::Value;
use std::collections::BTreeSet;

/// The code of an expected difference, as `E-HIDDEN`.
pub(crate) type DifferenceCode = &'static str;

/// A group, and the key of an item in it.
pub(crate) type ItemKey = (&'static str, String);

/// The domain of addresses that the import gives (sheet 13 §5.3).
const PLACEHOLDER: &str = "@import.example.org";

/// A member that differs. A member that is absent is `None`.
pub(crate) struct Difference<'a> {
    /// The path, with points: `attributes.title.en`.
    pub(crate) member: String,
    pub(crate) old: Option<&'a Value>,
    pub(crate) new: Option<&'a Value>,
}

/// The members that differ. Extended data is compared as a whole: its names can be personal data.
pub(crate) fn differences<'a>(old: &'a Value, new: &'a Value) -> Vec<Difference<'a>> {
    let mut found = Vec::new();
    compare(String::new(), Some(old), Some(new), &mut found);
    found
}

fn compare<'a>(
    member: String,
    old: Option<&'a Value>,
    new: Option<&'a Value>,
    found: &mut Vec<Difference<'a>>,
) {
    if old == new {
        return;
    }
    let inner = |name: &str| if member.is_empty() { name.to_owned() } else { format!("{member}.{name}") };
    match (old, new) {
        (Some(Value::Object(left)), Some(Value::Object(right))) if !member.ends_with("extended_data") => {
            let names: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
            for name in names {
                compare(inner(name), left.get(name), right.get(name), found);
            }
        }
        (Some(Value::Array(left)), Some(Value::Array(right)))
            if left.len() == right.len() && left.iter().all(Value::is_object) =>
        {
            for (number, (left, right)) in left.iter().zip(right).enumerate() {
                compare(inner(&number.to_string()), Some(left), Some(right), found);
            }
        }
        _ => found.push(Difference { member, old, new }),
    }
}

/// The code of a difference between an item of the module and ours; `None` for one that is not expected. `offered` are
/// the locales of the new server, empty when they cannot be read.
pub(crate) fn expected_code(
    group: &str,
    item: &Value,
    difference: &Difference,
    offered: &BTreeSet<String>,
) -> Option<DifferenceCode> {
    let Difference { member, old, new } = difference;
    let (old_text, new_text) = (old.and_then(Value::as_str), new.and_then(Value::as_str));
    let (parent, last) = member.rsplit_once('.').unwrap_or(("", member));
    match (group, member.as_str()) {
        _ if last == "type" && old_text.is_some() && old_text.map(singular) == new_text.map(singular) => {
            return Some("E-TYPES");
        }
        ("attachments", "attributes.url" | "attributes.thumbnail_url") => return Some("E-FILES"),
        ("spaces", "attributes.visibility") => return Some("E-VISIBILITY"),
        ("roles", "attributes.accepted_invite") => return Some("E-ROLES"),
        ("users", "attributes.email" | "attributes.name" | "attributes.nickname")
            if old_text.is_none_or(|old| old.trim().is_empty())
                || new_text.is_some_and(|new| new.ends_with(PLACEHOLDER)) =>
        {
            return Some("E-USERS");
        }
        (_, "meta.can_vote" | "meta.can_create_proposals" | "meta.votes") => return Some("E-FLAGS"),
        (_, member) if member.starts_with("meta.votes.") || member.starts_with("meta.minimum") => {
            return Some("E-FLAGS");
        }
        _ => {}
    }
    if is_locale(last) && parent.contains('.') && !offered.is_empty() {
        let is_dropped = new.is_none() && !offered.contains(last);
        // `--locale-map` moves a text to another locale.
        let texts = item.pointer(&format!("/{}", parent.replace('.', "/"))).and_then(Value::as_object);
        let was_elsewhere =
            |(locale, text): (&String, &Value)| !offered.contains(locale) && Some(text) == *new;
        let is_moved = old.is_none() && texts.is_some_and(|texts| texts.iter().any(was_elsewhere));
        return (is_dropped || is_moved).then_some("E-LOCALE");
    }
    let is_added = matches!(parent, "attributes" | "meta") && member != "meta.voted";
    let is_meta = member == "meta" && new.is_some_and(|meta| meta.get("voted").is_none());
    (old.is_none() && (is_added || is_meta)).then_some("E-ADDED")
}

/// The code of an item that only one server has, when the old one is the module.
pub(crate) fn expected_one_sided(group: &str, item: &Value, is_old: bool) -> Option<DifferenceCode> {
    let attributes = &item["attributes"];
    let is_blank = |name: &str| attributes[name].as_str().is_none_or(|text: &str| text.trim().is_empty());
    let is_process_member =
        attributes["type"] == "space_private_member" && attributes["resource_type"] == "ParticipatoryProcess";
    let (code, is_expected) = match group {
        "spaces" => ("E-VISIBILITY", attributes["visibility"] != "public"),
        "roles" => ("E-ROLES", !is_old && (is_process_member || attributes["accepted_invite"] == false)),
        "users" => ("E-USERS", is_old && (is_blank("name") || is_blank("nickname"))),
        // The answers of the module do not say what is hidden.
        "proposals" | "meetings" | "components" | "blogs" => ("E-HIDDEN", is_old),
        _ => return None,
    };
    is_expected.then_some(code)
}

/// Whether the member counts or lists other items, which are compared themselves.
pub(crate) fn is_derived(member: &str) -> bool {
    ["meta.votes_count", "meta.voted", "meta.can_vote", "relationships.resources", "relationships.components"]
        .iter()
        .any(|name| member.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')))
}

/// The group of a class, and what the keys of its items begin with.
const CLASSES: &[(&str, &str, &str)] = &[
    ("Proposal", "proposals", ""),
    ("Meeting", "meetings", ""),
    ("Post", "blogs", ""),
    ("Component", "components", ""),
    ("ParticipatoryProcess", "spaces", "participatory_processes/"),
    ("Assembly", "spaces", "assemblies/"),
    ("Conference", "spaces", "conferences/"),
    ("Initiative", "spaces", "initiatives/"),
];

/// The items that this one belongs to: a proposal, component or questionnaire, a space, and what a file is attached to.
pub(crate) fn owners(item: &Value) -> Vec<ItemKey> {
    let related = |(name, group): (&str, &'static str)| {
        let id = item["relationships"][name]["data"]["id"].as_str()?;
        Some((group, id.to_owned()))
    };
    let of_class = |(class, id): (&Value, &Value)| {
        let class = class.as_str()?.rsplit("::").next()?;
        let (_, group, kind) = CLASSES.iter().find(|(name, ..)| *name == class)?;
        Some((*group, format!("{kind}{}", id.as_str()?)))
    };
    let attributes = &item["attributes"];
    let file = &attributes["attached_to"];
    let relations =
        [("proposal", "proposals"), ("component", "components"), ("questionnaire", "questionnaires")];
    let classes = [
        (&attributes["participatory_space_type"], &attributes["participatory_space_id"]),
        (&file["type"], &file["id"]),
    ];
    relations.into_iter().filter_map(related).chain(classes.into_iter().filter_map(of_class)).collect()
}

fn singular(kind: &str) -> String {
    let stem = kind.strip_suffix("ies").map(|stem| format!("{stem}y"));
    stem.unwrap_or_else(|| kind.strip_suffix('s').unwrap_or(kind).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn codes(group: &str, old: &Value, new: &Value) -> Vec<(String, Option<DifferenceCode>)> {
        let offered = ["en", "es"].map(str::to_owned).into();
        let found = differences(old, new);
        found.iter().map(|one| (one.member.clone(), expected_code(group, old, one, &offered))).collect()
    }

    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "values are written in place")]
    fn one(group: &str, old: Value, new: Value, code: Option<DifferenceCode>) {
        let found = codes(group, &old, &new);
        assert_eq!(found.iter().map(|(_, code)| *code).collect::<Vec<_>>(), [code], "{found:?}");
    }

    #[test]
    fn members_are_named_by_their_path() {
        let old = json!({"a": {"b": 1, "c": [{"d": 1}, {"d": 2}]}, "e": 1, "extended_data": {"x": 1}});
        let new = json!({"a": {"b": 2, "c": [{"d": 1}, {"d": 3}]}, "extended_data": {"y": 1}});
        let found = differences(&old, &new);
        let members: Vec<&str> = found.iter().map(|one| one.member.as_str()).collect();
        assert_eq!(members, ["a.b", "a.c.1.d", "e", "extended_data"]);
        assert!(differences(&old, &old).is_empty());
    }

    #[test]
    fn members_of_the_sheets_are_expected_and_lost_ones_are_not() {
        one("proposals", json!({"meta": {}}), json!({"meta": {"published_at": "x"}}), Some("E-ADDED"));
        one("meetings", json!({}), json!({"meta": {"published": true}}), Some("E-ADDED"));
        one("proposals", json!({"meta": {"published": true}}), json!({"meta": {}}), None);
        one("proposals", json!({"meta": {}}), json!({"meta": {"voted": {"weight": 1}}}), None);
        one("proposals", json!({"relationships": {}}), json!({"relationships": {"state": {}}}), None);
        one("proposals", json!({"attributes": {"a": 1}}), json!({"attributes": {"a": 2}}), None);
    }

    #[test]
    fn types_in_singular_and_plural_are_the_same() {
        let of = |kind: &str| json!({"relationships": {"a": {"data": {"id": "1", "type": kind}}}});
        one("votes", of("proposal"), of("proposals"), Some("E-TYPES"));
        one("votes", of("assemblies"), of("assembly"), Some("E-TYPES"));
        one("votes", of("proposal"), of("meeting"), None);
    }

    #[test]
    fn locales_that_are_not_offered_are_expected() {
        let title = |text: Value| json!({"attributes": {"title": text}});
        one("proposals", title(json!({"en": "A", "ca": "B"})), title(json!({"en": "A"})), Some("E-LOCALE"));
        one("proposals", title(json!({"en": "A", "es": "B"})), title(json!({"en": "A"})), None);
        let found =
            codes("proposals", &title(json!({"ca": "B", "en": "A"})), &title(json!({"en": "A", "es": "B"})));
        assert!(found.len() == 2 && found.iter().all(|(_, code)| *code == Some("E-LOCALE")), "{found:?}");
        one("proposals", title(json!({"en": "A"})), title(json!({"en": "A", "es": "B"})), None);
    }

    #[test]
    fn codes_belong_to_their_groups() {
        let of = |name: &str, value: Value| json!({"attributes": {name: value}});
        one(
            "spaces",
            of("visibility", json!("transparent")),
            of("visibility", json!("public")),
            Some("E-VISIBILITY"),
        );
        one(
            "users",
            of("email", json!("")),
            of("email", json!("decidim-4@import.example.org")),
            Some("E-USERS"),
        );
        one("users", of("email", json!("a@b.example")), of("email", json!("c@b.example")), None);
        one("attachments", of("url", json!("a")), of("url", json!("b")), Some("E-FILES"));
        one("webhook_registrations", of("url", json!("a")), of("url", json!("b")), None);
        one(
            "roles",
            of("accepted_invite", json!(true)),
            of("accepted_invite", json!(false)),
            Some("E-ROLES"),
        );
        one("components", json!({"meta": {"votes": []}}), json!({"meta": {"votes": [1]}}), Some("E-FLAGS"));
    }

    #[test]
    fn items_of_one_server_are_expected_where_the_module_shows_more_or_less() {
        let alone = |group, attributes: Value, is_old| {
            expected_one_sided(group, &json!({"attributes": attributes}), is_old)
        };
        assert_eq!(alone("proposals", json!({}), true), Some("E-HIDDEN"));
        assert_eq!(alone("proposals", json!({}), false), None);
        assert_eq!(alone("votes", json!({}), true), None);
        assert_eq!(alone("spaces", json!({"visibility": "public"}), true), None);
        assert_eq!(alone("spaces", json!({"visibility": "private"}), true), Some("E-VISIBILITY"));
        assert_eq!(alone("users", json!({"name": "", "nickname": ""}), true), Some("E-USERS"));
        assert_eq!(alone("users", json!({"name": "Nora", "nickname": "nora"}), true), None);
        let member = json!({"type": "space_private_member", "resource_type": "ParticipatoryProcess"});
        assert_eq!(alone("roles", member.clone(), false), Some("E-ROLES"));
        assert_eq!(alone("roles", member, true), None);
    }

    #[test]
    fn an_item_names_those_it_belongs_to() {
        let vote = json!({"relationships": {"proposal": {"data": {"id": "9"}}}});
        assert_eq!(owners(&vote), [("proposals", "9".to_owned())]);
        let component =
            json!({"attributes": {"participatory_space_type": "Assembly", "participatory_space_id": "3"}});
        assert_eq!(owners(&component), [("spaces", "assemblies/3".to_owned())]);
        let file = json!({"attributes": {"attached_to": {"type": "Proposals::Proposal", "id": "5"}}});
        assert_eq!(owners(&file), [("proposals", "5".to_owned())]);
        assert!(is_derived("meta.votes_count") && is_derived("relationships.resources.meta.count"));
        assert!(!is_derived("meta.votes_enabled") && !is_derived("attributes.title.en"));
    }
}
