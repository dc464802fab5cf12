//! Response cache, valid for one database epoch.
//!
//! While nothing is committed ([`Store::epoch`]), the same request with the same token has the same response: tenant,
//! token, rights and rows are unchanged. Only the expiry of the token depends on time; it is stored with the response.
//! On an engine without an epoch nothing is cached.
//!
//! A response is cached when its request is repeated: most requests of a crawler or an import are made once, and their
//! responses would only replace others.

mod recent;
mod repeats;

use self::recent::Recent;
use self::repeats::Repeats;
use crate::reply::Reply;
use crate::route::Route;
use crate::tenancy::Origin;
use actix_web::HttpRequest;
use actix_web::http::Method;
use actix_web::http::header::{ACCEPT_LANGUAGE, AUTHORIZATION};
use civitas_application::Store;
use civitas_kernel::{ClientId, clock};
use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use time::OffsetDateTime;

/// The size of the cache, in bytes: more than 10 000 responses with one proposal.
const CAPACITY: usize = 64 * 1024 * 1024;
/// The number of shards; each has its own lock. A response of more than half a shard (2 MiB) is not cached.
const SHARDS: usize = 16;
/// The approximate size of an entry without its key and body, in bytes.
const ENTRY_OVERHEAD_BYTES: usize = 512;
/// The longest `Accept-Language` of a request that is cached, in bytes.
const LONGEST_LANGUAGES: usize = 256;
/// The most callers that have a number at once.
const MOST_CALLERS: usize = 10_000;

/// The cached responses of this process.
pub(crate) struct ResponseCache {
    callers: RwLock<Callers>,
    repeats: Repeats,
    shards: Vec<Mutex<Recent<Arc<CachedResponse>>>>,
    state: RandomState,
}

/// Numbers that stand for callers in keys, so that tokens are not stored in every key. Numbers are never reused: when
/// all are discarded, the entries of the old numbers are unreachable.
#[derive(Default)]
struct Callers {
    numbers: HashMap<Box<[u8]>, u64>,
    last: u64,
}

/// The bearer of a token.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bearer {
    /// The client.
    pub(crate) client: ClientId,
    /// When the token expires.
    pub(crate) until: OffsetDateTime,
}

/// A response.
pub(crate) struct CachedResponse {
    epoch: u64,
    /// Whose token it was.
    pub(crate) bearer: Bearer,
    /// The route that produced it.
    pub(crate) route: Arc<Route>,
    /// The answer.
    pub(crate) reply: Reply,
}

/// Caller, address and database epoch of a request. The text itself and not a digest, so that keys cannot collide.
pub(crate) struct CacheKey {
    /// Scheme, authority and token.
    caller: Box<[u8]>,
    /// Path and query, and the languages of the request.
    address: Box<str>,
    epoch: u64,
}

impl ResponseCache {
    /// An empty one.
    pub(crate) fn new() -> Self {
        let shards = (0..SHARDS).map(|_| Mutex::new(Recent::new(CAPACITY / SHARDS)));
        let (callers, repeats) = (RwLock::default(), Repeats::new());
        Self { callers, repeats, shards: shards.collect(), state: RandomState::new() }
    }

    /// The cached answer, if it is still valid.
    pub(crate) fn get(&self, cache_key: &CacheKey) -> Option<Arc<CachedResponse>> {
        let callers = self.callers.read().unwrap_or_else(PoisonError::into_inner);
        let caller = *callers.numbers.get(&cache_key.caller)?;
        drop(callers);
        let key = cache_key.of(caller);
        let cached = self.shard(&key).get(&key, |cached| cached.epoch == cache_key.epoch)?;
        (clock::now() < cached.bearer.until).then_some(cached)
    }

    /// Whether an answer to this request is worth storing: the same request was made recently, in this epoch or before.
    pub(crate) fn is_wanted(&self, cache_key: &CacheKey) -> bool {
        self.repeats.note(self.state.hash_one((&cache_key.caller, &cache_key.address)))
    }

    /// Stores an answer.
    pub(crate) fn insert(&self, cache_key: &CacheKey, route: Arc<Route>, reply: Reply, bearer: Bearer) {
        if !reply.is_lasting() {
            return;
        }
        let caller = self.callers.write().unwrap_or_else(PoisonError::into_inner).number(&cache_key.caller);
        let key = cache_key.of(caller);
        let weight = key.len() + reply.body_len() + ENTRY_OVERHEAD_BYTES;
        let cached = CachedResponse { epoch: cache_key.epoch, bearer, route, reply };
        self.shard(&key).put(key, Arc::new(cached), weight);
    }

    fn shard(&self, key: &[u8]) -> MutexGuard<'_, Recent<Arc<CachedResponse>>> {
        let number = self.state.hash_one(key) % SHARDS as u64;
        let shard = &self.shards[usize::try_from(number).unwrap_or_default()];
        shard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Callers {
    /// The number of a caller; a new number for a new caller.
    fn number(&mut self, caller: &[u8]) -> u64 {
        if let Some(number) = self.numbers.get(caller) {
            return *number;
        }
        if self.numbers.len() >= MOST_CALLERS {
            self.numbers.clear();
        }
        self.last += 1;
        self.numbers.insert(caller.into(), self.last);
        self.last
    }
}

impl CacheKey {
    /// The key of a request; `None` if it cannot be cached. Call it before the response is computed: a commit in
    /// between makes the response one of an older epoch.
    pub(crate) fn read(store: &dyn Store, http: &HttpRequest, origin: &Origin) -> Option<Self> {
        if !matches!(*http.method(), Method::GET | Method::HEAD) {
            return None;
        }
        let mut tokens = http.headers().get_all(AUTHORIZATION);
        let (Some(token), None) = (tokens.next(), tokens.next()) else { return None };
        let caller = caller([origin.scheme.as_bytes(), origin.authority.as_bytes(), token.as_bytes()]);
        let mut address = http.uri().path_and_query().map_or("", |address| address.as_str()).to_owned();
        // Some answers depend on the language. A space cannot be in an address.
        for languages in http.headers().get_all(ACCEPT_LANGUAGE) {
            let text = languages.to_str().ok().filter(|text| text.len() <= LONGEST_LANGUAGES)?;
            address = format!("{address} {text}");
        }
        let address = address.into();
        Some(Self { caller, address, epoch: store.epoch()? })
    }

    /// The epoch in which the request began.
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch
    }

    /// The bytes of the key, with the number of the caller.
    fn of(&self, caller: u64) -> Box<[u8]> {
        [&caller.to_le_bytes(), self.address.as_bytes()].concat().into()
    }
}

/// The parts with their lengths, so that two callers never have the same bytes.
fn caller(parts: [&[u8]; 3]) -> Box<[u8]> {
    let [scheme, authority, token] = parts;
    let lengths = [scheme.len().to_le_bytes(), authority.len().to_le_bytes()];
    [&lengths[0], &lengths[1], scheme, authority, token].concat().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Doc;
    use crate::error::ApiError;
    use crate::route::{Gate, Routes};
    use time::Duration;

    fn cache_key(caller: &[u8], address: &str, epoch: u64) -> CacheKey {
        CacheKey { caller: caller.into(), address: address.into(), epoch }
    }

    fn bearer(until: OffsetDateTime) -> Bearer {
        Bearer { client: ClientId(1), until }
    }

    fn route() -> Arc<Route> {
        let mut routes = Routes::default();
        let doc = Doc::new("", "");
        routes.on("", Method::GET, "/votes", Gate::Open, doc, async |_| Err(ApiError::NoRoute));
        routes.list.pop().map(Arc::new).unwrap()
    }

    #[test]
    fn an_answer_is_given_again_to_its_caller_in_its_epoch_until_the_token_ends() {
        let (cache, hour) = (ResponseCache::new(), Duration::hours(1));
        let insert = |address, until| {
            cache.insert(&cache_key(b"nora", address, 7), route(), Reply::cacheable(true), bearer(until));
        };
        let has = |caller: &[u8], address, epoch| cache.get(&cache_key(caller, address, epoch)).is_some();
        assert!(!has(b"nora", "/votes", 7), "nothing was cached yet");
        insert("/votes", clock::now() + hour);
        insert("/ended", clock::now());
        assert!(has(b"nora", "/votes", 7));
        assert!(!has(b"nora", "/votes", 8), "something was committed");
        assert!(!has(b"omar", "/votes", 7) && !has(b"nora", "/votes?page=2", 7));
        assert!(!has(b"nora", "/ended", 7), "the token has ended");
    }

    #[test]
    fn an_answer_that_is_another_each_time_is_not_kept() {
        let cache = ResponseCache::new();
        let until = clock::now() + Duration::hours(1);
        cache.insert(&cache_key(b"nora", "/votes", 7), route(), Reply::cacheable(false), bearer(until));
        assert!(cache.get(&cache_key(b"nora", "/votes", 7)).is_none());
    }

    #[test]
    fn no_two_callers_are_written_alike() {
        let http = caller([b"http", b"a.test", b"token"]);
        assert_eq!(http, caller([b"http", b"a.test", b"token"]));
        for other in [
            [b"https", &b"a.test"[..], b"token"],
            [b"http", b"a.tes", b"ttoken"],
            [b"http", b"a.test", b"Token"],
        ] {
            assert_ne!(http, caller(other));
        }
    }

    #[test]
    fn a_number_is_given_to_one_caller_only_even_after_all_were_forgotten() {
        let mut callers = Callers::default();
        let first = callers.number(b"first");
        assert_eq!(callers.number(b"first"), first);
        for number in 0..MOST_CALLERS {
            assert_ne!(callers.number(&number.to_le_bytes()), first);
        }
        assert!(callers.numbers.len() <= MOST_CALLERS);
        assert_ne!(callers.number(b"first"), first, "what was cached under the old number is lost");
    }
}
