//! Callers that wait for a connection, and whether they wait too long.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The callers that wait for a connection of one pool. Callers that get one at once are not in it.
#[derive(Debug, Default)]
pub(crate) struct Waiters {
    /// Their number: where nobody waits, no lock is needed.
    count: AtomicUsize,
    queue: Mutex<Queue>,
}

#[derive(Debug, Default)]
struct Queue {
    /// When each began to wait, and its number.
    entries: BTreeSet<(Instant, u64)>,
    next: u64,
    /// Since when somebody waits without a pause.
    busy_since: Option<Instant>,
}

/// A caller that waits, until it is dropped.
pub(crate) struct Waiter<'a> {
    waiters: &'a Waiters,
    entry: (Instant, u64),
}

impl Waiters {
    /// Adds a caller.
    pub(crate) fn enter(&self) -> Waiter<'_> {
        let (now, mut queue) = (Instant::now(), self.queue());
        let entry = (now, queue.next);
        queue.next += 1;
        queue.busy_since.get_or_insert(now);
        queue.entries.insert(entry);
        self.count.store(queue.entries.len(), Ordering::Relaxed);
        Waiter { waiters: self, entry }
    }

    /// Whether the oldest caller has waited a quarter of the time limit, and somebody has waited without a pause for half
    /// of it: a burst of requests that ends before is answered.
    pub(crate) fn are_late(&self, limit: Duration) -> bool {
        if self.count.load(Ordering::Relaxed) == 0 {
            return false;
        }
        let (now, queue) = (Instant::now(), self.queue());
        let oldest = queue.entries.first().map(|(since, _)| *since);
        oldest.is_some_and(|since| now - since >= limit / 4)
            && queue.busy_since.is_some_and(|since| now - since >= limit / 2)
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiter<'_> {
    /// How long it has waited.
    pub(crate) fn elapsed(&self) -> Duration {
        self.entry.0.elapsed()
    }
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        let mut queue = self.waiters.queue();
        queue.entries.remove(&self.entry);
        if queue.entries.is_empty() {
            queue.busy_since = None;
        }
        self.waiters.count.store(queue.entries.len(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread::sleep;

    const LIMIT: Duration = Duration::from_secs(2);

    #[test]
    fn callers_are_late_when_one_waits_long_in_a_queue_that_is_not_empty_for_long() {
        let waiters = Waiters::default();
        assert!(!waiters.are_late(LIMIT));
        let first = waiters.enter();
        assert!(!waiters.are_late(LIMIT));
        sleep(LIMIT / 2);
        assert!(waiters.are_late(LIMIT));
        let second = waiters.enter();
        drop(first);
        assert!(
            !waiters.are_late(LIMIT) || second.elapsed() >= LIMIT / 4,
            "the second has just begun to wait"
        );
        sleep(LIMIT / 4);
        assert!(waiters.are_late(LIMIT), "the queue was never empty");
        drop(second);
        assert!(!waiters.are_late(LIMIT));
    }

    #[test]
    fn a_burst_is_not_late() {
        let waiters = Waiters::default();
        drop(waiters.enter());
        sleep(LIMIT / 2);
        let burst = waiters.enter();
        assert!(!waiters.are_late(LIMIT) || burst.elapsed() >= LIMIT / 2);
    }
}
