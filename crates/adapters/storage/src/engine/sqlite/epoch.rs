//! A number that changes with every commit.

use super::{Db, connect, path_of};
use crate::pools::Settings;
use civitas_kernel::{Error, Result};
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::sql_types::Integer;
use diesel::{ConnectionError, ConnectionResult, QueryResult, RunQueryDsl, SqliteConnection};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A counter that changes with every commit: `PRAGMA data_version` on read-only connections. The value of
/// `data_version` is only comparable within one connection, so each connection that sees a new value increments one
/// shared counter. A read after a commit returns a new number.
pub struct Epoch {
    path: String,
    number: AtomicU64,
    /// The idle connections; their number is the most that were in use at once.
    idle: Mutex<Vec<Watch>>,
}

/// One connection, and the last `data_version` it read.
struct Watch {
    connection: SqliteConnection,
    told: i32,
}

impl Epoch {
    /// Opens the first connection.
    pub fn open(settings: &Settings) -> Result<Self> {
        let path = path_of(&settings.url)?.to_owned();
        let first = Watch::open(&path).map_err(|e| Error::Unavailable(e.into()))?;
        Ok(Self { path, number: AtomicU64::new(0), idle: Mutex::new(vec![first]) })
    }

    /// The current number; `None` when it cannot be read.
    pub fn now(&self) -> Option<u64> {
        let idle = self.idle().pop();
        let mut watch = match idle {
            Some(watch) => watch,
            None => self.another()?,
        };
        if watch.has_news().ok()? {
            self.number.fetch_add(1, Ordering::SeqCst);
        }
        let number = self.number.load(Ordering::SeqCst);
        self.idle().push(watch);
        Some(number)
    }

    /// A new connection. It has no earlier value to compare with, so the counter is incremented.
    fn another(&self) -> Option<Watch> {
        let watch = Watch::open(&self.path).ok()?;
        self.number.fetch_add(1, Ordering::SeqCst);
        Some(watch)
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Watch>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watch {
    fn open(path: &str) -> ConnectionResult<Self> {
        let mut connection = connect(path, "PRAGMA query_only = ON; PRAGMA mmap_size = 0;")?;
        let told = DataVersion.get_result(&mut connection);
        Ok(Self { told: told.map_err(ConnectionError::CouldntSetupConfiguration)?, connection })
    }

    /// Whether there was a commit since the last call.
    fn has_news(&mut self) -> QueryResult<bool> {
        let told = DataVersion.get_result(&mut self.connection)?;
        Ok(std::mem::replace(&mut self.told, told) != told)
    }
}

/// `PRAGMA data_version`. A separate type, so that Diesel caches the prepared statement.
#[derive(QueryId, Clone, Copy)]
struct DataVersion;

impl Query for DataVersion {
    type SqlType = Integer;
}

impl<C> RunQueryDsl<C> for DataVersion {}

impl QueryFragment<Db> for DataVersion {
    fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, Db>) -> QueryResult<()> {
        pass.push_sql("PRAGMA data_version");
        Ok(())
    }
}
