//! Absolute addresses: every one that the program writes has the scheme, the host and the port of its organization
//! (contract 01 §10, 02 §2.5).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use civitas_api::routes;
use civitas_kernel::OrganizationId;
use civitas_tests::mail_server::MailServer;
use civitas_tests::service::{BASE, CITIES, Client, Service};
use reqwest::Method;
use serde_json::{Value, json};
use std::collections::BTreeSet;

const FORMS: &str = include_str!("../../fixtures/forms.ndjson");
const IPV6: &str = "2001:db8::1";

/// The addresses in a text.
fn addresses(text: &str) -> impl Iterator<Item = &str> {
    let is_end = |character: char| character.is_whitespace() || "\"'<>\\),".contains(character);
    text.match_indices("http").filter_map(move |(at, _)| {
        let address = text[at..].split(is_end).next()?;
        address
            .split_once("://")
            .is_some_and(|(scheme, _)| matches!(scheme, "http" | "https"))
            .then_some(address)
    })
}

/// The addresses that were seen of an organization.
struct Seen {
    /// How each begins.
    origin: String,
    /// What the organization was made of; it has addresses of its own.
    archive: String,
    addresses: BTreeSet<String>,
}

impl Seen {
    /// Checks all addresses of a text.
    fn check(&mut self, from: &str, text: &str) {
        for address in addresses(text) {
            let is_own = address
                .strip_prefix(&self.origin)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
            assert!(
                is_own || self.archive.contains(address),
                "{address} in {from}, not below {}",
                self.origin
            );
            if is_own {
                self.addresses.insert(address.to_owned());
            }
        }
    }

    /// Reads all lists, and every address of the interface that is found.
    async fn walk(&mut self, client: &Client) {
        let is_list = |path: &str| !path.contains('{') && path != "/events";
        let lists = routes().into_iter().filter(|route| route.method == "GET" && is_list(&route.path));
        let mut open: Vec<String> =
            lists.map(|route| format!("{BASE}{}?page=2&per_page=1", route.path)).collect();
        let mut visited = BTreeSet::new();
        while let Some(path) = open.pop() {
            if !visited.insert(path.clone()) {
                continue;
            }
            let answer = client.raw(Method::GET, &path, &[], None).await;
            let before = self.addresses.clone();
            self.check(&path, &answer.text);
            self.check(&path, &format!("{:?}", answer.headers));
            let found =
                self.addresses.difference(&before).filter_map(|address| address.strip_prefix(&self.origin));
            open.extend(
                found.filter(|path| path.starts_with(BASE) && visited.len() < 400).map(str::to_owned),
            );
        }
    }
}

/// The claims of a token.
fn claims(token: &str) -> Value {
    let claims = token.split('.').nth(1).unwrap();
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).unwrap()).unwrap()
}

/// Checks that metadata, token and introspection name one issuer.
async fn check_issuer(seen: &mut Seen, machine: &Client) {
    let path = "/.well-known/oauth-authorization-server";
    let metadata = machine.raw(Method::GET, path, &[], None).await.is(200);
    seen.check("the metadata", &metadata.text);
    let token = machine.token.clone().unwrap();
    let claims = claims(&token);
    assert_eq!((&claims["iss"], &claims["aud"]), (&metadata.body["issuer"], &json!(seen.origin)));
    let found = machine.post("/oauth/introspect", &json!({"token": token})).await.is(200);
    assert_eq!(found.body["aud"], claims["aud"]);
}

#[tokio::test]
async fn every_address_has_scheme_host_and_port_of_its_organization() {
    for (host, written) in [("city.test", "city.test"), (IPV6, "[2001:db8::1]")] {
        let mails = MailServer::open().await;
        let smtp = mails.url("");
        let settings = [
            ("public_scheme", "http"),
            ("public_port", "8080"),
            ("smtp_url", smtp.as_str()),
            ("mail_from", "no-reply@city.example"),
        ];
        let archive = format!("{CITIES}{FORMS}").replace("\"city.test\"", &format!("\"{host}\""));
        for service in Service::on_both_engines_with(&archive, &settings).await {
            let origin = format!("http://{written}:8080");
            let anonymous = service.at(&format!("{written}:8080"));
            let mut seen =
                Seen { origin: origin.clone(), archive: archive.clone(), addresses: BTreeSet::new() };

            let scope = "public proposals meetings blogs oauth roles surveys attachments webhooks";
            let grant = json!({"grant_type": "client_credentials", "client_id": "id_city_full",
                "client_secret": "key_city_full", "scope": scope});
            let machine = anonymous.with_token(&grant).await;
            let grant = json!({"grant_type": "password", "auth_type": "impersonate", "username": "norablum",
                "client_id": "id_city_full", "client_secret": "key_city_full", "scope": scope});
            let nora = anonymous.with_token(&grant).await;

            check_issuer(&mut seen, &machine).await;
            let link = nora.post("/me/magic_links", &json!({})).await;
            seen.check("a magic link", &link.text);
            let draft = json!({"data": {"component_id": service.id("component", "ideas"), "title": "More benches",
                "body": "Old people would like to sit down, and so would I."}});
            let accepted = nora.post("/draft_proposals", &draft).await.is(202);
            seen.check("a job", &accepted.text);
            assert_eq!(nora.finished(&accepted).await["status"], "completed");
            seen.walk(&machine).await;
            seen.walk(&nora).await;
            for event in machine.get("/webhook_events/proposal_creation.succeeded").await.is(200).text.lines()
            {
                seen.check("an example of an event", event);
            }
            let city = OrganizationId(service.id("organization", "city"));
            for event in service.store.outbox().page_after(city, None, 100).await.unwrap() {
                seen.check("an event", &event.payload);
            }
            let document = anonymous.get("/openapi.json").await.is(200).body;
            assert_eq!(document["servers"][0]["url"], format!("http://{{host}}:8080{BASE}"));

            let new = format!("{:?}_newcomer", service.engine).to_lowercase();
            let email = format!("{new}@city.example");
            let mut register = grant.clone();
            register["username"] = json!(new);
            register["meta"] = json!({"register_on_missing": true, "email": email});
            anonymous.with_token(&register).await;
            seen.check("a mail", mails.wait_for(&email, 1).await[0].link());

            let below =
                |path: &str| seen.addresses.iter().any(|address| address[origin.len()..].starts_with(path));
            for path in
                ["/confirmation/", "/public/", &format!("{BASE}/jobs/"), &format!("{BASE}/proposals/")]
            {
                assert!(below(path), "{path} in {:#?}", seen.addresses);
            }
            assert!(seen.addresses.len() > 50, "{:#?}", seen.addresses);
        }
    }
}
