//! What is specific to PostgreSQL.

use crate::change_counters::{ChangeCounters, StatementObserver};
use crate::failure::ErrorCause;
use crate::page_rows::{RowReadLimits, count_decoded_bytes};
use crate::pools::{ConnectionPool, DatabaseSettings, Pools, ProcessPools, ReplicaPools, StatementLimits};
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
#[path = "postgres/pool_kinds.rs"]
mod pool_kinds;
#[path = "postgres/reader.rs"]
mod reader;
#[path = "postgres/sql_state_stream.rs"]
mod sql_state_stream;
#[path = "postgres/tls.rs"]
mod tls;
#[path = "postgres/writer.rs"]
mod writer;
pub use copies::{EngineDatabaseCopier, connect_to_read};
pub use pool_kinds::PoolKind;
pub use reader::Reader;
use tls::{ConnectionPurpose, SilenceLimits};
pub use writer::{WriteTransaction, Writer, WriterConnection};

/// The database.
pub type Db = diesel::pg::Pg;
/// A connection.
pub type Conn = AsyncPgConnection;
/// The runner of migrations.
pub type MigrationConnection = AsyncConnectionWrapper<AsyncPgConnection>;
/// The migrations of this build.
pub const MIGRATIONS: EmbeddedMigrations = embed_migrations!("../../../migrations/postgres");

/// Updates the statistics of all tables from samples, in the open transaction or in one of its own. It may take longer than the
/// time limit of a statement.
pub const ANALYZE: &str = "SET LOCAL statement_timeout = '10min'; ANALYZE";

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
    count_decoded_bytes(text.get().len());
    Ok(text)
}

/// Reads a JSON column.
pub fn read_json<T: DeserializeOwned>(raw: PgValue<'_>) -> deserialize::Result<T> {
    count_decoded_bytes(raw.as_bytes().len());
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

/// The pools of the readers and the writers of requests have up to `pool_size` connections each, that of the writers of
/// background work half as many, those of searches and of the readers of background work a quarter.
pub(crate) fn pools(settings: &DatabaseSettings, changes: &Arc<ChangeCounters>) -> Result<ProcessPools> {
    let (all, half, quarter) =
        (settings.pool_size, settings.pool_size.div_ceil(2), settings.pool_size.div_ceil(4));
    let reader = |kind, size| reader(settings, kind, size, changes);
    let writer =
        |kind, size| pool(settings, kind, size, changes).map(|(pool, begin)| Writer::new(pool, begin));
    let requests = Pools {
        reader: reader(PoolKind::Read, all)?,
        searcher: Some(reader(PoolKind::Search, quarter)?),
        writer: writer(PoolKind::Write, all)?,
    };
    let background = Pools {
        reader: reader(PoolKind::BackgroundRead, quarter)?,
        searcher: None,
        writer: writer(PoolKind::BackgroundWrite, half)?,
    };
    Ok(ProcessPools { requests, background })
}

/// A connection to measure the primary, and the pools of each replica: as large as those of requests.
pub(crate) fn replica_pools(
    settings: &DatabaseSettings,
    changes: &Arc<ChangeCounters>,
    writer: &Writer,
) -> Result<Option<(Reader, Vec<ReplicaPools>)>> {
    /// A replica that does not answer is given up earlier than the primary.
    const WAIT: Duration = Duration::from_secs(1);
    let Some(read_url) = &settings.read_url else { return Ok(None) };
    let pools = |url: String| {
        let settings = DatabaseSettings { pooler_url: None, wait: WAIT, url, ..settings.clone() };
        let reader = |kind, size| reader(&settings, kind, size, changes);
        Ok(ReplicaPools {
            name: settings.url[tls::hosts_of(&settings.url)].to_owned(),
            requests: Pools {
                reader: reader(PoolKind::Read, settings.pool_size)?,
                searcher: Some(reader(PoolKind::Search, settings.pool_size.div_ceil(4))?),
                writer: writer.clone(),
            },
            monitor: reader(PoolKind::BackgroundRead, 1)?,
        })
    };
    let replicas = tls::urls_of_hosts(read_url).into_iter().map(pools).collect::<Result<_>>()?;
    Ok(Some((reader(settings, PoolKind::BackgroundRead, 1, changes)?, replicas)))
}

/// A pool to read with.
fn reader(
    settings: &DatabaseSettings,
    kind: PoolKind,
    size: usize,
    changes: &Arc<ChangeCounters>,
) -> Result<Reader> {
    pool(settings, kind, size, changes).map(|(pool, begin)| Reader::new(pool, begin))
}

/// A pool, and with a transaction pooler the statements that begin each use of its connections.
fn pool(
    settings: &DatabaseSettings,
    kind: PoolKind,
    size: usize,
    changes: &Arc<ChangeCounters>,
) -> Result<(ConnectionPool, Option<Arc<str>>)> {
    let (limits, is_pooled) = (settings.limits, settings.pooler_url.is_some());
    let statements: Arc<str> = kind.statements(&limits, is_pooled).into();
    let (session, begin) = if is_pooled { (None, Some(statements)) } else { (Some(statements), None) };
    let mut config = ManagerConfig::default();
    config.recycling_method = RecyclingMethod::Fast;
    let changes = changes.clone();
    config.custom_setup = Box::new(move |url| {
        let (changes, session) = (changes.clone(), session.clone());
        let connecting = async move {
            let mut connection = connect(url, kind, &limits, session).await?;
            if kind.purpose() == ConnectionPurpose::Writing {
                connection.set_instrumentation(StatementObserver::new(changes));
            }
            Ok(connection)
        };
        connecting.boxed()
    });
    let url = settings.pooler_url.as_ref().unwrap_or(&settings.url);
    let manager = AsyncDieselConnectionManager::new_with_config(url, config);
    Ok((ConnectionPool::new(manager, size, settings.wait)?, begin))
}

/// Opens a connection, and runs the statements that set its session. When the server does not answer for half a second longer
/// than the time limit of a statement, or its system does not confirm what was sent for `unconfirmed`, it is closed.
async fn connect(
    url: &str,
    kind: PoolKind,
    limits: &StatementLimits,
    session: Option<Arc<str>>,
) -> ConnectionResult<Conn> {
    const DELAY: Duration = Duration::from_millis(500);
    let (limit, _) = kind.limits(limits);
    let silence = SilenceLimits { unconfirmed: limits.unconfirmed, unanswered: Some(limit + DELAY) };
    let mut connection = tls::connect(url, kind.purpose(), silence).await?;
    if let Some(session) = session {
        SimpleAsyncConnection::batch_execute(&mut connection, &session)
            .await
            .map_err(diesel::ConnectionError::CouldntSetupConfiguration)?;
    }
    Ok(connection)
}

/// The log of PostgreSQL is not part of the files that Civitas has.
#[expect(clippy::unused_async, reason = "on the other engine it is a statement")]
pub async fn truncate_log(_: &mut Conn) -> QueryResult<bool> {
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
    mut bounds: RowReadLimits,
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
