//! Refuses requests that would be answered too late (contract 01 §3: 503 with `Retry-After`). Clients give up waiting at
//! some time; a server that goes on answering those that gave up is late for all others too, even after the load has
//! ended.
//!
//! Requests wait in two places. Those of a thread wait in one queue, in which a timer of the thread waits too: it is as
//! late as a request that arrives. And they wait for a connection to the database: the caller knows how long.

use civitas_application::metrics;
use std::cell::Cell;
use std::time::{Duration, Instant};

/// The interval of the timer.
const INTERVAL: Duration = Duration::from_millis(50);
/// Builds without optimization are slow.
const SLOWNESS: u64 = if cfg!(debug_assertions) { 10 } else { 1 };
/// The delay that counts as overload when it is found twice: once may be a pause of the machine.
const LONG: Duration = Duration::from_millis(500 * SLOWNESS);
/// The delay that always counts as overload.
const LONGEST: Duration = Duration::from_millis(2000 * SLOWNESS);
/// The least time between two warnings of a thread.
const WARNINGS: Duration = Duration::from_secs(60);

thread_local! {
    static QUEUE: Cell<Option<Queue>> = const { Cell::new(None) };
}

/// The delay of a thread.
#[derive(Debug, Clone, Copy)]
struct Queue {
    /// When the timer is due.
    due: Instant,
    /// Whether the timer was late last time.
    was_late: bool,
    /// The requests that were refused since the timer ran.
    refused: u64,
    /// The time of the last warning.
    warned: Option<Instant>,
}

impl Queue {
    fn new(now: Instant) -> Self {
        Self { due: now + INTERVAL, was_late: false, refused: 0, warned: None }
    }

    /// Whether a request that begins now has waited too long, or would wait too long for a connection. Counts it then.
    fn refuses(&mut self, now: Instant, connections_are_late: impl FnOnce() -> bool) -> bool {
        let delay = now.saturating_duration_since(self.due);
        let is_late = delay >= if self.was_late { LONG } else { LONGEST };
        let refuses = is_late || connections_are_late();
        self.refused += u64::from(refuses);
        refuses
    }

    /// Notes that the timer runs now. Returns the number of requests that were refused, if it is time for a warning.
    fn run(&mut self, now: Instant) -> Option<u64> {
        self.was_late = now.saturating_duration_since(self.due) >= LONG;
        self.due = now + INTERVAL;
        let is_silent = self.warned.is_some_and(|at| now - at < WARNINGS);
        if self.refused == 0 || is_silent {
            return None;
        }
        self.warned = Some(now);
        Some(std::mem::take(&mut self.refused))
    }
}

/// Starts the timer of this thread, in its runtime. A second one would change nothing.
pub(crate) fn watch() {
    if QUEUE.get().is_some() {
        return;
    }
    QUEUE.set(Some(Queue::new(Instant::now())));
    actix_web::rt::spawn(async {
        loop {
            actix_web::rt::time::sleep(INTERVAL).await;
            if let Some(refused) = with_queue(Queue::run).flatten() {
                tracing::warn!(refused, "requests were refused: there are more than this machine can answer");
            }
        }
    });
}

/// Whether to refuse a request that begins now. `connections_are_late`: whether it would wait too long for a connection
/// to the database.
pub(crate) fn refuses(connections_are_late: impl FnOnce() -> bool) -> bool {
    let refuses = with_queue(|queue, now| queue.refuses(now, connections_are_late)).unwrap_or_default();
    if refuses {
        metrics::request_refused();
    }
    refuses
}

/// `None` on a thread without timer.
fn with_queue<T>(work: impl FnOnce(&mut Queue, Instant) -> T) -> Option<T> {
    let mut queue = QUEUE.get()?;
    let result = work(&mut queue, Instant::now());
    QUEUE.set(Some(queue));
    Some(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_pause_of_the_machine_is_no_overload() {
        let start = Instant::now();
        let mut queue = Queue::new(start);
        let resumed = start + LONGEST * 9 / 10;
        assert!(!queue.refuses(resumed, || false));
        assert_eq!(queue.run(resumed), None);
        assert!(!queue.refuses(resumed + LONG / 2, || false), "what has waited is answered");
        assert_eq!(queue.run(resumed + LONG / 2), None);
        assert!(!queue.refuses(resumed + LONGEST, || false), "the next pause");
    }

    #[test]
    fn a_thread_that_stays_late_refuses_what_it_would_answer_late() {
        let start = Instant::now();
        let mut queue = Queue::new(start);
        let mut now = start + INTERVAL + LONG;
        assert_eq!(queue.run(now), None);
        now += INTERVAL + LONG / 2;
        assert!(!queue.refuses(now, || false), "half a second of requests is answered");
        now += LONG / 2;
        assert!(queue.refuses(now, || false) && queue.refuses(now, || false));
        assert_eq!(queue.run(now), Some(2));
        now += INTERVAL;
        assert_eq!(queue.run(now), None);
        assert!(!queue.refuses(now + LONG + INTERVAL, || false), "it was in time meanwhile");
    }

    #[test]
    fn a_very_long_delay_is_overload_at_once() {
        let start = Instant::now();
        let mut queue = Queue::new(start);
        assert!(!queue.refuses(start + INTERVAL + LONGEST * 9 / 10, || false));
        assert!(queue.refuses(start + INTERVAL + LONGEST, || false));
    }

    #[test]
    fn a_thread_warns_once_a_minute() {
        let start = Instant::now();
        let mut queue = Queue::new(start);
        let late = start + INTERVAL + LONGEST;
        assert!(queue.refuses(late, || false));
        assert_eq!(queue.run(late), Some(1));
        let late = late + INTERVAL + LONG;
        assert!(queue.refuses(late, || false));
        assert_eq!(queue.run(late), None);
        assert_eq!(queue.run(late + WARNINGS), Some(1));
    }
}
