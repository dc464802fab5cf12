//! The source: one connection, one read-only snapshot (sheet 13 §7).

use crate::Result;
use crate::error::DecidimError;
use crate::row::Row;
use crate::schema::{Columns, Tables};
use crate::version::Version;
use serde_json::{Map, Value};
use std::collections::VecDeque;
use tokio_postgres::Client;

const FETCH: usize = 2000;

/// `lock_timeout`: a table that is being changed stops the run. `cursor_tuple_fraction`: all rows are read.
const BEGIN: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; \
     SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0; \
     SET LOCAL lock_timeout = '5s'; SET LOCAL search_path = public; SET LOCAL timezone = 'UTC'; \
     SET LOCAL cursor_tuple_fraction = 1; SET LOCAL jit = off";

/// Also of tables that this role cannot read: the report names all.
const COLUMNS: &str = "SELECT c.relname::text, a.attname::text, t.typname::text FROM pg_class c \
     JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped \
     JOIN pg_type t ON t.oid = a.atttypid WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')";

/// A Decidim database in a snapshot that is held until the source is dropped.
pub(crate) struct Source {
    client: Client,
    tables: Tables,
    columns: Columns,
    pub(crate) version: Version,
}

impl Source {
    /// Begins the snapshot and recognises the version.
    ///
    /// # Errors
    /// `Stopped` with S-VERSION or S-DATABASE.
    pub(crate) async fn begin(client: Client) -> Result<Self> {
        client.batch_execute(BEGIN).await?;
        let encoding: String = client.query_one("SHOW server_encoding", &[]).await?.try_get(0)?;
        let stopped = |code: &str, faults: Vec<String>| {
            DecidimError::Stopped(faults.iter().map(|fault| format!("{code}: {fault}")).collect())
        };
        if encoding != "UTF8" {
            return Err(stopped("S-DATABASE", vec![format!("the encoding is {encoding}, not UTF8")]));
        }
        let mut columns = Columns::new();
        for row in client.query(COLUMNS, &[]).await? {
            columns.entry(row.try_get(0)?).or_default().insert(row.try_get(1)?, row.try_get(2)?);
        }
        let version = Version::recognise(&columns).map_err(|fault| stopped("S-VERSION", vec![fault]))?;
        let tables = Tables::from_columns(&columns).map_err(|faults| stopped("S-DATABASE", faults))?;
        Ok(Self { client, tables, columns, version })
    }

    /// Whether the database has this table.
    pub(crate) fn has(&self, table: &str) -> bool {
        self.columns.contains_key(table)
    }

    pub(crate) fn table_names(&self) -> impl Iterator<Item = &str> {
        self.columns.keys().map(String::as_str)
    }

    /// The rows of a statement, by the one cursor: they are all read before the next statement. Each has the columns of the
    /// statement as JSON. `table` is the table whose rows they are.
    pub(crate) async fn rows(&self, table: &'static str, statement: &str) -> Result<Rows<'_>> {
        let statement = self.tables.with_tables(&format!("SELECT row_to_json(r)::text FROM ({statement}) r"));
        self.client.batch_execute(&format!("DECLARE source_rows NO SCROLL CURSOR FOR {statement}")).await?;
        Ok(Rows { client: &self.client, table, fetched: VecDeque::new(), is_complete: false })
    }

    /// The single value of a statement with one row and one column; null if it has no row.
    pub(crate) async fn value(&self, statement: &str) -> Result<Value> {
        let statement =
            self.tables.with_tables(&format!("SELECT to_json(v.v)::text FROM ({statement}) AS v (v)"));
        let row = self.client.query_opt(&statement, &[]).await?;
        let text: Option<String> = row.map(|row| row.try_get(0)).transpose()?.flatten();
        text.map_or(Ok(Value::Null), |text| Ok(serde_json::from_str(&text)?))
    }
}

/// The rows of a cursor.
pub(crate) struct Rows<'a> {
    client: &'a Client,
    table: &'static str,
    fetched: VecDeque<String>,
    is_complete: bool,
}

impl Rows<'_> {
    pub(crate) async fn next(&mut self) -> Result<Option<Row>> {
        if self.fetched.is_empty() && !self.is_complete {
            for row in self.client.query(&format!("FETCH {FETCH} FROM source_rows"), &[]).await? {
                self.fetched.push_back(row.try_get(0)?);
            }
            self.is_complete = self.fetched.len() < FETCH;
            if self.is_complete {
                self.client.batch_execute("CLOSE source_rows").await?;
            }
        }
        let Some(text) = self.fetched.pop_front() else { return Ok(None) };
        let columns: Map<String, Value> = serde_json::from_str(&text)?;
        Ok(Some(Row { table: self.table, columns }))
    }
}
