//! The worker that executes tasks, on both engines.

use async_trait::async_trait;
use civitas_application::{EventCommitter, SiteSettings, Store, TaskContext, TaskHandler, TaskWorker};
use civitas_kernel::{Error, NewTask, OrganizationId, Result, TaskPayload, clock};
use civitas_tasks::{LEASE, Task, TaskOutcome};
use civitas_tests::{NoViews, World};
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use time::OffsetDateTime;
use tokio::sync::watch;

/// What the handler is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Trick {
    Succeed,
    ComeAgain,
    GiveUp,
    Refuse,
    Stumble,
    NoDatabase,
    Panic,
}

impl TaskPayload for Trick {
    const KIND: &'static str = "trick";
}

/// Returns the given outcomes, and records its calls.
struct Juggler(Arc<Mutex<Vec<(Trick, i64)>>>);

#[async_trait]
impl TaskHandler for Juggler {
    fn kind(&self) -> &'static str {
        Trick::KIND
    }

    async fn run(&self, turn: TaskContext<'_>, task: &Task) -> Result<TaskOutcome> {
        let trick: Trick = task.read()?;
        self.0.lock().unwrap().push((trick, task.attempt));
        match trick {
            Trick::ComeAgain if task.attempt < 3 => Ok(TaskOutcome::Again(turn.now)),
            Trick::Succeed | Trick::ComeAgain => Ok(TaskOutcome::Done),
            Trick::GiveUp => Ok(TaskOutcome::GiveUp("it is too hard".into())),
            Trick::Refuse => Err(Error::rejected("no")),
            Trick::Stumble => Err(Error::Unavailable("no route".into())),
            Trick::NoDatabase => Err(Error::database("no connection is free")),
            Trick::Panic => panic!("dropped"),
        }
    }
}

struct Circus {
    store: Arc<dyn Store>,
    seen: Arc<Mutex<Vec<(Trick, i64)>>>,
    stop: watch::Sender<bool>,
    worker: tokio::task::JoinHandle<()>,
}

impl Circus {
    fn open(store: Arc<dyn Store>) -> Self {
        let seen = Arc::<Mutex<Vec<_>>>::default();
        let site = SiteSettings::default();
        let committer = EventCommitter::new(Arc::new(NoViews), site);
        let handler = Arc::new(Juggler(seen.clone()));
        let (stop, told) = watch::channel(false);
        let worker = TaskWorker::new(store.clone(), committer, handler).run(2, told);
        Self { store, seen, stop, worker: tokio::spawn(worker) }
    }

    async fn ask(&self, organization: OrganizationId, trick: Trick) {
        let task = NewTask::new(organization, &trick, clock::now()).unwrap();
        self.store.queue().add(&task).await.unwrap();
    }

    /// Waits until the handler has run so often.
    async fn has_run(&self, times: usize) {
        let wait = async {
            while self.seen.lock().unwrap().len() < times {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), wait).await.unwrap();
    }

    /// What was done, once the worker has stopped.
    async fn close(self) -> Vec<(Trick, i64)> {
        self.stop.send(true).unwrap();
        self.worker.await.unwrap();
        Arc::into_inner(self.seen).unwrap().into_inner().unwrap()
    }
}

/// What waits, as a worker far in the future claims it.
async fn left(store: &dyn Store) -> Vec<Task> {
    let someday = clock::now() + time::Duration::days(30);
    store.tasks().claim(&[Trick::KIND, "host"], someday, someday + LEASE, 100).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_runs_until_it_is_done_or_given_up() {
    for world in World::on_both_engines().await {
        let circus = Circus::open(world.database.store());
        for trick in [Trick::Succeed, Trick::ComeAgain, Trick::GiveUp, Trick::Refuse] {
            circus.ask(world.mine, trick).await;
        }
        circus.has_run(6).await;
        let mut seen = circus.close().await;
        seen.sort_by_key(|(trick, attempt)| (*trick as u8, *attempt));
        let again = Trick::ComeAgain;
        let expected =
            [(Trick::Succeed, 1), (again, 1), (again, 2), (again, 3), (Trick::GiveUp, 1), (Trick::Refuse, 1)];
        assert_eq!(seen, expected);
        assert_eq!(left(world.store()).await, [], "nothing is left");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fault_or_a_panic_is_tried_again_later_and_the_worker_goes_on() {
    for world in World::on_both_engines().await {
        let circus = Circus::open(world.database.store());
        for trick in [Trick::Stumble, Trick::Panic, Trick::Succeed] {
            circus.ask(world.mine, trick).await;
        }
        circus.has_run(3).await;
        assert_eq!(circus.close().await.len(), 3, "nothing runs twice before it is due");
        let left = left(world.store()).await;
        let mut tricks: Vec<(Trick, i64)> = left.iter().map(|t| (t.read().unwrap(), t.attempt)).collect();
        tricks.sort_by_key(|(trick, _)| *trick as u8);
        assert_eq!(tricks, [(Trick::Stumble, 2), (Trick::Panic, 2)]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fault_of_the_database_is_not_counted_as_an_attempt() {
    for world in World::on_both_engines().await {
        let circus = Circus::open(world.database.store());
        circus.ask(world.mine, Trick::NoDatabase).await;
        circus.has_run(1).await;
        assert_eq!(circus.close().await, [(Trick::NoDatabase, 1)]);
        let left = left(world.store()).await;
        assert_eq!(
            left.iter().map(|task| task.attempt).collect::<Vec<_>>(),
            [1],
            "the first attempt is still to come"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_of_an_unknown_kind_waits() {
    for world in World::on_both_engines().await {
        let circus = Circus::open(world.database.store());
        let now = clock::now();
        let task = |due_at: OffsetDateTime| NewTask {
            kind: "host",
            ..NewTask::new(world.mine, &Trick::Succeed, due_at).unwrap()
        };
        circus.store.queue().add(&task(now - time::Duration::hours(1))).await.unwrap();
        circus.ask(world.mine, Trick::Succeed).await;
        circus.has_run(1).await;
        assert_eq!(circus.close().await, [(Trick::Succeed, 1)]);
        assert_eq!(left(world.store()).await.len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_of_a_transaction_runs_after_the_commit_and_never_without_one() {
    for world in World::on_both_engines().await {
        let circus = Circus::open(world.database.store());
        let task = NewTask::new(world.mine, &Trick::Succeed, clock::now()).unwrap();
        let transaction = world.store().begin().await.unwrap();
        transaction.queue().add(&task).await.unwrap();
        transaction.rollback().await;
        let transaction = world.store().begin().await.unwrap();
        transaction.queue().add(&task).await.unwrap();
        assert!(circus.seen.lock().unwrap().is_empty());
        transaction.commit().await.unwrap();
        circus.has_run(1).await;
        assert_eq!(circus.close().await, [(Trick::Succeed, 1)]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_workers_one_gets_each_task() {
    for world in World::on_both_engines().await {
        let circuses: Vec<Circus> = (0..3).map(|_| Circus::open(world.database.store())).collect();
        for _ in 0..30 {
            circuses[0].ask(world.mine, Trick::Succeed).await;
        }
        let mut done = 0;
        let wait = async {
            while done < 30 {
                tokio::time::sleep(Duration::from_millis(5)).await;
                done = circuses.iter().map(|c| c.seen.lock().unwrap().len()).sum();
            }
        };
        tokio::time::timeout(Duration::from_secs(30), wait).await.unwrap();
        let mut seen = 0;
        for circus in circuses {
            seen += circus.close().await.len();
        }
        assert_eq!(seen, 30);
        assert_eq!(left(world.store()).await, []);
    }
}
