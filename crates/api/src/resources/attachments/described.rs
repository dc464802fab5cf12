//! The bodies of writes of attachments as the document describes them (contract 07 B.5 to B.7). `body` reads them: the
//! members are flat or in `data.attributes`.
#![expect(dead_code, reason = "describes the members; they are read one by one")]

use super::AttachmentType;
use crate::openapi::build::{any_integer, number_or_text, text, words};
use crate::openapi::parameters::{CHECKSUM, MEDIA_TYPE};
use crate::shapes::TranslatedProp;
use crate::typed_body::{Body, Presence};
use civitas_attachments::creatable_parent_names;
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;
use utoipa::openapi::schema::OneOfBuilder;
use utoipa::openapi::{ObjectBuilder, Ref};
use validator::{Validate, ValidationErrors};

/// A new attachment of an uploaded file: its members, or a document of them.
#[derive(Deserialize, ToSchema)]
#[schema(as = attachment_create_body, examples(json!({"signed_id": "712--6f0c", "attached_to_type": "proposals",
    "attached_to_id": 904, "title": {"en": "Site plan"}, "description": {"en": "Scale 1:500"}})))]
#[serde(untagged)]
pub(crate) enum AttachmentToCreate {
    Flat(NewMembers),
    Document(NewDocument),
}

/// The members of a new attachment.
#[derive(Deserialize, ToSchema)]
#[schema(as = attachment_create_attributes)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewMembers {
    /// The signed id of an upload.
    signed_id: String,
    /// The kind of the record: a short name, or a class name.
    #[schema(schema_with = parent)]
    attached_to_type: Value,
    attached_to_id: i64,
    /// One text, in the default language, or texts by language.
    #[schema(schema_with = one_or_each)]
    title: Value,
    #[schema(schema_with = one_or_each)]
    description: Value,
    weight: Option<i64>,
    attachment_collection_id: Option<i64>,
}

/// A new attachment as a document.
#[derive(Deserialize, ToSchema)]
#[schema(as = attachment_create_document)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewDocument {
    #[schema(inline)]
    data: NewData,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewData {
    #[serde(rename = "type")]
    #[schema(value_type = Option<AttachmentType>)]
    kind: Option<Value>,
    attributes: NewMembers,
}

/// The new members of an attachment, or a document of them. An absent member keeps its value.
#[derive(Deserialize, ToSchema)]
#[schema(as = attachment_update_body, examples(json!({"title": {"en": "Site plan"}, "weight": 2})))]
#[serde(untagged)]
pub(crate) enum AttachmentToUpdate {
    Flat(NewValues),
    Document(UpdatedDocument),
}

/// The members of an attachment that can be changed.
#[derive(Deserialize, ToSchema)]
#[schema(as = attachment_update_attributes)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewValues {
    /// One text, which replaces that of the default language, or texts by language, which replace all.
    #[schema(schema_with = one_or_each, required = false)]
    title: Option<Value>,
    #[schema(schema_with = one_or_each, required = false)]
    description: Option<Value>,
    weight: Option<i64>,
    /// Null removes the attachment from its collection.
    attachment_collection_id: Option<i64>,
}

/// An attachment as a document.
#[derive(Deserialize, ToSchema)]
#[schema(as = attachment_update_document)]
#[serde(deny_unknown_fields)]
pub(crate) struct UpdatedDocument {
    #[schema(inline)]
    data: UpdatedData,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct UpdatedData {
    #[serde(rename = "type")]
    #[schema(value_type = Option<AttachmentType>)]
    kind: Option<Value>,
    /// Optional; must be that of the path.
    #[schema(schema_with = number_or_text, required = false)]
    id: Option<Value>,
    attributes: NewValues,
}

/// The announcement of an upload; the same members may be in the query.
#[derive(Deserialize, ToSchema)]
#[schema(as = attachment_direct_upload_body, examples(json!({"filename": "site-plan.pdf", "byte_size": 12345,
    "checksum": "b1kCrCNwJL3QwXbLkwY9xA==", "content_type": "application/pdf"})))]
pub(crate) struct UploadToAnnounce {
    #[schema(min_length = 1)]
    filename: Option<String>,
    #[schema(schema_with = length, required = false)]
    byte_size: Option<i64>,
    /// The MD5 of the file, in base64.
    #[schema(schema_with = checksum, required = false)]
    checksum: Option<String>,
    #[schema(schema_with = media_type, required = false)]
    content_type: Option<String>,
}

impl Body for AttachmentToCreate {}
impl Body for AttachmentToUpdate {}

impl Body for UploadToAnnounce {
    const PRESENCE: Presence = Presence::Optional;
}

macro_rules! no_rules {
    ($($name:ty),+) => {$(
        impl Validate for $name {
            fn validate(&self) -> Result<(), ValidationErrors> {
                Ok(())
            }
        }
    )+};
}
no_rules!(AttachmentToCreate, AttachmentToUpdate, UploadToAnnounce);

/// One text, or texts by language.
fn one_or_each() -> OneOfBuilder {
    OneOfBuilder::new().item(text()).item(Ref::from_schema_name(TranslatedProp::name()))
}

fn parent() -> ObjectBuilder {
    words(creatable_parent_names())
}

fn length() -> ObjectBuilder {
    any_integer().minimum(Some(1))
}

fn checksum() -> ObjectBuilder {
    text().pattern(Some(CHECKSUM))
}

fn media_type() -> ObjectBuilder {
    text().pattern(Some(MEDIA_TYPE))
}
