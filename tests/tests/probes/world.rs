//! Organizations that are equal in all that need not be unique (hosts, names and ids of clients), with the ids of their records.

use crate::targets::{Target, targets};
use civitas_tests::service::{BASE, CITIES, Client, SYSTEM_CLIENTS, Service};
use civitas_tests::{Database, Engine};
use reqwest::Method;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fmt::Write;

/// The organizations.
pub const ORGANIZATIONS: usize = 100;
/// The first of them have records of every kind.
pub const FULL: usize = 3;
/// Questionnaires of an organization.
const FORMS: &str = include_str!("../../fixtures/forms.ndjson");
/// The records of the city that every organization has.
const COMMON: &[&str] = &[
    "city",
    "maryadmin",
    "luisortega",
    "full",
    "system",
    "streets",
    "council",
    "collect",
    "voting",
    "ideas",
    "news",
    "meetings",
    "days",
    "p1",
    "p2",
    "v1",
    "item",
    "map",
];
/// The records that [`CITIES`] does not have; `§` is the organization.
const MORE: &str = r#"
{"type": "proposal", "ref": "norasdraft", §, "component": "ideas", "title": {"en": "Draft"}, "body": {"en": "B"}, "authors": ["norablum"], "api_client": "full"}
{"type": "post", "ref": "item", §, "component": "news", "title": {"en": "Item"}, "body": {"en": "B"}, "author": "maryadmin", "published_at": "2026-02-01T08:00:00Z"}
{"type": "post", "ref": "unfinished", §, "component": "news", "title": {"en": "Unfinished"}, "body": {"en": "B"}, "author": "norablum"}
{"type": "attachment_collection", "ref": "plans", §, "attached_to": {"type": "proposal", "ref": "p1"}, "name": {"en": "Plans"}}
{"type": "attachment", "ref": "map", §, "attached_to": {"type": "space", "ref": "streets"}, "title": {"en": "Map"}, "link": "https://maps.example/streets"}
{"type": "attachment", "ref": "plan", §, "attached_to": {"type": "proposal", "ref": "p1"}, "title": {"en": "Plan"}, "collection": "plans", "data": "aGVsbG8gd29ybGQK", "filename": "plan.txt"}
{"type": "attachment", "ref": "photo", §, "attached_to": {"type": "proposal", "ref": "p1"}, "title": {"en": "Photo"}, "data": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "filename": "photo.png"}
{"type": "webhook_registration", "ref": "hook", §, "api_client": "full", "url": "https://hooks.example/civitas", "subscriptions": ["proposal_creation.succeeded"], "signing_secret": "a-signing-secret-of-the-organization"}
"#;

/// The host of an organization without `.test`, and its ref in the archive.
pub fn name(organization: usize) -> String {
    format!("h{organization:02}")
}

/// The archive of all organizations.
fn archive() -> String {
    let mut archive = String::new();
    let source: Vec<String> = [CITIES, FORMS, SYSTEM_CLIENTS].concat().lines().map(str::to_owned).collect();
    let of_city =
        |line: &&String| line.contains(r#""organization": "city""#) || line.contains(r#""ref": "city""#);
    let mut template: Vec<String> = source.iter().filter(of_city).cloned().collect();
    template.extend(MORE.trim().lines().map(|line| line.replace('§', r#""organization": "city""#)));
    for organization in 0..ORGANIZATIONS {
        let name = name(organization);
        for line in &template {
            let record: Value = serde_json::from_str(line).expect("a record");
            let reference = record["ref"].as_str().expect("a ref");
            if organization >= FULL && !COMMON.contains(&reference) {
                continue;
            }
            let line = line
                .replace(r#""organization": "city""#, &format!(r#""organization": "{name}""#))
                .replace(r#""ref": "city""#, &format!(r#""ref": "{name}""#))
                .replace("city.test", &format!("{name}.test"))
                .replace("_city_", &format!("_{name}_"))
                // Names of organizations are unique, as hosts and ids of clients are.
                .replace("\"Riverton\"", &format!("\"Riverton {name}\""))
                .replace("\"Riverville\"", &format!("\"Riverville {name}\""));
            writeln!(archive, "{line}").expect("memory");
        }
    }
    archive
}

/// A caller of an organization.
#[derive(Clone)]
pub struct Actor {
    /// The name, the same in each organization.
    pub name: &'static str,
    /// The client with its token.
    pub client: Client,
}

/// The server with its organizations.
pub struct World {
    /// The server.
    pub service: Service,
    /// What is probed; `/files` excepted.
    pub targets: Vec<Target>,
    /// The callers of each organization.
    pub actors: Vec<Vec<Actor>>,
    /// The ids of the records of each organization, by kind.
    records: Vec<HashMap<String, Vec<String>>>,
}

impl World {
    /// One on this engine; `None` if it is not available and not required.
    pub async fn fresh(engine: Engine) -> Option<Self> {
        let database = Database::fresh(engine).await?;
        let settings = [("max_failed_authentications_per_minute", "1000000")];
        let service = Service::over(database, &archive(), &settings).await;
        let targets = targets().into_iter().filter(|target| target.place != "file").collect();
        let mut world = Self { service, targets, actors: Vec::new(), records: Vec::new() };
        let http = world.service.anonymous();
        for organization in 0..ORGANIZATIONS {
            world.actors.push(actors(&http, organization).await);
            let mut records = imported(&world.service.refs[name(organization)]);
            if organization < FULL {
                made(&world.actors[organization], &mut records).await;
            }
            world.records.push(records);
        }
        Some(world)
    }

    /// The ids of an organization's records of a kind.
    pub fn records(&self, organization: usize, kind: &str) -> &[String] {
        self.records[organization].get(kind).map_or(&[], Vec::as_slice)
    }

    /// A caller of an organization.
    pub fn actor(&self, organization: usize, name: &str) -> Option<&Client> {
        self.actors[organization].iter().find(|actor| actor.name == name).map(|actor| &actor.client)
    }
}

async fn actors(http: &Client, organization: usize) -> Vec<Actor> {
    let (organization_name, scope) =
        (name(organization), "public proposals meetings blogs oauth roles surveys attachments webhooks");
    let at = http.of_host(&format!("{organization_name}.test"));
    let credentials = |client: &str, scope: &str| {
        json!({"grant_type": "client_credentials", "client_id": format!("id_{organization_name}_{client}"),
            "client_secret": format!("key_{organization_name}_{client}"), "scope": scope})
    };
    let names: &[&str] =
        if organization < FULL { &["norablum", "luisortega", "maryadmin"] } else { &["maryadmin"] };
    let mut actors = Vec::new();
    for nickname in names {
        let mut asked = credentials("full", scope);
        for (member, value) in
            [("grant_type", "password"), ("auth_type", "impersonate"), ("username", nickname)]
        {
            asked[member] = json!(value);
        }
        actors.push(Actor { name: nickname, client: at.with_token(&asked).await });
    }
    actors.push(Actor { name: "machine", client: at.with_token(&credentials("full", scope)).await });
    actors.push(Actor { name: "system", client: at.with_token(&credentials("system", "system")).await });
    actors
}

/// The ids of the import's report, by type; those of spaces also by manifest.
fn imported(refs: &Value) -> HashMap<String, Vec<String>> {
    let manifests: HashMap<String, String> = CITIES
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("a record"))
        .filter(|record| record["type"] == "space")
        .map(|record| (record["ref"].to_string(), record["manifest"].as_str().expect("a text").to_owned()))
        .collect();
    let mut records: HashMap<String, Vec<String>> = HashMap::new();
    for (kind, ids) in refs.as_object().expect("refs") {
        for (reference, id) in ids.as_object().expect("ids") {
            records.entry(kind.clone()).or_default().push(id.to_string());
            if kind == "space" {
                let manifest = &manifests[&json!(reference).to_string()];
                records.entry(format!("space {manifest}")).or_default().push(id.to_string());
            }
        }
    }
    records
}

/// What no archive has: jobs, uploads, links; and ids that only the interface returns.
async fn made(actors: &[Actor], records: &mut HashMap<String, Vec<String>>) {
    let of = |name: &str| &actors.iter().find(|actor| actor.name == name).expect("a caller").client;
    let (nora, mary) = (of("norablum"), of("maryadmin"));
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let job = nora.put("/me/extended_data", &json!({"data": {"k": 1}})).await.is(202);
    nora.finished(&job).await;
    let answers = json!({"data": {"type": "questionnaire_response", "attributes": {"answers": {}},
        "relationships": {"questionnaire": {"data": {"type": "questionnaires",
        "id": records["questionnaire"][0]}}}}, "meta": {"locale": "en", "client_ip": "203.0.113.4"}});
    let submitted = nora.post("/answers", &answers).await;
    let submitted = text(&submitted.body["job_id"]);
    records.insert("submission".to_owned(), vec![submitted.clone()]);
    records.insert("job".to_owned(), vec![text(&job.body["job_id"]), submitted]);
    let upload = "filename=note.txt&byte_size=12&checksum=b1kCrCNwJL3QwXbLkwY9xA%3D%3D";
    let staged = mary.post(&format!("/attachments/direct_upload?{upload}"), &json!({})).await.is(201);
    records.insert("upload".to_owned(), vec![text(&staged.body["signed_id"])]);
    let link = nora.post("/me/magic_links", &json!({})).await.is(201);
    records.insert("magic link".to_owned(), vec![text(&link.data()["attributes"]["token"])]);
    let roles = mary.get("/roles").await.is(200);
    let roles = roles.data().as_array().expect("roles").iter().map(|role| text(&role["id"])).collect();
    records.insert("role".to_owned(), roles);
    let files = mary.get("/attachments").await.is(200);
    let mut keys = Vec::new();
    for attachment in files.data().as_array().expect("attachments") {
        for member in ["url", "thumbnail_url"] {
            let url = attachment["attributes"][member].as_str().unwrap_or_default();
            keys.extend(url.split_once("/files/").map(|(_, path)| path.to_owned()));
        }
    }
    assert!(keys.iter().any(|key| key.contains("/thumbnail/")), "a file has a thumbnail: {keys:?}");
    for key in &keys {
        mary.raw(Method::GET, &format!("/files/{key}"), &[], None).await.is(200);
    }
    records.insert("file".to_owned(), keys);
    let job = mary.raw(Method::GET, &format!("{BASE}/jobs/{}", records["job"][0]), &[], None).await;
    job.is(200);
}
