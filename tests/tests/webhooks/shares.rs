//! One client does its worst; the deliveries of other clients and organizations keep their pace.

use super::{Platform, outbox_event};
use civitas_kernel::{Ability, EventName, OrganizationId};
use civitas_tests::{Behaviour, Client, Receiver};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio::net::TcpStream;
use tokio::time::sleep;

/// The event of the client that does its worst.
const CREATED: EventName = Ability::ProposalCreation;
/// The event of others.
const DRAFTED: EventName = Ability::DraftProposalCreation;
/// The open files that many systems permit.
const OPEN_FILES: u64 = 1_024;

/// Another client, and the receiver of its one registration.
struct Other {
    organization: OrganizationId,
    receiver: Receiver,
}

impl Other {
    async fn of(platform: &Platform, organization: &str, client: &str) -> Self {
        let receiver = Receiver::start().await;
        let of_client = token(platform, organization, client).await;
        of_client.post("/webhook_registrations", &body(&receiver.url("/"), DRAFTED)).await.is(201);
        let id = platform.service.id_in(organization, "organization", organization);
        Self { organization: OrganizationId(id), receiver }
    }

    /// The longest of several times from an event to its receiver.
    async fn pace(&self, platform: &Platform) -> Duration {
        let mut longest = Duration::ZERO;
        for _ in 0..5 {
            let (count, begun) = (self.receiver.count() + 1, Instant::now());
            let event = outbox_event(self.organization, DRAFTED, "1");
            platform.service.store.outbox().append(&[event]).await.unwrap();
            self.receiver.wait_for(count).await;
            longest = longest.max(begun.elapsed());
            sleep(Duration::from_millis(100)).await;
        }
        longest
    }
}

async fn token(platform: &Platform, organization: &str, client: &str) -> Client {
    let (id, secret) = (format!("id_{organization}_{client}"), format!("key_{organization}_{client}"));
    let asked = json!({"grant_type": "client_credentials", "client_id": id, "client_secret": secret,
        "scope": "proposals webhooks"});
    platform.service.at(&format!("{organization}.test")).with_token(&asked).await
}

fn body(url: &str, event: EventName) -> Value {
    json!({"data": {"attributes": {"url": url, "subscriptions": [event.as_str()]}}})
}

impl Platform {
    /// Registrations at different paths of a receiver, more than the interface accepts.
    async fn register_many(&self, receiver: &Receiver, count: usize) {
        for number in 0..count {
            let url = receiver.url(&format!("/{number}"));
            self.add_registration("id_city_hooks", Some(self.city()), url, &[CREATED]).await;
        }
    }

    /// Checks that the deliveries of others take at most three times as long as before, or less than a second.
    async fn others_keep_their_pace(&self, others: &[(Other, Duration)], what: &str) {
        for (other, alone) in others {
            let beside = other.pace(self).await;
            let engine = self.service.engine;
            eprintln!("{engine:?}, {what}: {alone:?} alone, {beside:?} beside");
            assert!(beside < Duration::from_secs(1).max(*alone * 3), "{engine:?}, {what}: {beside:?}");
        }
    }

    /// Another organization, and another client of the same one, with their paces.
    async fn others(&self) -> Vec<(Other, Duration)> {
        let mut others = Vec::new();
        for (organization, client) in [("town", "full"), ("city", "second")] {
            let other = Other::of(self, organization, client).await;
            let alone = other.pace(self).await;
            others.push((other, alone));
        }
        others
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn three_hundred_silent_receivers_of_a_client_delay_no_other() {
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(OPEN_FILES), ..limit }).unwrap();
    for platform in Platform::on_both_engines(&[]).await {
        let others = platform.others().await;
        let silent = Receiver::start().await;
        silent.behave(Behaviour::Silence);
        platform.register_many(&silent, 300).await;
        platform.append_events(CREATED, 12).await;
        silent.wait_for(20).await;
        sleep(Duration::from_secs(1)).await;
        let at_once = silent.count();
        for _ in 0..3 {
            platform.others_keep_their_pace(&others, "beside silent receivers").await;
            for _ in 0..50 {
                TcpStream::connect(platform.service.address).await.unwrap();
            }
            platform.service.anonymous().get("/health").await.is(200);
            sleep(Duration::from_secs(1)).await;
        }
        assert_eq!(at_once, 20);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_event_is_no_flood_of_requests_to_one_host() {
    for platform in Platform::on_both_engines(&[]).await {
        let others = platform.others().await;
        let victim = Receiver::start().await;
        platform.register_many(&victim, 400).await;
        platform.append_events(CREATED, 1).await;
        victim.wait_for(1).await;
        platform.others_keep_their_pace(&others, "beside many registrations at one host").await;
        let received = victim.wait_for(400).await;
        let in_a_second = |from: Instant| {
            received.iter().filter(|one| one.at >= from && one.at < from + Duration::from_secs(1)).count()
        };
        let most = received.iter().map(|one| in_a_second(one.at)).max().unwrap();
        // 20 at once, 50 more, and 50 within the second.
        assert!(most <= 125, "{most} requests within a second");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_has_at_most_a_hundred_registrations() {
    for platform in Platform::on_both_engines(&[]).await {
        let hooks = &platform.client;
        let register = async |number: usize| {
            let url = platform.receiver.url(&format!("/{number}"));
            hooks.post("/webhook_registrations", &body(&url, CREATED)).await
        };
        for number in 0..99 {
            register(number).await.is(201);
        }
        let (one, two) = tokio::join!(register(100), register(101));
        let (stored, refused) = if one.status == 201 { (one, two) } else { (two, one) };
        let refused = refused.refuses(400, "A client has at most 100 webhook registrations");
        assert_eq!(refused.body["error"], "400: Bad request");
        assert_eq!(refused.body["error_details"][0]["code"], "too_many");
        let second = token(&platform, "city", "second").await;
        second.post("/webhook_registrations", &body(&platform.receiver.url("/"), CREATED)).await.is(201);
        let id = stored.is(201).data()["id"].as_str().unwrap().to_owned();
        hooks.delete(&format!("/webhook_registrations/{id}")).await.is(204);
        register(102).await.is(201);
    }
}
