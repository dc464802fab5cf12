//! Where a request can name a record: path parameters of the router, query parameters and bodies of the document.
//! A route that is added is here without a change; a parameter of an unknown kind fails the test.

use civitas_api::{RequiredAccess, routes};
use civitas_application::SiteSettings;
use reqwest::Method;
use serde_json::{Value, json};

/// The kinds of spaces.
const MANIFESTS: [&str; 4] = ["participatory_processes", "assemblies", "conferences", "initiatives"];
/// Where the id of the probe stands in a path, query or body.
pub const PROBE: &str = "\u{1}";

/// One place of one operation where a request names a record.
#[derive(Debug, Clone)]
pub struct Target {
    /// `path`, `query`, `body`, or `file`.
    pub place: &'static str,
    /// The verb.
    pub method: Method,
    /// The path below the base, with [`PROBE`] for the id of the probe and `{kind}` for those of own records.
    pub path: String,
    /// The body; the same for its texts.
    pub body: Option<Value>,
    /// The kind of the record.
    pub kind: String,
}

impl Target {
    /// The kinds of own records in path and body.
    pub fn needs(&self) -> Vec<String> {
        let text = format!("{} {}", self.path, self.body.as_ref().map(Value::to_string).unwrap_or_default());
        text.split("<<").skip(1).filter_map(|rest| Some(rest.split_once(">>")?.0.to_owned())).collect()
    }

    /// Whether it can be probed where few kinds of records are.
    pub fn is_plain(&self) -> bool {
        self.needs().is_empty()
    }
}

/// A placeholder for an own record.
fn own(kind: &str) -> String {
    format!("<<{kind}>>")
}

/// The kind of the record that a parameter of a path names; `None` for a word that is no id.
fn kind_of_path(path: &str, parameter: &str) -> Option<String> {
    let segments: Vec<&str> = path.split('/').skip(1).collect();
    let kind = match (segments[0], parameter) {
        (_, "event_type") => return None,
        ("attachments", "signed_id") => "upload",
        ("me", "magic_token") => "magic link",
        (_, "id") => return Some(kind_of_resource(segments[0], segments.get(1).copied())),
        _ => panic!("the path {path} has a parameter {parameter} of an unknown kind: extend the probes"),
    };
    Some(kind.to_owned())
}

/// The kind of `id` below a first segment.
fn kind_of_resource(first: &str, second: Option<&str>) -> String {
    let kind = match first {
        "proposals" | "draft_proposals" => "proposal",
        "vote_proposals" => "vote",
        "components" => "component",
        "spaces" => return format!("space {}", second.unwrap_or_default()),
        "meetings" => "meeting",
        "blogs" => "post",
        "attachments" => "attachment",
        "questionnaires" => "questionnaire",
        "questions" => "question",
        "answer_options" => "answer_option",
        "questionnaire_responses" => "questionnaire_response",
        "submission_requests" => "submission",
        "jobs" => "job",
        "organizations" => "organization",
        "webhook_registrations" => "webhook_registration",
        "roles" => "role",
        "users" => "user",
        _ => panic!("records of /{first} are of an unknown kind: extend the probes"),
    };
    kind.to_owned()
}

/// The kind of a member or parameter with this name; `None` when it is no id.
fn kind_of_name(path: &str, name: &str) -> Option<String> {
    let name = name.strip_prefix("filter[").map_or(name, |rest| rest.split(']').next().unwrap_or_default());
    let mut name = name;
    let predicates =
        ["_not_eq", "_not_in", "_eq", "_in", "_lt", "_lteq", "_gt", "_gteq", "_present", "_blank"];
    for predicate in predicates {
        name = name.strip_suffix(predicate).unwrap_or(name);
    }
    let kind = match name {
        // Answers have no operation by id.
        "id" if path == "/answers" => return None,
        "id" => return Some(kind_of_resource(path.split('/').nth(1)?, None).trim().to_owned()),
        "participatory_space_id" | "space_id" | "resource_id" => "space",
        "component_id" => "component",
        "proposal_id" | "attached_to_id" => "proposal",
        "attachment_collection_id" => "attachment_collection",
        "user_id" | "creator_id" | "author_id" => "user",
        "questionnaire_id" => "questionnaire",
        "question_id" => "question",
        "signed_id" => "upload",
        // Ids of clients are names, and their tokens have probes of their own; events are not looked up by rows.
        "client_id" | "last_event_id" => return None,
        _ if name.ends_with("_id") || name.ends_with("_ids") => {
            panic!("the parameter {name} of {path} is of an unknown kind: extend the probes")
        }
        _ => return None,
    };
    Some(kind.to_owned())
}

/// A path with its placeholders: `{id}` is the probe, or an own record.
fn path_of(path: &str, is_probe: bool) -> Option<(String, String)> {
    let mut kind = String::new();
    let mut all = String::new();
    for segment in path.split('/').skip(1) {
        all.push('/');
        match segment.strip_prefix('{').and_then(|segment| segment.strip_suffix('}')) {
            None => all.push_str(segment),
            Some(parameter) => {
                kind = kind_of_path(path, parameter)?;
                all.push_str(&if is_probe { PROBE.to_owned() } else { own(&kind) });
            }
        }
    }
    Some((all, kind))
}

/// A path for each kind of space.
fn by_manifest(path: &str) -> Vec<String> {
    if path.contains("{manifest}") {
        MANIFESTS.iter().map(|manifest| path.replace("{manifest}", manifest)).collect()
    } else {
        vec![path.to_owned()]
    }
}

fn document() -> Value {
    serde_json::from_str(&civitas_api::openapi(&SiteSettings::default())).expect("the document is JSON")
}

/// The example of the body of an operation.
fn example(document: &Value, operation: &Value) -> Option<Value> {
    let reference = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"].as_str()?;
    let schema = document.pointer(reference.strip_prefix('#')?)?;
    schema["examples"].as_array().and_then(|examples| examples.first()).cloned()
}

/// Extended data is read and written at a path in the query.
fn with_query(path: String) -> String {
    if path.ends_with("/extended_data") { format!("{path}?object_path=k") } else { path }
}

/// All targets.
pub fn targets() -> Vec<Target> {
    let document = document();
    let mut targets = path_targets(&document);
    for (path, item) in document["paths"].as_object().expect("paths") {
        for (verb, operation) in item.as_object().expect("operations") {
            let method = Method::from_bytes(verb.to_ascii_uppercase().as_bytes()).expect("a verb");
            for path in by_manifest(path) {
                targets.extend(query_targets(&method, &path, operation));
                if let Some(body) = example(&document, operation).filter(|_| !path.starts_with("/oauth/")) {
                    targets.extend(body_targets(&method, &path, &body));
                }
            }
        }
    }
    targets.push(Target {
        place: "file",
        method: Method::GET,
        path: format!("/files/{PROBE}"),
        body: None,
        kind: "file".to_owned(),
    });
    targets
}

fn path_targets(document: &Value) -> Vec<Target> {
    let mut targets = Vec::new();
    for route in routes()
        .iter()
        .filter(|route| route.required_access != RequiredAccess::NoAction && route.path.contains('{'))
    {
        let verb = route.method.as_str();
        let documented = if verb == "PATCH" { "put" } else { &verb.to_ascii_lowercase() };
        let body = example(document, &document["paths"][&route.path][documented]);
        let body = body.or_else(|| (verb != "GET").then(|| json!({})));
        for path in by_manifest(&route.path) {
            let Some((filled, kind)) = path_of(&path, true) else { continue };
            let mut body = body.clone();
            if let Some(id) = body.as_mut().and_then(|body| body.pointer_mut("/data/id")) {
                *id = json!(PROBE);
            }
            let method = Method::from_bytes(verb.as_bytes()).expect("a verb");
            targets.push(Target { place: "path", method, path: with_query(filled), body, kind });
        }
    }
    targets
}

fn query_targets(method: &Method, path: &str, operation: &Value) -> Vec<Target> {
    let mut targets = Vec::new();
    if *method != Method::GET || path == "/events" {
        return targets;
    }
    let Some((filled, _)) = path_of(path, false) else { return targets };
    let parameters = operation["parameters"].as_array().into_iter().flatten();
    for name in parameters.filter(|p| p["in"] == "query").filter_map(|p| p["name"].as_str()) {
        if ["_lt]", "_lteq]", "_gt]", "_gteq]", "_present]", "_blank]"]
            .iter()
            .any(|predicate| name.ends_with(predicate))
        {
            continue;
        }
        let kinds = match kind_of_name(path, name) {
            Some(kind) if kind == "space" && name == "space_id" => {
                MANIFESTS.map(|manifest| format!("space {manifest}")).to_vec()
            }
            Some(_) if name.contains("attached_to_id") => {
                ["proposal", "meeting", "post", "organization"].map(str::to_owned).to_vec()
            }
            Some(kind) => vec![kind],
            None => continue,
        };
        for kind in kinds {
            let manifest = kind.strip_prefix("space ").filter(|_| name == "space_id");
            let manifest = manifest.map(|m| format!("space_manifest={m}&")).unwrap_or_default();
            let path = format!("{filled}?{manifest}{name}={PROBE}");
            targets.push(Target { place: "query", method: Method::GET, path, body: None, kind });
        }
    }
    targets
}

/// Where a body has ids: pointer and kind.
fn ids_in(path: &str, pointer: &str, body: &Value, found: &mut Vec<(String, String)>) {
    match body {
        Value::Object(members) => {
            for (name, member) in members {
                let at = format!("{pointer}/{name}");
                let related = pointer.strip_suffix("/data").and_then(|p| p.rsplit_once("relationships/"));
                match (name.as_str(), related) {
                    ("id", Some((_, relation))) => found.push((at, relation.to_owned())),
                    // That of the path.
                    ("id", None) => {}
                    _ if pointer.ends_with("/answers") => found.push((at, "question".to_owned())),
                    _ => match kind_of_name(path, name).filter(|_| !member.is_object()) {
                        Some(kind) if name == "resource_id" => found.push((at, format!("{kind} assemblies"))),
                        Some(kind) => found.push((at, kind)),
                        None => ids_in(path, &at, member, found),
                    },
                }
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                ids_in(path, &format!("{pointer}/{index}"), item, found);
            }
        }
        _ => {}
    }
}

fn body_targets(method: &Method, path: &str, body: &Value) -> Vec<Target> {
    let mut found = Vec::new();
    ids_in(path, "", body, &mut found);
    let Some((filled, path_kind)) = path_of(path, false) else { return Vec::new() };
    let mut targets = Vec::new();
    for (probed, kind) in &found {
        let mut body = body.clone();
        for (pointer, kind) in &found {
            let id = if pointer == probed { PROBE.to_owned() } else { own(kind) };
            if pointer.contains("/answers/") {
                let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
                let answers = body.pointer_mut(parent).and_then(Value::as_object_mut).expect("answers");
                answers.remove(key);
                if pointer == probed {
                    answers.insert(id, json!("A text"));
                }
            } else {
                *body.pointer_mut(pointer).expect("a member") = json!(id);
            }
        }
        if let Some(id) = body.pointer_mut("/data/id") {
            *id = json!(own(&path_kind));
        }
        let (method, path) = (method.clone(), with_query(filled.clone()));
        targets.push(Target { place: "body", method, path, body: Some(body), kind: kind.clone() });
    }
    targets
}
