//! Copies of the database for backups, by the programs `pg_dump` and `pg_restore`.

use super::tls::{self, ConnectionPurpose};
use crate::pools::DatabaseSettings;
use async_trait::async_trait;
use civitas_application::backups::{BackupLock, DatabaseCopier, DatabaseCopy, RestoreCheckMethod, RowCounts};
use civitas_attachments::FileContent;
use civitas_kernel::{Error, Result, random_key};
use std::io::{self, ErrorKind, Seek};
use std::path::PathBuf;
use std::process::Stdio;
use tokio::process::Command;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::{Client, Config};

/// The number of the advisory lock; no other user of the database takes it.
const LOCK: i64 = 20_261_123;
/// The beginning of the names of temporary databases; the id of the database follows, because a server may have several.
const TEMPORARY: &str = "civitas_backup_check_";

/// Copies and restores a database.
#[derive(Debug, Clone)]
pub struct EngineDatabaseCopier {
    /// The database.
    pub settings: DatabaseSettings,
    /// A directory for temporary files: a dump is kept there until it is stored.
    pub work: PathBuf,
}

#[async_trait]
impl DatabaseCopier for EngineDatabaseCopier {
    fn engine(&self) -> &'static str {
        "PostgreSQL"
    }

    /// Checks that the address is not that of the pooler, and that both programs are of the server's version. Newer ones are
    /// accepted too, but not those from 17 on with a server before 17.
    async fn ready(&self) -> Result<()> {
        self.check_address()?;
        let client = connect(&self.settings.url).await?;
        let version = "SELECT current_setting('server_version_num')::int / 10000";
        let server: i32 = client.query_one(version, &[]).await.map_err(failed)?.get(0);
        for program in ["pg_dump", "pg_restore"] {
            let printed =
                self.run(&self.settings.url, program, &["--version"], Stdio::null(), Stdio::piped()).await?;
            if major(&printed).is_none_or(|program| !fits(server, program)) {
                let printed = printed.trim();
                return Err(Error::internal(format!(
                    "{printed} does not fit the server, whose version is {server}: install the client programs of \
                     PostgreSQL {server}, and put them first on PATH (/usr/lib/postgresql/{server}/bin)"
                )));
            }
        }
        Ok(())
    }

    /// The lock is held by an open transaction that has read nothing: it delays no cleaning of tables, and works through
    /// a pool of connections that keeps no session.
    async fn lock(&self) -> Result<Option<BackupLock>> {
        self.check_address()?;
        let guard = connect(&self.settings.url).await?;
        guard.batch_execute("BEGIN").await.map_err(failed)?;
        let query = "SELECT pg_try_advisory_xact_lock($1)";
        let is_free: bool = guard.query_one(query, &[&LOCK]).await.map_err(failed)?.get(0);
        if !is_free {
            return Ok(None);
        }
        let client = connect(&self.settings.url).await?;
        let left = "SELECT datname::text FROM pg_database WHERE starts_with(datname::text, $1)";
        for row in client.query(left, &[&temporary(&client).await?]).await.map_err(failed)? {
            // Without force: a drill may use it.
            drop_database(&client, row.get(0), "").await;
        }
        Ok(Some(Box::new(guard)))
    }

    /// The rows are counted in the snapshot of the dump, which exists as long as its transaction.
    async fn copy(&self) -> Result<DatabaseCopy> {
        self.ready().await?;
        let client = connect(&self.settings.url).await?;
        let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
        client.batch_execute(begin).await.map_err(failed)?;
        let snapshot = client.query_one("SELECT pg_export_snapshot()", &[]).await.map_err(failed)?;
        let snapshot = format!("--snapshot={}", snapshot.get::<_, String>(0));
        let file = tempfile::tempfile_in(&self.work).map_err(disk_error)?;
        let to = file.try_clone().map_err(disk_error)?;
        let database = database_argument(&self.settings.url)?;
        // Other extensions than `plpgsql`, which is in every database, may be those of an administrator: only a superuser
        // can restore them.
        let arguments = ["--format=custom", "--extension=plpgsql", &snapshot, &database];
        let dump = self.run(&self.settings.url, "pg_dump", &arguments, Stdio::null(), to.into());
        let (rows, _) = tokio::try_join!(rows(&client), dump)?;
        let byte_size = file.metadata().map_err(disk_error)?.len();
        Ok(DatabaseCopy { content: FileContent { file, byte_size }, rows })
    }

    async fn check(&self, copy: &DatabaseCopy) -> Result<RestoreCheckMethod> {
        self.ready().await?;
        let client = connect(&self.settings.url).await?;
        let may_create = "SELECT rolcreatedb OR rolsuper FROM pg_roles WHERE rolname = current_user";
        if !client.query_one(may_create, &[]).await.map_err(failed)?.get::<_, bool>(0) {
            let (url, nowhere) = (&self.settings.url, ["--file=/dev/null"]);
            self.run(url, "pg_restore", &nowhere, input(copy)?, Stdio::piped()).await?;
            return Ok(RestoreCheckMethod::Read);
        }
        let name = format!("{}{}", temporary(&client).await?, &random_key()[..8]);
        let create = "SELECT format('CREATE DATABASE %I TEMPLATE template0 ENCODING ''UTF8'' LC_COLLATE %L LC_CTYPE %L', \
             $1::text, datcollate, datctype) FROM pg_database WHERE datname = current_database()";
        let create: String = client.query_one(create, &[&name]).await.map_err(failed)?.get(0);
        client.batch_execute(&create).await.map_err(failed)?;
        let restored = self.restore_to(&in_database(&self.settings.url, &name), copy).await;
        drop_database(&client, &name, "WITH (FORCE)").await;
        restored.map(|()| RestoreCheckMethod::Restored)
    }

    async fn restore(&self, copy: &DatabaseCopy) -> Result<()> {
        self.ready().await?;
        let client = connect(&self.settings.url).await?;
        if rows(&client).await? != RowCounts::default() {
            return Err(Error::internal("the database is not empty: restore into a new one"));
        }
        self.restore_to(&self.settings.url, copy).await?;
        client.batch_execute("ANALYZE").await.map_err(failed)
    }
}

impl EngineDatabaseCopier {
    /// Checks that the address is not that of the pooler, where the session of a backup belongs to others too.
    fn check_address(&self) -> Result<()> {
        if self.settings.pooler_url.as_ref() == Some(&self.settings.url) {
            let text = "database_url is the address of the pooler: backups need that of the server";
            return Err(Error::internal(text));
        }
        Ok(())
    }

    /// Restores a copy into the database of this address, all or nothing.
    async fn restore_to(&self, url: &str, copy: &DatabaseCopy) -> Result<()> {
        let database = database_argument(url)?;
        // The indexes of words need it, and a dump has no extensions. It stays if the restore fails.
        let extension = "CREATE EXTENSION IF NOT EXISTS pg_trgm";
        if let Err(error) = connect(url).await?.batch_execute(extension).await {
            tracing::warn!(%error, "pg_trgm cannot be created: a copy with indexes of words cannot be restored");
        }
        // Owners, rights and comments are those of the new database: the role may not set others.
        let arguments = [
            database.as_str(),
            "--no-owner",
            "--no-privileges",
            "--no-comments",
            "--exit-on-error",
            "--single-transaction",
        ];
        self.run(url, "pg_restore", &arguments, input(copy)?, Stdio::piped()).await?;
        copy.rows.check(&rows(&connect(url).await?).await?)
    }

    /// Runs a program of PostgreSQL on the database of this address. Returns what it prints to a pipe.
    async fn run(
        &self,
        url: &str,
        program: &str,
        arguments: &[&str],
        input: Stdio,
        output: Stdio,
    ) -> Result<String> {
        let config = config(url)?;
        let mut command = Command::new(program);
        command.args(arguments).stdin(input).stdout(output).stderr(Stdio::piped()).kill_on_drop(true);
        // Variables of `libpq` in our own environment must not change the address.
        for (name, _) in std::env::vars_os() {
            if name.as_encoded_bytes().starts_with(b"PG") {
                command.env_remove(name);
            }
        }
        command.envs(environment(&config));
        if config.get_ssl_mode() == SslMode::Require {
            let roots = tls::roots_file(&self.work).map_err(disk_error)?;
            command.env("PGSSLROOTCERT", roots);
        }
        let run = async { command.spawn()?.wait_with_output().await };
        let done = run.await.map_err(|error| match error.kind() {
            ErrorKind::NotFound => Error::internal(format!(
                "{program} is not on PATH: install the client programs of PostgreSQL (postgresql-client)"
            )),
            _ => Error::Unavailable(format!("{program}: {error}").into()),
        })?;
        if done.status.success() {
            return Ok(String::from_utf8_lossy(&done.stdout).into_owned());
        }
        let printed = String::from_utf8_lossy(&done.stderr);
        let line = printed.lines().find(|line| line.contains("error: ")).or(printed.lines().next());
        Err(Error::internal(line.map_or_else(|| format!("{program}: {}", done.status), str::to_owned)))
    }
}

fn disk_error(error: io::Error) -> Error {
    Error::Unavailable(error.into())
}

/// An error of the database, with the message of the server.
fn failed(error: tokio_postgres::Error) -> Error {
    match error.as_db_error() {
        Some(cause) => Error::Unavailable(cause.message().to_owned().into()),
        None => Error::Unavailable(error.into()),
    }
}

/// Opens a connection to any database, for reads: over TLS if the address asks for it. Its encoding must be UTF8.
///
/// # Errors
/// `Unavailable` with the reason.
pub async fn connect_to_read(url: &str) -> Result<Client> {
    tls::connect_client(url, ConnectionPurpose::Reading)
        .await
        .map_err(|error| Error::Unavailable(error.into()))
}

/// Opens a connection that is not of a pool. Its statements and transactions have no time limit.
async fn connect(url: &str) -> Result<Client> {
    const SETTINGS: &str =
        "SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0; SET lock_timeout = 0";
    let client = connect_to_read(url).await?;
    client.batch_execute(SETTINGS).await.map_err(failed)?;
    Ok(client)
}

fn config(url: &str) -> Result<Config> {
    tls::with_known_mode(url).parse().map_err(Error::internal)
}

/// The same address with another database.
fn in_database(url: &str, name: &str) -> String {
    let separator = if url.contains('?') { '&' } else { '?' };
    format!("{url}{separator}dbname={name}")
}

/// The argument for the database of an address. It limits how long a server may be silent, as on our own connections: there
/// are no variables for that.
fn database_argument(url: &str) -> Result<String> {
    let config = config(url)?;
    let name = config.get_dbname().or(config.get_user()).unwrap_or_default();
    let name = name.replace('\\', r"\\").replace('\'', r"\'");
    Ok(format!(
        "--dbname=dbname='{name}' keepalives_idle=10 keepalives_interval=5 keepalives_count=3 tcp_user_timeout=60000"
    ))
}

/// The address in the variables of `libpq`, so that the password is in no argument. TLS is used as by our own connections:
/// with a certificate that the system trusts, or not at all.
fn environment(config: &Config) -> Vec<(&'static str, String)> {
    let joined = |parts: Vec<String>| Some(parts.join(",")).filter(|parts| !parts.is_empty());
    let host = |host: &Host| match host {
        Host::Tcp(name) => name.clone(),
        Host::Unix(directory) => directory.display().to_string(),
    };
    let text = |value: Option<&str>| value.map(str::to_owned);
    let is_secure = config.get_ssl_mode() == SslMode::Require;
    let all = [
        ("PGHOST", joined(config.get_hosts().iter().map(host).collect())),
        ("PGHOSTADDR", joined(config.get_hostaddrs().iter().map(ToString::to_string).collect())),
        ("PGPORT", joined(config.get_ports().iter().map(ToString::to_string).collect())),
        ("PGUSER", text(config.get_user())),
        ("PGPASSWORD", config.get_password().map(|word| String::from_utf8_lossy(word).into_owned())),
        ("PGDATABASE", text(config.get_dbname())),
        ("PGOPTIONS", text(config.get_options())),
        ("PGSSLMODE", text(Some(if is_secure { "verify-full" } else { "disable" }))),
        ("PGTARGETSESSIONATTRS", text((config.get_hosts().len() > 1).then_some("read-write"))),
        ("PGCONNECT_TIMEOUT", text(Some("10"))),
        ("LC_ALL", text(Some("C"))),
    ];
    all.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// Whether programs of this major version can be used with a server: `pg_dump` refuses a newer server, and from 17 on
/// `pg_restore` sends `SET transaction_timeout = 0`, which an older server refuses.
fn fits(server: i32, program: i32) -> bool {
    program >= server && (program >= 17) == (server >= 17)
}

/// The number after `(PostgreSQL) ` in the version of a program.
fn major(printed: &str) -> Option<i32> {
    let digits = printed.split_once("(PostgreSQL) ")?.1;
    digits.split(|character: char| !character.is_ascii_digit()).next()?.parse().ok()
}

/// A dump as the input of a program, from its beginning.
fn input(copy: &DatabaseCopy) -> Result<Stdio> {
    let mut file = copy.content.file.try_clone().map_err(disk_error)?;
    file.rewind().map_err(disk_error)?;
    Ok(file.into())
}

/// The beginning of the names of temporary databases for this database.
async fn temporary(client: &Client) -> Result<String> {
    let id = "SELECT oid::text FROM pg_database WHERE datname = current_database()";
    let id: String = client.query_one(id, &[]).await.map_err(failed)?.get(0);
    Ok(format!("{TEMPORARY}{id}_"))
}

/// A database that cannot be dropped now is dropped before the next backup.
async fn drop_database(client: &Client, name: &str, force: &str) {
    if let Err(error) = client.batch_execute(&format!("DROP DATABASE \"{name}\" {force}")).await {
        tracing::warn!(name, %error, "a temporary database could not be dropped");
    }
}

/// The rows of all tables but those of extensions, which are not in a dump.
async fn rows(client: &Client) -> Result<RowCounts> {
    const TABLES: &str = "SELECT n.nspname || '.' || c.relname,
           format('SELECT count(*) FROM %I.%I', n.nspname, c.relname)
         FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
         WHERE c.relkind = 'r' AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
           AND NOT EXISTS (SELECT FROM pg_depend d
             WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')";
    let mut rows = RowCounts::default();
    for table in client.query(TABLES, &[]).await.map_err(failed)? {
        let counted = client.query_one(table.get::<_, &str>(1), &[]).await.map_err(failed)?;
        rows.0.insert(table.get(0), counted.get::<_, i64>(0).unsigned_abs());
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_get_the_address_in_their_environment() {
        let variables = |url: &str| environment(&config(url).unwrap());
        let value = |url: &str, name: &str| {
            variables(url).into_iter().find(|(found, _)| *found == name).map(|(_, value)| value)
        };
        let far = "postgres://nora:a%40b@db1:5433,db2:5434/city?sslmode=require&options=-c%20a%3Db&keepalives_idle=3";
        for (name, expected) in [
            ("PGHOST", Some("db1,db2")),
            ("PGPORT", Some("5433,5434")),
            ("PGUSER", Some("nora")),
            ("PGPASSWORD", Some("a@b")),
            ("PGDATABASE", Some("city")),
            ("PGOPTIONS", Some("-c a=b")),
            ("PGSSLMODE", Some("verify-full")),
            ("PGTARGETSESSIONATTRS", Some("read-write")),
            ("PGHOSTADDR", None),
        ] {
            assert_eq!(value(far, name).as_deref(), expected, "{name}");
        }
        let near = "postgres://nora@%2Frun%2Fpg/city";
        for (name, expected) in [
            ("PGHOST", Some("/run/pg")),
            ("PGPASSWORD", None),
            ("PGSSLMODE", Some("disable")),
            ("PGTARGETSESSIONATTRS", None),
        ] {
            assert_eq!(value(near, name).as_deref(), expected, "{name}");
        }
    }

    #[test]
    fn another_database_of_an_address_is_the_last_one_it_names() {
        for url in
            ["postgres://db", "postgres://nora:x@db/city", "postgres://db/city?sslmode=require&dbname=other"]
        {
            let config = config(&in_database(url, "check")).unwrap();
            assert_eq!(config.get_dbname(), Some("check"), "{url}");
        }
    }

    #[test]
    fn a_database_is_an_argument_without_secrets_and_whatever_its_name_is() {
        for (url, name) in [
            ("postgres://nora:secret@db/city", "city"),
            ("postgres://nora:secret@db", "nora"),
            ("postgres://nora:secret@db/a%3Db%27c%5Cd", r"a=b\'c\\d"),
        ] {
            let argument = database_argument(url).unwrap();
            let start = format!("--dbname=dbname='{name}' keepalives_idle=10 ");
            assert!(argument.starts_with(&start) && !argument.contains("secret"), "{argument}");
        }
    }

    #[tokio::test]
    async fn a_program_that_is_missing_is_named_with_what_to_install() {
        let settings = DatabaseSettings {
            url: "postgres://nora@127.0.0.1:1/city".to_owned(),
            pooler_url: None,
            read_url: None,
            pool_size: 1,
            wait: std::time::Duration::from_secs(1),
            locales: civitas_kernel::Locales::standard(),
            limits: crate::pools::StatementLimits::default(),
        };
        let copies = EngineDatabaseCopier { settings, work: std::env::temp_dir() };
        let run = copies.run(&copies.settings.url, "pg_nowhere", &[], Stdio::null(), Stdio::piped()).await;
        let error = run.unwrap_err();
        let sentence = error.cause().unwrap().to_string();
        assert!(sentence.starts_with("pg_nowhere is not on PATH: install"), "{sentence}");
    }

    #[test]
    fn a_version_is_that_of_postgresql_and_not_of_the_package() {
        assert_eq!(major("pg_dump (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)\n"), Some(15));
        assert_eq!(major("pg_dump (PostgreSQL) 19beta1\n"), Some(19));
        assert_eq!(major("pg_dump\n"), None);
    }

    #[test]
    fn programs_fit_a_server_of_their_version_or_an_older_one_on_the_same_side_of_17() {
        for (server, program, expected) in [
            (15, 17, false),
            (16, 16, true),
            (17, 18, true),
            (16, 15, false),
            (15, 16, true),
            (18, 17, false),
        ] {
            assert_eq!(fits(server, program), expected, "{server}, {program}");
        }
    }
}
