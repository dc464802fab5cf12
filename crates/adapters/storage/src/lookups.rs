//! Cached lookups: what most requests read before their own records. The organization of a host or of a job, the identity
//! of a token, the components a reader sees, their places, and the last removals from lists
//! (docs/decisions/0049-cached-lookups.md).
//!
//! An entry is valid for its [`Stamp`], which is taken before its value is read. Where the engine has an epoch (SQLite), it
//! is valid until the next commit of any process. Elsewhere it is valid until this process commits a change of such rows,
//! and for [`LIFETIME`] at most, for the changes of other processes. Every write counts as such a change, unless its code
//! says that it is not (`write_uncached` and the like): a missing declaration costs time, and is never wrong. The times of
//! the last removals from lists change with less, so they have a count of changes of their own ([`Kind`]).
//!
//! What is not found is not cached. Transactions do not use the cache.

use crate::tables::ComponentIds;
use civitas_accounts::Identity;
use civitas_application::metrics::LookupCounter;
use civitas_kernel::{ComponentId, OrganizationId, UserId, Viewer};
use civitas_organizations::{Located, Tenant};
use civitas_proposals::Place;
use civitas_spaces::ComponentManifest;
use moka::sync::Cache;
use std::hash::Hash;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use time::OffsetDateTime;

/// How long an entry is valid without an epoch.
pub(crate) const LIFETIME: Duration = Duration::from_secs(1);
/// How long an entry is kept that is not read again.
const KEPT: Duration = Duration::from_secs(60);
/// The most entries of a table.
const MOST: u64 = 10_000;
/// The most ids of components in all sets.
const MOST_IDS: u64 = 1_000_000;

/// What is cached, by what changes it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    /// What is changed by every write that does not say otherwise.
    Lookup,
    /// What is changed by removals from lists.
    Removal,
}

impl Kind {
    /// All kinds.
    pub(crate) const ALL: [Self; 2] = [Self::Lookup, Self::Removal];
}

/// The times of the last removals from the lists of an organization, by list.
pub(crate) type LastRemovals = Arc<[(String, OffsetDateTime)]>;

/// The tables.
pub(crate) struct Lookups {
    /// The number of changes of cached rows by this process, by kind.
    changes: [AtomicU64; Kind::ALL.len()],
    /// By host.
    pub(crate) hosts: Table<String, Located>,
    /// By organization.
    pub(crate) tenants: Table<i64, Tenant>,
    /// By organization and token.
    pub(crate) identities: Table<(i64, i64), Identity>,
    /// The ids of visible components.
    pub(crate) components: Table<SetKey, Arc<ComponentIds>>,
    /// The places of proposals.
    pub(crate) places: Table<PlaceKey, Arc<Place>>,
    /// By organization.
    pub(crate) removals: Table<i64, LastRemovals>,
}

/// The key of a set of visible components.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct SetKey {
    pub(crate) organization: i64,
    pub(crate) viewer: Viewer,
    /// Only this one, if it is visible.
    pub(crate) component: Option<ComponentId>,
    /// Only those of this kind.
    pub(crate) kind: Option<ComponentManifest>,
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

/// The entries of one table.
pub(crate) struct Table<K, V> {
    pub(crate) kind: Kind,
    entries: Cache<K, (Stamp, V)>,
    counter: LookupCounter,
}

impl<K: Hash + Eq + Send + Sync + 'static, V: Clone + Send + Sync + 'static> Table<K, V> {
    /// `name`: that of its metrics.
    fn new(name: &str, kind: Kind, most: u64, weight: fn(&V) -> u32) -> Self {
        let cache = Cache::builder().max_capacity(most).time_to_idle(KEPT);
        let entries = cache.weigher(move |_, (_, value)| weight(value)).build();
        Self { kind, entries, counter: LookupCounter::new(name) }
    }

    /// The value, if it is valid at this stamp. Counts the lookup.
    pub(crate) fn get(&self, key: &K, now: Stamp) -> Option<V> {
        let entry = self.entries.get(key);
        let value = entry.and_then(|(then, value)| now.is_valid_for(then).then_some(value));
        self.counter.count(value.is_some());
        value
    }

    /// Adds a value that was read after this stamp.
    pub(crate) fn insert(&self, key: K, then: Stamp, value: V) {
        self.entries.insert(key, (then, value));
    }
}

impl Lookups {
    pub(crate) fn new() -> Self {
        Self {
            changes: Default::default(),
            hosts: Table::new("hosts", Kind::Lookup, MOST, |_| 1),
            tenants: Table::new("tenants", Kind::Lookup, MOST, |_| 1),
            identities: Table::new("identities", Kind::Lookup, MOST, |_| 1),
            components: Table::new("components", Kind::Lookup, MOST_IDS, |ids| {
                u32::try_from(ids.len()).unwrap_or(u32::MAX).saturating_add(8)
            }),
            places: Table::new("places", Kind::Lookup, MOST, |_| 1),
            removals: Table::new("removals", Kind::Removal, MOST, |_| 1),
        }
    }

    /// The stamp of what is read from now on. `epoch`: that of the engine, if it has one.
    pub(crate) fn stamp(&self, kind: Kind, epoch: Option<u64>) -> Stamp {
        match epoch {
            Some(epoch) => Stamp::Epoch(epoch),
            None => Stamp::Changes(self.changes[kind as usize].load(Ordering::SeqCst), Instant::now()),
        }
    }

    /// Ends the validity of all entries of a kind. Call it after the commit, before its caller learns of it.
    pub(crate) fn outdate(&self, kind: Kind) {
        self.changes[kind as usize].fetch_add(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use civitas_application::metrics;

    #[test]
    fn an_entry_is_valid_until_the_next_change_and_for_a_second_at_most() {
        let lookups = Lookups::new();
        let then = lookups.stamp(Kind::Lookup, None);
        lookups.hosts.insert("a".to_owned(), then, Located::Secondary { primary: "b".to_owned() });
        assert!(lookups.hosts.get(&"a".to_owned(), lookups.stamp(Kind::Lookup, None)).is_some());
        let Stamp::Changes(changes, at) = then else { panic!("it has no epoch") };
        assert!(Stamp::Changes(changes, at + LIFETIME * 9 / 10).is_valid_for(then));
        assert!(!Stamp::Changes(changes, at + LIFETIME).is_valid_for(then));
        lookups.outdate(Kind::Lookup);
        assert!(lookups.hosts.get(&"a".to_owned(), lookups.stamp(Kind::Lookup, None)).is_none());
    }

    #[test]
    fn a_change_ends_the_validity_of_its_kind_only() {
        let lookups = Lookups::new();
        let [host, removal] = [Kind::Lookup, Kind::Removal].map(|kind| lookups.stamp(kind, None));
        lookups.outdate(Kind::Removal);
        assert!(lookups.stamp(Kind::Lookup, None).is_valid_for(host));
        assert!(!lookups.stamp(Kind::Removal, None).is_valid_for(removal));
        let removal = lookups.stamp(Kind::Removal, None);
        lookups.outdate(Kind::Lookup);
        assert!(lookups.stamp(Kind::Removal, None).is_valid_for(removal));
    }

    #[test]
    fn with_an_epoch_an_entry_is_valid_in_its_epoch() {
        let lookups = Lookups::new();
        let key = SetKey { organization: 1, viewer: Viewer::Public, component: None, kind: None };
        lookups.components.insert(key, lookups.stamp(Kind::Lookup, Some(7)), Arc::new(vec![3].into()));
        lookups.outdate(Kind::Lookup);
        assert!(lookups.components.get(&key, lookups.stamp(Kind::Lookup, Some(7))).is_some());
        assert!(lookups.components.get(&key, lookups.stamp(Kind::Lookup, Some(8))).is_none());
        assert!(lookups.components.get(&key, lookups.stamp(Kind::Lookup, None)).is_none());
    }

    /// No other test reads places, and no other lookup is counted as one of them.
    #[test]
    fn lookups_are_counted_by_table() {
        let count = |result| {
            let metric = format!("civitas_lookup_cache_total{{result=\"{result}\",table=\"places\"}} ");
            let text = metrics::text().unwrap();
            text.lines().find_map(|line| line.strip_prefix(&metric)?.parse::<u64>().ok())
        };
        let lookups = Lookups::new();
        metrics::count_requests();
        let key = PlaceKey { organization: OrganizationId(1), component: 2, of: Seen::ByAnybody(None) };
        assert!(lookups.places.get(&key, lookups.stamp(Kind::Lookup, None)).is_none());
        assert_eq!((count("hit"), count("miss")), (Some(0), Some(1)));
    }
}
