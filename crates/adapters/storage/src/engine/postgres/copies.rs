//! What copies of a whole database need: a connection without time limits, and empty tables of a known schema.

use super::tls::{self, Usage};
use super::{Db, Harness, MIGRATIONS, with_harness};
use crate::pools::Settings;
use civitas_kernel::{Error, Result};
use diesel::connection::SimpleConnection;
use diesel::migration::{Migration, MigrationSource};
use diesel_migrations::MigrationHarness;
use tokio_postgres::Client;

/// Opens a connection that is not of a pool. Its statements and transactions have no time limit.
///
/// # Errors
/// `Unavailable` when the database does not answer.
pub async fn connect_client(settings: &Settings) -> Result<Client> {
    const SETTINGS: &str =
        "SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0; SET lock_timeout = 0";
    let client = tls::connect_client(&settings.url, Usage::Reading).await;
    let client = client.map_err(|error| Error::Unavailable(error.into()))?;
    client.batch_execute(SETTINGS).await.map_err(|error| Error::Unavailable(error.into()))?;
    Ok(client)
}

/// Creates the tables of these versions of the schema: in a new schema of the database with this name, or, without a
/// name, where `migrate` creates them. Rows that a migration writes are there too.
///
/// # Errors
/// `Internal` when there is such a schema, a migration was applied already, or a version is unknown to this build.
pub async fn create_tables(settings: &Settings, schema: Option<String>, versions: Vec<String>) -> Result<()> {
    with_harness(settings, move |harness| {
        if let Some(schema) = schema {
            let statements = format!("CREATE SCHEMA \"{schema}\"; SET LOCAL search_path TO \"{schema}\"");
            SimpleConnection::batch_execute(harness, &statements)?;
        }
        apply(harness, &versions)
    })
    .await
}

fn apply(harness: &mut Harness, versions: &[String]) -> diesel::migration::Result<()> {
    if !harness.applied_migrations()?.is_empty() {
        return Err("the database is not empty".into());
    }
    let known: Vec<Box<dyn Migration<Db>>> = MIGRATIONS.migrations()?;
    let wanted: Vec<_> = known
        .into_iter()
        .filter(|migration| versions.contains(&migration.name().version().to_string()))
        .collect();
    if wanted.len() != versions.len() {
        return Err("the schema of the backup is newer than this civitas".into());
    }
    harness.run_migrations(&wanted)?;
    Ok(())
}
