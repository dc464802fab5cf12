use civitas_audit::{Action, Actor, NewAuditEntry};
use civitas_kernel::clock;
use civitas_panel::Panel;
use civitas_tests::panel::{Form, SESSION_COOKIE, SIGN_IN, sample_pages};
use civitas_tests::{Service, commit};
use reqwest::Method;
use std::collections::BTreeSet;

/// The path of a route with this value in place of each parameter.
fn path(route: &str, value: &str) -> String {
    let segments = route.split('/').map(|segment| if segment.starts_with('{') { value } else { segment });
    segments.collect::<Vec<_>>().join("/")
}

#[tokio::test]
async fn no_route_answers_without_a_session_nor_to_a_participant() {
    for service in Service::on_both_engines().await {
        let nora = service.user("norablum").await;
        let mary = service.user("maryadmin").await;
        let credentials = [None, nora.token, mary.token, Some("0".repeat(43)), Some(String::new())];
        for (method, route) in Panel::routes() {
            for value in ["1", "00000000-0000-4000-8000-000000000000"] {
                for credential in &credentials {
                    let visitor = service.visitor();
                    let mut headers = Vec::new();
                    let bearer = format!("Bearer {}", credential.as_deref().unwrap_or_default());
                    if let Some(token) = credential {
                        visitor.set_cookie(SESSION_COOKIE, token);
                        headers.push(("authorization", bearer.as_str()));
                    }
                    let path = path(route, value);
                    let (sent, body) = match method.as_str() {
                        "GET" => (Method::GET, None),
                        _ => (Method::POST, Some(format!("_method={method}").to_lowercase().into_bytes())),
                    };
                    let answer = visitor.request(sent, &path, &headers, body).await.is(302);
                    assert!(answer.header("location").starts_with(SIGN_IN), "{method} {path}");
                    assert_eq!(answer.text, "");
                }
            }
        }
        service.visitor().get("/system/no/such/page").await.is(302);
        let export = service.visitor().request(Method::PUT, "/system/organizations/1", &[], None).await;
        export.is(302);
    }
}

#[tokio::test]
async fn unknown_records_are_not_found_on_every_route() {
    let longest = "9".repeat(2_000);
    for (_service, panel) in super::panels().await {
        let unknown = [
            "0",
            "-1",
            "999999",
            "9223372036854775807",
            "9223372036854775808",
            "1.5",
            "%201",
            "abc",
            "%27%20OR%201%3D1",
            "%00",
            "%FF",
            "1%00",
            "00000000-0000-4000-8000-000000000000",
            &longest,
        ];
        // What is not found uses no token.
        let token = panel.token().await;
        for (method, route) in Panel::routes().into_iter().filter(|(_, route)| route.contains('{')) {
            for value in unknown {
                let path = path(route, value);
                let form = Form::to(&path).with("authenticity_token", &token);
                let answer = match method.as_str() {
                    "GET" => panel.get(&path).await,
                    _ => panel.send(&form.with("_method", &method.to_lowercase())).await,
                };
                assert_eq!(answer.status, 404, "{method} {path}");
            }
        }
        for other in ["/system/no/such/page", "/system/no/such/", "/system/assets/panel.css"] {
            panel.get(other).await.is(404);
            panel.act("POST", other, &[]).await.is(404);
        }
        for method in [Method::PUT, Method::DELETE, Method::PATCH] {
            panel.request(method, "/system/organizations/1", &[], None).await.is(404);
        }
        panel.request(Method::HEAD, "/system/organizations", &[], None).await.is(200);
    }
}

#[tokio::test]
async fn every_page_is_shown_and_has_its_assets() {
    for (service, panel) in super::panels().await {
        for page in sample_pages(&service, &panel).await {
            let answer = panel.get(&page.path).await.is(200);
            assert_eq!(answer.attributes("html", "lang"), ["en"], "{}", page.path);
            assert_eq!(answer.attributes("title", "x"), [""; 0]);
            let assets = [answer.attributes("link", "href"), answer.attributes("script", "src")].concat();
            assert_eq!(assets.len(), 2, "{}: {assets:?}", page.path);
            for asset in assets {
                let asset = panel.get(&asset).await.is(200);
                assert!(asset.header("cache-control").contains("immutable"));
            }
        }
    }
}

#[tokio::test]
async fn every_link_leads_to_a_page_and_a_slash_at_its_end_changes_nothing() {
    for (service, panel) in super::panels().await {
        // An archive of one organization names its host.
        let imported = NewAuditEntry::new(Actor::Archive, Action::ArchiveImported).with_object(
            "organization",
            "",
            "city.test",
        );
        let imported = commit(&*service.store, async |tx| tx.audit().append(&imported, clock::now()).await);
        imported.await.unwrap();
        let mut links = BTreeSet::new();
        for page in sample_pages(&service, &panel).await {
            let (path, query) = page.path.split_once('?').unwrap_or((&page.path, ""));
            let shown = panel.get(&format!("{path}/?{query}")).await.is(200);
            links
                .extend(shown.attributes("a", "href").into_iter().filter(|href| href.starts_with("/system")));
        }
        assert!(links.len() > 100, "{}", links.len());
        for link in links {
            let status = panel.get(&link).await.status;
            assert!(!link.ends_with('/') && [200, 302].contains(&status), "{link}: {status}");
        }
    }
}

#[tokio::test]
async fn odd_parameters_of_a_page_change_nothing_but_the_page() {
    let long = "x".repeat(16_000);
    for (service, panel) in super::panels().await {
        let odd = [
            "page=9223372036854775807",
            "page=-1",
            "page=abc&page=2",
            "q=%00",
            "q=%FF%FE",
            "q=%25%5F%5C%27%22",
            &format!("q={long}"),
            "organization=9223372036854775808",
            "organization=-1&status=x&event=x&registration=x&client=%27",
            "organization=9223372036854775807&registration=9223372036854775807&status=failed&state=disabled",
            "from=x&to=0000-00-00T00:00",
            "from=9999-12-31T23:59&to=-9999-01-01T00:00",
            "from=0001-01-01T00:00&to=9999-12-31T23:59",
            "older=x&newer=x",
            "older=9999999999999999999999.0&newer=%00",
            "tab=x&tab=%00&back=//evil.example&locale=xx",
            "action=x&actor=x",
        ];
        for page in sample_pages(&service, &panel).await {
            let separator = if page.path.contains('?') { '&' } else { '?' };
            for query in odd {
                let path = format!("{}{separator}{query}", page.path);
                let answer = panel.get(&path).await;
                // What is found, and which deliveries are sent again, depends on them.
                let may_be_missing =
                    ["/system/find", "/system/webhook_deliveries/replay"].contains(&page.route);
                assert!(answer.status == 200 || may_be_missing, "{path}: {}", answer.status);
            }
        }
    }
}

#[tokio::test]
async fn one_record_is_found_by_its_identifier() {
    for (service, panel) in super::panels().await {
        let client = service.store.clients().find_by_uid("id_city_full").await.unwrap().unwrap().0;
        let find = async |text: &str| panel.get(&format!("/system/find?q={text}")).await;
        find("id_city_full").await.leads_to(&format!("/system/api_clients/{client}"));
        let city = super::city(&service);
        find("City.Test").await.leads_to(&city);
        find("nothing").await.is(404);
        find("00000000-0000-4000-8000-000000000000").await.is(404);
        find("").await.is(200);
    }
}

#[tokio::test]
async fn the_panel_answers_while_the_interface_of_an_organization_is_off() {
    for (service, panel) in super::panels().await {
        let path = super::city(&service);
        let form = panel.get(&format!("{path}/edit?tab=api")).await.is(200).form(&path);
        panel.send(&form.tick("organization[features][enabled]", "1", false)).await.is(302);
        panel.get("/system").await.is(200);
        panel.get(&path).await.is(200);
        let visitor = service.visitor();
        visitor.send(&Form::to(SIGN_IN)).await.is(403);
        visitor.get(SIGN_IN).await.is(200);
    }
}
