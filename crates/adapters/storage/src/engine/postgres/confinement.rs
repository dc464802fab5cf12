//! Row-level security: PostgreSQL itself keeps a transaction of one organization away from rows of others. A second
//! check behind the conditions of every statement (setting `row_level_security`).
//!
//! A transaction that is not confined, and a statement outside a transaction, sees all rows: workers serve all
//! organizations. Rows without organization are visible to all, and so are the hosts and names of organizations, which
//! are unique in the deployment. The variable is set until the transaction ends, never for the connection, which serves
//! other organizations afterwards.

use super::{Conn, Harness};
use crate::failure::Stored;
use civitas_kernel::{Error, OrganizationId, Result};
use diesel::QueryResult;
use diesel::connection::SimpleConnection;
use diesel::dsl::sql;
use diesel::sql_types::{Bool, Text};
use diesel_async::pooled_connection::deadpool::Object;
use diesel_async::{RunQueryDsl, SimpleAsyncConnection};
use futures_util::FutureExt;
use std::ops::{Deref, DerefMut};

/// Whether the engine can confine statements.
pub const CONFINES: bool = true;

#[diesel::declare_sql_function]
extern "SQL" {
    /// Sets a variable; if `local`, until the transaction ends.
    fn set_config(name: Text, value: Text, local: Bool) -> Text;
}

/// Confines the open transaction.
pub async fn confine(connection: &mut Conn, organization: OrganizationId) -> QueryResult<()> {
    let confined = set_config("civitas.organization", organization.0.to_string(), true);
    diesel::select(confined).execute(connection).await.map(drop)
}

/// A connection that reads in a confined transaction, which ends when it is dropped.
pub struct ConfinedReader(Object<Conn>);

/// Confines what this connection reads. It waits for the answer: a statement after a failed `BEGIN` would not be confined.
///
/// # Errors
/// When the database does not answer.
pub async fn confined_reader(
    connection: Object<Conn>,
    organization: OrganizationId,
) -> QueryResult<ConfinedReader> {
    // Wrapped before BEGIN, so that a dropped future leaves no transaction open.
    let mut reader = ConfinedReader(connection);
    let begin = format!("BEGIN; SELECT set_config('civitas.organization', '{}', true)", organization.0);
    SimpleAsyncConnection::batch_execute(&mut *reader, &begin).await?;
    Ok(reader)
}

impl Deref for ConfinedReader {
    type Target = Conn;

    fn deref(&self) -> &Conn {
        &self.0
    }
}

impl DerefMut for ConfinedReader {
    fn deref_mut(&mut self) -> &mut Conn {
        &mut self.0
    }
}

impl Drop for ConfinedReader {
    fn drop(&mut self) {
        let mut connection: &Conn = &self.0;
        // The first poll sends it, after what was sent before and before what the next user of the connection sends. After a
        // failed statement it rolls back. If it cannot be sent, the connection is closed, and the pool discards it.
        let _ = SimpleAsyncConnection::batch_execute(&mut connection, "COMMIT").now_or_never();
    }
}

/// Checks that the tables have the policy, and that it binds this user.
///
/// # Errors
/// `Internal` with what to do.
pub async fn check_confinement(connection: &mut Conn) -> Result<()> {
    let exempt = "(SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user)";
    let set_up = "EXISTS (SELECT 1 FROM pg_policies WHERE policyname = 'one_organization')";
    let (is_exempt, is_set_up): (bool, bool) =
        diesel::select((sql::<Bool>(exempt), sql::<Bool>(set_up))).get_result(connection).await.stored()?;
    if is_exempt {
        return Err(Error::internal("row_level_security has no effect for a superuser: use another user"));
    }
    if !is_set_up {
        return Err(Error::internal(
            "row_level_security is not set up: run civitas migrate with this setting",
        ));
    }
    Ok(())
}

/// Gives every table with an organization, except their hosts and names, the policy, or removes it from all.
pub fn confine_tables(harness: &mut Harness, confines: bool) -> QueryResult<()> {
    SimpleConnection::batch_execute(harness, if confines { ADD } else { REMOVE })
}

const ADD: &str = "DO $do$ DECLARE name text; BEGIN
    FOR name IN SELECT c.table_name FROM information_schema.columns c
        JOIN information_schema.tables t USING (table_schema, table_name)
        WHERE c.table_schema = current_schema() AND c.column_name = 'organization_id' AND t.table_type = 'BASE TABLE'
            AND c.table_name NOT IN ('organization_hosts', 'organization_names')
    LOOP
        EXECUTE format('DROP POLICY IF EXISTS one_organization ON %I', name);
        EXECUTE format($policy$CREATE POLICY one_organization ON %I USING (coalesce(
            organization_id = NULLIF(current_setting('civitas.organization', true), '')::bigint, true))$policy$, name);
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    END LOOP;
END $do$";

const REMOVE: &str = "DO $do$ DECLARE name text; BEGIN
    FOR name IN SELECT tablename FROM pg_policies
        WHERE schemaname = current_schema() AND policyname = 'one_organization'
    LOOP
        EXECUTE format('DROP POLICY one_organization ON %I', name);
        EXECUTE format('ALTER TABLE %I NO FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I DISABLE ROW LEVEL SECURITY', name);
    END LOOP;
END $do$";
