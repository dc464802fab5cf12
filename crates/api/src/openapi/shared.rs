//! The shared types of contract 01 §2.1, §3 and §10 that no view uses.

use super::build::{Schemas, add, closed, text, words};
use crate::error::ErrorBody;
use crate::links::ResourceLink;
use crate::shapes::{
    ComponentIdentifier, ComponentManifestName, ComponentType, CreationDate, EditionDate, Identifier,
    LocaleName, PublicationDate, ResourceManifestName, SpaceClassName, SpaceManifestName, SpaceTypeName,
    TimeZoneName, TranslatedProp,
};
use utoipa::ToSchema;
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder};

/// Adds every shared type, even without a reference to it: the names are part of the published document.
pub(super) fn add_all(to: &mut Schemas) {
    let types: [fn(&mut Schemas); 17] = [
        add::<TranslatedProp>,
        add::<LocaleName>,
        add::<CreationDate>,
        add::<EditionDate>,
        add::<PublicationDate>,
        add::<SpaceManifestName>,
        add::<SpaceTypeName>,
        add::<SpaceClassName>,
        add::<ComponentManifestName>,
        add::<ComponentType>,
        add::<ResourceManifestName>,
        add::<ComponentIdentifier>,
        add::<Identifier>,
        add::<TimeZoneName>,
        add::<Health>,
        add::<ErrorBody<'_>>,
        add::<ResourceLink>,
    ];
    for add in types {
        add(to);
    }
    to.insert("get_action_link".to_owned(), action_link(true).into());
    to.insert("post_action_link".to_owned(), action_link(false).into());
}

/// Whether the service works.
#[derive(ToSchema)]
#[schema(as = health)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "names the members of the document")]
pub(super) struct Health {
    #[schema(inline)]
    message: HealthMessage,
}

/// Whether the service works.
#[derive(ToSchema)]
#[expect(dead_code, clippy::upper_case_acronyms, reason = "names the words of the document")]
enum HealthMessage {
    /// It does.
    OK,
    /// The database does not answer.
    ERROR,
}

/// A link to an action: `reads`, or writes.
fn action_link(reads: bool) -> ObjectBuilder {
    let says = |what: &str| {
        format!("A link to an action that {what}. Reserved: nothing of this version links to an action.")
    };
    let (says, meta) = if reads { (says("reads"), read_meta()) } else { (says("writes"), write_meta()) };
    let languages = ArrayBuilder::new().items(text()).description(Some("The languages it is available in."));
    let described_by = text().description(Some("The address of a JSON schema of what is to be sent."));
    closed()
        .description(Some(says))
        .property("href", text().description(Some("The full address.")))
        .required("href")
        .property("title", text().description(Some("What people call it.")))
        .required("title")
        .property("rel", words(["action"]).description(Some("What an action link is.")))
        .required("rel")
        .property("meta", meta)
        .required("meta")
        .property("hreflang", languages)
        .property("describedby", described_by)
}

fn read_meta() -> ObjectBuilder {
    let verb = words(["GET"]).description(Some("The verb of an action that reads."));
    link_meta(verb).description(Some("How to read, and what it belongs to."))
}

fn write_meta() -> ObjectBuilder {
    let verb = words(["POST", "DELETE", "PUT"]).description(Some("The verb of an action that writes."));
    let encoding = words(["application/x-www-form-urlencoded", "multipart/form-data"]);
    let target = text().description(Some("The address to open after a valid submission."));
    link_meta(verb)
        .description(Some("How to write, and what it belongs to."))
        .property("action_enctype", encoding.description(Some("How the members of a form are sent.")))
        .required("action_enctype")
        .property("action_target", target)
}

/// What an action belongs to, and its verb.
fn link_meta(verb: ObjectBuilder) -> ObjectBuilder {
    let names = ["component_id", "component_manifest", "space_id", "space_manifest", "resource_id"];
    let meta = names.into_iter().fold(closed(), |meta, name| meta.property(name, text()));
    meta.property("action_method", verb).required("action_method")
}
