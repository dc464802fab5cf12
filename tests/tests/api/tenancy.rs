use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use civitas_tests::service::{BASE, Service};
use reqwest::Method;
use ring::digest::{SHA256, digest};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

#[tokio::test]
async fn the_host_selects_the_organization_in_any_case_with_any_port() {
    for service in Service::on_both_engines().await {
        let nora = service.user("norablum").await;
        for host in ["city.test", "CITY.test", "city.test:8443", "city.test."] {
            let mut client = nora.clone();
            host.clone_into(&mut client.host);
            client.get("/spaces/search").await.is(200);
        }
        nora.get("/jobs").await.is(200);
        service.at("nowhere.test").get("/jobs").await.refuses(404, "Resource not found");
        service.at("nowhere.test").get("/no/such/path").await.refuses(404, "Resource not found");
        service.at("city.test").get("/no/such/path").await.refuses(404, "Route not found");
        let asked = json!({"grant_type": "client_credentials"});
        let refused = service.at("nowhere.test").post("/oauth/token", &asked).await;
        refused.refuses(400, "Invalid Organization. Check requested host.");
    }
}

#[tokio::test]
async fn a_secondary_host_redirects_every_method_and_path_before_anything_else() {
    for service in Service::on_both_engines().await {
        let www = service.at("www.city.test:8080");
        for (method, path, status) in [
            (Method::GET, "/api/rest_full/v0.3/spaces/search?page=2", 301),
            (Method::HEAD, "/api/rest_full/v0.3/spaces/search", 301),
            (Method::GET, "/api/rest_full/v0.3/health", 301),
            // Most clients would repeat it as `GET` after a 301.
            (Method::POST, "/oauth/token", 308),
            (Method::PUT, "/api/rest_full/v0.3/me/extended_data", 308),
            (Method::PATCH, "/api/rest_full/v0.3/blogs/1", 308),
            (Method::DELETE, "/anything/at/all", 308),
            (Method::OPTIONS, "/api/rest_full/v0.3/proposals", 308),
        ] {
            let answer = www.raw(method, path, &[], None).await.is(status);
            assert_eq!(answer.header("location"), format!("http://city.test:8080{path}"));
            assert_eq!(answer.text, "");
        }
    }
}

#[tokio::test]
async fn a_primary_host_that_is_an_ipv6_address_has_brackets_in_redirects() {
    let archive = civitas_tests::service::CITIES.replace("\"city.test\"", "\"2001:db8::1\"");
    for service in Service::on_both_engines_with(&archive, &[]).await {
        for (port, path) in [("", "/api/rest_full/v0.3/users?page=2"), (":8080", "/")] {
            let answer =
                service.at(&format!("www.city.test{port}")).raw(Method::GET, path, &[], None).await.is(301);
            assert_eq!(answer.header("location"), format!("http://[2001:db8::1]{port}{path}"));
        }
        for host in ["[2001:db8::1]", "[2001:DB8::1]:3000"] {
            service.at(host).get("/spaces/search").await.is(401);
        }
    }
}

/// RFC 9112, 3.2.2.
#[tokio::test]
async fn the_host_of_an_absolute_request_target_takes_precedence_over_the_header() {
    for service in Service::on_both_engines().await {
        let token = service.user("norablum").await.token.unwrap();
        let ask = async |target: &str, host: &str| {
            let mut stream = TcpStream::connect(service.address).await.unwrap();
            let request = format!(
                "GET {target}{BASE}/spaces/search?per_page=1 HTTP/1.1\r\nhost: {host}\r\n\
                 authorization: Bearer {token}\r\nconnection: close\r\n\r\n"
            );
            stream.write_all(request.as_bytes()).await.unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await.unwrap();
            answer
        };
        let own = ask("http://CITY.test:8080", "town.test").await;
        assert!(own.starts_with("HTTP/1.1 200 ") && own.contains("\"http://CITY.test:8080/api/"), "{own}");
        assert!(ask("", "city.test").await.starts_with("HTTP/1.1 200 "));
        assert!(ask("http://town.test", "city.test").await.starts_with("HTTP/1.1 401 "));
        assert!(ask("http://nowhere.test", "city.test").await.starts_with("HTTP/1.1 404 "));
        let moved = ask("http://www.city.test", "town.test").await;
        assert!(moved.contains(&format!("location: http://city.test{BASE}/spaces/search")), "{moved}");
    }
}

#[tokio::test]
async fn forwarded_headers_count_only_from_a_trusted_proxy() {
    let forged = [("x-forwarded-host", "city.test, evil.test"), ("x-forwarded-proto", "https")];
    let path = format!("{BASE}/spaces/search");
    for service in Service::on_both_engines().await {
        let stranger = service.at("town.test").bearing(&service.machine().await.token.unwrap());
        stranger.raw(Method::GET, &path, &forged, None).await.is(401);
    }
    let trusting = [("trusted_proxies", "127.0.0.0/8")];
    for service in Service::on_both_engines_with(civitas_tests::service::CITIES, &trusting).await {
        let proxied = service.at("internal:9000").bearing(&service.machine().await.token.unwrap());
        let answer = proxied.raw(Method::GET, &format!("{path}?per_page=1"), &forged, None).await.is(200);
        let next = answer.body["meta"]["next"].as_str().unwrap();
        assert!(next.starts_with("https://city.test/api/"), "{next}");
    }
}

#[tokio::test]
async fn a_token_opens_only_the_organization_it_was_issued_in() {
    for service in Service::on_both_engines().await {
        let city = service.user("norablum").await;
        let foreign = service.at("town.test").bearing(&city.token.clone().unwrap());
        foreign.get("/spaces/search").await.refuses(401, "Unauthorized access");
        let id = service.id("proposal", "p1");
        let town = service.user_through("town", "full", "norablum").await;
        let foreign = town.get(&format!("/proposals/{id}")).await.is(404);
        let missing = town.get("/proposals/99999999").await.is(404);
        assert_eq!(foreign.text, missing.text, "a foreign record is as a missing one");
    }
}

#[tokio::test]
async fn the_service_routes_answer_on_any_host_and_whatever_is_switched_off() {
    let off = super::switched_off(civitas_tests::service::CITIES, "enabled");
    for service in Service::on_both_engines_with(&off, &[]).await {
        for host in ["city.test", "nowhere.test"] {
            let client = service.at(host);
            assert_eq!(client.get("/health").await.is(200).body, json!({"message": "OK"}));
            assert_eq!(client.get("/openapi.json").await.is(200).body["info"]["version"], "0.3.10");
            assert!(client.get("/docs").await.is(200).header("content-type").starts_with("text/html"));
            let landing = client.get("/").await.is(200).text;
            assert!(landing.contains("/api/rest_full/v0.3/docs") && landing.contains("href=\"/system\""));
        }
        let city = service.at("city.test");
        for path in ["/spaces/search", "/jobs", "/draft_proposals/1"] {
            city.get(path).await.refuses(501, "Not implemented");
        }
        city.post("/oauth/token", &json!({})).await.refuses(501, "Not implemented");
    }
}

#[tokio::test]
async fn the_root_of_a_host_leads_to_the_landing_page() {
    for service in Service::on_both_engines().await {
        for method in [Method::GET, Method::HEAD] {
            let root = async |host: &str| service.at(host).raw(method.clone(), "/", &[], None).await;
            let found = root("city.test").await.is(302);
            assert_eq!(found.header("location"), "/api/rest_full/v0.3/");
            service.at("city.test").get("/").await.is(200);
            assert_eq!(root("www.city.test").await.is(301).header("location"), "http://city.test/");
            root("nowhere.test").await.is(404);
        }
        service.at("city.test").raw(Method::POST, "/", &[], None).await.refuses(404, "Route not found");
    }
}

#[tokio::test]
async fn pages_of_the_service_allow_only_their_own_scripts_and_styles() {
    for service in Service::on_both_engines().await {
        for (page, inline) in [("/", 1), ("/docs", 2)] {
            let answer = service.at("nowhere.test").get(page).await.is(200);
            let policy = answer.header("content-security-policy");
            for rule in ["default-src", "base-uri", "form-action", "frame-ancestors"] {
                let rule = format!("{rule} 'none'");
                assert!(policy.split("; ").any(|found| found == rule), "{page}: {rule} in {policy}");
            }
            let mut covered = 0;
            for element in ["style", "script"] {
                let (start, end) = (format!("<{element}"), format!("</{element}>"));
                for part in answer.text.split(start.as_str()).skip(1) {
                    let (_, rest) = part.split_once('>').unwrap();
                    let (text, _) = rest.split_once(end.as_str()).unwrap();
                    let hash = STANDARD.encode(digest(&SHA256, text.as_bytes()));
                    let rule = format!("{element}-src 'sha256-{hash}'");
                    assert!(policy.split("; ").any(|found| found == rule), "{page}: {rule} in {policy}");
                    covered += 1;
                }
            }
            assert_eq!(covered, inline, "{page}");
            for other in ["<link", "http-equiv", " style=\"", " onclick=\""] {
                assert!(!answer.text.contains(other), "{page}: {other}");
            }
        }
    }
}

#[tokio::test]
async fn pages_of_the_service_are_sent_again_only_when_they_changed() {
    for service in Service::on_both_engines().await {
        let anonymous = service.at("nowhere.test");
        let mut tags = Vec::new();
        for page in ["/", "/docs", "/openapi.json"] {
            let path = format!("{BASE}{page}");
            let ask = async |method: Method, condition: &str| {
                anonymous.raw(method, &path, &[("if-none-match", condition)], None).await
            };
            let first = anonymous.get(page).await.is(200);
            let tag = first.header("etag").to_owned();
            assert!(tag.starts_with("W/\""), "{page}: {tag}");
            for known in [tag.clone(), tag.replace("W/", ""), format!("\"x\", {tag}"), "*".to_owned()] {
                let again = ask(Method::GET, &known).await.is(304);
                assert_eq!((again.text.as_str(), again.header("etag")), ("", tag.as_str()), "{page}");
                ask(Method::HEAD, &known).await.is(304);
            }
            assert_eq!(ask(Method::GET, "\"x\"").await.is(200).text, first.text, "{page}");
            tags.push(tag);
        }
        tags.dedup();
        assert_eq!(tags.len(), 3, "each page has its own");
    }
}

#[tokio::test]
async fn a_feature_switched_off_answers_501_even_without_a_token_and_the_rest_works() {
    let off = super::switched_off(civitas_tests::service::CITIES, "proposals_enabled");
    for service in Service::on_both_engines_with(&off, &[]).await {
        let anonymous = service.anonymous();
        for path in
            ["/proposals", "/vote_proposals/1", "/draft_proposals/1", "/components/proposal_components"]
        {
            anonymous.get(path).await.refuses(501, "Not implemented");
        }
        anonymous.get("/components/search").await.is(401);
        service.machine().await.get("/components/search").await.is(200);
    }
}
