//! Runs the parts of the background work, each in a task of its own.

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, join_all};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A part: its name in the log, and the work until it is told to stop.
pub(crate) struct Part {
    name: &'static str,
    work: BoxFuture<'static, ()>,
}

/// Whether a part has failed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Failed(Arc<AtomicBool>);

impl Part {
    /// This work.
    pub(crate) fn new(name: &'static str, work: impl Future<Output = ()> + Send + 'static) -> Self {
        Self { name, work: work.boxed() }
    }
}

impl Failed {
    /// Whether one has.
    pub(crate) fn get(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Runs all parts to their ends. When one panics, the others go on, and `failed` is set: only a new process runs it again.
pub(crate) async fn run(parts: Vec<Part>, failed: &Failed) {
    let each = parts.into_iter().map(async |Part { name, work }| {
        if let Err(error) = tokio::spawn(work).await {
            tracing::error!(name, %error, "a part of the background work has failed: restart the server");
            failed.0.store(true, Ordering::Relaxed);
        }
    });
    join_all(each).await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::oneshot;

    #[tokio::test]
    async fn the_panic_of_a_part_does_not_end_the_others() {
        let (tell, told) = oneshot::channel();
        let failed = Failed::default();
        let others = failed.clone();
        let parts = vec![
            Part::new("one", async { panic!("of this test") }),
            Part::new("other", async move {
                while !others.get() {
                    tokio::task::yield_now().await;
                }
                tell.send(()).unwrap();
            }),
        ];
        run(parts, &failed).await;
        told.await.expect("the other part goes on");
        assert!(failed.get());
    }
}
