//! The audit trail: who changed what, when, and from where (contract 04 §1). Entries are never changed, but the
//! details of those about a person can be erased. The entries of an organization, and those of the deployment, are a chain each: every entry has the SHA-256 of the one before it.
//!
//! ```
//! use civitas_audit::{Action, Actor, ChainHead, NewAuditEntry};
//! use civitas_kernel::OrganizationId;
//! use time::macros::datetime;
//!
//! let actor = Actor::CommandLine { command: "civitas api-client grant".to_owned() };
//! let new_entry = NewAuditEntry::new(actor, Action::ApiClientPermissionsGranted)
//!     .in_organization(Some(OrganizationId(1)))
//!     .with_object("api_client", "id_4fRk29aQpLx0WmZt", "Riverton mobile app")
//!     .with_change("permissions", Some("blogs.read"), Some("blogs.read, blogs.write"));
//! let head = ChainHead::default();
//! let entry = new_entry.append_to(&head, datetime!(2026-03-01 09:30 UTC));
//! assert_eq!(entry.number, 1);
//! assert!(entry.check_chain_link(head.number, &head.hash).is_ok());
//! ```

mod action;
mod actor;
mod chain;
mod changes;
#[cfg(feature = "conformance")]
pub mod conformance;
mod entry;
mod ports;

pub use action::Action;
pub use actor::{Actor, ActorKind};
pub use chain::{ChainError, ChainHead, EMPTY_HASH};
pub use changes::{FieldChange, MAX_CHANGES, MAX_TEXT, is_secret};
pub use entry::{AuditEntry, Details, NewAuditEntry, Object};
pub use ports::*;
