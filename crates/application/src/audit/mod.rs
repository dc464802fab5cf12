//! The audit trail: verifies its chains (contract 04 §1).

pub(crate) mod command_entries;
mod trail;

pub use command_entries::client_actor;
pub use trail::{AuditTrail, ChainFault, ChainVerification};
