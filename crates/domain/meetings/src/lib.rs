//! Meetings: title, time, registered users and visibility (contract 06 §5). The interface reads them; administrators
//! and archives create and change them. A private meeting that is not transparent is visible to its registered users, to users with a role
//! in its space, and to administrators.
//!
//! ```
//! use civitas_kernel::{ComponentId, Translated};
//! use civitas_meetings::Meeting;
//! use time::macros::datetime;
//!
//! let now = datetime!(2026-03-01 09:30 UTC);
//! let open = Meeting::new(ComponentId(1), Translated::default(), now, now);
//! assert!(!open.is_restricted());
//! assert!(Meeting { private: true, ..open.clone() }.is_restricted());
//! assert!(!Meeting { private: true, transparent: true, ..open }.is_restricted());
//! ```

mod admin;
#[cfg(feature = "conformance")]
pub mod conformance;
mod detail;
mod model;
mod ports;
mod reading;

pub use admin::MeetingAdministration;
pub use detail::{MeetingDetail, MeetingSummary};
pub use model::{Audience, Meeting};
pub use ports::*;
pub use reading::{Meetings, READ_MEETINGS};
