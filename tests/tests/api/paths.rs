//! Different spellings of a path name the same operation (contract 01 §2).

use civitas_tests::service::{BASE, Service};
use reqwest::Method;
use serde_json::json;

#[tokio::test]
async fn slashes_and_the_suffix_of_a_format_do_not_matter() {
    for service in Service::on_both_engines().await {
        let nora = service.user("norablum").await;
        let get = async |path: &str| nora.raw(Method::GET, path, &[], None).await;
        let list = get(&format!("{BASE}/proposals?per_page=2")).await.is(200);
        let again = format!("{BASE}/proposals.json?per_page=2");
        for path in [
            format!("{BASE}/proposals/?per_page=2"),
            format!("{BASE}//proposals?per_page=2"),
            again.clone(),
            again,
            "//api//rest_full/v0.3/proposals.json/?per_page=2".to_owned(),
        ] {
            let same = get(&path).await.is(200);
            assert_eq!(same.text, list.text, "{path}");
            assert_eq!(same.header("etag"), list.header("etag"), "{path}");
        }
        let id = list.data()[0]["id"].as_str().unwrap();
        let shown = get(&format!("{BASE}/proposals/{id}")).await.is(200);
        assert_eq!(get(&format!("{BASE}/proposals/{id}.json")).await.is(200).text, shown.text);
        assert_eq!(get(&format!("{BASE}/proposals//{id}/")).await.is(200).text, shown.text);
        get(&format!("{BASE}/proposals/{id}.xml")).await.is(404);
        get(&format!("{BASE}/proposals/.json")).await.is(404);
    }
}

#[tokio::test]
async fn writes_and_tokens_are_forgiving_too() {
    for service in Service::on_both_engines().await {
        let nora = service.user("norablum").await;
        let component = service.id("component", "ideas");
        let json = [("content-type", "application/json")];
        let body = json!({"data": {"component_id": component}}).to_string().into_bytes();
        let path = format!("{BASE}/draft_proposals//sync.json");
        let made = nora.raw(Method::POST, &path, &json, Some(body)).await.is(200).data()["id"].clone();
        let path = format!("{BASE}/draft_proposals/{}/sync/", made.as_str().unwrap());
        nora.raw(Method::DELETE, &path, &[], None).await.is(200);
        let asked = json!({"grant_type": "client_credentials", "client_id": "id_city_full",
            "client_secret": "key_city_full", "scope": "public"});
        for path in ["/oauth/token/", "//oauth//token", "/oauth/token.json", &format!("{BASE}//oauth/token/")]
        {
            let body = asked.to_string().into_bytes();
            service.anonymous().raw(Method::POST, path, &json, Some(body)).await.is(200);
        }
    }
}

#[tokio::test]
async fn the_service_routes_are_forgiving_and_other_paths_are_not() {
    for service in Service::on_both_engines().await {
        let anonymous = service.anonymous();
        let get = async |path: &str| anonymous.raw(Method::GET, path, &[], None).await;
        let landing = get(&format!("{BASE}/")).await.is(200);
        assert_eq!(get(BASE).await.is(200).text, landing.text);
        assert_eq!(get(&format!("{BASE}//")).await.is(200).text, landing.text);
        let document = get(&format!("{BASE}/openapi.json")).await.is(200);
        assert_eq!(get(&format!("{BASE}//openapi.json/")).await.is(200).text, document.text);
        get(&format!("{BASE}/health.json")).await.is(200);
        get(&format!("{BASE}/docs/")).await.is(200);
        for path in ["/api/rest_full/v0.3x", "/api/rest_full/v0.2/proposals/", "/confirmation/x/"] {
            get(path).await.is(404);
        }
    }
}
