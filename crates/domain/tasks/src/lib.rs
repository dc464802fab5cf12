//! Tasks: background work of the platform that follows a change. Clients cannot see tasks; asynchronous writes of
//! clients are jobs.
//!
//! A task is stored in the transaction of the change ([`civitas_kernel::TaskQueue`]), claimed by one worker with a
//! lease, and removed when it is done or given up. It may run twice (a crash between its effect and its end), so its
//! effect must be idempotent, or the task must be ended in the transaction of the effect.
//!
//! ```
//! use civitas_tasks::next_attempt;
//! use time::Duration;
//!
//! assert_eq!(next_attempt(1), Some(Duration::seconds(30)));
//! assert_eq!(next_attempt(2), Some(Duration::minutes(2)), "the waits grow");
//! assert_eq!(next_attempt(8), None, "the eighth attempt is the last");
//! ```

#[cfg(feature = "conformance")]
pub mod conformance;
mod log;
mod model;
mod ports;

#[cfg(any(test, feature = "mocks"))]
pub use log::MockTaskLog;
pub use log::{TaskFilter, TaskLog, WaitingTask};
pub use model::{LEASE, MAX_RUN, Task, TaskOutcome, next_attempt};
pub use ports::*;
