//! Scopes, abilities and event permissions: the whole list (contract 02 §1.1, §1.2), and the rights an operation
//! requires.

use std::fmt;

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($variant:ident => $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $(#[doc = concat!("`", $text, "`")] $variant),+ }

        impl $name {
            /// All of them, in the order of the contract.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The name on the wire.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }

            /// The one with this name.
            pub fn parse(name: &str) -> Option<Self> {
                match name { $($text => Some(Self::$variant),)+ _ => None }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

words! {
    /// A scope of a token: an area of the interface a client may use. Fixed when the client is created.
    Scope {
        Public => "public",
        Spaces => "spaces",
        System => "system",
        Pages => "pages",
        Oauth => "oauth",
        Roles => "roles",
        Attachments => "attachments",
        Webhooks => "webhooks",
        Proposals => "proposals",
        Blogs => "blogs",
        Meetings => "meetings",
        Surveys => "surveys",
        Debates => "debates",
        Budgets => "budgets",
        Accountability => "accountability",
    }
}

words! {
    /// A permission of a client: an operation inside a scope it owns, or an event it may receive. Granted and revoked
    /// at any time, with effect on tokens already issued.
    Ability {
        OauthImpersonate => "oauth.impersonate",
        OauthLogin => "oauth.login",
        OauthRead => "oauth.read",
        OauthMagicLink => "oauth.magic_link",
        OauthExtendedDataRead => "oauth.extended_data.read",
        OauthExtendedDataUpdate => "oauth.extended_data.update",
        OrganizationsRead => "system.organizations.read",
        OrganizationsUpdate => "system.organizations.update",
        OrganizationsDestroy => "system.organizations.destroy",
        OrganizationsCreate => "system.organizations.create",
        OrganizationsExtendedDataRead => "system.organizations.extended_data.read",
        OrganizationsExtendedDataUpdate => "system.organizations.extended_data.update",
        UsersUpdate => "system.users.update",
        UsersDestroy => "system.users.destroy",
        ServerRestart => "system.server.restart",
        ServerExec => "system.server.exec",
        ComponentRead => "public.component.read",
        ComponentExtendedDataRead => "public.component.extended_data.read",
        ComponentExtendedDataUpdate => "public.component.extended_data.update",
        SpaceRead => "public.space.read",
        SpaceExtendedDataRead => "public.space.extended_data.read",
        SpaceExtendedDataUpdate => "public.space.extended_data.update",
        ProposalsRead => "proposals.read",
        ProposalsDraft => "proposals.draft",
        ProposalsVote => "proposals.vote",
        ProposalsExtendedDataRead => "proposals.extended_data.read",
        ProposalsExtendedDataUpdate => "proposals.extended_data.update",
        BlogsRead => "blogs.read",
        BlogsWrite => "blogs.write",
        BlogsDestroy => "blogs.destroy",
        MeetingsRead => "meetings.read",
        MeetingsExtendedDataRead => "meetings.extended_data.read",
        MeetingsExtendedDataUpdate => "meetings.extended_data.update",
        SurveysRead => "surveys.read",
        QuestionnairesRead => "surveys.questionnaires.read",
        QuestionsManage => "surveys.questions.manage",
        AnswersSubmit => "surveys.answers.submit",
        AnswersRead => "surveys.answers.read",
        AnswersDestroy => "surveys.answers.destroy",
        DebatesRead => "debates.read",
        BudgetsRead => "budgets.read",
        AccountabilityRead => "accountability.read",
        RolesRead => "roles.read",
        RolesWrite => "roles.write",
        AttachmentsRead => "attachments.read",
        AttachmentsWrite => "attachments.write",
        AttachmentsDestroy => "attachments.destroy",
        WebhooksRead => "webhooks.read",
        WebhooksWrite => "webhooks.write",
        WebhooksDestroy => "webhooks.destroy",
        DraftProposalCreation => "draft_proposal_creation.succeeded",
        DraftProposalUpdate => "draft_proposal_update.succeeded",
        ProposalCreation => "proposal_creation.succeeded",
        ProposalUpdate => "proposal_update.succeeded",
        ProposalStateChange => "proposal_state_change.succeeded",
        MeetingReminder => "meetings.upcoming_reminder.succeeded",
        StepActivated => "participatory_process.step_activated.succeeded",
        OrganizationCreated => "system.organizations.created",
        OrganizationUpdated => "system.organizations.updated",
        OrganizationDeleted => "system.organizations.deleted",
        UserCreated => "user.created",
        UserUpdated => "user.updated",
    }
}

impl Ability {
    /// The scope a client must own for the ability to be effective; `None` for the two that work with any scopes.
    pub const fn scope(self) -> Option<Scope> {
        Some(match self {
            Self::OauthImpersonate | Self::OauthLogin => return None,
            Self::OauthRead
            | Self::OauthMagicLink
            | Self::OauthExtendedDataRead
            | Self::OauthExtendedDataUpdate
            | Self::UserCreated
            | Self::UserUpdated => Scope::Oauth,
            Self::OrganizationsRead
            | Self::OrganizationsUpdate
            | Self::OrganizationsDestroy
            | Self::OrganizationsCreate
            | Self::OrganizationsExtendedDataRead
            | Self::OrganizationsExtendedDataUpdate
            | Self::UsersUpdate
            | Self::UsersDestroy
            | Self::ServerRestart
            | Self::ServerExec
            | Self::OrganizationCreated
            | Self::OrganizationUpdated
            | Self::OrganizationDeleted => Scope::System,
            Self::ComponentRead
            | Self::ComponentExtendedDataRead
            | Self::ComponentExtendedDataUpdate
            | Self::SpaceRead
            | Self::SpaceExtendedDataRead
            | Self::SpaceExtendedDataUpdate
            | Self::StepActivated => Scope::Public,
            Self::ProposalsRead
            | Self::ProposalsDraft
            | Self::ProposalsVote
            | Self::ProposalsExtendedDataRead
            | Self::ProposalsExtendedDataUpdate
            | Self::DraftProposalCreation
            | Self::DraftProposalUpdate
            | Self::ProposalCreation
            | Self::ProposalUpdate
            | Self::ProposalStateChange => Scope::Proposals,
            Self::BlogsRead | Self::BlogsWrite | Self::BlogsDestroy => Scope::Blogs,
            Self::MeetingsRead
            | Self::MeetingsExtendedDataRead
            | Self::MeetingsExtendedDataUpdate
            | Self::MeetingReminder => Scope::Meetings,
            Self::SurveysRead
            | Self::QuestionnairesRead
            | Self::QuestionsManage
            | Self::AnswersSubmit
            | Self::AnswersRead
            | Self::AnswersDestroy => Scope::Surveys,
            Self::DebatesRead => Scope::Debates,
            Self::BudgetsRead => Scope::Budgets,
            Self::AccountabilityRead => Scope::Accountability,
            Self::RolesRead | Self::RolesWrite => Scope::Roles,
            Self::AttachmentsRead | Self::AttachmentsWrite | Self::AttachmentsDestroy => Scope::Attachments,
            Self::WebhooksRead | Self::WebhooksWrite | Self::WebhooksDestroy => Scope::Webhooks,
        })
    }

    /// Whether this is the permission to be notified of an event (contract 02 §1.2, last table).
    pub const fn is_event(self) -> bool {
        self as u8 >= Self::DraftProposalCreation as u8
    }
}

/// A set of scopes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct Scopes(u32);

impl Scopes {
    /// Whether the set has this one.
    pub fn has(self, scope: Scope) -> bool {
        self.0 & (1 << scope as u8) != 0
    }

    /// Whether each of these is in `other` too.
    pub fn all_in(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The members, in the order of the contract.
    pub fn iter(self) -> impl Iterator<Item = Scope> {
        Scope::ALL.iter().copied().filter(move |s| self.has(*s))
    }

    /// Reads a list separated by spaces; unknown scopes are ignored.
    pub fn read(list: &str) -> Self {
        list.split_whitespace().filter_map(Scope::parse).collect()
    }
}

impl FromIterator<Scope> for Scopes {
    fn from_iter<I: IntoIterator<Item = Scope>>(scopes: I) -> Self {
        Self(scopes.into_iter().fold(0, |set, scope| set | (1 << scope as u8)))
    }
}

/// The members, separated by spaces.
impl fmt::Display for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.iter().map(Scope::as_str).collect::<Vec<_>>().join(" "))
    }
}

/// A set of abilities and event permissions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct Abilities(u128);

impl Abilities {
    /// Whether the set has this one.
    pub fn has(self, ability: Ability) -> bool {
        self.0 & (1 << ability as u8) != 0
    }

    /// Adds one.
    pub fn insert(&mut self, ability: Ability) {
        self.0 |= 1 << ability as u8;
    }

    /// Removes one.
    pub fn remove(&mut self, ability: Ability) {
        self.0 &= !(1 << ability as u8);
    }

    /// The members, in the order of the contract.
    pub fn iter(self) -> impl Iterator<Item = Ability> {
        Ability::ALL.iter().copied().filter(move |a| self.has(*a))
    }

    /// Reads a list separated by spaces; unknown abilities are ignored.
    pub fn read(list: &str) -> Self {
        list.split_whitespace().filter_map(Ability::parse).collect()
    }
}

impl FromIterator<Ability> for Abilities {
    fn from_iter<I: IntoIterator<Item = Ability>>(abilities: I) -> Self {
        let mut set = Self::default();
        abilities.into_iter().for_each(|a| set.insert(a));
        set
    }
}

/// The members, separated by spaces.
impl fmt::Display for Abilities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.iter().map(Ability::as_str).collect::<Vec<_>>().join(" "))
    }
}

/// The rights an operation requires. The use case and its route use the same constant of the domain crate, so that they
/// cannot differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// The scope the token must carry; `None` for any.
    pub scope: Option<Scope>,
    /// The abilities the client must hold.
    pub need: Need,
    /// Whether a user token is required.
    pub user: bool,
}

/// The abilities an operation needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// None.
    Nothing,
    /// Each of these.
    All(&'static [Ability]),
    /// One of these.
    Any(&'static [Ability]),
}

impl Access {
    /// Any valid token of the organization.
    pub const ANY_TOKEN: Self = Self { scope: None, need: Need::Nothing, user: false };

    /// A token of either kind with this scope and all these abilities.
    pub const fn either(scope: Scope, abilities: &'static [Ability]) -> Self {
        Self { scope: Some(scope), need: Need::All(abilities), user: false }
    }

    /// A user token with this scope and all these abilities.
    pub const fn user(scope: Scope, abilities: &'static [Ability]) -> Self {
        Self { scope: Some(scope), need: Need::All(abilities), user: true }
    }

    /// A token of either kind with this scope and one of these abilities.
    pub const fn any_of(scope: Scope, abilities: &'static [Ability]) -> Self {
        Self { scope: Some(scope), need: Need::Any(abilities), user: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_of_the_catalogue_reads_back() {
        let all: Abilities = Ability::ALL.iter().copied().collect();
        assert_eq!(Abilities::read(&all.to_string()), all);
        assert_eq!(all.iter().count(), 62);
        assert_eq!(all.iter().filter(|a| a.is_event()).count(), 12);
    }

    #[test]
    fn a_word_inside_another_is_not_the_word() {
        assert_eq!(Scope::parse("ecosystem"), None);
        assert_eq!(Scopes::read("ecosystem public"), [Scope::Public].into_iter().collect());
    }
}
