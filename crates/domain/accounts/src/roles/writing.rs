//! Creates, changes and removes roles (contract 03 §4.4 to §4.6).

use super::id::space_class;
use super::{RoleKind, RoleType, Roles};
use crate::{Role, RoleDetail, RoleGrant, RoleId, SpaceRoleId};
use async_trait::async_trait;
use civitas_kernel::records::{AdminWithoutRules, Change, Entity, RecordAdministration};
use civitas_kernel::{
    Ability, Access, CommandHandler, Ctx, Error, Result, Scope, SpaceRef, UserId, commands, integer,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The rights to create, change and remove roles.
pub const WRITE_ROLES: Access = Access::either(Scope::Roles, &[Ability::RolesWrite]);

/// Gives a user a role. The members are as sent: errors are in the order of contract 03 §4.4.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CreateRole {
    /// The class name of the organization or space of the role.
    pub resource_type: String,
    /// Its number.
    pub resource_id: i64,
    /// The user who gets the role.
    pub user: UserId,
    /// The new kind.
    pub role_type: String,
}

/// Changes the kind of a role in a space.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct UpdateRole {
    /// The role.
    pub id: RoleId,
    /// The new kind, as sent.
    pub role_type: String,
    /// `resource_type`, `resource_id` and `user_id`, those of them that were sent: they must be the role's.
    pub sent: Map<String, Value>,
}

/// Removes a role.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DestroyRole {
    /// The role.
    pub id: RoleId,
}

commands! {
    CreateRole: "roles#create", WRITE_ROLES => RoleDetail;
    UpdateRole: "roles#update", WRITE_ROLES => RoleDetail;
    DestroyRole: "roles#destroy", WRITE_ROLES => ();
}

impl RoleGrant {
    /// Rows 3 to 6 of the table of contract 03 §4.4.
    fn from_command(ctx: &Ctx, command: &CreateRole) -> Result<Self> {
        let CreateRole { resource_type, resource_id, .. } = command;
        let role = role_type(&command.role_type)?;
        let in_organization = resource_type == RoleId::ORGANIZATION;
        if role == RoleType::GeneralAdmin && !in_organization {
            let text = "general_admin requires resource_type Platform::Organization";
            return Err(Error::unprocessable("resource_type", "invalid", text));
        }
        if in_organization && *resource_id != ctx.organization.0 {
            let text = "Resource must belong to current organization";
            return Err(Error::unprocessable("resource_id", "invalid", text));
        }
        match role {
            RoleType::GeneralAdmin => Ok(Self::GeneralAdmin),
            RoleType::InSpace(kind) => {
                let space_kind = space_class(resource_type).ok_or_else(|| {
                    let text = format!("Unsupported resource_type for space role: {resource_type}");
                    Error::unprocessable("resource_type", "inclusion", text)
                })?;
                Ok(Self::InSpace(SpaceRef { kind: space_kind, id: *resource_id }, kind))
            }
        }
    }
}

impl Roles<'_> {
    /// Rows 3 to 8: the role to create, if it is allowed.
    async fn grant(&self, ctx: &Ctx, command: &CreateRole) -> Result<RoleGrant> {
        ctx.require(&WRITE_ROLES)?;
        let grant = RoleGrant::from_command(ctx, command)?;
        self.check(ctx.organization, command.user, grant).await?;
        Ok(grant)
    }

    /// Whether the user does not have this role yet. Several pending invitations without account are allowed.
    async fn not_given(
        &self,
        ctx: &Ctx,
        space: SpaceRef,
        user: Option<UserId>,
        kind: RoleKind,
    ) -> Result<()> {
        let given = match user {
            Some(user) => self.store.has(ctx.organization, space, user, kind).await?,
            None => false,
        };
        if given { Err(Role::key_taken_error()) } else { Ok(()) }
    }

    /// The new kind of an existing role, if it differs.
    async fn exchange(&self, ctx: &Ctx, command: &UpdateRole) -> Result<Option<RoleKind>> {
        let wanted = role_type(&command.role_type)?;
        same_identity(&command.id, &command.sent)?;
        match (&command.id, wanted) {
            (id, wanted) if id.role_type() == wanted => Ok(None),
            (RoleId::InSpace(id), RoleType::InSpace(kind)) => {
                self.not_given(ctx, id.space, id.user, kind).await?;
                Ok(Some(kind))
            }
            _ => {
                let text = "general_admin can not be exchanged with a space role";
                Err(Error::unprocessable("type", "invalid", text))
            }
        }
    }

    /// The row of a role in a space, locked.
    async fn find_for_update(&self, ctx: &Ctx, id: &SpaceRoleId) -> Result<(i64, Role)> {
        self.store.find_by_id_for_update(ctx.organization, id).await?.ok_or(Error::NotFound)
    }
}

#[async_trait]
impl CommandHandler<CreateRole> for Roles<'_> {
    async fn precheck(&self, ctx: &Ctx, command: &CreateRole) -> Result<()> {
        self.grant(ctx, command).await.map(drop)
    }

    async fn handle(&self, ctx: &Ctx, command: CreateRole) -> Result<RoleDetail> {
        ctx.require(&WRITE_ROLES)?;
        let grant = RoleGrant::from_command(ctx, &command)?;
        self.assign(ctx.organization, command.user, grant, ctx.now).await
    }
}

#[async_trait]
impl CommandHandler<UpdateRole> for Roles<'_> {
    async fn check_enqueue(&self, ctx: &Ctx, command: &UpdateRole) -> Result<()> {
        ctx.require(&WRITE_ROLES)?;
        self.find_unchecked(ctx, &command.id).await.map(drop)
    }

    async fn precheck(&self, ctx: &Ctx, command: &UpdateRole) -> Result<()> {
        self.check_enqueue(ctx, command).await?;
        self.exchange(ctx, command).await.map(drop)
    }

    async fn handle(&self, ctx: &Ctx, command: UpdateRole) -> Result<RoleDetail> {
        ctx.require(&WRITE_ROLES)?;
        let found = self.find_unchecked(ctx, &command.id).await?;
        let kind = self.exchange(ctx, &command).await?;
        let (RoleId::InSpace(id), Some(kind)) = (&command.id, kind) else { return Ok(found) };
        let (row, role) = self.find_for_update(ctx, id).await?;
        let change = Change::from_edit(role, ctx.now, |role| role.kind = kind);
        AdminWithoutRules(self.store).change(ctx.organization, row, &change).await?;
        Ok(change.after.detail())
    }
}

#[async_trait]
impl CommandHandler<DestroyRole> for Roles<'_> {
    async fn check_enqueue(&self, ctx: &Ctx, command: &DestroyRole) -> Result<()> {
        ctx.require(&WRITE_ROLES)?;
        self.find_unchecked(ctx, &command.id).await.map(drop)
    }

    async fn precheck(&self, ctx: &Ctx, command: &DestroyRole) -> Result<()> {
        self.check_enqueue(ctx, command).await
    }

    async fn handle(&self, ctx: &Ctx, command: DestroyRole) -> Result<()> {
        self.check_enqueue(ctx, &command).await?;
        self.revoke(ctx.organization, &command.id, ctx.now).await
    }
}

fn role_type(name: &str) -> Result<RoleType> {
    let unknown = || Error::unprocessable("type", "inclusion", format!("Invalid role type: {name}"));
    RoleType::parse(name).ok_or_else(unknown)
}

/// Whether the identity members that were sent are the role's. Digits in a text are a number.
fn same_identity(id: &RoleId, sent: &Map<String, Value>) -> Result<()> {
    let same = |name: &str, value: &Value| match name {
        "resource_type" => value.as_str() == Some(id.resource_type()),
        "resource_id" => integer(value) == Some(id.resource_id()),
        _ if value.is_null() => id.user().is_none(),
        _ => integer(value).is_some_and(|n| id.user() == Some(UserId(n))),
    };
    for name in ["resource_type", "resource_id", "user_id"] {
        if sent.get(name).is_some_and(|value| !same(name, value)) {
            return Err(Error::unprocessable(name, "invalid", "Resource and user of a role can not change"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
