//! The log of deliveries, replays and retention.

use super::recording::{attempt, outcome};
use super::{ALL, NOW, World, at, outbox_event, registration};
use crate::{
    DeliveryFigures, DeliveryFilter, DeliveryId, DeliveryStatus, DeliveryVerdict, RegistrationFilter,
    RegistrationHealth, RegistrationState, ReplaySelection,
};
use civitas_kernel::{Ability, LogRequest, LogStart, OrganizationId, PageRequest, Result, clock};
use time::Duration;

impl World<'_> {
    async fn listed(
        &self,
        organization: Option<OrganizationId>,
        filter: DeliveryFilter,
    ) -> Result<Vec<DeliveryId>> {
        let page = self.log.list(organization, &filter, ALL).await?;
        Ok(page.items.into_iter().map(|delivery| delivery.id).collect())
    }
}

/// Deliveries are listed by registration, status and organization of the client, the newest first, in pages.
pub async fn lists_deliveries_by_registration_status_and_organization(world: World<'_>) -> Result<()> {
    let (a, b) = (world.register("a").await?, world.register("b").await?);
    let foreign = world.store(&registration(world.other_client, Some(world.other), "a")).await?;
    let wide = world.store(&registration(world.wide_client, None, "a")).await?;
    let event = outbox_event(world.mine, 1);
    let one = world.queue_event(a, &event).await?;
    let (two, three) = (world.queue(b, 0).await?, world.queue(a, 0).await?);
    let (four, five) =
        (world.queue(foreign, 0).await?, world.queue_event(wide, &outbox_event(world.mine, 2)).await?);
    world.end(a, one, DeliveryVerdict::Dropped("not subscribed")).await?;
    let any = DeliveryFilter::default();
    assert_eq!(world.listed(None, any).await?, [five, four, three, two, one]);
    assert_eq!(
        world.listed(Some(world.mine), any).await?,
        [three, two, one],
        "not of deployment-wide clients"
    );
    assert_eq!(world.listed(Some(world.other), any).await?, [four]);
    let of_a = DeliveryFilter { registration: Some(a), ..any };
    assert_eq!(world.listed(None, of_a).await?, [three, one]);
    assert_eq!(world.listed(Some(world.mine), of_a).await?, [three, one]);
    assert!(world.listed(Some(world.other), of_a).await?.is_empty());
    let dropped = DeliveryFilter { status: Some(DeliveryStatus::Dropped), ..any };
    assert_eq!(world.listed(None, dropped).await?, [one]);
    assert_eq!(world.listed(Some(world.mine), dropped).await?, [one]);
    assert!(world.listed(Some(world.other), dropped).await?.is_empty());
    let pending_of_a = DeliveryFilter { status: Some(DeliveryStatus::Pending), ..of_a };
    assert_eq!(world.listed(Some(world.mine), pending_of_a).await?, [three]);
    let page = |page| PageRequest::new(page, 2);
    let first = world.log.list(Some(world.mine), &any, page(1)).await?;
    let last = world.log.list(Some(world.mine), &any, page(2)).await?;
    assert_eq!((first.items.len(), first.has_more, last.items[0].id, last.has_more), (2, true, one, false));
    assert_eq!(world.log.find(Some(world.mine), one).await?.as_ref(), Some(&last.items[0]));
    assert_eq!(world.log.find(Some(world.other), one).await?, None);
    assert_eq!(world.log.find(Some(world.mine), five).await?, None);
    let logged = world.logged(one).await?;
    assert_eq!(
        (logged.registration, logged.organization, logged.event),
        (a, Some(world.mine), Some(event.id))
    );
    assert_eq!((logged.name, logged.due_at, logged.attempts), (event.name, NOW, 0));
    let test = world.logged(two).await?;
    assert_eq!((test.organization, test.event), (None, None));
    Ok(())
}

/// Ended deliveries are replayed once, those of a range, the dead ones, or one; pending ones are not.
pub async fn replays_each_ended_delivery_once(world: World<'_>) -> Result<()> {
    let id = world.register("a").await?;
    let (pending, sent) = (world.queue(id, 500).await?, world.queue(id, 0).await?);
    let (dead, other) = (world.queue(id, 0).await?, world.queue(id, 0).await?);
    let outcomes = [
        outcome(sent, Some(attempt(Ok(200))), DeliveryVerdict::Delivered),
        outcome(dead, Some(attempt(Ok(500))), DeliveryVerdict::Dead("the last attempt failed".into())),
        outcome(other, None, DeliveryVerdict::Dead("the last attempt failed".into())),
    ];
    world.deliveries.record(id, &outcomes, &RegistrationHealth::default(), at(60)).await?;
    let replay =
        async |organization, which, now, limit| world.log.replay(organization, &which, now, limit).await;
    assert_eq!(replay(None, ReplaySelection::One(pending), at(100), 9).await?, 0);
    assert_eq!(replay(None, ReplaySelection::One(DeliveryId::generate()), at(100), 9).await?, 0);
    assert_eq!(replay(Some(world.other), ReplaySelection::One(dead), at(100), 9).await?, 0);
    assert_eq!(replay(Some(world.other), ReplaySelection::Failed(id), at(100), 9).await?, 0);
    let failed = ReplaySelection::Failed(id);
    let count =
        async |organization, limit| world.log.count_replayable(organization, &failed, at(100), limit).await;
    assert_eq!((count(None, 9).await?, count(None, 1).await?, count(Some(world.other), 9).await?), (2, 1, 0));
    assert_eq!(replay(Some(world.mine), failed, at(100), 1).await?, 1);
    assert_eq!(replay(Some(world.mine), failed, at(100), 1).await?, 1);
    assert_eq!(replay(Some(world.mine), failed, at(100), 1).await?, 0);
    let logged = world.logged(dead).await?;
    assert_eq!((logged.status, logged.due_at, logged.attempts), (DeliveryStatus::Pending, at(100), 1));
    assert_eq!((logged.ended_at, logged.reason), (None, None));
    let due = world.deliveries.due(id, at(100), &[], 9).await?;
    let known: Vec<_> = due.iter().map(|one| (one.id, one.attempts, one.replayed_after)).collect();
    assert_eq!(known, [(dead, 1, 1), (other, 0, 0)]);
    assert_eq!(world.claim("w", at(99)).await?, [id], "due since the first delivery was queued");
    world
        .deliveries
        .record(
            id,
            &[outcome(dead, None, DeliveryVerdict::Dead("again".into()))],
            &RegistrationHealth::default(),
            at(101),
        )
        .await?;
    assert_eq!(replay(None, failed, at(100), 9).await?, 0, "it ended after the replay began");
    let now = clock::now();
    let range = |since, until| ReplaySelection::Range { registration: id, since, until };
    let (before, after) = (now - Duration::HOUR, now + Duration::HOUR);
    assert_eq!(replay(None, range(before - Duration::HOUR, before), at(200), 9).await?, 0);
    assert_eq!(replay(None, range(after, after + Duration::HOUR), at(200), 9).await?, 0);
    assert_eq!(replay(None, range(before, after), at(200), 1).await?, 1);
    assert_eq!(replay(None, range(before, after), at(200), 9).await?, 1);
    assert_eq!(replay(None, range(before, after), at(200), 9).await?, 0);
    assert_eq!(world.logged(sent).await?.due_at, at(200));
    Ok(())
}

/// Registrations are reported with the figures of their deliveries.
pub async fn reports_figures(world: World<'_>) -> Result<()> {
    let (a, b) = (world.register("a").await?, world.register("b").await?);
    let wide = world.store(&registration(world.wide_client, None, "a")).await?;
    let mut queued = Vec::new();
    for _ in 0..6 {
        queued.push(world.queue(a, 0).await?);
    }
    let outcomes = [
        outcome(queued[0], Some(attempt(Ok(200))), DeliveryVerdict::Delivered),
        outcome(queued[1], None, DeliveryVerdict::Dead("".into())),
        outcome(queued[2], None, DeliveryVerdict::Dropped("")),
        outcome(queued[3], None, DeliveryVerdict::Dropped("")),
    ];
    world.deliveries.record(a, &outcomes, &RegistrationHealth::default(), at(60)).await?;
    let every = RegistrationFilter::default();
    let oldest = world.logged(queued[4]).await?.created_at;
    let mine = world.log.registrations(Some(world.mine), &every, ALL).await?.items;
    let expected =
        DeliveryFigures { pending: 2, delivered: 1, dead: 1, dropped: 2, oldest_pending: Some(oldest) };
    assert_eq!((mine[0].id, mine[0].figures), (a, expected));
    assert_eq!((mine[1].id, mine[1].figures, mine.len()), (b, DeliveryFigures::default(), 2));
    assert_eq!(mine[0].registration, registration(world.client, Some(world.mine), "a"));
    assert_eq!(mine[0].client_uid, mine[1].client_uid);
    let page = PageRequest::new(2, 2);
    let all = world.log.registrations(None, &every, page).await?;
    assert_eq!((all.items[0].id, all.items.len(), all.has_more), (wide, 1, false));
    assert!(world.log.registrations(Some(world.other), &every, ALL).await?.items.is_empty());
    Ok(())
}

/// Deliveries that are pending for too long end, in batches.
pub async fn expires_what_waits_too_long(world: World<'_>) -> Result<()> {
    let id = world.register("a").await?;
    let (sent, one, two) = (world.queue(id, 0).await?, world.queue(id, 0).await?, world.queue(id, 0).await?);
    world.end(id, sent, DeliveryVerdict::Delivered).await?;
    let now = clock::now();
    assert_eq!(world.log.expire(now - Duration::HOUR, at(90), 9).await?, 0);
    let before = now + Duration::MINUTE;
    for expected in [1, 1, 0] {
        assert_eq!(world.log.expire(before, at(90), 1).await?, expected);
    }
    for delivery in [one, two] {
        let logged = world.logged(delivery).await?;
        assert_eq!((logged.status, logged.ended_at), (DeliveryStatus::Dead, Some(at(90))));
        assert_eq!(logged.reason.as_deref(), Some("it waited too long"));
    }
    assert_eq!(world.logged(sent).await?.status, DeliveryStatus::Delivered);
    Ok(())
}

/// Ended deliveries are deleted with their attempts, in batches; pending ones stay.
pub async fn removes_ended_deliveries(world: World<'_>) -> Result<()> {
    let id = world.register("a").await?;
    let (one, two, pending) =
        (world.queue(id, 0).await?, world.queue(id, 0).await?, world.queue(id, 0).await?);
    let outcomes = [one, two].map(|id| outcome(id, Some(attempt(Ok(200))), DeliveryVerdict::Delivered));
    world.deliveries.record(id, &outcomes, &RegistrationHealth::default(), at(60)).await?;
    assert_eq!(world.log.remove_ended(&DeliveryStatus::ALL, at(60), 9).await?, 0, "the time is not included");
    for expected in [1, 1, 0] {
        assert_eq!(world.log.remove_ended(&DeliveryStatus::ALL, at(61), 1).await?, expected);
    }
    for delivery in [one, two] {
        assert_eq!(world.log.find(None, delivery).await?, None);
        assert!(world.log.attempts(delivery).await?.is_empty());
    }
    assert_eq!(world.logged(pending).await?.status, DeliveryStatus::Pending);
    Ok(())
}

/// Deliveries are found by event, client and time; pages of the log go to older and to newer ones without gaps.
pub async fn filters_the_log_and_turns_its_pages(world: World<'_>) -> Result<()> {
    let a = world.register("a").await?;
    let second = world.store(&registration(world.second_client, Some(world.mine), "b")).await?;
    let event = world.queue_event(a, &outbox_event(world.mine, 1)).await?;
    let (two, three) = (world.queue(a, 0).await?, world.queue(second, 0).await?);
    let any = DeliveryFilter::default();
    let of_event = DeliveryFilter { event: Some(Ability::ProposalCreation), ..any };
    assert_eq!(world.listed(None, of_event).await?, [event]);
    let of_second = DeliveryFilter { client: Some(world.second_client), ..any };
    assert_eq!(world.listed(Some(world.mine), of_second).await?, [three]);
    let middle = world.logged(two).await?.created_at;
    let before = DeliveryFilter { to: Some(middle), ..any };
    let since = DeliveryFilter { from: Some(middle), ..any };
    assert!(!world.listed(None, before).await?.contains(&two), "the end is not included");
    assert!(world.listed(None, since).await?.contains(&two), "the beginning is included");
    let turn = async |start| {
        let page = world.log.page(Some(world.mine), &any, LogRequest { start, limit: 2 }).await?;
        let ids: Vec<_> = page.items.iter().map(|one| one.id).collect();
        Result::Ok((ids, page.has_newer, page.has_older))
    };
    let at = async |id| Result::Ok((world.logged(id).await?.created_at, id));
    assert_eq!(turn(LogStart::Newest).await?, (vec![three, two], false, true));
    let (moment, id) = at(two).await?;
    assert_eq!(turn(LogStart::OlderThan(moment, id)).await?, (vec![event], true, false));
    let (moment, id) = at(event).await?;
    assert_eq!(turn(LogStart::NewerThan(moment, id)).await?, (vec![three, two], false, true));
    Ok(())
}

/// Registrations are found by id, client, state, and a text in their address or the name of their client.
pub async fn searches_registrations(world: World<'_>) -> Result<()> {
    let (a, b) = (world.register("a_100%").await?, world.register("abc100").await?);
    let second = world.store(&registration(world.second_client, Some(world.mine), "c")).await?;
    let mut paused = registration(world.client, Some(world.mine), "a_100%");
    paused.paused_at = Some(NOW);
    world.registrations.save(a, &paused).await?;
    let mut disabled = registration(world.client, Some(world.mine), "abc100");
    disabled.health.disabled_at = Some(NOW);
    world.registrations.save(b, &disabled).await?;
    let any = RegistrationFilter::default();
    let in_state = |state| RegistrationFilter { state: Some(state), ..RegistrationFilter::default() };
    let with =
        |text: &str| RegistrationFilter { text: Some(text.to_owned()), ..RegistrationFilter::default() };
    for (filter, expected) in [
        (RegistrationFilter { id: Some(b), ..any.clone() }, vec![b]),
        (RegistrationFilter { client: Some(world.second_client), ..any }, vec![second]),
        (in_state(RegistrationState::Active), vec![second]),
        (in_state(RegistrationState::Paused), vec![a]),
        (in_state(RegistrationState::Disabled), vec![b]),
        (with("A_100%"), vec![a]),
        (with("hooks.EXAMPLE"), vec![a, b, second]),
        (with("no such address"), vec![]),
    ] {
        let page = world.log.registrations(Some(world.mine), &filter, ALL).await?;
        let ids: Vec<_> = page.items.iter().map(|one| one.id).collect();
        assert_eq!(ids, expected, "{filter:?}");
        assert!(world.log.registrations(Some(world.other), &filter, ALL).await?.items.is_empty());
    }
    Ok(())
}
