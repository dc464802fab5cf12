//! Limits on all input, with the answer of each.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use civitas_tests::service::{BASE, CITIES, SYSTEM_CLIENTS, Service};
use reqwest::Method;
use serde_json::{Value, json};
use std::fmt::Write as _;

#[tokio::test]
async fn a_list_takes_fifty_filters_and_values_of_1024_bytes() {
    for service in Service::on_both_engines().await {
        let nora = service.user("norablum").await;
        let filters = |count: usize| {
            (0..count).fold(String::new(), |mut query, n| {
                write!(query, "&filter[id_gt]=-{n}").unwrap();
                query
            })
        };
        for list in ["/proposals", "/meetings", "/components/search", "/spaces/search", "/jobs", "/users"] {
            let filter = if list == "/jobs" { "status_matches" } else { "id_gt" };
            let query = filters(50).replace("id_gt", filter);
            nora.get(&format!("{list}?{query}")).await.is(200);
            for count in [51, 1_001] {
                let query = filters(count).replace("id_gt", filter);
                let refused = nora.get(&format!("{list}?{query}")).await;
                refused.refuses(400, "Too many filters (maximum is 50)");
            }
        }
        let matches = |length: usize| format!("/proposals?filter[state_matches]={}", "x".repeat(length));
        nora.get(&matches(1_024)).await.is(200);
        for length in [1_025, 50_000] {
            nora.get(&matches(length)).await.refuses(400, "Invalid value for filter state_matches");
        }
    }
}

#[tokio::test]
async fn credentials_with_a_nul_are_unknown_credentials() {
    for service in Service::on_both_engines().await {
        let anonymous = service.anonymous();
        for (id, secret) in [("a\0b", "c"), ("id_city_full", "a\0"), ("%00", "x"), ("id_city_full", "%00")] {
            let basic = format!("Basic {}", STANDARD.encode(format!("{id}:{secret}")));
            let headers = [("authorization", basic.as_str()), ("content-type", "application/json")];
            for path in ["/oauth/token", "/oauth/introspect", "/oauth/revoke"] {
                let body = json!({"grant_type": "client_credentials", "scope": "public", "token": "x"});
                let body = Some(body.to_string().into_bytes());
                let answer = anonymous.raw(Method::POST, path, &headers, body).await;
                assert!(answer.status.as_u16() < 500, "{path} {id:?}: {}", answer.text);
                assert!(path != "/oauth/token" || answer.status.as_u16() == 401, "{}", answer.text);
            }
        }
    }
}

#[tokio::test]
async fn texts_of_an_organization_have_a_maximum() {
    for service in Service::on_both_engines_with(&format!("{CITIES}{SYSTEM_CLIENTS}"), &[]).await {
        let client = service.anonymous().of_system("city_system").await;
        let path = format!("/organizations/{}/sync", service.id("organization", "city"));
        let name = json!({"data": {"name": {"en": "n".repeat(6_000)}}});
        client.put(&path, &name).await.refuses(400, "Name is too long (maximum is 255 characters)");
        let longest = json!({"data": {"name": {"en": "\u{1F333}".repeat(255)}}});
        let renamed = client.put(&path, &longest).await.is(200);
        assert_eq!(renamed.data()["attributes"]["name"]["en"], longest["data"]["name"]["en"]);
        let hosts: Vec<String> = (0..40_000).map(|n| format!("h{n}.example")).collect();
        let refused = client.put(&path, &json!({"data": {"secondary_hosts": hosts}})).await;
        refused.refuses(400, "Secondary hosts is too long (maximum is 100 hosts)");
        for data in [json!([]), json!({}), Value::Null, json!("x"), json!([{"a": 1}])] {
            let refused = client.put(&path, &json!({"data": data})).await.is(400);
            assert_eq!(refused.body["error"], "400: Required parameter missing", "{data}");
        }
    }
}

#[tokio::test]
async fn texts_of_a_draft_are_measured_before_a_job_is_stored() {
    for service in Service::on_both_engines().await {
        let nora = service.user("norablum").await;
        let component = service.id("component", "ideas");
        let draft =
            nora.post("/draft_proposals/sync", &json!({"data": {"component_id": component}})).await.is(200);
        let path = format!("/draft_proposals/{}", draft.data()["id"].as_str().unwrap());
        let long = json!({"data": {"title": "t".repeat(65_537), "body": "<p>".repeat(120_000)}});
        for path in [path.clone(), format!("{path}/sync")] {
            let refused = nora.put(&path, &long).await;
            let sentence = "Title is too long (maximum is 65536 characters). \
                Body is too long (maximum is 65536 characters)";
            assert_eq!(refused.refuses(400, sentence).body["error"], "400: Invalid request");
        }
        assert_eq!(nora.get("/jobs").await.is(200).data(), &json!([]), "no job was stored");
        // Markup counts before it is removed and not after.
        let marked = format!("<div>{}</div>A body of plain words", "<b></b>".repeat(9_000));
        let body = json!({"data": {"body": marked, "locale": "en"}});
        let written = nora.put(&format!("{path}/sync"), &body).await.is(200);
        assert_eq!(written.data()["attributes"]["body"]["en"], "A body of plain words");
    }
}

#[tokio::test]
async fn every_answer_forbids_sniffing_its_type_and_asks_for_https() {
    for service in Service::on_both_engines().await {
        let nora = service.user("norablum").await;
        let paths = [
            "/api/rest_full/v0.3/proposals",
            "/api/rest_full/v0.3/proposals/987654",
            "/api/rest_full/v0.3/docs",
            "/api/rest_full/v0.3/health",
            "/nowhere",
            "/api/rest_full/v0.3/me/magic_links/none",
        ];
        for path in paths {
            let answer = nora.raw(Method::GET, path, &[], None).await;
            assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
            assert_eq!(answer.header("strict-transport-security"), "max-age=31536000", "{path}");
            let moved = service.at("www.city.test").raw(Method::GET, path, &[], None).await.is(301);
            assert_eq!(moved.header("x-content-type-options"), "nosniff", "{path}");
        }
        let seen = nora.get("/proposals").await.is(200);
        let seen = [("if-none-match", seen.header("etag"))];
        let fresh = nora.send(Method::GET, "/proposals", &seen, None).await.is(304);
        assert_eq!(fresh.header("x-content-type-options"), "nosniff");
    }
}

#[tokio::test]
async fn an_answer_of_a_service_without_https_does_not_ask_for_it() {
    for service in Service::on_both_engines_with(CITIES, &[("public_scheme", "http")]).await {
        let nora = service.user("norablum").await;
        for path in ["/api/rest_full/v0.3/proposals", "/api/rest_full/v0.3/health", "/nowhere"] {
            let answer = nora.raw(Method::GET, path, &[], None).await;
            assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
            assert_eq!(answer.header("strict-transport-security"), "", "{path}");
        }
    }
}

#[tokio::test]
async fn only_a_port_of_digits_becomes_part_of_a_redirect() {
    for service in Service::on_both_engines().await {
        let ask = async |host: &str| service.at(host).raw(Method::GET, "/x?y=1", &[], None).await;
        for host in ["www.city.test:80@evil.example", "www.city.test:x", "city.test:80@evil.example"] {
            let refused = ask(host).await.refuses(400, "Invalid Host header");
            assert_eq!(refused.header("location"), "", "{host}");
        }
        let moved = ask("www.city.test:8443").await.is(301);
        assert_eq!(moved.header("location"), "http://city.test:8443/x?y=1");
    }
}

#[tokio::test]
async fn organizations_are_neither_made_nor_removed_through_the_interface() {
    for service in Service::on_both_engines_with(&format!("{CITIES}{SYSTEM_CLIENTS}"), &[]).await {
        let client = service.anonymous().of_system("whole_deployment").await;
        client.post("/organizations", &json!({"data": {}})).await.refuses(404, "Action not found");
        let city = service.id("organization", "city");
        let path = format!("{BASE}/organizations/{city}");
        let refused = client.raw(Method::DELETE, &path, &[], None).await.refuses(404, "Action not found");
        assert_eq!(refused.body["error"], "404: Action not found");
    }
}

#[tokio::test]
async fn a_list_of_jobs_reads_no_results_and_a_job_hands_its_result_on() {
    for service in Service::on_both_engines().await {
        let nora = service.user("norablum").await;
        let data = json!({"text": "é".repeat(200_000), "nested": [1, {"b": null, "a": 1.5}]});
        let accepted =
            nora.put("/me/extended_data", &json!({"object_path": ".", "data": data})).await.is(202);
        let job = nora.finished(&accepted).await;
        assert_eq!(job["data"]["data"], data);
        assert_eq!(job["return_value"], job["data"]);
        let listed = nora.get("/jobs").await.is(200);
        assert!(listed.text.len() < 1_000, "{}", listed.text.len());
        assert_eq!(listed.data()[0]["id"], job["id"]);
    }
}

#[tokio::test]
async fn an_import_ends_with_measured_tables() {
    for service in Service::on_both_engines().await {
        assert!(service.database.has_measured("proposals").await, "the planner would know nothing of them");
    }
}
