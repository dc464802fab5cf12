//! Answers given again while nothing has changed.
//!
//! Where the engine can tell cheaply that nothing at all was committed since ([`Store::epoch`]), the same question of
//! the same token has the same answer: tenant, token, rights and rows are what they were. Only the token's own end is
//! a matter of time, and it is kept beside the answer. On an engine without an epoch nothing is remembered.

use crate::reply::Reply;
use crate::tenancy::Origin;
use actix_web::HttpRequest;
use actix_web::http::header::AUTHORIZATION;
use civitas_application::Store;
use civitas_kernel::clock;
use moka::sync::Cache;
use ring::digest::{Context, SHA256};
use std::sync::Arc;
use time::OffsetDateTime;

/// The most memory answers may take, in bytes.
const CAPACITY: u64 = 16 * 1024 * 1024;

/// The answers of this process.
pub(crate) struct Memory(Cache<[u8; 32], Arc<Kept>>);

struct Kept {
    epoch: u64,
    until: OffsetDateTime,
    reply: Reply,
}

/// Who asked what of which state of the database.
pub(crate) struct Question {
    key: [u8; 32],
    epoch: u64,
}

impl Memory {
    /// An empty one.
    pub(crate) fn new() -> Self {
        let weigh = |_: &[u8; 32], kept: &Arc<Kept>| u32::try_from(kept.reply.weight()).unwrap_or(u32::MAX);
        Self(Cache::builder().weigher(weigh).max_capacity(CAPACITY).build())
    }

    /// The answer, if it still holds.
    pub(crate) fn recall(&self, question: &Question) -> Option<Reply> {
        let kept = self.0.get(&question.key)?;
        (kept.epoch == question.epoch && clock::now() < kept.until).then(|| kept.reply.clone())
    }

    /// Keeps an answer for a token that ends at `until`.
    pub(crate) fn keep(&self, question: &Question, reply: &Reply, until: OffsetDateTime) {
        if reply.is_lasting() {
            let kept = Kept { epoch: question.epoch, until, reply: reply.clone() };
            self.0.insert(question.key, Arc::new(kept));
        }
    }
}

impl Question {
    /// The question of a request; `None` where nothing can be remembered. To be asked before the answer is worked
    /// out: a commit in between makes the answer one of an older epoch.
    pub(crate) fn of(store: &dyn Store, http: &HttpRequest, origin: &Origin) -> Option<Self> {
        let token = http.headers().get(AUTHORIZATION)?;
        let epoch = store.epoch()?;
        let mut hash = Context::new(&SHA256);
        let path = http.uri().path_and_query().map_or("", |p| p.as_str());
        for part in [origin.scheme.as_bytes(), origin.authority.as_bytes(), path.as_bytes(), token.as_bytes()]
        {
            hash.update(&part.len().to_le_bytes());
            hash.update(part);
        }
        let single = http.headers().get_all(AUTHORIZATION).count() == 1;
        let key = hash.finish().as_ref().try_into().ok().filter(|_| single)?;
        Some(Self { key, epoch })
    }
}
