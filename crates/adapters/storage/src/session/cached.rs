//! Cached lookups of a session, and the writes that end their validity ([`crate::lookups`]).

use super::{Session, Shared, Source};
use crate::engine::{self, Alone, Conn};
use crate::lookups::{Lookups, Table};
use civitas_kernel::Result;
use std::hash::Hash;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

impl Session {
    /// A cached lookup: the value of this key, else what `load` finds.
    pub(crate) async fn look_up<K, V>(
        &self,
        table: fn(&Lookups) -> &Table<K, V>,
        key: K,
        load: impl Future<Output = Result<Option<V>>>,
    ) -> Result<Option<V>>
    where
        K: Hash + Eq + Send + Sync + 'static,
        V: Clone + Send + Sync + 'static,
    {
        let Source::Database(database, _) = &self.source else { return load.await };
        let (table, epoch) = (table(&self.shared.lookups), database.epoch.as_ref());
        let stamp = match epoch.filter(|_| engine::HAS_EPOCH) {
            None => self.shared.lookups.stamp(None),
            Some(epoch) => match epoch.now() {
                Some(number) => self.shared.lookups.stamp(Some(number)),
                None => return load.await,
            },
        };
        if let Some(value) = table.get(&key, stamp) {
            return Ok(Some(value));
        }
        let value = load.await?;
        if let Some(value) = &value {
            table.insert(key, stamp, value.clone());
        }
        Ok(value)
    }
}

/// Ends the validity of cached lookups when it is dropped.
pub(super) struct Outdates<'a>(pub(super) &'a Shared);

impl Drop for Outdates<'_> {
    fn drop(&mut self) {
        self.0.lookups.outdate();
    }
}

/// A connection for one statement that may change cached rows: when it is dropped, the statement is committed.
pub(super) struct Outdating {
    pub(super) shared: Arc<Shared>,
    pub(super) connection: Alone,
}

impl Deref for Outdating {
    type Target = Conn;

    fn deref(&self) -> &Conn {
        &self.connection
    }
}

impl DerefMut for Outdating {
    fn deref_mut(&mut self) -> &mut Conn {
        &mut self.connection
    }
}

impl Drop for Outdating {
    fn drop(&mut self) {
        self.shared.lookups.outdate();
    }
}
