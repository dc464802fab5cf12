//! Jobs: the durable record of an asynchronous write (contract 09 part A).
//!
//! A job is claimed by one worker under a lease, run in one transaction with the write it records, and finished
//! there; so it may start twice, and commit once.
//!
//! ```
//! use civitas_jobs::{JobFailure, next_attempt};
//! use civitas_kernel::Error;
//! use time::Duration;
//!
//! assert_eq!(next_attempt(1), Some(Duration::seconds(5)));
//! assert_eq!(next_attempt(3), None, "the third loss is the last");
//! assert_eq!(JobFailure::from(&Error::Forbidden).class, "Forbidden");
//! ```

#[cfg(feature = "conformance")]
pub mod conformance;
mod log;
mod model;
mod ports;
mod service;

#[cfg(any(test, feature = "mocks"))]
pub use log::MockJobLog;
pub use log::{JobClient, JobDetail, JobLog, JobLogFilter, JobUser, LoggedJob};
pub use model::{
    HEARTBEAT, Job, JobAnswer, JobFailure, JobOwner, JobPayload, JobStatus, JobSummary, LEASE, MAX_ATTEMPTS,
    next_attempt,
};
pub use ports::*;
pub use service::{Jobs, LIST_JOBS};
