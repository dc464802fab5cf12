//! Copies of a PostgreSQL database: the rows of each table as text (`COPY`), all of one snapshot. Restoring creates the
//! tables with the migrations of this build, and writes the rows in one transaction.

use crate::text::{Compressor, Rows, blocking, decompress, disk_error};
use async_trait::async_trait;
use bytes::Bytes;
use civitas_attachments::Content;
use civitas_backup::{Contents, DatabaseCopies, DatabaseCopy, Engine, Guard, Table};

use civitas_kernel::{Error, Result, sortable_id};
use futures_util::{SinkExt, TryStreamExt, pin_mut};
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio_postgres::Client;

/// The table of applied migrations: it has times of its own, and is written by the migrations.
const MIGRATIONS: &str = "__diesel_schema_migrations";
/// The number of the advisory lock; no other user of the database takes it.
const LOCK: i64 = 20_261_123;
/// The beginning of the names of temporary schemas.
const TEMPORARY: &str = "civitas_backup_check_";
/// The chunks of bytes that wait between the connection and a thread.
const AHEAD: usize = 16;
/// The bytes that are sent at once.
const CHUNK: usize = 64 * 1024;

/// The text of a value depends on these settings.
const BEGIN_COPY: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL datestyle = 'ISO';
     SET LOCAL timezone = 'UTC'; SET LOCAL extra_float_digits = 1; SET LOCAL bytea_output = 'hex'";

/// Connections, and the tables of a schema.
#[async_trait]
pub trait Access: Send + Sync {
    /// Opens a connection without time limits.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn connect(&self) -> Result<Client>;

    /// Creates the tables of these versions in a new schema, or where the deployment has its tables.
    ///
    /// # Errors
    /// `Internal` with a sentence when there are tables, or a version is unknown.
    async fn create_tables(&self, schema: Option<&str>, versions: &[String]) -> Result<()>;
}

/// Copies and restores a database.
#[derive(Clone)]
pub struct Postgres {
    /// The database.
    pub access: Arc<dyn Access>,
    /// A directory for temporary files: a copy is kept there, compressed, until it is stored.
    pub work: PathBuf,
}

#[async_trait]
impl DatabaseCopies for Postgres {
    fn engine(&self) -> Engine {
        Engine::Postgresql
    }

    /// The lock is held by an open transaction that has read nothing: it delays no cleaning of tables, and works through
    /// a pool of connections that keeps no session.
    async fn lock(&self) -> Result<Option<Guard>> {
        let client = self.access.connect().await?;
        client.batch_execute("BEGIN").await.map_err(failed)?;
        let query = "SELECT pg_try_advisory_xact_lock($1)";
        let is_free: bool = client.query_one(query, &[&LOCK]).await.map_err(failed)?.get(0);
        Ok(is_free.then(|| Box::new(client) as Guard))
    }

    async fn remove_leftovers(&self) -> Result<()> {
        let client = self.access.connect().await?;
        let query = "SELECT nspname::text FROM pg_namespace WHERE starts_with(nspname::text, $1)";
        for row in client.query(query, &[&TEMPORARY]).await.map_err(failed)? {
            let schema: String = row.get(0);
            let drop = format!("SET client_min_messages = warning; DROP SCHEMA {schema} CASCADE");
            client.batch_execute(&drop).await.map_err(failed)?;
        }
        Ok(())
    }

    async fn copy(&self) -> Result<DatabaseCopy> {
        let client = self.access.connect().await?;
        client.batch_execute(BEGIN_COPY).await.map_err(failed)?;
        let versions = format!("SELECT version FROM {MIGRATIONS} ORDER BY version");
        let versions = client.query(&versions, &[]).await.map_err(failed)?;
        let schema = versions.iter().map(|row| row.get(0)).collect();
        let (mut parts, mut contents) = (Vec::new(), Contents::default());
        for table in Tables::read(&client).await?.0 {
            let (rows, content) = table.copy(&client, Some(self.work.clone())).await?;
            parts.extend(content.map(|content| (table.part(), content)));
            contents.tables.insert(table.name, rows);
        }
        contents.sequences = sequences(&client).await?;
        client.batch_execute("COMMIT").await.map_err(failed)?;
        Ok(DatabaseCopy { schema, parts, contents })
    }

    async fn check(&self, copy: &DatabaseCopy) -> Result<Contents> {
        let schema = format!("{TEMPORARY}{}", sortable_id().simple());
        let checked = self.check_in(&schema, copy).await;
        let client = self.access.connect().await?;
        let drop = format!("SET client_min_messages = warning; DROP SCHEMA IF EXISTS {schema} CASCADE");
        let dropped = client.batch_execute(&drop).await;
        if let Err(error) = dropped {
            tracing::warn!(schema, %error, "a temporary schema could not be dropped");
        }
        checked
    }

    async fn restore(&self, copy: &DatabaseCopy) -> Result<()> {
        let client = self.access.connect().await?;
        if !Tables::read(&client).await?.0.is_empty() {
            return Err(Error::internal("the database is not empty: restore into a new one"));
        }
        self.access.create_tables(None, &copy.schema).await?;
        client.batch_execute("BEGIN").await.map_err(failed)?;
        load(&client, copy).await?;
        let restored = contents(&client).await?;
        if let Some(difference) = copy.contents.difference(&restored) {
            return Err(Error::internal(format!("the restored database differs: {difference}")));
        }
        let names = Tables::read(&client).await?.quoted();
        client.batch_execute(&format!("COMMIT; ANALYZE {names}")).await.map_err(failed)
    }
}

impl Postgres {
    async fn check_in(&self, schema: &str, copy: &DatabaseCopy) -> Result<Contents> {
        self.access.create_tables(Some(schema), &copy.schema).await?;
        let client = self.access.connect().await?;
        client.batch_execute(&format!("BEGIN; SET LOCAL search_path TO {schema}")).await.map_err(failed)?;
        load(&client, copy).await?;
        let restored = contents(&client).await?;
        // The rows are removed with the schema.
        client.batch_execute("COMMIT").await.map_err(failed)?;
        Ok(restored)
    }
}

/// An error of the database, with the message of the server.
fn failed(error: tokio_postgres::Error) -> Error {
    match error.as_db_error() {
        Some(cause) => Error::Unavailable(cause.message().to_owned().into()),
        None => Error::Unavailable(error.into()),
    }
}

/// A table: its name, the names of its columns and of the columns of its key, quoted.
struct TableInfo {
    name: String,
    columns: String,
    key: String,
}

/// The tables of the current schema, those that others refer to first.
struct Tables(Vec<TableInfo>);

impl Tables {
    async fn read(client: &Client) -> Result<Self> {
        const TABLES: &str = "SELECT c.relname::text,
               (SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attname) FROM pg_attribute a
                WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''),
               (SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY k.place) FROM pg_index i
                CROSS JOIN LATERAL unnest(i.indkey) WITH ORDINALITY AS k (attnum, place)
                JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.attnum
                WHERE i.indrelid = c.oid AND i.indisprimary)
             FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
             WHERE n.nspname = current_schema() AND c.relkind = 'r' AND c.relname <> $1";
        const REFERENCES: &str = "SELECT DISTINCT t.relname::text, r.relname::text FROM pg_constraint k
             JOIN pg_class t ON t.oid = k.conrelid JOIN pg_class r ON r.oid = k.confrelid
             JOIN pg_namespace n ON n.oid = t.relnamespace
             WHERE n.nspname = current_schema() AND k.contype = 'f' AND k.conrelid <> k.confrelid";
        let mut tables = BTreeMap::new();
        for row in client.query(TABLES, &[&MIGRATIONS]).await.map_err(failed)? {
            let name: String = row.get(0);
            let key: Option<String> = row.get(2);
            let key = key.ok_or_else(|| Error::internal(format!("the table {name} has no primary key")))?;
            tables.insert(name.clone(), TableInfo { name, columns: row.get(1), key });
        }
        let references = client.query(REFERENCES, &[]).await.map_err(failed)?;
        let references: Vec<(String, String)> =
            references.iter().map(|row| (row.get(0), row.get(1))).collect();
        Self::ordered(tables, &references)
    }

    /// The names of all, for a statement.
    fn quoted(&self) -> String {
        let names: Vec<String> = self.0.iter().map(|table| format!("\"{}\"", table.name)).collect();
        names.join(", ")
    }

    fn ordered(mut tables: BTreeMap<String, TableInfo>, references: &[(String, String)]) -> Result<Self> {
        let mut ordered = Vec::new();
        while !tables.is_empty() {
            let is_free = |name: &String| {
                !references.iter().any(|(table, referred)| table == name && tables.contains_key(referred))
            };
            let next = tables.keys().find(|name| is_free(name)).cloned();
            let next = next.ok_or_else(|| Error::internal("tables refer to each other"))?;
            ordered.extend(tables.remove(&next));
        }
        Ok(Self(ordered))
    }
}

impl TableInfo {
    /// The name of its part.
    fn part(&self) -> String {
        format!("{}.copy.gz", self.name)
    }

    /// Reads all rows in the order of the key: their number and checksum, and, with a directory for it, a compressed
    /// file with them.
    async fn copy(&self, client: &Client, directory: Option<PathBuf>) -> Result<(Table, Option<Content>)> {
        let Self { name, columns, key } = self;
        let query = format!("COPY (SELECT {columns} FROM \"{name}\" ORDER BY {key}) TO STDOUT");
        let (sender, mut receiver) = mpsc::channel::<Bytes>(AHEAD);
        let writing = tokio::task::spawn_blocking(move || -> Result<(Table, Option<Content>)> {
            let mut rows = Rows::default();
            let mut file = directory.map(|directory| Compressor::new(&directory)).transpose()?;
            while let Some(bytes) = receiver.blocking_recv() {
                // Each row ends with the only newlines that are not escaped.
                rows.count(bytes.iter().map(|byte| u64::from(*byte == b'\n')).sum());
                rows.update(&bytes);
                if let Some(file) = &mut file {
                    file.write_all(&bytes).map_err(disk_error)?;
                }
            }
            Ok((rows.finish(), file.map(Compressor::finish).transpose()?))
        });
        let stream = client.copy_out(&query).await.map_err(failed)?;
        pin_mut!(stream);
        while let Some(bytes) = stream.try_next().await.map_err(failed)? {
            if sender.send(bytes).await.is_err() {
                // The thread has ended with an error.
                break;
            }
        }
        drop(sender);
        writing.await.map_err(Error::internal)?
    }

    /// Writes the rows of a part.
    async fn load(&self, client: &Client, content: &Content) -> Result<()> {
        let statement = format!("COPY \"{}\" ({}) FROM STDIN", self.name, self.columns);
        let sink = client.copy_in::<_, Bytes>(&statement).await.map_err(failed)?;
        pin_mut!(sink);
        let mut file = decompress(content)?;
        let (sender, mut receiver) = mpsc::channel::<Bytes>(AHEAD);
        let reading = blocking(move || {
            let mut chunk = vec![0; CHUNK];
            loop {
                let read = file.read(&mut chunk);
                let length =
                    read.map_err(|error| Error::internal(format!("the copy is damaged: {error}")))?;
                if length == 0 || sender.blocking_send(Bytes::copy_from_slice(&chunk[..length])).is_err() {
                    return Ok(());
                }
            }
        });
        let sending = async {
            while let Some(bytes) = receiver.recv().await {
                sink.send(bytes).await.map_err(failed)?;
            }
            Ok(())
        };
        let (read, sent) = tokio::join!(reading, sending);
        // Without `finish` the server rejects what was sent.
        read.and(sent)?;
        sink.finish().await.map_err(failed)?;
        Ok(())
    }
}

/// Writes a copy into the tables of the current schema, in the open transaction.
async fn load(client: &Client, copy: &DatabaseCopy) -> Result<()> {
    let tables = Tables::read(client).await?;
    // Rows that migrations wrote are in the copy too.
    client.batch_execute(&format!("TRUNCATE {}", tables.quoted())).await.map_err(failed)?;
    let tables = tables.0;
    for (part, content) in &copy.parts {
        if !tables.iter().any(|table| table.part() == *part) {
            return Err(Error::internal(format!("the backup has {part}, and the schema no such table")));
        }
        if content.byte_size == 0 {
            return Err(Error::internal(format!("the backup has an empty {part}")));
        }
    }
    // Rows that triggers write are in the copy too.
    set_triggers(client, &tables, "DISABLE").await?;
    for table in &tables {
        let part = table.part();
        let Some((_, content)) = copy.parts.iter().find(|(name, _)| *name == part) else {
            return Err(Error::internal(format!("the backup has no {part}")));
        };
        table.load(client, content).await?;
    }
    set_triggers(client, &tables, "ENABLE").await?;
    for (sequence, value) in &copy.contents.sequences {
        let statement = "SELECT setval(quote_ident($1)::regclass, $2)";
        client.execute(statement, &[sequence, value]).await.map_err(failed)?;
    }
    Ok(())
}

/// Lets the triggers of these tables run, or not.
async fn set_triggers(client: &Client, tables: &[TableInfo], action: &str) -> Result<()> {
    let statements =
        tables.iter().map(|table| format!("ALTER TABLE \"{}\" {action} TRIGGER USER;", table.name));
    client.batch_execute(&statements.collect::<String>()).await.map_err(failed)
}

/// What the tables of the current schema have, in the open transaction.
async fn contents(client: &Client) -> Result<Contents> {
    let settings = BEGIN_COPY.split_once(';').map_or("", |(_, settings)| settings);
    client.batch_execute(settings).await.map_err(failed)?;
    let mut contents = Contents { sequences: sequences(client).await?, ..Contents::default() };
    for table in Tables::read(client).await?.0 {
        let (rows, _) = table.copy(client, None).await?;
        contents.tables.insert(table.name, rows);
    }
    Ok(contents)
}

/// The last value of each sequence that was used. It is not of the snapshot: it may be later, which loses numbers and
/// nothing else.
async fn sequences(client: &Client) -> Result<BTreeMap<String, i64>> {
    let query = "SELECT sequencename::text, last_value FROM pg_sequences
         WHERE schemaname = current_schema() AND last_value IS NOT NULL";
    let rows = client.query(query, &[]).await.map_err(failed)?;
    Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tables(names: &[&str]) -> BTreeMap<String, TableInfo> {
        let info =
            |name: &str| TableInfo { name: name.to_owned(), columns: String::new(), key: String::new() };
        names.iter().map(|name| ((*name).to_owned(), info(name))).collect()
    }

    fn references(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(table, referred)| ((*table).to_owned(), (*referred).to_owned())).collect()
    }

    #[test]
    fn a_table_comes_after_those_that_it_refers_to() {
        let order =
            Tables::ordered(tables(&["a", "b", "c"]), &references(&[("a", "b"), ("b", "c")])).unwrap();
        let names: Vec<&str> = order.0.iter().map(|table| table.name.as_str()).collect();
        assert_eq!(names, ["c", "b", "a"]);
        assert!(Tables::ordered(tables(&["a", "b"]), &references(&[("a", "b"), ("b", "a")])).is_err());
    }
}
