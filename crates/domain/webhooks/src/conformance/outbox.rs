//! The outbox.

use super::{World, at, named, outbox_event};
use crate::{EventPosition, OutboxEvent, envelope};
use civitas_kernel::{Ability, Result, UserId, sortable_id};
use serde_json::json;
use time::Duration;
use uuid::Uuid;

/// Stored events are read back with all members, in the order of the ids, in pages. Bodies keep every byte.
pub async fn pages_do_not_overlap(world: World<'_>) -> Result<()> {
    let mut all: Vec<_> = (0..5).map(|n| outbox_event(world.mine, n)).collect();
    "{\"b\" : 1.0,\"a\":\"\\u0000\"}".clone_into(&mut all[0].payload);
    world.outbox.append(&all).await?;
    let single = outbox_event(world.mine, 6);
    world.outbox.append(std::slice::from_ref(&single)).await?;
    all.push(single);
    world.outbox.append(&[]).await?;
    all.sort_by_key(|a| a.id);
    let mut seen = Vec::new();
    loop {
        let page = world.outbox.page_after(world.mine, seen.last().map(|a: &OutboxEvent| a.id), 2).await?;
        assert!(page.len() <= 2);
        if page.is_empty() {
            break;
        }
        seen.extend(page);
    }
    assert_eq!(seen, all);
    Ok(())
}

/// An organization does not see events of another one.
pub async fn isolates_organizations(world: World<'_>) -> Result<()> {
    let both = [outbox_event(world.mine, 1), outbox_event(world.other, 2)];
    world.outbox.append(&both).await?;
    assert_eq!(world.outbox.page_after(world.mine, None, 9).await?, both[..1]);
    assert_eq!(world.outbox.page_after(world.other, None, 9).await?, both[1..]);
    Ok(())
}

impl World<'_> {
    /// Gives all events positions, a few at a time.
    async fn relay(&self) -> Result<()> {
        loop {
            let heads = self.outbox.lock_unrelayed(3).await?;
            if heads.is_empty() {
                return Ok(());
            }
            let ids: Vec<Uuid> = heads.iter().map(|head| head.id).collect();
            self.outbox.assign_positions(&ids).await?;
        }
    }

    async fn relayed(&self, after: EventPosition, limit: i64) -> Result<Vec<(EventPosition, OutboxEvent)>> {
        let events = self.outbox.relayed_after(after, limit).await?;
        Ok(events.into_iter().map(|relayed| (relayed.position, relayed.event)).collect())
    }
}

/// The events with the data of an account are removed with their deliveries, in batches; those of others, and other
/// events with the same number, stay.
pub async fn removes_the_events_of_an_account(world: World<'_>) -> Result<()> {
    let described = |organization, name, id: &str, kind: &str| OutboxEvent {
        payload: envelope(name, &json!({"attributes": {"name": "Nora"}, "id": id, "type": kind})),
        ..named(organization, name, 1)
    };
    let (created, updated) = (Ability::UserCreated, Ability::UserUpdated);
    let mut own = Vec::new();
    for n in 0..3 {
        own.push(described(world.mine, if n == 0 { created } else { updated }, "7", "user"));
    }
    let others = [
        described(world.mine, updated, "70", "user"),
        described(world.mine, Ability::ProposalCreation, "7", "proposal"),
    ];
    let foreign = described(world.other, created, "7", "user");
    let registration = world.register("a").await?;
    let delivery = world.queue_event(registration, &own[0]).await?;
    for event in own[1..].iter().chain(&others).chain([&foreign]) {
        world.outbox.append(std::slice::from_ref(event)).await?;
    }
    let user = UserId(7);
    assert_eq!(world.outbox.remove_of_user(world.mine, user, 2).await?, 2);
    assert_eq!(world.outbox.remove_of_user(world.mine, user, 2).await?, 1);
    assert_eq!(world.outbox.remove_of_user(world.mine, user, 2).await?, 0);
    assert_eq!(world.outbox.page_after(world.mine, None, 9).await?, others);
    assert_eq!(world.outbox.page_after(world.other, None, 9).await?, [foreign]);
    assert_eq!(world.log.find(None, delivery).await?, None);
    Ok(())
}

/// Events get the next positions in the order of their ids, each one once. Takes a transaction.
pub async fn gives_positions_in_order_each_once(world: World<'_>) -> Result<()> {
    assert!(!world.outbox.has_unrelayed().await?);
    let start = world.outbox.last_position().await?;
    let mut all: Vec<_> =
        (0..5).map(|n| outbox_event(if n % 2 == 0 { world.mine } else { world.other }, n)).collect();
    world.outbox.append(&all).await?;
    all.sort_by_key(|a| a.id);
    assert!(world.outbox.has_unrelayed().await? && world.relayed(start, 9).await?.is_empty());
    let heads = world.outbox.lock_unrelayed(3).await?;
    let known: Vec<_> = heads.iter().map(|head| (head.id, head.organization, head.name)).collect();
    let expected: Vec<_> = all[..3].iter().map(|event| (event.id, event.organization, event.name)).collect();
    assert_eq!(known, expected);
    world.outbox.assign_positions(&heads.iter().map(|head| head.id).collect::<Vec<_>>()).await?;
    world.outbox.assign_positions(&[]).await?;
    let first = world.relayed(start, 9).await?;
    assert_eq!(first.iter().map(|(_, event)| event).collect::<Vec<_>>(), all[..3].iter().collect::<Vec<_>>());
    assert_eq!(world.outbox.last_position().await?, first[2].0);
    world.relay().await?;
    let second = world.relayed(first[2].0, 9).await?;
    assert_eq!(
        second.iter().map(|(_, event)| event).collect::<Vec<_>>(),
        all[3..].iter().collect::<Vec<_>>()
    );
    let positions: Vec<EventPosition> = first.iter().chain(&second).map(|(position, _)| *position).collect();
    assert!(positions.is_sorted_by(|a, b| a < b) && positions[0] > start, "{positions:?}");
    assert_eq!(world.relayed(start, 2).await?.len(), 2);
    assert!(!world.outbox.has_unrelayed().await? && world.outbox.lock_unrelayed(9).await?.is_empty());
    let (last, organization) = (all[4].id, all[4].organization);
    let foreign = if organization == world.mine { world.other } else { world.mine };
    assert_eq!(world.outbox.position_of(organization, last).await?, Some(second[1].0));
    assert_eq!(world.outbox.position_of(foreign, last).await?, None);
    assert_eq!(world.outbox.position_of(world.mine, sortable_id()).await?, None);
    Ok(())
}

/// The events of an organization are read by name, in order, in pages. Takes a transaction.
pub async fn reads_relayed_events_by_name(world: World<'_>) -> Result<()> {
    let names = [Ability::UserCreated, Ability::ProposalCreation, Ability::UserUpdated];
    let mut all: Vec<_> =
        (0..12).zip(names.into_iter().cycle()).map(|(n, name)| named(world.mine, name, n)).collect();
    all.push(named(world.other, Ability::UserCreated, 20));
    world.outbox.append(&all).await?;
    world.relay().await?;
    world.outbox.append(&[named(world.mine, Ability::UserCreated, 30)]).await?;
    let wanted = [Ability::UserUpdated, Ability::UserCreated];
    let mut expected: Vec<_> =
        all.into_iter().filter(|e| e.organization == world.mine && wanted.contains(&e.name)).collect();
    expected.sort_by_key(|event| event.id);
    let mut seen = Vec::new();
    let mut after = EventPosition::default();
    loop {
        let page = world.outbox.relayed_of(world.mine, &wanted, after, 3).await?;
        assert!(page.len() <= 3 && page.iter().all(|relayed| relayed.position > after));
        let Some(last) = page.last() else { break };
        after = last.position;
        seen.extend(page.into_iter().map(|relayed| relayed.event));
    }
    assert_eq!(seen, expected);
    assert!(world.outbox.relayed_of(world.mine, &[], EventPosition::default(), 3).await?.is_empty());
    Ok(())
}

/// Old events are deleted, but not those with deliveries, nor those without a position. Takes a transaction.
pub async fn keeps_events_with_deliveries(world: World<'_>) -> Result<()> {
    let registration = world.register("hook").await?;
    let delivered = outbox_event(world.mine, 1);
    world.queue_event(registration, &delivered).await?;
    let old: Vec<_> = (2..5).map(|n| outbox_event(world.mine, n)).collect();
    let recent = outbox_event(world.mine, 3600);
    world.outbox.append(&old).await?;
    world.outbox.append(std::slice::from_ref(&recent)).await?;
    world.relay().await?;
    let unrelayed = outbox_event(world.mine, 5);
    world.outbox.append(std::slice::from_ref(&unrelayed)).await?;
    let before = at(60);
    assert_eq!(world.outbox.remove_before(before, 2).await?, 2);
    assert_eq!(world.outbox.remove_before(before, 2).await?, 1);
    assert_eq!(world.outbox.remove_before(before, 2).await?, 0);
    let left = world.outbox.page_after(world.mine, None, 9).await?;
    let mut expected = [delivered, recent, unrelayed].map(|event| event.id);
    expected.sort_unstable();
    assert_eq!(left.iter().map(|event| event.id).collect::<Vec<_>>(), expected);
    assert!(world.registrations.remove(world.client, registration).await?);
    assert_eq!(world.outbox.remove_before(before + Duration::HOUR * 2, 9).await?, 2);
    Ok(())
}
