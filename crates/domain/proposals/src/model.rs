//! Proposals, their states, and votes.

use crate::ComponentRules;
use civitas_kernel::extended_data::ExtendedDataValue;
use civitas_kernel::limits::MAX_LINE_CHARS;
use civitas_kernel::records::{Entity, RecordField, RecordFields, SearchTexts};
use civitas_kernel::{
    Ability, ClientId, ComponentId, Error, Event, EventName, Locale, ProposalId, SpaceRef, StateId, Subject,
    Translated, UserId, VoteId,
};
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
    pub extended_data: ExtendedDataValue,
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
            extended_data: ExtendedDataValue::default(),
            created_at: now,
            updated_at: now,
        }
    }
}

impl Proposal {
    /// Makes a draft public.
    pub fn publish(&mut self, now: OffsetDateTime) {
        self.published_at = Some(now);
    }

    /// Answers it with a state of its component, or with none. The time of a public answer is that of the first.
    pub fn answer(&mut self, state: Option<StateId>, is_public: bool, now: OffsetDateTime) {
        self.state = state;
        self.state_published_at = is_public.then(|| self.state_published_at.unwrap_or(now));
    }

    /// Withdraws it on behalf of its author. A second call keeps the time.
    pub fn withdraw(&mut self, now: OffsetDateTime) {
        self.withdrawn_at.get_or_insert(now);
    }

    /// Hides it from all viewers, as moderation does. A second call keeps the time.
    pub fn hide(&mut self, now: OffsetDateTime) {
        self.hidden_at.get_or_insert(now);
    }

    /// Shows a hidden proposal again.
    pub fn show(&mut self) {
        self.hidden_at = None;
    }

    /// The public part of its state: withdrawn, or the public answer.
    fn public_answer(&self) -> (bool, Option<StateId>) {
        let withdrawn = self.withdrawn_at.is_some();
        (withdrawn, self.state.filter(|_| !withdrawn && self.state_published_at.is_some()))
    }

    /// Whether it is visible to viewers who are not its authors.
    fn is_listed(&self) -> bool {
        self.published_at.is_some() && self.hidden_at.is_none() && self.deleted_at.is_none()
    }

    /// The names of the events of this state after that one, or of a new proposal (contract 09 C.1). Deleted ones have
    /// none.
    fn event_names(&self, before: Option<&Self>) -> Vec<EventName> {
        if self.deleted_at.is_some() {
            return Vec::new();
        }
        let rewritten = before.is_some_and(|old| (&old.title, &old.body) != (&self.title, &self.body));
        match (before.map(|old| old.published_at.is_some()), self.published_at.is_some()) {
            (None, false) => vec![Ability::DraftProposalCreation],
            (Some(false) | None, true) => vec![Ability::ProposalCreation],
            (Some(_), false) if rewritten => vec![Ability::DraftProposalUpdate],
            (Some(_), false) => Vec::new(),
            (Some(true), true) => {
                let answered = before.is_some_and(|old| old.public_answer() != self.public_answer());
                let edited = rewritten.then_some(Ability::ProposalUpdate);
                edited.into_iter().chain(answered.then_some(Ability::ProposalStateChange)).collect()
            }
        }
    }
}

impl Entity for Proposal {
    type Id = ProposalId;

    civitas_kernel::time_fields!(updated_at, deleted_at);

    fn events(&self, id: ProposalId, before: Option<&Self>) -> Vec<Event> {
        let subject = if self.published_at.is_some() { Subject::Proposal(id) } else { Subject::Draft(id) };
        self.event_names(before).into_iter().map(|name| Event { name, subject }).collect()
    }

    fn lists_changed(&self, before: Option<&Self>) -> Vec<&'static str> {
        let is_lost = before.is_some_and(|before| {
            let withdrawn = before.withdrawn_at.is_none() && self.withdrawn_at.is_some();
            before.is_listed() && (withdrawn || !self.is_listed())
        });
        if is_lost { vec!["proposals"] } else { Vec::new() }
    }

    fn search_texts(&self) -> Option<SearchTexts> {
        Some(SearchTexts::new(&self.title, Some(&self.body)))
    }

    /// A user has one draft in a component.
    fn key_taken_error() -> Error {
        Error::rejected("Draft Proposal already exists for this component")
    }
}

/// A state a proposals component owns.
#[derive(Debug, Clone, PartialEq)]
pub struct ProposalState {
    /// The component.
    pub component: ComponentId,
    /// Its name in filters and settings.
    pub token: String,
    /// Its title.
    pub title: Translated,
    /// The colour behind it, as CSS writes it.
    pub bg_color: Option<String>,
    /// The colour of its text, as CSS writes it.
    pub text_color: Option<String>,
    /// The time of the last change.
    pub updated_at: OffsetDateTime,
}

impl ProposalState {
    /// The tokens of the built-in states.
    pub const BUILT_IN_STATES: [&str; 4] = ["not_answered", "evaluating", "accepted", "rejected"];

    /// The built-in states of a new proposals component.
    pub fn built_in(component: ComponentId, now: OffsetDateTime) -> [Self; 4] {
        let titles = [
            ["Not answered", "Sans réponse", "Sin respuesta"],
            ["Evaluating", "En cours d’évaluation", "En evaluación"],
            ["Accepted", "Acceptée", "Aceptada"],
            ["Rejected", "Rejetée", "Rechazada"],
        ];
        std::array::from_fn(|i| {
            let texts = [Locale::EN, Locale::FR, Locale::ES].into_iter().zip(titles[i]);
            let title = texts.map(|(locale, text)| (locale, text.to_owned())).collect();
            let token = Self::BUILT_IN_STATES[i].to_owned();
            Self { component, token, title, bg_color: None, text_color: None, updated_at: now }
        })
    }
}

type StateField = RecordField<ProposalState>;

impl RecordFields for ProposalState {
    const NAME: &'static str = "proposal_state";
    const FIELDS: &'static [StateField] = &[
        StateField::texts("title", MAX_LINE_CHARS, |s| &s.title).required(),
        StateField::text("bg_color", |s| s.bg_color.clone().unwrap_or_default()),
        StateField::text("text_color", |s| s.text_color.clone().unwrap_or_default()),
    ];
}

impl Entity for ProposalState {
    type Id = StateId;

    civitas_kernel::time_fields!(updated_at);

    /// A component has one state of a token.
    fn key_taken_error() -> Error {
        Error::rejected("token has already been taken")
    }
}

/// The public part of a proposal's state (contract 06 §1.6).
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

/// The context of a proposal: the current data of its component and space.
#[derive(Debug, Clone, PartialEq)]
pub struct ProposalContext {
    /// The component.
    pub component: ComponentId,
    /// Its name.
    pub name: Translated,
    /// Its space.
    pub space: SpaceRef,
    /// The component's scope of action, else its space's.
    pub scope: Option<i64>,
    /// The rules in force.
    pub rules: ComponentRules,
    /// Whether the reader, if a user, may write and vote here (contract 05 §1.3).
    pub participates: bool,
    /// The latest change of component, space and steps.
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
    /// The public part of its state.
    pub state: PublicState,
    /// The weight of the reader's own vote.
    pub voted: Option<i64>,
    /// How many votes it has, temporary ones not among them (contract 06 §4.3); also where they are hidden.
    pub votes_count: i64,
    /// Its component and space.
    pub context: Arc<ProposalContext>,
    /// The latest change of the proposal, its context, its number of votes and the reader's vote.
    pub changed_at: OffsetDateTime,
}

impl ProposalDetail {
    /// The detail after its proposal was saved in this state, for the same viewer.
    #[must_use]
    pub fn with_proposal(self, proposal: Proposal) -> Self {
        Self { changed_at: self.changed_at.max(proposal.updated_at), proposal, ..self }
    }

    /// The detail after the viewer has cast this vote on the proposal.
    #[must_use]
    pub fn with_vote(self, vote: &Vote) -> Self {
        Self {
            voted: Some(vote.weight),
            votes_count: self.votes_count + i64::from(!vote.temporary),
            changed_at: self.changed_at.max(vote.updated_at),
            ..self
        }
    }

    /// `votes_count` of its `meta` (contract 06 §1.7): only when it is published and the step does not hide votes.
    pub fn shown_votes(&self) -> Option<i64> {
        let is_shown = self.proposal.published_at.is_some() && !self.context.rules.votes_hidden;
        is_shown.then_some(self.votes_count)
    }

    /// The detail as an anonymous viewer reads it.
    #[must_use]
    pub fn for_anonymous(&self) -> Self {
        let context = ProposalContext { participates: false, ..ProposalContext::clone(&self.context) };
        let changed_at = self.proposal.updated_at.max(context.changed_at);
        Self { voted: None, context: Arc::new(context), changed_at, ..self.clone() }
    }

    /// Whether votes are accepted on it (contract 06 §1.7), independent of the reader.
    pub fn can_vote(&self) -> bool {
        let proposal = &self.proposal;
        proposal.published_at.is_some() && self.context.rules.voting_is_open() && self.is_votable()
    }

    /// Whether it is in the votable set of its component (contract 05 §3.8).
    pub fn is_votable(&self) -> bool {
        let proposal = &self.proposal;
        proposal.published_at.is_some()
            && proposal.hidden_at.is_none()
            && proposal.deleted_at.is_none()
            && self.context.rules.is_votable(self.state.token())
    }
}

/// A vote of a user on a proposal. One user has one vote on one proposal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vote {
    /// The proposal.
    pub proposal: ProposalId,
    /// The user.
    pub user: UserId,
    /// 0 is an abstention.
    pub weight: i64,
    /// Whether it is temporary until the user reaches the minimum of votes in the component; until then it is counted
    /// for the user only.
    pub temporary: bool,
    /// When it was cast.
    pub created_at: OffsetDateTime,
    /// When it was last changed.
    pub updated_at: OffsetDateTime,
}

impl Entity for Vote {
    type Id = VoteId;

    civitas_kernel::time_fields!(updated_at);

    /// A user has one vote on a proposal.
    fn key_taken_error() -> Error {
        Error::rejected("Already voted")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use civitas_kernel::SpaceKind;
    use std::time::Duration;

    const NOW: OffsetDateTime = OffsetDateTime::UNIX_EPOCH;

    fn detail(published_at: Option<OffsetDateTime>, votes_hidden: bool) -> ProposalDetail {
        let context = ProposalContext {
            component: ComponentId(1),
            name: Translated::default(),
            space: SpaceRef { kind: SpaceKind::ParticipatoryProcesses, id: 1 },
            scope: None,
            rules: ComponentRules { votes_hidden, ..ComponentRules::default() },
            participates: true,
            changed_at: NOW,
        };
        ProposalDetail {
            id: ProposalId(1),
            proposal: Proposal { published_at, ..Proposal::draft(ComponentId(1), NOW) },
            client_uid: None,
            state: PublicState::None,
            voted: None,
            votes_count: 4,
            context: Arc::new(context),
            changed_at: NOW,
        }
    }

    #[test]
    fn the_number_of_votes_is_shown_of_published_proposals_unless_the_step_hides_it() {
        assert_eq!(detail(Some(NOW), false).shown_votes(), Some(4));
        assert_eq!(detail(Some(NOW), true).shown_votes(), None);
        assert_eq!(detail(None, false).shown_votes(), None);
    }

    #[test]
    fn a_vote_is_counted_once_it_is_final() {
        let later = NOW + Duration::from_secs(1);
        let vote = |temporary| Vote {
            proposal: ProposalId(1),
            user: UserId(1),
            weight: 3,
            temporary,
            created_at: later,
            updated_at: later,
        };
        for (temporary, counted) in [(true, 4), (false, 5)] {
            let voted = detail(Some(NOW), false).with_vote(&vote(temporary));
            assert_eq!((voted.voted, voted.votes_count, voted.changed_at), (Some(3), counted, later));
        }
    }
}
