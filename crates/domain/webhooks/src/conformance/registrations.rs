//! Registrations.

use super::{ALL, NOW, World, at, registration};
use crate::{
    CheckedRegistration, DeliveryFilter, EventSwitches, REGISTRATION_FIELDS, Registration,
    RegistrationHealth, SealedSecret,
};
use civitas_kernel::conformance::check_list;
use civitas_kernel::filter::read_filters;
use civitas_kernel::{Ability, Error, PageRequest, RegistrationId, Result};

/// A registration with every member set.
fn everything(world: &World<'_>) -> Registration {
    Registration {
        subscriptions: vec![Ability::UserUpdated, Ability::OrganizationDeleted, Ability::UserCreated],
        health: RegistrationHealth {
            failures: 7,
            failing_since: Some(at(1)),
            succeeded_at: Some(at(2)),
            disabled_at: Some(at(3)),
        },
        paused_at: Some(at(4)),
        updated_at: at(5),
        ..registration(world.client, Some(world.mine), "hook?a=b&c=Été")
    }
}

/// A registration is read back with all members, after `add` and after `save`. Takes a transaction.
pub async fn keeps_every_member(world: World<'_>) -> Result<()> {
    let mut all = everything(&world);
    let id = world.store(&all).await?;
    assert_eq!(world.registrations.find(world.client, id).await?.as_ref(), Some(&all));
    assert_eq!(world.registrations.find_unrestricted(id).await?.as_ref(), Some(&all));
    assert_eq!(world.registrations.find_unrestricted_for_update(id).await?.as_ref(), Some(&all));
    all.paused_at = None;
    all.health = RegistrationHealth::default();
    all.secret = SealedSecret("other".to_owned());
    world.registrations.save(id, &all).await?;
    assert_eq!(world.registrations.find_unrestricted(id).await?.as_ref(), Some(&all));
    let none = RegistrationId(id.0 + 999);
    assert_eq!(world.registrations.find_unrestricted(none).await?, None);
    assert_eq!(world.registrations.find_unrestricted_for_update(none).await?, None);
    "https://hooks.example/free".clone_into(&mut all.url);
    assert!(matches!(world.registrations.save(none, &all).await, Err(Error::NotFound)));
    Ok(())
}

/// A client neither reads nor changes registrations of another one.
pub async fn keeps_clients_apart(world: World<'_>) -> Result<()> {
    let id = world.register("hook").await?;
    let checked = CheckedRegistration { url: "https://hooks.example/x".to_owned(), subscriptions: vec![] };
    for foreign in [world.second_client, world.other_client, world.wide_client] {
        assert_eq!(world.registrations.find(foreign, id).await?, None);
        assert_eq!(world.registrations.update(foreign, id, &checked, NOW).await?, None);
        assert!(!world.registrations.remove(foreign, id).await?);
        assert!(world.registrations.list(foreign, &[], ALL).await?.items.is_empty());
        assert!(!world.registrations.is_taken(foreign, "https://hooks.example/hook", None).await?);
    }
    let expected = registration(world.client, Some(world.mine), "hook");
    assert_eq!(world.registrations.find(world.client, id).await?, Some(expected));
    Ok(())
}

/// A client registers an address once; other clients may register it too. The transaction can continue.
pub async fn keeps_one_registration_of_an_address(world: World<'_>) -> Result<()> {
    let one = registration(world.client, Some(world.mine), "hook");
    let id = world.store(&one).await?;
    assert_eq!(world.registrations.add(&one).await?, None);
    assert!(world.registrations.is_taken(world.client, &one.url, None).await?);
    assert!(!world.registrations.is_taken(world.client, &one.url, Some(id)).await?);
    assert!(!world.registrations.is_taken(world.client, "https://hooks.example/HOOK", None).await?);
    world.store(&Registration { client: world.second_client, ..one.clone() }).await?;
    assert!(world.registrations.remove(world.client, id).await?);
    assert!(!world.registrations.remove(world.client, id).await?);
    world.store(&one).await?;
    Ok(())
}

/// An update replaces address and events and resets the health, except for the last success.
pub async fn updates_address_and_events(world: World<'_>) -> Result<()> {
    let before = everything(&world);
    let id = world.store(&before).await?;
    let checked = CheckedRegistration {
        url: "https://hooks.example/new".to_owned(),
        subscriptions: vec![Ability::MeetingReminder],
    };
    let expected = Registration {
        url: checked.url.clone(),
        subscriptions: checked.subscriptions.clone(),
        health: RegistrationHealth {
            succeeded_at: before.health.succeeded_at,
            ..RegistrationHealth::default()
        },
        updated_at: at(60),
        ..before
    };
    let updated = world.registrations.update(world.client, id, &checked, at(60)).await?;
    assert_eq!(updated.as_ref(), Some(&expected));
    assert_eq!(world.registrations.find(world.client, id).await?, Some(expected));
    let same = world.registrations.update(world.client, id, &checked, at(61)).await?;
    assert!(same.is_some(), "its own address is free");
    Ok(())
}

/// An update to an address of another registration of the client is a conflict. Not in a transaction, which the
/// conflict would end.
pub async fn refuses_an_update_to_a_taken_address(world: World<'_>) -> Result<()> {
    let taken = registration(world.client, Some(world.mine), "taken");
    let (taken_id, id) = (world.store(&taken).await?, world.register("hook").await?);
    let checked = CheckedRegistration { url: taken.url.clone(), subscriptions: vec![] };
    let update = world.registrations.update(world.client, id, &checked, NOW).await;
    assert!(matches!(update, Err(Error::Conflict(_))), "{update:?}");
    let save = world.registrations.save(id, &taken).await;
    assert!(matches!(save, Err(Error::Conflict(_))), "{save:?}");
    let kept = registration(world.client, Some(world.mine), "hook");
    assert_eq!(world.registrations.find_unrestricted(id).await?, Some(kept));
    assert_eq!(world.registrations.find_unrestricted(taken_id).await?, Some(taken));
    Ok(())
}

/// Lists are in pages: for the client the newest first, for exports in ascending order of id.
pub async fn lists_registrations_in_order(world: World<'_>) -> Result<()> {
    let mut ids = Vec::new();
    for (path, seconds) in [("a", 2), ("b", 3), ("c", 1), ("d", 3)] {
        let created = at(seconds);
        let one = Registration { created_at: created, ..registration(world.client, Some(world.mine), path) };
        ids.push(world.store(&one).await?);
    }
    let other = world.store(&registration(world.other_client, Some(world.other), "a")).await?;
    let wide = world.store(&registration(world.wide_client, None, "a")).await?;
    let page = |page| PageRequest::new(page, 3);
    let first = world.registrations.list(world.client, &[], page(1)).await?;
    let newest: Vec<_> = first.items.iter().map(|(id, _)| *id).collect();
    assert_eq!((newest, first.has_more), (vec![ids[3], ids[1], ids[0]], true));
    let last = world.registrations.list(world.client, &[], page(2)).await?;
    assert_eq!((last.items[0].0, last.items.len(), last.has_more), (ids[2], 1, false));
    check_list(async |raw, page| {
        let filters = read_filters(REGISTRATION_FIELDS, &raw)?;
        let page = world.registrations.list(world.client, &filters, page).await?;
        Ok(page.map(|(id, registration)| (id, registration.created_at, registration.updated_at)))
    })
    .await?;
    let after = async |organization, after| -> Result<Vec<RegistrationId>> {
        let page = world.registrations.page_after(organization, after, 3).await?;
        Ok(page.into_iter().map(|(id, _)| id).collect())
    };
    assert_eq!(after(Some(world.mine), None).await?, ids[..3]);
    assert_eq!(after(Some(world.mine), Some(ids[2])).await?, ids[3..]);
    assert_eq!(after(Some(world.other), None).await?, [other]);
    assert_eq!(after(None, Some(ids[2])).await?, [ids[3], other, wide]);
    Ok(())
}

/// Receivers are the registrations of clients of the organizations and of deployment-wide clients, without disabled
/// ones.
pub async fn finds_receivers(world: World<'_>) -> Result<()> {
    let mine = world.register("a").await?;
    let paused =
        Registration { paused_at: Some(NOW), ..registration(world.second_client, Some(world.mine), "a") };
    let paused = world.store(&paused).await?;
    let disabled = RegistrationHealth { disabled_at: Some(NOW), ..RegistrationHealth::default() };
    let disabled = Registration { health: disabled, ..registration(world.client, Some(world.mine), "b") };
    world.store(&disabled).await?;
    let other = world.store(&registration(world.other_client, Some(world.other), "a")).await?;
    let wide = world.store(&registration(world.wide_client, None, "a")).await?;
    let ids = async |organizations: &[_]| -> Result<Vec<RegistrationId>> {
        let receivers = world.registrations.receivers(organizations).await?;
        Ok(receivers.iter().map(|receiver| receiver.id).collect())
    };
    assert_eq!(ids(&[world.mine]).await?, [mine, paused, wide]);
    assert_eq!(ids(&[world.other, world.mine]).await?, [mine, paused, other, wide]);
    assert_eq!(ids(&[]).await?, [wide]);
    let receivers = world.registrations.receivers(&[world.other]).await?;
    let known = |n: usize| (receivers[n].organization, receivers[n].switches);
    assert_eq!(known(0), (Some(world.other), EventSwitches::ALL_ON));
    assert_eq!(known(1), (None, EventSwitches::ALL_ON));
    assert_eq!(receivers[0].subscriptions, [Ability::UserCreated, Ability::ProposalCreation]);
    assert!(receivers[0].rights.may_receive(Ability::UserCreated), "the rights are those of the client");
    assert!(!receivers[0].rights.may_receive(Ability::ProposalCreation));
    assert!(receivers[1].rights.may_receive(Ability::OrganizationUpdated));
    Ok(())
}

/// A registration is deleted with its deliveries.
pub async fn removes_a_registration_with_its_deliveries(world: World<'_>) -> Result<()> {
    let (id, kept) = (world.register("a").await?, world.register("b").await?);
    let (gone, stays) = (world.queue(id, 0).await?, world.queue(kept, 0).await?);
    assert!(world.registrations.remove(world.client, id).await?);
    assert_eq!(world.log.find(None, gone).await?, None);
    assert!(world.log.find(None, stays).await?.is_some());
    assert_eq!(world.log.list(None, &DeliveryFilter::default(), ALL).await?.items.len(), 1);
    assert_eq!(world.claim("w", NOW).await?, [kept]);
    Ok(())
}
