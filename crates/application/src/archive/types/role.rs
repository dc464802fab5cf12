//! `role`: a role of a user in a space, or an invitation to it. A `general_admin` has no row of its own: it is a flag
//! of the account (contract 03 §4.1).

use super::super::context::{ImportedRecord, RecordType};
use super::super::error::ExportError;
use super::super::kind::{Members, Owner, import_fields};
use super::super::members::check_fixed;
use super::super::output::Output;
use super::super::record::Record;
use super::super::refs::RecordId;
use super::super::report::Outcome;
use super::{Field, OrganizationId, Ports, Result, async_trait};
use super::{Found, ImportContext, Moment, PAGE, RecordError, RecordKind, Rows, members, required};
use civitas_accounts::{Role, RoleKind, SendInvitation, is_email};
use civitas_kernel::{NewTask, SpaceManifest, SpaceRef, UserId};
use serde::Deserialize;

/// All roles: those in spaces, and general administrators.
pub(super) struct Roles;

/// The roles in spaces.
struct SpaceRoles;

/// The prefix of the stored id of a `general_admin`; the number is that of the account.
const GENERAL_ADMIN: &str = "general_admin/";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    GeneralAdmin,
    SpacePrivateMember,
    SpaceAdministrator,
    SpaceModerator,
    SpaceValuator,
}

impl Kind {
    fn in_space(self) -> Result<RoleKind, RecordError> {
        Ok(match self {
            Self::GeneralAdmin => return Err("kind can not change".into()),
            Self::SpacePrivateMember => RoleKind::SpacePrivateMember,
            Self::SpaceAdministrator => RoleKind::SpaceAdministrator,
            Self::SpaceModerator => RoleKind::SpaceModerator,
            Self::SpaceValuator => RoleKind::SpaceValuator,
        })
    }
}

// Space and kind are checked before the user, but exported after the user.
members! { SpaceRoles, "role", OrganizationId, RoleFields, |kind, role: Role| {
    user: resolved(String, set_space_kind_and_user, with(role.user.map(|user| user.to_string()))),
    email: optional(String),
    kind: output(Kind, with(role.kind)),
    space: output(String, with(role.space.to_text())),
    invited_at: optional(Moment),
    accepted_at: optional(Moment),
    created_at: required(Moment),
    updated_at: updated(Moment),
}}

async fn set_space_kind_and_user(
    context: &mut ImportContext<'_>,
    organization: OrganizationId,
    fields: &mut RoleFields,
    role: &mut Role,
) -> Result<(), RecordError> {
    if let Some(space) = fields.space.as_value() {
        let space = context.refs.resolve::<SpaceRef>(organization, space).await?;
        check_fixed("space", &Field::Value(space), &role.space)?;
    }
    match fields.kind {
        Field::Absent => {}
        Field::Value(kind) => role.kind = kind.in_space()?,
        Field::Null => return Err("kind can not be null".into()),
    }
    match &fields.user {
        Field::Absent => {}
        Field::Null => role.user = None,
        Field::Value(user) => role.user = Some(context.refs.resolve(organization, user).await?),
    }
    Ok(())
}

/// Sends the mail of a new invitation, if the import emits events.
async fn invite(
    context: &ImportContext<'_>,
    organization: OrganizationId,
    row: i64,
    role: &Role,
) -> Result<(), RecordError> {
    if context.options.announcer.is_none() || !role.is_pending() {
        return Ok(());
    }
    let task = NewTask::of(organization, &SendInvitation { role: row }, context.options.now)?;
    Ok(context.ports.queue().add(&task.about(row)).await?)
}

#[async_trait]
impl RecordKind for SpaceRoles {
    type Id = i64;

    async fn find(&self, ports: &dyn Ports, of: OrganizationId, id: i64) -> Result<Option<Role>> {
        ports.roles().find(of, id).await
    }

    async fn page(&mut self, ports: &dyn Ports, of: OrganizationId, after: Option<i64>) -> Rows<Self> {
        ports.roles().after(of, after, PAGE).await
    }

    async fn create(
        &self,
        context: &mut ImportContext<'_>,
        of: OrganizationId,
        fields: &RoleFields,
    ) -> Result<Role, RecordError> {
        let kind = required("kind", &fields.kind)?.in_space()?;
        let space: SpaceRef = context.refs.resolve(of, &required("space", &fields.space)?).await?;
        if space.manifest == SpaceManifest::Initiatives {
            return Err("an initiative has no roles".into());
        }
        let now = context.options.now;
        Ok(Role {
            space,
            user: None,
            email: None,
            kind,
            invited_at: None,
            accepted_at: None,
            created_at: now,
            updated_at: now,
        })
    }

    fn check(&self, _: &ImportContext<'_>, role: &mut Role) -> Result<(), RecordError> {
        role.email = role.email.take().map(|email| email.trim().to_lowercase());
        match (&role.user, &role.email) {
            (None, None) => Err("email is required where user is null".into()),
            (None, _) if role.accepted_at.is_some() => {
                Err("an invitation without user can not be accepted".into())
            }
            (_, Some(email)) if !is_email(email) => Err(format!("email {email:?} is not valid").into()),
            _ => Ok(()),
        }
    }

    async fn add(
        &mut self,
        context: &mut ImportContext<'_>,
        of: OrganizationId,
        role: &Role,
    ) -> Result<i64, RecordError> {
        let row = context.ports.roles().add(of, role).await?;
        invite(context, of, row, role).await?;
        Ok(row)
    }

    async fn save(
        &mut self,
        context: &mut ImportContext<'_>,
        of: OrganizationId,
        (row, old): &Found<Self>,
        role: Role,
    ) -> Result<(), RecordError> {
        context.ports.roles().save(of, *row, &role).await?;
        if old.is_pending() { Ok(()) } else { invite(context, of, *row, &role).await }
    }
}

/// Makes an account a general administrator. The record has no other effect: the times are those of the account.
async fn make_admin(
    context: &mut ImportContext<'_>,
    organization: OrganizationId,
    existing: Option<UserId>,
    fields: &RoleFields,
) -> Result<ImportedRecord, RecordError> {
    let without_place = fields.space.is_absent() && fields.email.is_absent();
    if !(without_place && fields.invited_at.is_absent() && fields.accepted_at.is_absent()) {
        return Err("a general_admin has no space, email, invited_at and accepted_at".into());
    }
    let id = match (&fields.user, existing) {
        (Field::Absent, Some(id)) => id,
        _ => context.refs.resolve(organization, &required("user", &fields.user)?).await?,
    };
    check_fixed("user", &Field::Value(id), &existing.unwrap_or(id))?;
    let store = context.ports.users();
    let before = store.find(organization, id).await?.ok_or("the user is gone")?;
    let outcome = match existing {
        _ if before.admin => Outcome::Unchanged,
        Some(_) => Outcome::Updated,
        None => Outcome::Created,
    };
    if !before.admin {
        let mut user = before.clone();
        user.admin = true;
        store.save(organization, id, user.after(id, &before)).await?;
    }
    Ok(ImportedRecord { id: format!("{GENERAL_ADMIN}{id}"), outcome })
}

#[async_trait]
impl RecordType for Roles {
    fn name(&self) -> &'static str {
        SpaceRoles.type_name()
    }

    async fn import(
        &mut self,
        context: &mut ImportContext<'_>,
        record: Record,
    ) -> Result<ImportedRecord, RecordError> {
        let organization = OrganizationId::of_record(&record)?;
        let fields: RoleFields = record.fields()?;
        let existing_id = record.existing_id.as_deref();
        let admin = existing_id.and_then(|id| id.strip_prefix(GENERAL_ADMIN)).and_then(UserId::parse);
        match fields.kind {
            Field::Value(Kind::GeneralAdmin) if existing_id.is_some() == admin.is_some() => {
                make_admin(context, organization, admin, &fields).await
            }
            Field::Absent if admin.is_some() => make_admin(context, organization, admin, &fields).await,
            _ if admin.is_some() => Err("kind can not change".into()),
            _ => import_fields(&mut SpaceRoles, context, &record, organization, fields).await,
        }
    }

    async fn export(
        &mut self,
        ports: &dyn Ports,
        organization: Option<OrganizationId>,
        output: &mut Output<'_>,
    ) -> Result<(), ExportError> {
        SpaceRoles.export(ports, organization, output).await
    }
}
