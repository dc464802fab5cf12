//! The `meta` of each kind of component, from the table of settings (contract 05 §3.4, §3.6).

use super::build::{Schemas, add, any_integer, by_type, closed, object, words};
use crate::resources::components::{ComponentAttributes, ComponentLinks, ComponentView};
use crate::shapes::TranslatedProp;
use civitas_spaces::{ComponentManifest, SettingDefault, Settings};
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder};
use utoipa::openapi::{Object, Ref, RefOr, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

/// Adds a schema for each kind, and `component`: one of them.
pub(super) fn add_all(to: &mut Schemas) {
    add::<ComponentView>(to);
    // Each kind has its own schema.
    to.remove(&*ComponentAttributes::name());
    to.remove(&*ComponentLinks::name());
    let mut variants: Vec<_> = ComponentManifest::ALL.map(|m| (m.component_type(), schema_of(m))).into();
    variants.sort_by_key(|(_, schema)| *schema);
    for (_, name) in &variants {
        let kinds: Vec<_> = ComponentManifest::ALL.into_iter().filter(|m| schema_of(*m) == *name).collect();
        to.entry((*name).to_owned()).or_insert_with(|| shape(&kinds).into());
    }
    to.insert(ComponentView::name().into_owned(), by_type(&variants).into());
}

/// The schema of a kind. Three kinds without records share one, for compatibility with existing clients.
fn schema_of(manifest: ComponentManifest) -> &'static str {
    match manifest {
        ComponentManifest::Pages | ComponentManifest::AwesomeMap | ComponentManifest::AwesomeIframe => {
            "other_component"
        }
        one => one.component_type(),
    }
}

/// The schema of the view for kinds that share their settings.
fn shape(kinds: &[ComponentManifest]) -> Object {
    let mut attributes = object(ComponentAttributes::schema());
    let names = words(kinds.iter().map(|m| m.as_str()));
    attributes.properties.insert("manifest_name".to_owned(), names.into());
    let mut links = object(ComponentLinks::schema());
    if kinds != [ComponentManifest::Proposals] {
        links.properties.remove("draft");
    }
    let mut shape = object(ComponentView::schema());
    let types = words(kinds.iter().map(|m| m.component_type()));
    shape.properties.insert("type".to_owned(), types.into());
    shape.properties.insert("attributes".to_owned(), attributes.into());
    shape.properties.insert("links".to_owned(), links.into());
    shape.properties.insert("meta".to_owned(), meta(kinds).into());
    shape
}

/// The settings in force, and what the caller can do.
fn meta(kinds: &[ComponentManifest]) -> Object {
    let mut members: Vec<(&str, RefOr<Schema>)> = vec![("published", boolean("").into())];
    for manifest in kinds.iter().take(1) {
        let shown = Settings::of(*manifest).iter().filter(|setting| setting.shown);
        members.extend(shown.map(|setting| (setting.key, kept(setting.default))));
    }
    if kinds == [ComponentManifest::Proposals] {
        members.extend(computed());
    }
    members.into_iter().fold(closed(), |o, (key, schema)| o.property(key, schema).required(key)).build()
}

fn boolean(says: &str) -> ObjectBuilder {
    let says = (!says.is_empty()).then(|| says.to_owned());
    ObjectBuilder::new().schema_type(Type::Boolean).description(says)
}

fn translated() -> Ref {
    Ref::from_schema_name(TranslatedProp::name())
}

fn kept(default: SettingDefault) -> RefOr<Schema> {
    match default {
        SettingDefault::Bool(_) => boolean("").into(),
        SettingDefault::Integer(_) | SettingDefault::OrganizationsCommentLength => {
            any_integer().minimum(Some(0)).into()
        }
        SettingDefault::Word(list) => words(list.iter().copied()).into(),
        SettingDefault::Translated => translated().into(),
        SettingDefault::Words => {
            ArrayBuilder::new().items(ObjectBuilder::new().schema_type(Type::String)).into()
        }
    }
}

/// Members that are computed and not stored (contract 05 §3.8).
fn computed() -> [(&'static str, RefOr<Schema>); 6] {
    let weight = closed()
        .property("label", translated())
        .required("label")
        .property("weight", any_integer().minimum(Some(0)))
        .required("weight");
    let votes = ArrayBuilder::new().items(weight).description(Some("The weights a vote can have, ascending"));
    [
        ("collaborative_drafts_enabled", boolean("Always false").into()),
        ("can_create_proposals", boolean("Whether the user can publish another proposal here").into()),
        ("can_vote", boolean("Whether the caller can still vote here").into()),
        ("can_endorse", boolean("").into()),
        ("can_comment", boolean("").into()),
        ("votes", votes.into()),
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

    fn shapes() -> Schemas {
        let mut all = Schemas::new();
        add_all(&mut all);
        all
    }

    #[test]
    fn proposals_have_every_key_of_their_meta_and_no_other() {
        let mut shapes = shapes();
        let mut proposal = object(shapes.remove("proposal_component").unwrap());
        let meta = object(proposal.properties.remove("meta").unwrap());
        let mut named: Vec<&str> = OF_PROPOSALS.split_whitespace().collect();
        named.sort_unstable();
        assert_eq!(meta.properties.keys().collect::<Vec<_>>(), named);
        assert_eq!(meta.required.len(), named.len(), "all are always there");
    }

    #[test]
    fn ten_types_lead_to_eight_schemas() {
        let Some(RefOr::T(Schema::OneOf(component))) = shapes().remove("component") else {
            panic!("component is one of its kinds")
        };
        assert_eq!(component.items.len(), 8);
        assert_eq!(component.discriminator.unwrap().mapping.len(), 10);
    }
}
