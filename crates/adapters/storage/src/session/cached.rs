//! Cached lookups of a session, and the writes that end their validity ([`crate::lookups`]).

use super::{Session, Shared, Source};
use crate::engine::{self, Alone, Conn};
use crate::lookups::{Kind, LIFETIME, Lookups, Stamp, Table};
use civitas_kernel::Result;
use std::collections::HashMap;
use std::hash::Hash;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

impl Session {
    /// The epoch in which the reading request of this session began. A request that goes on for longer than an entry is
    /// valid without an epoch, such as a stream, reads the epoch again.
    fn epoch_of_request(&self) -> Option<u64> {
        let (epoch, at) = self.begun_in?;
        (at.elapsed() < LIFETIME).then_some(epoch)
    }

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
        let table = table(&self.shared.lookups);
        let Some(stamp) = self.stamp(table.kind) else { return load.await };
        if let Some(value) = table.get(&key, stamp) {
            return Ok(Some(value));
        }
        let value = load.await?;
        if let Some(value) = &value {
            table.insert(key, stamp, value.clone());
        }
        Ok(value)
    }

    /// The same for several keys: the values that are cached, and those that `load` finds for the others.
    pub(crate) async fn look_up_many<K, V, Loaded>(
        &self,
        table: fn(&Lookups) -> &Table<K, V>,
        keys: Vec<K>,
        load: impl FnOnce(Vec<K>) -> Loaded,
    ) -> Result<HashMap<K, V>>
    where
        K: Hash + Eq + Copy + Send + Sync + 'static,
        V: Clone + Send + Sync + 'static,
        Loaded: Future<Output = Result<Vec<(K, V)>>>,
    {
        let table = table(&self.shared.lookups);
        let stamp = self.stamp(table.kind);
        let mut found = HashMap::with_capacity(keys.len());
        let mut missing = Vec::new();
        for key in keys {
            match stamp.and_then(|stamp| table.get(&key, stamp)) {
                Some(value) => _ = found.insert(key, value),
                None => missing.push(key),
            }
        }
        if missing.is_empty() {
            return Ok(found);
        }
        for (key, value) in load(missing).await? {
            if let Some(stamp) = stamp {
                table.insert(key, stamp, value.clone());
            }
            found.insert(key, value);
        }
        Ok(found)
    }

    /// The stamp of what is read from now on; `None` where nothing is cached.
    fn stamp(&self, kind: Kind) -> Option<Stamp> {
        let Source::Database(database, _) = &self.source else { return None };
        if !database.caches {
            return None;
        }
        let epoch = match database.epoch.as_ref().filter(|_| engine::HAS_EPOCH) {
            None => None,
            Some(epoch) => Some(self.epoch_of_request().or_else(|| epoch.now())?),
        };
        Some(self.shared.lookups.stamp(kind, epoch))
    }
}

/// Ends the validity of cached lookups of a kind when it is dropped.
pub(super) struct Outdates<'a>(pub(super) &'a Shared, pub(super) Kind);

impl Drop for Outdates<'_> {
    fn drop(&mut self) {
        self.0.lookups.outdate(self.1);
    }
}

/// A connection for one statement that may change cached rows of a kind: when it is dropped, the statement is committed.
pub(super) struct Outdating {
    pub(super) shared: Arc<Shared>,
    pub(super) kind: Kind,
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
        self.shared.lookups.outdate(self.kind);
    }
}
