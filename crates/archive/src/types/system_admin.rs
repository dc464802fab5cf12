//! `system_admin`: an account of the system panel.

use super::password::set_hash;
use super::{Change, Import, ImportResult, PAGE, RecordKind, RecordStore, Rows, members, required};
use super::{PatchField, Ports, Result, async_trait};
use crate::owner::NoOrganization;
use civitas_accounts::{Administrator, is_email, normal_email};
use civitas_kernel::AdministratorId;

pub(super) struct SystemAdminRecordType;

members! { SystemAdminRecordType, "system_admin", NoOrganization, SystemAdminFields, |kind, admin: Administrator| {
    email: custom(String, check_email, with(&admin.email)),
    password: input(String),
    password_hash: resolved(String, set_password, secret(admin.password.as_deref())),
}}

fn check_email(fields: &mut SystemAdminFields, admin: &mut Administrator) -> ImportResult {
    match &fields.email {
        PatchField::Value(email) if normal_email(email) != admin.email => Err("email cannot change".into()),
        PatchField::Null => Err("email cannot change".into()),
        _ if !is_email(&admin.email) => Err(format!("email {:?} is not valid", admin.email).into()),
        _ => Ok(()),
    }
}

async fn set_password(
    import: &mut Import<'_, '_, SystemAdminRecordType>,
    fields: &mut SystemAdminFields,
    admin: &mut Administrator,
) -> ImportResult {
    set_hash(import.context, &fields.password, &fields.password_hash, &mut admin.password).await
}

#[async_trait]
impl RecordStore for SystemAdminRecordType {
    async fn find_for_update(
        &self,
        ports: &dyn Ports,
        _: NoOrganization,
        id: AdministratorId,
    ) -> Result<Option<Administrator>> {
        ports.administrators().find_for_update(id).await
    }

    async fn page(
        &mut self,
        ports: &dyn Ports,
        owner: NoOrganization,
        after: Option<AdministratorId>,
    ) -> Rows<Self> {
        if owner.0.is_some() {
            return Ok(Vec::new());
        }
        ports.administrators().page_after(after, PAGE).await
    }

    async fn add(
        &self,
        import: &Import<'_, '_, Self>,
        admin: &Administrator,
    ) -> ImportResult<AdministratorId> {
        Ok(import.context.ports.administrators().add(admin).await?)
    }

    /// Under the lock of the row: a sign-in counts failures in it. A new password ends the sessions.
    async fn save(
        &self,
        import: &Import<'_, '_, Self>,
        id: AdministratorId,
        change: &Change<Administrator>,
    ) -> ImportResult {
        let ports = import.context.ports;
        let Some(mut admin) = ports.administrators().find_for_update(id).await? else {
            return Err("the account was deleted meanwhile".into());
        };
        if change.before.password != change.after.password {
            admin.password.clone_from(&change.after.password);
            ports.panel_sessions().remove_all_of(id, None).await?;
        }
        admin.updated_at = change.after.updated_at;
        Ok(ports.administrators().save(id, &admin).await?)
    }
}

#[async_trait]
impl RecordKind for SystemAdminRecordType {
    fn has_deployment_rights(&self, _: NoOrganization) -> bool {
        true
    }

    /// The email.
    async fn find_by_key(
        &self,
        import: &Import<'_, '_, Self>,
        fields: &SystemAdminFields,
    ) -> ImportResult<Option<AdministratorId>> {
        let email = normal_email(&required("email", &fields.email)?);
        let found = import.context.ports.administrators().find_by_email(&email).await?;
        Ok(found.map(|(id, _)| id))
    }

    async fn create(
        &self,
        import: &mut Import<'_, '_, Self>,
        fields: &SystemAdminFields,
    ) -> ImportResult<Administrator> {
        let email = normal_email(&required("email", &fields.email)?);
        Ok(Administrator::new(email, import.context.options.now))
    }
}
