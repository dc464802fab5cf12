//! Worker loop: claims as many items as there are free slots, waits for more, stops in order.

use async_trait::async_trait;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

/// The interval of polling; a notification may be missed.
pub const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// The time limit for running items when the worker stops.
const GRACE: Duration = Duration::from_secs(10);

/// A source of items of work: jobs, or tasks.
#[async_trait]
pub trait WorkSource: Send + Sync + 'static {
    /// One unit of work.
    type Item: Send + 'static;

    /// Claims at most `limit` items; fewer if no others wait.
    async fn claim(&self, limit: i64) -> Vec<Self::Item>;
    /// Executes an item, and stores its outcome.
    async fn execute(&self, item: Self::Item);
    /// Waits for new items, at most [`POLL_INTERVAL`].
    async fn wait(&self);
}

/// Whether `stop` is false and its sender exists.
pub fn is_running(stop: &watch::Receiver<bool>) -> bool {
    !*stop.borrow() && stop.has_changed().is_ok()
}

/// Waits this long, or until `stop` changes.
pub async fn pause(time: Duration, stop: &mut watch::Receiver<bool>) {
    tokio::select! { () = sleep(time) => {}, _ = stop.changed() => {} }
}

/// How many items a worker has at once.
#[derive(Debug, Clone, Copy)]
pub struct WorkerSlots {
    /// How many run; at least one does.
    pub running: usize,
    /// How many more it claims, which wait in memory until they run. So one claim has several items. When the process is
    /// killed, their claims count as attempts.
    pub ahead: usize,
}

/// Runs until `stop` is true or its sender is dropped. Then waits at most 10 s for the items it has; the leases of
/// the others expire.
pub async fn run_loop<S: WorkSource>(source: Arc<S>, capacity: WorkerSlots, mut stop: watch::Receiver<bool>) {
    let (running, ahead) = (capacity.running.max(1), capacity.ahead);
    // It has an item in each slot. An item that has a slot waits for a turn until it runs.
    let [slots, turns] = [running.saturating_add(ahead), running]
        .map(|permits| Arc::new(Semaphore::new(permits.min(Semaphore::MAX_PERMITS))));
    // With half of what it claims ahead the worker has more items than run at once: it is never idle.
    let at_least = u32::try_from(1 + ahead / 2).unwrap_or(u32::MAX);
    let mut items = JoinSet::new();
    while is_running(&stop) {
        while items.try_join_next().is_some() {}
        let taken = slots.clone().acquire_many_owned(at_least);
        let taken = tokio::select! { taken = taken => taken, _ = stop.changed() => continue };
        let Ok(mut free) = taken else { break };
        while let Ok(another) = slots.clone().try_acquire_owned() {
            free.merge(another);
        }
        // Not inside `select!`: a dropped claim would lose the items it claimed.
        let claimed = source.claim(i64::try_from(free.num_permits()).unwrap_or(1)).await;
        let is_rest = claimed.len() < free.num_permits();
        for item in claimed {
            let (source, turns, slot) = (source.clone(), turns.clone(), free.split(1));
            items.spawn(async move {
                if let Ok(_turn) = turns.acquire().await {
                    source.execute(item).await;
                }
                drop(slot);
            });
        }
        drop(free);
        // There were no others; the notification of one that was added since is not lost.
        if is_rest {
            tokio::select! { () = source.wait() => {}, _ = stop.changed() => {} }
        }
    }
    let ended = async { while items.join_next().await.is_some() {} };
    if timeout(GRACE, ended).await.is_err() {
        items.shutdown().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    async fn run_with<S: WorkSource>(running: usize, source: Arc<S>, stop: watch::Receiver<bool>) {
        run_loop(source, WorkerSlots { running, ahead: 0 }, stop).await;
    }

    #[derive(Default)]
    struct Idle(AtomicUsize);

    #[async_trait]
    impl WorkSource for Idle {
        type Item = ();

        async fn claim(&self, _limit: i64) -> Vec<()> {
            self.0.fetch_add(1, Ordering::Relaxed);
            Vec::new()
        }
        async fn execute(&self, (): ()) {}
        async fn wait(&self) {
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    #[tokio::test]
    async fn a_worker_ends_when_the_sender_of_stop_is_dropped() {
        let (stop, told) = watch::channel(false);
        let idle = Arc::new(Idle::default());
        let worker = tokio::spawn(run_with(1, idle.clone(), told));
        tokio::task::yield_now().await;
        drop(stop);
        tokio::time::timeout(Duration::from_secs(5), worker).await.expect("it goes on").unwrap();
        assert!(idle.0.load(Ordering::Relaxed) <= 2, "it looked for work again and again");
    }

    /// Two items wait, and ten may run at once.
    #[derive(Default)]
    struct Few {
        claims: AtomicUsize,
        executed: AtomicUsize,
    }

    #[async_trait]
    impl WorkSource for Few {
        type Item = ();

        async fn claim(&self, _limit: i64) -> Vec<()> {
            if self.claims.fetch_add(1, Ordering::Relaxed) == 0 { vec![(), ()] } else { Vec::new() }
        }
        async fn execute(&self, (): ()) {
            self.executed.fetch_add(1, Ordering::Relaxed);
        }
        async fn wait(&self) {
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    /// Items without end. Each takes a moment.
    #[derive(Default)]
    struct Many {
        running: AtomicUsize,
        most_running: AtomicUsize,
        claims: AtomicUsize,
        executed: AtomicUsize,
    }

    #[async_trait]
    impl WorkSource for Many {
        type Item = ();

        async fn claim(&self, limit: i64) -> Vec<()> {
            self.claims.fetch_add(1, Ordering::Relaxed);
            vec![(); usize::try_from(limit).unwrap()]
        }
        async fn execute(&self, (): ()) {
            let running = 1 + self.running.fetch_add(1, Ordering::Relaxed);
            self.most_running.fetch_max(running, Ordering::Relaxed);
            tokio::time::sleep(Duration::from_millis(1)).await;
            self.running.fetch_sub(1, Ordering::Relaxed);
            self.executed.fetch_add(1, Ordering::Relaxed);
        }
        async fn wait(&self) {}
    }

    #[tokio::test]
    async fn a_claim_has_several_items_and_no_more_run_than_may() {
        let (stop, told) = watch::channel(false);
        let many = Arc::new(Many::default());
        let worker = tokio::spawn({
            let many = many.clone();
            async move { run_loop(many, WorkerSlots { running: 3, ahead: 6 }, told).await }
        });
        while many.executed.load(Ordering::Relaxed) < 300 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        drop(stop);
        worker.await.unwrap();
        assert_eq!(many.most_running.load(Ordering::Relaxed), 3);
        let (claims, executed) = (many.claims.load(Ordering::Relaxed), many.executed.load(Ordering::Relaxed));
        assert!(claims * 4 <= executed, "{claims} claims, {executed} items");
    }

    #[tokio::test]
    async fn after_fewer_items_than_free_slots_a_worker_waits() {
        let (stop, told) = watch::channel(false);
        let few = Arc::new(Few::default());
        let worker = tokio::spawn(run_with(10, few.clone(), told));
        tokio::time::sleep(POLL_INTERVAL / 2).await;
        assert_eq!(few.executed.load(Ordering::Relaxed), 2);
        assert_eq!(few.claims.load(Ordering::Relaxed), 1, "there are no others");
        tokio::time::sleep(POLL_INTERVAL).await;
        assert_eq!(few.claims.load(Ordering::Relaxed), 2, "it polls");
        drop(stop);
        worker.await.unwrap();
    }
}
