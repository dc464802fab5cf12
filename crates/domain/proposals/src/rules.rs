//! The rules of writing and voting from the settings of a proposals component (contract 05 §3.6 to §3.8).

use civitas_kernel::{ComponentId, Locale, Locales, ProposalId, Translated};

/// The weights of votes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum VotingManifest {
    /// One weight: 1.
    #[default]
    Simple,
    /// Three cards: red 1, yellow 2, green 3.
    Cards,
}

/// The current rules of a component: global settings, and the settings of the current step.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent settings, named as in the contract")]
pub struct ComponentRules {
    /// Voting is on in this step.
    pub votes_enabled: bool,
    /// Voting is shown but blocked in this step.
    pub votes_blocked: bool,
    /// The number of votes of a proposal is not shown in this step.
    pub votes_hidden: bool,
    /// Only proposals whose state is in `votes_enabled_states` can be voted on.
    pub votes_enabled_by_status: bool,
    /// The tokens of those states.
    pub votes_enabled_states: Vec<String>,
    /// The weights of votes.
    pub voting_manifest: VotingManifest,
    /// Weight 0 is accepted.
    pub abstain: bool,
    /// The most votes of a user in the component; 0 = unlimited.
    pub vote_limit: i64,
    /// The minimum of votes before a user's votes are final; 0 = all are.
    pub minimum_votes_per_user: i64,
    /// The most final votes on a proposal; 0 = unlimited.
    pub threshold_per_proposal: i64,
    /// Votes beyond the threshold are accepted.
    pub can_accumulate_beyond_threshold: bool,
    /// The most published proposals of a user; 0 = unlimited.
    pub proposal_limit: i64,
    /// The longest body in characters; 0 = unlimited.
    pub proposal_length: i64,
    /// Participants are invited to write in this step. Advisory: drafts are accepted anyway.
    pub creation_enabled: bool,
}

/// The most a user may have; 0 means no limit.
fn below(count: i64, limit: i64) -> bool {
    limit == 0 || count < limit
}

impl ComponentRules {
    /// Whether votes are accepted at all now.
    pub fn voting_is_open(&self) -> bool {
        self.votes_enabled && !self.votes_blocked
    }

    /// The weights a vote can have, ascending; none while voting is off, blocked or not.
    pub fn weights(&self) -> Vec<i64> {
        if !self.votes_enabled {
            return Vec::new();
        }
        let lightest = i64::from(!self.abstain);
        let heaviest = match self.voting_manifest {
            VotingManifest::Simple => 1,
            VotingManifest::Cards => 3,
        };
        (lightest..=heaviest).collect()
    }

    /// Whether a published proposal with this public state token can be voted on.
    pub fn is_votable(&self, token: &str) -> bool {
        if token == "withdrawn" {
            return false;
        }
        if !self.votes_enabled_by_status {
            return token != "rejected";
        }
        let token = if token.is_empty() { "not_answered" } else { token };
        self.votes_enabled_states.iter().any(|t| t == token)
    }

    /// Whether a user with this many published proposals may publish another.
    pub fn admits_proposal(&self, published: i64) -> bool {
        below(published, self.proposal_limit)
    }

    /// Whether a user with this many votes in the component may cast another.
    pub fn admits_vote(&self, votes: i64) -> bool {
        below(votes, self.vote_limit)
    }

    /// Whether a proposal with this many final votes accepts another.
    pub fn admits_final_vote(&self, votes: i64) -> bool {
        self.can_accumulate_beyond_threshold || below(votes, self.threshold_per_proposal)
    }

    /// `can_create_proposals` of the component's `meta`.
    pub fn can_create_proposals(&self, voting_status: Option<&VotingStatus>) -> bool {
        self.creation_enabled && voting_status.is_some_and(|s| self.admits_proposal(s.published))
    }

    /// `can_vote` of the component's `meta`: for a service token (no status), whether voting is open.
    pub fn can_vote(&self, voting_status: Option<&VotingStatus>) -> bool {
        self.voting_is_open()
            && voting_status.is_none_or(|s| {
                s.participates
                    && self.admits_vote(s.votes)
                    && s.tallies.iter().any(|t| t.proposals > t.voted && self.is_votable(&t.token))
            })
    }
}

/// The voting status of one user in one proposals component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VotingStatus {
    /// The component.
    pub component: ComponentId,
    /// The user's published proposals, withdrawn ones included.
    pub published: i64,
    /// The user's votes, temporary ones included.
    pub votes: i64,
    /// The user's draft, if it was created through the calling client.
    pub draft: Option<ProposalId>,
    /// Whether the user may write and vote there.
    pub participates: bool,
    /// The published, visible proposals by public state.
    pub tallies: Vec<VoteTally>,
}

/// How many proposals of one public state there are, and how many of them the user has voted on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VoteTally {
    /// The public state token; empty without one.
    pub token: String,
    /// How many there are.
    pub proposals: i64,
    /// How many of them have a vote of the user.
    pub voted: i64,
}

/// The label of a weight (contract 05 §3.8). A language of `offered` that has no text here has the English one.
pub fn weight_label(kind: VotingManifest, weight: i64, offered: &Locales) -> Translated {
    let [en, fr, es] = match (kind, weight) {
        (_, 0) => ["Abstain", "Abstention", "Abstención"],
        (VotingManifest::Simple, _) => ["Vote", "Voter", "Votar"],
        (VotingManifest::Cards, 1) => ["Red", "Rouge", "Rojo"],
        (VotingManifest::Cards, 2) => ["Yellow", "Jaune", "Amarillo"],
        (VotingManifest::Cards, _) => ["Green", "Verte", "Verde"],
    };
    let texts = [(Locale::EN, en), (Locale::FR, fr), (Locale::ES, es)];
    offered.iter().map(|locale| (locale, en)).chain(texts).map(|(l, text)| (l, text.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open() -> ComponentRules {
        ComponentRules { votes_enabled: true, ..ComponentRules::default() }
    }

    fn voting_status() -> VotingStatus {
        let tally = VoteTally { token: String::new(), proposals: 2, voted: 1 };
        VotingStatus {
            component: ComponentId(1),
            published: 1,
            votes: 1,
            draft: None,
            participates: true,
            tallies: vec![tally],
        }
    }

    #[test]
    fn the_catalogue_of_weights_follows_manifest_and_abstention() {
        assert_eq!(ComponentRules::default().weights(), [] as [i64; 0]);
        assert_eq!(open().weights(), [1]);
        assert_eq!(ComponentRules { abstain: true, ..open() }.weights(), [0, 1]);
        let cards = ComponentRules { voting_manifest: VotingManifest::Cards, abstain: true, ..open() };
        assert_eq!(cards.weights(), [0, 1, 2, 3]);
        assert_eq!(
            ComponentRules { votes_blocked: true, ..open() }.weights(),
            [1],
            "blocked voting keeps its catalogue"
        );
    }

    #[test]
    fn a_language_without_a_label_has_the_english_one() {
        let offered: Locales = "ca, fr".parse().unwrap();
        let label = weight_label(VotingManifest::Cards, 1, &offered);
        let texts: Vec<String> = label.iter().map(|(locale, text)| format!("{locale} {text}")).collect();
        assert_eq!(texts, ["ca Red", "en Red", "es Rojo", "fr Rouge"]);
    }

    #[test]
    fn withdrawn_and_rejected_are_never_votable_unless_the_list_names_rejected() {
        assert!(open().is_votable("") && open().is_votable("accepted"));
        assert!(!open().is_votable("rejected") && !open().is_votable("withdrawn"));
        let by_status = |states: &[&str]| ComponentRules {
            votes_enabled_by_status: true,
            votes_enabled_states: states.iter().map(|s| (*s).to_owned()).collect(),
            ..open()
        };
        assert!(by_status(&["not_answered"]).is_votable(""));
        assert!(by_status(&["rejected"]).is_votable("rejected"));
        assert!(!by_status(&["rejected", "withdrawn"]).is_votable("withdrawn"));
        assert!(!by_status(&[]).is_votable(""), "an empty list means nothing is votable");
    }

    #[test]
    fn a_user_can_vote_while_something_is_left_to_vote_on() {
        assert!(open().can_vote(Some(&voting_status())));
        assert!(open().can_vote(None), "a service token sees whether voting is open");
        assert!(!ComponentRules { votes_blocked: true, ..open() }.can_vote(None));
        assert!(!ComponentRules { vote_limit: 1, ..open() }.can_vote(Some(&voting_status())));
        assert!(!open().can_vote(Some(&VotingStatus { participates: false, ..voting_status() })));
        let done = VoteTally { token: String::new(), proposals: 2, voted: 2 };
        assert!(!open().can_vote(Some(&VotingStatus { tallies: vec![done], ..voting_status() })));
    }

    #[test]
    fn proposals_can_be_created_by_users_below_the_limit_in_an_open_step() {
        let rules = ComponentRules { creation_enabled: true, proposal_limit: 2, ..ComponentRules::default() };
        assert!(rules.can_create_proposals(Some(&voting_status())));
        assert!(!rules.can_create_proposals(Some(&VotingStatus { published: 2, ..voting_status() })));
        assert!(!rules.can_create_proposals(None));
        assert!(
            !ComponentRules { creation_enabled: false, ..rules }.can_create_proposals(Some(&voting_status()))
        );
    }
}
