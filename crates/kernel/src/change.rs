//! A change: a new state and its events.

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

/// A new state and its events. A store keeps both, or neither.
#[derive(Debug, Clone, PartialEq)]
pub struct Change<T> {
    /// What to keep.
    pub state: T,
    /// What to announce; empty when nobody needs to know.
    pub events: Vec<Event>,
}

impl<T> Change<T> {
    /// A change nobody needs to know of.
    pub fn quiet(state: T) -> Self {
        Self { state, events: Vec::new() }
    }

    /// Adds an event.
    #[must_use]
    pub fn announcing(mut self, name: EventName, subject: Subject) -> Self {
        self.events.push(Event { name, subject });
        self
    }
}
