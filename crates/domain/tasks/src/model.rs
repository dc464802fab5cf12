//! Tasks and the outcomes of their attempts.

use civitas_kernel::{Error, OrganizationId, Result, TaskId, TaskPayload};
use serde_json::Value;
use std::borrow::Cow;
use time::{Duration, OffsetDateTime};

/// The duration of a lease. There is no heartbeat: [`MAX_RUN`] is shorter.
pub const LEASE: Duration = Duration::seconds(120);
/// The time limit of one run of a task.
pub const MAX_RUN: Duration = Duration::seconds(90);

/// The delays after the attempts of a task, in seconds: 30 s, 2 min, 10 min, 30 min, 2 h, 6 h, 12 h.
const WAITS: [i64; 7] = [30, 120, 600, 1800, 7200, 21_600, 43_200];

/// The delay after an attempt with a transient error; the first `attempt` is 1. `None` after the last, the eighth: the
/// task is given up. A handler with its own delays returns [`TaskOutcome::Again`].
///
/// Source: docs/decisions/0014-tasks-of-the-platform.md.
pub fn next_attempt(attempt: i64) -> Option<Duration> {
    let index = usize::try_from(attempt.checked_sub(1)?).ok()?;
    WAITS.get(index).copied().map(Duration::seconds)
}

/// A task a worker has claimed.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    /// Its id.
    pub id: TaskId,
    /// The organization.
    pub organization: OrganizationId,
    /// Its kind: the [`TaskPayload::KIND`] of its payload.
    pub kind: String,
    /// The payload as JSON.
    pub payload: Value,
    /// The number of the attempt, from 1. Id and attempt identify the claim: with another attempt the task belongs to
    /// another worker.
    pub attempt: i64,
}

impl Task {
    /// The payload.
    ///
    /// # Errors
    /// `Internal` when it is not of this kind, or was written by a version with another format.
    pub fn read<P: TaskPayload>(&self) -> Result<P> {
        if self.kind != P::KIND {
            return Err(Error::internal(format!("a task of the kind {} is no {}", self.kind, P::KIND)));
        }
        serde_json::from_value(self.payload.clone()).map_err(Error::internal)
    }
}

/// The outcome of a run of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskOutcome {
    /// It is done.
    Done,
    /// Retry, not before this time.
    Again(OffsetDateTime),
    /// It will never succeed; the reason is for the log.
    GiveUp(Cow<'static, str>),
}

impl TaskOutcome {
    /// A transient error: retry after the delay of this attempt, or give up after the last.
    pub fn after_error(fault: &Error, attempt: i64, now: OffsetDateTime) -> Self {
        match next_attempt(attempt) {
            Some(wait) => Self::Again(now + wait),
            None => Self::GiveUp(fault.to_string().into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::{Deserialize, Serialize};
    use serde_json::json;
    use time::macros::datetime;
    use uuid::Uuid;

    const NOW: OffsetDateTime = datetime!(2026-03-01 09:30 UTC);

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Look {
        at: i64,
    }

    impl TaskPayload for Look {
        const KIND: &'static str = "look";
    }

    #[test]
    fn waits_grow_and_end() {
        let waits: Vec<_> = (1..).map_while(next_attempt).collect();
        assert_eq!(waits.len(), 7);
        assert!(waits.is_sorted() && waits[0] < LEASE);
        for none in [0, -1, 8, i64::MIN, i64::MAX] {
            assert_eq!(next_attempt(none), None, "{none}");
        }
    }

    #[test]
    fn a_fault_is_tried_again_until_the_last_attempt() {
        let fault = Error::Unavailable("no route".into());
        assert_eq!(TaskOutcome::after_error(&fault, 1, NOW), TaskOutcome::Again(NOW + Duration::seconds(30)));
        assert!(
            matches!(TaskOutcome::after_error(&fault, 8, NOW), TaskOutcome::GiveUp(reason) if reason.contains("no route"))
        );
    }

    #[test]
    fn a_payload_is_read_as_its_own_kind_only() {
        let task = |kind: &str, payload| Task {
            id: TaskId(Uuid::nil()),
            organization: OrganizationId(1),
            kind: kind.to_owned(),
            payload,
            attempt: 1,
        };
        assert_eq!(task("look", json!({"at": 7})).read::<Look>().unwrap(), Look { at: 7 });
        assert!(task("mail", json!({"at": 7})).read::<Look>().is_err());
        assert!(task("look", json!({})).read::<Look>().is_err());
    }
}
