//! From where an account signed in and failed to, and which sources are refused (contract 04 §1).

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use time::{Duration, OffsetDateTime};

/// The failures from one source that refuse it.
pub const MAX_FAILURES_PER_SOURCE: u32 = 20;
/// The failures from all sources that refuse those from which the account never signed in.
pub const MAX_FAILURES_PER_ACCOUNT: u32 = 100;
/// The time in which failures are counted, and for which sources are refused.
pub const SOURCE_REFUSAL_DURATION: Duration = Duration::HOUR;
/// How long a source is known after a sign-in from it.
const KNOWN_FOR: Duration = Duration::days(180);
/// The most known sources of an account. Beyond it the one that was used longest ago is forgotten.
const MAX_KNOWN: usize = 50;

/// Failures within [`SOURCE_REFUSAL_DURATION`]. Times are Unix seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Failures {
    number: u32,
    /// The time of the first one; of the last one when it was the one that refuses.
    since: i64,
}

impl Failures {
    fn end(self) -> i64 {
        self.since.saturating_add(SOURCE_REFUSAL_DURATION.whole_seconds())
    }

    fn refuse(self, most: u32, now: i64) -> bool {
        self.number >= most && now < self.end()
    }

    /// Counts a failure. Returns whether it is the one that refuses.
    fn count(&mut self, most: u32, now: i64) -> bool {
        if now >= self.end() {
            *self = Self { number: 0, since: now };
        }
        self.number += 1;
        let refuses = self.number == most;
        if refuses {
            self.since = now;
        }
        refuses
    }
}

/// The sources of an account. A source is a keyed digest of an IPv4 address, or of an IPv6 network of 64 bits; failures
/// are forgotten after [`SOURCE_REFUSAL_DURATION`]. Unknown sources are bounded by [`MAX_FAILURES_PER_ACCOUNT`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SignInSources {
    /// From all sources.
    all: Failures,
    /// From each source.
    own: BTreeMap<String, Failures>,
    /// Sources from which the account signed in, and until when they are known.
    known: BTreeMap<String, i64>,
}

impl SignInSources {
    /// Whether attempts from this source are refused.
    pub fn is_refused(&self, source: &str, now: OffsetDateTime) -> bool {
        let now = now.unix_timestamp();
        let is_known = self.known.get(source).is_some_and(|until| *until > now);
        self.refuses_own(source, now) || (!is_known && self.all.refuse(MAX_FAILURES_PER_ACCOUNT, now))
    }

    /// Whether the failures from this source refuse it.
    pub fn has_failed_too_often(&self, source: &str, now: OffsetDateTime) -> bool {
        self.refuses_own(source, now.unix_timestamp())
    }

    fn refuses_own(&self, source: &str, now: i64) -> bool {
        self.own.get(source).is_some_and(|own| own.refuse(MAX_FAILURES_PER_SOURCE, now))
    }

    /// Counts a failure from a source that is not refused. Returns whether it refuses sources that were not refused.
    pub fn count_failure(&mut self, source: &str, now: OffsetDateTime) -> bool {
        let now = now.unix_timestamp();
        self.own.retain(|_, own| now < own.end());
        let own = self.own.entry(source.to_owned()).or_default().count(MAX_FAILURES_PER_SOURCE, now);
        self.all.count(MAX_FAILURES_PER_ACCOUNT, now) || own
    }

    /// Remembers a source from which the account signed in, and forgets the failures from it.
    pub fn remember(&mut self, source: &str, now: OffsetDateTime) {
        self.own.remove(source);
        self.known.retain(|_, until| *until > now.unix_timestamp());
        self.known.insert(source.to_owned(), (now + KNOWN_FOR).unix_timestamp());
        let first = self.known.iter().min_by_key(|(_, until)| **until).map(|(source, _)| source.clone());
        if let Some(first) = first.filter(|_| self.known.len() > MAX_KNOWN) {
            self.known.remove(&first);
        }
    }

    /// Until when at least one source is refused.
    pub fn refused_until(&self, now: OffsetDateTime) -> Option<OffsetDateTime> {
        let now = now.unix_timestamp();
        let own = self.own.values().filter(|own| own.refuse(MAX_FAILURES_PER_SOURCE, now));
        let all = std::iter::once(&self.all).filter(|all| all.refuse(MAX_FAILURES_PER_ACCOUNT, now));
        let end = own.chain(all).map(|failures| failures.end()).max()?;
        OffsetDateTime::from_unix_timestamp(end).ok()
    }

    /// Forgets all failures: no source is refused.
    pub fn forget_failures(&mut self) {
        self.all = Failures::default();
        self.own.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::macros::datetime;

    const NOW: OffsetDateTime = datetime!(2026-01-01 0:00 UTC);

    fn fail(sources: &mut SignInSources, source: &str, times: u32, now: OffsetDateTime) -> usize {
        (0..times).filter(|_| sources.count_failure(source, now)).count()
    }

    #[test]
    fn twenty_failures_refuse_their_source_for_an_hour_and_no_other() {
        let mut sources = SignInSources::default();
        assert_eq!(fail(&mut sources, "a", 19, NOW), 0);
        let late = NOW + Duration::minutes(59);
        assert!(!sources.is_refused("a", late) && sources.refused_until(late).is_none());
        assert_eq!(fail(&mut sources, "a", 1, late), 1);
        let end = late + SOURCE_REFUSAL_DURATION;
        assert!(sources.is_refused("a", end - Duration::SECOND) && !sources.is_refused("b", late));
        assert_eq!(sources.refused_until(late), Some(end));
        assert!(!sources.is_refused("a", end));
        assert_eq!(fail(&mut sources, "a", 19, end), 0, "the count begins again");
    }

    #[test]
    fn failures_of_more_than_an_hour_ago_do_not_count() {
        let mut sources = SignInSources::default();
        fail(&mut sources, "a", 19, NOW);
        assert_eq!(fail(&mut sources, "a", 19, NOW + Duration::HOUR), 0);
    }

    #[test]
    fn a_hundred_failures_refuse_all_but_known_sources() {
        let mut sources = SignInSources::default();
        sources.remember("home", NOW);
        let failures = (0..100).map(|n| fail(&mut sources, &format!("attacker {n}"), 1, NOW));
        assert_eq!(failures.sum::<usize>(), 1, "the hundredth refuses");
        assert!(sources.is_refused("new", NOW) && !sources.is_refused("home", NOW));
        fail(&mut sources, "home", 19, NOW);
        assert!(!sources.is_refused("home", NOW));
        fail(&mut sources, "home", 1, NOW);
        assert!(sources.is_refused("home", NOW), "its own failures count");
        assert!(!sources.is_refused("new", NOW + Duration::HOUR), "and later ones do not extend it");
        sources.forget_failures();
        assert!(!sources.is_refused("home", NOW) && !sources.is_refused("new", NOW));
    }

    #[test]
    fn what_is_stored_is_bounded() {
        let mut sources = SignInSources::default();
        for n in 0..200 {
            sources.remember(&format!("home {n}"), NOW + Duration::seconds(n));
        }
        assert_eq!(sources.known.len(), MAX_KNOWN);
        assert!(sources.known.contains_key("home 199") && !sources.known.contains_key("home 149"));
        for n in 0..100 {
            fail(&mut sources, &format!("a {n}"), 1, NOW);
        }
        fail(&mut sources, "b", 1, NOW + Duration::HOUR);
        assert_eq!(sources.own.len(), 1, "others are forgotten");
        sources.remember("home", NOW + Duration::days(365));
        assert_eq!(sources.known.len(), 1);
    }
}
