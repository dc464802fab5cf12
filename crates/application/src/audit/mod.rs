//! The audit trail: verifies its chains, and removes old entries (contract 04 §1).

pub(crate) mod of_commands;
mod retention;
mod trail;

pub use of_commands::client_actor;
pub use retention::AuditRetention;
pub use trail::{AuditTrail, ChainFault, Verification};
