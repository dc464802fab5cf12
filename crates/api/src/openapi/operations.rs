//! The operation of a route.

use super::{in_words, parameters, reference, responses};
use crate::route::{RequiredAccess, Route, UnreadBodies};
use actix_web::http::StatusCode;
use civitas_kernel::{Ability, Access, RequiredAbilities, Scope};
use serde_json::{Value, json};

/// The security scheme of service tokens.
const SERVICE_TOKEN: &str = "credentialFlowBearer";
/// The security scheme of user tokens.
const USER_TOKEN: &str = "resourceOwnerFlowBearer";
/// The operations whose body is written inline, with its title: generators of clients name classes and parameters
/// after it (contract 12).
const IN_PLACE: [(&str, Option<&str>); 13] = [
    ("createDraftProposal", Some("Create Draft Proposal Payload")),
    ("createRole", None),
    ("generateMagicLink", Some("Generate Magic Link Payload")),
    ("introspectToken", Some("Introspect Token")),
    ("attachmentsDirectUpload", None),
    ("setComponentExtendedData", None),
    ("setMeetingExtendedData", None),
    ("setOrganizationExtendedData", Some("User Extended Data Payload")),
    ("setProposalExtendedData", None),
    ("setSpaceExtendedData", None),
    ("setUserExtendedData", Some("User Extended Data Payload")),
    ("updateDraftProposal", Some("Update Draft Proposal Payload")),
    ("updateOrganization", Some("Update Organization Payload")),
];

/// The operation of a route. `schemas`: those of the document, by name.
pub(super) fn operation(route: &Route, schemas: &Value) -> Value {
    let access = match route.required_access {
        RequiredAccess::Needs(access) => Some(access),
        RequiredAccess::Open | RequiredAccess::Token | RequiredAccess::NoAction => {
            route.doc.takes_credentials.then_some(Access::ANY_TOKEN)
        }
    };
    let mut operation = json!({
        "operationId": route.id,
        "tags": [tag(&route.path)],
        "summary": route.doc.summary,
        "description": description(route, access),
        "parameters": parameters::all(route, access.is_some()),
        "responses": responses::all(route, access),
        "security": alternatives(route, access),
    });
    if let Some(body) = body(route, schemas) {
        operation["requestBody"] = body;
    }
    operation
}

/// Whether the schema of this name is a body that all its operations write inline.
pub(super) fn is_inline(name: &str, routes: &[&Route]) -> bool {
    let mut operations = routes.iter().filter(|route| route.doc.body.as_deref() == Some(name)).peekable();
    operations.peek().is_some() && operations.all(|route| IN_PLACE.iter().any(|(id, _)| *id == route.id))
}

/// The group of a path: by default its first segment, in words. Generated clients have a class for each (contract 12).
fn tag(path: &str) -> String {
    let group = match path.split('/').nth(1).unwrap_or_default() {
        "oauth" => "OAuth",
        "organizations" if path.contains("/extended_data") => "Organizations Extended Data",
        "me" => "Users",
        "vote_proposals" => "Proposals",
        "questionnaires"
        | "questions"
        | "answer_options"
        | "answers"
        | "submission_requests"
        | "questionnaire_responses" => "Forms",
        "webhook_registrations" | "webhook_events" | "events" => "Webhooks",
        segment => return in_words(segment),
    };
    group.to_owned()
}

/// The body of a route: bytes of any type, or members as JSON. Forms with the same members are in the description only: a
/// generator of Python clients makes invalid code of two content types.
fn body(route: &Route, schemas: &Value) -> Option<Value> {
    if route.handler.unread == UnreadBodies::All {
        let bytes = json!({"*/*": {"schema": {"type": "string", "format": "binary"}}});
        return Some(json!({"description": "The bytes of the file.", "required": true, "content": bytes}));
    }
    let name = route.doc.body.as_deref()?;
    let mut schema = reference(name);
    if let Some((_, title)) = IN_PLACE.iter().find(|(id, _)| *id == route.id) {
        schema = schemas[name].clone();
        match (title, schema.as_object_mut()) {
            (None, Some(members)) => drop(members.remove("title")),
            _ => schema["title"] = json!(title),
        }
    }
    let mut content = json!({"application/json": {"schema": schema}});
    if route.id == "createAttachment" {
        content["multipart/form-data"] = json!({"schema": form(&schemas["attachment_create_attributes"])});
    }
    Some(json!({
        "description": "Form encodings are read too, in bracket notation.",
        "required": !route.doc.body_is_optional,
        "content": content,
    }))
}

/// The form with which a file is attached, of the members of a new attachment. Its parts are described by patterns:
/// texts by language are parts like `title[en]`, and openapi-generator imports a class of named parts that it does not
/// write.
fn form(members: &Value) -> Value {
    let member = |name: &str| &members["properties"][name];
    json!({
        "type": "object",
        "description": "The parts of a new attachment. Required are `file`, which has the name and the bytes of the file, \
                        `attached_to_type`, `attached_to_id`, and `title` and `description`: each one part, or one for \
                        each language, as `title[en]`.",
        "patternProperties": {
            "^file$": {"type": "string", "format": "binary"},
            "^attached_to_type$": member("attached_to_type"),
            r"^(title|description)(\[[A-Za-z-]+\])?$": {"type": "string", "minLength": 1},
            "^(attached_to_id|weight|attachment_collection_id)$": member("attached_to_id"),
        },
    })
}

/// The alternatives of a route: a user token cannot carry the scope of the system, and a service token has no user
/// (contract 02 §1.3). The empty one is without bearer token.
fn alternatives(route: &Route, access: Option<Access>) -> Vec<Value> {
    let schemes: &[&str] = match access {
        None => &[],
        Some(Access { user: true, .. }) => &[USER_TOKEN],
        Some(Access { scope: Some(Scope::System), .. }) => &[SERVICE_TOKEN],
        Some(_) => &[SERVICE_TOKEN, USER_TOKEN],
    };
    let scopes: Vec<&str> = access.and_then(|access| access.scope).map(Scope::as_str).into_iter().collect();
    let without = route.doc.takes_credentials.then(|| json!({}));
    schemes.iter().map(|scheme| json!({*scheme: scopes})).chain(without).collect()
}

fn description(route: &Route, access: Option<Access>) -> String {
    let mut lines: Vec<String> = route.doc.note.into_iter().map(str::to_owned).collect();
    if route.status == StatusCode::ACCEPTED {
        lines.push("Answers with a job at once; `GET /jobs/{id}` shows its result.".to_owned());
    }
    lines.push(access.map_or_else(|| "No token is needed.".to_owned(), rights));
    lines.join("\n\n")
}

fn rights(access: Access) -> String {
    let token = match (access.user, access.scope) {
        (true, _) => "A user token",
        (false, Some(Scope::System)) => "A service token",
        (false, _) => "A token of either flow",
    };
    let scope = access.scope.map_or(String::new(), |scope| format!(" with the scope `{scope}`"));
    let list = |abilities: &[Ability], word: &str| {
        abilities.iter().map(|ability| format!("`{ability}`")).collect::<Vec<_>>().join(word)
    };
    let abilities = match access.abilities {
        RequiredAbilities::Nothing => String::new(),
        RequiredAbilities::All(all) => format!(", of a client that may {}", list(all, " and ")),
        RequiredAbilities::Any(any) => format!(", of a client that may {}", list(any, " or ")),
    };
    format!("{token}{scope}{abilities}.")
}
