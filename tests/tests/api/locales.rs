//! A deployment with other languages than the default (contract 01 §5, setting `locales`).

use civitas_tests::service::{CITIES, SYSTEM_CLIENTS, Service};
use serde_json::{Value, json};

const LOCALES: &[(&str, &str)] = &[("locales", "fr, en, ca, pt-BR")];

async fn services() -> Vec<Service> {
    let space = json!({"type": "space", "ref": "bairro", "organization": "city", "slug": "bairro",
        "manifest": "participatory_processes", "title": {"pt-BR": "Bairro", "ca": "Barri"},
        "visibility": "public", "published_at": "2026-01-05T09:00:00Z"});
    Service::on_both_engines_with(&format!("{CITIES}{SYSTEM_CLIENTS}{space}\n"), LOCALES).await
}

#[tokio::test]
async fn texts_are_shown_and_found_in_every_language_of_the_deployment() {
    for service in services().await {
        let nora = service.user("norablum").await;
        let path = format!("/spaces/participatory_processes/{}", service.id("space", "bairro"));
        let title = async |query: &str| {
            nora.get(&format!("{path}{query}")).await.is(200).data()["attributes"]["title"].clone()
        };
        assert_eq!(title("").await, json!({"ca": "Barri", "pt-BR": "Bairro"}));
        assert_eq!(title("?locales=pt-BR,en").await, json!({"pt-BR": "Bairro"}));
        let found = nora.get("/spaces/search?filter[title_start]=Bair").await.is(200);
        assert_eq!(found.data().as_array().unwrap().len(), 1, "{:?}", service.engine);
        let other = nora.get("/spaces/search?filter[title_not_eq]=Bairro").await.is(200);
        let titles: Vec<&Value> =
            other.data().as_array().unwrap().iter().map(|space| &space["attributes"]["title"]).collect();
        assert!(!titles.is_empty() && titles.iter().all(|title| title["pt-BR"].is_null()), "{titles:?}");
        nora.get(&format!("{path}?locales=es,pt-br,ca")).await.refuses(400, "Not allowed locales: es, pt-br");
    }
}

#[tokio::test]
async fn texts_are_written_in_the_languages_of_the_deployment_only() {
    for service in services().await {
        let nora = service.user("norablum").await;
        let component = json!({"data": {"component_id": service.id("component", "ideas")}});
        let created = nora.post("/draft_proposals/sync", &component).await.is(200);
        let draft = format!("/draft_proposals/{}/sync", created.data()["id"].as_str().unwrap());
        let texts = |locale: &str| json!({"data": {"title": "Mais luz na rua principal", "locale": locale}});
        let written = nora.put(&draft, &texts("pt-BR")).await.is(200);
        assert_eq!(written.data()["attributes"]["title"], json!({"pt-BR": "Mais luz na rua principal"}));
        nora.put(&draft, &texts("es")).await.refuses(400, "Not allowed locales: es");
        let post = |locale: &str| {
            json!({"data": {"component_id": service.id("component", "news"),
                "attributes": {"title": {"en": "News", locale: "x"}, "body": {"en": "Text"}}}})
        };
        nora.post("/blogs/sync", &post("pt-BR")).await.is(201);
        nora.post("/blogs/sync", &post("es")).await.is(400);
    }
}

#[tokio::test]
async fn an_organization_chooses_among_the_languages_of_the_deployment() {
    for service in services().await {
        let system = service.anonymous().of_system("city_system").await;
        let path = format!("/organizations/{}/sync", service.id("organization", "city"));
        let update = |locales: Value| {
            json!({"data": {"name": {"en": "Riverton"}, "description": {"en": "A city"}, "host": "city.test", "default_locale": "en",
                "available_locales": locales}})
        };
        let updated = system.put(&path, &update(json!(["pt-BR", "en", "fr"]))).await.is(200);
        assert_eq!(updated.data()["attributes"]["available_locales"], json!(["fr", "en", "pt-BR"]));
        system.put(&path, &update(json!(["en", "es"]))).await.is(400);
    }
}

#[tokio::test]
async fn the_document_names_the_languages_of_the_deployment() {
    for service in services().await {
        let document = service.anonymous().get("/openapi.json").await.is(200);
        let schemas = &document.body["components"]["schemas"];
        assert_eq!(schemas["locale"]["enum"], json!(["fr", "en", "ca", "pt-BR"]));
        let texts: Vec<&String> =
            schemas["translated_prop"]["properties"].as_object().unwrap().keys().collect();
        assert_eq!(texts, ["ca", "en", "fr", "pt-BR"]);
    }
}
