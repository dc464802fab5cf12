//! What administrators read of registrations and deliveries. The caller checks permission.

use civitas_application::Store;
use civitas_kernel::{Error, LogPage, LogRequest, OrganizationId, Page, PageRequest, RegistrationId, Result};
use civitas_webhooks::{
    DeliveryAttempt, DeliveryFilter, DeliveryId, LoggedDelivery, RegistrationFilter, RegistrationReport,
    ReplaySelection,
};
use time::OffsetDateTime;

/// Reads registrations and the log of deliveries.
#[derive(Clone, Copy)]
pub struct WebhookAdministration<'a> {
    /// The store.
    pub store: &'a dyn Store,
    /// Restricts everything to the registrations of the clients of this organization; `None`: all of the deployment.
    pub organization: Option<OrganizationId>,
}

impl WebhookAdministration<'_> {
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
        let page = self.registrations(&filter, PageRequest::new(1, 1)).await?;
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
    pub async fn delivery(&self, id: DeliveryId) -> Result<(LoggedDelivery, Vec<DeliveryAttempt>)> {
        let log = self.store.delivery_log();
        let delivery = log.find(self.organization, id).await?.ok_or(Error::NotFound)?;
        Ok((delivery, log.attempts(id).await?))
    }

    /// The number of deliveries that a replay would send again, at most `limit`.
    pub async fn count_replayable(
        &self,
        which: &ReplaySelection,
        now: OffsetDateTime,
        limit: i64,
    ) -> Result<i64> {
        self.store.delivery_log().count_replayable(self.organization, which, now, limit).await
    }
}
