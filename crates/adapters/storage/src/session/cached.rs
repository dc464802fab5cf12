//! Cached lookups of a session ([`crate::lookups`]).

use super::{ConnectionSource, ON_PRIMARY, PoolUse, Session};
use crate::lookups::{CacheStamp, LookupCache, LookupTable};
use crate::schema::CacheKind;
use civitas_kernel::Result;
use std::collections::HashMap;
use std::hash::Hash;

impl Session {
    /// A cached lookup: the value of this key, else what `load` finds.
    pub(crate) async fn look_up<K, V>(
        &self,
        table: fn(&LookupCache) -> &LookupTable<K, V>,
        key: K,
        load: impl Future<Output = Result<Option<V>>>,
    ) -> Result<Option<V>>
    where
        K: Hash + Eq + Send + Sync + 'static,
        V: Clone + Send + Sync + 'static,
    {
        let table = table(&self.shared.lookups);
        let Some(stamp) = self.stamp(table) else { return load.await };
        if let Some(value) = table.get(&key, stamp) {
            return Ok(Some(value));
        }
        let value = ON_PRIMARY.scope((), load).await?;
        if let Some(value) = &value {
            table.insert(key, stamp, value.clone());
        }
        Ok(value)
    }

    /// The same for several keys: the values that are cached, and those that `load` finds for the others.
    pub(crate) async fn look_up_many<K, V, Loaded>(
        &self,
        table: fn(&LookupCache) -> &LookupTable<K, V>,
        keys: Vec<K>,
        load: impl FnOnce(Vec<K>) -> Loaded,
    ) -> Result<HashMap<K, V>>
    where
        K: Hash + Eq + Copy + Send + Sync + 'static,
        V: Clone + Send + Sync + 'static,
        Loaded: Future<Output = Result<Vec<(K, V)>>>,
    {
        let table = table(&self.shared.lookups);
        let stamp = self.stamp(table);
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
        for (key, value) in ON_PRIMARY.scope((), load(missing)).await? {
            if let Some(stamp) = stamp {
                table.insert(key, stamp, value.clone());
            }
            found.insert(key, value);
        }
        Ok(found)
    }

    /// The stamp of what is read from now on; `None` where no cached value is used: in a transaction, and for removals at a
    /// replica, whose times must not be later than the lists that it shows.
    fn stamp<K, V>(&self, table: &LookupTable<K, V>) -> Option<CacheStamp> {
        match (&self.source, table.kind) {
            (ConnectionSource::Transaction(_), _)
            | (ConnectionSource::Database(_, PoolUse::Replica(_)), CacheKind::Removal) => None,
            (ConnectionSource::Database(..), kind) => Some(self.shared.lookups.stamp(kind)),
        }
    }
}
