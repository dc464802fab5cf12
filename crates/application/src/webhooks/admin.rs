//! What administrators do with registrations and deliveries. The caller checks permission.

use crate::Store;
use civitas_kernel::{
    Error, EventName, LogPage, LogRequest, OrganizationId, Page, PageRequest, RegistrationId, Result,
};
use civitas_webhooks::{
    Attempt, Content, DeliveryFilter, DeliveryId, LoggedDelivery, NewDelivery, Registration,
    RegistrationFilter, RegistrationReport, Replay,
};
use time::OffsetDateTime;

/// The most deliveries that one statement replays.
const BATCH: i64 = 1_000;

/// Reads the log of deliveries, sends deliveries again, and pauses registrations.
#[derive(Clone, Copy)]
pub struct WebhookAdmin<'a> {
    /// The store.
    pub store: &'a dyn Store,
    /// Restricts everything to the registrations of the clients of this organization; `None`: all of the deployment.
    pub organization: Option<OrganizationId>,
}

impl WebhookAdmin<'_> {
    /// Registrations with the figures of their deliveries, in ascending order of id.
    pub async fn registrations(
        &self,
        filter: &RegistrationFilter,
        page: PageRequest,
    ) -> Result<Page<RegistrationReport>> {
        self.store.delivery_log().registrations(self.organization, filter, page).await
    }

    /// A registration with the figures of its deliveries.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn report(&self, id: RegistrationId) -> Result<RegistrationReport> {
        let filter = RegistrationFilter { id: Some(id), ..RegistrationFilter::default() };
        let page = self.registrations(&filter, PageRequest { page: 1, per_page: 1 }).await?;
        page.items.into_iter().next().ok_or(Error::NotFound)
    }

    /// A page of the log of deliveries.
    pub async fn log(
        &self,
        filter: &DeliveryFilter,
        page: LogRequest<DeliveryId>,
    ) -> Result<LogPage<LoggedDelivery>> {
        self.store.delivery_log().page(self.organization, filter, page).await
    }

    /// Deliveries, the newest first.
    pub async fn deliveries(
        &self,
        filter: &DeliveryFilter,
        page: PageRequest,
    ) -> Result<Page<LoggedDelivery>> {
        self.store.delivery_log().list(self.organization, filter, page).await
    }

    /// A delivery with its attempts.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn delivery(&self, id: DeliveryId) -> Result<(LoggedDelivery, Vec<Attempt>)> {
        let log = self.store.delivery_log();
        let delivery = log.find(self.organization, id).await?.ok_or(Error::NotFound)?;
        Ok((delivery, log.attempts(id).await?))
    }

    /// Sends deliveries again, with the same ids and bodies. Returns their number; those that are pending are left out.
    ///
    /// # Errors
    /// `NotFound` when there is no such delivery or registration.
    pub async fn replay(&self, which: &Replay, now: OffsetDateTime) -> Result<u64> {
        match which {
            Replay::One(id) => {
                self.store.delivery_log().find(self.organization, *id).await?.ok_or(Error::NotFound)?;
            }
            Replay::Range { registration, .. } | Replay::Failed(registration) => {
                self.registration(*registration).await?;
            }
        }
        let mut replayed = 0;
        loop {
            match self.store.delivery_log().replay(self.organization, which, now, BATCH).await? {
                0 => return Ok(replayed),
                some => replayed += some,
            }
        }
    }

    /// Queues a delivery of this body, whatever the registration is subscribed to. It has one attempt.
    ///
    /// # Errors
    /// `NotFound`; `Registration is paused`, `Registration is disabled`.
    pub async fn test(
        &self,
        id: RegistrationId,
        event: EventName,
        body: String,
        now: OffsetDateTime,
    ) -> Result<DeliveryId> {
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
            content: Content::Test(body),
            due_at: now,
        };
        self.store.deliveries().add(std::slice::from_ref(&delivery)).await?;
        Ok(delivery.id)
    }

    /// Stops sending to a registration; its deliveries wait, at most 30 days. Does nothing when it is paused.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn pause(&self, id: RegistrationId, now: OffsetDateTime) -> Result<Registration> {
        self.edit(id, |registration| registration.pause(now)).await
    }

    /// Sends to a paused or disabled registration again.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn resume(&self, id: RegistrationId) -> Result<Registration> {
        self.edit(id, Registration::resume).await
    }

    /// Sends to a registration again that was disabled. A pause stays.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn enable(&self, id: RegistrationId) -> Result<Registration> {
        self.edit(id, |registration| registration.health.reset()).await
    }

    /// Deletes a registration with its deliveries.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn remove(&self, id: RegistrationId) -> Result<()> {
        let client = self.registration(id).await?.client;
        let removed = self.store.registrations().remove(client, id).await?;
        if removed { Ok(()) } else { Err(Error::NotFound) }
    }

    async fn registration(&self, id: RegistrationId) -> Result<Registration> {
        self.in_reach(self.store.registrations().find_any(id).await?)
    }

    async fn edit(&self, id: RegistrationId, edit: impl FnOnce(&mut Registration)) -> Result<Registration> {
        let tx = self.store.begin().await?;
        let found = tx.registrations().find_any_for_update(id).await;
        let edited = async {
            let mut registration = self.in_reach(found?)?;
            edit(&mut registration);
            tx.registrations().save(id, &registration).await?;
            Ok(registration)
        };
        match edited.await {
            Ok(registration) => tx.commit().await.map(|()| registration),
            Err(error) => {
                tx.rollback().await;
                Err(error)
            }
        }
    }

    fn in_reach(&self, found: Option<Registration>) -> Result<Registration> {
        let in_reach = |one: &Registration| self.organization.is_none_or(|own| one.organization == Some(own));
        found.filter(in_reach).ok_or(Error::NotFound)
    }
}
