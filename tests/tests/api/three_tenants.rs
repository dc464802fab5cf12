//! Three organizations in which everything has the same name: a foreign record cannot be told from a missing one.

use civitas_api::{RequiredAccess, Route, routes};
use civitas_tests::service::{CITIES, Client, SYSTEM_CLIENTS, Service};
use reqwest::Method;
use serde_json::json;

/// `village.test`: the city once more under another host and name, its clients under other ids.
fn archive() -> String {
    let village: Vec<String> = CITIES
        .lines()
        .filter(|line| line.contains(r#""organization": "city""#) || line.contains(r#""ref": "city""#))
        .map(|line| line.replace(r#""organization": "city""#, r#""organization": "village""#))
        .map(|line| line.replace(r#""ref": "city""#, r#""ref": "village""#))
        .map(|line| line.replace("city.test", "village.test").replace("_city_", "_village_"))
        .map(|line| line.replace("Riverton", "Hilltop").replace("Riverville", "Surcolline"))
        .collect();
    let meeting = |organization: &str| {
        json!({"type": "meeting", "ref": "kickoff", "organization": organization, "component": "meetings",
            "title": {"en": "Kick-off"}, "start_time": "2026-04-01T17:00:00Z",
            "published_at": "2026-02-01T10:00:00Z"})
    };
    let meetings: Vec<String> = ["city", "village"].iter().map(|o| meeting(o).to_string()).collect();
    format!("{CITIES}{}\n{SYSTEM_CLIENTS}{}\n", village.join("\n"), meetings.join("\n"))
}

/// Which records a path is about, by its first segment: the type of the archive.
fn kind(path: &str) -> Option<&'static str> {
    Some(match path.split('/').nth(1)? {
        "proposals" => "proposal",
        "draft_proposals" => "draft",
        "vote_proposals" => "vote",
        "components" => "component",
        "spaces" => "space",
        "meetings" => "meeting",
        _ => return None,
    })
}

/// A record of the village, and one that does not exist, in a path of the city.
fn pair(service: &Service, route: &Route, kind: &str) -> [String; 2] {
    let reference = match kind {
        "proposal" => ("proposal", "p1"),
        "draft" => ("proposal", "luisdraft"),
        "vote" => ("vote", "v1"),
        "component" if route.path.contains("blog") => ("component", "news"),
        "component" => ("component", "ideas"),
        "meeting" => ("meeting", "kickoff"),
        _ if route.path.contains("assemblies") || route.path.contains("{manifest}") => ("space", "council"),
        _ if route.path.contains("conferences") => ("space", "days"),
        _ if route.path.contains("initiatives") => ("space", "petition"),
        _ => ("space", "streets"),
    };
    let foreign = service.id_in("village", reference.0, reference.1);
    [foreign, 987_654_321].map(|id| {
        let path = route.path.replace("{manifest}", "assemblies").replace("{id}", &id.to_string());
        if path.ends_with("/extended_data") { format!("{path}?object_path=k") } else { path }
    })
}

async fn ask(client: &Client, method: &Method, path: &str) -> (u16, Vec<(String, String)>, String) {
    let body = json!({"data": {"title": "Another title", "weight": 1}, "object_path": "k"});
    let body = (*method != Method::GET).then_some(&body);
    let answer = client.send(method.clone(), path, &[], body).await;
    let headers = answer.headers.iter().filter(|(name, _)| *name != "date" && *name != "x-request-id");
    let headers = headers.map(|(name, value)| (name.to_string(), format!("{value:?}"))).collect();
    (answer.status.as_u16(), headers, answer.text)
}

#[tokio::test]
async fn a_foreign_record_answers_byte_for_byte_like_a_missing_one() {
    for service in Service::on_both_engines_with(&archive(), &[]).await {
        let actors = [
            service.user("norablum").await,
            service.user("luisortega").await,
            service.user("maryadmin").await,
            service.machine().await,
        ];
        let mut compared = 0;
        for route in routes().iter().filter(|route| matches!(route.required_access, RequiredAccess::Needs(_)))
        {
            let Some(kind) = kind(&route.path).filter(|_| route.path.contains("{id}")) else { continue };
            let method = Method::from_bytes(route.method.as_str().as_bytes()).unwrap();
            let [foreign, missing] = pair(&service, route, kind);
            for actor in &actors {
                let (one, other) = (ask(actor, &method, &foreign).await, ask(actor, &method, &missing).await);
                assert_eq!(one, other, "{method} {foreign}");
                assert!(one.0 == 404 || one.2.contains("User required"), "{method} {foreign}: {}", one.2);
                compared += 1;
            }
        }
        assert!(compared > 80, "{compared} answers were compared");
    }
}

#[tokio::test]
async fn the_same_person_in_another_organization_changes_nothing_here() {
    for service in Service::on_both_engines_with(&archive(), &[]).await {
        let here = service.user("norablum").await;
        let there = service.user_through("village", "full", "norablum").await;
        let paths = [
            "/spaces/search",
            "/components/search",
            "/proposals",
            "/meetings",
            "/vote_proposals",
            "/users",
            "/roles",
        ];
        let mut before = Vec::new();
        for path in paths {
            before.push(here.get(path).await.is(200).body);
        }
        let own = service.id_in("village", "proposal", "p2");
        let vote = json!({"proposal_id": own, "data": {"weight": 1}});
        there.post("/vote_proposals/sync", &vote).await.is(200);
        there.put("/me/extended_data/sync", &json!({"data": {"k": 1}})).await.is(200);
        let foreign = json!({"proposal_id": service.id("proposal", "p2"), "data": {"weight": 1}});
        there.post("/vote_proposals/sync", &foreign).await.refuses(404, "Resource not found");
        for (path, before) in paths.into_iter().zip(before) {
            assert_eq!(here.get(path).await.is(200).body, before, "{path}");
        }
    }
}
