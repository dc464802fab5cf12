//! The shared types of contract 01 §2.1, §3 and §10 that no view is made of.

use super::build::{Schemas, add};
use crate::error::ErrorBody;
use crate::links::ResourceLink;
use crate::shapes::{
    ComponentIdentifier, ComponentManifestName, ComponentType, CreationDate, EditionDate, Identifier,
    LocaleName, PublicationDate, ResourceManifestName, SpaceClassName, SpaceManifestName, SpaceTypeName,
    TimeZoneName, TranslatedProp,
};
use utoipa::ToSchema;

/// Adds every shared type, whether something refers to it or not: the names are published.
pub(super) fn add_all(to: &mut Schemas) {
    let types: [fn(&mut Schemas); 19] = [
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
        add::<GetActionLink>,
        add::<PostActionLink>,
    ];
    for add in types {
        add(to);
    }
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

/// A link to an action that reads. Reserved: nothing of this version links to an action.
#[derive(ToSchema)]
#[schema(as = get_action_link)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "names the members of the document")]
struct GetActionLink {
    /// The full address.
    href: String,
    /// What people call it.
    title: String,
    #[schema(inline)]
    rel: Action,
    #[schema(inline)]
    meta: ReadMeta,
    /// The languages it is available in.
    hreflang: Option<Vec<String>>,
    /// The address of a JSON schema of what is to be sent.
    describedby: Option<String>,
}

/// A link to an action that writes. Reserved: nothing of this version links to an action.
#[derive(ToSchema)]
#[schema(as = post_action_link)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "names the members of the document")]
struct PostActionLink {
    /// The full address.
    href: String,
    /// What people call it.
    title: String,
    #[schema(inline)]
    rel: Action,
    #[schema(inline)]
    meta: WriteMeta,
    /// The languages it is available in.
    hreflang: Option<Vec<String>>,
    /// The address of a JSON schema of what is to be sent.
    describedby: Option<String>,
}

/// What an action link is.
#[derive(ToSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "names the words of the document")]
enum Action {
    /// An action.
    Action,
}

/// How to read, and what it belongs to.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "names the members of the document")]
struct ReadMeta {
    component_id: Option<String>,
    component_manifest: Option<String>,
    space_id: Option<String>,
    space_manifest: Option<String>,
    resource_id: Option<String>,
    #[schema(inline)]
    action_method: ReadMethod,
}

/// How to write, and what it belongs to.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "names the members of the document")]
struct WriteMeta {
    component_id: Option<String>,
    component_manifest: Option<String>,
    space_id: Option<String>,
    space_manifest: Option<String>,
    resource_id: Option<String>,
    #[schema(inline)]
    action_method: WriteMethod,
    #[schema(inline)]
    action_enctype: Encoding,
    /// The address to open after a valid submission.
    action_target: Option<String>,
}

/// The verb of an action that reads.
#[derive(ToSchema)]
#[serde(rename_all = "UPPERCASE")]
#[expect(dead_code, reason = "names the words of the document")]
enum ReadMethod {
    Get,
}

/// The verb of an action that writes.
#[derive(ToSchema)]
#[serde(rename_all = "UPPERCASE")]
#[expect(dead_code, reason = "names the words of the document")]
enum WriteMethod {
    Post,
    Delete,
    Put,
}

/// How the members of a form are sent.
#[derive(ToSchema)]
#[expect(dead_code, reason = "names the words of the document")]
enum Encoding {
    #[serde(rename = "application/x-www-form-urlencoded")]
    Form,
    #[serde(rename = "multipart/form-data")]
    Multipart,
}
