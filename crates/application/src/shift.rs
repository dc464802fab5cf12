//! What all workers have in common: they take as much as they have hands for, wait for more, and stop in order.

use async_trait::async_trait;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;

/// How long to wait for work before looking again: a hint may get lost.
pub(crate) const POLL: Duration = Duration::from_secs(1);
/// How long what runs may take to end when the worker stops.
const GRACE: Duration = Duration::from_secs(10);

/// One kind of work.
#[async_trait]
pub(crate) trait Shift: Send + Sync + 'static {
    /// A piece of it, claimed.
    type Piece: Send + 'static;

    /// Claims at most so many pieces.
    async fn claim(&self, limit: i64) -> Vec<Self::Piece>;
    /// Carries one out, to one of its ends.
    async fn carry_out(&self, piece: Self::Piece);
    /// Waits until there may be more, at most [`POLL`].
    async fn wait(&self);
}

/// Works until `stop` says so, on so many pieces at once (at least one); then ends what runs, or lets its lease expire.
pub(crate) async fn work<S: Shift>(shift: Arc<S>, concurrency: usize, mut stop: watch::Receiver<bool>) {
    let mut running: JoinSet<()> = JoinSet::new();
    while !*stop.borrow() {
        while running.try_join_next().is_some() {}
        let free = concurrency.max(1).saturating_sub(running.len());
        if free == 0 {
            tokio::select! { _ = running.join_next() => {}, _ = stop.changed() => {} }
            continue;
        }
        // Never dropped half-way: a claimed piece is a started one.
        let claimed = shift.claim(i64::try_from(free).unwrap_or(1)).await;
        if claimed.is_empty() {
            tokio::select! { () = shift.wait() => {}, _ = stop.changed() => {} }
        }
        for piece in claimed {
            let shift = shift.clone();
            running.spawn(async move { shift.carry_out(piece).await });
        }
    }
    let deadline = Instant::now() + GRACE;
    while let Ok(Some(_)) = tokio::time::timeout_at(deadline, running.join_next()).await {}
    running.shutdown().await;
}
