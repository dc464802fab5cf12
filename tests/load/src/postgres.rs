//! The database of a run: SQLite in the directory of the run, or a new database of a PostgreSQL server.

use crate::Outcome;
use crate::stage::Home;
use std::fs;
use tokio_postgres::NoTls;

/// An engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Engine {
    /// The embedded one.
    Sqlite,
    /// The server.
    Postgres,
}

/// A database that is removed after the run.
pub struct Database {
    /// The address of the server, and the name of the database; `None` on SQLite.
    server: Option<(String, String)>,
}

impl Database {
    /// Does a run over a new database, and removes the database.
    pub async fn during(engine: Engine, server: &str, run: impl AsyncFnOnce(&Self) -> Outcome) -> Outcome {
        let database = Self::make(engine, server, "load").await?;
        let outcome = run(&database).await;
        database.remove().await?;
        outcome
    }

    /// Makes one. `server` is the address of a database of the PostgreSQL server whose user may create others; the names
    /// of several databases of a run differ.
    pub async fn make(engine: Engine, server: &str, name: &str) -> Outcome<Self> {
        if engine == Engine::Sqlite {
            return Ok(Self { server: None });
        }
        let name = format!("civitas_{name}_{}", std::process::id());
        run(server, &format!("CREATE DATABASE {name}")).await?;
        Ok(Self { server: Some((server.to_owned(), name)) })
    }

    /// Its address; `None` on SQLite.
    pub fn url(&self) -> Option<String> {
        let (server, name) = self.server.as_ref()?;
        let (start, _) = server.rsplit_once('/')?;
        Some(format!("{start}/{name}"))
    }

    /// The size of the database and of the write-ahead log of SQLite, in bytes.
    pub async fn size(&self, home: &Home) -> Outcome<(u64, u64)> {
        let Some((server, name)) = &self.server else {
            let size = |name: &str| fs::metadata(home.file(name)).map(|file| file.len()).unwrap_or_default();
            return Ok((size("civitas.db"), size("civitas.db-wal")));
        };
        let (client, connection) = tokio_postgres::connect(server, NoTls).await?;
        // The task ends with the client, whose calls return its errors.
        tokio::spawn(connection);
        let bytes: i64 = client.query_one("SELECT pg_database_size($1::text::name)", &[name]).await?.get(0);
        Ok((bytes.unsigned_abs(), 0))
    }

    /// Removes it.
    pub async fn remove(self) -> Outcome {
        let Some((server, name)) = self.server else { return Ok(()) };
        run(&server, &format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")).await
    }
}

/// Does in a database what PostgreSQL does by itself some minutes after an import.
pub async fn vacuum(database: &str) -> Outcome {
    run(database, "VACUUM ANALYZE").await
}

async fn run(server: &str, sql: &str) -> Outcome {
    let (client, connection) = tokio_postgres::connect(server, NoTls).await?;
    // The task ends with the client, whose calls return its errors.
    tokio::spawn(connection);
    Ok(client.batch_execute(sql).await?)
}
