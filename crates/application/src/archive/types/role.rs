//! `role`: what somebody is in a space, or an invitation to that. `general_admin` is no row of its own but a flag
//! of the account (contract 03 §4.1).

use super::super::export::{ExportError, PAGE, Row, Sink, every};
use super::super::failure::Fault;
use super::super::import::{Import, Put};
use super::super::members::{Moment, fixed, maybe, need, set};
use super::super::record::Record;
use super::super::refs::space_id;
use super::RecordType;
use crate::Ports;
use async_trait::async_trait;
use civitas_accounts::{Role, RoleKind, SendInvitation, is_email};
use civitas_kernel::{Field, NewTask, OrganizationId, SpaceManifest, UserId};
use serde::Deserialize;

pub(super) struct Roles;

/// Before the id under which a `general_admin` is remembered: the number of the account.
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
    fn of_space(self) -> Option<RoleKind> {
        Some(match self {
            Self::GeneralAdmin => return None,
            Self::SpacePrivateMember => RoleKind::SpacePrivateMember,
            Self::SpaceAdministrator => RoleKind::SpaceAdministrator,
            Self::SpaceModerator => RoleKind::SpaceModerator,
            Self::SpaceValuator => RoleKind::SpaceValuator,
        })
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct RoleRecord {
    user: Field<String>,
    email: Field<String>,
    kind: Field<Kind>,
    space: Field<String>,
    invited_at: Field<Moment>,
    accepted_at: Field<Moment>,
    created_at: Field<Moment>,
    updated_at: Field<Moment>,
}

impl RoleRecord {
    async fn begin(&self, import: &mut Import<'_>, organization: OrganizationId) -> Result<Role, Fault> {
        let kind = need("kind", &self.kind)?.of_space().ok_or("kind can not change")?;
        let space = import.refs.space(organization, &need("space", &self.space)?).await?;
        if space.manifest == SpaceManifest::Initiatives {
            return Err("an initiative has no roles".into());
        }
        let now = import.options.now;
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

    async fn apply(
        self,
        import: &mut Import<'_>,
        organization: OrganizationId,
        role: &mut Role,
    ) -> Result<(), Fault> {
        if let Some(space) = self.space.as_value() {
            let space = import.refs.space(organization, space).await?;
            fixed("space", &Field::Value(space), &role.space)?;
        }
        match self.kind {
            Field::Absent => {}
            Field::Value(kind) => role.kind = kind.of_space().ok_or("kind can not change")?,
            Field::Null => return Err("kind can not be null".into()),
        }
        match self.user {
            Field::Absent => {}
            Field::Null => role.user = None,
            Field::Value(user) => role.user = Some(import.refs.user(organization, &user).await?),
        }
        maybe(self.email, &mut role.email);
        role.email = role.email.take().map(|email| email.trim().to_lowercase());
        maybe(self.invited_at, &mut role.invited_at);
        maybe(self.accepted_at, &mut role.accepted_at);
        set("created_at", self.created_at, &mut role.created_at)?;
        set("updated_at", self.updated_at, &mut role.updated_at)
    }

    /// Makes an account a general administrator; that is all such a record can say. The times of the role are those
    /// of the account, whose own record says them.
    async fn make_admin(
        self,
        import: &mut Import<'_>,
        organization: OrganizationId,
        seen: Option<UserId>,
    ) -> Result<Put, Fault> {
        let place = [self.space.is_absent(), self.email.is_absent()];
        let invitation = [self.invited_at.is_absent(), self.accepted_at.is_absent()];
        if place.into_iter().chain(invitation).any(|absent| !absent) {
            return Err("a general_admin has no space, email, invited_at and accepted_at".into());
        }
        let said = match (&self.user, seen) {
            (Field::Absent, Some(id)) => id,
            _ => import.refs.user(organization, &need("user", &self.user)?).await?,
        };
        fixed("user", &Field::Value(said), &seen.unwrap_or(said))?;
        let store = import.ports.users();
        let mut user = store.find(organization, said).await?.ok_or("the user is gone")?;
        let remembered = format!("{GENERAL_ADMIN}{said}");
        if user.admin {
            return Ok(Put::unchanged(remembered));
        }
        let before = user.clone();
        user.admin = true;
        store.save(organization, said, user.after(said, &before)).await?;
        Ok(if seen.is_some() { Put::updated(remembered) } else { Put::created(remembered) })
    }
}

/// Has a new invitation sent, where the import is not quiet.
async fn invite(
    import: &Import<'_>,
    organization: OrganizationId,
    row: i64,
    role: &Role,
) -> Result<(), Fault> {
    if import.options.announcer.is_none() || !role.is_pending() {
        return Ok(());
    }
    let task = NewTask::of(organization, &SendInvitation { role: row }, import.options.now)?;
    Ok(import.ports.queue().add(&task.about(row)).await?)
}

fn check(role: &Role) -> Result<(), Fault> {
    match (&role.user, &role.email) {
        (None, None) => Err("email is required where user is null".into()),
        (None, _) if role.accepted_at.is_some() => {
            Err("an invitation without user can not be accepted".into())
        }
        (_, Some(email)) if !is_email(email) => Err(format!("email {email:?} is not valid").into()),
        _ => Ok(()),
    }
}

#[async_trait]
impl RecordType for Roles {
    fn name(&self) -> &'static str {
        "role"
    }

    async fn put(&self, import: &mut Import<'_>, record: Record) -> Result<Put, Fault> {
        let organization = record.home()?;
        let said: RoleRecord = record.members()?;
        let admin = record.seen.as_deref().and_then(|seen| seen.strip_prefix(GENERAL_ADMIN));
        let admin = admin.and_then(|id| id.parse().ok()).map(UserId);
        match said.kind {
            Field::Value(Kind::GeneralAdmin) if record.seen.is_some() == admin.is_some() => {
                return said.make_admin(import, organization, admin).await;
            }
            Field::Absent if admin.is_some() => return said.make_admin(import, organization, admin).await,
            _ if admin.is_some() => return Err("kind can not change".into()),
            _ => {}
        }
        let restamped = !said.updated_at.is_absent();
        let store = import.ports.roles();
        let before = match record.seen_as(|row| row) {
            Some(row) => store.find(organization, row).await?.map(|role| (row, role)),
            None => None,
        };
        let mut role = match &before {
            Some((_, role)) => role.clone(),
            None => said.begin(import, organization).await?,
        };
        said.apply(import, organization, &mut role).await?;
        check(&role)?;
        match before {
            None => {
                let row = store.add(organization, &role).await?;
                invite(import, organization, row, &role).await?;
                Ok(Put::created(row))
            }
            Some((row, old)) if old == role => Ok(Put::unchanged(row)),
            Some((row, old)) => {
                if !restamped {
                    role.updated_at = import.options.now;
                }
                store.save(organization, row, &role).await?;
                if !old.is_pending() {
                    invite(import, organization, row, &role).await?;
                }
                Ok(Put::updated(row))
            }
        }
    }

    async fn export(
        &self,
        ports: &dyn Ports,
        organization: OrganizationId,
        sink: &mut Sink<'_>,
    ) -> Result<(), ExportError> {
        let page = |after| ports.roles().after(organization, after, PAGE);
        every(page, |row, role| {
            sink.write(
                &Row::of(organization, self.name(), row)
                    .with("user", role.user.map(|user| user.to_string()))
                    .some("email", role.email)
                    .with("kind", role.kind)
                    .with("space", space_id(role.space))
                    .time("invited_at", role.invited_at)
                    .time("accepted_at", role.accepted_at)
                    .stamps(role.created_at, role.updated_at),
            )
        })
        .await
    }
}
