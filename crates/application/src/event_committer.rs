//! Commits a unit of work: renders its events and stores them with the change, or stores nothing.

use crate::{Ports, SavedRecord, SiteSettings, Store, Transaction};
use async_trait::async_trait;
use civitas_kernel::{Error, Event, OrganizationId, Result, Subject};
use civitas_organizations::Tenant;
use civitas_webhooks::{OutboxEvent, envelope};
use serde_json::Value;
use std::sync::Arc;
use time::OffsetDateTime;

/// The most attempts of a unit of work that conflicts with another writer.
const TRIES: usize = 4;

/// Renders the record of an event as an anonymous viewer sees it (contract 09 C.1).
#[async_trait]
pub trait EventViews: Send + Sync {
    /// The `data` of the event, inside the transaction of the change. A record that is not `loaded` is read.
    async fn render_data(
        &self,
        ports: &dyn Ports,
        tenant: &Tenant,
        site: &SiteSettings,
        event: &Event,
        loaded: Option<SavedRecord<'_>>,
    ) -> Result<Value>;
}

/// Commits units of work with their events.
#[derive(Clone)]
pub struct EventCommitter {
    views: Arc<dyn EventViews>,
    site: SiteSettings,
}

impl EventCommitter {
    /// Renders the records of events.
    pub fn new(views: Arc<dyn EventViews>, site: SiteSettings) -> Self {
        Self { views, site }
    }

    /// Scheme and port of links, and languages.
    pub fn site(&self) -> &SiteSettings {
        &self.site
    }

    /// Runs `work` in one transaction and commits it. Repeats all of it on `Conflict`, four attempts at most.
    pub async fn in_transaction<T>(
        &self,
        store: &dyn Store,
        now: OffsetDateTime,
        work: impl AsyncFn(&dyn Transaction) -> Result<T>,
    ) -> Result<T> {
        let mut tries = 1;
        loop {
            let tx = store.begin().await?;
            let outcome = work(&*tx).await;
            match self.commit_with_events(tx, now, outcome).await {
                Err(Error::Conflict(cause)) if tries < TRIES => {
                    tracing::debug!(%cause, tries, "conflict with another writer; trying again");
                    tries += 1;
                    tokio::task::yield_now().await;
                }
                outcome => return outcome,
            }
        }
    }

    /// Commits the change and its events if the outcome is `Ok`; rolls back otherwise.
    pub async fn commit_with_events<T>(
        &self,
        tx: Box<dyn Transaction>,
        now: OffsetDateTime,
        outcome: Result<T>,
    ) -> Result<T> {
        match outcome {
            Ok(value) => {
                self.render_recorded_events(&*tx, now).await?;
                tx.commit().await?;
                Ok(value)
            }
            Err(error) => {
                tx.rollback().await;
                Err(error)
            }
        }
    }

    /// Renders the events a command has recorded, of an organization that is already loaded, with the record in its
    /// result.
    pub(crate) async fn render_events_of_command(
        &self,
        tx: &dyn Transaction,
        tenant: &Tenant,
        loaded: Option<SavedRecord<'_>>,
        now: OffsetDateTime,
    ) -> Result<()> {
        let mut outbox_events = Vec::new();
        for (organization, event) in tx.take_events() {
            // The command may have changed the organization itself.
            let is_current = organization == tenant.id && !matches!(event.subject, Subject::Organization(_));
            let rendered = if is_current {
                self.render(tx, tenant, event, loaded, now).await?
            } else {
                self.render(tx, &self::tenant(tx, organization).await?, event, None, now).await?
            };
            outbox_events.push(rendered);
        }
        append(tx, &outbox_events).await
    }

    /// Renders the events recorded since the last call, and appends them to the outbox.
    pub async fn render_recorded_events(&self, tx: &dyn Transaction, now: OffsetDateTime) -> Result<()> {
        self.render_events(tx, tx.take_events(), now).await
    }

    /// Renders these events from the current state of the transaction, and appends them to the outbox.
    pub async fn render_events(
        &self,
        tx: &dyn Transaction,
        events: Vec<(OrganizationId, Event)>,
        now: OffsetDateTime,
    ) -> Result<()> {
        let mut outbox_events = Vec::new();
        for (organization, event) in events {
            outbox_events.push(self.render(tx, &tenant(tx, organization).await?, event, None, now).await?);
        }
        append(tx, &outbox_events).await
    }

    async fn render(
        &self,
        tx: &dyn Transaction,
        tenant: &Tenant,
        event: Event,
        loaded: Option<SavedRecord<'_>>,
        now: OffsetDateTime,
    ) -> Result<OutboxEvent> {
        let data = self.views.render_data(tx, tenant, &self.site, &event, loaded).await?;
        let payload = envelope(event.name, &data);
        Ok(OutboxEvent::new(tenant.id, event.name, payload, now))
    }
}

async fn append(tx: &dyn Transaction, events: &[OutboxEvent]) -> Result<()> {
    if events.is_empty() { Ok(()) } else { tx.outbox().append(events).await }
}

pub(crate) async fn tenant(ports: &(impl Ports + ?Sized), id: OrganizationId) -> Result<Tenant> {
    let found = ports.organizations().tenant(id).await?;
    found.ok_or_else(|| Error::internal(format!("organization {id} is gone")))
}
