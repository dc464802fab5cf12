//! `system_admin`: an account of the system panel.

use super::super::kind::NoOrganization;
use super::password::set_hash;
use super::{
    Change, Found, Import, ImportContext, Imported, KindStore, PAGE, RecordKind, Rows, members, required,
};
use super::{Field, Ports, Result, async_trait};
use civitas_accounts::is_email;
use civitas_kernel::records::Entity;
use time::OffsetDateTime;

pub(super) struct SystemAdmins;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct SystemAdmin {
    email: String,
    password_hash: Option<String>,
}

impl Entity for SystemAdmin {
    type Id = i64;

    fn set_updated_at(&mut self, _: OffsetDateTime) {}
}

members! { SystemAdmins, "system_admin", NoOrganization, SystemAdminFields, |kind, admin: SystemAdmin| {
    email: custom(String, check_email, with(&admin.email)),
    password: input(String),
    password_hash: resolved(String, set_password, secret(admin.password_hash.as_deref())),
}}

fn normalized(email: &str) -> String {
    email.trim().to_lowercase()
}

fn check_email(fields: &mut SystemAdminFields, admin: &mut SystemAdmin) -> Imported {
    match &fields.email {
        Field::Value(email) if normalized(email) != admin.email => Err("email cannot change".into()),
        Field::Null => Err("email cannot change".into()),
        _ if !is_email(&admin.email) => Err(format!("email {:?} is not valid", admin.email).into()),
        _ => Ok(()),
    }
}

async fn set_password(
    import: &mut Import<'_, '_, SystemAdmins>,
    fields: &mut SystemAdminFields,
    admin: &mut SystemAdmin,
) -> Imported {
    set_hash(import.context, &fields.password, &fields.password_hash, &mut admin.password_hash).await
}

async fn store(context: &ImportContext<'_>, admin: &SystemAdmin) -> Imported<i64> {
    let hash = admin.password_hash.as_deref();
    Ok(context.ports.system_admins().put(&admin.email, hash, context.options.now).await?)
}

#[async_trait]
impl KindStore for SystemAdmins {
    /// The store cannot find an account by id; a page of one row can.
    async fn find(&self, ports: &dyn Ports, _: NoOrganization, id: i64) -> Result<Option<SystemAdmin>> {
        let row = ports.system_admins().page_after(Some(id - 1), 1).await?.pop();
        let row = row.filter(|(found, ..)| *found == id);
        Ok(row.map(|(_, email, password_hash)| SystemAdmin { email, password_hash }))
    }

    async fn page(&mut self, ports: &dyn Ports, owner: NoOrganization, after: Option<i64>) -> Rows<Self> {
        if owner.0.is_some() {
            return Ok(Vec::new());
        }
        let rows = ports.system_admins().page_after(after, PAGE).await?.into_iter();
        Ok(rows.map(|(id, email, password_hash)| (id, SystemAdmin { email, password_hash })).collect())
    }

    async fn add(&self, import: &Import<'_, '_, Self>, admin: &SystemAdmin) -> Imported<i64> {
        store(import.context, admin).await
    }

    async fn save(&self, import: &Import<'_, '_, Self>, _: i64, change: &Change<SystemAdmin>) -> Imported {
        store(import.context, &change.after).await.map(|_| ())
    }
}

#[async_trait]
impl RecordKind for SystemAdmins {
    fn is_of_operators(&self, _: NoOrganization) -> bool {
        true
    }

    /// By id, else by email.
    async fn find_existing(
        &self,
        import: &mut Import<'_, '_, Self>,
        id: Option<i64>,
        fields: &SystemAdminFields,
    ) -> Imported<Option<Found<Self>>> {
        if let Some(found) = self.find_by_id(import, id).await? {
            return Ok(Some(found));
        }
        let email = normalized(&required("email", &fields.email)?);
        let found = import.context.ports.system_admins().find(&email).await?;
        Ok(found.map(|(id, password_hash)| (id, SystemAdmin { email, password_hash })))
    }

    async fn create(
        &self,
        _: &mut Import<'_, '_, Self>,
        fields: &SystemAdminFields,
    ) -> Imported<SystemAdmin> {
        let email = normalized(&required("email", &fields.email)?);
        Ok(SystemAdmin { email, password_hash: None })
    }
}
