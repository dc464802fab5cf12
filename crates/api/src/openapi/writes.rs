//! The bodies of writes, and the answers of writes that are no document of one view.

use super::schemas::{Schemas, add, closed};
use crate::resources::organizations::RegistrationModeName;
use crate::shapes::{LocaleName, RoleResourceName, RoleTypeName, TimeZoneName, TranslatedProp};
use serde_json::Value;
use utoipa::ToSchema;
use utoipa::openapi::schema::{Object, OneOfBuilder, SchemaType};
use utoipa::openapi::{Ref, Schema};

/// Adds all of them.
pub(super) fn add_all(to: &mut Schemas) {
    add::<RoleCreateBody>(to);
    add::<RoleUpdateBody>(to);
    add::<DraftCreateBody>(to);
    add::<DraftUpdateBody>(to);
    add::<VoteCreateBody>(to);
    add::<ExtendedDataBody>(to);
    add::<OrganizationUpdateBody>(to);
    for owner in ["organization_extended_data", "user_extended_data", "resource_extended_data"] {
        let value = Schema::Object(Object::builder().schema_type(SchemaType::AnyValue).build());
        to.insert(owner.to_owned(), closed().property("data", value).required("data").into());
    }
    add::<MagicLinkCreateBody>(to);
    add::<BlogCreateBody>(to);
    add::<BlogUpdateBody>(to);
    let cast = OneOfBuilder::new()
        .description(Some("The vote, or with `include_proposal=true` its proposal."))
        .item(Ref::from_schema_name("vote_proposal_item_response"))
        .item(Ref::from_schema_name("proposal_item_response"));
    to.insert("vote_proposal_cast_response".to_owned(), cast.into());
}

/// What a blog post says. The title and the body need a text in the organization's default language.
#[derive(ToSchema)]
#[schema(as = blog_post_create_payload, examples(json!({"data": {"component_id": 87, "attributes": {
    "title": {"en": "Works start on Mill Street"}, "body": {"en": "<p>From Monday on.</p>"},
    "published_at": "2026-03-01T08:00:00Z"}}})))]
#[expect(dead_code, reason = "names the members of the document")]
struct BlogCreateBody {
    #[schema(inline)]
    data: BlogCreateData,
}

#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "names the members of the document")]
struct BlogCreateData {
    /// A blog component.
    component_id: i64,
    #[serde(rename = "type")]
    kind: Option<String>,
    #[schema(inline)]
    attributes: BlogCreateAttributes,
}

#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "names the members of the document")]
struct BlogCreateAttributes {
    title: TranslatedProp,
    body: TranslatedProp,
    /// Absent or null for a draft; a later time for a scheduled post.
    #[schema(format = "date-time", nullable)]
    published_at: Option<String>,
}

/// What a blog post shall say instead. What is absent stays; what is given replaces all languages.
#[derive(ToSchema)]
#[schema(as = blog_post_update_payload, examples(json!({"data": {"attributes": {
    "title": {"en": "Works start on Mill Street"}}}})))]
#[expect(dead_code, reason = "names the members of the document")]
struct BlogUpdateBody {
    #[schema(inline)]
    data: BlogUpdateData,
}

#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "names the members of the document")]
struct BlogUpdateData {
    #[serde(rename = "type")]
    kind: Option<String>,
    /// If it is sent, that of the path.
    id: Option<String>,
    #[schema(inline)]
    attributes: BlogUpdateAttributes,
}

#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "names the members of the document")]
struct BlogUpdateAttributes {
    title: Option<TranslatedProp>,
    body: Option<TranslatedProp>,
    /// Null makes the post a draft again.
    #[schema(format = "date-time", nullable)]
    published_at: Option<String>,
}

/// Who shall be what, and where.
#[derive(ToSchema)]
#[schema(as = role_create_body, examples(json!({"data": {"attributes": {
    "resource_type": "Platform::Assembly", "resource_id": 7, "user_id": 42, "type": "space_moderator"}}})))]
#[expect(dead_code, reason = "names the members of the document")]
struct RoleCreateBody {
    #[schema(inline)]
    data: RoleCreateData,
}

#[derive(ToSchema)]
#[expect(dead_code, reason = "names the members of the document")]
struct RoleCreateData {
    #[schema(inline)]
    attributes: RoleCreateAttributes,
}

#[derive(ToSchema)]
#[expect(dead_code, reason = "names the members of the document")]
struct RoleCreateAttributes {
    /// `Platform::Organization` for a general administrator; initiatives have no roles.
    #[schema(value_type = RoleResourceName)]
    resource_type: &'static str,
    resource_id: i64,
    user_id: i64,
    #[serde(rename = "type")]
    #[schema(value_type = RoleTypeName)]
    kind: &'static str,
}

/// What somebody shall be instead. The others may be sent, and must be the role's.
#[derive(ToSchema)]
#[schema(as = role_update_body, examples(json!({"data": {"attributes": {"type": "space_moderator"}}})))]
#[expect(dead_code, reason = "names the members of the document")]
struct RoleUpdateBody {
    #[schema(inline)]
    data: RoleUpdateData,
}

#[derive(ToSchema)]
#[expect(dead_code, reason = "names the members of the document")]
struct RoleUpdateData {
    #[schema(inline)]
    attributes: RoleUpdateAttributes,
}

#[derive(ToSchema)]
#[expect(dead_code, reason = "names the members of the document")]
struct RoleUpdateAttributes {
    #[serde(rename = "type")]
    #[schema(value_type = RoleTypeName)]
    kind: &'static str,
    #[schema(value_type = Option<RoleResourceName>)]
    resource_type: Option<&'static str>,
    resource_id: Option<i64>,
    user_id: Option<i64>,
}

/// Where a draft begins.
#[derive(ToSchema)]
#[schema(as = draft_proposal_create_body, examples(json!({"data": {"component_id": 101}})))]
#[expect(dead_code, reason = "names the members of the document")]
struct DraftCreateBody {
    #[schema(inline)]
    data: DraftCreateData,
}

#[derive(ToSchema)]
#[expect(dead_code, reason = "names the members of the document")]
struct DraftCreateData {
    /// A proposals component.
    component_id: i64,
}

/// What to write into a draft. What is absent stays.
#[derive(ToSchema)]
#[schema(as = draft_proposal_update_body, examples(json!({"data": {
    "title": "More trees along Main Street", "body": "Two trees per block, watered by the city.",
    "locale": "en"}})))]
#[expect(dead_code, reason = "names the members of the document")]
struct DraftUpdateBody {
    #[schema(inline)]
    data: DraftUpdateData,
}

#[derive(ToSchema)]
#[expect(dead_code, reason = "names the members of the document")]
struct DraftUpdateData {
    /// Plain text; markup is taken out.
    title: Option<String>,
    /// Plain text; markup is taken out.
    body: Option<String>,
    /// The language of both; that of the user when absent.
    #[schema(value_type = Option<LocaleName>)]
    locale: Option<&'static str>,
}

/// A value, and where to write it.
#[derive(ToSchema)]
#[schema(as = extended_data_body, examples(json!({"object_path": "contact", "data": {"phone": "+33"}})))]
#[expect(dead_code, reason = "names the members of the document")]
struct ExtendedDataBody {
    /// Any JSON. Blank values remove: null, empty text, `[]`, `{}`.
    #[schema(required)]
    data: Value,
    /// Keys joined with dots; `.` is the root. May stand behind the `?` instead.
    object_path: Option<String>,
}

/// Settings to change.
#[derive(ToSchema)]
#[schema(as = organization_update_body, examples(json!({"data": {
    "name": {"en": "Riverton"}, "host": "new.example.test", "available_locales": ["en", "fr"],
    "default_locale": "en", "comments_max_length": 500}})))]
#[expect(dead_code, reason = "names the members of the document")]
struct OrganizationUpdateBody {
    data: OrganizationUpdateData,
}

/// The settings to change. Four are required of an organization, and so of what generated clients send; the service
/// keeps each that is left out. Settings that can only be read, and unknown ones, are passed over.
#[derive(ToSchema)]
#[schema(as = organization_update_data)]
#[expect(dead_code, reason = "names the members of the document")]
struct OrganizationUpdateData {
    /// By language; null removes a translation.
    name: NullableTranslations,
    /// By language; null removes a translation.
    description: Option<NullableTranslations>,
    reference_prefix: Option<String>,
    /// A domain name or an address: no scheme, no port. It waits until it leads here.
    host: String,
    /// The whole list. One text with a host on each line is read too.
    secondary_hosts: Option<Vec<String>>,
    #[schema(value_type = Vec<LocaleName>)]
    available_locales: Vec<&'static str>,
    #[schema(value_type = LocaleName)]
    default_locale: &'static str,
    #[schema(value_type = Option<RegistrationModeName>)]
    users_registration_mode: Option<&'static str>,
    force_users_to_authenticate_before_access_organization: Option<bool>,
    enable_machine_translations: Option<bool>,
    send_welcome_notification: Option<bool>,
    badges_enabled: Option<bool>,
    enable_participatory_space_filters: Option<bool>,
    user_groups_enabled: Option<bool>,
    rich_text_editor_in_public_views: Option<bool>,
    #[schema(value_type = Option<TimeZoneName>)]
    time_zone: Option<&'static str>,
    #[schema(minimum = 1)]
    comments_max_length: Option<i64>,
}

/// Texts by language; null and blank text remove.
#[derive(ToSchema)]
#[schema(as = translations_to_write)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "names the members of the document")]
struct NullableTranslations {
    en: Option<String>,
    fr: Option<String>,
    es: Option<String>,
}

/// A vote.
#[derive(ToSchema)]
#[schema(as = vote_proposal_create_body, examples(json!({"proposal_id": 901, "data": {"weight": 1}})))]
#[expect(dead_code, reason = "names the members of the document")]
struct VoteCreateBody {
    proposal_id: i64,
    #[schema(inline)]
    data: VoteCreateData,
}

#[derive(ToSchema)]
#[expect(dead_code, reason = "names the members of the document")]
struct VoteCreateData {
    /// One of the weights in `meta.votes` of the component; 0 is an abstention.
    #[schema(minimum = 0)]
    weight: i64,
}

/// Where a magic link is to lead.
#[derive(ToSchema)]
#[schema(as = magic_link_create_body, examples(json!({"data": {"redirect_url": "https://www.city.example/ideas"}})))]
#[expect(dead_code, reason = "names the members of the document")]
struct MagicLinkCreateBody {
    #[schema(inline)]
    data: Option<MagicLinkCreateData>,
}

#[derive(ToSchema)]
#[expect(dead_code, reason = "names the members of the document")]
struct MagicLinkCreateData {
    /// An `https` address on a host of the organization or of its allow-list; the front page when absent.
    #[schema(max_length = 2048)]
    redirect_url: Option<String>,
}
