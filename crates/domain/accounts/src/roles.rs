//! Roles of users in an organization and its spaces (contract 03 §4).
//!
//! A role is derived: a general administrator is a flag of the account, any other role a row. What both have in
//! common on the wire is [`RoleDetail`], and the composite [`RoleId`] that names it.

mod admin;
mod id;
mod reading;
mod writing;

pub use admin::RoleGrant;
pub use id::{RoleId, SpaceRoleId};
pub use reading::{READ_ROLES, Roles};
pub use writing::{CreateRole, DestroyRole, UpdateRole, WRITE_ROLES};

use crate::User;
use civitas_kernel::records::Entity;
use civitas_kernel::{Error, OrganizationId, SpaceRef, UserId};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

civitas_kernel::named_enum! {
    /// The kind of a role in a space.
    #[derive(PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum RoleKind {
        /// Sees a private space and takes part in it.
        SpacePrivateMember = "space_private_member",
        /// Administers the space.
        SpaceAdministrator = "space_administrator",
        /// Moderates the space.
        SpaceModerator = "space_moderator",
        /// Evaluates proposals of the space.
        SpaceValuator = "space_valuator",
    }
}

/// The `type` of a role, in the organization or in a space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoleType {
    /// Administers the whole organization.
    GeneralAdmin,
    /// A role in one space.
    InSpace(RoleKind),
}

impl RoleType {
    /// All five, in the order of the contract.
    pub const ALL: [Self; 5] = [
        Self::GeneralAdmin,
        Self::InSpace(RoleKind::SpacePrivateMember),
        Self::InSpace(RoleKind::SpaceAdministrator),
        Self::InSpace(RoleKind::SpaceModerator),
        Self::InSpace(RoleKind::SpaceValuator),
    ];

    /// The name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::GeneralAdmin => "general_admin",
            Self::InSpace(kind) => kind.as_str(),
        }
    }

    /// The type with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.as_str() == name)
    }
}

/// A role in a space, or the invitation to one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Role {
    /// The space.
    pub space: SpaceRef,
    /// The user; `None` for a pending invitation without account.
    pub user: Option<UserId>,
    /// The address of such an invitation.
    pub email: Option<String>,
    /// The kind.
    pub kind: RoleKind,
    /// When they were invited by e-mail; `None` for a role given directly.
    pub invited_at: Option<OffsetDateTime>,
    /// When they accepted the invitation.
    pub accepted_at: Option<OffsetDateTime>,
    /// When the role was created.
    pub created_at: OffsetDateTime,
    /// When it was last changed.
    pub updated_at: OffsetDateTime,
}

impl Role {
    /// A role that is given directly, without invitation.
    pub fn new(space: SpaceRef, user: Option<UserId>, kind: RoleKind, now: OffsetDateTime) -> Self {
        Self {
            space,
            user,
            email: None,
            kind,
            invited_at: None,
            accepted_at: None,
            created_at: now,
            updated_at: now,
        }
    }

    /// Whether it is an invitation that is not accepted yet.
    pub fn is_pending(&self) -> bool {
        self.invited_at.is_some() && self.accepted_at.is_none()
    }

    /// Whether the role is effective: given directly, or by an accepted invitation.
    pub fn is_effective(&self) -> bool {
        self.user.is_some() && !self.is_pending()
    }

    /// The user and the private space it gives access to, if any.
    pub fn membership(&self) -> Option<(SpaceRef, UserId)> {
        let member = self.kind == RoleKind::SpacePrivateMember && self.is_effective();
        self.user.filter(|_| member).map(|user| (self.space, user))
    }

    /// Its name.
    pub fn id(&self) -> SpaceRoleId {
        SpaceRoleId {
            space: self.space,
            user: self.user,
            invited_at: self.invited_at.map(id::whole_seconds),
            kind: self.kind,
        }
    }

    /// The role as listed and shown.
    pub fn detail(&self) -> RoleDetail {
        RoleDetail {
            id: RoleId::InSpace(self.id()),
            accepted_invite: self.is_effective(),
            created_at: self.created_at,
            updated_at: self.updated_at,
        }
    }
}

impl Role {
    /// The lists that lose the role when it is removed.
    pub fn lists_of_removal(&self) -> Vec<&'static str> {
        if self.membership().is_some() { vec!["roles", "spaces"] } else { vec!["roles"] }
    }
}

/// The id is the number of the row.
impl Entity for Role {
    type Id = i64;

    civitas_kernel::time_fields!(updated_at);

    /// A role with another name leaves the list under the old one. What a member sees of spaces changes with the
    /// membership.
    fn lists_changed(&self, before: Option<&Self>) -> Vec<&'static str> {
        let is_renamed = before.is_some_and(|before| before.id() != self.id());
        let is_member_changed = before.and_then(Self::membership) != self.membership();
        let lists = [("roles", is_renamed), ("spaces", is_member_changed)];
        lists.into_iter().filter(|(_, is_changed)| *is_changed).map(|(list, _)| list).collect()
    }

    /// A user has a kind of role in a space once.
    fn key_taken_error() -> Error {
        Error::invalid("type", "taken", "Type has already been taken")
    }
}

/// A role as listed and shown. Its id has type, resource and user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoleDetail {
    /// Its name.
    pub id: RoleId,
    /// False while an invitation is pending.
    pub accepted_invite: bool,
    /// When the row was created; of a general administrator, the account.
    pub created_at: OffsetDateTime,
    /// When the row, or the account, was last changed.
    pub updated_at: OffsetDateTime,
}

impl RoleDetail {
    /// The role of a general administrator; `None` when the account is not one, or is deleted.
    pub fn from_admin(organization: OrganizationId, id: UserId, user: &User) -> Option<Self> {
        let User { created_at, updated_at, .. } = *user;
        let id = RoleId::GeneralAdmin { organization, user: id };
        (user.admin && user.deleted_at.is_none()).then_some(Self {
            id,
            accepted_invite: true,
            created_at,
            updated_at,
        })
    }
}
