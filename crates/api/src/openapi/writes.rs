//! The bodies of writes, and the answers of writes that are no document of one view.

use super::schemas::{Schemas, add, closed};
use crate::shapes::LocaleName;
use serde_json::Value;
use utoipa::ToSchema;
use utoipa::openapi::schema::{Object, OneOfBuilder, SchemaType};
use utoipa::openapi::{Ref, Schema};

/// Adds all of them.
pub(super) fn add_all(to: &mut Schemas) {
    add::<DraftCreateBody>(to);
    add::<DraftUpdateBody>(to);
    add::<VoteCreateBody>(to);
    add::<ExtendedDataBody>(to);
    for owner in ["organization_extended_data", "user_extended_data", "resource_extended_data"] {
        let value = Schema::Object(Object::builder().schema_type(SchemaType::AnyValue).build());
        to.insert(owner.to_owned(), closed().property("data", value).required("data").into());
    }
    let cast = OneOfBuilder::new()
        .description(Some("The vote, or with `include_proposal=true` its proposal."))
        .item(Ref::from_schema_name("vote_proposal_item_response"))
        .item(Ref::from_schema_name("proposal_item_response"));
    to.insert("vote_proposal_cast_response".to_owned(), cast.into());
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
