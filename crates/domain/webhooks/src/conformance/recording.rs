//! Records of attempts.

use super::{NOW, World, at};
use crate::{
    DeliveryAttempt, DeliveryId, DeliveryOutcome, DeliveryStatus, DeliveryVerdict, LoggedDelivery,
    ReceiverResponse, RegistrationHealth, SendError, SendErrorKind,
};
use civitas_kernel::{RegistrationId, Result};
use std::time::Duration;

/// An attempt that took 1.5 s, with this result.
pub(super) fn attempt(result: std::result::Result<u16, SendErrorKind>) -> DeliveryAttempt {
    let result = match result {
        Ok(status) => Ok(ReceiverResponse { status, retry_after: None, body: "Reçu".to_owned() }),
        Err(kind) => Err(SendError { kind, cause: "no route".to_owned() }),
    };
    DeliveryAttempt { number: 1, at: at(1), duration: Duration::from_millis(1500), result }
}

pub(super) fn outcome(
    delivery: DeliveryId,
    attempt: Option<DeliveryAttempt>,
    verdict: DeliveryVerdict,
) -> DeliveryOutcome {
    DeliveryOutcome { delivery, attempt, verdict }
}

impl World<'_> {
    pub(super) async fn logged(&self, id: DeliveryId) -> Result<LoggedDelivery> {
        Ok(self.log.find(None, id).await?.expect("the delivery"))
    }

    /// Ends a delivery without an attempt.
    pub(super) async fn end(
        &self,
        id: RegistrationId,
        delivery: DeliveryId,
        verdict: DeliveryVerdict,
    ) -> Result<()> {
        let outcomes = [outcome(delivery, None, verdict)];
        self.deliveries.record(id, &outcomes, &RegistrationHealth::default(), at(60)).await
    }
}

/// Each verdict is stored with its attempt, and the health of the registration. Takes a transaction.
pub async fn records_every_verdict(world: World<'_>) -> Result<()> {
    let id = world.register("a").await?;
    let mut queued = Vec::new();
    for _ in 0..7 {
        queued.push(world.queue(id, 0).await?);
    }
    world.claim("w", NOW).await?;
    assert_eq!(world.deliveries.lock_leased("w", id).await?, Some(RegistrationHealth::default()));
    let outcomes = [
        outcome(queued[0], Some(attempt(Ok(204))), DeliveryVerdict::Delivered),
        outcome(queued[1], Some(attempt(Ok(503))), DeliveryVerdict::Retry(at(90))),
        outcome(queued[2], Some(attempt(Err(SendErrorKind::Timeout))), DeliveryVerdict::Retry(at(80))),
        outcome(queued[3], Some(attempt(Ok(410))), DeliveryVerdict::Dead("410 Gone".into())),
        outcome(queued[4], None, DeliveryVerdict::Dropped("not subscribed")),
        outcome(queued[5], None, DeliveryVerdict::Dead("no secret".into())),
    ];
    let health = RegistrationHealth {
        failures: 3,
        failing_since: Some(at(1)),
        succeeded_at: Some(at(2)),
        disabled_at: Some(at(3)),
    };
    world.deliveries.record(id, &outcomes, &health, at(60)).await?;
    assert_eq!(world.deliveries.lock_leased("w", id).await?, Some(health));
    assert_eq!(world.registrations.find_unrestricted(id).await?.map(|one| one.health), Some(health));
    let expected = [
        (DeliveryStatus::Delivered, 1, None),
        (DeliveryStatus::Pending, 1, None),
        (DeliveryStatus::Pending, 1, None),
        (DeliveryStatus::Dead, 1, Some("410 Gone")),
        (DeliveryStatus::Dropped, 0, Some("not subscribed")),
        (DeliveryStatus::Dead, 0, Some("no secret")),
        (DeliveryStatus::Pending, 0, None),
    ];
    for (delivery, (status, attempts, reason)) in queued.iter().zip(expected) {
        let logged = world.logged(*delivery).await?;
        let known = (logged.status, logged.attempts, logged.reason.as_deref());
        assert_eq!(known, (status, attempts, reason));
        let ended = (status != DeliveryStatus::Pending).then_some(at(60));
        assert_eq!(logged.ended_at, ended);
    }
    assert_eq!(world.logged(queued[1]).await?.due_at, at(90));
    assert_eq!(world.logged(queued[2]).await?.due_at, at(80));
    assert_eq!(world.log.attempts(queued[0]).await?, [attempt(Ok(204))]);
    assert_eq!(world.log.attempts(queued[2]).await?, [attempt(Err(SendErrorKind::Timeout))]);
    assert!(world.log.attempts(queued[4]).await?.is_empty());
    let again = [outcome(queued[1], Some(attempt(Ok(200))), DeliveryVerdict::Delivered)];
    world.deliveries.record(id, &again, &RegistrationHealth::default(), at(91)).await?;
    let attempts = world.log.attempts(queued[1]).await?;
    let numbers: Vec<_> = attempts.iter().map(|attempt| attempt.number).collect();
    assert_eq!(numbers, [1, 2], "the first one first; counted by the store");
    Ok(())
}

/// A worker without the lease gets no health, and its release changes nothing. Takes a transaction.
pub async fn a_lost_lease_records_and_releases_nothing(world: World<'_>) -> Result<()> {
    let id = world.register("a").await?;
    world.queue(id, 0).await?;
    world.claim("one", NOW).await?;
    assert_eq!(world.claim("two", at(61)).await?, [id], "the lease of the first ended");
    assert_eq!(world.deliveries.lock_leased("one", id).await?, None);
    world.deliveries.release("one", id).await?;
    assert!(world.claim("three", at(62)).await?.is_empty(), "the second still has it");
    assert!(world.deliveries.lock_leased("two", id).await?.is_some());
    world.deliveries.release("two", id).await?;
    assert_eq!(world.deliveries.lock_leased("two", id).await?, None);
    assert_eq!(world.claim("three", at(62)).await?, [id]);
    Ok(())
}

/// Outcomes of deliveries that are deleted, of another registration, or listed twice, are left out. A delivery that
/// expired during its attempt stays so, unless it was accepted. Takes a transaction.
pub async fn skips_deliveries_that_are_gone(world: World<'_>) -> Result<()> {
    let (id, other) = (world.register("a").await?, world.register("b").await?);
    let (one, foreign) = (world.queue(id, 0).await?, world.queue(other, 0).await?);
    let (expired, accepted) = (world.queue(id, 0).await?, world.queue(id, 0).await?);
    for delivery in [expired, accepted] {
        world.end(id, delivery, DeliveryVerdict::Dead("it waited too long".into())).await?;
    }
    let failed = || Some(attempt(Ok(500)));
    let outcomes = [
        outcome(DeliveryId::generate(), failed(), DeliveryVerdict::Retry(at(90))),
        outcome(foreign, Some(attempt(Ok(200))), DeliveryVerdict::Delivered),
        outcome(one, failed(), DeliveryVerdict::Retry(at(90))),
        outcome(one, failed(), DeliveryVerdict::Retry(at(95))),
        outcome(expired, failed(), DeliveryVerdict::Retry(at(90))),
        outcome(accepted, Some(attempt(Ok(200))), DeliveryVerdict::Delivered),
    ];
    world.deliveries.record(id, &outcomes, &RegistrationHealth::default(), at(70)).await?;
    world.deliveries.record(id, &[], &RegistrationHealth::default(), at(70)).await?;
    let status = async |delivery| world.logged(delivery).await.map(|logged| logged.status);
    assert_eq!(status(foreign).await?, DeliveryStatus::Pending);
    let retried = world.logged(one).await?;
    assert_eq!((retried.attempts, retried.due_at), (1, at(90)));
    assert_eq!(status(expired).await?, DeliveryStatus::Dead);
    assert_eq!(status(accepted).await?, DeliveryStatus::Delivered);
    assert_eq!(world.logged(accepted).await?.reason, None);
    Ok(())
}

/// Texts of receivers are stored, cut to their limit, whatever characters they have. Takes a transaction.
pub async fn records_texts_that_are_hard_to_store(world: World<'_>) -> Result<()> {
    let id = world.register("a").await?;
    let (one, two) = (world.queue(id, 0).await?, world.queue(id, 0).await?);
    let mut answered = attempt(Ok(500));
    answered.result = Ok(ReceiverResponse { status: 500, retry_after: None, body: "a\0b".to_owned() });
    let mut failed = attempt(Err(SendErrorKind::Tls));
    failed.result = Err(SendError { kind: SendErrorKind::Tls, cause: "é".repeat(2000) });
    let outcomes = [
        outcome(one, Some(answered), DeliveryVerdict::Retry(at(90))),
        outcome(two, Some(failed), DeliveryVerdict::Retry(at(90))),
    ];
    world.deliveries.record(id, &outcomes, &RegistrationHealth::default(), at(70)).await?;
    let kept = world.log.attempts(one).await?;
    assert_eq!(kept[0].result.as_ref().map(|response| response.body.as_str()), Ok("a\u{fffd}b"));
    let kept = world.log.attempts(two).await?;
    let cause = "é".repeat(512);
    assert_eq!(kept[0].result, Err(SendError { kind: SendErrorKind::Tls, cause }));
    Ok(())
}
