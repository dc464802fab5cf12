//! Administration of roles. The caller checks permission.

use super::{RoleKind, Roles};
use crate::{Role, RoleDetail, RoleId, User};
use civitas_kernel::records::{AdminWithoutRules, Change, Entity, RecordAdministration, find_for_update};
use civitas_kernel::{Error, OrganizationId, Result, SpaceKind, SpaceRef, UserId};
use time::OffsetDateTime;

/// A role to give.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoleGrant {
    /// The role of a general administrator.
    GeneralAdmin,
    /// A role of this kind in a space.
    InSpace(SpaceRef, RoleKind),
}

impl Roles<'_> {
    /// Checks that a role can be given.
    ///
    /// # Errors
    /// `NotFound` when the organization has no such account or space, or the space is an initiative, which has no
    /// roles. `Invalid` when the user has the role already.
    pub async fn check(&self, organization: OrganizationId, user: UserId, grant: RoleGrant) -> Result<()> {
        let living = |account: Option<User>| account.is_some_and(|account| account.deleted_at.is_none());
        if !living(self.users.find(organization, user).await?) {
            return Err(Error::NotFound);
        }
        let RoleGrant::InSpace(space, kind) = grant else { return Ok(()) };
        let has_roles = space.kind != SpaceKind::Initiatives;
        if !has_roles || !self.store.has_space(organization, space).await? {
            return Err(Error::NotFound);
        }
        if self.store.has(organization, space, user, kind).await? {
            Err(Role::key_taken_error())
        } else {
            Ok(())
        }
    }

    /// Assigns a role, without invitation.
    ///
    /// # Errors
    /// Those of [`Self::check`].
    pub async fn assign(
        &self,
        organization: OrganizationId,
        user: UserId,
        grant: RoleGrant,
        now: OffsetDateTime,
    ) -> Result<RoleDetail> {
        self.check(organization, user, grant).await?;
        let RoleGrant::InSpace(space, kind) = grant else {
            let (account, _) = self.set_admin(organization, user, true, now).await?;
            return RoleDetail::from_admin(organization, user, &account).ok_or(Error::NotFound);
        };
        let role = Role::new(space, Some(user), kind, now);
        self.store.add(organization, &role).await?;
        Ok(role.detail())
    }

    /// Revokes a role.
    ///
    /// # Errors
    /// `NotFound` when there is no role of this name in the organization.
    pub async fn revoke(&self, organization: OrganizationId, id: &RoleId, now: OffsetDateTime) -> Result<()> {
        match id {
            RoleId::InSpace(id) => {
                let found = self.store.find_by_id_for_update(organization, id).await?;
                let (row, _) = found.ok_or(Error::NotFound)?;
                self.store.remove(organization, row).await
            }
            RoleId::GeneralAdmin { organization: own, user } if *own == organization => {
                let (_, is_cleared) = self.set_admin(organization, *user, false, now).await?;
                if is_cleared { Ok(()) } else { Err(Error::NotFound) }
            }
            RoleId::GeneralAdmin { .. } => Err(Error::NotFound),
        }
    }

    /// Sets or clears the flag of a general administrator. Returns whether that changed anything.
    async fn set_admin(
        &self,
        organization: OrganizationId,
        id: UserId,
        admin: bool,
        now: OffsetDateTime,
    ) -> Result<(User, bool)> {
        let user = find_for_update(self.users, organization, id).await?;
        let change = Change::from_edit(user, now, |user| user.admin = admin);
        AdminWithoutRules(self.users).change(organization, id, &change).await?;
        let is_changed = !change.is_empty();
        Ok((change.after, is_changed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MockRoleStore, MockUserStore};
    use time::macros::datetime;

    const NOW: OffsetDateTime = datetime!(2026-01-01 0:00 UTC);
    const CITY: OrganizationId = OrganizationId(1);
    const NORA: UserId = UserId(42);
    const SPACE: SpaceRef = SpaceRef { kind: SpaceKind::Assemblies, id: 7 };

    fn accounts() -> MockUserStore {
        let nora = User::new("norablum".into(), "n@example.org".into(), "Nora".into(), NOW);
        let mut users = MockUserStore::new();
        users.expect_find().returning(move |_, id| Ok((id == NORA).then(|| nora.clone())));
        users
    }

    #[tokio::test]
    async fn an_initiative_has_no_roles() {
        let (store, users) = (MockRoleStore::new(), accounts());
        let initiative = SpaceRef { kind: SpaceKind::Initiatives, ..SPACE };
        let grant = RoleGrant::InSpace(initiative, RoleKind::SpaceModerator);
        let refused = Roles { store: &store, users: &users }.assign(CITY, NORA, grant, NOW).await;
        assert!(matches!(refused, Err(Error::NotFound)));
    }

    #[tokio::test]
    async fn a_role_is_given_at_the_time_of_the_act_and_not_twice() {
        let (mut store, users) = (MockRoleStore::new(), accounts());
        store.expect_has_space().returning(|_, space| Ok(space == SPACE));
        store.expect_has().returning(|_, _, _, kind| Ok(kind == RoleKind::SpaceValuator));
        store.expect_add().once().returning(|_, role| {
            assert_eq!((role.user, role.invited_at, role.created_at), (Some(NORA), None, NOW));
            Ok(1)
        });
        let admin = Roles { store: &store, users: &users };
        let moderator = RoleGrant::InSpace(SPACE, RoleKind::SpaceModerator);
        assert!(admin.assign(CITY, NORA, moderator, NOW).await.unwrap().accepted_invite);
        let valuator = RoleGrant::InSpace(SPACE, RoleKind::SpaceValuator);
        assert!(matches!(admin.assign(CITY, NORA, valuator, NOW).await, Err(Error::Invalid { .. })));
        assert!(matches!(admin.assign(CITY, UserId(43), moderator, NOW).await, Err(Error::NotFound)));
    }
}
