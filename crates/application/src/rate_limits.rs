//! Limits for the requests to this process (contract 01 §3, 429).

use civitas_kernel::ClientId;
use governor::clock::Clock;
use governor::middleware::StateInformationMiddleware;
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use ipnet::Ipv6Net;
use moka::sync::Cache;
use std::hash::Hash;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The most keys of a limit. Beyond it keys that are rarely used are not limited: so many sources are beyond any limit for
/// one.
const MAX_KEYS: u64 = 100_000;
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

/// A limit for each key. A key is removed when it has used nothing for so long that its whole limit is free again.
pub struct KeyedLimit<K> {
    quota: Quota,
    limiters: Cache<K, Arc<DefaultDirectRateLimiter<StateInformationMiddleware>>>,
}

impl<K: Hash + Eq + Clone + Send + Sync + 'static> KeyedLimit<K> {
    /// Each key may use this.
    pub fn new(quota: Quota) -> Self {
        let unused = quota.burst_size_replenished_in();
        let limiters = Cache::builder().max_capacity(MAX_KEYS).time_to_idle(unused).build();
        Self { quota, limiters }
    }

    /// Takes one of the limit. Returns how many are left, or how long to wait for the next.
    pub fn consume(&self, key: &K) -> Result<u32, Duration> {
        let new = || Arc::new(RateLimiter::direct(self.quota).with_middleware());
        let limiter = self.limiters.get_with_by_ref(key, new);
        match limiter.check() {
            Ok(state) => Ok(state.remaining_burst_capacity()),
            Err(refused) => Err(refused.wait_time_from(limiter.clock().now())),
        }
    }
}

/// Limits refused credentials of each source address; an IPv6 network of 64 bits is one source. Only refusals use the
/// limit.
pub struct AuthenticationLimit {
    refusals: Option<Refusals>,
}

struct Refusals {
    limit: KeyedLimit<IpAddr>,
    /// How long one of the limit takes to return.
    interval: Duration,
    /// Sources that have used their limit, and until when.
    closed: Cache<IpAddr, Instant>,
}

impl AuthenticationLimit {
    /// With this number of refusals a minute; `None`: no limit.
    pub fn per_minute(most: Option<NonZeroU32>) -> Self {
        let refusals = most.map(|most| {
            let quota = Quota::per_minute(most);
            let interval = quota.replenish_interval();
            let closed = Cache::builder().max_capacity(MAX_KEYS).time_to_live(interval).build();
            Refusals { limit: KeyedLimit::new(quota), interval, closed }
        });
        Self { refusals }
    }

    /// Checks a source before its credentials are read. A source that is not known has no limit.
    ///
    /// # Errors
    /// When it has used its limit.
    pub fn check(&self, source: Option<IpAddr>) -> Result<(), RetryAfter> {
        let (Some(refusals), Some(source)) = (&self.refusals, source) else { return Ok(()) };
        let until = refusals.closed.get(&network_of(source));
        let left = until.map_or(Duration::ZERO, |until| until.saturating_duration_since(Instant::now()));
        if left.is_zero() { Ok(()) } else { Err(RetryAfter(left)) }
    }

    /// Counts refused credentials of a source.
    pub fn count(&self, source: Option<IpAddr>) {
        let (Some(refusals), Some(source)) = (&self.refusals, source) else { return };
        let source = network_of(source);
        let wait = match refusals.limit.consume(&source) {
            Ok(0) => refusals.interval,
            Ok(_) => return,
            Err(wait) => wait,
        };
        refusals.closed.insert(source, Instant::now() + wait);
    }
}

/// Limits the requests of each API client.
pub struct ClientLimit {
    requests: Option<KeyedLimit<ClientId>>,
}

impl ClientLimit {
    /// With this number of requests a second; `None`: no limit.
    pub fn per_second(most: Option<NonZeroU32>) -> Self {
        Self { requests: most.map(|most| KeyedLimit::new(Quota::per_second(most))) }
    }

    /// Counts a request of a client.
    ///
    /// # Errors
    /// When it has used its limit.
    pub fn consume(&self, client: ClientId) -> Result<(), RetryAfter> {
        match &self.requests {
            Some(requests) => requests.consume(&client).map(drop).map_err(RetryAfter),
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
        let taken = (0..1_000).filter(|_| limit.consume(ClientId(1)).is_ok()).count();
        assert!((5..500).contains(&taken), "{taken}");
        limit.consume(ClientId(2)).unwrap();
    }

    #[test]
    fn without_a_limit_nothing_is_refused() {
        let (sources, clients) = (AuthenticationLimit::per_minute(None), ClientLimit::per_second(None));
        for _ in 0..10_000 {
            sources.count(address("192.0.2.1"));
            sources.check(address("192.0.2.1")).unwrap();
            clients.consume(ClientId(1)).unwrap();
        }
    }

    #[test]
    fn the_number_of_sources_is_bounded() {
        let limit = AuthenticationLimit::per_minute(NonZeroU32::new(1));
        let sources = u32::try_from(MAX_KEYS).unwrap() + 1_000;
        for n in 0..sources {
            limit.count(Some(IpAddr::V4(n.into())));
        }
        let refusals = limit.refusals.as_ref().unwrap();
        refusals.limit.limiters.run_pending_tasks();
        refusals.closed.run_pending_tasks();
        assert!(refusals.limit.limiters.entry_count() <= MAX_KEYS);
        assert!(refusals.closed.entry_count() <= MAX_KEYS);
    }

    #[test]
    fn a_source_in_use_stays_limited_when_there_are_too_many() {
        let limit = KeyedLimit::new(Quota::per_hour(NonZeroU32::MIN));
        limit.consume(&0).unwrap();
        for key in 1..=2 * MAX_KEYS {
            limit.consume(&key).unwrap();
            if key % 1_000 == 0 {
                limit.consume(&0).unwrap_err();
            }
        }
    }

    #[test]
    fn a_wait_is_rounded_up_to_seconds() {
        for (milliseconds, seconds) in [(0, 1), (1, 1), (1_000, 1), (1_001, 2), (59_500, 60)] {
            assert_eq!(RetryAfter(Duration::from_millis(milliseconds)).seconds(), seconds);
        }
    }
}
