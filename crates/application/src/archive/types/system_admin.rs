//! `system_admin`: an account of the system panel.

use super::super::kind::Owner;
use super::super::record::Record;
use super::password::set_hash;
use super::{Field, OrganizationId, Ports, Result, async_trait};
use super::{Found, ImportContext, PAGE, RecordError, RecordKind, Rows, members, required};
use civitas_accounts::is_email;

pub(super) struct SystemAdmins;

/// System administrators belong to no organization.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deployment;

impl Owner for Deployment {
    fn of_record(record: &Record) -> Result<Self, RecordError> {
        record.forbid_organization().map(|()| Self)
    }

    fn of_export(organization: Option<OrganizationId>) -> Option<Self> {
        organization.is_none().then_some(Self)
    }

    fn organization(self) -> Option<OrganizationId> {
        None
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct SystemAdmin {
    email: String,
    password_hash: Option<String>,
}

members! { SystemAdmins, "system_admin", Deployment, SystemAdminFields, |kind, admin: SystemAdmin| {
    email: custom(String, check_email, with(&admin.email)),
    password: input(String),
    password_hash: resolved(String, set_password, secret(admin.password_hash.as_deref())),
}}

fn normalized(email: &str) -> String {
    email.trim().to_lowercase()
}

fn check_email(fields: &mut SystemAdminFields, admin: &mut SystemAdmin) -> Result<(), RecordError> {
    match &fields.email {
        Field::Value(email) if normalized(email) != admin.email => Err("email can not change".into()),
        Field::Null => Err("email can not change".into()),
        _ if !is_email(&admin.email) => Err(format!("email {:?} is not valid", admin.email).into()),
        _ => Ok(()),
    }
}

async fn set_password(
    context: &ImportContext<'_>,
    _: Deployment,
    fields: &mut SystemAdminFields,
    admin: &mut SystemAdmin,
) -> Result<(), RecordError> {
    set_hash(context, &fields.password, &fields.password_hash, &mut admin.password_hash).await
}

#[async_trait]
impl RecordKind for SystemAdmins {
    type Id = i64;

    /// The store cannot find an account by id; a page of one row can.
    async fn find(&self, ports: &dyn Ports, _: Deployment, id: i64) -> Result<Option<SystemAdmin>> {
        let row = ports.system_admins().after(Some(id - 1), 1).await?.pop();
        let row = row.filter(|(found, ..)| *found == id);
        Ok(row.map(|(_, email, password_hash)| SystemAdmin { email, password_hash }))
    }

    /// By id, else by email.
    async fn find_existing(
        &self,
        context: &mut ImportContext<'_>,
        owner: Deployment,
        id: Option<i64>,
        fields: &SystemAdminFields,
    ) -> Result<Option<Found<Self>>, RecordError> {
        if let Some(found) = self.find_by_id(context.ports, owner, id).await? {
            return Ok(Some(found));
        }
        let email = normalized(&required("email", &fields.email)?);
        let found = context.ports.system_admins().find(&email).await?;
        Ok(found.map(|(id, password_hash)| (id, SystemAdmin { email, password_hash })))
    }

    async fn page(&mut self, ports: &dyn Ports, _: Deployment, after: Option<i64>) -> Rows<Self> {
        let rows = ports.system_admins().after(after, PAGE).await?.into_iter();
        Ok(rows.map(|(id, email, password_hash)| (id, SystemAdmin { email, password_hash })).collect())
    }

    async fn create(
        &self,
        _: &mut ImportContext<'_>,
        _: Deployment,
        fields: &SystemAdminFields,
    ) -> Result<SystemAdmin, RecordError> {
        let email = normalized(&required("email", &fields.email)?);
        Ok(SystemAdmin { email, password_hash: None })
    }

    async fn add(
        &mut self,
        context: &mut ImportContext<'_>,
        _: Deployment,
        admin: &SystemAdmin,
    ) -> Result<i64, RecordError> {
        let store = context.ports.system_admins();
        Ok(store.put(&admin.email, admin.password_hash.as_deref(), context.options.now).await?)
    }

    async fn save(
        &mut self,
        context: &mut ImportContext<'_>,
        owner: Deployment,
        _: &Found<Self>,
        admin: SystemAdmin,
    ) -> Result<(), RecordError> {
        self.add(context, owner, &admin).await.map(|_| ())
    }
}
