//! The two passes of an import: the first one holds no transaction. Rows that the second one changes are locked.

use crate::archive::{CITY, NOW, ids, import_with, read};
use async_trait::async_trait;
use civitas_accounts::{Passwords, Secret, User};
use civitas_application::Store;
use civitas_archive::{ImportPass, ImportProgress, demo_archive, import, import_seekable};
use civitas_kernel::limits::MAX_EXTENDED_DATA_BYTES;
use civitas_kernel::records::Change;
use civitas_kernel::{OrganizationId, Result};
use civitas_tests::{databases, import_options};
use civitas_tokens::Argon2Passwords;
use std::fmt::Write;
use std::io::Cursor;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Copies of the people of the demo city in the archive that is measured.
const COPIES: usize = 20;

/// Users with passwords.
fn people(number: usize) -> String {
    (0..number).fold(String::new(), |mut archive, n| {
        let line = format!(
            r#"{{"type": "user", "ref": "person{n}", "organization": "city", "nickname": "person{n}", "email": "person{n}@city.example", "name": "Person", "password": "password {n}"}}"#
        );
        writeln!(archive, "{line}").unwrap();
        archive
    })
}

/// Writes to the database for each password, as another process does.
struct Writing {
    store: Arc<dyn Store>,
    city: OrganizationId,
    hashed: AtomicUsize,
}

#[async_trait]
impl Passwords for Writing {
    async fn hash(&self, _: Secret) -> Result<String> {
        self.store.list_changes().touch_list(self.city, "users", NOW).await?;
        self.hashed.fetch_add(1, Ordering::Relaxed);
        Ok("$argon2id$v=19$m=8,t=1,p=1$c2FsdHNhbHQ$c2FsdHNhbHRzYWx0".to_owned())
    }

    async fn verify(&self, _: Secret, hash: Option<String>) -> Result<bool> {
        Ok(hash.is_some())
    }

    fn check_hash(&self, _: &str) -> Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn passwords_are_hashed_before_the_transaction_begins() {
    for database in databases().await {
        let report = read(&*database.store, CITY, false).await.unwrap();
        let (city, _) = ids(&report, "nora");
        let passwords = Writing { store: database.store(), city, hashed: AtomicUsize::new(0) };
        for (again, hashed) in [(false, 70), (true, 70)] {
            let input = Cursor::new(people(70));
            let options = import_options(NOW);
            let report = import_seekable(&*database.store, &passwords, input, options, &mut |_| {}).await;
            let report = report.unwrap().to_json();
            assert_eq!(report[if again { "unchanged" } else { "created" }]["user"], 70);
            assert_eq!(passwords.hashed.load(Ordering::Relaxed), hashed, "each once");
        }
    }
}

#[tokio::test]
async fn a_bad_line_ends_the_run_while_another_writes() {
    let user = r#"{"type": "user", "ref": "x", "organization": "city", "nickname": "xxx", "email": "x@city.example", "name": "X""#;
    let vote = r#"{"type": "vote", "ref": "v", "organization": "city", "user": "x", "proposal": "nothing"}"#;
    for database in databases().await {
        read(&*database.store, CITY, false).await.unwrap();
        let writer = database.store.begin().await.unwrap();
        for (archive, error) in [
            (format!("{user}}}\n{vote}\n"), r#"line 2: vote "v": proposal "nothing" is not known"#),
            (
                format!("{user}}}\n{user}, \"admin\": 1}}\n"),
                r#"line 2: user "x": admin: invalid type: integer `1`, expected a boolean"#,
            ),
            (format!("\n{user}\n"), "line 2: is not JSON: EOF while parsing an object at line 1 column 111"),
        ] {
            let refused = read(&*database.store, &archive, false).await.unwrap_err().to_string();
            assert_eq!(refused.split(" at line 1 column").next(), error.split(" at line 1 column").next());
        }
        writer.rollback().await;
    }
}

#[tokio::test]
async fn a_write_that_an_import_waits_for_is_not_lost() {
    let about = r#"{"type": "user", "ref": "nora", "organization": "city", "about": "Gardener"}"#;
    for database in databases().await {
        let report = read(&*database.store, CITY, false).await.unwrap();
        let (city, nora) = ids(&report, "nora");
        let writer = database.store.begin().await.unwrap();
        let before = writer.users().find_for_update(city, nora).await.unwrap().unwrap();
        let after = User { personal_url: Some("https://nora.example".to_owned()), ..before.clone() };
        writer.users().save(city, nora, &Change::new(before, after)).await.unwrap();
        let commit = async {
            tokio::time::sleep(Duration::from_millis(300)).await;
            writer.commit().await.unwrap();
        };
        let (imported, ()) = tokio::join!(read(&*database.store, about, false), commit);
        assert_eq!(imported.unwrap().updated["user"], 1);
        let user = database.store.users().find(city, nora).await.unwrap().unwrap();
        assert_eq!(
            (user.about.as_deref(), user.personal_url.as_deref()),
            (Some("Gardener"), Some("https://nora.example"))
        );
    }
}

#[tokio::test]
async fn extended_data_of_every_kind_has_a_maximum() {
    let kinds = ["organization", "user", "space", "component", "proposal", "meeting"];
    let records = ["city", "nora", "streets", "ideas", "trees", "kickoff"];
    for database in databases().await {
        read(&*database.store, CITY, false).await.unwrap();
        for (kind, reference) in kinds.into_iter().zip(records) {
            let of = if kind == "organization" { "" } else { r#""organization": "city", "# };
            let line = |length: usize| {
                // Of several texts: one of more than 1 MiB is refused before.
                let texts = format!(r#""{}", "#, "x".repeat(65_527)).repeat(15);
                // With the rest of `{"a":["x","x"]}`.
                let last = "x".repeat(length - 15 * 65_530 - 10);
                format!(
                    r#"{{"type": "{kind}", "ref": "{reference}", {of}"extended_data": {{"a": [{texts}"{last}"]}}}}"#
                )
            };
            let options = import_options(NOW);
            let refused =
                import_with(&*database.store, &line(MAX_EXTENDED_DATA_BYTES + 1), options).await.unwrap_err();
            let reason = "extended_data exceeds maximum size of 1048576 bytes";
            assert_eq!(refused.to_string(), format!("line 1: {kind} {reference:?}: {reason}"));
            let imported =
                import_with(&*database.store, &line(MAX_EXTENDED_DATA_BYTES), options).await.unwrap();
            assert_eq!(imported.updated[kind], 1);
        }
    }
}

#[tokio::test]
async fn the_time_of_the_transaction_is_printed() {
    let with_password = |line: &str, n: usize| {
        let line = line
            .replace("nora_blum", &format!("nora_blum_{n}"))
            .replace("nora.blum@", &format!("nora.blum.{n}@"));
        line.replacen('{', r#"{"password": "correct horse", "#, 1)
    };
    let nora =
        demo_archive().lines().find(|line| line.contains(r#""type": "user", "ref": "nora_blum""#)).unwrap();
    let people: Vec<String> = (0..6 * COPIES).map(|n| with_password(nora, n)).collect();
    let archive = format!("{}{}\n", demo_archive(), people.join("\n"));
    for database in databases().await {
        let (begun, mut checked) = (Instant::now(), Duration::ZERO);
        let mut progress = |at: ImportProgress| {
            if at.pass == ImportPass::Check {
                checked = begun.elapsed();
            }
        };
        let passwords = Argon2Passwords::new();
        let options = import_options(NOW);
        let store = &*database.store;
        let report = import(store, &passwords, archive.as_bytes(), options, &mut progress).await.unwrap();
        let all = begun.elapsed();
        assert_eq!(report.created["user"], 6 + 6 * COPIES as u64);
        println!(
            "{:?}: {all:?}, of which {:?} in the transaction",
            database.engine,
            all.saturating_sub(checked)
        );
    }
}
