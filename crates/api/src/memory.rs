//! Answers given again while nothing has changed.
//!
//! Where the engine can tell cheaply that nothing at all was committed since ([`Store::epoch`]), the same question of
//! the same token has the same answer: tenant, token, rights and rows are what they were. Only the token's own end is
//! a matter of time, and it is kept beside the answer. On an engine without an epoch nothing is remembered.

mod recent;

use self::recent::Recent;
use crate::reply::Reply;
use crate::route::Route;
use crate::tenancy::Origin;
use actix_web::HttpRequest;
use actix_web::http::Method;
use actix_web::http::header::AUTHORIZATION;
use civitas_application::Store;
use civitas_kernel::clock;
use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use time::OffsetDateTime;

/// The most memory answers may take, in bytes: more than 10 000 answers with one proposal, lately asked for or not.
const CAPACITY: usize = 64 * 1024 * 1024;
/// So many parts, each behind a lock of its own. None keeps an answer longer than half of it, 2 MiB.
const PARTS: usize = 16;
/// What an answer takes beside its question and its body, in bytes; about.
const FRAME: usize = 512;
/// So many callers have numbers at once.
const MOST_CALLERS: usize = 10_000;

/// The answers of this process.
pub(crate) struct Memory {
    callers: RwLock<Callers>,
    parts: Vec<Mutex<Recent<Arc<Kept>>>>,
    state: RandomState,
}

/// Numbers instead of tokens, so that these are not kept beside each answer. No number is given twice: when all are
/// forgotten, nobody finds what was kept under them.
#[derive(Default)]
struct Callers {
    numbers: HashMap<Box<[u8]>, u64>,
    last: u64,
}

/// An answer that was given.
pub(crate) struct Kept {
    epoch: u64,
    until: OffsetDateTime,
    /// The route that gave it.
    pub(crate) route: Arc<Route>,
    /// The answer.
    pub(crate) reply: Reply,
}

/// Who asked what of which state of the database. All of it in the words in which it was asked, and not a digest of
/// them: no two questions are taken for one.
pub(crate) struct Question {
    /// Scheme, authority and token.
    caller: Box<[u8]>,
    /// Path and query.
    address: Box<str>,
    epoch: u64,
}

impl Memory {
    /// An empty one.
    pub(crate) fn new() -> Self {
        let parts = (0..PARTS).map(|_| Mutex::new(Recent::new(CAPACITY / PARTS)));
        Self { callers: RwLock::default(), parts: parts.collect(), state: RandomState::new() }
    }

    /// The answer, if it still holds.
    pub(crate) fn recall(&self, question: &Question) -> Option<Arc<Kept>> {
        let callers = self.callers.read().unwrap_or_else(PoisonError::into_inner);
        let caller = *callers.numbers.get(&question.caller)?;
        drop(callers);
        let key = question.of(caller);
        let kept = self.part(&key).get(&key, |kept| kept.epoch == question.epoch)?;
        (clock::now() < kept.until).then_some(kept)
    }

    /// Keeps an answer for a token that ends at `until`.
    pub(crate) fn keep(&self, question: &Question, route: Arc<Route>, reply: Reply, until: OffsetDateTime) {
        if !reply.is_lasting() {
            return;
        }
        let caller = self.callers.write().unwrap_or_else(PoisonError::into_inner).number(&question.caller);
        let key = question.of(caller);
        let weight = key.len() + reply.body_len() + FRAME;
        let kept = Kept { epoch: question.epoch, until, route, reply };
        self.part(&key).put(key, Arc::new(kept), weight);
    }

    fn part(&self, key: &[u8]) -> MutexGuard<'_, Recent<Arc<Kept>>> {
        let number = self.state.hash_one(key) % PARTS as u64;
        let part = &self.parts[usize::try_from(number).unwrap_or_default()];
        part.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Callers {
    /// The number of a caller, who is given one where there is none.
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

impl Question {
    /// The question of a request; `None` where nothing can be remembered. To be asked before the answer is worked
    /// out: a commit in between makes the answer one of an older epoch.
    pub(crate) fn read(store: &dyn Store, http: &HttpRequest, origin: &Origin) -> Option<Self> {
        if !matches!(*http.method(), Method::GET | Method::HEAD) {
            return None;
        }
        let mut tokens = http.headers().get_all(AUTHORIZATION);
        let (Some(token), None) = (tokens.next(), tokens.next()) else { return None };
        let caller = caller([origin.scheme.as_bytes(), origin.authority.as_bytes(), token.as_bytes()]);
        let address = http.uri().path_and_query().map_or("", |address| address.as_str()).into();
        Some(Self { caller, address, epoch: store.epoch()? })
    }

    /// The question, asked by the caller of this number.
    fn of(&self, caller: u64) -> Box<[u8]> {
        [&caller.to_le_bytes(), self.address.as_bytes()].concat().into()
    }
}

/// The parts one after the other, with their lengths, so that no two callers are written alike.
fn caller(parts: [&[u8]; 3]) -> Box<[u8]> {
    let [scheme, authority, token] = parts;
    let lengths = [scheme.len().to_le_bytes(), authority.len().to_le_bytes()];
    [&lengths[0], &lengths[1], scheme, authority, token].concat().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Doc;
    use crate::error::Refusal;
    use crate::route::{Gate, Routes};
    use time::Duration;

    fn question(caller: &[u8], address: &str, epoch: u64) -> Question {
        Question { caller: caller.into(), address: address.into(), epoch }
    }

    fn route() -> Arc<Route> {
        let mut routes = Routes::default();
        let doc = Doc::new("", "");
        routes.on("", Method::GET, "/votes", Gate::Open, doc, async |_| Err(Refusal::NoRoute));
        routes.0.pop().map(Arc::new).unwrap()
    }

    #[test]
    fn an_answer_is_given_again_to_its_caller_in_its_epoch_until_the_token_ends() {
        let (memory, hour) = (Memory::new(), Duration::hours(1));
        let keep = |address, until| {
            memory.keep(&question(b"nora", address, 7), route(), Reply::remembered(true), until);
        };
        let knows =
            |caller: &[u8], address, epoch| memory.recall(&question(caller, address, epoch)).is_some();
        assert!(!knows(b"nora", "/votes", 7), "nothing was kept yet");
        keep("/votes", clock::now() + hour);
        keep("/ended", clock::now());
        assert!(knows(b"nora", "/votes", 7));
        assert!(!knows(b"nora", "/votes", 8), "something was committed");
        assert!(!knows(b"omar", "/votes", 7) && !knows(b"nora", "/votes?page=2", 7));
        assert!(!knows(b"nora", "/ended", 7), "the token has ended");
    }

    #[test]
    fn an_answer_that_is_another_each_time_is_not_kept() {
        let memory = Memory::new();
        let until = clock::now() + Duration::hours(1);
        memory.keep(&question(b"nora", "/votes", 7), route(), Reply::remembered(false), until);
        assert!(memory.recall(&question(b"nora", "/votes", 7)).is_none());
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
        assert_ne!(callers.number(b"first"), first, "what was kept under the old number is lost");
    }
}
