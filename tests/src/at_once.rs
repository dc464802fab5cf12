//! Tests that wait most of their time.

use futures_util::future::join_all;

/// Runs a test on all of these at once, as the services of both engines. Not for tests that measure.
pub async fn at_once<T, F: Future<Output = ()>>(all: impl IntoIterator<Item = T>, test: impl Fn(T) -> F) {
    join_all(all.into_iter().map(test)).await;
}
