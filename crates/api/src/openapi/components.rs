//! The `meta` of each kind of component, from the table of settings (contract 05 §3.4, §3.6).

use super::{by_type, closed, reference};
use civitas_spaces::{ComponentKind, SettingDefault, SettingsSchema};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Replaces the schema of all components by one for each kind, and makes `component` one of them.
pub(super) fn add_all(all: &mut Map<String, Value>) {
    let mut taken = |name| all.remove(name).unwrap_or_default();
    let [view, attributes, links] = ["component", "component_attributes", "component_links"].map(&mut taken);
    let mut schemas: BTreeMap<&str, Vec<ComponentKind>> = BTreeMap::new();
    for kind in ComponentKind::ALL {
        schemas.entry(schema_of(kind)).or_default().push(kind);
    }
    let mut variants = Vec::new();
    for (name, kinds) in schemas {
        let types: Vec<&str> = kinds.iter().map(|kind| kind.component_type()).collect();
        let names: Vec<&str> = kinds.iter().map(|kind| kind.as_str()).collect();
        let (mut attributes, mut links, mut shape) = (attributes.clone(), links.clone(), view.clone());
        attributes["properties"]["manifest_name"] = json!({"type": "string", "enum": names});
        if kinds[0] != ComponentKind::Proposals {
            links["properties"].as_object_mut().map(|links| links.remove("draft"));
        }
        let properties = &mut shape["properties"];
        properties["type"] = json!({"type": "string", "enum": types});
        properties["attributes"] = attributes;
        properties["links"] = links;
        properties["meta"] = meta(kinds[0]);
        all.insert(name.to_owned(), shape);
        variants.extend(types.into_iter().map(|kind| (kind, name)));
    }
    all.insert("component".to_owned(), by_type(&variants));
}

/// The schema of a kind. Three kinds without records share one, for compatibility with existing clients.
fn schema_of(kind: ComponentKind) -> &'static str {
    match kind {
        ComponentKind::Pages | ComponentKind::AwesomeMap | ComponentKind::AwesomeIframe => "other_component",
        one => one.component_type(),
    }
}

/// The settings in force, and what the caller can do.
fn meta(kind: ComponentKind) -> Value {
    let shown = SettingsSchema::for_manifest(kind).iter().filter(|setting| setting.is_in_meta);
    let settings = shown.map(|setting| (setting.key, setting_schema(setting.default)));
    let mut members = vec![("published", json!({"type": "boolean"}))];
    members.extend(settings);
    if kind == ComponentKind::Proposals {
        members.extend(computed());
    }
    closed(members)
}

fn setting_schema(default: SettingDefault) -> Value {
    match default {
        SettingDefault::Bool(_) => json!({"type": "boolean"}),
        SettingDefault::Integer(_) | SettingDefault::OrganizationsCommentLength => {
            json!({"type": "integer", "minimum": 0})
        }
        SettingDefault::Word(list) => json!({"type": "string", "enum": list}),
        SettingDefault::Translated => reference("translated_prop"),
        SettingDefault::Words => json!({"type": "array", "items": {"type": "string"}}),
    }
}

/// Members that are computed and not stored (contract 05 §3.8).
fn computed() -> [(&'static str, Value); 6] {
    let boolean = |says| json!({"type": "boolean", "description": says});
    let weight = json!({"type": "integer", "minimum": 0});
    let weight = closed([("label", reference("translated_prop")), ("weight", weight)]);
    let votes =
        json!({"type": "array", "items": weight, "description": "The weights a vote can have, ascending"});
    [
        ("collaborative_drafts_enabled", boolean("Always false")),
        ("can_create_proposals", boolean("Whether the user can publish another proposal here")),
        ("can_vote", boolean("Whether the caller can still vote here")),
        ("can_endorse", json!({"type": "boolean"})),
        ("can_comment", json!({"type": "boolean"})),
        ("votes", votes),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The keys of contract 05 §3.6.
    const OF_PROPOSALS: &str = "published scopes_enabled amendments_enabled attachments_allowed \
        collaborative_drafts_enabled comments_enabled comments_max_length default_sort_order geocoding_enabled \
        minimum_votes_per_user official_proposals_enabled participatory_texts_enabled proposal_edit_time \
        proposal_edit_before_minutes proposal_limit resources_permissions_enabled threshold_per_proposal vote_limit \
        votes_enabled creation_enabled proposal_answering_enabled amendment_creation_enabled \
        amendment_reaction_enabled amendment_promotion_enabled endorsements_enabled can_create_proposals can_vote \
        can_endorse can_comment votes awesome_voting_manifest voting_cards_show_abstain \
        voting_cards_show_modal_help voting_cards_box_title voting_cards_instructions";

    fn schemas() -> Map<String, Value> {
        let mut all = Map::new();
        for name in ["component", "component_attributes", "component_links"] {
            all.insert(name.to_owned(), json!({"properties": {}}));
        }
        add_all(&mut all);
        all
    }

    #[test]
    fn proposals_have_every_key_of_their_meta_and_no_other() {
        let meta = &schemas()["proposal_component"]["properties"]["meta"];
        let mut named: Vec<&str> = OF_PROPOSALS.split_whitespace().collect();
        named.sort_unstable();
        assert_eq!(meta["properties"].as_object().unwrap().keys().collect::<Vec<_>>(), named);
        assert_eq!(meta["required"].as_array().unwrap().len(), named.len(), "all are always there");
    }

    #[test]
    fn ten_types_lead_to_eight_schemas() {
        let component = &schemas()["component"];
        assert_eq!(component["oneOf"].as_array().unwrap().len(), 8);
        assert_eq!(component["discriminator"]["mapping"].as_object().unwrap().len(), 10);
    }
}
