//! Answers that are revalidated: conditional GET (contract 01 §8).

use crate::answer::Response;
use moka::sync::Cache;
use reqwest::header::{ACCEPT_LANGUAGE, ETAG, HeaderMap, HeaderValue};
use reqwest::{Method, StatusCode, Url};

/// What an entry costs beside its body, in bytes.
const ENTRY_OVERHEAD_BYTES: u64 = 256;

/// An answer is stored when it takes at most this part of the cache.
const MAX_PART: u64 = 8;

/// Address, `Accept-Language` and `Prefer` of a request.
type Key = (String, [Option<HeaderValue>; 2]);

/// Answers with an `ETag`, by address, language and preference. The least used ones are removed.
#[derive(Debug, Clone)]
pub(crate) struct ResponseCache {
    entries: Cache<Key, Response>,
    max_bytes: u64,
}

impl ResponseCache {
    /// A cache of this size; 0: stores nothing.
    pub(crate) fn new(max_bytes: u64) -> Self {
        let weigher = |_: &_, response: &Response| u32::try_from(weight(response)).unwrap_or(u32::MAX);
        Self { entries: Cache::builder().max_capacity(max_bytes).weigher(weigher).build(), max_bytes }
    }

    /// The answer to a GET of this address.
    pub(crate) fn get(&self, method: &Method, url: &Url, headers: &HeaderMap) -> Option<Response> {
        if method != Method::GET {
            return None;
        }
        self.entries.get(&key(url, headers))
    }

    /// Stores an answer that can be revalidated.
    pub(crate) fn insert(&self, method: &Method, url: &Url, headers: &HeaderMap, response: &Response) {
        let is_stored = method == Method::GET
            && response.status == StatusCode::OK
            && response.headers.contains_key(ETAG)
            && weight(response) <= self.max_bytes / MAX_PART;
        if is_stored {
            self.entries.insert(key(url, headers), response.clone());
        }
    }
}

fn key(url: &Url, headers: &HeaderMap) -> Key {
    (url.to_string(), [headers.get(ACCEPT_LANGUAGE).cloned(), headers.get("prefer").cloned()])
}

fn weight(response: &Response) -> u64 {
    response.body.len() as u64 + ENTRY_OVERHEAD_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;

    fn response(etag: Option<&'static str>, length: usize) -> Response {
        let mut headers = HeaderMap::new();
        if let Some(etag) = etag {
            headers.insert(ETAG, HeaderValue::from_static(etag));
        }
        Response { status: StatusCode::OK, headers, body: vec![0; length].into() }
    }

    fn url(path: &str) -> Url {
        Url::parse("https://city.example").unwrap().join(path).unwrap()
    }

    #[test]
    fn only_answers_that_can_be_revalidated_are_kept() {
        let (cache, none) = (ResponseCache::new(80_000), HeaderMap::new());
        cache.insert(&Method::GET, &url("/kept"), &none, &response(Some("a"), 9_000));
        cache.insert(&Method::GET, &url("/without"), &none, &response(None, 10));
        cache.insert(&Method::GET, &url("/long"), &none, &response(Some("a"), 10_000));
        cache.insert(&Method::POST, &url("/post"), &none, &response(Some("a"), 10));
        let is_kept = |path: &str| cache.get(&Method::GET, &url(path), &none).is_some();
        assert_eq!(["/kept", "/without", "/long", "/post"].map(is_kept), [true, false, false, false]);
    }

    #[test]
    fn languages_and_preferences_have_answers_of_their_own() {
        let cache = ResponseCache::new(80_000);
        let mut french = HeaderMap::new();
        french.insert(ACCEPT_LANGUAGE, HeaderValue::from_static("fr"));
        cache.insert(&Method::GET, &url("/"), &french, &response(Some("a"), 10));
        assert!(cache.get(&Method::GET, &url("/"), &HeaderMap::new()).is_none());
        assert!(cache.get(&Method::GET, &url("/"), &french).is_some());
        french.insert("prefer", HeaderValue::from_static("count=exact"));
        assert!(cache.get(&Method::GET, &url("/"), &french).is_none());
    }
}
