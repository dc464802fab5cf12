//! An open model of load: requests begin at fixed times, whether or not earlier ones have ended. Latency is counted from
//! the intended time, so that a stall of the server or of the generator is part of it.

use crate::Outcome;
use crate::client::Answer;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

/// Requests that wait for their answer. More mean that the server does not keep up.
const MAX_UNDER_WAY: usize = 20_000;
/// Unexpected answers that are kept with their text.
const KEPT_FAULTS: usize = 20;

/// Begins `rate` tasks a second for so long, and waits for the end of all. Each gets its number and its intended time.
///
/// # Errors
/// When too many are under way.
pub async fn drive<W>(rate: f64, length: Duration, mut begin: impl FnMut(u64, Instant) -> W) -> Outcome
where
    W: Future<Output = ()> + Send + 'static,
{
    let (start, mut tasks) = (Instant::now(), JoinSet::new());
    for number in 0_u32.. {
        let due = start + Duration::from_secs_f64(f64::from(number) / rate);
        if due >= start + length {
            break;
        }
        sleep_until(due).await;
        tasks.spawn(begin(u64::from(number), due));
        while let Some(ended) = tasks.try_join_next() {
            ended?;
        }
        if tasks.len() > MAX_UNDER_WAY {
            return Err(format!("{} requests are under way: the server does not keep up", tasks.len()).into());
        }
    }
    while let Some(ended) = tasks.join_next().await {
        ended?;
    }
    Ok(())
}

/// What was answered.
#[derive(Default)]
pub struct Tally {
    times: Mutex<Vec<Duration>>,
    /// By the first digit of the status; 0: no answer.
    statuses: [AtomicU64; 6],
    faults: Mutex<Faults>,
}

/// Answers that were not expected.
#[derive(Default)]
struct Faults {
    count: u64,
    first: Vec<String>,
}

/// The latencies since the last reading.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Latencies {
    /// How many.
    pub count: usize,
    /// Half of them took at most so long.
    pub p50: Duration,
    /// 99 of 100 took at most so long.
    pub p99: Duration,
    /// The longest.
    pub most: Duration,
}

impl Latencies {
    fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        let at = |percent: usize| {
            let index = (times.len() * percent / 100).min(times.len().saturating_sub(1));
            times.get(index).copied().unwrap_or_default()
        };
        Self { count: times.len(), p50: at(50), p99: at(99), most: at(100) }
    }
}

impl Tally {
    /// Counts an answer. Returns it if its status is expected.
    pub fn count(&self, task: &str, answer: Outcome<Answer>, expected: &[u16]) -> Option<Answer> {
        let class = answer.as_ref().map_or(0, |answer| usize::from(answer.status / 100));
        if let Some(counter) = self.statuses.get(class) {
            counter.fetch_add(1, Ordering::Relaxed);
        }
        match answer {
            Ok(answer) if expected.contains(&answer.status) => Some(answer),
            Ok(answer) => {
                let text = String::from_utf8_lossy(&answer.body).into_owned();
                self.fault(format!("{task}: {}: {text}", answer.status));
                None
            }
            Err(error) => {
                self.fault(format!("{task}: no answer: {error}"));
                None
            }
        }
    }

    /// The same, with the time since it was due.
    pub fn measure(
        &self,
        task: &str,
        due: Instant,
        answer: Outcome<Answer>,
        expected: &[u16],
    ) -> Option<Answer> {
        self.times.lock().unwrap_or_else(PoisonError::into_inner).push(due.elapsed());
        self.count(task, answer, expected)
    }

    /// Counts a fault.
    pub fn fault(&self, text: String) {
        let mut faults = self.faults.lock().unwrap_or_else(PoisonError::into_inner);
        faults.count += 1;
        if faults.first.len() < KEPT_FAULTS {
            faults.first.push(text);
        }
    }

    /// The number of faults, and the first of them.
    pub fn faults(&self) -> (u64, Vec<String>) {
        let faults = self.faults.lock().unwrap_or_else(PoisonError::into_inner);
        (faults.count, faults.first.clone())
    }

    /// The latencies since the last call.
    pub fn take(&self) -> Latencies {
        Latencies::of(std::mem::take(&mut *self.times.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    /// The number of answers by the first digit of their status; 0: no answer.
    pub fn statuses(&self) -> [u64; 6] {
        std::array::from_fn(|class| self.statuses[class].load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16) -> Answer {
        Answer { status, etag: String::new(), applied: String::new(), body: b"text".to_vec() }
    }

    #[test]
    fn an_unexpected_answer_is_a_fault_with_its_text() {
        let tally = Tally::default();
        assert!(tally.count("read", Ok(answer(200)), &[200, 304]).is_some());
        assert!(tally.count("read", Ok(answer(503)), &[200, 304]).is_none());
        assert!(tally.count("read", Err("reset".into()), &[200]).is_none());
        assert_eq!(tally.statuses(), [1, 0, 1, 0, 0, 1]);
        assert_eq!(
            tally.faults(),
            (2, vec!["read: 503: text".to_owned(), "read: no answer: reset".to_owned()])
        );
    }

    #[test]
    fn latencies_are_percentiles_of_the_sorted_times() {
        let latencies = Latencies::of((1..=200).rev().map(Duration::from_millis).collect());
        let milliseconds = [latencies.p50, latencies.p99, latencies.most].map(|time| time.as_millis());
        assert_eq!((latencies.count, milliseconds), (200, [101, 199, 200]));
        assert_eq!(Latencies::of(Vec::new()), Latencies::default());
    }

    #[tokio::test]
    async fn a_stall_is_part_of_the_latencies_of_the_requests_that_were_due() {
        let tally = std::sync::Arc::new(Tally::default());
        let shared = tally.clone();
        let rate = drive(1_000.0, Duration::from_millis(100), move |number, due| {
            let tally = shared.clone();
            async move {
                if number == 0 {
                    std::thread::sleep(Duration::from_millis(90));
                }
                tally.measure("read", due, Ok(answer(200)), &[200]);
            }
        });
        rate.await.unwrap();
        let latencies = tally.take();
        assert_eq!(latencies.count, 100);
        assert!(latencies.p50 >= Duration::from_millis(20), "{latencies:?}");
    }
}
