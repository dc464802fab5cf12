//! Every event of the catalogue, from the change to the receiver (contract 09 C.1, C.2).

use super::{Platform, all_events, event_committer, members};
use civitas_kernel::{Ability, EventName, OrganizationId, clock};
use civitas_tests::{Received, Validator, delete_organization};
use civitas_webhooks::{Registration, SecretCipher, SigningSecret};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const SECRET: &str = "8f2a1c4e6b7d90315a2f4c6e8b0d1f3a5c7e9b1d3f5a7c9e0b2d4f6a8c0e2f4a";
const KEY: [u8; 32] = [
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28,
    29, 30, 31,
];

impl Platform {
    /// A registration of the deployment-wide client, which has no token for the interface.
    async fn register_for_deployment(&mut self, path: &str, events: &[EventName]) {
        self.add_registration("id_whole_deployment", None, self.receiver.url(path), events).await;
        self.secrets.add(path, SECRET);
    }

    /// Stores a registration without the checks of the interface.
    pub(super) async fn add_registration(
        &self,
        client_uid: &str,
        organization: Option<OrganizationId>,
        url: String,
        events: &[EventName],
    ) {
        let store = &self.service.store;
        let (client, _) = store.clients().find_by_uid(client_uid).await.unwrap().unwrap();
        let secret = civitas_tokens::WebhookCipher::new(&civitas_tokens::SecretKeys::single(KEY))
            .seal(&SigningSecret::new(SECRET))
            .unwrap();
        let new = Registration::new(client, organization, url, secret, clock::now());
        let registration = Registration { subscriptions: events.to_vec(), ..new };
        store.registrations().add(&registration).await.unwrap().unwrap();
    }

    /// The first delivery of an event; its members are those of the example.
    async fn delivered(&self, event: EventName) -> Received {
        let name = event.as_str();
        let of_event = |all: &[Received]| all.iter().find(|one| one.event() == name).cloned();
        let all = self.receiver.wait_until(name, |all| of_event(all).is_some()).await;
        let delivered = of_event(&all).unwrap();
        self.secrets.verify(&delivered);
        let example = self.client.get(&format!("/webhook_events/{name}")).await.is(200).body;
        assert_eq!(all_members(&delivered.json()), all_members(&example), "{name}");
        let misfits = Validator::new().misfits_of("WebhookDeliveryEnvelope", &delivered.json());
        assert!(misfits.is_empty(), "{name}: {misfits:?}");
        delivered
    }
}

fn all_members(value: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    members(value, "", &mut found);
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn every_event_of_the_catalogue_arrives_with_the_members_of_its_example() {
    for mut platform in Platform::on_both_engines(&[]).await {
        platform.register("/", &all_events()).await;
        platform
            .register_for_deployment("/wide", &[Ability::OrganizationCreated, Ability::OrganizationDeleted])
            .await;
        proposals(&platform).await;
        people(&platform).await;
        organizations(&platform).await;
        let step = r#"{"type": "step", "ref": "collect", "organization": "city", "active": true}"#;
        platform.emit(step).await;
        let activated = platform.delivered(Ability::StepActivated).await.json();
        assert_eq!(activated["data"]["meta"]["active_step_title"], "Collect");
    }
}

async fn proposals(platform: &Platform) {
    let user = platform.service.anonymous();
    let user = user
        .with_token(&json!({"grant_type": "password", "auth_type": "impersonate", "username": "norablum",
            "client_id": "id_city_hooks", "client_secret": "key_city_hooks", "scope": "proposals"}))
        .await;
    let component = platform.service.id("component", "ideas");
    let created =
        user.post("/draft_proposals/sync", &json!({"data": {"component_id": component}})).await.is(200);
    let id = created.data()["id"].as_str().unwrap().to_owned();
    let draft = platform.delivered(Ability::DraftProposalCreation).await.json();
    assert_eq!(draft["data"]["id"], id);
    let texts =
        json!({"data": {"title": "Benches for the park", "body": "Near every entrance of the park."}});
    user.put(&format!("/draft_proposals/{id}/sync"), &texts).await.is(200);
    platform.delivered(Ability::DraftProposalUpdate).await;
    user.post(&format!("/draft_proposals/{id}/publish"), &json!({})).await.is(202);
    let published = platform.delivered(Ability::ProposalCreation).await.json();
    assert_eq!(published["data"]["type"], "proposal");
    assert!(published["data"]["attributes"].get("extended_data").is_none());
    let publish = r#"{"type": "proposal", "ref": "luisdraft", "organization": "city", "published_at": "2026-02-01T09:00:00Z"}"#;
    platform.emit(publish).await;
    let edited = r#"{"type": "proposal", "ref": "luisdraft", "organization": "city", "body": {"en": "Three on each side of the street."}}"#;
    platform.emit(edited).await;
    platform.delivered(Ability::ProposalUpdate).await;
    let accepted = r#"{"type": "proposal", "ref": "luisdraft", "organization": "city", "state": "accepted", "state_published_at": "2026-03-01T00:00:00Z"}"#;
    platform.emit(accepted).await;
    let state = platform.delivered(Ability::ProposalStateChange).await.json();
    assert_eq!(state["data"]["relationships"]["state"]["meta"]["token"], "accepted");
}

async fn people(platform: &Platform) {
    let request = json!({"grant_type": "password", "auth_type": "impersonate", "username": "new_person",
        "client_id": "id_city_hooks", "client_secret": "key_city_hooks", "scope": "oauth",
        "meta": {"register_on_missing": true, "email": "new@city.example", "name": "New Person",
            "accept_tos_on_register": true, "skip_confirmation_on_register": true}});
    let person = platform.service.anonymous().with_token(&request).await;
    let created = platform.delivered(Ability::UserCreated).await.json();
    assert_eq!(created["data"]["attributes"]["nickname"], "new_person");
    assert_eq!(created["data"]["attributes"]["extended_data"], json!({}));
    person.put("/me/extended_data/sync", &json!({"data": {"points": 3}, "object_path": "."})).await.is(200);
    platform.delivered(Ability::UserUpdated).await;
}

async fn organizations(platform: &Platform) {
    let id = platform.service.id("organization", "city");
    // The new host is pending: it does not lead here.
    let body = json!({"data": {"reference_prefix": "RIV", "host": "pending.city.example"}});
    platform.client.put(&format!("/organizations/{id}/sync"), &body).await.is(200);
    let updated = platform.delivered(Ability::OrganizationUpdated).await.json();
    assert_eq!(updated["data"]["attributes"]["reference_prefix"], "RIV");
    let created = r#"{"type": "organization", "ref": "new", "host": "new.test", "name": {"en": "New"},
        "available_locales": ["en"], "default_locale": "en"}"#;
    platform.emit(&created.replace('\n', " ")).await;
    let created = platform.delivered(Ability::OrganizationCreated).await;
    assert_eq!(
        (created.target.as_str(), &created.json()["data"]["attributes"]["host"]),
        ("/wide", &json!("new.test"))
    );
    let found = platform.service.store.organizations().find_by_host("new.test").await.unwrap().unwrap();
    delete_organization(&*platform.service.store, &event_committer(), found, clock::now()).await.unwrap();
    let deleted = platform.delivered(Ability::OrganizationDeleted).await;
    assert_eq!(
        (deleted.target.as_str(), &deleted.json()["data"]["id"]),
        ("/wide", &json!(found.0.to_string()))
    );
}
