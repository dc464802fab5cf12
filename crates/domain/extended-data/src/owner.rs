//! The kinds of records with extended data, with their rights and names (contract 01 §11.5).

use civitas_kernel::{
    Ability, Access, ComponentId, Event, MeetingId, OrganizationId, ProposalId, Scope, SpaceRef, Subject,
    UserId,
};
use serde::{Serialize, de::DeserializeOwned};

/// A record that has extended data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExtendedDataOwner {
    /// An organization.
    Organization(OrganizationId),
    /// An account.
    User(UserId),
    /// A participatory space.
    Space(SpaceRef),
    /// A component of any kind.
    Component(ComponentId),
    /// A proposal.
    Proposal(ProposalId),
    /// A meeting.
    Meeting(MeetingId),
}

impl ExtendedDataOwner {
    /// The event of a write: `user.updated` for users, none for the others.
    pub fn event(self) -> Option<Event> {
        match self {
            Self::User(id) => Some(Event { name: Ability::UserUpdated, subject: Subject::User(id) }),
            _ => None,
        }
    }
}

/// A kind of record that has extended data: a row of the table in contract 01 §11.5.
pub trait ExtendedDataKind: Clone + Send + Sync + 'static {
    /// The record.
    type Id: Into<ExtendedDataOwner> + Copy + Serialize + DeserializeOwned + Send + Sync;
    /// The key of its writes in jobs.
    const KEY: &'static str;
    /// The name of its writes among commands: four kinds share a key.
    const NAME: &'static str;
    /// The rights to read.
    const READ: Access;
    /// The rights to write.
    const UPDATE: Access;
}

const OF_RESOURCES: &str = "resource_extended_data#update";

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident: $owner:ident($id:ty), $key:expr, $name:literal, $read:expr, $update:expr;)+) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy)]
        pub struct $kind;

        impl ExtendedDataKind for $kind {
            type Id = $id;
            const KEY: &'static str = $key;
            const NAME: &'static str = $name;
            const READ: Access = $read;
            const UPDATE: Access = $update;
        }

        impl From<$id> for ExtendedDataOwner {
            fn from(id: $id) -> Self {
                Self::$owner(id)
            }
        }
    )+};
}

kinds! {
    /// Of the organization itself.
    OrganizationExtendedData: Organization(OrganizationId), Self::NAME, "organization_extended_data#update",
        Access::either(Scope::System, &[Ability::OrganizationsExtendedDataRead]),
        Access::either(Scope::System, &[Ability::OrganizationsExtendedDataUpdate]);
    /// Of the token's user.
    UserExtendedData: User(UserId), Self::NAME, "user_extended_data#update",
        Access::user(Scope::Oauth, &[Ability::OauthExtendedDataRead]),
        Access::user(Scope::Oauth, &[Ability::OauthExtendedDataUpdate]);
    /// Of a participatory space.
    SpaceExtendedData: Space(SpaceRef), OF_RESOURCES, "space_extended_data#update",
        Access::either(Scope::Public, &[Ability::SpaceRead, Ability::SpaceExtendedDataRead]),
        Access::either(Scope::Public, &[Ability::SpaceRead, Ability::SpaceExtendedDataUpdate]);
    /// Of a component.
    ComponentExtendedData: Component(ComponentId), OF_RESOURCES, "component_extended_data#update",
        Access::either(Scope::Public, &[Ability::ComponentRead, Ability::ComponentExtendedDataRead]),
        Access::either(Scope::Public, &[Ability::ComponentRead, Ability::ComponentExtendedDataUpdate]);
    /// Of a proposal.
    ProposalExtendedData: Proposal(ProposalId), OF_RESOURCES, "proposal_extended_data#update",
        Access::either(Scope::Proposals, &[Ability::ProposalsRead, Ability::ProposalsExtendedDataRead]),
        Access::either(Scope::Proposals, &[Ability::ProposalsRead, Ability::ProposalsExtendedDataUpdate]);
    /// Of a meeting.
    MeetingExtendedData: Meeting(MeetingId), OF_RESOURCES, "meeting_extended_data#update",
        Access::either(Scope::Meetings, &[Ability::MeetingsRead, Ability::MeetingsExtendedDataRead]),
        Access::either(Scope::Meetings, &[Ability::MeetingsRead, Ability::MeetingsExtendedDataUpdate]);
}
