//! Migrations: applies them, and lists which are applied.

use crate::engine::{self, Conn, Db, MIGRATIONS, MigrationConnection};
use crate::pools::DatabaseSettings;
use crate::session::{ExecuteExt, LoadRowsExt, borrowed_connection};
use civitas_application::{BEFORE_FIRST_RELEASE, SchemaState};
use civitas_kernel::Result;
use diesel::connection::SimpleConnection;
use diesel::migration::{Migration, MigrationSource};
use diesel::prelude::*;
use diesel_migrations::MigrationHarness;
use std::collections::BTreeSet;

/// Applies the missing migrations, all or none, and returns their names. Updates the statistics of a database that was not
/// new. Several processes may call it at once.
///
/// # Errors
/// `Unavailable` when the database does not answer; `Internal` when a migration fails, and with a sentence for the operator
/// when a build before version 0.1.0 made the database.
pub async fn migrate(settings: &DatabaseSettings) -> Result<Vec<String>> {
    engine::with_harness(settings, |harness| {
        if state_of(harness)? == SchemaState::BeforeFirstRelease {
            return Err(BEFORE_FIRST_RELEASE.into());
        }
        let pending = harness.pending_migrations(MIGRATIONS)?;
        let names = pending.iter().map(|migration| migration.name().to_string()).collect();
        let is_new = harness.applied_migrations()?.is_empty();
        harness.run_migrations(&pending)?;
        // A new index without statistics beside others that have some is chosen too often, or never.
        if !pending.is_empty() && !is_new {
            harness.batch_execute(engine::ANALYZE)?;
        }
        Ok(names)
    })
    .await
}

/// The state of the schema.
pub async fn schema(settings: &DatabaseSettings) -> Result<SchemaState> {
    engine::with_harness(settings, state_of).await
}

fn state_of(harness: &mut MigrationConnection) -> diesel::migration::Result<SchemaState> {
    let known: Vec<Box<dyn Migration<Db>>> = MIGRATIONS.migrations()?;
    let known: Vec<(String, String)> =
        known.iter().map(|m| (m.name().version().to_string(), m.name().to_string())).collect();
    let applied = harness.applied_migrations()?.iter().map(ToString::to_string).collect();
    Ok(state(&known, &applied))
}

/// The state of a database with these versions. `known`: version and name of each migration of this build, in their order.
fn state(known: &[(String, String)], applied: &BTreeSet<String>) -> SchemaState {
    let versions: BTreeSet<String> = known.iter().map(|(version, _)| version.clone()).collect();
    let strange: Vec<String> = applied.difference(&versions).cloned().collect();
    if strange.first().zip(versions.first()).is_some_and(|(oldest, first)| oldest < first) {
        return SchemaState::BeforeFirstRelease;
    }
    if !strange.is_empty() {
        return SchemaState::Newer(strange);
    }
    let missing = known.iter().filter(|(version, _)| !applied.contains(version));
    let missing: Vec<String> = missing.map(|(_, name)| name.clone()).collect();
    if missing.is_empty() { SchemaState::Current } else { SchemaState::Older(missing) }
}

diesel::table! {
    /// The applied migrations; the table is that of `diesel_migrations`.
    #[sql_name = "__diesel_schema_migrations"]
    applied_migrations (version) {
        version -> Text,
    }
}

/// Checks the database by reading a value that every migrated one has.
///
/// # Errors
/// When the database does not answer, or was never migrated.
pub(crate) async fn check_readable(connection: &mut Conn) -> Result<String> {
    applied_migrations::table
        .select(applied_migrations::version)
        .limit(1)
        .value_from(borrowed_connection(connection))
        .await
}

/// Writes such a value without changing it.
///
/// # Errors
/// When the database does not answer, cannot be written, or was never migrated.
pub(crate) async fn check_writable(connection: &mut Conn) -> Result<()> {
    let first = check_readable(connection).await?;
    let row = applied_migrations::table.find(&first);
    diesel::update(row)
        .set(applied_migrations::version.eq(&first))
        .done_on(borrowed_connection(connection))
        .await
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &str = "20261129000001";
    const SECOND: &str = "20270110000001";

    fn state_with(applied: &[&str]) -> SchemaState {
        let known = [(FIRST.to_owned(), "schema".to_owned()), (SECOND.to_owned(), "more".to_owned())];
        state(&known, &applied.iter().map(|version| (*version).to_owned()).collect())
    }

    #[test]
    fn the_applied_versions_say_which_build_made_the_database() {
        assert_eq!(state_with(&[]), SchemaState::Older(vec!["schema".to_owned(), "more".to_owned()]));
        assert_eq!(state_with(&[FIRST]), SchemaState::Older(vec!["more".to_owned()]));
        assert_eq!(state_with(&[FIRST, SECOND]), SchemaState::Current);
        let newer = "20270301000001";
        assert_eq!(state_with(&[FIRST, newer]), SchemaState::Newer(vec![newer.to_owned()]));
        assert_eq!(state_with(&["20261121000001"]), SchemaState::BeforeFirstRelease);
        assert_eq!(state_with(&["20261121000001", "20261128090400"]), SchemaState::BeforeFirstRelease);
    }
}
