//! Open transactions: begin, events, commit and rollback.

use super::{ConnectionGuard, ConnectionSource, KINDS, Session, notify};
use crate::engine::WriteTransaction;
use crate::page_rows::RowReadLimits;
use civitas_kernel::{Error, Event, OrganizationId, Result};
use std::collections::HashMap;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::{Mutex, MutexGuard};

/// An open transaction.
pub(super) struct OpenTransaction {
    /// `None` after commit or rollback. Dropped by an error, a panic or with its request, it is rolled back.
    transaction: Mutex<Option<WriteTransaction>>,
    events: std::sync::Mutex<Vec<(OrganizationId, Event)>>,
    /// The ids that the next new rows get, by table or kind.
    assigned: std::sync::Mutex<HashMap<&'static str, Vec<i64>>>,
    /// The kinds of work that were added; their workers are notified after the commit.
    pub(super) has_work: [AtomicBool; KINDS],
}

fn is_over() -> Error {
    Error::internal("the transaction is over")
}

impl OpenTransaction {
    /// Its connection, for one statement.
    pub(super) async fn guard(&self) -> Result<ConnectionGuard<'_>> {
        let connection = MutexGuard::try_map(self.transaction.lock().await, |transaction| {
            transaction.as_mut().and_then(WriteTransaction::connection)
        });
        connection.map(ConnectionGuard::Shared).map_err(|_| is_over())
    }
}

impl Session {
    /// Begins a transaction.
    pub(crate) async fn begin_own(&self) -> Result<Session> {
        Ok(self.in_transaction(self.pools()?.writer.begin().await?))
    }

    /// Begins a transaction that takes long.
    pub(crate) async fn begin_long(&self) -> Result<Session> {
        Ok(self.in_transaction(self.pools()?.writer.begin_long().await?))
    }

    pub(super) fn in_transaction(&self, transaction: WriteTransaction) -> Session {
        let open = OpenTransaction {
            transaction: Mutex::new(Some(transaction)),
            events: std::sync::Mutex::default(),
            assigned: std::sync::Mutex::default(),
            has_work: Default::default(),
        };
        let source = ConnectionSource::Transaction(Box::new(open));
        Session {
            source,
            shared: self.shared.clone(),
            locales: self.locales.clone(),
            bounds: RowReadLimits::NONE,
        }
    }

    /// Commits the open transaction.
    pub(crate) async fn commit(&self) -> Result<()> {
        let ConnectionSource::Transaction(open) = &self.source else {
            return Err(Error::internal("only a transaction can be committed"));
        };
        let transaction = open.transaction.lock().await.take();
        transaction.ok_or_else(is_over)?.commit().await?;
        for (wakeup, has_work) in self.shared.wakeups.iter().zip(&open.has_work) {
            if has_work.load(Ordering::Relaxed) {
                notify(wakeup);
            }
        }
        Ok(())
    }

    /// Rolls the open transaction back.
    pub(crate) async fn rollback(&self) -> Result<()> {
        let ConnectionSource::Transaction(open) = &self.source else { return Ok(()) };
        match open.transaction.lock().await.take() {
            Some(transaction) => transaction.rollback().await,
            None => Ok(()),
        }
    }

    /// Checks that events can be recorded: always in a transaction, never on the pool, where they would be lost.
    /// Call it before the write.
    ///
    /// # Errors
    /// `Internal` when there are events and no transaction.
    pub(crate) fn check_recordable<T>(&self, events: &[T]) -> Result<()> {
        match &self.source {
            ConnectionSource::Database(..) if !events.is_empty() => {
                Err(Error::internal("a write with events needs a transaction"))
            }
            _ => Ok(()),
        }
    }

    /// Records events of an organization in the transaction.
    ///
    /// # Errors
    /// As [`Self::check_recordable`].
    pub(crate) fn record_events(
        &self,
        organization: OrganizationId,
        events: impl IntoIterator<Item = Event>,
    ) -> Result<()> {
        let events: Vec<_> = events.into_iter().map(|event| (organization, event)).collect();
        self.check_recordable(&events)?;
        if let ConnectionSource::Transaction(open) = &self.source {
            open.events.lock().unwrap_or_else(PoisonError::into_inner).extend(events);
        }
        Ok(())
    }

    /// Sets the ids of the next new rows of a table or kind; none: those that the engine assigns.
    ///
    /// # Errors
    /// `Internal` outside a transaction.
    pub(crate) fn assign_ids(&self, name: &'static str, ids: Vec<i64>) -> Result<()> {
        let ConnectionSource::Transaction(open) = &self.source else {
            return Err(Error::internal("ids are assigned in a transaction"));
        };
        open.assigned.lock().unwrap_or_else(PoisonError::into_inner).insert(name, ids);
        Ok(())
    }

    /// Takes the ids that the rows which are being added get; empty: those that the engine assigns.
    pub(crate) fn take_assigned(&self, name: &str) -> Vec<i64> {
        let ConnectionSource::Transaction(open) = &self.source else { return Vec::new() };
        open.assigned.lock().unwrap_or_else(PoisonError::into_inner).remove(name).unwrap_or_default()
    }

    /// The same for one row.
    pub(crate) fn take_assigned_id(&self, name: &str) -> Option<i64> {
        self.take_assigned(name).first().copied()
    }

    /// Takes the events recorded since the last call.
    pub(crate) fn take_recorded_events(&self) -> Vec<(OrganizationId, Event)> {
        let ConnectionSource::Transaction(open) = &self.source else { return Vec::new() };
        std::mem::take(&mut open.events.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
