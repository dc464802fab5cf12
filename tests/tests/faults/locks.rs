//! Another process holds the lock of the SQLite file.

use civitas_kernel::Error;
use civitas_tests::{Database, Engine};
use std::time::{Duration, Instant};

/// How long other work on the same thread waits for its turn: the part of the turns that came within 50 ms. A busy machine
/// delays some turns too, a thread that waits for the lock nearly all.
async fn turns_during<R>(work: impl Future<Output = R>) -> (R, f64) {
    let (mut turns, mut prompt) = (0.0, 0.0);
    let others = async {
        loop {
            let begun = Instant::now();
            tokio::time::sleep(Duration::from_millis(10)).await;
            turns += 1.0;
            prompt += if begun.elapsed() < Duration::from_millis(50) { 1.0 } else { 0.0 };
        }
    };
    let result = tokio::select! { result = work => result, () = others => unreachable!() };
    (result, prompt / turns)
}

#[tokio::test]
async fn a_write_that_waits_for_the_lock_does_not_delay_other_requests_of_its_thread() {
    let database = Database::fresh(Engine::Sqlite).await.unwrap();
    let wait = Duration::from_secs(1);
    let store = Engine::Sqlite.open_with(database.url(), 2, wait).await.unwrap();
    let lock = database.hold_lock_on("users").await;

    let (begun, turns) = turns_during(store.begin()).await;
    assert!(matches!(begun.map(drop), Err(Error::Unavailable(_))), "a transaction");
    assert!(turns > 0.5, "{turns} of the turns came in time");
    let (written, turns) = turns_during(store.check_writable()).await;
    assert!(matches!(written, Err(Error::Unavailable(_))), "a single statement");
    assert!(turns > 0.5, "{turns} of the turns came in time");
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
