//! Cached lookups: what most requests read before their own records. The organization of a host, the identity of a token,
//! the components a reader sees, and their places (docs/decisions/0049-cached-lookups.md).
//!
//! An entry is valid for its [`Stamp`], which is taken before its value is read. Where the engine has an epoch (SQLite), it
//! is valid until the next commit of any process. Elsewhere it is valid until this process commits a change of such rows,
//! and for [`LIFETIME`] at most, for the changes of other processes. Every write counts as such a change, unless its code
//! says that it is not (`write_uncached` and the like): a missing declaration costs time, and is never wrong.
//!
//! What is not found is not cached. Transactions do not use the cache.

use crate::tables::ComponentIds;
use civitas_accounts::Identity;
use civitas_kernel::{ComponentId, OrganizationId, UserId, Viewer};
use civitas_organizations::Located;
use civitas_proposals::Place;
use moka::sync::Cache;
use std::hash::Hash;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How long an entry is valid without an epoch.
const LIFETIME: Duration = Duration::from_secs(1);
/// How long an entry is kept that is not read again.
const KEPT: Duration = Duration::from_secs(60);
/// The most entries of a table.
const MOST: u64 = 10_000;
/// The most ids of components in all sets.
const MOST_IDS: u64 = 1_000_000;

/// The tables.
pub(crate) struct Lookups {
    /// The number of changes of cached rows by this process.
    changes: AtomicU64,
    /// By host.
    pub(crate) hosts: Table<String, Located>,
    /// By organization and token.
    pub(crate) identities: Table<(i64, i64), Identity>,
    /// The ids of the visible components, by organization and viewer, in all or of one component.
    pub(crate) components: Table<(i64, Viewer, Option<ComponentId>), Arc<ComponentIds>>,
    /// The places of proposals.
    pub(crate) places: Table<PlaceKey, Arc<Place>>,
}

/// The key of a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct PlaceKey {
    pub(crate) organization: OrganizationId,
    pub(crate) component: i64,
    pub(crate) of: Seen,
}

/// Whose place it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Seen {
    /// One that this viewer sees.
    By(Viewer),
    /// One for this reader, visible or not.
    ByAnybody(Option<UserId>),
}

/// The state of the database that an entry is of.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Stamp {
    /// That of an epoch.
    Epoch(u64),
    /// That after so many changes by this process, at this time.
    Changes(u64, Instant),
}

impl Stamp {
    /// Whether what was read at an older stamp is still valid at this one.
    fn is_valid_for(self, older: Self) -> bool {
        match (self, older) {
            (Self::Epoch(now), Self::Epoch(then)) => now == then,
            (Self::Changes(now, at), Self::Changes(then, since)) => {
                now == then && at.saturating_duration_since(since) < LIFETIME
            }
            _ => false,
        }
    }
}

/// The entries of one kind. Clones share them.
pub(crate) struct Table<K, V>(Cache<K, (Stamp, V)>);

impl<K: Hash + Eq + Send + Sync + 'static, V: Clone + Send + Sync + 'static> Table<K, V> {
    fn new(most: u64, weight: fn(&V) -> u32) -> Self {
        let cache = Cache::builder().max_capacity(most).time_to_idle(KEPT);
        Self(cache.weigher(move |_, (_, value)| weight(value)).build())
    }

    /// The value, if it is valid at this stamp.
    pub(crate) fn get(&self, key: &K, now: Stamp) -> Option<V> {
        let (then, value) = self.0.get(key)?;
        now.is_valid_for(then).then_some(value)
    }

    /// Adds a value that was read after this stamp.
    pub(crate) fn insert(&self, key: K, then: Stamp, value: V) {
        self.0.insert(key, (then, value));
    }
}

impl Lookups {
    pub(crate) fn new() -> Self {
        Self {
            changes: AtomicU64::new(0),
            hosts: Table::new(MOST, |_| 1),
            identities: Table::new(MOST, |_| 1),
            components: Table::new(MOST_IDS, |ids| {
                u32::try_from(ids.len()).unwrap_or(u32::MAX).saturating_add(8)
            }),
            places: Table::new(MOST, |_| 1),
        }
    }

    /// The stamp of what is read from now on. `epoch`: that of the engine, if it has one.
    pub(crate) fn stamp(&self, epoch: Option<u64>) -> Stamp {
        match epoch {
            Some(epoch) => Stamp::Epoch(epoch),
            None => Stamp::Changes(self.changes.load(Ordering::SeqCst), Instant::now()),
        }
    }

    /// Ends the validity of all entries. Call it after the commit, before its caller learns of it.
    pub(crate) fn outdate(&self) {
        self.changes.fetch_add(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_valid_until_the_next_change_and_for_a_second_at_most() {
        let lookups = Lookups::new();
        let then = lookups.stamp(None);
        lookups.hosts.insert("a".to_owned(), then, Located::Secondary { primary: "b".to_owned() });
        assert!(lookups.hosts.get(&"a".to_owned(), lookups.stamp(None)).is_some());
        let Stamp::Changes(changes, at) = then else { panic!("it has no epoch") };
        assert!(Stamp::Changes(changes, at + LIFETIME * 9 / 10).is_valid_for(then));
        assert!(!Stamp::Changes(changes, at + LIFETIME).is_valid_for(then));
        lookups.outdate();
        assert!(lookups.hosts.get(&"a".to_owned(), lookups.stamp(None)).is_none());
    }

    #[test]
    fn with_an_epoch_an_entry_is_valid_in_its_epoch() {
        let lookups = Lookups::new();
        lookups.components.insert(
            (1, Viewer::Public, None),
            lookups.stamp(Some(7)),
            Arc::new(vec![3].into()),
        );
        lookups.outdate();
        assert!(lookups.components.get(&(1, Viewer::Public, None), lookups.stamp(Some(7))).is_some());
        assert!(lookups.components.get(&(1, Viewer::Public, None), lookups.stamp(Some(8))).is_none());
        assert!(lookups.components.get(&(1, Viewer::Public, None), lookups.stamp(None)).is_none());
    }
}
