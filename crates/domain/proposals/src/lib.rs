//! Proposals, their drafts, and the votes on them (contract 06 §1 to §4).
//!
//! A draft belongs to one user and one API client; publishing it makes it a proposal; votes are cast on published
//! proposals while the step of their component allows it.
//!
//! ```
//! use civitas_proposals::{ComponentRules, VotingManifest};
//!
//! let voting_manifest = VotingManifest::Cards;
//! let rules = ComponentRules { votes_enabled: true, voting_manifest, ..ComponentRules::default() };
//! assert_eq!(rules.weights(), [1, 2, 3]);
//! ```

mod admin;
#[cfg(feature = "conformance")]
pub mod conformance;
mod drafts;
mod model;
mod ports;
mod reading;
mod rules;
mod state_admin;
mod texts;
mod votes;

pub use admin::ProposalAdministration;
pub use drafts::{CreateDraft, Drafts, PublishDraft, UpdateDraft, UpdatedDraft, WRITE_DRAFTS, WithdrawDraft};
pub use model::{Proposal, ProposalContext, ProposalDetail, ProposalState, PublicState, Vote};
pub use ports::*;
pub use reading::{Proposals, READ_PROPOSALS};
pub use rules::{ComponentRules, VoteTally, VotingManifest, VotingStatus, weight_label};
pub use state_admin::{MAX_STATES, StateAdministration};
pub use texts::{DraftErrors, draft_texts, plain_text};
pub use votes::{CAST_VOTES, CastResult, CastVote, READ_VOTES, RemoveVote, Votes};
