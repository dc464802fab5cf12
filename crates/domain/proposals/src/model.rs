//! Proposals, their states, and votes.

use crate::Rules;
use civitas_kernel::{ClientId, ComponentId, ProposalId, SpaceRef, StateId, Translated, UserId};
use serde_json::{Map, Value};
use std::sync::Arc;
use time::OffsetDateTime;

/// A proposal; a draft while `published_at` is `None`.
#[derive(Debug, Clone, PartialEq)]
pub struct Proposal {
    /// The component it belongs to.
    pub component: ComponentId,
    /// The title; `{}` when never set.
    pub title: Translated,
    /// The text; `{}` when never set.
    pub body: Translated,
    /// The users who wrote it, in the order of joining; the first is the author. Empty: official.
    pub authors: Vec<UserId>,
    /// The API client it was created through; `None` for the web application.
    pub client: Option<ClientId>,
    /// When it was published.
    pub published_at: Option<OffsetDateTime>,
    /// The state of its answer, public or not.
    pub state: Option<StateId>,
    /// When the answer was made public; `None` while it is not.
    pub state_published_at: Option<OffsetDateTime>,
    /// When the author withdrew it.
    pub withdrawn_at: Option<OffsetDateTime>,
    /// When moderation hid it.
    pub hidden_at: Option<OffsetDateTime>,
    /// When it was deleted.
    pub deleted_at: Option<OffsetDateTime>,
    /// The number of its own scope of action.
    pub scope_id: Option<i64>,
    /// Free data of clients.
    pub extended_data: Map<String, Value>,
    /// When it was created.
    pub created_at: OffsetDateTime,
    /// When it was last changed.
    pub updated_at: OffsetDateTime,
}

impl Proposal {
    /// A new, empty draft without author or client.
    pub fn draft(component: ComponentId, now: OffsetDateTime) -> Self {
        Self {
            component,
            title: Translated::default(),
            body: Translated::default(),
            authors: Vec::new(),
            client: None,
            published_at: None,
            state: None,
            state_published_at: None,
            withdrawn_at: None,
            hidden_at: None,
            deleted_at: None,
            scope_id: None,
            extended_data: Map::new(),
            created_at: now,
            updated_at: now,
        }
    }
}

/// A state a proposals component owns.
#[derive(Debug, Clone, PartialEq)]
pub struct ProposalState {
    /// The component.
    pub component: ComponentId,
    /// Its name in filters and settings.
    pub token: String,
    /// Its name for people.
    pub title: Translated,
    /// The colour behind it, as CSS writes it.
    pub bg_color: Option<String>,
    /// The colour of its text, as CSS writes it.
    pub text_color: Option<String>,
}

impl ProposalState {
    /// The tokens every proposals component has.
    pub const BUILT_IN: [&str; 4] = ["not_answered", "evaluating", "accepted", "rejected"];
}

/// What everybody may know of a proposal's state (contract 06 §1.6).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PublicState {
    /// No answer, or none that is public yet.
    None,
    /// The author withdrew it.
    Withdrawn,
    /// A public answer.
    Answered(StateId, String),
}

impl PublicState {
    /// `withdrawn`, the token of the answer, or empty.
    pub fn token(&self) -> &str {
        match self {
            Self::None => "",
            Self::Withdrawn => "withdrawn",
            Self::Answered(_, token) => token,
        }
    }
}

/// Where a proposal stands: what it must know of its component and space, now.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    /// The component.
    pub component: ComponentId,
    /// Its name.
    pub name: Translated,
    /// Its space.
    pub space: SpaceRef,
    /// The component's scope of action, else its space's.
    pub scope: Option<i64>,
    /// The rules in force.
    pub rules: Rules,
    /// Whether the reader, if a user, may write and vote here (contract 05 §1.3).
    pub participates: bool,
    /// The newest change of component, space and steps.
    pub changed_at: OffsetDateTime,
}

/// A proposal as a viewer reads it.
#[derive(Debug, Clone, PartialEq)]
pub struct ProposalDetail {
    /// The proposal's id.
    pub id: ProposalId,
    /// The proposal.
    pub proposal: Proposal,
    /// The public name of the client it was created through.
    pub client_uid: Option<String>,
    /// What everybody may know of its state.
    pub state: PublicState,
    /// The weight of the reader's own vote.
    pub voted: Option<i64>,
    /// Where it stands.
    pub place: Arc<Place>,
    /// The newest change of the proposal, its place and the reader's vote.
    pub changed_at: OffsetDateTime,
}

impl ProposalDetail {
    /// The same, as an anonymous viewer reads it.
    #[must_use]
    pub fn for_anonymous(&self) -> Self {
        let place = Place { participates: false, ..Place::clone(&self.place) };
        let changed_at = self.proposal.updated_at.max(place.changed_at);
        Self { voted: None, place: Arc::new(place), changed_at, ..self.clone() }
    }

    /// Whether votes are accepted on it, by anybody (contract 06 §1.7): independent of the reader.
    pub fn can_vote(&self) -> bool {
        let proposal = &self.proposal;
        proposal.published_at.is_some() && self.place.rules.voting_is_open() && self.is_votable()
    }

    /// Whether it is in the votable set of its component (contract 05 §3.8).
    pub fn is_votable(&self) -> bool {
        let proposal = &self.proposal;
        proposal.published_at.is_some()
            && proposal.hidden_at.is_none()
            && proposal.deleted_at.is_none()
            && self.place.rules.is_votable(self.state.token())
    }
}

/// A vote of a user on a proposal. One user has one vote on one proposal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vote {
    /// On what.
    pub proposal: ProposalId,
    /// Whose.
    pub user: UserId,
    /// 0 is an abstention.
    pub weight: i64,
    /// Whether it waits for the user's minimum of votes in the component; it counts for the user only.
    pub temporary: bool,
    /// When it was cast.
    pub created_at: OffsetDateTime,
    /// When it was last changed.
    pub updated_at: OffsetDateTime,
}
