//! Registrations: where a client wants its events (contract 09 B), and their health (C.4).

use crate::{EventSwitches, ReceiverRights, SealedSecret, is_of_system};
use civitas_kernel::records::Entity;
use civitas_kernel::{ClientId, EventName, OrganizationId, RegistrationId};
use time::{Duration, OffsetDateTime};

/// The consecutive failures after which a registration may be disabled.
pub const FAILURES_TO_DISABLE: i64 = 20;
/// The time of consecutive failures after which a registration may be disabled.
pub const FAILING_TO_DISABLE: Duration = Duration::days(3);

/// An address of a client that receives events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registration {
    /// The client it belongs to.
    pub client: ClientId,
    /// The organization of the client; `None` for a deployment-wide client.
    pub organization: Option<OrganizationId>,
    /// The callback address, `http` or `https`. Of one client each address is registered once.
    pub url: String,
    /// The events, each once, in the order of the client.
    pub subscriptions: Vec<EventName>,
    /// The encrypted key of signatures.
    pub secret: SealedSecret,
    /// What the last deliveries came to.
    pub health: RegistrationHealth,
    /// When an administrator paused it; its deliveries wait.
    pub paused_at: Option<OffsetDateTime>,
    /// When it was created.
    pub created_at: OffsetDateTime,
    /// When the client last changed it.
    pub updated_at: OffsetDateTime,
}

impl Registration {
    /// A new one of a client, without events.
    pub fn new(
        client: ClientId,
        organization: Option<OrganizationId>,
        url: String,
        secret: SealedSecret,
        now: OffsetDateTime,
    ) -> Self {
        Self {
            client,
            organization,
            url,
            subscriptions: Vec::new(),
            secret,
            health: RegistrationHealth::default(),
            paused_at: None,
            created_at: now,
            updated_at: now,
        }
    }

    /// Pauses it: its deliveries wait. Does nothing when it is paused.
    pub fn pause(&mut self, now: OffsetDateTime) {
        self.paused_at.get_or_insert(now);
    }

    /// Ends a pause, and enables it if it was disabled.
    pub fn resume(&mut self) {
        self.paused_at = None;
        if self.health.disabled_at.is_some() {
            self.health.reset();
        }
    }
}

impl Entity for Registration {
    type Id = RegistrationId;

    civitas_kernel::time_fields!(updated_at);
}

/// What the last attempts at a registration came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RegistrationHealth {
    /// Failed attempts since the last success.
    pub failures: i64,
    /// The first of them.
    pub failing_since: Option<OffsetDateTime>,
    /// The last success.
    pub succeeded_at: Option<OffsetDateTime>,
    /// When it was disabled: no events are queued for it.
    pub disabled_at: Option<OffsetDateTime>,
}

impl RegistrationHealth {
    /// Notes a success.
    pub fn succeed(&mut self, at: OffsetDateTime) {
        self.failures = 0;
        self.failing_since = None;
        self.succeeded_at = Some(at);
    }

    /// Notes a failed attempt. `gone`: the receiver answered 410. Disables the registration after a 410, or after
    /// [`FAILURES_TO_DISABLE`] consecutive failures over [`FAILING_TO_DISABLE`].
    pub fn fail(&mut self, at: OffsetDateTime, gone: bool) {
        self.failures += 1;
        let since = *self.failing_since.get_or_insert(at);
        if gone || (self.failures >= FAILURES_TO_DISABLE && at - since >= FAILING_TO_DISABLE) {
            self.disabled_at.get_or_insert(at);
        }
    }

    /// Enables it again and forgets its failures.
    pub fn reset(&mut self) {
        *self = Self { succeeded_at: self.succeeded_at, ..Self::default() };
    }
}

/// A registration for the relay: who receives what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventReceiver {
    /// The registration.
    pub id: RegistrationId,
    /// The organization of its client; `None` for a deployment-wide client.
    pub organization: Option<OrganizationId>,
    /// The events it is subscribed to.
    pub subscriptions: Vec<EventName>,
    /// The rights of its client.
    pub rights: ReceiverRights,
    /// The switches of its organization.
    pub switches: EventSwitches,
}

impl EventReceiver {
    /// Whether it receives an event of this organization (contract 09 C.1, receivers).
    pub fn receives(&self, organization: OrganizationId, event: EventName) -> bool {
        let concerns = self.organization.map_or(is_of_system(event), |own| own == organization);
        concerns
            && self.subscriptions.contains(&event)
            && self.rights.may_receive(event)
            && self.switches.allow(event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use civitas_kernel::{Abilities, Scopes};
    use time::macros::datetime;

    const NOW: OffsetDateTime = datetime!(2026-03-01 09:30 UTC);

    fn receiver(organization: Option<i64>, events: &[EventName], scopes: &str) -> EventReceiver {
        EventReceiver {
            id: RegistrationId(1),
            organization: organization.map(OrganizationId),
            subscriptions: events.to_vec(),
            rights: ReceiverRights {
                scopes: Scopes::read(scopes),
                permissions: events.iter().copied().collect(),
            },
            switches: EventSwitches::ALL_ON,
        }
    }

    #[test]
    fn a_registration_is_disabled_after_twenty_failures_over_three_days() {
        let mut health = RegistrationHealth::default();
        for _ in 0..30 {
            health.fail(NOW, false);
        }
        assert_eq!(health.disabled_at, None, "all at once");
        health.fail(NOW + FAILING_TO_DISABLE, false);
        assert_eq!(health.disabled_at, Some(NOW + FAILING_TO_DISABLE));
        health.reset();
        assert_eq!(health, RegistrationHealth::default());
    }

    #[test]
    fn a_success_ends_the_count_and_a_410_disables_at_once() {
        let mut health = RegistrationHealth::default();
        (0..19).for_each(|_| health.fail(NOW, false));
        health.succeed(NOW + Duration::days(4));
        health.fail(NOW + Duration::days(5), false);
        assert_eq!((health.failures, health.disabled_at), (1, None));
        health.fail(NOW + Duration::days(5), true);
        assert_eq!(health.disabled_at, Some(NOW + Duration::days(5)));
    }

    #[test]
    fn an_event_goes_to_its_organization_and_events_of_organizations_to_the_deployment_too() {
        let (mine, other) = (OrganizationId(1), OrganizationId(2));
        let own =
            receiver(Some(1), &[EventName::UserCreated, EventName::OrganizationUpdated], "oauth system");
        assert!(own.receives(mine, EventName::UserCreated) && !own.receives(other, EventName::UserCreated));
        assert!(!own.receives(other, EventName::OrganizationUpdated));
        let wide = receiver(None, &[EventName::OrganizationUpdated], "system");
        assert!(wide.receives(mine, EventName::OrganizationUpdated));
        assert!(!receiver(None, &[EventName::UserCreated], "oauth").receives(mine, EventName::UserCreated));
    }

    #[test]
    fn an_event_needs_a_subscription_a_permission_and_its_switch() {
        let organization = OrganizationId(1);
        let mut one = receiver(Some(1), &[EventName::ProposalCreation], "proposals");
        assert!(one.receives(organization, EventName::ProposalCreation));
        assert!(!one.receives(organization, EventName::ProposalUpdate));
        one.switches.proposals = false;
        assert!(!one.receives(organization, EventName::ProposalCreation));
        one.switches.proposals = true;
        one.rights.permissions = Abilities::default();
        assert!(!one.receives(organization, EventName::ProposalCreation));
    }
}
