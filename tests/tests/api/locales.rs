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
async fn labels_of_votes_are_texts_in_every_language_of_the_organization() {
    let city = r#""available_locales": ["en", "fr"], "default_locale": "en""#;
    let catalan = CITIES.replacen(city, r#""available_locales": ["ca"], "default_locale": "ca""#, 1);
    let catalan = catalan.replace(r#"{"en": "Riverton""#, r#"{"ca": "Vila del Riu", "en": "Riverton""#);
    for service in Service::on_both_engines_with(&catalan, LOCALES).await {
        let nora = service.user("norablum").await;
        let path = format!("/components/proposal_components/{}", service.id("component", "cards"));
        let labels = async |query: &str| {
            let shown = nora.get(&format!("{path}{query}")).await.is(200);
            let votes = shown.data()["meta"]["votes"].as_array().unwrap().clone();
            votes.into_iter().map(|vote| vote["label"].clone()).collect::<Vec<_>>()
        };
        let names = ["Abstain", "Red", "Yellow", "Green"];
        assert_eq!(labels("?locales[]=ca").await, names.map(|name| json!({"ca": name})));
        assert_eq!(labels("").await[1], json!({"ca": "Red", "en": "Red", "fr": "Rouge"}));
        assert_eq!(labels("?locales[]=pt-BR").await[1], json!({}));
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
