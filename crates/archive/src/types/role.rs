//! `role`: a role of a user in a space, or an invitation to it. A `general_admin` has no row of its own: it is a flag
//! of the account (contract 03 §4.1).

use super::{
    ExportedPerson, Import, ImportContext, ImportResult, OrganizationId, PatchField, RecordKind,
    StoredRecord, Timestamp, async_trait, members, required,
};
use crate::context::ImportedRecord;
use crate::members::check_fixed;
use crate::record::ArchiveRecord;
use crate::refs::RecordId;
use crate::report::RecordOutcome;
use civitas_accounts::{Role, RoleKind, SendInvitation, User, is_email, normal_email};
use civitas_kernel::records::Change;
use civitas_kernel::{NewTask, SpaceKind, SpaceRef, UserId};
use serde::Deserialize;

/// The roles in spaces, and general administrators.
pub(super) struct RoleRecordType;

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
    fn in_space(self) -> ImportResult<RoleKind> {
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
members! { RoleRecordType, "role", ports.roles(), RoleFields, |kind, role: Role| {
    user: resolved(String, set_space_kind_and_user, with(role.user.map(|user| user.to_string()))),
    email: optional(String),
    kind: output(Kind, with(role.kind)),
    space: output(String, with(role.space.to_text())),
    invited_at: optional(Timestamp),
    accepted_at: optional(Timestamp),
    created_at: required(Timestamp),
    updated_at: required(Timestamp),
}}

async fn set_space_kind_and_user(
    import: &mut Import<'_, '_, RoleRecordType>,
    fields: &mut RoleFields,
    role: &mut Role,
) -> ImportResult {
    if let Some(space) = fields.space.as_value() {
        let space = import.context.refs.resolve::<SpaceRef>(import.owner, space).await?;
        check_fixed("space", &PatchField::Value(space), &role.space)?;
    }
    match fields.kind {
        PatchField::Absent => {}
        PatchField::Value(kind) => role.kind = kind.in_space()?,
        PatchField::Null => return Err("kind cannot be null".into()),
    }
    import.context.refs.set_optional(import.owner, &fields.user, &mut role.user).await
}

/// Sends the mail of a new invitation, if the import emits events.
async fn invite(
    context: &ImportContext<'_>,
    organization: OrganizationId,
    row: i64,
    role: &Role,
) -> ImportResult {
    if context.options.committer.is_none() || !role.is_pending() {
        return Ok(());
    }
    let task = NewTask::new(organization, &SendInvitation { role: row }, context.options.now)?;
    Ok(context.ports.queue().add(&task.with_subject(row)).await?)
}

#[async_trait]
impl RecordKind for RoleRecordType {
    const IN_BATCHES: bool = true;

    async fn create(&self, import: &mut Import<'_, '_, Self>, fields: &RoleFields) -> ImportResult<Role> {
        let kind = required("kind", &fields.kind)?.in_space()?;
        let space: SpaceRef = import.required_ref("space", &fields.space).await?;
        if space.kind == SpaceKind::Initiatives {
            return Err("an initiative has no roles".into());
        }
        Ok(Role::new(space, None, kind, import.context.options.now))
    }

    /// A general administrator.
    async fn import_without_row(
        &self,
        import: &mut Import<'_, '_, Self>,
        record: &ArchiveRecord,
        fields: &RoleFields,
    ) -> ImportResult<Option<ImportedRecord>> {
        let existing_id = record.existing_id.as_deref();
        let admin = existing_id.and_then(|id| id.strip_prefix(GENERAL_ADMIN)).and_then(UserId::parse);
        match fields.kind {
            PatchField::Value(Kind::GeneralAdmin) if existing_id.is_some() == admin.is_some() => {}
            PatchField::Absent if admin.is_some() => {}
            _ if admin.is_some() => return Err("kind cannot change".into()),
            _ => return Ok(None),
        }
        make_admin(import.context, import.owner, admin, fields).await.map(Some)
    }

    fn check(&self, _: &ImportContext<'_>, role: &mut Role) -> ImportResult {
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
    ) -> ImportResult {
        if before.is_some_and(Role::is_pending) {
            return Ok(());
        }
        invite(import.context, import.owner, row, role).await
    }

    /// Also an invitation without account to the address of the person.
    fn belongs_to_person(&self, person: &mut ExportedPerson, (_, role): &mut StoredRecord<Self>) -> bool {
        match role.user {
            Some(user) => user == person.id,
            None => role.email.as_ref() == Some(&person.email),
        }
    }
}

/// Makes an account a general administrator. The record has no other effect: the times are those of the account.
async fn make_admin(
    context: &mut ImportContext<'_>,
    organization: OrganizationId,
    existing: Option<UserId>,
    fields: &RoleFields,
) -> ImportResult<ImportedRecord> {
    let without_space = fields.space.is_absent() && fields.email.is_absent();
    if !(without_space && fields.invited_at.is_absent() && fields.accepted_at.is_absent()) {
        return Err("a general_admin has no space, email, invited_at and accepted_at".into());
    }
    let id = match (&fields.user, existing) {
        (PatchField::Absent, Some(id)) => id,
        _ => context.refs.resolve(organization, &required("user", &fields.user)?).await?,
    };
    check_fixed("user", &PatchField::Value(id), &existing.unwrap_or(id))?;
    let store = context.ports.users();
    let before = store.find_for_update(organization, id).await?.ok_or("the user is gone")?;
    let outcome = match existing {
        _ if before.admin => RecordOutcome::Unchanged,
        Some(_) => RecordOutcome::Updated,
        None => RecordOutcome::Created,
    };
    if !before.admin {
        let after = User { admin: true, ..before.clone() };
        store.save(organization, id, &Change::new(before, after)).await?;
    }
    Ok(ImportedRecord { id: format!("{GENERAL_ADMIN}{id}"), number: None, outcome })
}
