use civitas_tests::panel::{Form, Page, PanelClient};
use civitas_tests::{CITIES, Service};
use serde_json::{Value, json};
use std::fmt::Write;

const NAME: &str = "system_api_client[name]";
const ORGANIZATION: &str = "system_api_client[organization_id]";
const SCOPES: &str = "system_api_client[scopes][]";
const LIST: &str = "/system/api_clients";

/// The form of a new client of `city.test`.
pub async fn new_client(service: &Service, panel: &PanelClient, scopes: &[&str]) -> Form {
    let form = panel.get("/system/api_clients/new").await.is(200).form(LIST);
    let city = service.id("organization", "city").to_string();
    let form = form.set(NAME, "Participation app").set(ORGANIZATION, &city);
    scopes.iter().fold(form, |form, scope| form.tick(SCOPES, scope, true))
}

/// A client that was created with the form.
pub struct Created {
    /// Its path: `/system/api_clients/7`.
    pub path: String,
    pub id: String,
    pub uid: String,
    pub secret: String,
    /// The page with the secret.
    pub page: Page,
}

pub async fn create(service: &Service, panel: &PanelClient, scopes: &[&str]) -> Created {
    let sent = panel.send(&new_client(service, panel, scopes).await).await.is(302);
    let path = sent.header("location").strip_suffix("/edit").unwrap().to_owned();
    let page = panel.follow(&sent).await.is(200);
    let [uid, secret]: [String; 2] = page.secrets().try_into().unwrap();
    let id = path.rsplit('/').next().unwrap().to_owned();
    Created { path, id, uid, secret, page }
}

impl Created {
    pub fn credentials(&self, secret: &str, scope: &str) -> Value {
        json!({"grant_type": "client_credentials", "client_id": self.uid, "client_secret": secret,
            "scope": scope})
    }
}

#[tokio::test]
async fn a_client_is_created_with_the_scope_public_and_its_secret_is_in_one_answer() {
    for (service, panel) in super::panels().await {
        let created = create(&service, &panel, &["proposals", "blogs"]).await;
        let page = created.page.clone().shows("API Client created");
        assert_eq!(page.header("cache-control"), "no-store");
        assert!(created.uid.starts_with("id_") && created.secret.starts_with("key_"));
        let asked = created.credentials(&created.secret, "public proposals blogs");
        let token = service.anonymous().post("/oauth/token", &asked).await.is(200);
        assert_eq!(token.body["scope"], "public proposals blogs");
        let beyond = created.credentials(&created.secret, "meetings");
        service.anonymous().post("/oauth/token", &beyond).await.is(400);

        let edit = format!("{}/edit", created.path);
        for path in [
            &edit,
            &edit,
            &created.path,
            &format!("{edit}?tab=webhooks"),
            &format!("{}/rotate_secret", created.path),
            LIST,
            "/system",
            "/system/audit_log",
        ] {
            panel.get(path).await.is(200).lacks(&created.secret).lacks(&created.secret[4..]);
        }
        assert_eq!(panel.times_seen(&created.secret), 1);
        let shown = panel.get(&created.path).await.is(200);
        shown.shows("Participation app").shows("Riverton").shows("public proposals blogs");
    }
}

#[tokio::test]
async fn an_invalid_client_is_422_keeps_what_was_typed_and_stores_nothing() {
    for (service, panel) in super::panels().await {
        let before = panel.get(LIST).await.content();
        let form = new_client(&service, &panel, &["proposals"]).await;
        let city = form.values(ORGANIZATION);
        let cases = [
            (form.clone().set(NAME, "  "), "Enter a text."),
            (form.clone().without(NAME), "Enter a text."),
            (form.clone().set(ORGANIZATION, ""), "Choose one."),
            (form.clone().replace(ORGANIZATION, "x"), "Choose one."),
            (form.clone().replace(ORGANIZATION, "999999"), "999999 does not exist"),
            (form.clone().replace(ORGANIZATION, "9223372036854775808"), "Choose one."),
            (form.clone().with(SCOPES, "everything"), "There is no scope everything."),
            (form.clone().with(SCOPES, "proposals.read"), "There is no scope proposals.read."),
        ];
        for (form, problem) in cases {
            let refused = panel.send(&form).await.is(422);
            let refused = refused.shows("Could not create API Client").shows(problem);
            let again = refused.form(LIST);
            assert_eq!(again.values(NAME).concat().trim(), form.values(NAME).concat().trim());
            let organization = form.values(ORGANIZATION);
            let kept = if organization == city { city.clone() } else { vec![String::new()] };
            assert_eq!(again.values(ORGANIZATION), kept);
            assert!(again.values(SCOPES).contains(&"proposals".to_owned()), "{problem}");
        }
        assert_eq!(panel.get(LIST).await.content(), before);
        let empty = form.set(NAME, "").set(ORGANIZATION, "");
        let both = panel.send(&empty).await.is(422).shows("Enter a text.").shows("Choose one.");
        assert!(both.attributes("a", "href").contains(&"#system_api_client-name".to_owned()));
        let wrong = both.attributes("input", "aria-invalid");
        assert_eq!(wrong, ["true"], "the name; the organization is a select");
    }
}

#[tokio::test]
async fn the_scopes_offered_are_those_whose_feature_is_on() {
    for (service, panel) in super::panels().await {
        let city = service.id("organization", "city");
        let offered = async |query: &str| {
            panel.get(&format!("{LIST}/new{query}")).await.is(200).form(LIST).boxes(SCOPES)
        };
        let all = offered("").await;
        assert_eq!(all.len(), 14, "{all:?}");
        assert!(!all.contains(&"public".to_owned()), "it is always given");
        assert_eq!(offered(&format!("?organization={city}")).await.len(), 14);
        let path = format!("/system/organizations/{city}");
        let form = panel.get(&format!("{path}/edit?tab=api")).await.is(200).form(&path);
        panel.send(&form.tick("organization[features][blogs_enabled]", "1", false)).await.is(302);
        let fewer = offered(&format!("?organization={city}")).await;
        assert!(fewer.len() == 13 && !fewer.contains(&"blogs".to_owned()), "{fewer:?}");
        let town = service.id_in("town", "organization", "town");
        assert_eq!(offered(&format!("?organization={town}")).await.len(), 14);
    }
}

#[tokio::test]
async fn clients_are_listed_newest_first_fifteen_on_a_page() {
    let mut archive = CITIES.to_owned();
    for n in 10..30 {
        writeln!(
            archive,
            r#"{{"type": "api_client", "ref": "c{n}", "organization": "town", "client_id": "id_town_c{n}_client",
            "client_secret": "key_{n}", "name": "Client {n}", "scopes": ["public"], "permissions": []}}"#
        )
        .unwrap();
    }
    let archive = archive.replace(",\n", ",");
    for service in Service::on_both_engines_with(&archive, &[]).await {
        let panel = service.administrator().await;
        create(&service, &panel, &[]).await;
        let first = panel.get(LIST).await.is(200);
        let rows = |page: &Page| {
            let links = page.attributes("a", "href");
            let revoke = links.into_iter().filter(|href| href.ends_with("/revoke"));
            revoke.map(|href| href.split('/').nth(3).unwrap().parse::<i64>().unwrap()).collect::<Vec<_>>()
        };
        let ids = rows(&first);
        assert_eq!(ids.len(), 15);
        assert!(ids.is_sorted_by(|one, next| one > next), "{ids:?}");
        assert!(first.content().contains("Participation app"));
        assert!(first.attributes("a", "href").contains(&format!("{LIST}?page=2")));
        let second = panel.get(&format!("{LIST}?page=2")).await.is(200);
        assert!(rows(&second)[0] < ids[14] && !rows(&second).is_empty());
        let edit = format!("{LIST}/{}/edit", ids[0]);
        assert!(first.attributes("a", "href").contains(&edit));
        let searched = panel.get(&format!("{LIST}?q=client+12")).await.is(200);
        assert_eq!(rows(&searched).len(), 1);
        let town = service.id_in("town", "organization", "town");
        let of_town = panel.get(&format!("{LIST}?organization={town}&q=id_town_c")).await.is(200);
        assert_eq!(rows(&of_town).len(), 15);
        let none = panel.get(&format!("{LIST}?q=nothing+like+this")).await.is(200);
        assert_eq!(rows(&none), [0_i64; 0]);
    }
}

#[tokio::test]
async fn a_new_secret_replaces_the_old_one_and_issued_tokens_stay_valid() {
    for (service, panel) in super::panels().await {
        let created = create(&service, &panel, &["webhooks"]).await;
        let anonymous = service.anonymous();
        let asked = created.credentials(&created.secret, "public");
        let holder = anonymous.with_token(&asked).await;
        let rotate = format!("{}/rotate_secret", created.path);
        let form = panel.get(&rotate).await.is(200).form(&rotate);
        let sent = panel.send(&form).await.leads_to(&format!("{}/edit", created.path));
        let page = panel.follow(&sent).await.is(200).lacks(&created.secret);
        let [uid, secret]: [String; 2] = page.secrets().try_into().unwrap();
        assert_eq!(uid, created.uid);
        assert_ne!(secret, created.secret);
        anonymous.post("/oauth/token", &asked).await.is(401);
        anonymous.post("/oauth/token", &created.credentials(&secret, "public")).await.is(200);
        let bearer = holder.token.clone().unwrap();
        let told = holder.post("/oauth/introspect", &json!({"token": bearer})).await.is(200);
        assert_eq!(told.body["active"], true);
        panel.get(&format!("{}/edit", created.path)).await.is(200).lacks(&secret);
        assert_eq!(panel.times_seen(&secret), 1);
    }
}

#[tokio::test]
async fn a_revoked_client_is_gone_with_its_tokens_permissions_and_registrations() {
    for (service, panel) in super::panels().await {
        let id = service.store.clients().find_by_uid("id_city_full").await.unwrap().unwrap().0;
        let machine = service.machine().await;
        let body = json!({"data": {"attributes": {"url": "https://hooks.client.example/civic",
            "subscriptions": ["proposal_creation.succeeded"]}}});
        let registered = machine.post("/webhook_registrations", &body).await.is(201);
        let registration = registered.data()["id"].as_str().unwrap().to_owned();
        machine.get("/proposals").await.is(200);

        let path = format!("{LIST}/{id}");
        let form = panel.get(&format!("{path}/revoke")).await.is(200).form(&path);
        let refused = panel.send(&form.set("confirm", "Fool")).await.is(422);
        machine.get("/proposals").await.is(200);
        let again = refused.form(&path).set("confirm", "Full");
        let sent = panel.send(&again).await.leads_to(LIST);
        panel.follow(&sent).await.is(200).shows("Client Revoked");

        machine.get("/proposals").await.refuses(401, "Unauthorized access");
        let asked = json!({"grant_type": "client_credentials", "client_id": "id_city_full",
            "client_secret": "key_city_full", "scope": "public"});
        service.anonymous().post("/oauth/token", &asked).await.is(401);
        for gone in [&path, &format!("{path}/edit"), &format!("{path}/revoke")] {
            panel.get(gone).await.is(404);
        }
        panel.get(&format!("/system/webhook_registrations/{registration}/delete")).await.is(404);
        panel.act("DELETE", &path, &[]).await.is(404);
    }
}

#[tokio::test]
async fn a_program_revokes_a_client_without_the_page_that_asks() {
    for (service, panel) in super::panels().await {
        let created = create(&service, &panel, &[]).await;
        panel.act("DELETE", &created.path, &[]).await.leads_to(LIST);
        panel.get(&created.path).await.is(404);
    }
}

#[tokio::test]
async fn an_organization_beyond_those_that_are_offered_is_shown_by_number_and_chosen_from_its_page() {
    let others = (0..100).map(|number| {
        json!({"type": "organization", "ref": format!("o{number}"), "host": format!("o{number}.test"),
            "name": {"en": format!("Aldtown {number}")}, "available_locales": ["en"], "default_locale": "en"})
    });
    let cities = others.fold(CITIES.to_owned(), |cities, other| format!("{cities}{other}\n"));
    for service in Service::on_both_engines_with(&cities, &[]).await {
        let panel = service.administrator().await;
        let city = service.id("organization", "city").to_string();
        let form = panel.get(&format!("{LIST}/new?organization={city}")).await.is(200).form(LIST);
        assert_eq!(form.values(ORGANIZATION), [city.as_str()]);
        let refused = panel.send(&form.clone().set(NAME, "")).await.is(422).form(LIST);
        assert_eq!(refused.values(ORGANIZATION), [city.as_str()]);
        panel.send(&form.set(NAME, "Participation app")).await.is(302);
        panel.get(LIST).await.is(200).shows(&format!("Organization {city}"));
        panel.get(&format!("{LIST}?organization={city}")).await.is(200).shows("Riverton");
    }
}
