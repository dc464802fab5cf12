//! Every migration can be reverted.

use civitas_tests::{Database, Engine};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The migrations of an engine, in their order.
fn migrations(engine: Engine) -> Vec<PathBuf> {
    let name = match engine {
        Engine::Sqlite => "sqlite",
        Engine::Postgres => "postgres",
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../migrations").join(name);
    let mut found: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.sort();
    found
}

async fn run(database: &Database, migration: &Path, file: &str) {
    let sql = fs::read_to_string(migration.join(file)).unwrap();
    database.execute(&format!("BEGIN; {sql}\n; COMMIT")).await;
}

/// The lines that only one of two schemas has.
fn difference(left: &[String], right: &[String]) -> Vec<String> {
    let [left, right] = [left, right].map(|lines| lines.iter().cloned().collect::<BTreeSet<_>>());
    left.symmetric_difference(&right).cloned().collect()
}

#[tokio::test]
async fn every_migration_can_be_reverted_and_applied_again() {
    for engine in Engine::BOTH {
        let Some(database) = Database::fresh(engine).await else { continue };
        let migrations = migrations(engine);
        let mut schemas = vec![database.schema().await];
        for migration in migrations.iter().rev() {
            run(&database, migration, "down.sql").await;
            schemas.push(database.schema().await);
        }
        assert_eq!(schemas.pop().unwrap(), Vec::<String>::new(), "{engine:?}: nothing is left");
        for migration in &migrations {
            run(&database, migration, "up.sql").await;
            let (applied, reverted) = (database.schema().await, schemas.pop().unwrap());
            let differs = difference(&applied, &reverted);
            assert!(differs.is_empty(), "{engine:?} {}: {differs:#?}", migration.display());
        }
    }
}
