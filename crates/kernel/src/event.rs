//! Events: notifications of changes for receivers.

use crate::{Ability, MeetingId, OrganizationId, ProposalId, SpaceRef, UserId};

/// The name of an event is the permission to be notified of it (contract 09 C.1).
pub type EventName = Ability;

/// A change that receivers can be notified of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// The name of the event.
    pub name: EventName,
    /// The record.
    pub subject: Subject,
}

/// The record an event is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// A proposal that is not public yet.
    Draft(ProposalId),
    /// A public proposal.
    Proposal(ProposalId),
    /// A meeting.
    Meeting(MeetingId),
    /// A participatory space.
    Space(SpaceRef),
    /// An account.
    User(UserId),
    /// The organization itself.
    Organization(OrganizationId),
}
