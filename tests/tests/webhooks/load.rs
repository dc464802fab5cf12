//! Many events: an outage of a receiver, and one silent receiver beside 20 others.

use super::{Platform, subjects};
use civitas_kernel::{Ability, EventName};
use civitas_tests::{Behaviour, Receiver};
use std::io::Write;
use std::time::{Duration, Instant};

const CREATED: EventName = Ability::ProposalCreation;
const EVENTS: usize = 3_000;
const RECEIVERS: usize = 20;
/// Events for each of the receivers.
const EACH: usize = 50;

#[tokio::test(flavor = "multi_thread")]
async fn all_events_of_an_outage_arrive_after_it() {
    for mut platform in
        Platform::on_both_engines(&[("webhook_retry_delays_seconds", "5, 5, 5, 5, 5, 5, 5")]).await
    {
        platform.register("/", &[CREATED]).await;
        platform.receiver.stop();
        let ids = platform.append_events(CREATED, EVENTS).await;
        tokio::time::sleep(Duration::from_secs(3)).await;
        platform.receiver.listen().await;
        let begun = Instant::now();
        let expected: std::collections::BTreeSet<String> = ids.into_iter().collect();
        // To read the bodies takes long.
        while platform.receiver.count() < EVENTS || subjects(&platform.receiver.received()) != expected {
            let count = platform.receiver.count();
            assert!(begun.elapsed() < Duration::from_secs(240), "{count} of {EVENTS} arrived");
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        assert_eq!(platform.receiver.ids().len(), EVENTS, "each delivery has one id");
        platform.events_of(&platform.receiver.received()[..100]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn twenty_receivers_keep_their_pace_beside_a_silent_one() {
    for mut platform in Platform::on_both_engines(&[]).await {
        for number in 0..RECEIVERS {
            platform.register(&format!("/{number}"), &[CREATED]).await;
        }
        let alone = pace(&platform, 1).await;
        let silent = Receiver::start().await;
        silent.behave(Behaviour::Silence);
        platform.register_at("/silent", &silent.url("/silent"), &[CREATED]).await;
        let beside = pace(&platform, 2).await;
        silent.wait_for(1).await;
        assert!(silent.most_at_once() <= 10);
        let ratio = alone.as_secs_f64() / beside.as_secs_f64();
        let line = format!(
            "{:?}: {} deliveries to {RECEIVERS} receivers in {alone:?}, beside a silent one in {beside:?}: {ratio:.2}\n",
            platform.service.engine,
            RECEIVERS * EACH
        );
        let _ = std::io::stderr().write_all(line.as_bytes());
    }
}

/// How long [`EACH`] events take to arrive at all receivers.
async fn pace(platform: &Platform, round: usize) -> Duration {
    let begun = Instant::now();
    platform.append_events(CREATED, EACH).await;
    platform.receiver.wait_for(round * RECEIVERS * EACH).await;
    begun.elapsed()
}
