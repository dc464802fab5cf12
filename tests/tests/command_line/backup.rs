//! `civitas backup` and `civitas restore`, on both engines.

use crate::command_line::city::{City, Said};
use civitas_archive::demo_archive;
use civitas_audit::{Action, Actor, NewAuditEntry};
use civitas_kernel::clock;
use civitas_tests::ObjectServer;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Records of every type, after the demo city.
const COMPLETE: &str = include_str!("../../fixtures/complete.ndjson");

/// A deployment with a record of every kind, and an empty one to restore into.
struct Pair {
    from: City,
    to: City,
}

async fn pairs() -> Vec<Pair> {
    let mut pairs = vec![Pair { from: City::new().await, to: City::unmigrated() }];
    if let Some(from) = City::on_postgres().await {
        pairs.push(Pair { from, to: City::on_empty_postgres().await });
    }
    for pair in &pairs {
        let flags = ["import", "-", "--allow-operators", "--allow-weak-secrets", "--emit-events"];
        let imported = pair.from.type_in(&flags, &format!("{}{COMPLETE}", demo_archive())).await;
        assert_eq!(imported.code, 0, "{}", imported.err);
    }
    pairs
}

impl Pair {
    /// The directory of the backups.
    fn target(&self) -> PathBuf {
        self.from.path().join("backups-of-the-city")
    }

    async fn backup(&self, more: &[&str]) -> Value {
        let to = self.target().display().to_string();
        let said = self.from.run(&[&["backup", "--quiet", "--to", &to], more].concat()).await;
        assert_eq!((said.code, said.err.as_str()), (0, ""), "{}", said.out);
        said.json()
    }

    /// How a copy is checked: the user of tests may not create databases on the server.
    fn proof(&self) -> &'static str {
        if self.from.1.is_none() { "restored" } else { "read" }
    }

    /// The copy of the database.
    fn copy(&self) -> PathBuf {
        find(&self.target(), "/database")
    }

    /// Copies the generated secret key, which no backup has.
    fn copy_key(&self) {
        if self.from.1.is_none() {
            fs::create_dir_all(self.to.path().join("data")).unwrap();
            fs::copy(self.from.path().join("data/secret_key"), self.to.path().join("data/secret_key"))
                .unwrap();
        }
    }

    async fn restore(&self, more: &[&str]) -> Said {
        let from = self.target().display().to_string();
        self.to.run(&[&["restore", &from], more].concat()).await
    }
}

async fn export(city: &City) -> String {
    city.run(&["export", "--with-secrets"]).await.done().out
}

/// The only file below a directory whose name contains a text.
fn find(directory: &Path, part: &str) -> PathBuf {
    let mut found = Vec::new();
    let mut directories = vec![directory.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
            } else if path.to_string_lossy().contains(part) {
                found.push(path);
            }
        }
    }
    assert_eq!(found.len(), 1, "{part}: {found:?}");
    found.remove(0)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_restores_every_record_and_file_of_the_deployment() {
    for pair in pairs().await {
        let made = pair.backup(&[]).await;
        assert!(made["backup"]["files"].as_u64() > Some(2), "{made}");
        assert_eq!(made["backup"]["missing_files"], 0, "{made}");
        assert_eq!(made["backup"]["proof"], pair.proof(), "{made}");
        let check = pair.restore(&["--check"]).await;
        assert_eq!((check.code, check.json()["missing"].as_u64()), (0, Some(0)), "{}", check.err);
        assert_eq!(check.json()["proof"], pair.proof());
        assert_eq!(check.err.contains("was read, not restored"), pair.proof() == "read", "{}", check.err);
        let restored = pair.restore(&[]).await;
        assert_eq!(restored.code, 0, "{}", restored.err);
        assert_eq!(restored.err.contains("secret_key"), pair.from.1.is_none(), "{}", restored.err);
        pair.copy_key();
        let restored = restored.json();
        assert_eq!(restored["database"]["rows"], made["backup"]["rows"], "{restored}");
        assert_eq!(restored["files"]["copied"], made["backup"]["files"], "{restored}");
        // Ids are the same too: an archive names records by their ids.
        let (before, after) = (export(&pair.from).await, export(&pair.to).await);
        assert!(before.len() > 10_000 && before == after);
        let check = pair.to.run(&["files", "check"]).await;
        assert_eq!(check.code, 0, "{}", check.out);
        pair.to.run(&["audit", "verify"]).await;
        let actions = pair.to.run(&["audit", "list", "--deployment"]).await.done().out;
        assert!(actions.contains("backup.restored"), "{actions}");
        // The restored deployment can be written, with ids that follow the old ones.
        pair.to
            .client(&["create", "--scope", "blogs", "--organization-id", "1", "--id", "after-restore"])
            .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_is_of_one_moment_while_others_write() {
    for pair in pairs().await {
        let (store, stop) = (pair.from.store().await, Arc::new(AtomicBool::new(false)));
        let told = stop.clone();
        let writing = tokio::spawn(async move {
            let mut written = 0;
            while !told.load(Ordering::Relaxed) {
                let actor = Actor::CommandLine { command: "test".to_owned() };
                let tx = store.begin().await.unwrap();
                tx.audit()
                    .append(&NewAuditEntry::new(actor, Action::KeyRotated), clock::now())
                    .await
                    .unwrap();
                tx.commit().await.unwrap();
                written += 1;
            }
            written
        });
        let made = pair.backup(&[]).await;
        stop.store(true, Ordering::Relaxed);
        assert!(writing.await.unwrap() > 0);
        let restored = pair.restore(&[]).await;
        assert_eq!(
            (restored.code, restored.json()["database"]["rows"].clone()),
            (0, made["backup"]["rows"].clone())
        );
        // Half of a chain would not be a chain.
        let verified = pair.to.run(&["audit", "verify"]).await;
        assert_eq!(verified.code, 0, "{}", verified.out);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn later_backups_share_the_files_of_earlier_ones() {
    for pair in pairs().await {
        let first = pair.backup(&[]).await;
        let second = pair.backup(&[]).await;
        assert_eq!(first["backup"]["new_files"], first["backup"]["files"]);
        assert_eq!(second["backup"]["new_files"], 0);
        assert_eq!(second["backup"]["files"], first["backup"]["files"]);
        let to = pair.target().display().to_string();
        let listed = pair.from.run(&["backup", "--to", &to, "--list"]).await.done().out;
        let listed: Vec<Value> = listed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(listed.len(), 2);
        assert!(listed.iter().all(|backup| backup["complete"] == json!(true)), "{listed:?}");
        let name = first["backup"]["name"].as_str().unwrap();
        let restored = pair.restore(&["--backup", name]).await;
        assert_eq!((restored.code, restored.json()["backup"].as_str()), (0, Some(name)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_backup_is_not_restored_and_the_database_stays_empty() {
    for pair in pairs().await {
        pair.backup(&[]).await;
        let part = pair.copy();
        let whole = fs::read(&part).unwrap();
        let mut damaged = whole.clone();
        *damaged.last_mut().unwrap() ^= 1;
        fs::write(&part, &damaged).unwrap();
        for flags in [&["--check"][..], &[]] {
            let said = pair.restore(flags).await;
            assert!(said.code == 1 && said.err.contains("is missing or damaged"), "{}", said.err);
        }
        fs::remove_file(&part).unwrap();
        assert_eq!(pair.restore(&[]).await.code, 1);
        fs::write(&part, &whole).unwrap();
        // After the faults: nothing of the refused ones is in the way.
        let restored = pair.restore(&[]).await;
        assert_eq!(restored.code, 0, "{}", restored.err);
        let again = pair.restore(&[]).await;
        assert!(
            again.code == 1 && (again.err.contains("exists") || again.err.contains("not empty")),
            "{}",
            again.err
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_files_are_told_and_can_be_restored_later() {
    for pair in pairs().await {
        pair.backup(&[]).await;
        let files = pair.target().join("files");
        let kept = pair.target().join("elsewhere");
        fs::rename(&files, &kept).unwrap();
        let restored = pair.restore(&[]).await;
        assert!(restored.code == 1 && restored.err.contains("files are missing"), "{}", restored.err);
        fs::remove_dir_all(&files).unwrap();
        fs::rename(&kept, &files).unwrap();
        let repaired = pair.restore(&["--files-only"]).await;
        assert_eq!((repaired.code, repaired.json()["files"]["missing"].as_u64()), (0, Some(0)));
        assert_eq!(pair.to.run(&["files", "check"]).await.code, 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_goes_to_object_storage_and_comes_back() {
    let server = ObjectServer::start().await;
    for (pair, prefix) in pairs().await.iter().zip(["a", "b"]) {
        let url = server.url(prefix);
        let said = pair.from.run_with(&["backup", "--quiet", "--to", &url], "", server.settings()).await;
        assert_eq!(said.code, 0, "{}", said.err);
        pair.copy_key();
        let said = pair.to.run_with(&["restore", &url], "", server.settings()).await;
        assert_eq!(said.code, 0, "{}", said.err);
        assert_eq!(export(&pair.from).await, export(&pair.to).await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_a_backup_is_refused_with_a_sentence() {
    let city = City::new().await;
    let here = city.path().join("backups").display().to_string();
    for (words, part) in [
        (&["backup"][..], "--to DIR, or set backup_to"),
        (&["restore", &here], "there is no complete backup"),
        (
            &["restore", &here, "--backup", "20261123T023000Z-8f1c22d0"],
            "there is no complete backup 20261123",
        ),
        (&["backup", "--to", "ftp://x/y"], "expected file:///PATH or s3://BUCKET/PREFIX"),
        (&["migrate", "--backup-times", "02:30"], "needs backup_to beside it"),
        (
            &["migrate", "--backup-times", "2:30", "--backup-to", "file:///x"],
            "must be a time of day, as 02:30",
        ),
    ] {
        let said = city.run(words).await;
        assert!(said.code == 1 && said.err.contains(part), "{words:?}: {}", said.err);
        assert_eq!(said.err.lines().count(), 1, "{}", said.err);
    }
    assert_eq!(city.run(&["restore", &here, "--backup", "../x"]).await.code, 2);
    let retired = vec![("CIVITAS_BACKUP_RECIPIENTS".to_owned(), "age1x".to_owned())];
    let said = city.run_with(&["migrate"], "", retired).await;
    let part = "CIVITAS_BACKUP_RECIPIENTS is no setting any more: encrypt backups outside";
    assert!(said.code == 1 && said.err.contains(part), "{}", said.err);
    let sealed = city.path().join("backups/backups/20261123T023000Z-8f1c22d0");
    fs::create_dir_all(&sealed).unwrap();
    let manifest = json!({"format": 1, "civitas": "0.1.0", "recipients": ["age1x"], "contents": {}});
    fs::write(sealed.join("manifest.json"), manifest.to_string()).unwrap();
    let said = city.run(&["restore", &here]).await;
    assert!(said.code == 1 && said.err.contains("it is encrypted to age1x: restore it with"), "{}", said.err);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_of_another_engine_is_refused() {
    let pairs = pairs().await;
    let [sqlite, postgres] = pairs.as_slice() else { return };
    sqlite.backup(&[]).await;
    let from = sqlite.target().display().to_string();
    let said = postgres.to.run(&["restore", &from]).await;
    assert!(said.code == 1 && said.err.contains("the backup is of SQLite"), "{}", said.err);
}

/// The same for a user of PostgreSQL who may create databases. The database of a killed check is removed.
#[tokio::test(flavor = "multi_thread")]
async fn a_copy_is_restored_into_a_database_of_its_own_where_the_user_may_create_one() {
    let pairs = pairs().await;
    let Some(pair) = pairs.get(1) else { return };
    let database = pair.from.1.as_ref().unwrap();
    let mut url: url::Url = database.url().parse().unwrap();
    let password = url.password().map(|password| format!("PASSWORD '{password}'")).unwrap_or_default();
    database
        .administer(&format!(
            "DO $$ BEGIN CREATE ROLE civitas_test_creator LOGIN CREATEDB {password} IN ROLE civitas_test;
             EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$"
        ))
        .await;
    url.set_username("civitas_test_creator").unwrap();
    let own = "SELECT oid::bigint AS number FROM pg_database WHERE datname = current_database()";
    let prefix = format!("civitas_backup_check_{}_", database.number(own).await);
    database.administer(&format!("CREATE DATABASE {prefix}0 OWNER civitas_test_creator")).await;
    let (to, url) = (pair.target().display().to_string(), url.to_string());
    let words = ["backup", "--quiet", "--to", &to, "--database-url", &url];
    let made = pair.from.run(&words).await.done().json();
    assert_eq!(made["backup"]["proof"], "restored", "{made}");
    let check = pair.from.run(&["restore", &to, "--check", "--database-url", &url]).await.done().json();
    assert_eq!((&check["proof"], &check["rows"]), (&json!("restored"), &made["backup"]["rows"]));
    assert_eq!(database.count("pg_database", &format!("starts_with(datname, '{prefix}')")).await, 0);
    // A dump that is whole, of other rows than the manifest says.
    let manifest = find(&pair.target(), "manifest.json");
    let mut changed: Value = serde_json::from_slice(&fs::read(&manifest).unwrap()).unwrap();
    changed["rows"]["public.users"] = json!(0);
    fs::write(&manifest, changed.to_string()).unwrap();
    let said = pair.from.run(&["restore", &to, "--check", "--database-url", &url]).await;
    assert!(said.code == 1 && said.err.contains("public.users has"), "{}", said.err);
    assert_eq!(database.count("pg_database", &format!("starts_with(datname, '{prefix}')")).await, 0);
}

/// A process that was killed in the middle of a backup leaves an incomplete one, and a temporary directory.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_killed_backup_left_is_removed_by_the_next_one() {
    for pair in pairs().await {
        let incomplete = pair.target().join("backups/20200101T000000Z-00000000");
        fs::create_dir_all(&incomplete).unwrap();
        fs::write(incomplete.join("database"), "half").unwrap();
        let work = pair.from.path().join("data/backup/backup-killed");
        if pair.from.1.is_none() {
            fs::create_dir_all(&work).unwrap();
        }
        assert!(pair.restore(&[]).await.err.contains("there is no complete backup"));
        let made = pair.backup(&[]).await;
        assert_eq!(made["removed"]["backups"], 1, "{made}");
        assert!(!incomplete.join("database").exists() && !work.exists());
        assert_eq!(pair.restore(&[]).await.code, 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_backups_of_a_deployment_are_not_made_at_once() {
    for pair in pairs().await {
        let to = pair.target().display().to_string();
        let words = ["backup", "--quiet", "--to", &to];
        let (one, two) = tokio::join!(pair.from.run(&words), pair.from.run(&words));
        let refused = if one.code == 0 { two } else { one };
        // The second one may have begun after the end of the first one.
        if refused.code != 0 {
            assert!(refused.err.contains("another backup of this database is being made"), "{}", refused.err);
        }
    }
}
