//! `role`: a role of a user in a space, or an invitation to it. A `general_admin` has no row of its own: it is a flag
//! of the account (contract 03 §4.1).

use super::{ExportSource, Field, OrganizationId, Ports, Result, async_trait};
use super::{Import, ImportContext, Imported, Moment, OrganizationKind, RecordKind, members, required};
use crate::chunk::Line;
use crate::context::{ImportOptions, ImportedRecord, RecordType};
use crate::error::ExportError;
use crate::kind::{Members, import_fields};
use crate::lines::LongTexts;
use crate::members::check_fixed;
use crate::output::Output;
use crate::owner::Owner;
use crate::record::ArchiveRecord;
use crate::refs::RecordId;
use crate::report::Outcome;
use civitas_accounts::{Role, RoleKind, SendInvitation, User, is_email, normal_email};
use civitas_kernel::records::{Change, Records};
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
    fn in_space(self) -> Imported<RoleKind> {
        Ok(match self {
            Self::GeneralAdmin => return Err("kind cannot change".into()),
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
    updated_at: required(Moment),
}}

async fn set_space_kind_and_user(
    import: &mut Import<'_, '_, SpaceRoles>,
    fields: &mut RoleFields,
    role: &mut Role,
) -> Imported {
    if let Some(space) = fields.space.as_value() {
        let space = import.context.refs.resolve::<SpaceRef>(import.owner, space).await?;
        check_fixed("space", &Field::Value(space), &role.space)?;
    }
    match fields.kind {
        Field::Absent => {}
        Field::Value(kind) => role.kind = kind.in_space()?,
        Field::Null => return Err("kind cannot be null".into()),
    }
    import.context.refs.set_optional(import.owner, &fields.user, &mut role.user).await
}

/// Sends the mail of a new invitation, if the import emits events.
async fn invite(
    context: &ImportContext<'_>,
    organization: OrganizationId,
    row: i64,
    role: &Role,
) -> Imported {
    if context.options.announcer.is_none() || !role.is_pending() {
        return Ok(());
    }
    let task = NewTask::of(organization, &SendInvitation { role: row }, context.options.now)?;
    Ok(context.ports.queue().add(&task.about(row)).await?)
}

impl OrganizationKind for SpaceRoles {
    fn records<'a>(&self, ports: &'a dyn Ports) -> &'a dyn Records<Role> {
        ports.roles()
    }
}

#[async_trait]
impl RecordKind for SpaceRoles {
    const TOGETHER: bool = true;

    async fn create(&self, import: &mut Import<'_, '_, Self>, fields: &RoleFields) -> Imported<Role> {
        let kind = required("kind", &fields.kind)?.in_space()?;
        let space: SpaceRef =
            import.context.refs.resolve(import.owner, &required("space", &fields.space)?).await?;
        if space.manifest == SpaceManifest::Initiatives {
            return Err("an initiative has no roles".into());
        }
        Ok(Role::new(space, None, kind, import.context.options.now))
    }

    fn check(&self, _: &ImportContext<'_>, role: &mut Role) -> Imported {
        role.email = role.email.take().map(|email| normal_email(&email));
        match (&role.user, &role.email) {
            (None, None) => Err("email is required where user is null".into()),
            (None, _) if role.accepted_at.is_some() => {
                Err("an invitation without user cannot be accepted".into())
            }
            (_, Some(email)) if !is_email(email) => Err(format!("email {email:?} is not valid").into()),
            _ => Ok(()),
        }
    }

    async fn follow_up(
        &mut self,
        import: &mut Import<'_, '_, Self>,
        row: i64,
        before: Option<&Role>,
        role: &Role,
    ) -> Imported {
        if before.is_some_and(Role::is_pending) {
            return Ok(());
        }
        invite(import.context, import.owner, row, role).await
    }
}

/// Makes an account a general administrator. The record has no other effect: the times are those of the account.
async fn make_admin(
    context: &mut ImportContext<'_>,
    organization: OrganizationId,
    existing: Option<UserId>,
    fields: &RoleFields,
) -> Imported<ImportedRecord> {
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
    let before = store.find_for_update(organization, id).await?.ok_or("the user is gone")?;
    let outcome = match existing {
        _ if before.admin => Outcome::Unchanged,
        Some(_) => Outcome::Updated,
        None => Outcome::Created,
    };
    if !before.admin {
        let after = User { admin: true, ..before.clone() };
        store.save(organization, id, &Change::new(before, after)).await?;
    }
    Ok(ImportedRecord { id: format!("{GENERAL_ADMIN}{id}"), number: None, outcome })
}

#[async_trait]
impl RecordType for Roles {
    fn name(&self) -> &'static str {
        SpaceRoles.type_name()
    }

    fn check_fields(
        &self,
        record: &ArchiveRecord,
        options: ImportOptions<'_>,
        long_texts: &LongTexts,
    ) -> Imported {
        SpaceRoles.check_fields(record, options, long_texts)
    }

    async fn import(
        &mut self,
        context: &mut ImportContext<'_>,
        record: ArchiveRecord,
    ) -> Imported<ImportedRecord> {
        let organization = OrganizationId::of_record(&record)?;
        let fields: RoleFields = record.fields(context.options.rules(), &context.files.long_texts)?;
        let existing_id = record.existing_id.as_deref();
        let admin = existing_id.and_then(|id| id.strip_prefix(GENERAL_ADMIN)).and_then(UserId::parse);
        match fields.kind {
            Field::Value(Kind::GeneralAdmin) if existing_id.is_some() == admin.is_some() => {
                make_admin(context, organization, admin, &fields).await
            }
            Field::Absent if admin.is_some() => make_admin(context, organization, admin, &fields).await,
            _ if admin.is_some() => Err("kind cannot change".into()),
            _ => {
                let import = &mut Import { context, owner: organization };
                import_fields(&mut SpaceRoles, import, &record, fields).await
            }
        }
    }

    async fn import_together(
        &mut self,
        context: &mut ImportContext<'_>,
        lines: &[Line],
    ) -> Imported<Option<Vec<ImportedRecord>>> {
        let is_admin =
            |line: &Line| line.record.members.get("kind").is_some_and(|kind| kind == "general_admin");
        if lines.iter().any(is_admin) { Ok(None) } else { SpaceRoles.import_together(context, lines).await }
    }

    async fn export(
        &mut self,
        source: ExportSource<'_>,
        organization: Option<OrganizationId>,
        output: &mut Output<'_>,
    ) -> Result<(), ExportError> {
        SpaceRoles.export(source, organization, output).await
    }
}
