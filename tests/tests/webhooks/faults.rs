//! Receivers that fail, are slow, or want no more.

use super::{Platform, subjects};
use civitas_kernel::{Ability, ClientId, EventName};
use civitas_tests::{Behaviour, Receiver, at_once};
use civitas_webhooks::DeliveryStatus;
use serde_json::json;
use std::time::Duration;

const CREATED: EventName = Ability::ProposalCreation;
/// Three attempts, the delays of a second.
const FAST: [(&str, &str); 1] = [("webhook_retry_delays_seconds", "1, 1")];

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_delivery_is_sent_again_with_its_id_and_bytes_and_a_new_timestamp() {
    at_once(Platform::on_both_engines(&FAST).await, |mut platform| async move {
        let registration = platform.register("/hook?a=b", &[CREATED]).await;
        platform.receiver.behave(Behaviour::Answer(500));
        platform.append_events(CREATED, 1).await;
        let first = platform.receiver.wait_for(1).await.remove(0);
        platform.receiver.behave(Behaviour::Answer(200));
        let all = platform.receiver.wait_for(2).await;
        platform.events_of(&all);
        assert_eq!((all[1].id(), &all[1].body), (first.id(), &first.body));
        assert_ne!(all[1].header("x-webhook-timestamp"), first.header("x-webhook-timestamp"));
        assert_eq!(all[1].header("user-agent"), "civitas-webhook/1");
        assert_eq!(all[1].header("content-type"), "application/json");
        let ended = platform.ended(registration).await;
        assert_eq!((ended[0].status, ended[0].attempts), (DeliveryStatus::Delivered, 2));
        let (_, attempts) = platform.admin().delivery(ended[0].id).await.unwrap();
        let statuses: Vec<_> = attempts.iter().map(|one| one.result.as_ref().unwrap().status).collect();
        assert_eq!(statuses, [500, 200]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn after_the_last_attempt_it_is_dead_and_a_replay_sends_it_once_more() {
    at_once(Platform::on_both_engines(&FAST).await, |mut platform| async move {
        let registration = platform.register("/", &[CREATED]).await;
        platform.receiver.behave(Behaviour::Answer(302));
        platform.append_events(CREATED, 1).await;
        platform.receiver.wait_for(3).await;
        let ended = platform.ended(registration).await;
        assert_eq!((ended[0].status, ended[0].attempts), (DeliveryStatus::Dead, 3));
        platform.receiver.behave(Behaviour::Answer(204));
        let failed = civitas_webhooks::ReplaySelection::Failed(registration);
        assert_eq!(platform.change(async |changes| changes.replay(&failed).await).await, 1);
        let all = platform.receiver.wait_for(4).await;
        assert_eq!(platform.receiver.ids().len(), 1, "the id is the same in every attempt");
        platform.events_of(&all);
        assert_eq!(platform.ended(registration).await[0].status, DeliveryStatus::Delivered);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_410_disables_the_registration_and_a_put_enables_it() {
    at_once(Platform::on_both_engines(&FAST).await, |mut platform| async move {
        let registration = platform.register("/", &[CREATED]).await;
        platform.receiver.behave(Behaviour::Answer(410));
        platform.append_events(CREATED, 1).await;
        platform.receiver.wait_for(1).await;
        assert_eq!(platform.ended(registration).await[0].status, DeliveryStatus::Dead);
        platform.receiver.behave(Behaviour::Answer(200));
        platform.append_events(CREATED, 1).await;
        tokio::time::sleep(Duration::from_secs(2)).await;
        assert_eq!(platform.receiver.count(), 1, "nothing is queued for it");
        let path = format!("/webhook_registrations/{}", registration.0);
        let body = json!({"data": {"attributes": {"url": platform.receiver.url("/"),
            "subscriptions": [CREATED.as_str()]}}});
        platform.client.put(&path, &body).await.is(200);
        platform.append_events(CREATED, 1).await;
        platform.receiver.wait_for(2).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn retry_after_lengthens_the_delay() {
    at_once(Platform::on_both_engines(&FAST).await, |mut platform| async move {
        platform.register("/", &[CREATED]).await;
        platform.receiver.behave(Behaviour::RetryAfter(503, 4));
        platform.append_events(CREATED, 1).await;
        platform.receiver.wait_for(1).await;
        platform.receiver.behave(Behaviour::Answer(200));
        let all = platform.receiver.wait_for(2).await;
        assert!(all[1].at - all[0].at >= Duration::from_secs(4));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_withdrawn_permission_drops_what_is_pending() {
    at_once(
        Platform::on_both_engines(&[("webhook_retry_delays_seconds", "3")]).await,
        |mut platform| async move {
            let registration = platform.register("/", &[CREATED]).await;
            platform.receiver.behave(Behaviour::Answer(500));
            platform.append_events(CREATED, 1).await;
            platform.receiver.wait_for(1).await;
            let clients = platform.service.store.clients();
            let (id, mut client) = clients.find_by_uid("id_city_hooks").await.unwrap().unwrap();
            client.permissions.remove(CREATED);
            clients.save(ClientId(id.0), &client).await.unwrap();
            let ended = platform.ended(registration).await;
            assert_eq!((ended[0].status, platform.receiver.count()), (DeliveryStatus::Dropped, 1));
            platform.append_events(CREATED, 1).await;
            tokio::time::sleep(Duration::from_secs(2)).await;
            assert_eq!(platform.receiver.count(), 1);
        },
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_switched_off_feature_and_a_deleted_registration_receive_nothing() {
    at_once(Platform::on_both_engines(&FAST).await, |mut platform| async move {
        let registration = platform.register("/", &[CREATED, Ability::UserCreated]).await;
        let off = r#"{"type": "organization", "ref": "city", "features": {"proposals_enabled": false}}"#;
        platform.emit(&format!("{off}\n")).await;
        platform.append_events(CREATED, 1).await;
        platform.append_events(Ability::UserCreated, 1).await;
        let all = platform.receiver.wait_for(1).await;
        assert_eq!(platform.events_of(&all), ["user.created"]);
        platform.client.delete(&format!("/webhook_registrations/{}", registration.0)).await.is(204);
        platform.append_events(Ability::UserCreated, 1).await;
        tokio::time::sleep(Duration::from_secs(2)).await;
        assert_eq!(platform.receiver.count(), 1);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_silent_receiver_gets_ten_requests_at_most_and_delays_no_other() {
    for mut platform in Platform::on_both_engines(&FAST).await {
        let silent = Receiver::start().await;
        silent.behave(Behaviour::Silence);
        platform.register_at("/silent", &silent.url("/silent"), &[CREATED]).await;
        platform.register("/a", &[CREATED]).await;
        platform.append_events(CREATED, 100).await;
        platform.receiver.wait_for(100).await;
        // The client has 20 permits; the other registration may use one of the half for further requests.
        silent.wait_for(9).await;
        assert!((9..=10).contains(&silent.most_at_once()), "{}", silent.most_at_once());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paused_registration_receives_what_waited_when_it_is_resumed() {
    at_once(Platform::on_both_engines(&FAST).await, |mut platform| async move {
        let registration = platform.register("/", &[CREATED]).await;
        platform.change(async |changes| changes.pause(registration).await).await;
        let ids = platform.append_events(CREATED, 3).await;
        tokio::time::sleep(Duration::from_secs(2)).await;
        assert_eq!(platform.receiver.count(), 0);
        platform.change(async |changes| changes.resume(registration).await).await;
        let all = platform.receiver.wait_for(3).await;
        assert!(subjects(&all).into_iter().eq(ids));
    })
    .await;
}
