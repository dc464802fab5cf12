//! Cached lookups: what most requests read before their own records. The organization of a host or of a job, the identity
//! of a token, the components a reader sees, their contexts, and the last removals from lists
//! (docs/decisions/0049-cached-lookups.md).
//!
//! An entry is valid until this process commits a change of the tables it was read from ([`crate::changes`]), and for
//! [`LIFETIME`] at most, for the changes of other processes. The times of the last removals change with less than the other
//! lookups, so they have a count of changes of their own ([`CacheKind`]).
//!
//! What is not found is not cached. Transactions do not use the cache.

use crate::change_counters::ChangeCounters;
use crate::schema::CacheKind;
use crate::tables::ComponentIds;
use civitas_accounts::TokenIdentity;
use civitas_application::metrics::LookupCounter;
use civitas_kernel::{ComponentId, OrganizationId, UserId, Viewer};
use civitas_organizations::{HostMatch, Tenant};
use civitas_proposals::ProposalContext;
use civitas_spaces::ComponentKind;
use moka::sync::Cache;
use std::hash::Hash;
use std::sync::Arc;
use std::time::{Duration, Instant};
use time::OffsetDateTime;

/// How long an entry is valid.
const LIFETIME: Duration = Duration::from_secs(1);
/// How long an entry is kept that is not read again.
const IDLE_LIFETIME: Duration = Duration::from_secs(60);
/// The most entries of a table.
const MAX_ENTRIES: u64 = 10_000;
/// The most ids of components in all sets.
const MAX_IDS: u64 = 1_000_000;

/// The times of the last removals from the lists of an organization, by list.
pub(crate) type LastRemovals = Arc<[(String, OffsetDateTime)]>;

/// The tables.
pub(crate) struct LookupCache {
    changes: Arc<ChangeCounters>,
    /// By host.
    pub(crate) hosts: LookupTable<String, HostMatch>,
    /// By organization.
    pub(crate) tenants: LookupTable<i64, Tenant>,
    /// By organization and token.
    pub(crate) identities: LookupTable<(i64, i64), TokenIdentity>,
    /// The ids of visible components.
    pub(crate) components: LookupTable<VisibleSetKey, Arc<ComponentIds>>,
    /// The contexts of proposals.
    pub(crate) contexts: LookupTable<ContextKey, Arc<ProposalContext>>,
    /// By organization.
    pub(crate) removals: LookupTable<i64, LastRemovals>,
}

/// The key of a set of visible components.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct VisibleSetKey {
    pub(crate) organization: i64,
    pub(crate) viewer: Viewer,
    /// Only this one, if it is visible.
    pub(crate) component: Option<ComponentId>,
    /// Only those of this kind.
    pub(crate) kind: Option<ComponentKind>,
}

/// The key of the context of a proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ContextKey {
    pub(crate) organization: OrganizationId,
    pub(crate) component: i64,
    pub(crate) access: ContextAccess,
}

/// For whom the context of proposals is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum ContextAccess {
    /// For this viewer, if the component is visible to them.
    VisibleTo(Viewer),
    /// For this reader, whether the component is visible or not.
    ForReader(Option<UserId>),
}

/// When a value was read: after so many changes of its kind, at this time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CacheStamp {
    changes: u64,
    at: Instant,
}

impl CacheStamp {
    /// Whether what was read at an older stamp is still valid at this one.
    fn is_valid_for(self, older: Self) -> bool {
        self.changes == older.changes && self.at.saturating_duration_since(older.at) < LIFETIME
    }
}

/// The entries of one table.
pub(crate) struct LookupTable<K, V> {
    pub(crate) kind: CacheKind,
    entries: Cache<K, (CacheStamp, V)>,
    counter: LookupCounter,
}

impl<K: Hash + Eq + Send + Sync + 'static, V: Clone + Send + Sync + 'static> LookupTable<K, V> {
    /// `name`: that of its metrics.
    fn new(name: &str, kind: CacheKind, most: u64, weight: fn(&V) -> u32) -> Self {
        let cache = Cache::builder().max_capacity(most).time_to_idle(IDLE_LIFETIME);
        let entries = cache.weigher(move |_, (_, value)| weight(value)).build();
        Self { kind, entries, counter: LookupCounter::new(name) }
    }

    /// The value, if it is valid at this stamp. Counts the lookup.
    pub(crate) fn get(&self, key: &K, now: CacheStamp) -> Option<V> {
        let entry = self.entries.get(key);
        let value = entry.and_then(|(then, value)| now.is_valid_for(then).then_some(value));
        self.counter.count(value.is_some());
        value
    }

    /// Adds a value that was read after this stamp.
    pub(crate) fn insert(&self, key: K, then: CacheStamp, value: V) {
        self.entries.insert(key, (then, value));
    }
}

impl LookupCache {
    /// Empty tables, whose values are valid until these changes.
    pub(crate) fn new(changes: Arc<ChangeCounters>) -> Self {
        Self {
            changes,
            hosts: LookupTable::new("hosts", CacheKind::Lookup, MAX_ENTRIES, |_| 1),
            tenants: LookupTable::new("tenants", CacheKind::Lookup, MAX_ENTRIES, |_| 1),
            identities: LookupTable::new("identities", CacheKind::Lookup, MAX_ENTRIES, |_| 1),
            components: LookupTable::new("components", CacheKind::Lookup, MAX_IDS, |ids| {
                u32::try_from(ids.len()).unwrap_or(u32::MAX).saturating_add(8)
            }),
            contexts: LookupTable::new("places", CacheKind::Lookup, MAX_ENTRIES, |_| 1),
            removals: LookupTable::new("removals", CacheKind::Removal, MAX_ENTRIES, |_| 1),
        }
    }

    /// The stamp of what is read from now on.
    pub(crate) fn stamp(&self, kind: CacheKind) -> CacheStamp {
        CacheStamp { changes: self.changes.change_count(kind), at: Instant::now() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use civitas_application::metrics;

    #[test]
    fn an_entry_is_valid_until_the_next_change_and_for_a_second_at_most() {
        let then = CacheStamp { changes: 3, at: Instant::now() };
        let after = |changes, time| CacheStamp { changes, at: then.at + time };
        assert!(after(3, LIFETIME * 9 / 10).is_valid_for(then));
        assert!(!after(3, LIFETIME).is_valid_for(then));
        assert!(!after(4, Duration::ZERO).is_valid_for(then));
    }

    /// No other test reads contexts, and no other lookup is counted as one of them.
    #[test]
    fn lookups_are_counted_by_table() {
        let count = |result| {
            let metric = format!("civitas_lookup_cache_total{{result=\"{result}\",table=\"places\"}} ");
            let text = metrics::render().unwrap();
            text.lines().find_map(|line| line.strip_prefix(&metric)?.parse::<u64>().ok())
        };
        let lookups = LookupCache::new(Arc::default());
        metrics::count_requests();
        let key = ContextKey {
            organization: OrganizationId(1),
            component: 2,
            access: ContextAccess::ForReader(None),
        };
        assert!(lookups.contexts.get(&key, lookups.stamp(CacheKind::Lookup)).is_none());
        assert_eq!((count("hit"), count("miss")), (Some(0), Some(1)));
    }
}
