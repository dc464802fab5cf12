//! What is specific to PostgreSQL.

use crate::change_counters::{ChangeCounters, StatementObserver};
use crate::failure::ErrorCause;
use crate::page_rows::{PageBounds, count};
use crate::pools::{ConnectionPool, DatabaseSettings, Pools, ProcessPools};
use civitas_kernel::{Error, Result};
use diesel::connection::SimpleConnection;
use diesel::deserialize::{self, FromSqlRow};
use diesel::expression::QueryMetadata;
use diesel::pg::PgValue;
use diesel::query_builder::{Query, QueryFragment, QueryId};
use diesel::serialize::{self, IsNull, Output};
use diesel::{Connection, ConnectionResult, QueryResult};
use diesel_async::async_connection_wrapper::AsyncConnectionWrapper;
use diesel_async::pooled_connection::{AsyncDieselConnectionManager, ManagerConfig, RecyclingMethod};
use diesel_async::{AsyncConnection, AsyncConnectionCore, AsyncPgConnection, SimpleAsyncConnection};
use diesel_migrations::{EmbeddedMigrations, embed_migrations};
use futures_util::{FutureExt, StreamExt};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

#[path = "postgres/copies.rs"]
mod copies;
#[path = "postgres/dialect.rs"]
pub mod dialect;
#[path = "postgres/sql_state_stream.rs"]
mod sql_state_stream;
#[path = "postgres/tls.rs"]
mod tls;
#[path = "postgres/writer.rs"]
mod writer;
pub use copies::{EngineDatabaseCopies, connect_to_read};
use tls::{ConnectionPurpose, SilenceLimits};
pub use writer::{WriteTransaction, Writer};

/// The database.
pub type Db = diesel::pg::Pg;
/// A connection.
pub type Conn = AsyncPgConnection;
/// The runner of migrations.
pub type MigrationConnection = AsyncConnectionWrapper<AsyncPgConnection>;
/// The migrations of this build.
pub const MIGRATIONS: EmbeddedMigrations = embed_migrations!("../../../migrations/postgres");

/// Updates the statistics of all tables from samples. It may take longer than the time limit of a statement.
pub const ANALYZE: &str = "BEGIN; SET LOCAL statement_timeout = '10min'; ANALYZE; COMMIT";

/// The same in the open transaction.
pub const ANALYZE_WITHIN: &str = "SET LOCAL statement_timeout = '10min'; ANALYZE";

/// The SQL types of the schema.
pub mod sql {
    pub use diesel::sql_types::{Jsonb as Json, Timestamptz as Moment, Uuid};
}

/// Reads a UUID from its 16 bytes.
pub fn read_uuid(raw: PgValue<'_>) -> deserialize::Result<uuid::Uuid> {
    Ok(uuid::Uuid::from_slice(raw.as_bytes())?)
}

/// Writes a UUID as its 16 bytes.
pub fn write_uuid<'b>(value: &'b uuid::Uuid, out: &mut Output<'b, '_, Db>) -> serialize::Result {
    out.write_all(value.as_bytes())?;
    Ok(IsNull::No)
}

/// Reads free JSON as compact text. The text of jsonb has spaces, another order of keys, and all digits of numbers.
pub fn read_data(raw: PgValue<'_>) -> deserialize::Result<Box<RawValue>> {
    let members: Map<String, Value> = serde_json::from_slice(raw.as_bytes().get(1..).unwrap_or_default())?;
    let text = to_raw_value(&members)?;
    count(text.get().len());
    Ok(text)
}

/// Reads a JSON column.
pub fn read_json<T: DeserializeOwned>(raw: PgValue<'_>) -> deserialize::Result<T> {
    count(raw.as_bytes().len());
    // The first byte is the version of jsonb's wire format: always 1.
    Ok(serde_json::from_slice(raw.as_bytes().get(1..).unwrap_or_default())?)
}

/// Writes a JSON column.
pub fn write_json<T: Serialize>(value: &T, out: &mut Output<'_, '_, Db>) -> serialize::Result {
    out.write_all(&[1])?;
    serde_json::to_writer(out, value)?;
    Ok(IsNull::No)
}

/// The meaning of an error without a kind of Diesel, by the SQLSTATE that [`wire`] writes before its message.
pub fn cause(message: &str) -> ErrorCause {
    let state = message.split_once(": ").map_or("", |(state, _)| state);
    match state {
        // query_canceled (by statement_timeout).
        "57014" => ErrorCause::Timeout,
        // Serialization failure, deadlock.
        _ if state.starts_with("40") => ErrorCause::Conflict,
        // Connection, insufficient resources (a full disk, no memory, too many connections), operator intervention,
        // system error; read_only_sql_transaction, idle_in_transaction_session_timeout; lock_not_available: an accepted job
        // waits as long as somebody else holds a lock, as on SQLite.
        "25006" | "25P03" | "55P03" => ErrorCause::Machine,
        _ if ["08", "53", "57", "58"].iter().any(|class| state.starts_with(class)) => ErrorCause::Machine,
        _ => ErrorCause::Other,
    }
}

/// How statements are planned. Plans are kept with their statements, also those that were made while a table was empty: then
/// PostgreSQL would read the table as a whole, and go on to do so while it grows. Only searches may do that.
#[derive(Debug, Clone, Copy)]
enum Planning {
    /// For requests: a statement is planned once for each connection, for any values: to plan it again costs as much as to
    /// run it. Only for statements whose plan for any values is good; `tests/tests/storage/plans` has such plans.
    Once,
    /// For background work: PostgreSQL decides whether a plan for the values of each use is better.
    ByIndex,
    /// For searches: the same, and tables may be read as a whole.
    Free,
}

impl Planning {
    /// The values of the settings `plan_cache_mode` and `enable_seqscan`.
    fn settings(self) -> (&'static str, &'static str) {
        match self {
            Self::Once => ("force_generic_plan", "off"),
            Self::ByIndex => ("auto", "off"),
            Self::Free => ("auto", "on"),
        }
    }
}

/// The pools of the readers and the writers of requests have up to `pool_size` connections each, that of the writers of
/// background work half as many, those of searches and of the readers of background work a quarter.
pub(crate) fn pools(settings: &DatabaseSettings, changes: &Arc<ChangeCounters>) -> Result<ProcessPools> {
    let unconfirmed = settings.limits.unconfirmed;
    let manager = |usage: ConnectionPurpose, planning: Planning, limit: Duration, lock: Duration| {
        let mut config = ManagerConfig::default();
        config.recycling_method = RecyclingMethod::Fast;
        let changes = changes.clone();
        config.custom_setup = Box::new(move |url| {
            let changes = changes.clone();
            let connecting = async move {
                let mut connection = connect(url, usage, planning, (limit, lock), unconfirmed).await?;
                if usage == ConnectionPurpose::Writing {
                    connection.set_instrumentation(StatementObserver::new(changes));
                }
                Ok(connection)
            };
            connecting.boxed()
        });
        AsyncDieselConnectionManager::new_with_config(&settings.url, config)
    };
    let pool = |usage, planning, limit, lock, size| {
        ConnectionPool::new(manager(usage, planning, limit, lock), size, settings.wait)
    };
    let (read, write) = (settings.limits.read, settings.limits.write);
    let (half, quarter) = (settings.pool_size.div_ceil(2), settings.pool_size.div_ceil(4));
    let (reading, writing) = (read * 4 / 5, write * 4 / 5);
    let requests = Pools {
        reader: pool(ConnectionPurpose::Reading, Planning::Once, read, reading, settings.pool_size)?,
        searcher: Some(pool(ConnectionPurpose::Reading, Planning::Free, read, reading, quarter)?),
        writer: Writer::new(pool(
            ConnectionPurpose::Writing,
            Planning::Once,
            write,
            settings.limits.lock,
            settings.pool_size,
        )?),
    };
    let background = Pools {
        reader: pool(ConnectionPurpose::Reading, Planning::ByIndex, read, reading, quarter)?,
        searcher: None,
        writer: Writer::new(pool(ConnectionPurpose::Writing, Planning::ByIndex, write, writing, half)?),
    };
    Ok(ProcessPools { requests, background })
}

/// Opens a connection. Its statements are cancelled after `limit`, and wait at most `lock` for a lock; none is compiled
/// (`jit`), which would take longer than to run it. Its transactions end if the client stalls. When the server does not answer for half a second longer, or its system does not confirm what was sent for
/// `unconfirmed`, the connection is closed.
async fn connect(
    url: &str,
    usage: ConnectionPurpose,
    planning: Planning,
    (limit, lock): (Duration, Duration),
    unconfirmed: Duration,
) -> ConnectionResult<Conn> {
    const DELAY: Duration = Duration::from_millis(500);
    let silence = SilenceLimits { unconfirmed, unanswered: Some(limit + DELAY) };
    let mut connection = tls::connect(url, usage, silence).await?;
    let (plan_cache_mode, enable_seqscan) = planning.settings();
    let settings = format!(
        "SET statement_timeout = {}; SET lock_timeout = {}; SET idle_in_transaction_session_timeout = '60s';
             SET default_transaction_isolation = 'read committed'; SET plan_cache_mode = {plan_cache_mode};
             SET enable_seqscan = {enable_seqscan}; SET jit = off",
        limit.as_millis(),
        lock.as_millis(),
    );
    SimpleAsyncConnection::batch_execute(&mut connection, &settings)
        .await
        .map_err(diesel::ConnectionError::CouldntSetupConfiguration)?;
    Ok(connection)
}

/// The log of PostgreSQL is not part of the files that Civitas has.
#[expect(clippy::unused_async, reason = "on the other engine it is a statement")]
pub async fn empty_log(_: &mut Conn) -> QueryResult<bool> {
    Ok(true)
}

/// The statement: prepared statements are found by its type.
pub fn any_statement<Q>(statement: Q) -> Q {
    statement
}

/// Loads rows; each is decoded before the next one is received.
pub async fn load_rows<Q, R, ST>(
    connection: &mut Conn,
    query: Q,
    mut bounds: PageBounds,
) -> QueryResult<Vec<R>>
where
    Q: Query + QueryFragment<Db> + QueryId + Send + 'static,
    Db: QueryMetadata<Q::SqlType>,
    R: FromSqlRow<ST, Db> + Send + 'static,
    ST: 'static,
{
    let mut rows = AsyncConnectionCore::load(connection, query).await?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().await {
        found.push(bounds.decode(&row?)?);
    }
    Ok(found)
}

/// Runs some work on a separate connection, in one transaction under an exclusive lock.
pub async fn with_harness<R: Send + 'static>(
    settings: &DatabaseSettings,
    work: impl FnOnce(&mut MigrationConnection) -> diesel::migration::Result<R> + Send + 'static,
) -> Result<R> {
    let url = settings.url.clone();
    let runtime = tokio::runtime::Handle::current();
    let task = tokio::task::spawn_blocking(move || {
        let connection = runtime
            .block_on(tls::connect(&url, ConnectionPurpose::Writing, SilenceLimits::LONG))
            .map_err(|e| Error::Unavailable(e.into()))?;
        let mut harness = MigrationConnection::from(connection);
        let done = Connection::transaction(&mut harness, |harness| {
            // No other user of the database takes a lock with this number; it ends with the transaction.
            SimpleConnection::batch_execute(harness, "SELECT pg_advisory_xact_lock(20261121)")?;
            work(harness)
        });
        done.map_err(Error::Internal)
    });
    task.await.map_err(Error::internal)?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_says_what_a_failure_means_in_any_language() {
        for (message, expected) in [
            ("53100: impossible d'écrire", ErrorCause::Machine),
            ("57P01: FATAL", ErrorCause::Machine),
            ("25006: nur lesen", ErrorCause::Machine),
            ("57014: annulé", ErrorCause::Timeout),
            ("55P03: verrou", ErrorCause::Machine),
            ("40P01: Verklemmung entdeckt", ErrorCause::Conflict),
            ("54000: index row size exceeds the maximum", ErrorCause::Other),
            ("42P01: relation does not exist", ErrorCause::Other),
            ("deadlock detected", ErrorCause::Other),
        ] {
            assert_eq!(cause(message), expected, "{message}");
        }
    }
}
