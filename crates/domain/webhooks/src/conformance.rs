//! Conformance tests: what every implementation of the ports must pass. Each is a function that fails on a violation.

mod leasing;
mod logging;
mod outbox;
mod recording;
mod registrations;

pub use leasing::{
    claims_a_registration_for_one_worker, claims_some_of_each_client,
    claims_those_served_the_longest_ago_first, ends_all_leases, leaves_out_paused_and_disabled_registrations,
    makes_a_released_registration_due_with_its_next_delivery, queues_for_existing_registrations_only,
    reads_due_deliveries_in_order, renews_the_leases_of_one_worker, shows_the_target_to_its_worker,
    wakes_who_waits,
};
pub use logging::{
    expires_what_waits_too_long, filters_the_log_and_turns_its_pages,
    lists_deliveries_by_registration_status_and_organization, removes_ended_deliveries,
    replays_each_ended_delivery_once, reports_figures, searches_registrations,
};
pub use outbox::{
    gives_positions_in_order_each_once, isolates_organizations, keeps_events_with_deliveries,
    pages_do_not_overlap, reads_relayed_events_by_name, removes_the_events_of_an_account,
};
pub use recording::{
    a_lost_lease_records_and_releases_nothing, records_every_verdict, records_texts_that_are_hard_to_store,
    skips_deliveries_that_are_gone,
};
pub use registrations::{
    finds_receivers, keeps_clients_apart, keeps_every_member, keeps_one_registration_of_an_address,
    lists_registrations_in_order, refuses_an_update_to_a_taken_address,
    removes_a_registration_with_its_deliveries, updates_address_and_events,
};

use crate::{
    DeliveryContent, DeliveryId, DeliveryLog, DeliveryQueue, NewDelivery, Outbox, OutboxEvent, Registration,
    RegistrationStore, SealedSecret, envelope,
};
use civitas_kernel::testing::ALL;
use civitas_kernel::{
    Ability, ClientId, EventName, OrganizationId, RegistrationId, Result, conformance_world,
};
use serde_json::json;
use time::macros::datetime;
use time::{Duration, OffsetDateTime};

conformance_world! {
    /// The stores, two existing organizations, and clients without registrations.
    pub struct World {
        ports(outbox: Outbox, registrations: RegistrationStore, deliveries: DeliveryQueue, log: DeliveryLog)
        /// A client of the first organization.
        client: ClientId,
        /// Another client of it.
        second_client: ClientId,
        /// A client of the other organization.
        other_client: ClientId,
        /// A deployment-wide client.
        wide_client: ClientId,
    }
}

const NOW: OffsetDateTime = datetime!(2026-03-01 09:30:00.000001 UTC);

fn outbox_event(organization: OrganizationId, n: i64) -> OutboxEvent {
    named(organization, Ability::ProposalCreation, n)
}

fn named(organization: OrganizationId, name: EventName, n: i64) -> OutboxEvent {
    let payload = envelope(name, &json!({"id": n.to_string(), "title": "Été", "list": [n, null]}));
    OutboxEvent::new(organization, name, payload, at(n))
}

/// A time this many seconds after [`NOW`].
fn at(seconds: i64) -> OffsetDateTime {
    NOW + Duration::seconds(seconds)
}

fn registration(client: ClientId, organization: Option<OrganizationId>, path: &str) -> Registration {
    let url = format!("https://hooks.example/{path}");
    let new = Registration::new(client, organization, url, SealedSecret("sealed".to_owned()), NOW);
    Registration { subscriptions: vec![Ability::UserCreated, Ability::ProposalCreation], ..new }
}

impl World<'_> {
    /// Stores a registration of the client.
    async fn register(&self, path: &str) -> Result<RegistrationId> {
        self.store(&registration(self.client, Some(self.mine), path)).await
    }

    async fn store(&self, registration: &Registration) -> Result<RegistrationId> {
        Ok(self.registrations.add(registration).await?.expect("the address is free"))
    }

    /// Queues a test delivery that is due this many seconds after [`NOW`].
    async fn queue(&self, registration: RegistrationId, seconds: i64) -> Result<DeliveryId> {
        let delivery = test_delivery(registration, seconds);
        self.deliveries.add(std::slice::from_ref(&delivery)).await?;
        Ok(delivery.id)
    }

    /// Stores an event and queues its delivery.
    async fn queue_event(&self, registration: RegistrationId, event: &OutboxEvent) -> Result<DeliveryId> {
        self.outbox.append(std::slice::from_ref(event)).await?;
        let id = DeliveryId::generate();
        let content = DeliveryContent::Event(event.id, event.organization);
        let delivery = NewDelivery { id, registration, name: event.name, content, due_at: NOW };
        self.deliveries.add(&[delivery]).await?;
        Ok(id)
    }

    /// Leases what is due at this time for a minute.
    async fn claim(&self, worker: &str, now: OffsetDateTime) -> Result<Vec<RegistrationId>> {
        self.claim_each(worker, now, 10).await
    }

    /// The same, at most so many of each client.
    async fn claim_each(&self, worker: &str, now: OffsetDateTime, each: i64) -> Result<Vec<RegistrationId>> {
        let waiting = self.deliveries.waiting(now, each).await?;
        let ids: Vec<_> = waiting.into_iter().map(|one| one.id).collect();
        self.deliveries.claim(worker, &ids, now, now + Duration::MINUTE).await
    }
}

fn test_delivery(registration: RegistrationId, seconds: i64) -> NewDelivery {
    NewDelivery {
        id: DeliveryId::generate(),
        registration,
        name: Ability::UserCreated,
        content: DeliveryContent::Test("{\"type\": \"user.created\"}".to_owned()),
        due_at: at(seconds),
    }
}
