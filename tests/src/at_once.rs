//! Tests that wait most of their time, and tests of many requests at once.

use crate::service::Answer;
use futures_util::future::join_all;
use std::time::Duration;
use tokio::time::sleep;

/// Runs a test on all of these at once, as the services of both engines. Not for tests that measure.
pub async fn at_once<T, F: Future<Output = ()>>(all: impl IntoIterator<Item = T>, test: impl Fn(T) -> F) {
    join_all(all.into_iter().map(test)).await;
}

/// Asks again after 503, as a client does: of hundreds of requests at once, a slow machine refuses some. At most 20 times.
pub async fn until_not_busy<F: Future<Output = Answer>>(ask: impl Fn() -> F) -> Answer {
    let mut answer = ask().await;
    for _ in 0..20 {
        if answer.status.as_u16() != 503 {
            break;
        }
        sleep(Duration::from_millis(500)).await;
        answer = ask().await;
    }
    answer
}
