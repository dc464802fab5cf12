//! A deployment for commands, which run in this process with separate standard streams.

use civitas_application::Store;
use civitas_server::cli::{Console, run};
use civitas_tests::{Database, Engine};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

/// What a command said, and how it ended.
pub struct Said {
    pub code: u8,
    pub out: String,
    pub err: String,
}

impl Said {
    /// Its one answer.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out)
            .unwrap_or_else(|error| panic!("{error}: {:?} {:?}", self.out, self.err))
    }

    pub fn done(self) -> Self {
        assert_eq!((self.code, self.err.as_str()), (0, ""), "{}", self.out);
        self
    }
}

/// A deployment in a directory of its own, and in a database of its own where it is PostgreSQL.
pub struct City(TempDir, pub Option<Database>);

/// 32 bytes.
pub const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

impl City {
    pub fn unmigrated() -> Self {
        Self(tempfile::tempdir().unwrap(), None)
    }

    pub async fn new() -> Self {
        let city = Self::unmigrated();
        city.run(&["migrate"]).await.done();
        city
    }

    /// A migrated deployment with two organizations.
    pub async fn with_organizations() -> Self {
        Self::new().await.founded().await
    }

    /// On PostgreSQL, migrated; `None` where there is none to test with.
    pub async fn on_postgres() -> Option<Self> {
        Some(Self(tempfile::tempdir().unwrap(), Some(Database::fresh(Engine::Postgres).await?)))
    }

    /// On PostgreSQL, in a database without tables.
    pub async fn on_empty_postgres() -> Self {
        let database = Database::fresh(Engine::Postgres).await.unwrap();
        database.execute("DROP SCHEMA public CASCADE").await;
        database.execute("CREATE SCHEMA public AUTHORIZATION civitas_test").await;
        Self(tempfile::tempdir().unwrap(), Some(database))
    }

    /// With two organizations.
    pub async fn founded(self) -> Self {
        let lines = ["a.example", "b.example"].map(|host| {
            format!(
                r#"{{"type":"organization","ref":"{host}","host":"{host}","name":{{"en":"City {host}"}},"available_locales":["en"],"default_locale":"en"}}"#
            )
        });
        self.type_in(&["import", "-"], &lines.join("\n")).await.done();
        self
    }

    /// Its store.
    pub async fn store(&self) -> Arc<dyn Store> {
        if let Some(database) = &self.1 {
            return database.store();
        }
        let path = self.path().join("data/civitas.db");
        Engine::Sqlite.open(&format!("sqlite://{}", path.display())).await.unwrap()
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub async fn run(&self, words: &[&str]) -> Said {
        self.type_in(words, "").await
    }

    pub async fn type_in(&self, words: &[&str], input: &str) -> Said {
        self.run_with(words, input, Vec::new()).await
    }

    /// With more environment variables.
    pub async fn run_with(&self, words: &[&str], input: &str, more: Vec<(String, String)>) -> Said {
        let data = self.path().join("data").display().to_string();
        let mut environment = vec![("CIVITAS_DATA_DIR".to_owned(), data)];
        if let Some(database) = &self.1 {
            environment.push(("CIVITAS_DATABASE_URL".to_owned(), database.url().to_owned()));
            environment.push(("CIVITAS_SECRET_KEY".to_owned(), KEY.to_owned()));
        }
        environment.extend(more);
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let console = Console {
            environment,
            stdin: &mut input.as_bytes(),
            stdout: &mut out,
            stderr: &mut err,
            watched: false,
        };
        let code = run(["civitas"].iter().chain(words), console).await;
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Said { code, out: text(out), err: text(err) }
    }

    /// What `api-client` refuses, in its own words.
    pub async fn refusal(&self, words: &[&str]) -> String {
        let said = self.run(&[&["api-client"], words].concat()).await;
        assert_eq!((said.code, said.err.as_str()), (1, ""), "{}", said.out);
        said.json()["error"].as_str().unwrap_or_else(|| panic!("{}", said.out)).to_owned()
    }

    pub async fn client(&self, words: &[&str]) -> Value {
        self.run(&[&["api-client"], words].concat()).await.done().json()
    }
}
