//! Limits for the requests to this process (contract 01 §3, 429).

use civitas_kernel::ClientId;
use governor::clock::{Clock, DefaultClock};
use governor::middleware::StateInformationMiddleware;
use governor::nanos::Nanos;
use governor::state::StateStore;
use governor::state::keyed::ShrinkableKeyedStateStore;
use governor::{Quota, RateLimiter};
use ipnet::Ipv6Net;
use std::collections::HashMap;
use std::hash::Hash;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The most keys of a limit. Beyond it new keys are not limited, and known ones are: so many sources are beyond any limit for
/// one.
const MOST_KEYS: usize = 100_000;
/// How often keys that have used nothing are removed.
const SWEEP: Duration = Duration::from_secs(60);
/// The part of an IPv6 address that stands for one source: providers give networks of this length to customers.
const IPV6_SOURCE: u8 = 64;

/// The limit is exceeded: try again after this time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryAfter(pub Duration);

impl RetryAfter {
    /// In whole seconds, at least 1.
    pub fn seconds(self) -> u64 {
        self.0.as_secs() + u64::from(self.0.subsec_nanos() > 0 || self.0.is_zero())
    }
}

/// What each of at most [`MOST_KEYS`] keys has used.
struct States<K>(Mutex<HashMap<K, Nanos>>);

impl<K: Hash + Eq + Clone> StateStore for States<K> {
    type Key = K;

    fn measure_and_replace<T, F, E>(&self, key: &K, measure: F) -> Result<T, E>
    where
        F: Fn(Option<Nanos>) -> Result<(T, Nanos), E>,
    {
        let mut states = locked(&self.0);
        let (result, state) = measure(states.get(key).copied())?;
        if states.len() < MOST_KEYS || states.contains_key(key) {
            states.insert(key.clone(), state);
        }
        Ok(result)
    }
}

impl<K: Hash + Eq + Clone> ShrinkableKeyedStateStore<K> for States<K> {
    fn retain_recent(&self, drop_below: Nanos) {
        locked(&self.0).retain(|_, state| *state > drop_below);
    }

    fn shrink_to_fit(&self) {
        locked(&self.0).shrink_to_fit();
    }

    fn len(&self) -> usize {
        locked(&self.0).len()
    }

    fn is_empty(&self) -> bool {
        locked(&self.0).is_empty()
    }
}

/// A limit for each key, with a time of the last removal of unused keys.
struct Keyed<K: Hash + Eq + Clone> {
    limiter: RateLimiter<K, States<K>, DefaultClock, StateInformationMiddleware>,
    clock: DefaultClock,
    swept_at: Mutex<Instant>,
}

impl<K: Hash + Eq + Clone> Keyed<K> {
    fn new(quota: Quota) -> Self {
        let clock = DefaultClock::default();
        let limiter = RateLimiter::new(quota, States(Mutex::default()), clock.clone());
        Self { limiter, clock, swept_at: Mutex::new(Instant::now()) }
    }

    /// Takes one of the limit. Returns how many are left, or how long to wait for the next.
    fn take(&self, key: &K) -> Result<u32, Duration> {
        self.sweep();
        match self.limiter.check_key(key) {
            Ok(state) => Ok(state.remaining_burst_capacity()),
            Err(refused) => Err(refused.wait_time_from(self.clock.now())),
        }
    }

    /// Removes unused keys when the last removal is long ago. Returns whether it did.
    fn sweep(&self) -> bool {
        let mut swept_at = locked(&self.swept_at);
        if swept_at.elapsed() < SWEEP {
            return false;
        }
        *swept_at = Instant::now();
        drop(swept_at);
        self.limiter.retain_recent();
        self.limiter.shrink_to_fit();
        true
    }
}

fn locked<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Limits refused credentials of each source address; an IPv6 network of 64 bits is one source. Only refusals use the
/// limit.
pub struct AuthenticationLimit {
    refusals: Option<Refusals>,
}

struct Refusals {
    limit: Keyed<IpAddr>,
    /// How long one of the limit takes to return.
    interval: Duration,
    /// Sources that have used their limit, and until when.
    closed: Mutex<HashMap<IpAddr, Instant>>,
}

impl AuthenticationLimit {
    /// With this number of refusals a minute; `None`: no limit.
    pub fn per_minute(most: Option<NonZeroU32>) -> Self {
        let refusals = most.map(|most| {
            let quota = Quota::per_minute(most);
            Refusals {
                limit: Keyed::new(quota),
                interval: quota.replenish_interval(),
                closed: Mutex::default(),
            }
        });
        Self { refusals }
    }

    /// Checks a source before its credentials are read. A source that is not known has no limit.
    ///
    /// # Errors
    /// When it has used its limit.
    pub fn check(&self, source: Option<IpAddr>) -> Result<(), RetryAfter> {
        let (Some(refusals), Some(source)) = (&self.refusals, source) else { return Ok(()) };
        let until = locked(&refusals.closed).get(&network_of(source)).copied();
        let left = until.map_or(Duration::ZERO, |until| until.saturating_duration_since(Instant::now()));
        if left.is_zero() { Ok(()) } else { Err(RetryAfter(left)) }
    }

    /// Counts refused credentials of a source.
    pub fn count(&self, source: Option<IpAddr>) {
        let (Some(refusals), Some(source)) = (&self.refusals, source) else { return };
        let source = network_of(source);
        let now = Instant::now();
        if refusals.limit.sweep() {
            locked(&refusals.closed).retain(|_, until| *until > now);
        }
        let wait = match refusals.limit.take(&source) {
            Ok(0) => refusals.interval,
            Ok(_) => return,
            Err(wait) => wait,
        };
        let mut closed = locked(&refusals.closed);
        if closed.len() < MOST_KEYS || closed.contains_key(&source) {
            closed.insert(source, now + wait);
        }
    }
}

/// Limits the requests of each API client.
pub struct ClientLimit {
    requests: Option<Keyed<ClientId>>,
}

impl ClientLimit {
    /// With this number of requests a second; `None`: no limit.
    pub fn per_second(most: Option<NonZeroU32>) -> Self {
        Self { requests: most.map(|most| Keyed::new(Quota::per_second(most))) }
    }

    /// Counts a request of a client.
    ///
    /// # Errors
    /// When it has used its limit.
    pub fn take(&self, client: ClientId) -> Result<(), RetryAfter> {
        match &self.requests {
            Some(requests) => requests.take(&client).map(drop).map_err(RetryAfter),
            None => Ok(()),
        }
    }
}

/// The source that is limited as one: an IPv4 address, or an IPv6 network of 64 bits.
pub fn network_of(source: IpAddr) -> IpAddr {
    match source.to_canonical() {
        IpAddr::V6(address) => match Ipv6Net::new(address, IPV6_SOURCE) {
            Ok(network) => network.network().into(),
            Err(_) => address.into(),
        },
        address @ IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> Option<IpAddr> {
        text.parse().ok()
    }

    #[test]
    fn a_source_that_has_used_its_limit_is_closed_and_others_are_open() {
        let limit = AuthenticationLimit::per_minute(NonZeroU32::new(3));
        let (bad, good) = (address("192.0.2.1"), address("192.0.2.2"));
        for _ in 0..3 {
            limit.check(bad).unwrap();
            limit.count(bad);
        }
        let wait = limit.check(bad).unwrap_err();
        assert!(wait.0 > Duration::from_secs(5) && wait.0 <= Duration::from_secs(20), "{wait:?}");
        limit.count(bad);
        assert!(limit.check(bad).is_err());
        limit.check(good).unwrap();
        limit.check(address("::ffff:192.0.2.1")).unwrap_err();
        limit.check(None).unwrap();
    }

    #[test]
    fn checks_alone_use_nothing() {
        let limit = AuthenticationLimit::per_minute(NonZeroU32::new(1));
        for _ in 0..1_000 {
            limit.check(address("192.0.2.1")).unwrap();
        }
    }

    #[test]
    fn a_network_of_ipv6_is_one_source() {
        let limit = AuthenticationLimit::per_minute(NonZeroU32::new(2));
        limit.count(address("2001:db8:0:1::1"));
        limit.count(address("2001:db8:0:1:ffff::2"));
        limit.check(address("2001:db8:0:1::3")).unwrap_err();
        limit.check(address("2001:db8:0:2::1")).unwrap();
    }

    #[test]
    fn a_closed_source_opens_again() {
        let limit = AuthenticationLimit::per_minute(NonZeroU32::new(600));
        let source = address("192.0.2.1");
        for _ in 0..10_000 {
            limit.count(source);
        }
        assert!(limit.check(source).is_err());
        let begin = Instant::now();
        while limit.check(source).is_err() {
            assert!(begin.elapsed() < Duration::from_secs(60), "it stays closed");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    #[test]
    fn a_client_has_its_own_limit() {
        let limit = ClientLimit::per_second(NonZeroU32::new(5));
        let taken = (0..1_000).filter(|_| limit.take(ClientId(1)).is_ok()).count();
        assert!((5..500).contains(&taken), "{taken}");
        limit.take(ClientId(2)).unwrap();
    }

    #[test]
    fn without_a_limit_nothing_is_refused() {
        let (sources, clients) = (AuthenticationLimit::per_minute(None), ClientLimit::per_second(None));
        for _ in 0..10_000 {
            sources.count(address("192.0.2.1"));
            sources.check(address("192.0.2.1")).unwrap();
            clients.take(ClientId(1)).unwrap();
        }
    }

    #[test]
    fn the_number_of_sources_is_bounded() {
        let limit = AuthenticationLimit::per_minute(NonZeroU32::new(1));
        let sources = u32::try_from(MOST_KEYS).unwrap() + 1_000;
        for n in 0..sources {
            limit.count(Some(IpAddr::V4(n.into())));
        }
        let refusals = limit.refusals.as_ref().unwrap();
        assert!(refusals.limit.limiter.len() <= MOST_KEYS);
        assert!(locked(&refusals.closed).len() <= MOST_KEYS);
    }

    #[test]
    fn known_sources_stay_limited_when_there_are_too_many() {
        let limit = Keyed::new(Quota::per_hour(NonZeroU32::MIN));
        limit.take(&0).unwrap();
        for key in 1..=MOST_KEYS {
            limit.take(&key).unwrap();
        }
        limit.take(&0).unwrap_err();
        for _ in 0..2 {
            limit.take(&MOST_KEYS).unwrap();
        }
        assert_eq!(limit.limiter.len(), MOST_KEYS);
    }

    #[test]
    fn a_wait_is_rounded_up_to_seconds() {
        for (milliseconds, seconds) in [(0, 1), (1, 1), (1_000, 1), (1_001, 2), (59_500, 60)] {
            assert_eq!(RetryAfter(Duration::from_millis(milliseconds)).seconds(), seconds);
        }
    }
}
