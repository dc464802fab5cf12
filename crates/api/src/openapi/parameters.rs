//! The parameters of an operation: path, query, headers.

use super::build::{any_integer, text, words};
use crate::document::{Holds, QueryParameter};
use crate::resources::extended_data::{OBJECT_PATH, OBJECT_PATH_OR_BLANK};
use crate::route::{Handler, Route};
use crate::shapes::{LocaleName, SpaceManifestName};
use serde_json::json;
use utoipa::ToSchema;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn, ParameterStyle};
use utoipa::openapi::schema::{ArrayBuilder, KnownFormat, ObjectBuilder, SchemaFormat, SchemaType};
use utoipa::openapi::{Ref, RefOr, Required, Schema, Type};

/// The most values one list of a filter may have (contract 01 §6).
const MOST_VALUES: usize = 100;

/// The paths whose number of a record is a text in the published document; `/sync` is the same.
const ID_AS_TEXT: [&str; 6] = [
    "/attachments/{id}",
    "/components/{id}/extended_data",
    "/meetings/{id}/extended_data",
    "/organizations/{id}",
    "/proposals/{id}/extended_data",
    "/spaces/{manifest}/{id}/extended_data",
];
/// The parameters of a query that are required: a body cannot have them.
const REQUIRED: [(&str, &[&str]); 11] = [
    ("getComponentExtendedData", &["object_path"]),
    ("getMeetingExtendedData", &["object_path"]),
    ("getOrganizationExtendedData", &["object_path"]),
    ("getProposalExtendedData", &["object_path"]),
    ("getSpaceExtendedData", &["object_path"]),
    ("getUserExtendedData", &["object_path"]),
    ("createAnswerOption", &["filter[question_id]"]),
    ("createAnswerOptionAsync", &["filter[question_id]"]),
    ("listAnswerOptions", &["filter[question_id]"]),
    ("listAnswers", &["filter[questionnaire_id]"]),
    ("listQuestions", &["filter[questionnaire_id]"]),
];
/// The pattern of a number of a record as a text. More digits can be larger than the largest number.
const ID: &str = "^[0-9]{1,18}$";
/// The pattern of a whole number as a text.
const WHOLE_NUMBER: &str = "^-?[0-9]{1,18}$";
/// The pattern of the type of a file: printable ASCII. An empty text is the default type.
pub(crate) const MEDIA_TYPE: &str = "^[ -~]{0,255}$";
/// The pattern of an MD5 in base64, which has 16 bytes and padding.
pub(crate) const CHECKSUM: &str = "^[A-Za-z0-9+/]{21}[AQgw]==$";

/// The pattern of an `Idempotency-Key`: visible ASCII (contract 01 §11c).
const IDEMPOTENCY_KEY: &str = "^[!-~]{1,255}$";

/// The parameters of a route.
pub(super) fn all(route: &Route, takes_bearer: bool) -> Vec<Parameter> {
    let mut all: Vec<Parameter> = in_path(&route.path).collect();
    all.extend(route.doc.query.iter().map(in_query));
    // A magic link is opened without a token; one that is sent is ignored.
    all.extend((takes_bearer || route.id == "signInWithMagicLink").then(authorization));
    all.extend((takes_bearer && route.writes()).then(idempotency_key));
    // OpenAPI leaves the type to the body, which is of any; generated clients without it send a JSON type.
    let type_of_bytes = || in_header("Content-Type", "The announced type", text().pattern(Some(MEDIA_TYPE)));
    all.extend(matches!(route.handler, Handler::Bytes(_)).then(type_of_bytes));
    for parameter in &mut all {
        publish(route, parameter);
    }
    all
}

/// Gives a parameter the type it has in the published document (contract 12): generated clients check it.
fn publish(route: &Route, parameter: &mut Parameter) {
    let name = parameter.name.as_str();
    let of_space = name.strip_prefix("filter[participatory_space_id_").unwrap_or_default();
    let of_vote = name.strip_prefix("filter[voted_weight_").unwrap_or_default();
    let is_of_components = route.path.starts_with("/components/");
    let published = match name {
        "id" if ID_AS_TEXT.contains(&route.path.trim_end_matches("/sync")) => {
            Some(text().pattern(Some(ID)).into())
        }
        _ if is_of_components && ["eq]", "gt]", "lt]"].contains(&of_space) => {
            Some(text().pattern(Some(ID)).into())
        }
        _ if is_of_components && of_space == "in][]" => Some(list_of(text().pattern(Some(ID)))),
        _ if ["eq]", "not_eq]", "gt]", "lt]"].contains(&of_vote) => {
            Some(text().pattern(Some(WHOLE_NUMBER)).into())
        }
        _ if ["in][]", "not_in][]"].contains(&of_vote) => Some(list_of(text().pattern(Some(WHOLE_NUMBER)))),
        "object_path" => Some(text().pattern(Some(object_path(route))).into()),
        "filename" => Some(text().min_length(Some(1)).into()),
        "checksum" => Some(text().pattern(Some(CHECKSUM)).into()),
        "content_type" => Some(text().pattern(Some(MEDIA_TYPE)).into()),
        "byte_size" => Some(
            any_integer().minimum(Some(1)).format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64))).into(),
        ),
        _ => None,
    };
    if published.is_some() {
        parameter.schema = published;
    }
    if REQUIRED.iter().any(|(id, names)| *id == route.id && names.contains(&name)) {
        parameter.required = Required::True;
        // As in bodies: an empty text is missing.
        if let Some(RefOr::T(Schema::Object(schema))) = &mut parameter.schema
            && schema.schema_type == SchemaType::Type(Type::String)
        {
            schema.min_length = Some(1);
        }
    }
}

/// Some of these values.
fn list_of(one: ObjectBuilder) -> RefOr<Schema> {
    ArrayBuilder::new().items(one).max_items(Some(MOST_VALUES)).into()
}

/// The pattern of the path of a value in extended data. Writes to an organization or a user are at the root without one.
fn object_path(route: &Route) -> &'static str {
    let has_default = route.path.starts_with("/organizations/") || route.path.starts_with("/me/");
    if has_default && route.writes() { OBJECT_PATH_OR_BLANK } else { OBJECT_PATH }
}

fn in_path(path: &str) -> impl Iterator<Item = Parameter> {
    let names = path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    names.map(move |name| {
        let (schema, says) = segment(path, name);
        ParameterBuilder::new()
            .name(name)
            .parameter_in(ParameterIn::Path)
            .required(Required::True)
            .description(Some(says))
            .schema(Some(schema))
            .build()
    })
}

/// The schema of a path parameter. Ids are decimal numbers, except for the two kinds of records with a UUID.
fn segment(path: &str, name: &str) -> (RefOr<Schema>, &'static str) {
    let by_uuid = path.starts_with("/jobs/") || path.starts_with("/submission_requests/");
    match name {
        "id" if by_uuid => {
            let uuid = SchemaFormat::KnownFormat(KnownFormat::Uuid);
            (text().format(Some(uuid)).into(), "Its UUID")
        }
        "id" if path.starts_with("/roles/") || path.starts_with("/webhook_registrations/") => {
            (text().into(), "Its id")
        }
        "event_type" => (text().into(), "The name of the event"),
        "id" => {
            let number = any_integer().format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)));
            (number.minimum(Some(0)).into(), "Its number")
        }
        "manifest" => (Ref::from_schema_name(SpaceManifestName::name()).into(), "The kind of the space"),
        _ => (text().into(), "As it was handed out"),
    }
}

fn in_query(parameter: &QueryParameter) -> Parameter {
    ParameterBuilder::new()
        .name(&parameter.name)
        .parameter_in(ParameterIn::Query)
        .required(Required::False)
        .description(Some(says(&parameter.name)))
        .style(Some(ParameterStyle::Form))
        .explode(Some(true))
        .schema(Some(holds(&parameter.holds)))
        .build()
}

fn holds(what: &Holds) -> RefOr<Schema> {
    let counted = || any_integer().minimum(Some(1));
    match what {
        Holds::Text => text().into(),
        Holds::Integer => any_integer().format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64))).into(),
        Holds::Page => counted().default(Some(json!(1))).into(),
        Holds::PageLength => counted().maximum(Some(100)).default(Some(json!(20))).into(),
        Holds::Boolean => ObjectBuilder::new().schema_type(Type::Boolean).into(),
        Holds::Word(list) => words(list.iter().copied()).into(),
        Holds::Locales => ArrayBuilder::new().items(Ref::from_schema_name(LocaleName::name())).into(),
        Holds::Locale => Ref::from_schema_name(LocaleName::name()).into(),
        Holds::List(one) => ArrayBuilder::new().items(holds(one)).max_items(Some(MOST_VALUES)).into(),
    }
}

/// The predicates of filters, the longer names first (contract 01 §6).
const PREDICATES: [(&str, &str); 10] = [
    ("_not_eq", "is another"),
    ("_not_in", "is none of these"),
    ("_eq", "is this"),
    ("_in", "is one of these"),
    ("_start", "begins so, in any case"),
    ("_matches", "is like this, in any case: `%` and `_` are wildcards, `\\` escapes"),
    ("_blank", "is empty (`true`) or is not (`false`)"),
    ("_present", "is not empty (`true`) or is (`false`)"),
    ("_lt", "is smaller"),
    ("_gt", "is larger"),
];

fn says(name: &str) -> String {
    let filter = name.strip_prefix("filter[").and_then(|rest| rest.split_once(']')).map(|(key, _)| key);
    if let Some(key) = filter {
        if key == "extended_data_cont" {
            return "Only records whose extended data contains this part: `\"key\": \"value\"`. Needs the right to \
                    read them."
                .to_owned();
        }
        let found = PREDICATES.iter().find_map(|(end, says)| Some((key.strip_suffix(end)?, *says)));
        let (field, says) = found.unwrap_or((key, "is this"));
        return format!("Only where `{field}` {says}");
    }
    let says = match name {
        "page" => "Which page; what is no number from 1 means 1",
        "per_page" => "How many on a page; more than 100 means 100",
        "locales[]" => "The languages of translated texts; all when absent. `locales=en,fr` means the same",
        "locale" => {
            "The language of texts; by default that of `Accept-Language`, of the user, or of the organization"
        }
        "questionnaire_id" => "Means the same as `filter[questionnaire_id]`",
        "question_id" => "Means the same as `filter[question_id]`",
        "space_manifest" => "Only in spaces of this kind",
        "space_id" => "Only in the space of this number",
        "filename" => "The name of the file",
        "byte_size" => "The length of the file in bytes",
        "checksum" => "The MD5 of the file, in base64",
        "content_type" => "The media type of the file; by default `application/octet-stream`",
        "component_id" => "Only in this component",
        "order" => "What to sort by; `rand` shuffles each time",
        "order_direction" => "`asc` when absent",
        "include_proposal" => "Answer with the proposal instead of the vote",
        "types[]" => "The names of events; all that the client holds the permission for when absent",
        "last_event_id" => {
            "Where the stream continues: after the event of this id. The header `Last-Event-ID` means the same"
        }
        "object_path" => "Where in the extended data: keys joined with dots; `.` is the root",
        _ => "",
    };
    says.to_owned()
}

fn authorization() -> Parameter {
    in_header("Authorization", "`Bearer <ACCESS_TOKEN>`", text())
}

fn idempotency_key() -> Parameter {
    let says = "Chosen by the client for each write: a repetition of the request gets the first answer, and has no effect";
    in_header("Idempotency-Key", says, text().pattern(Some(IDEMPOTENCY_KEY)))
}

fn in_header(name: &str, says: &str, schema: ObjectBuilder) -> Parameter {
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Header)
        .required(Required::False)
        .description(Some(says))
        .schema(Some(schema))
        .build()
}
