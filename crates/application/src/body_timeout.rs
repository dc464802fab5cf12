//! How long the body of a request may take to arrive. Only the time in which the server waits for the client counts.

use std::time::Duration;
use tokio::time::{Instant, timeout};

/// The time limit for the first bytes of a body that is read as a whole; each further KiB adds one second.
const TIMEOUT: Duration = Duration::from_secs(10);
/// A window of an upload.
const WINDOW: Duration = Duration::from_secs(10);
/// What must arrive in a window, in bytes: 16 KiB a second.
const WINDOW_BYTES: u64 = 160 * 1024;

/// The pace of one body.
#[derive(Debug)]
pub struct BodyTimeout {
    rule: Rule,
    /// The time waited, and the bytes received, since the beginning or in this window.
    waited: Duration,
    received: u64,
}

#[derive(Debug, Clone, Copy)]
enum Rule {
    /// The whole body takes at most this long, and the first KiB ten seconds, and each further one a second.
    Whole(Duration),
    /// Each 160 KiB take at most ten seconds, and so does the rest at the end.
    Windows,
}

impl BodyTimeout {
    /// For a body that is kept in memory: it takes at most `limit`.
    pub fn for_whole_body(limit: Duration) -> Self {
        Self { rule: Rule::Whole(limit), waited: Duration::ZERO, received: 0 }
    }

    /// For an upload of any length: 16 KiB a second at least, over ten seconds.
    pub fn for_upload() -> Self {
        Self { rule: Rule::Windows, waited: Duration::ZERO, received: 0 }
    }

    /// Waits for the next chunk. `None` if the client was too slow.
    pub async fn wait<F: Future>(&mut self, chunk: F) -> Option<F::Output> {
        let begun = Instant::now();
        let chunk = timeout(self.left(), chunk).await.ok();
        self.waited += begun.elapsed();
        chunk
    }

    /// Counts the bytes of a chunk.
    pub fn received(&mut self, bytes: u64) {
        self.received += bytes;
        if matches!(self.rule, Rule::Windows) && self.received >= WINDOW_BYTES {
            (self.waited, self.received) = (Duration::ZERO, 0);
        }
    }

    fn left(&self) -> Duration {
        let limit = match self.rule {
            Rule::Whole(limit) => limit.min(TIMEOUT + Duration::from_secs(self.received / 1024)),
            Rule::Windows => WINDOW,
        };
        limit.saturating_sub(self.waited)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::{pending, ready};
    use tokio::time::sleep;

    const SECOND: Duration = Duration::from_secs(1);

    /// The seconds after which a body ends that sends so many bytes each second, and whether it is complete.
    fn seconds(mut pace: BodyTimeout, bytes: u64, length: u64) -> (u64, bool) {
        let (mut seconds, mut sent) = (0, 0);
        while sent < length {
            if pace.left() < SECOND {
                return (seconds, false);
            }
            pace.waited += SECOND;
            pace.received(bytes);
            (seconds, sent) = (seconds + 1, sent + bytes);
        }
        (seconds, true)
    }

    #[test]
    fn a_body_that_drips_ends_after_the_limit() {
        let minute = Duration::from_secs(60);
        assert_eq!(seconds(BodyTimeout::for_whole_body(minute), 1, 1 << 20), (10, false));
        assert_eq!(seconds(BodyTimeout::for_whole_body(minute), 2 * 1024, 1 << 20), (60, false));
        assert_eq!(seconds(BodyTimeout::for_whole_body(minute), 20 * 1024, 1 << 20), (52, true));
    }

    #[test]
    fn an_upload_that_keeps_its_speed_may_take_any_time() {
        assert_eq!(seconds(BodyTimeout::for_upload(), 1, 100 << 20), (10, false));
        assert_eq!(seconds(BodyTimeout::for_upload(), 12 * 1024, 100 << 20), (10, false));
        assert_eq!(seconds(BodyTimeout::for_upload(), 20 * 1024, 100 << 20), (5_120, true));
    }

    #[tokio::test]
    async fn only_the_time_of_the_client_counts() {
        let limit = Duration::from_millis(500);
        let mut pace = BodyTimeout::for_whole_body(limit);
        sleep(limit * 2).await;
        assert_eq!(pace.wait(ready(1)).await, Some(1));
        assert!(pace.left() > Duration::ZERO);
        assert_eq!(pace.wait(pending::<()>()).await, None);
        assert_eq!(pace.left(), Duration::ZERO);
    }
}
