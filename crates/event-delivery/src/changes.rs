//! Changes of registrations and deliveries, by clients and administrators. The caller checks permission, and commits.

use civitas_application::{MAX_REGISTRATIONS, SharedResource, Transaction, metrics};
use civitas_audit::{Action, Actor, NewAuditEntry};
use civitas_kernel::{ClientId, Error, EventName, OrganizationId, RegistrationId, Result};
use civitas_webhooks::{
    CheckedRegistration, DeliveryContent, DeliveryId, NewDelivery, Registration, ReplaySelection,
    too_many_registrations_error, url_taken_error,
};
use time::OffsetDateTime;

/// The most deliveries that one transaction replays.
const BATCH: i64 = 1_000;

/// Changes registrations and sends deliveries again. Each change has its entry in the audit trail.
pub struct WebhookChanges<'a> {
    /// The transaction.
    pub tx: &'a dyn Transaction,
    /// Restricts everything to the registrations of the clients of this organization; `None`: all of the deployment.
    pub organization: Option<OrganizationId>,
    /// Who acts.
    pub actor: Actor,
    /// The network address of the actor, if there is one.
    pub from: Option<String>,
    /// The present.
    pub now: OffsetDateTime,
}

impl WebhookChanges<'_> {
    /// Makes deliveries due again, with the same ids and bodies; at most 1,000, the oldest first. Returns their number:
    /// call it until it is 0. Deliveries that are pending, or were replayed at `now`, are left out.
    ///
    /// # Errors
    /// `NotFound` when there is no such delivery or registration.
    pub async fn replay(&self, which: &ReplaySelection) -> Result<u64> {
        let audit_entry = self.audit_entry(Action::WebhookDeliveryReplayed);
        let audit_entry = match which {
            ReplaySelection::One(id) => {
                let found = self.tx.delivery_log().find(self.organization, *id).await?;
                let delivery = found.ok_or(Error::NotFound)?;
                let audit_entry = audit_entry.in_organization(delivery.organization);
                audit_entry.with_object("webhook_delivery", &id.0.to_string(), delivery.name.as_str())
            }
            ReplaySelection::Range { registration, .. } | ReplaySelection::Failed(registration) => {
                with_registration(audit_entry, *registration, &self.registration(*registration).await?)
            }
        };
        let replayed = self.tx.delivery_log().replay(self.organization, which, self.now, BATCH).await?;
        if replayed > 0 {
            let audit_entry = audit_entry.with_change("deliveries", None, Some(&replayed.to_string()));
            self.tx.audit().append(&audit_entry, self.now).await?;
        }
        Ok(replayed)
    }

    /// Queues a delivery of this body, whatever the registration is subscribed to. It has one attempt.
    ///
    /// # Errors
    /// `NotFound`; `Registration is paused`, `Registration is disabled`.
    pub async fn test(&self, id: RegistrationId, event: EventName, body: String) -> Result<DeliveryId> {
        let registration = self.registration(id).await?;
        if registration.paused_at.is_some() {
            return Err(Error::rejected("Registration is paused"));
        }
        if registration.health.disabled_at.is_some() {
            return Err(Error::rejected("Registration is disabled"));
        }
        let delivery = NewDelivery {
            id: DeliveryId::generate(),
            registration: id,
            name: event,
            content: DeliveryContent::Test(body),
            due_at: self.now,
        };
        self.tx.deliveries().add(std::slice::from_ref(&delivery)).await?;
        self.append(Action::WebhookRegistrationTested, id, &registration).await?;
        Ok(delivery.id)
    }

    /// Stops sending to a registration; its deliveries wait, at most 30 days. Does nothing when it is paused.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn pause(&self, id: RegistrationId) -> Result<Registration> {
        self.edit(id, Action::WebhookRegistrationPaused, |registration| registration.pause(self.now)).await
    }

    /// Sends to a paused or disabled registration again.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn resume(&self, id: RegistrationId) -> Result<Registration> {
        self.edit(id, Action::WebhookRegistrationResumed, Registration::resume).await
    }

    /// Stores a new registration.
    ///
    /// # Errors
    /// `Invalid` when the client has as many as it may have, or has got another one with this address meanwhile.
    pub async fn create(&self, registration: &Registration) -> Result<RegistrationId> {
        let count = self.tx.registrations().count_for_update(registration.client).await?;
        if count.unsigned_abs() >= MAX_REGISTRATIONS {
            metrics::share_refused(SharedResource::Registrations.as_str());
            return Err(too_many_registrations_error(MAX_REGISTRATIONS));
        }
        let id = self.tx.registrations().add(registration).await?.ok_or_else(url_taken_error)?;
        self.append(Action::WebhookRegistrationCreated, id, registration).await?;
        Ok(id)
    }

    /// Replaces address and events of a registration of a client, and enables it if it was disabled.
    ///
    /// # Errors
    /// `NotFound`; `Invalid` when the client has got another one with this address meanwhile.
    pub async fn update(
        &self,
        client: ClientId,
        id: RegistrationId,
        checked: &CheckedRegistration,
    ) -> Result<Registration> {
        let before = self.registration(id).await?;
        let updated = match self.tx.registrations().update(client, id, checked, self.now).await {
            Err(Error::Conflict(_)) => return Err(url_taken_error()),
            updated => updated?.ok_or(Error::NotFound)?,
        };
        let audit_entry =
            with_registration(self.audit_entry(Action::WebhookRegistrationUpdated), id, &updated);
        let audit_entry = audit_entry.with_change("url", Some(&before.url), Some(&updated.url));
        let events = |of: &Registration| {
            of.subscriptions.iter().map(|event| event.as_str()).collect::<Vec<_>>().join(", ")
        };
        let audit_entry =
            audit_entry.with_change("subscriptions", Some(&events(&before)), Some(&events(&updated)));
        self.tx.audit().append(&audit_entry, self.now).await?;
        Ok(updated)
    }

    /// Deletes a registration with its deliveries. Returns the last state.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn remove(&self, id: RegistrationId) -> Result<Registration> {
        let registration = self.registration(id).await?;
        if !self.tx.registrations().remove(registration.client, id).await? {
            return Err(Error::NotFound);
        }
        self.append(Action::WebhookRegistrationDeleted, id, &registration).await?;
        Ok(registration)
    }

    async fn edit(
        &self,
        id: RegistrationId,
        action: Action,
        edit: impl FnOnce(&mut Registration),
    ) -> Result<Registration> {
        let mut registration =
            self.found_in_scope(self.tx.registrations().find_unrestricted_for_update(id).await?)?;
        let before = registration.clone();
        edit(&mut registration);
        if registration != before {
            self.tx.registrations().save(id, &registration).await?;
            self.append(action, id, &registration).await?;
        }
        Ok(registration)
    }

    async fn registration(&self, id: RegistrationId) -> Result<Registration> {
        self.found_in_scope(self.tx.registrations().find_unrestricted(id).await?)
    }

    fn found_in_scope(&self, found: Option<Registration>) -> Result<Registration> {
        let found_in_scope =
            |one: &Registration| self.organization.is_none_or(|own| one.organization == Some(own));
        found.filter(found_in_scope).ok_or(Error::NotFound)
    }

    fn audit_entry(&self, action: Action) -> NewAuditEntry {
        NewAuditEntry::new(self.actor.clone(), action).with_address(self.from.as_deref())
    }

    async fn append(&self, action: Action, id: RegistrationId, registration: &Registration) -> Result<()> {
        let audit_entry = with_registration(self.audit_entry(action), id, registration);
        self.tx.audit().append(&audit_entry, self.now).await.map(drop)
    }
}

fn with_registration(
    audit_entry: NewAuditEntry,
    id: RegistrationId,
    registration: &Registration,
) -> NewAuditEntry {
    audit_entry.in_organization(registration.organization).with_object(
        "webhook_registration",
        &id.to_string(),
        &registration.url,
    )
}
