//! Roles of people in spaces (contract 03 §4). A general administrator is a flag of the account, not a row here.

use civitas_kernel::{SpaceRef, UserId};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

/// What somebody is in a space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RoleKind {
    /// Administers the space.
    SpaceAdministrator,
    /// Moderates the space.
    SpaceModerator,
    /// Values proposals of the space.
    SpaceValuator,
    /// Sees a private space and takes part in it.
    SpacePrivateMember,
}

/// A role in a space, or the invitation to one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Role {
    /// The space.
    pub space: SpaceRef,
    /// Who; `None` for a pending invitation without account.
    pub user: Option<UserId>,
    /// The address of such an invitation.
    pub email: Option<String>,
    /// What they are.
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
    /// Whether the role counts: given directly, or by an invitation that was accepted.
    pub fn is_effective(&self) -> bool {
        self.user.is_some() && (self.invited_at.is_none() || self.accepted_at.is_some())
    }
}
