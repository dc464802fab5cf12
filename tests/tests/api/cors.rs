//! Pages of other origins in browsers (contract 01 §11d).

use civitas_tests::service::{BASE, CITIES, Service, http};
use reqwest::header::HeaderMap;
use reqwest::{Method, StatusCode};

const APP: &str = "https://app.example";

/// Status and headers of the answer to a request of a page of this origin.
async fn asks(service: &Service, method: Method, path: &str, origin: &str) -> (StatusCode, HeaderMap) {
    let mut request = http().request(method.clone(), format!("http://{}{path}", service.address));
    request = request.header("host", "city.test").header("origin", origin);
    if method == Method::OPTIONS {
        request = request.header("access-control-request-method", "PUT");
        request = request.header("access-control-request-headers", "authorization,content-type");
    }
    let answer = request.send().await.unwrap();
    (answer.status(), answer.headers().clone())
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).map(|value| value.to_str().unwrap())
}

#[tokio::test]
async fn allowed_origins_get_preflights_and_readable_headers_for_the_interface_alone() {
    let settings = [("cors_allowed_origins", "https://other.example, https://app.example")];
    for service in Service::on_both_engines_with(CITIES, &settings).await {
        for path in [BASE.to_owned(), format!("{BASE}/proposals"), "/oauth/token".to_owned()] {
            let (status, headers) = asks(&service, Method::OPTIONS, &path, APP).await;
            assert_eq!(status, 200, "{path}");
            assert_eq!(header(&headers, "access-control-allow-origin"), Some(APP));
            let methods = header(&headers, "access-control-allow-methods").unwrap();
            for method in ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] {
                assert!(methods.contains(method), "{methods}");
            }
            let allowed = header(&headers, "access-control-allow-headers").unwrap();
            assert!(allowed.contains("authorization") && allowed.contains("content-type"), "{allowed}");
            assert_eq!(header(&headers, "access-control-allow-credentials"), None);
        }
        let (status, headers) = asks(&service, Method::GET, &format!("{BASE}/health"), APP).await;
        assert_eq!(status, 200);
        assert_eq!(header(&headers, "access-control-allow-origin"), Some(APP));
        let exposed = header(&headers, "access-control-expose-headers").unwrap().to_lowercase();
        let names = "etag last-modified location retry-after idempotent-replayed link per-page total preference-applied";
        for name in names.split(' ') {
            assert!(exposed.split(',').any(|found| found.trim() == name), "{name} in {exposed}");
        }
        for (method, path, origin) in [
            (Method::OPTIONS, format!("{BASE}/proposals"), "https://evil.example"),
            (Method::OPTIONS, "/system/admins/sign_in".to_owned(), APP),
            (Method::OPTIONS, format!("{BASE}more"), APP),
            (Method::GET, format!("{BASE}/health"), "https://evil.example"),
            (Method::GET, "/system/admins/sign_in".to_owned(), APP),
        ] {
            let (status, headers) = asks(&service, method.clone(), &path, origin).await;
            assert_eq!(header(&headers, "access-control-allow-origin"), None, "{method} {path} {origin}");
            assert!(method == Method::GET || status.is_client_error(), "{status}");
        }
    }
}

/// The headers that an answer depends on, in order.
fn vary(headers: &HeaderMap) -> Vec<String> {
    let values = headers.get_all("vary").iter().flat_map(|value| value.to_str().unwrap().split(','));
    let mut names: Vec<_> = values.map(|name| name.trim().to_ascii_lowercase()).collect();
    names.sort();
    names
}

#[tokio::test]
async fn an_answer_names_every_header_it_depends_on() {
    const CORS: [&str; 3] = ["access-control-request-headers", "access-control-request-method", "origin"];
    let archive = format!("{CITIES}{}", include_str!("../../fixtures/forms.ndjson"));
    for origins in [None, Some(APP), Some("*")] {
        let settings: Vec<_> = origins.iter().map(|origins| ("cors_allowed_origins", *origins)).collect();
        for service in Service::on_both_engines_with(&archive, &settings).await {
            let token = service.user("norablum").await.token.unwrap();
            let ask = async |method: Method, path: &str, more: &[(&str, &str)]| {
                let mut request = http().request(method, format!("http://{}{path}", service.address));
                request = request.header("host", "city.test").header("origin", APP).bearer_auth(&token);
                for (name, value) in more {
                    request = request.header(*name, *value);
                }
                request.send().await.unwrap()
            };
            let form = service.id("questionnaire", "poll");
            for (path, own) in [
                (format!("{BASE}/proposals"), &["authorization", "prefer"][..]),
                (format!("{BASE}/questionnaires/{form}"), &["accept-language", "authorization"]),
                (format!("{BASE}/openapi.json"), &[]),
            ] {
                let mut expected = [own, &["accept-encoding"]].concat();
                expected.extend(origins.iter().flat_map(|_| CORS));
                expected.sort_unstable();
                for coding in ["gzip", "br", "zstd", "identity"] {
                    for method in [Method::GET, Method::HEAD] {
                        let answer = ask(method.clone(), &path, &[("accept-encoding", coding)]).await;
                        let encoding = header(answer.headers(), "content-encoding").unwrap_or("identity");
                        assert_eq!((answer.status().as_u16(), encoding), (200, coding), "{method} {path}");
                        assert_eq!(vary(answer.headers()), expected, "{method} {path} {coding}");
                        let Some(etag) = header(answer.headers(), "etag") else { continue };
                        let fresh =
                            ask(method, &path, &[("accept-encoding", coding), ("if-none-match", etag)]).await;
                        assert_eq!(
                            (fresh.status().as_u16(), vary(fresh.headers())),
                            (304, vary(answer.headers()))
                        );
                    }
                }
            }
            if origins.is_some() {
                let (_, headers) = asks(&service, Method::OPTIONS, &format!("{BASE}/proposals"), APP).await;
                assert_eq!(vary(&headers), CORS);
            }
        }
    }
}

#[tokio::test]
async fn an_asterisk_allows_all_origins_and_no_setting_none() {
    for service in Service::on_both_engines_with(CITIES, &[("cors_allowed_origins", "*")]).await {
        let (status, headers) = asks(&service, Method::OPTIONS, &format!("{BASE}/proposals"), APP).await;
        assert_eq!((status.as_u16(), header(&headers, "access-control-allow-origin")), (200, Some(APP)));
        let path = "/system/admins/sign_in";
        assert_eq!(
            header(&asks(&service, Method::GET, path, APP).await.1, "access-control-allow-origin"),
            None
        );
    }
    for service in Service::on_both_engines().await {
        let (status, _) = asks(&service, Method::OPTIONS, &format!("{BASE}/proposals"), APP).await;
        assert_eq!(status, 404);
        let (_, headers) = asks(&service, Method::GET, &format!("{BASE}/health"), APP).await;
        assert!(headers.keys().all(|name| !name.as_str().starts_with("access-control")), "{headers:?}");
    }
}
