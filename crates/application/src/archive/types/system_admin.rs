//! `system_admin`: an account of the system panel.

use super::super::export::{ExportError, PAGE, Row, Sink, every};
use super::super::failure::Fault;
use super::super::import::{Import, Put};
use super::super::members::{fixed, need};
use super::super::record::Record;
use super::RecordType;
use crate::Ports;
use async_trait::async_trait;
use civitas_accounts::is_email;
use civitas_kernel::{Field, OrganizationId};
use serde::Deserialize;

pub(super) struct SystemAdmins;

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct SystemAdminRecord {
    email: Field<String>,
    password: Field<String>,
    password_hash: Field<String>,
}

#[async_trait]
impl RecordType for SystemAdmins {
    fn name(&self) -> &'static str {
        "system_admin"
    }

    async fn put(&self, import: &mut Import<'_>, record: Record) -> Result<Put, Fault> {
        record.homeless()?;
        let said: SystemAdminRecord = record.members()?;
        let store = import.ports.system_admins();
        let said_email = match said.email {
            Field::Value(email) => Field::Value(email.trim().to_lowercase()),
            other => other,
        };
        let seen = match record.seen_as(|row| row) {
            Some(row) => store.after(Some(row - 1), 1).await?.pop().filter(|(found, ..)| *found == row),
            None => None,
        };
        let email = match &seen {
            Some((_, email, _)) => {
                fixed("email", &said_email, email)?;
                email.clone()
            }
            None => need("email", &said_email)?,
        };
        if !is_email(&email) {
            return Err(format!("email {email:?} is not valid").into());
        }
        let before = store.find(&email).await?;
        let mut hash = before.as_ref().and_then(|(_, hash)| hash.clone());
        import.password(said.password, said.password_hash, &mut hash).await?;
        match before {
            Some((row, kept)) if kept == hash => Ok(Put::unchanged(row)),
            Some(_) => Ok(Put::updated(store.put(&email, hash.as_deref(), import.options.now).await?)),
            None => Ok(Put::created(store.put(&email, hash.as_deref(), import.options.now).await?)),
        }
    }

    async fn export(&self, _: &dyn Ports, _: OrganizationId, _: &mut Sink<'_>) -> Result<(), ExportError> {
        Ok(())
    }

    async fn export_deployment_wide(
        &self,
        ports: &dyn Ports,
        sink: &mut Sink<'_>,
    ) -> Result<(), ExportError> {
        let page = async |after| {
            let rows = ports.system_admins().after(after, PAGE).await?;
            Ok(rows.into_iter().map(|(row, email, hash)| (row, (email, hash))).collect())
        };
        let with_secrets = sink.with_secrets;
        every(page, |row, (email, hash)| {
            let hash = hash.filter(|_| with_secrets);
            sink.write(&Row::new(self.name(), row).with("email", email).unless_empty("password_hash", hash))
        })
        .await
    }
}
