//! Runs the background tasks, each in a Tokio task of its own.
//!
//! Tasks begin one after the other, so that the connections they open do not delay the first requests: on PostgreSQL each
//! connection is a new process.

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, join_all};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::timeout;

/// The time between the starts of two tasks.
const APART: Duration = Duration::from_millis(20);

/// A task: its name in the log, and its work, which ends when the server stops.
pub(crate) struct BackgroundTask {
    name: &'static str,
    work: BoxFuture<'static, ()>,
}

/// Whether a task has failed.
#[derive(Debug, Clone, Default)]
pub(crate) struct FailureFlag(Arc<AtomicBool>);

impl BackgroundTask {
    pub(crate) fn new(name: &'static str, work: impl Future<Output = ()> + Send + 'static) -> Self {
        Self { name, work: work.boxed() }
    }
}

impl FailureFlag {
    pub(crate) fn get(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Runs all tasks until each has ended, which tasks do when `stop` is true. A panic ends only its own task, and sets
/// `failed`: a new process must run the task again.
pub(crate) async fn run(tasks: Vec<BackgroundTask>, stop: watch::Receiver<bool>, failed: &FailureFlag) {
    let each = tasks.into_iter().zip(1..).map(async |(BackgroundTask { name, work }, number)| {
        // The wait also ends when the sender is dropped.
        let _ = timeout(APART * number, stop.clone().wait_for(|stops| *stops)).await;
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
    use std::sync::atomic::AtomicUsize;
    use tokio::sync::oneshot;
    use tokio::time::sleep;

    #[tokio::test]
    async fn the_panic_of_a_task_does_not_end_the_others() {
        let (sender, receiver) = oneshot::channel();
        let failed = FailureFlag::default();
        let others = failed.clone();
        let tasks = vec![
            BackgroundTask::new("one", async { panic!("of this test") }),
            BackgroundTask::new("other", async move {
                while !others.get() {
                    tokio::task::yield_now().await;
                }
                sender.send(()).unwrap();
            }),
        ];
        let (_stop, runs) = watch::channel(false);
        run(tasks, runs, &failed).await;
        receiver.await.expect("the other task goes on");
        assert!(failed.get());
    }

    #[tokio::test(start_paused = true)]
    async fn tasks_begin_one_after_the_other_and_the_others_at_once_when_the_server_stops() {
        let begun = Arc::new(AtomicUsize::new(0));
        let count = || {
            let begun = begun.clone();
            BackgroundTask::new("counted", async move {
                begun.fetch_add(1, Ordering::Relaxed);
            })
        };
        let (stop, stop_receiver) = watch::channel(false);
        let failed = FailureFlag::default();
        let all = run((0..5).map(|_| count()).collect(), stop_receiver, &failed);
        let watched = async {
            sleep(APART * 2 + APART / 2).await;
            assert_eq!(begun.load(Ordering::Relaxed), 2);
            stop.send(true).unwrap();
            sleep(APART / 4).await;
            assert_eq!(begun.load(Ordering::Relaxed), 5);
        };
        tokio::join!(all, watched);
    }
}
