//! [`Store`] and [`Transaction`] on [`Session`].

use crate::engine;
use crate::failure::DieselResultExt;
use crate::migrate;
use crate::page_rows::RowReadLimits;
use crate::pools::DatabaseSettings;
use crate::session::Session;
use async_trait::async_trait;
use civitas_application::{Store, Transaction};
use civitas_jobs::JobOwner;
use civitas_kernel::{Event, OrganizationId, Result, clock};
use diesel_async::SimpleAsyncConnection;
use std::sync::Arc;
use time::OffsetDateTime;

/// Opens the database; creates the SQLite file if missing. Does not migrate or check the schema: see [`crate::migrate`]
/// and [`crate::schema`].
///
/// # Errors
/// `Unavailable` when the database does not answer; `Internal` for invalid settings.
pub async fn open(settings: &DatabaseSettings) -> Result<Arc<dyn Store>> {
    open_with_clock(settings, clock::now).await
}

/// The same, with another clock as that of the process: for tests of machines whose clocks differ.
///
/// # Errors
/// As [`open`].
pub async fn open_with_clock(
    settings: &DatabaseSettings,
    clock: fn() -> OffsetDateTime,
) -> Result<Arc<dyn Store>> {
    Ok(Arc::new(Session::open(settings, clock).await?))
}

#[async_trait]
impl Store for Session {
    async fn begin(&self) -> Result<Box<dyn Transaction>> {
        Ok(Box::new(self.begin_own().await?))
    }

    async fn begin_long(&self) -> Result<Box<dyn Transaction>> {
        Ok(Box::new(Session::begin_long(self).await?))
    }

    async fn ready(&self) -> Result<()> {
        migrate::check_readable(&mut *self.read().await?).await.map(drop)
    }

    async fn check_writable(&self) -> Result<()> {
        if !self.is_write_check_due() {
            return self.ready().await;
        }
        let mut guard = self.write().await?;
        migrate::check_writable(&mut guard).await?;
        guard.commit().await?;
        self.note_write_check();
        Ok(())
    }

    fn for_background(&self) -> Result<Arc<dyn Store>> {
        Ok(Arc::new(Session::for_background(self)?))
    }

    fn with_page_byte_limit(&self, bytes: usize) -> Result<Arc<dyn Store>> {
        Ok(Arc::new(Session::with_read_limits(self, RowReadLimits { bytes, ..self.bounds })?))
    }

    fn without_extended_data(&self) -> Result<Arc<dyn Store>> {
        Ok(Arc::new(Session::with_read_limits(self, RowReadLimits { with_data: false, ..self.bounds })?))
    }

    async fn on_replica(&self, caller: JobOwner, position: i64) -> Option<Arc<dyn Store>> {
        Some(Arc::new(Session::on_replica(self, caller, position).await?))
    }

    async fn note_position(&self, writer: JobOwner) -> Option<i64> {
        Session::note_position(self, writer).await
    }

    async fn truncate_log(&self) -> Result<bool> {
        engine::truncate_log(&mut *self.write().await?).await.map_db_error()
    }

    async fn analyze(&self) -> Result<()> {
        let mut guard = self.write().await?;
        SimpleAsyncConnection::batch_execute(&mut *guard, engine::ANALYZE).await.map_db_error()?;
        guard.commit().await
    }
}

#[async_trait]
impl Transaction for Session {
    fn take_events(&self) -> Vec<(OrganizationId, Event)> {
        self.take_recorded_events()
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
