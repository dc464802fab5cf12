//! The queue, and leases of registrations.

use super::{NOW, World, at, outbox_event, registration, test_delivery};
use crate::{
    DeliveryContent, DeliveryId, NewDelivery, Registration, RegistrationHealth, WaitingRegistration,
};
use civitas_kernel::{Ability, RegistrationId, Result};
use std::time::{Duration, Instant};

/// A due registration is claimed by one worker; when its lease ends, by another one.
pub async fn claims_a_registration_for_one_worker(world: World<'_>) -> Result<()> {
    let id = world.register("hook").await?;
    assert!(world.claim("one", at(99)).await?.is_empty(), "nothing is due");
    world.queue(id, 10).await?;
    assert!(world.claim("one", at(9)).await?.is_empty(), "not yet due");
    assert_eq!(world.claim("one", at(10)).await?, [id]);
    assert!(world.claim("two", at(11)).await?.is_empty());
    assert!(world.claim("two", at(69)).await?.is_empty());
    assert_eq!(world.claim("two", at(71)).await?, [id], "the lease ended");
    Ok(())
}

/// Registrations that were never served are claimed first, then those served the longest ago. Takes a transaction.
pub async fn claims_those_served_the_longest_ago_first(world: World<'_>) -> Result<()> {
    let mut ids = Vec::new();
    for path in ["a", "b", "c"] {
        let id = world.register(path).await?;
        world.queue(id, 0).await?;
        ids.push(id);
    }
    let next = async |seconds: i64| -> Result<RegistrationId> {
        let claimed = world.claim_each("w", at(seconds), 1).await?;
        let [id] = claimed.as_slice() else { panic!("{claimed:?}") };
        world.deliveries.release("w", *id).await?;
        Ok(*id)
    };
    for (seconds, expected) in (0..).zip([0, 1, 2, 0, 1]) {
        assert_eq!(next(seconds).await?, ids[expected]);
    }
    world.claim_each("w", at(10), 1).await?;
    assert_eq!(world.claim("w", at(11)).await?, [ids[0], ids[1]], "leased ones are left out");
    Ok(())
}

/// Some registrations of each client are shown, those that were served the longest ago first, and claimed if they still
/// wait.
pub async fn claims_some_of_each_client(world: World<'_>) -> Result<()> {
    let mut many = Vec::new();
    for path in ["a", "b", "c", "d", "e"] {
        let id = world.register(path).await?;
        world.queue(id, if path == "b" { 50 } else { 0 }).await?;
        many.push(id);
    }
    let second = world.store(&registration(world.second_client, Some(world.mine), "a")).await?;
    let wide = world.store(&registration(world.wide_client, None, "a")).await?;
    for id in [second, wide] {
        world.queue(id, 0).await?;
    }
    let waiting = async |seconds| world.deliveries.waiting(at(seconds), 2).await;
    let of = |id, client, organization| WaitingRegistration { id, client, organization };
    let mine = |id| of(id, world.client, Some(world.mine));
    let others = [of(second, world.second_client, Some(world.mine)), of(wide, world.wide_client, None)];
    assert_eq!(waiting(1).await?, [mine(many[0]), mine(many[2]), others[0], others[1]]);
    let claimed = world.deliveries.claim("one", &[many[2], many[1]], at(1), at(61)).await?;
    assert_eq!(claimed, [many[2]], "the other one is not due");
    assert!(world.deliveries.claim("two", &[many[2]], at(2), at(62)).await?.is_empty());
    assert_eq!(waiting(2).await?, [mine(many[0]), mine(many[3]), others[0], others[1]]);
    assert_eq!(world.deliveries.waiting(at(62), 9).await?.last(), Some(&mine(many[2])), "served last");
    Ok(())
}

/// A paused or disabled registration is not claimed, and has no target. Its deliveries wait.
pub async fn leaves_out_paused_and_disabled_registrations(world: World<'_>) -> Result<()> {
    let mut paused = registration(world.client, Some(world.mine), "a");
    paused.paused_at = Some(NOW);
    let mut disabled = registration(world.client, Some(world.mine), "b");
    disabled.health.disabled_at = Some(NOW);
    let ids = [world.store(&paused).await?, world.store(&disabled).await?];
    for id in ids {
        world.queue(id, 0).await?;
    }
    assert!(world.claim("w", at(1)).await?.is_empty());
    paused.paused_at = None;
    disabled.health = RegistrationHealth::default();
    world.registrations.save(ids[0], &paused).await?;
    world.registrations.save(ids[1], &disabled).await?;
    assert_eq!(world.claim("w", at(1)).await?, ids);
    paused.paused_at = Some(NOW);
    disabled.health.disabled_at = Some(NOW);
    world.registrations.save(ids[0], &paused).await?;
    world.registrations.save(ids[1], &disabled).await?;
    for id in ids {
        assert_eq!(world.deliveries.target("w", id).await?, None);
    }
    Ok(())
}

/// The worker with the lease reads the target, with the rights of the client.
pub async fn shows_the_target_to_its_worker(world: World<'_>) -> Result<()> {
    let one = registration(world.other_client, Some(world.other), "hook");
    let id = world.store(&one).await?;
    world.queue(id, 0).await?;
    assert_eq!(world.deliveries.target("w", id).await?, None);
    world.claim("w", NOW).await?;
    assert_eq!(world.deliveries.target("other", id).await?, None);
    let target = world.deliveries.target("w", id).await?.expect("a target");
    assert_eq!(target.registration, one);
    assert!(target.rights.may_receive(Ability::UserCreated));
    assert!(!target.rights.may_receive(Ability::ProposalCreation));
    Ok(())
}

/// Due deliveries are read with their bodies, the longest due first, without those that are left out.
pub async fn reads_due_deliveries_in_order(world: World<'_>) -> Result<()> {
    let (id, other) = (world.register("a").await?, world.register("b").await?);
    let event = outbox_event(world.mine, 7);
    let of_event = world.queue_event(id, &event).await?;
    world.queue(other, 0).await?;
    let (late, early, future) =
        (world.queue(id, 30).await?, world.queue(id, -10).await?, world.queue(id, 31).await?);
    let due = async |except: &[DeliveryId], limit| world.deliveries.due(id, at(30), except, limit).await;
    let all = due(&[], 10).await?;
    let ids: Vec<DeliveryId> = all.iter().map(|delivery| delivery.id).collect();
    assert_eq!(ids, [early, of_event, late]);
    assert_eq!(
        (all[1].payload.as_str(), all[1].name, all[1].is_test),
        (event.payload.as_str(), event.name, false)
    );
    let test = (all[0].payload.as_str(), all[0].name, all[0].is_test);
    assert_eq!(test, ("{\"type\": \"user.created\"}", Ability::UserCreated, true));
    assert_eq!((all[0].attempts, all[0].replayed_after), (0, 0));
    assert_eq!(due(&[], 2).await?, all[..2]);
    assert_eq!(due(&[early, late], 10).await?, all[1..2]);
    assert!(due(&[early, late, of_event, future], 10).await?.is_empty());
    Ok(())
}

/// Deliveries for a registration that was deleted are left out; the others are queued, however many.
pub async fn queues_for_existing_registrations_only(world: World<'_>) -> Result<()> {
    let (id, gone) = (world.register("a").await?, world.register("b").await?);
    world.registrations.remove(world.client, gone).await?;
    let mut many: Vec<NewDelivery> = (0..2500).map(|n| test_delivery(id, n % 7)).collect();
    many.push(test_delivery(gone, -99));
    many.push(NewDelivery { content: DeliveryContent::Test(String::new()), ..test_delivery(id, 0) });
    world.deliveries.add(&many).await?;
    world.deliveries.add(&[]).await?;
    assert_eq!(world.deliveries.due(id, at(9), &[], 5000).await?.len(), 2501);
    assert_eq!(world.claim("w", NOW).await?, [id]);
    Ok(())
}

/// A worker extends its leases, not those of others.
pub async fn renews_the_leases_of_one_worker(world: World<'_>) -> Result<()> {
    let (one, two) = (world.register("a").await?, world.register("b").await?);
    world.queue(one, 0).await?;
    assert_eq!(world.claim("one", NOW).await?, [one]);
    world.queue(two, 0).await?;
    assert_eq!(world.claim("two", NOW).await?, [two]);
    world.deliveries.renew("one", at(600)).await?;
    world.deliveries.renew("nobody", at(600)).await?;
    assert_eq!(world.claim("three", at(300)).await?, [two]);
    Ok(())
}

/// All leases end.
pub async fn ends_all_leases(world: World<'_>) -> Result<()> {
    let id = world.register("a").await?;
    world.queue(id, 0).await?;
    assert_eq!(world.deliveries.reclaim_all().await?, 0);
    assert_eq!(world.claim("one", NOW).await?, [id]);
    assert_eq!(world.deliveries.reclaim_all().await?, 1);
    assert_eq!(world.deliveries.target("one", id).await?, None);
    assert_eq!(world.claim("two", NOW).await?, [id]);
    Ok(())
}

/// A released registration is due when its next delivery is, also one that was added during the lease. Takes a
/// transaction.
pub async fn makes_a_released_registration_due_with_its_next_delivery(world: World<'_>) -> Result<()> {
    let id = world.register("a").await?;
    world.queue(id, 100).await?;
    assert_eq!(world.claim("w", at(100)).await?, [id]);
    world.queue(id, 50).await?;
    world.deliveries.release("w", id).await?;
    assert!(world.claim("w", at(49)).await?.is_empty());
    assert_eq!(world.claim("w", at(50)).await?, [id]);
    world.registrations.remove(world.client, id).await?;
    world.deliveries.release("w", id).await?;
    let idle = world
        .store(&Registration {
            client: world.second_client,
            ..registration(world.client, Some(world.mine), "b")
        })
        .await?;
    world.queue(idle, 0).await?;
    assert_eq!(world.claim("w", at(1)).await?, [idle]);
    assert_eq!(world.log.expire(civitas_kernel::clock::now() + Duration::from_secs(60), at(2), 9).await?, 1);
    world.deliveries.release("w", idle).await?;
    assert!(world.claim("w", at(9999)).await?.is_empty(), "nothing is pending");
    Ok(())
}

/// A new event wakes who waits for events, a new delivery who waits for deliveries. Not in a transaction.
pub async fn wakes_who_waits(world: World<'_>) -> Result<()> {
    let id = world.register("a").await?;
    let long = Duration::from_secs(20);
    let started = Instant::now();
    world.outbox.append(&[outbox_event(world.mine, 1)]).await?;
    world.outbox.wait(long).await;
    world.queue(id, 0).await?;
    world.deliveries.wait(long).await;
    assert!(started.elapsed() < long);
    let started = Instant::now();
    let short = Duration::from_millis(50);
    world.deliveries.wait(short).await;
    assert!(started.elapsed() >= short);
    Ok(())
}
