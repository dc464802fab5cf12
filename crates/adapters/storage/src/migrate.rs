//! Migrations: applies them, and lists which are applied.

use crate::engine::{self, Conn, Db, MIGRATIONS};
use crate::pools::DatabaseSettings;
use civitas_kernel::Result;
use diesel::QueryResult;
use diesel::connection::SimpleConnection;
use diesel::migration::{Migration, MigrationSource};
use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use diesel_migrations::MigrationHarness;
use std::collections::BTreeSet;

/// The state of the schema of a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SchemaState {
    /// It is the one this build needs.
    Current,
    /// These migrations, by name and in their order, are still to be applied.
    Older(Vec<String>),
    /// These versions were applied by a newer build.
    Newer(Vec<String>),
}

/// Applies the missing migrations, all or none, and returns their names. Updates the statistics of a database that was not
/// new. Several processes may call it at once.
///
/// # Errors
/// `Unavailable` when the database does not answer; `Internal` when a migration fails.
pub async fn migrate(settings: &DatabaseSettings) -> Result<Vec<String>> {
    engine::with_harness(settings, |harness| {
        let pending = harness.pending_migrations(MIGRATIONS)?;
        let names = pending.iter().map(|migration| migration.name().to_string()).collect();
        let is_new = harness.applied_migrations()?.is_empty();
        harness.run_migrations(&pending)?;
        // A new index without statistics beside others that have some is chosen too often, or never.
        if !pending.is_empty() && !is_new {
            harness.batch_execute(engine::ANALYZE_WITHIN)?;
        }
        Ok(names)
    })
    .await
}

/// The state of the schema.
pub async fn schema(settings: &DatabaseSettings) -> Result<SchemaState> {
    engine::with_harness(settings, |harness| {
        let known: Vec<Box<dyn Migration<Db>>> = MIGRATIONS.migrations()?;
        let applied: BTreeSet<String> =
            harness.applied_migrations()?.iter().map(ToString::to_string).collect();
        let version = |migration: &dyn Migration<Db>| migration.name().version().to_string();
        let versions: BTreeSet<String> = known.iter().map(|m| version(m.as_ref())).collect();
        let strange: Vec<String> = applied.difference(&versions).cloned().collect();
        if !strange.is_empty() {
            return Ok(SchemaState::Newer(strange));
        }
        let missing = known.iter().filter(|m| !applied.contains(&version(m.as_ref())));
        let missing: Vec<String> = missing.map(|m| m.name().to_string()).collect();
        Ok(if missing.is_empty() { SchemaState::Current } else { SchemaState::Older(missing) })
    })
    .await
}

diesel::table! {
    /// The applied migrations; the table is that of `diesel_migrations`.
    #[sql_name = "__diesel_schema_migrations"]
    applied_migrations (version) {
        version -> Text,
    }
}

/// Checks the database by reading a row that every migrated one has.
///
/// # Errors
/// When the database does not answer, or was never migrated.
pub(crate) async fn touch(connection: &mut Conn) -> QueryResult<()> {
    applied_migrations::table.select(applied_migrations::version).first::<String>(connection).await.map(drop)
}

/// Writes such a row without changing it.
///
/// # Errors
/// When the database does not answer, cannot be written, or was never migrated.
pub(crate) async fn write(connection: &mut Conn) -> QueryResult<()> {
    let version = applied_migrations::version;
    let first = applied_migrations::table.select(version).first::<String>(connection).await?;
    let row = applied_migrations::table.find(&first);
    diesel::update(row).set(version.eq(&first)).execute(connection).await.map(drop)
}
