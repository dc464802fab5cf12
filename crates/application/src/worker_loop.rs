//! Worker loop: claims as many items as there are free slots, waits for more, stops in order.

use async_trait::async_trait;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;

/// The interval of polling; a notification may be missed.
pub(crate) const POLL: Duration = Duration::from_secs(1);
/// The time limit for running items when the worker stops.
const GRACE: Duration = Duration::from_secs(10);

/// A source of items of work: jobs, or tasks.
#[async_trait]
pub(crate) trait WorkSource: Send + Sync + 'static {
    /// One unit of work.
    type Item: Send + 'static;

    /// Claims at most `limit` items; fewer if no others wait.
    async fn claim(&self, limit: i64) -> Vec<Self::Item>;
    /// Executes an item, and stores its outcome.
    async fn execute(&self, item: Self::Item);
    /// Waits for new items, at most [`POLL`].
    async fn wait(&self);
}

/// Whether `stop` is false and its sender exists.
pub(crate) fn goes_on(stop: &watch::Receiver<bool>) -> bool {
    !*stop.borrow() && stop.has_changed().is_ok()
}

/// Runs until `stop` is true or its sender is dropped, with at most `concurrency` items at once (at least one). Then
/// waits at most [`GRACE`] for the items that run; the leases of the others expire.
pub(crate) async fn run_loop<S: WorkSource>(
    source: Arc<S>,
    concurrency: usize,
    mut stop: watch::Receiver<bool>,
) {
    let mut running: JoinSet<()> = JoinSet::new();
    while goes_on(&stop) {
        while running.try_join_next().is_some() {}
        let free = concurrency.max(1).saturating_sub(running.len());
        if free == 0 {
            tokio::select! { _ = running.join_next() => {}, _ = stop.changed() => {} }
            continue;
        }
        // Not inside `select!`: a dropped claim would lose the items it claimed.
        let claimed = source.claim(i64::try_from(free).unwrap_or(1)).await;
        let is_rest = claimed.len() < free;
        for item in claimed {
            let source = source.clone();
            running.spawn(async move { source.execute(item).await });
        }
        // There were no others; the notification of one that was added since is not lost.
        if is_rest {
            tokio::select! { () = source.wait() => {}, _ = stop.changed() => {} }
        }
    }
    let deadline = Instant::now() + GRACE;
    while let Ok(Some(_)) = tokio::time::timeout_at(deadline, running.join_next()).await {}
    running.shutdown().await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

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
            tokio::time::sleep(POLL).await;
        }
    }

    #[tokio::test]
    async fn a_worker_ends_when_the_sender_of_stop_is_dropped() {
        let (stop, told) = watch::channel(false);
        let idle = Arc::new(Idle::default());
        let worker = tokio::spawn(run_loop(idle.clone(), 1, told));
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
            tokio::time::sleep(POLL).await;
        }
    }

    #[tokio::test]
    async fn after_fewer_items_than_free_slots_a_worker_waits() {
        let (stop, told) = watch::channel(false);
        let few = Arc::new(Few::default());
        let worker = tokio::spawn(run_loop(few.clone(), 10, told));
        tokio::time::sleep(POLL / 2).await;
        assert_eq!(few.executed.load(Ordering::Relaxed), 2);
        assert_eq!(few.claims.load(Ordering::Relaxed), 1, "there are no others");
        tokio::time::sleep(POLL).await;
        assert_eq!(few.claims.load(Ordering::Relaxed), 2, "it polls");
        drop(stop);
        worker.await.unwrap();
    }
}
