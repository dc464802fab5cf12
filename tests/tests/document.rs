//! The OpenAPI document: it, the router and the contract's list of operations are the same set, and it is sound.

mod bodies;
mod clients;
mod parameters;
mod variants;

use civitas_tests::document::Validator;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::LazyLock;

static KNOWN: LazyLock<Validator> = LazyLock::new(Validator::new);
const CONTRACT: &str = include_str!("../operations.txt");

fn document() -> &'static Value {
    KNOWN.document()
}

/// `METHOD path operationId` of every operation of the document.
fn documented() -> Vec<String> {
    operations().map(|(verb, path, o)| line(&verb, path, o["operationId"].as_str().unwrap_or("-"))).collect()
}

fn line(method: &str, path: &str, id: &str) -> String {
    format!("{} {path} {id}", method.to_ascii_uppercase())
}

fn operations() -> impl Iterator<Item = (String, &'static str, &'static Value)> {
    let paths = document()["paths"].as_object().expect("paths");
    paths.iter().flat_map(|(path, item)| {
        let operations = item.as_object().expect("a path item");
        operations.iter().map(move |(verb, operation)| (verb.clone(), path.as_str(), operation))
    })
}

fn operation(id: &str) -> &'static Value {
    operations().find(|(_, _, o)| o["operationId"] == id).unwrap_or_else(|| panic!("no {id}")).2
}

fn parameters(operation: &Value) -> impl Iterator<Item = &Value> {
    operation["parameters"].as_array().into_iter().flatten()
}

fn parameter(id: &str, name: &str) -> &'static Value {
    let found = parameters(operation(id)).find(|p| p["name"] == name);
    found.unwrap_or_else(|| panic!("{id} has no parameter {name}"))
}

fn contract() -> BTreeSet<String> {
    CONTRACT.lines().filter(|l| !l.starts_with('#') && !l.is_empty()).map(str::to_owned).collect()
}

/// Every value under this key, anywhere.
fn everywhere<'a>(key: &str, value: &'a Value, found: &mut Vec<&'a Value>) {
    match value {
        Value::Object(members) => {
            found.extend(members.get(key));
            members.values().for_each(|member| everywhere(key, member, found));
        }
        Value::Array(items) => items.iter().for_each(|item| everywhere(key, item, found)),
        _ => {}
    }
}

#[test]
fn document_and_contract_list_the_same_operations() {
    let documented = documented();
    let set: BTreeSet<String> = documented.iter().cloned().collect();
    assert_eq!(set.len(), documented.len(), "one line an operation");
    assert_eq!(set, contract());
}

#[test]
fn the_router_has_each_operation_but_those_of_the_service_itself() {
    let named = civitas_api::routes().into_iter().filter(|route| !route.id.is_empty());
    let routed: BTreeSet<String> = named.map(|r| line(r.method.as_str(), &r.path, r.id)).collect();
    let of_the_service = [
        "GET / getLandingPage",
        "GET /docs getDocumentationPage",
        "GET /openapi.json getOpenapiDocument",
        "GET /health getHealth",
    ];
    let expected: BTreeSet<String> =
        contract().into_iter().filter(|l| !of_the_service.contains(&l.as_str())).collect();
    assert_eq!(routed, expected);
}

#[test]
fn it_says_what_it_is() {
    let document = document();
    assert_eq!(document["openapi"], "3.1.0");
    assert_eq!(document["info"]["version"], "0.3.10");
    let servers: Vec<&Value> = document["servers"].as_array().unwrap().iter().map(|s| &s["url"]).collect();
    assert_eq!(servers, ["https://{host}/api/rest_full/v0.3", "http://localhost:{port}/api/rest_full/v0.3"]);
    assert_eq!(document["servers"][1]["variables"]["port"]["default"], "3000");
    assert_eq!(document["info"]["license"]["identifier"], "Apache-2.0");
    assert!(document["info"]["contact"].is_object());
    for scheme in ["credentialFlowBearer", "resourceOwnerFlowBearer"] {
        let found = &document["components"]["securitySchemes"][scheme];
        assert_eq!((&found["type"], &found["scheme"]), (&json!("http"), &json!("bearer")), "{scheme}");
        assert_eq!(found["bearerFormat"], "JWT");
    }
}

#[test]
fn every_reference_leads_somewhere() {
    let mut references = Vec::new();
    everywhere("$ref", document(), &mut references);
    assert!(references.len() > 200, "only {} references", references.len());
    for reference in references {
        let reference = reference.as_str().expect("a text");
        let pointer = reference.strip_prefix('#').expect("inside the document");
        assert!(document().pointer(pointer).is_some(), "{reference} has no target");
    }
}

#[test]
fn operations_are_told_apart_by_their_ids() {
    let ids: Vec<&str> = operations().filter_map(|(_, _, o)| o["operationId"].as_str()).collect();
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "{ids:?}");
}

#[test]
fn parameters_of_paths_are_declared_once_and_no_others() {
    for (verb, path, operation) in operations() {
        let in_template: Vec<&str> =
            path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')).collect();
        let declared = parameters(operation).filter(|p| p["in"] == "path");
        let names: Vec<&str> = declared
            .map(|p| {
                assert_eq!(p["required"], true, "{verb} {path}");
                p["name"].as_str().unwrap()
            })
            .collect();
        assert_eq!(names, in_template, "{verb} {path}");
        let all: Vec<_> = parameters(operation).map(|p| (p["in"].as_str(), p["name"].as_str())).collect();
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len(), "{verb} {path}: {all:?}");
    }
}

#[test]
fn each_operation_is_described_and_grouped() {
    let tags: Vec<&Value> = document()["tags"].as_array().unwrap().iter().map(|t| &t["name"]).collect();
    for (verb, path, operation) in operations() {
        assert!(operation["summary"].as_str().is_some_and(|s| !s.is_empty()), "{verb} {path}");
        assert!(operation["tags"].as_array().unwrap().iter().all(|t| tags.contains(&t)), "{verb} {path}");
        for (status, response) in operation["responses"].as_object().unwrap() {
            assert!(response["description"].is_string(), "{verb} {path} {status}");
        }
        assert!(tags.contains(&&json!("Webhook Events")), "events have a group too");
        for parameter in parameters(operation) {
            let says = parameter["description"].as_str().unwrap_or_default();
            assert!(!says.is_empty(), "{verb} {path}: {parameter}");
        }
    }
}

#[test]
fn every_schema_is_sound_and_has_a_title() {
    for (name, schema) in document()["components"]["schemas"].as_object().unwrap() {
        let meta = jsonschema::draft202012::meta::validate(schema);
        assert!(meta.is_ok(), "{name}: {}", meta.unwrap_err());
        assert!(schema["title"].is_string(), "{name} has no title");
        // Compiles, and is no schema that takes everything.
        assert!(!KNOWN.misfits_of(name, &json!([[]])).is_empty(), "{name} takes anything");
    }
}

#[test]
fn every_example_fits_its_schema() {
    let mut seen = 0;
    for (name, schema) in document()["components"]["schemas"].as_object().unwrap() {
        for example in schema["examples"].as_array().into_iter().flatten() {
            seen += 1;
            assert_eq!(KNOWN.misfits_of(name, example), Vec::<String>::new(), "{name}: {example:#}");
        }
    }
    assert!(seen >= 8, "only {seen} examples");
}

#[test]
fn tokens_follow_from_the_rights_of_a_route() {
    let (service, user) = ("credentialFlowBearer", "resourceOwnerFlowBearer");
    let both = |scope: &[&str]| json!([{service: scope}, {user: scope}]);
    assert_eq!(operation("listProposals")["security"], both(&["proposals"]));
    assert_eq!(operation("searchSpaces")["security"], both(&["public"]));
    assert_eq!(operation("createDraftProposal")["security"], json!([{user: ["proposals"]}]));
    assert_eq!(operation("deleteProposalVote")["security"], json!([{user: ["proposals"]}]));
    assert_eq!(operation("listJobs")["security"], both(&[]));
    let with_credentials = json!([{service: []}, {user: []}, {}]);
    assert_eq!(operation("introspectToken")["security"], with_credentials, "or those of the client");
    for open in ["createToken", "revokeToken", "getJob", "getHealth", "getOpenapiDocument"] {
        assert_eq!(operation(open)["security"], json!([]), "{open}");
    }
    for (verb, path, operation) in operations() {
        let authenticated = operation["security"] != json!([]);
        let header = parameters(operation).find(|p| p["name"] == "Authorization");
        let ignores_it = operation["operationId"] == "signInWithMagicLink";
        assert_eq!(header.is_some(), authenticated || ignores_it, "{verb} {path}");
        let optional = header.is_none_or(|h| h["in"] == "header" && h["required"] != true);
        assert!(optional, "{verb} {path}");
    }
}

#[test]
fn lists_document_their_pages_and_every_filter() {
    for list in [
        "listProposals",
        "searchSpaces",
        "listAssemblies",
        "searchComponents",
        "listProposalVotes",
        "listJobs",
    ] {
        assert_eq!(parameter(list, "page")["schema"]["minimum"], 1, "{list}");
        let length = &parameter(list, "per_page")["schema"];
        assert_eq!([&length["minimum"], &length["maximum"], &length["default"]], [1, 100, 20], "{list}");
    }
    let locales = parameter("listProposals", "locales[]");
    assert_eq!((&locales["style"], &locales["explode"]), (&json!("form"), &json!(true)));
    assert_eq!(locales["schema"]["items"]["$ref"], "#/components/schemas/locale");
    assert_eq!(parameter("listProposals", "filter[state_not_in][]")["schema"]["type"], "array");
    assert_eq!(parameter("listProposals", "filter[id_gt]")["schema"]["type"], "integer");
    assert_eq!(parameter("listProposals", "filter[voted_weight_gt]")["schema"]["type"], "string");
    assert_eq!(parameter("searchComponents", "filter[name_matches]")["schema"]["type"], "string");
    assert_eq!(parameter("searchSpaces", "filter[slug_blank]")["schema"]["type"], "boolean");
    let kinds = &parameter("searchSpaces", "filter[manifest_name_eq]")["schema"]["enum"];
    assert_eq!(*kinds, json!(["participatory_processes", "assemblies", "conferences", "initiatives"]));
    assert_eq!(parameter("getJob", "id")["schema"]["format"], "uuid");
    assert_eq!(parameter("getProposal", "id")["schema"]["format"], "int64");
}

#[test]
fn events_are_a_stream_a_document_and_lines() {
    let content = &operation("streamEvents")["responses"]["200"]["content"];
    let types: Vec<&String> = content.as_object().unwrap().keys().collect();
    assert_eq!(types, ["application/json", "application/x-ndjson", "text/event-stream"]);
    assert_eq!(content["application/json"]["schema"]["$ref"], "#/components/schemas/event_page");
    assert_eq!(parameter("streamEvents", "format")["schema"]["enum"], json!(["json", "ndjson"]));
    let of_job = &operation("streamJob")["responses"]["200"]["content"];
    assert_eq!(of_job.as_object().unwrap().keys().collect::<Vec<_>>(), ["text/event-stream"]);
}

#[test]
fn the_shared_types_have_their_published_names_and_values() {
    let schemas = &document()["components"]["schemas"];
    for name in [
        "translated_prop",
        "locale",
        "creation_date",
        "edition_date",
        "publication_date",
        "space_manifest",
        "space_type",
        "space_classes",
        "component_manifest",
        "component_type",
        "resource_manifest",
        "component_relationship_identifier",
        "resource_relationship_identifier",
        "time_zone",
        "health",
        "error",
        "resource_link",
        "get_action_link",
        "post_action_link",
        "WebhookDeliveryEnvelope",
    ] {
        assert!(schemas.get(name).is_some(), "{name}");
    }
    assert_eq!(schemas["locale"]["enum"], json!(["en", "fr", "es"]));
    assert_eq!(schemas["time_zone"]["enum"].as_array().unwrap().len(), 136);
    assert_eq!(schemas["component_type"]["enum"].as_array().unwrap().len(), 10);
    assert_eq!(schemas["health"]["properties"]["message"]["enum"], json!(["OK", "ERROR"]));
}

#[test]
fn closed_objects_are_closed() {
    let schemas = &document()["components"]["schemas"];
    for name in [
        "translated_prop",
        "component_relationship_identifier",
        "resource_relationship_identifier",
        "resource_link",
        "get_action_link",
        "post_action_link",
        "error",
        "error_detail",
        "collection_meta",
        "password_grant_impersonate",
        "proposal",
        "space",
        "proposal_component",
        "draft_proposal",
        "vote_proposal",
    ] {
        assert_eq!(schemas[name]["additionalProperties"], false, "{name}");
    }
    assert_eq!(schemas["proposal_component"]["properties"]["meta"]["additionalProperties"], false);
    assert_ne!(schemas["client_credential"]["additionalProperties"], false, "other keys are passed over");
}

#[test]
fn what_is_optional_is_absent_and_never_null() {
    let link = |extra: Value| {
        let mut link =
            json!({"href": "https://a", "title": "A", "rel": "resource", "meta": {"action_method": "GET"}});
        link.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        KNOWN.misfits_of("resource_link", &link)
    };
    assert_eq!(link(json!({})), Vec::<String>::new());
    assert_eq!(link(json!({"describedby": "https://a/schema"})), Vec::<String>::new());
    assert!(!link(json!({"describedby": null})).is_empty());
    let meta = json!({"page": 1, "per_page": 20, "has_more": false, "next": null, "prev": null});
    assert_eq!(
        KNOWN.misfits_of("collection_meta", &meta),
        Vec::<String>::new(),
        "what is required may be null"
    );
}

#[test]
fn each_event_is_a_delivery_of_its_own() {
    let events = document()["webhooks"].as_object().unwrap();
    let mapping = &document()["components"]["schemas"]["WebhookDeliveryEnvelope"]["discriminator"]["mapping"];
    let mapped: Vec<&String> = mapping.as_object().unwrap().keys().collect();
    assert_eq!(events.keys().collect::<Vec<_>>(), mapped);
    for (event, item) in events {
        // A generator makes a class of items that are written in place, and it does not compile.
        let item = document().pointer(item["$ref"].as_str().unwrap().trim_start_matches('#')).unwrap();
        assert_eq!(item["post"]["tags"], json!(["Webhook Events"]));
        let schema = &item["post"]["requestBody"]["content"]["application/json"]["schema"]["$ref"];
        assert_eq!(*schema, mapping[event], "{event}");
    }
    let user = json!({"type": "user.created", "data": {"id": "17", "type": "user", "attributes": {
        "name": "Ada Martin", "nickname": "ada_martin", "personal_url": null, "email": "ada@example.org",
        "about": null, "extended_data": {}, "locale": "fr", "created_at": "2026-03-02T09:59:00Z",
        "updated_at": "2026-03-02T09:59:00Z"}, "relationships": {"roles": {"data": []}},
        "meta": {"blocked": false, "locked": false}}});
    assert_eq!(KNOWN.misfits_of("WebhookDeliveryEnvelope", &user), Vec::<String>::new());
    let mut strange = user;
    strange["type"] = json!("user.deleted");
    assert!(!KNOWN.misfits_of("WebhookDeliveryEnvelope", &strange).is_empty());
}

#[test]
fn the_validator_finds_the_operation_of_a_path_and_holds_answers_against_it() {
    let error = json!({"error": "404: Resource not found", "error_description": "Resource not found"});
    let fine = Vec::<String>::new();
    assert_eq!(KNOWN.faults("GET", "/proposals/7?locales[]=en", 404, &error), fine);
    assert_eq!(KNOWN.faults("GET", "/api/rest_full/v0.3/proposals/{id}", 304, &Value::Null), fine);
    assert_eq!(KNOWN.faults("DELETE", "/vote_proposals/7/sync", 404, &error), fine, "an alias");
    assert_eq!(KNOWN.faults("GET", "/nowhere", 404, &error), fine, "no operation, and said so");
    assert_eq!(KNOWN.faults("GET", "/health", 503, &json!({"message": "ERROR"})), fine);

    assert!(KNOWN.faults("GET", "/proposals/7", 418, &error)[0].contains("getProposal has no status 418"));
    assert!(KNOWN.faults("GET", "/nowhere", 200, &error)[0].contains("no such operation"));
    assert!(!KNOWN.faults("GET", "/proposals/7", 200, &json!({"data": {}})).is_empty());
    assert!(!KNOWN.faults("GET", "/proposals/7", 200, &Value::Null).is_empty(), "a body must come");
    assert!(!KNOWN.faults("DELETE", "/jobs/7", 204, &error).is_empty(), "no body may come");
    let mut more = error;
    more["trace"] = json!("..");
    assert!(KNOWN.faults("GET", "/proposals/7", 404, &more)[0].contains("trace"), "errors are closed");
}

#[test]
#[should_panic(expected = "the body: ")]
fn the_error_of_a_wrong_answer_is_readable() {
    KNOWN.check("GET", "/health", 200, &json!({"message": "OK", "uptime": 3}));
}
