//! Tests of the writer.

use super::*;
use crate::engine::pools;
use crate::pools::{DatabaseSettings, StatementLimits};
use civitas_kernel::Locales;
use diesel::sql_types::{BigInt, Text};
use diesel_async::RunQueryDsl;
use std::collections::BTreeSet;
use tempfile::TempDir;
use tokio::task::JoinHandle;

struct Fixture {
    writer: Arc<Writer>,
    settings: DatabaseSettings,
    _directory: TempDir,
}

impl Fixture {
    async fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let settings = DatabaseSettings {
            url: format!("sqlite://{}", directory.path().join("civitas.db").display()),
            pooler_url: None,
            read_url: None,
            pool_size: 2,
            wait: Duration::from_secs(20),
            locales: Locales::standard(),
            limits: StatementLimits::default(),
        };
        let writer = Arc::new(pools(&settings, &Arc::default()).unwrap().requests.writer);
        let mut connection = writer.outside_transactions().await.unwrap();
        connection.batch_execute("CREATE TABLE t (x INTEGER PRIMARY KEY)").await.unwrap();
        drop(connection);
        Self { writer, settings, _directory: directory }
    }

    /// What another connection sees.
    async fn committed_numbers(&self) -> BTreeSet<i64> {
        let pools = pools(&self.settings, &Arc::default()).unwrap().requests;
        let mut reader = pools.reader.connection().await.unwrap();
        let row = diesel::dsl::sql::<Text>("(SELECT coalesce(group_concat(x), '') FROM t)");
        let text: String = diesel::select(row).get_result(&mut *reader).await.unwrap();
        text.split(',').filter(|x| !x.is_empty()).map(|x| x.parse().unwrap()).collect()
    }

    /// The number of commits: another connection counts one for each.
    async fn commits(&self, work: impl AsyncFnOnce()) -> i64 {
        let before = self.frames();
        work().await;
        self.frames() - before
    }

    /// The pages in the write-ahead log: of these tests each commit writes one.
    fn frames(&self) -> i64 {
        const FRAME: u64 = 4096 + 24;
        let path = self.settings.url.replace("sqlite://", "") + "-wal";
        let length = std::fs::metadata(path).map_or(0, |file| file.len());
        i64::try_from(length.saturating_sub(32) / FRAME).unwrap()
    }

    /// A transaction in a task of its own, which queues at once.
    async fn queue(&self, x: i64, end: End) -> JoinHandle<Result<()>> {
        let writer = self.writer.clone();
        let task = tokio::spawn(async move {
            let mut transaction = writer.begin().await?;
            insert(&mut transaction, x).await?;
            match end {
                End::Commit => transaction.commit().await,
                End::Rollback => transaction.rollback().await,
                End::Drop => {
                    drop(transaction);
                    Ok(())
                }
            }
        });
        yield_now().await;
        task
    }
}

#[derive(Debug, Clone, Copy)]
enum End {
    Commit,
    Rollback,
    Drop,
}

async fn insert(transaction: &mut WriteTransaction, x: i64) -> Result<()> {
    let connection = transaction.connection().unwrap();
    let statement = diesel::sql_query("INSERT INTO t VALUES (?)").bind::<BigInt, _>(x);
    statement.execute(connection).await.map_db_error().map(drop)
}

async fn all(tasks: Vec<JoinHandle<Result<()>>>) -> Vec<bool> {
    let mut outcomes = Vec::new();
    for task in tasks {
        outcomes.push(task.await.unwrap().is_ok());
    }
    outcomes
}

#[tokio::test]
async fn transactions_that_wait_for_the_writer_are_committed_together() {
    let fixture = Fixture::new().await;
    let commits = fixture.commits(async || {
        let mut first = fixture.writer.begin().await.unwrap();
        insert(&mut first, 0).await.unwrap();
        let mut others = Vec::new();
        for x in 1..=20 {
            others.push(fixture.queue(x, End::Commit).await);
        }
        first.commit().await.unwrap();
        assert_eq!(all(others).await, [true; 20]);
    });
    assert_eq!(commits.await, 1);
    assert_eq!(fixture.committed_numbers().await, (0..=20).collect());
}

#[tokio::test]
async fn the_writer_is_not_reserved_for_a_caller_that_waits() {
    let fixture = Fixture::new().await;
    let mut first = fixture.writer.begin().await.unwrap();
    insert(&mut first, 1).await.unwrap();
    let second = fixture.queue(2, End::Commit).await;
    let mut ended = Box::pin(first.commit());
    assert!((&mut ended).now_or_never().is_none());
    // The second one is not polled yet.
    let mut third = fixture.writer.begin().now_or_never().unwrap().unwrap();
    insert(&mut third, 3).await.unwrap();
    third.commit().await.unwrap();
    ended.await.unwrap();
    second.await.unwrap().unwrap();
    assert_eq!(fixture.committed_numbers().await, [1, 2, 3].into());
}

#[tokio::test]
async fn a_caller_learns_the_end_of_its_transaction_after_the_commit() {
    let fixture = Fixture::new().await;
    let mut first = fixture.writer.begin().await.unwrap();
    insert(&mut first, 1).await.unwrap();
    let second = fixture.queue(2, End::Commit).await;
    assert_eq!(fixture.committed_numbers().await, BTreeSet::new());
    first.commit().await.unwrap();
    assert!(fixture.committed_numbers().await.contains(&1));
    second.await.unwrap().unwrap();
    assert_eq!(fixture.committed_numbers().await, [1, 2].into());
}

#[tokio::test]
async fn a_transaction_that_fails_or_is_dropped_leaves_the_others() {
    let fixture = Fixture::new().await;
    let mut first = fixture.writer.begin().await.unwrap();
    insert(&mut first, 0).await.unwrap();
    let mut others = Vec::new();
    for (x, end) in (1..).zip([End::Commit, End::Rollback, End::Commit, End::Drop, End::Commit]) {
        others.push(fixture.queue(x, end).await);
    }
    // A value that is taken: its statement fails, its transaction is dropped.
    others.push(fixture.queue(0, End::Commit).await);
    others.push(fixture.queue(6, End::Commit).await);
    first.commit().await.unwrap();
    assert_eq!(all(others).await, [true, true, true, true, true, false, true]);
    assert_eq!(fixture.committed_numbers().await, [0, 1, 3, 5, 6].into());
}

#[tokio::test]
async fn a_first_transaction_that_is_rolled_back_leaves_nothing() {
    let fixture = Fixture::new().await;
    for dropped in [false, true] {
        let mut first = fixture.writer.begin().await.unwrap();
        insert(&mut first, 1).await.unwrap();
        if dropped {
            drop(first);
        } else {
            first.rollback().await.unwrap();
        }
        fixture.queue(2 + i64::from(dropped), End::Commit).await.await.unwrap().unwrap();
    }
    assert_eq!(fixture.committed_numbers().await, [2, 3].into());
}

#[tokio::test]
async fn a_caller_dropped_while_it_waits_for_the_commit_delays_no_other() {
    let fixture = Fixture::new().await;
    let mut first = fixture.writer.begin().await.unwrap();
    insert(&mut first, 1).await.unwrap();
    let second = fixture.queue(2, End::Commit).await;
    // It ended, and the second one has the turn.
    let mut ended = Box::pin(first.commit());
    let polled = (&mut ended).now_or_never();
    assert!(polled.is_none());
    drop(ended);
    second.await.unwrap().unwrap();
    assert_eq!(fixture.committed_numbers().await, [1, 2].into());
    // Alone: its commit goes on.
    let mut last = fixture.writer.begin().await.unwrap();
    insert(&mut last, 3).await.unwrap();
    drop((&mut Box::pin(last.commit())).now_or_never());
    fixture.queue(4, End::Commit).await.await.unwrap().unwrap();
    assert_eq!(fixture.committed_numbers().await, [1, 2, 3, 4].into());
}

#[tokio::test]
async fn when_sqlite_has_rolled_back_all_transactions_of_the_group_fail() {
    let fixture = Fixture::new().await;
    let mut first = fixture.writer.begin().await.unwrap();
    insert(&mut first, 1).await.unwrap();
    let writer = fixture.writer.clone();
    let second = tokio::spawn(async move {
        let mut transaction = writer.begin().await?;
        insert(&mut transaction, 2).await?;
        // As SQLite does by itself when the disk is full.
        transaction.connection().unwrap().batch_execute("ROLLBACK").await.map_db_error()?;
        transaction.commit().await
    });
    yield_now().await;
    let third = fixture.queue(3, End::Commit).await;
    assert!(matches!(first.commit().await, Err(Error::Unavailable(_))));
    assert!(second.await.unwrap().is_err());
    third.await.unwrap().unwrap();
    assert_eq!(fixture.committed_numbers().await, [3].into());
}

#[tokio::test]
async fn no_transaction_waits_for_a_long_one() {
    let fixture = Fixture::new().await;
    let mut first = fixture.writer.begin().await.unwrap();
    insert(&mut first, 1).await.unwrap();
    let writer = fixture.writer.clone();
    let long = tokio::spawn(async move { writer.begin_long().await });
    yield_now().await;
    // It ends while the long one is open.
    first.commit().await.unwrap();
    assert_eq!(fixture.committed_numbers().await, [1].into());
    let mut long = long.await.unwrap().unwrap();
    insert(&mut long, 2).await.unwrap();
    long.commit().await.unwrap();
    assert_eq!(fixture.committed_numbers().await, [1, 2].into());
}

#[tokio::test]
async fn a_wait_for_the_writer_that_is_too_long_is_an_error() {
    let mut fixture = Fixture::new().await;
    fixture.settings.wait = Duration::from_millis(50);
    let writer = pools(&fixture.settings, &Arc::default()).unwrap().requests.writer;
    let first = writer.begin().await.unwrap();
    assert!(matches!(writer.begin().await, Err(Error::Unavailable(_))));
    drop(first);
    writer.begin().await.unwrap().rollback().await.unwrap();
}

/// A transaction of any kind, with any end.
async fn any(writer: &Writer, x: i64, kind: i64) -> Result<()> {
    if kind % 16 == 0 {
        let mut alone = writer.outside_transactions().await?;
        return alone.batch_execute(&format!("INSERT INTO t VALUES ({x})")).await.map_db_error();
    }
    let mut transaction = if kind % 16 == 1 { writer.begin_long().await? } else { writer.begin().await? };
    if kind % 3 == 0 {
        yield_now().await;
    }
    insert(&mut transaction, x).await?;
    match kind % 7 {
        0 => transaction.rollback().await,
        1 => Ok(()),
        _ => transaction.commit().await,
    }
}

/// Transactions of 40 callers on a thread with a runtime of its own. Each may be dropped at any point.
fn drop_many(writer: &Arc<Writer>, first: i64) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let callers = (0..40).map(|caller| {
            let writer = writer.clone();
            tokio::spawn(async move {
                for x in (first + caller * 200..).take(200) {
                    let mixed = (x.wrapping_mul(0x9E37_79B9) >> 8) & 0xFFFF;
                    let patience = Duration::from_micros(mixed.unsigned_abs() % 8000);
                    // It may have been dropped, or have failed.
                    let _ = timeout(patience, any(&writer, x, mixed)).await;
                }
            })
        });
        for caller in callers.collect::<Vec<_>>() {
            caller.await.unwrap();
        }
    });
}

#[test]
fn no_mix_of_dropped_transactions_blocks_the_writer() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let fixture = runtime.block_on(Fixture::new());
    std::thread::scope(|threads| {
        for thread in 0..3 {
            let writer = &fixture.writer;
            threads.spawn(move || drop_many(writer, thread * 10_000));
        }
    });
    let last = runtime.block_on(async { timeout(Duration::from_secs(10), fixture.writer.begin()).await });
    assert!(last.unwrap().is_ok());
}
