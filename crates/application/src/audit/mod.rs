//! The audit trail: verifies its chains (contract 04 §1).

pub(crate) mod of_commands;
mod trail;

pub use of_commands::client_actor;
pub use trail::{AuditTrail, ChainFault, Verification};
