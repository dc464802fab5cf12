//! The relay: gives events their positions, and makes a delivery for each receiver (contract 09 C.1).

use civitas_application::worker_loop::{POLL_INTERVAL, is_running, pause};
use civitas_application::{Ports, Store};
use civitas_kernel::{OrganizationId, Result, clock};
use civitas_webhooks::{DeliveryContent, DeliveryId, EventHead, EventReceiver, NewDelivery};
use std::collections::BTreeSet;
use std::sync::Arc;
use time::OffsetDateTime;
use tokio::sync::watch;

/// The most events of one transaction.
const EVENTS: i64 = 500;
/// The most deliveries of one transaction, unless one event alone has more.
const DELIVERIES: usize = 5_000;

/// Turns events into deliveries. Any number of nodes may run one; one of them works at a time.
pub struct OutboxRelay {
    store: Arc<dyn Store>,
}

impl OutboxRelay {
    /// A relay for this store.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store }
    }

    /// Runs until `stop` is true.
    pub async fn run(self, mut stop: watch::Receiver<bool>) {
        while is_running(&stop) {
            match self.relay().await {
                Ok(0) => {
                    tokio::select! { () = self.store.outbox().wait(POLL_INTERVAL) => {}, _ = stop.changed() => {} }
                }
                Ok(events) => tracing::debug!(events, "events were relayed"),
                Err(error) => {
                    tracing::warn!(%error, "the events could not be relayed");
                    pause(POLL_INTERVAL, &mut stop).await;
                }
            }
        }
    }

    /// Relays the oldest events in one transaction. Returns their number: 0 when there are none, or another node is
    /// relaying.
    ///
    /// # Errors
    /// Those of the store; then nothing is stored.
    #[tracing::instrument(name = "application.webhooks.relay", level = "debug", skip_all)]
    pub async fn relay(&self) -> Result<usize> {
        if !self.store.outbox().has_unrelayed().await? {
            return Ok(0);
        }
        let tx = self.store.begin().await?;
        match relay_in(&*tx, clock::now()).await {
            Ok(relayed) => tx.commit().await.map(|()| relayed),
            Err(error) => {
                tx.rollback().await;
                Err(error)
            }
        }
    }
}

async fn relay_in(tx: &(impl Ports + ?Sized), now: OffsetDateTime) -> Result<usize> {
    let events = tx.outbox().lock_unrelayed(EVENTS).await?;
    if events.is_empty() {
        return Ok(0);
    }
    let organizations: BTreeSet<OrganizationId> = events.iter().map(|event| event.organization).collect();
    let organizations: Vec<_> = organizations.into_iter().collect();
    let receivers = tx.registrations().receivers(&organizations).await?;
    let (relayed, deliveries) = plan(&events, &receivers, now);
    if !deliveries.is_empty() {
        tx.deliveries().add(&deliveries).await?;
    }
    let ids: Vec<_> = events.iter().take(relayed).map(|event| event.id).collect();
    tx.outbox().assign_positions(&ids).await?;
    Ok(relayed)
}

/// The deliveries of the first events, and the number of these events: as many as fit into a transaction, at least one.
fn plan(events: &[EventHead], receivers: &[EventReceiver], now: OffsetDateTime) -> (usize, Vec<NewDelivery>) {
    let mut deliveries: Vec<NewDelivery> = Vec::new();
    for (relayed, event) in events.iter().enumerate() {
        let concerned: Vec<_> =
            receivers.iter().filter(|one| one.receives(event.organization, event.name)).collect();
        if relayed > 0 && deliveries.len() + concerned.len() > DELIVERIES {
            return (relayed, deliveries);
        }
        deliveries.extend(concerned.into_iter().map(|receiver| NewDelivery {
            id: DeliveryId::generate(),
            registration: receiver.id,
            name: event.name,
            content: DeliveryContent::Event(event.id, event.organization),
            due_at: now,
        }));
    }
    (events.len(), deliveries)
}

#[cfg(test)]
mod tests {
    use super::*;
    use civitas_kernel::{Ability, RegistrationId, Scopes, sortable_id};
    use civitas_webhooks::{EventSwitches, ReceiverRights};

    fn event(organization: i64) -> EventHead {
        EventHead {
            id: sortable_id(),
            organization: OrganizationId(organization),
            name: Ability::ProposalCreation,
        }
    }

    fn receiver(id: i64, organization: i64) -> EventReceiver {
        EventReceiver {
            id: RegistrationId(id),
            organization: Some(OrganizationId(organization)),
            subscriptions: vec![Ability::ProposalCreation],
            rights: ReceiverRights {
                scopes: Scopes::read("proposals"),
                permissions: [Ability::ProposalCreation].into_iter().collect(),
            },
            switches: EventSwitches::ALL_ON,
        }
    }

    #[test]
    fn each_receiver_of_the_organization_gets_a_delivery_with_an_id_of_its_own() {
        let events = [event(1), event(2)];
        let receivers = [receiver(1, 1), receiver(2, 1), receiver(3, 2)];
        let (relayed, deliveries) = plan(&events, &receivers, clock::now());
        assert_eq!(relayed, 2);
        let to: Vec<_> = deliveries.iter().map(|one| one.registration.0).collect();
        assert_eq!(to, [1, 2, 3]);
        assert_ne!(deliveries[0].id, deliveries[1].id);
        assert_eq!(deliveries[2].content, DeliveryContent::Event(events[1].id, OrganizationId(2)));
    }

    #[test]
    fn a_transaction_has_a_limited_number_of_deliveries_and_at_least_one_event() {
        let events = [event(1), event(1)];
        let half: Vec<_> = (0..3_000).map(|id| receiver(id, 1)).collect();
        let (relayed, deliveries) = plan(&events, &half, clock::now());
        assert_eq!((relayed, deliveries.len()), (1, 3_000));
        let many: Vec<_> = (0..6_000).map(|id| receiver(id, 1)).collect();
        assert_eq!(plan(&events, &many, clock::now()).0, 1);
    }
}
