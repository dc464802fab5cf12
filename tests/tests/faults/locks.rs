//! Another process holds the lock of the SQLite file.

use civitas_kernel::Error;
use civitas_tests::{Database, Engine};
use std::time::Duration;

/// Counts the turns of other work on the same thread until `work` ends.
async fn turns_during<R>(work: impl Future<Output = R>) -> (R, usize) {
    let mut turns = 0;
    let others = async {
        loop {
            tokio::time::sleep(Duration::from_millis(10)).await;
            turns += 1;
        }
    };
    let result = tokio::select! { result = work => result, () = others => unreachable!() };
    (result, turns)
}

#[tokio::test]
async fn a_write_that_waits_for_the_lock_does_not_delay_other_requests_of_its_thread() {
    let database = Database::fresh(Engine::Sqlite).await.unwrap();
    let wait = Duration::from_secs(1);
    let store = Engine::Sqlite.open_with(database.url(), 2, wait).await.unwrap();
    let lock = database.hold_lock_on("users").await;

    let (begun, turns) = turns_during(store.begin()).await;
    assert!(matches!(begun.map(drop), Err(Error::Unavailable(_))), "a transaction");
    assert!(turns > 10, "the thread was free {turns} times");
    let (written, turns) = turns_during(store.check_writable()).await;
    assert!(matches!(written, Err(Error::Unavailable(_))), "a single statement");
    assert!(turns > 10, "the thread was free {turns} times");
    store.ready().await.unwrap();

    lock.release().await;
    store.check_writable().await.unwrap();
    drop(store.begin().await.unwrap());
}

#[tokio::test]
async fn a_write_goes_on_when_the_lock_is_released() {
    let database = Database::fresh(Engine::Sqlite).await.unwrap();
    let store = database.store();
    let lock = database.hold_lock_on("users").await;
    let release = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        lock.release().await;
    };
    let (begun, ()) = tokio::join!(store.begin(), release);
    begun.unwrap().commit().await.unwrap();
}
