//! Webhooks from the change to the receiver: a running server, and receivers that verify every delivery.

#![expect(clippy::unwrap_used, reason = "a test ends at what it did not expect")]

mod faults;
mod load;
mod log;
mod reminders;
mod shares;
mod sources;

use civitas_application::{EventCommitter, SiteSettings};
use civitas_archive::{ImportOptions, import};
use civitas_audit::Actor;
use civitas_event_delivery::{WebhookAdministration, WebhookChanges};
use civitas_kernel::{Ability, EventName, OrganizationId, RegistrationId, clock, sortable_id};
use civitas_tests::{CITIES, Client, Received, Receiver, Secrets, Service, import_options};
use civitas_tokens::Argon2Passwords;
use civitas_webhooks::{LoggedDelivery, OutboxEvent, envelope};
use serde_json::{Value, json};

/// The API client with all rights to webhooks, and all event permissions.
const CLIENT: &str = r#"{"type": "api_client", "ref": "hooks", "organization": "city", "client_id": "id_city_hooks",
    "client_secret": "key_city_hooks", "name": "Hooks",
    "scopes": ["public", "oauth", "proposals", "meetings", "system", "webhooks"],
    "permissions": ["webhooks.read", "webhooks.write", "webhooks.destroy", "oauth.impersonate",
        "oauth.extended_data.update", "proposals.draft", "system.organizations.read", "system.organizations.update",
        "draft_proposal_creation.succeeded", "draft_proposal_update.succeeded", "proposal_creation.succeeded",
        "proposal_update.succeeded", "proposal_state_change.succeeded", "meetings.upcoming_reminder.succeeded",
        "participatory_process.step_activated.succeeded", "system.organizations.created",
        "system.organizations.updated", "system.organizations.deleted", "user.created", "user.updated"]}"#;
/// A deployment-wide client.
const WIDE: &str = r#"{"type": "api_client", "ref": "wide", "organization": null, "client_id": "id_whole_deployment",
    "client_secret": "key_whole_deployment", "name": "Wide", "scopes": ["system"],
    "permissions": ["system.organizations.created", "system.organizations.updated", "system.organizations.deleted"]}"#;

/// All events.
fn all_events() -> Vec<EventName> {
    Ability::ALL.iter().copied().filter(|ability| ability.is_event()).collect()
}

/// A running server and a receiver.
struct Platform {
    service: Service,
    receiver: Receiver,
    secrets: Secrets,
    /// The client of [`CLIENT`].
    client: Client,
}

impl Platform {
    async fn on_both_engines(settings: &[(&str, &str)]) -> Vec<Self> {
        let one_line = |json: &str| json.replace('\n', " ");
        let archive = format!("{CITIES}\n{}\n{}\n", one_line(CLIENT), one_line(WIDE));
        let mut all = vec![("webhook_allowed_networks", "127.0.0.0/8")];
        all.extend(settings);
        let mut platforms = Vec::new();
        for service in Service::on_both_engines_with(&archive, &all).await {
            let client = service
                .anonymous()
                .with_token(&json!({"grant_type": "client_credentials", "client_id": "id_city_hooks",
                    "client_secret": "key_city_hooks", "scope": "public oauth proposals meetings system webhooks"}))
                .await;
            let receiver = Receiver::start().await;
            platforms.push(Self { service, receiver, secrets: Secrets::default(), client });
        }
        platforms
    }

    /// Registers an address of the receiver for these events.
    async fn register(&mut self, path: &str, events: &[EventName]) -> RegistrationId {
        let url = self.receiver.url(path);
        self.register_at(path, &url, events).await
    }

    /// Registers this address. `path`: the one its secret is known by.
    async fn register_at(&mut self, path: &str, url: &str, events: &[EventName]) -> RegistrationId {
        let names: Vec<_> = events.iter().map(|event| event.as_str()).collect();
        let body = json!({"data": {"attributes": {"url": url, "subscriptions": names}}});
        let created = self.client.post("/webhook_registrations", &body).await.is(201);
        let secret = created.data()["attributes"]["signing_secret"].as_str().expect("a secret");
        self.secrets.add(path, secret);
        let id = created.data()["id"].as_str().and_then(|id| id.parse().ok()).expect("an id");
        RegistrationId(id)
    }

    /// Imports lines, with their events.
    async fn emit(&self, lines: &str) {
        let committer = event_committer();
        let options = ImportOptions { committer: Some(&committer), ..import_options(clock::now()) };
        let store = &*self.service.store;
        import(store, &Argon2Passwords::new(), lines.as_bytes(), options, &mut |_| {})
            .await
            .expect("an archive");
    }

    /// Stores events of one kind in the outbox of `city.test`, in batches. Returns the numbers in their bodies.
    async fn append_events(&self, event: EventName, count: usize) -> Vec<String> {
        let organization = self.city();
        let ids: Vec<String> = (0..count).map(|number| number.to_string()).collect();
        for batch in ids.chunks(500) {
            let events: Vec<_> = batch.iter().map(|id| outbox_event(organization, event, id)).collect();
            self.service.store.outbox().append(&events).await.expect("a database");
        }
        ids
    }

    fn city(&self) -> OrganizationId {
        OrganizationId(self.service.id("organization", "city"))
    }

    fn admin(&self) -> WebhookAdministration<'_> {
        WebhookAdministration { store: &*self.service.store, organization: Some(self.city()) }
    }

    /// A change of an administrator of `city.test`.
    async fn change<T>(&self, work: impl AsyncFnOnce(WebhookChanges<'_>) -> civitas_kernel::Result<T>) -> T {
        let tx = self.service.store.begin().await.expect("a database");
        let changes = WebhookChanges {
            tx: &*tx,
            organization: Some(self.city()),
            actor: Actor::Administrator { id: 1, email: "ada@example.org".to_owned() },
            from: None,
            now: civitas_kernel::clock::now(),
        };
        let done = work(changes).await.expect("an allowed change");
        tx.commit().await.expect("a database");
        done
    }

    /// The newest 100 deliveries of a registration, when none is pending.
    async fn ended(&self, registration: RegistrationId) -> Vec<LoggedDelivery> {
        let filter =
            civitas_webhooks::DeliveryFilter { registration: Some(registration), ..Default::default() };
        let page = civitas_kernel::PageRequest::new(1, 100);
        for _ in 0..600 {
            let found = self.admin().deliveries(&filter, page).await.expect("a database").items;
            if !found.is_empty() && found.iter().all(|one| one.ended_at.is_some()) {
                return found;
            }
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
        panic!("a delivery does not end")
    }

    /// Verifies requests, and returns the names of their events, in order of the names.
    fn events_of(&self, received: &[Received]) -> Vec<String> {
        let mut names: Vec<_> = received
            .iter()
            .map(|one| {
                self.secrets.verify(one);
                one.event()
            })
            .collect();
        names.sort();
        names
    }
}

fn event_committer() -> EventCommitter {
    civitas_api::event_committer(SiteSettings::default())
}

fn outbox_event(organization: OrganizationId, name: EventName, id: &str) -> OutboxEvent {
    let payload = envelope(name, &json!({"id": id}));
    OutboxEvent { id: sortable_id(), organization, name, payload, occurred_at: clock::now() }
}

/// The id of the record in each body.
fn subjects(received: &[Received]) -> std::collections::BTreeSet<String> {
    received.iter().map(|one| one.json()["data"]["id"].as_str().expect("an id").to_owned()).collect()
}

/// The names of the members of an object, also of the objects in it: `data.attributes.title`. Translated texts have the
/// languages of the organization, and are not followed.
fn members(value: &Value, path: &str, found: &mut std::collections::BTreeSet<String>) {
    const TEXTS: [&str; 7] =
        ["title", "body", "description", "short_description", "subtitle", "name", "extended_data"];
    match value {
        Value::Object(members) => {
            for (name, inner) in members {
                let path = format!("{path}.{name}");
                if !TEXTS.contains(&name.as_str()) || name == "title" && inner.is_string() {
                    self::members(inner, &path, found);
                }
                found.insert(path);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| members(item, &format!("{path}[]"), found)),
        _ => {}
    }
}
