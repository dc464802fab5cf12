//! Events: what receivers may want to know of a change.

use crate::{Ability, OrganizationId, ProposalId, SpaceRef, UserId};

/// The name of an event is the permission to be notified of it (contract 09 C.1).
pub type EventName = Ability;

/// Something that happened and that receivers may want to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// What happened.
    pub name: EventName,
    /// To what.
    pub subject: Subject,
}

/// The record an event is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// A proposal that is not public yet.
    Draft(ProposalId),
    /// A public proposal.
    Proposal(ProposalId),
    /// A participatory space.
    Space(SpaceRef),
    /// A person's account.
    User(UserId),
    /// The organization itself.
    Organization(OrganizationId),
}
