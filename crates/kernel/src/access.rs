//! Scopes, abilities and event permissions: the whole list (contract 02 §1.1, §1.2), and the rights an operation
//! requires.

use std::fmt;

crate::named_enum! {
    /// A scope of a token: an area of the interface a client may use. Fixed when the client is created.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum Scope {
        Public = "public",
        Spaces = "spaces",
        System = "system",
        Pages = "pages",
        Oauth = "oauth",
        Roles = "roles",
        Attachments = "attachments",
        Webhooks = "webhooks",
        Proposals = "proposals",
        Blogs = "blogs",
        Meetings = "meetings",
        Surveys = "surveys",
        Debates = "debates",
        Budgets = "budgets",
        Accountability = "accountability",
    }
}

crate::named_enum! {
    /// A permission of a client: an operation inside a scope it owns, or an event it may receive. Granted and revoked
    /// at any time, with effect on tokens already issued.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum Ability {
        OauthImpersonate = "oauth.impersonate",
        OauthLogin = "oauth.login",
        OauthRead = "oauth.read",
        OauthMagicLink = "oauth.magic_link",
        OauthExtendedDataRead = "oauth.extended_data.read",
        OauthExtendedDataUpdate = "oauth.extended_data.update",
        OrganizationsRead = "system.organizations.read",
        OrganizationsUpdate = "system.organizations.update",
        OrganizationsDestroy = "system.organizations.destroy",
        OrganizationsCreate = "system.organizations.create",
        OrganizationsExtendedDataRead = "system.organizations.extended_data.read",
        OrganizationsExtendedDataUpdate = "system.organizations.extended_data.update",
        UsersUpdate = "system.users.update",
        UsersDestroy = "system.users.destroy",
        ServerRestart = "system.server.restart",
        ServerExec = "system.server.exec",
        ComponentRead = "public.component.read",
        ComponentExtendedDataRead = "public.component.extended_data.read",
        ComponentExtendedDataUpdate = "public.component.extended_data.update",
        SpaceRead = "public.space.read",
        SpaceExtendedDataRead = "public.space.extended_data.read",
        SpaceExtendedDataUpdate = "public.space.extended_data.update",
        ProposalsRead = "proposals.read",
        ProposalsDraft = "proposals.draft",
        ProposalsVote = "proposals.vote",
        ProposalsExtendedDataRead = "proposals.extended_data.read",
        ProposalsExtendedDataUpdate = "proposals.extended_data.update",
        BlogsRead = "blogs.read",
        BlogsWrite = "blogs.write",
        BlogsDestroy = "blogs.destroy",
        MeetingsRead = "meetings.read",
        MeetingsExtendedDataRead = "meetings.extended_data.read",
        MeetingsExtendedDataUpdate = "meetings.extended_data.update",
        SurveysRead = "surveys.read",
        QuestionnairesRead = "surveys.questionnaires.read",
        QuestionsManage = "surveys.questions.manage",
        AnswersSubmit = "surveys.answers.submit",
        AnswersRead = "surveys.answers.read",
        AnswersDestroy = "surveys.answers.destroy",
        DebatesRead = "debates.read",
        BudgetsRead = "budgets.read",
        AccountabilityRead = "accountability.read",
        RolesRead = "roles.read",
        RolesWrite = "roles.write",
        AttachmentsRead = "attachments.read",
        AttachmentsWrite = "attachments.write",
        AttachmentsDestroy = "attachments.destroy",
        WebhooksRead = "webhooks.read",
        WebhooksWrite = "webhooks.write",
        WebhooksDestroy = "webhooks.destroy",
        DraftProposalCreation = "draft_proposal_creation.succeeded",
        DraftProposalUpdate = "draft_proposal_update.succeeded",
        ProposalCreation = "proposal_creation.succeeded",
        ProposalUpdate = "proposal_update.succeeded",
        ProposalStateChange = "proposal_state_change.succeeded",
        MeetingReminder = "meetings.upcoming_reminder.succeeded",
        StepActivated = "participatory_process.step_activated.succeeded",
        OrganizationCreated = "system.organizations.created",
        OrganizationUpdated = "system.organizations.updated",
        OrganizationDeleted = "system.organizations.deleted",
        UserCreated = "user.created",
        UserUpdated = "user.updated",
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

macro_rules! sets {
    ($($(#[$doc:meta])* $Set:ident($bits:ty) of $Member:ident;)+) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
        pub struct $Set($bits);

        impl $Set {
            /// Whether the set has this one.
            pub fn has(self, member: $Member) -> bool {
                self.0 & (1 << member as u8) != 0
            }

            /// The members, in the order of the contract.
            pub fn iter(self) -> impl Iterator<Item = $Member> {
                $Member::ALL.into_iter().filter(move |member| self.has(*member))
            }

            /// Reads a list of names separated by spaces; unknown ones are ignored.
            pub fn read(list: &str) -> Self {
                list.split_whitespace().filter_map($Member::parse).collect()
            }
        }

        impl FromIterator<$Member> for $Set {
            fn from_iter<I: IntoIterator<Item = $Member>>(members: I) -> Self {
                Self(members.into_iter().fold(0, |set, member| set | (1 << member as u8)))
            }
        }

        /// The members, separated by spaces.
        impl fmt::Display for $Set {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.iter().map($Member::as_str).collect::<Vec<_>>().join(" "))
            }
        }
    )+};
}

sets! {
    /// A set of scopes.
    Scopes(u32) of Scope;
    /// A set of abilities and event permissions.
    Abilities(u128) of Ability;
}

impl Scopes {
    /// Whether each of these is in `other` too.
    pub fn is_subset_of(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl Abilities {
    /// Adds one.
    pub fn insert(&mut self, ability: Ability) {
        self.0 |= 1 << ability as u8;
    }

    /// Removes one.
    pub fn remove(&mut self, ability: Ability) {
        self.0 &= !(1 << ability as u8);
    }
}

/// The rights an operation requires. The use case and its route use the same constant of the domain crate, so that they
/// cannot differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// The scope the token must carry; `None` for any.
    pub scope: Option<Scope>,
    /// The abilities the client must hold.
    pub abilities: RequiredAbilities,
    /// Whether a user token is required.
    pub user: bool,
}

/// The abilities an operation needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequiredAbilities {
    /// None.
    Nothing,
    /// Each of these.
    All(&'static [Ability]),
    /// One of these.
    Any(&'static [Ability]),
}

impl Access {
    /// Any valid token of the organization.
    pub const ANY_TOKEN: Self = Self { scope: None, abilities: RequiredAbilities::Nothing, user: false };

    /// A token of either kind with this scope and all these abilities.
    pub const fn either(scope: Scope, abilities: &'static [Ability]) -> Self {
        Self { scope: Some(scope), abilities: RequiredAbilities::All(abilities), user: false }
    }

    /// A user token with this scope and all these abilities.
    pub const fn user(scope: Scope, abilities: &'static [Ability]) -> Self {
        Self { scope: Some(scope), abilities: RequiredAbilities::All(abilities), user: true }
    }

    /// A token of either kind with this scope and one of these abilities.
    pub const fn any_of(scope: Scope, abilities: &'static [Ability]) -> Self {
        Self { scope: Some(scope), abilities: RequiredAbilities::Any(abilities), user: false }
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
