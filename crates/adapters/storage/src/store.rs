//! [`Store`], [`Transaction`] and [`Ports`] on [`Session`].

use crate::engine;
use crate::failure::Stored;
use crate::migrate;
use crate::session::{Session, Settings};
use async_trait::async_trait;
use civitas_accounts::magic_links::MagicLinkStore;
use civitas_accounts::{
    ClientStore, ConfirmationStore, OrganizationLookup, RoleStore, SessionStore, SystemAdminStore,
    TokenStore, UserStore,
};
use civitas_application::{ListChanges, Ports, RefStore, Store, Transaction};
use civitas_blogs::{BlogLookup, PostStore};
use civitas_extended_data::ExtendedDataStore;
use civitas_jobs::JobStore;
use civitas_kernel::{Event, OrganizationId, Result, TaskQueue};
use civitas_meetings::MeetingStore;
use civitas_organizations::OrganizationStore;
use civitas_proposals::{ComponentLookup, ProposalStore, StateStore, VoteStore};
use civitas_spaces::{ComponentStore, EntryStore, SpaceStore, StepStore};
use civitas_tasks::TaskStore;
use civitas_webhooks::Outbox;
use diesel_async::SimpleAsyncConnection;
use std::sync::Arc;

/// Opens the database; an SQLite file is made when there is none. Neither migrates nor asks for the schema:
/// [`crate::migrate`] and [`crate::schema`] do.
///
/// # Errors
/// `Unavailable` when the database does not answer; `Internal` when the settings make no sense.
pub async fn open(settings: &Settings) -> Result<Arc<dyn Store>> {
    Ok(Arc::new(Session::open(settings).await?))
}

#[async_trait]
impl Store for Session {
    async fn begin(&self) -> Result<Box<dyn Transaction>> {
        Ok(Box::new(self.begin_own().await?))
    }

    async fn ready(&self) -> Result<()> {
        migrate::touch(&mut *self.read().await?).await.stored()
    }

    fn epoch(&self) -> Option<u64> {
        Session::epoch(self)
    }

    async fn analyze(&self) -> Result<()> {
        SimpleAsyncConnection::batch_execute(&mut *self.write().await?, engine::ANALYZE).await.stored()
    }
}

#[async_trait]
impl Transaction for Session {
    fn announced(&self) -> Vec<(OrganizationId, Event)> {
        self.take_announced()
    }

    async fn commit(self: Box<Self>) -> Result<()> {
        Session::commit(&self).await
    }

    async fn rollback(self: Box<Self>) {
        if let Err(error) = Session::rollback(&self).await {
            tracing::warn!(%error, "a transaction could not be rolled back; its connection is closed");
        }
    }
}

impl Ports for Session {
    fn organizations(&self) -> &dyn OrganizationStore {
        self
    }

    fn users(&self) -> &dyn UserStore {
        self
    }

    fn clients(&self) -> &dyn ClientStore {
        self
    }

    fn tokens(&self) -> &dyn TokenStore {
        self
    }

    fn roles(&self) -> &dyn RoleStore {
        self
    }

    fn system_admins(&self) -> &dyn SystemAdminStore {
        self
    }

    fn extended_data(&self) -> &dyn ExtendedDataStore {
        self
    }

    fn spaces(&self) -> &dyn SpaceStore {
        self
    }

    fn steps(&self) -> &dyn StepStore {
        self
    }

    fn components(&self) -> &dyn ComponentStore {
        self
    }

    fn entries(&self) -> &dyn EntryStore {
        self
    }

    fn proposals(&self) -> &dyn ProposalStore {
        self
    }

    fn component_lookup(&self) -> &dyn ComponentLookup {
        self
    }

    fn states(&self) -> &dyn StateStore {
        self
    }

    fn votes(&self) -> &dyn VoteStore {
        self
    }

    fn meetings(&self) -> &dyn MeetingStore {
        self
    }

    fn posts(&self) -> &dyn PostStore {
        self
    }

    fn blogs(&self) -> &dyn BlogLookup {
        self
    }

    fn jobs(&self) -> &dyn JobStore {
        self
    }

    fn outbox(&self) -> &dyn Outbox {
        self
    }

    fn organization_lookup(&self) -> &dyn OrganizationLookup {
        self
    }

    fn confirmations(&self) -> &dyn ConfirmationStore {
        self
    }

    fn magic_links(&self) -> &dyn MagicLinkStore {
        self
    }

    fn sessions(&self) -> &dyn SessionStore {
        self
    }

    fn queue(&self) -> &dyn TaskQueue {
        self
    }

    fn tasks(&self) -> &dyn TaskStore {
        self
    }

    fn refs(&self) -> &dyn RefStore {
        self
    }

    fn list_changes(&self) -> &dyn ListChanges {
        self
    }
}
