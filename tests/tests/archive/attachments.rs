use crate::archive::{CITY, NOW};
use async_trait::async_trait;
use civitas_application::{Ports, Store};
use civitas_archive::{
    ExportOptions, ExportServices, FileServices, ImportError, ImportOptions, ImportReport, export, import,
};
use civitas_attachments::{ByteStream, FileContent, FileStore, StoredFile, StoredObject};
use civitas_kernel::{AttachmentId, OrganizationId, Result as StoreResult, clock};
use civitas_tests::{Database, Files, databases, export_services, import_options};
use civitas_tokens::Argon2Passwords;
use futures_util::TryStreamExt;
use futures_util::stream::BoxStream;
use serde_json::{Value, json};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Files of all kinds, for [`CITY`].
const ATTACHED: &str = r#"
{"type": "attachment_collection", "ref": "plans", "organization": "city", "attached_to": {"type": "proposal", "ref": "trees"}, "name": {"en": "Plans"}, "weight": 1}
{"type": "attachment", "ref": "map", "organization": "city", "attached_to": {"type": "space", "ref": "streets"}, "title": {"en": "Map"}, "description": {"en": "D"}, "link": "https://maps.example/"}
{"type": "attachment", "ref": "plan", "organization": "city", "attached_to": {"type": "proposal", "ref": "trees"}, "title": {"en": "Plan"}, "weight": 3, "collection": "plans", "data": "aGVsbG8gd29ybGQK", "filename": "plan.txt", "content_type": "text/plain", "created_at": "2026-03-02T10:20:30Z", "updated_at": "2026-03-02T10:20:30Z"}
{"type": "attachment", "ref": "beside", "organization": "city", "attached_to": {"type": "organization", "ref": "city"}, "title": {"en": "Beside"}, "path": "beside.txt"}
"#;

async fn read(
    store: &dyn Store,
    files: &Files,
    archive: &str,
    dry_run: bool,
) -> Result<ImportReport, ImportError> {
    let options = ImportOptions { dry_run, files: Some(files.services()), ..import_options(NOW) };
    import(store, &Argon2Passwords::new(), archive.as_bytes(), options, &mut |_| {}).await
}

fn city() -> String {
    format!("{CITY}{ATTACHED}")
}

fn services(files: &Files) -> ExportServices<'_> {
    ExportServices { objects: &files.objects, ..export_services() }
}

fn files() -> Files {
    let files = Files::empty();
    std::fs::write(files.directory.path().join("beside.txt"), "hello beside\n").unwrap();
    files
}

async fn objects(files: &Files) -> usize {
    files.objects.list("").try_fold(0, async |count, _| Ok(count + 1)).await.unwrap()
}

fn count(report: &ImportReport, outcome: &str, kind: &str) -> Value {
    report.to_json()[outcome][kind].clone()
}

async fn stored(store: &dyn Ports, report: &ImportReport, name: &str) -> StoredFile {
    let refs = &report.to_json()["refs"]["city"];
    let id = |kind: &str, name: &str| refs[kind][name].as_i64().unwrap();
    let of = OrganizationId(id("organization", "city"));
    let attachment =
        store.attachments().find(of, AttachmentId(id("attachment", name))).await.unwrap().unwrap();
    store.files().find(of, attachment.file.unwrap()).await.unwrap().unwrap()
}

async fn bytes(files: &Files, file: &StoredFile) -> Vec<u8> {
    let bytes = files.objects.read(&file.object, 0..file.byte_size.unsigned_abs()).await.unwrap().unwrap();
    bytes
        .try_fold(Vec::new(), async |mut all, chunk| {
            all.extend(chunk);
            Ok(all)
        })
        .await
        .unwrap()
}

#[tokio::test]
async fn files_are_imported_from_lines_and_paths_and_a_second_import_changes_nothing() {
    for database in databases().await {
        let (store, files) = (&*database.store, files());
        let report = read(store, &files, &city(), false).await.unwrap();
        assert_eq!(count(&report, "created", "attachment"), 3);
        let plan = stored(as_ports(store), &report, "plan").await;
        assert_eq!((plan.filename.as_str(), plan.content_type.as_str()), ("plan.txt", "text/plain"));
        assert_eq!(bytes(&files, &plan).await, b"hello world\n");
        let beside = stored(as_ports(store), &report, "beside").await;
        assert_eq!(
            (beside.filename.as_str(), bytes(&files, &beside).await),
            ("beside.txt", b"hello beside\n".to_vec())
        );
        let again = read(store, &files, &city(), false).await.unwrap();
        assert_eq!(count(&again, "unchanged", "attachment"), 3, "{}", again.to_json());
        assert_eq!(count(&again, "unchanged", "attachment_collection"), 1);
        assert_eq!(objects(&files).await, 2);
        let changed = city().replace("aGVsbG8gd29ybGQK", "SGVsbG8gd29ybGQK");
        let report = read(store, &files, &changed, false).await.unwrap();
        assert_eq!(count(&report, "updated", "attachment"), 1);
        let plan = stored(as_ports(store), &report, "plan").await;
        assert_eq!(bytes(&files, &plan).await, b"Hello world\n");
    }
}

/// Writes to the database before it stores an object, as another process does. Never stores the object after `most`.
struct Busy<'a> {
    objects: &'a civitas_files::FileStorage,
    store: Arc<dyn Store>,
    stored: AtomicUsize,
    most: usize,
}

#[async_trait]
impl FileStore for Busy<'_> {
    async fn put(&self, name: &str, content: FileContent) -> StoreResult<()> {
        let city = self.store.organizations().find_by_host("city.example").await?.unwrap();
        self.store.list_changes().touch_list(city, "users", NOW).await?;
        if self.stored.fetch_add(1, Ordering::Relaxed) >= self.most {
            std::future::pending::<()>().await;
        }
        self.objects.put(name, content).await
    }

    async fn read(&self, name: &str, range: Range<u64>) -> StoreResult<Option<ByteStream>> {
        self.objects.read(name, range).await
    }

    async fn delete(&self, name: &str) -> StoreResult<()> {
        self.objects.delete(name).await
    }

    fn list(&self, prefix: &str) -> BoxStream<'static, StoreResult<StoredObject>> {
        self.objects.list(prefix)
    }

    async fn remove_incomplete(&self, age: Duration) -> StoreResult<u64> {
        self.objects.remove_incomplete(age).await
    }

    async fn ready(&self) -> StoreResult<()> {
        self.objects.ready().await
    }
}

/// Imports [`ATTACHED`] with this store of objects.
async fn attach(database: &Database, files: &Files, objects: &Busy<'_>) -> Result<ImportReport, ImportError> {
    let services = FileServices { objects, ..files.services() };
    let options = ImportOptions { files: Some(services), ..import_options(NOW) };
    import(&*database.store, &Argon2Passwords::new(), ATTACHED.as_bytes(), options, &mut |_| {}).await
}

#[tokio::test]
async fn others_write_while_files_are_stored() {
    for database in databases().await {
        let files = files();
        read(&*database.store, &files, CITY, false).await.unwrap();
        let store = database.store();
        let objects = Busy { objects: &files.objects, store, stored: AtomicUsize::new(0), most: 10 };
        let report = attach(&database, &files, &objects).await.unwrap();
        assert_eq!(count(&report, "created", "attachment"), 3);
        assert_eq!(objects.stored.load(Ordering::Relaxed), 2);
        assert_eq!(database.count("files", "state = 'stored'").await, 2);
        assert_eq!(database.count("files", "state <> 'stored' OR organization_id = 0").await, 0);
    }
}

#[tokio::test]
async fn the_files_of_an_import_that_was_killed_are_found_by_the_reaper_a_day_later() {
    for database in databases().await {
        let files = files();
        read(&*database.store, &files, CITY, false).await.unwrap();
        let store = database.store();
        let objects = Busy { objects: &files.objects, store, stored: AtomicUsize::new(0), most: 1 };
        let killed = tokio::time::timeout(Duration::from_secs(3), attach(&database, &files, &objects)).await;
        assert!(killed.is_err(), "the second object is never stored");
        let registry = database.store.files();
        let soon = clock::now() + time::Duration::hours(22);
        assert_eq!(registry.removed(soon, 10).await.unwrap(), [], "a long import may still need them");
        let found = registry.removed(clock::now() + time::Duration::hours(24), 10).await.unwrap();
        assert_eq!(found.len(), 2);
        assert_eq!(bytes(&files, &found[0].1).await, b"hello world\n");
    }
}

#[tokio::test]
async fn an_import_that_fails_or_is_a_trial_leaves_no_file() {
    for database in databases().await {
        let (store, files) = (&*database.store, files());
        let broken =
            format!("{}{{\"type\": \"user\", \"ref\": \"x\", \"organization\": \"city\"}}\n", city());
        assert!(read(store, &files, &broken, false).await.is_err());
        assert_eq!((objects(&files).await, database.count("files", "1 = 1").await), (0, 0));
        read(store, &files, &city(), true).await.unwrap();
        assert_eq!((objects(&files).await, database.count("files", "1 = 1").await), (0, 0));
    }
}

#[tokio::test]
async fn wrong_files_are_refused_with_their_reason() {
    for database in databases().await {
        let (store, files) = (&*database.store, files());
        read(store, &files, CITY, false).await.unwrap();
        std::os::unix::fs::symlink("/etc/hostname", files.directory.path().join("link.txt")).unwrap();
        let parent = json!({"type": "proposal", "ref": "trees"});
        for (members, reason) in [
            (json!({}), "one of link, data and path is required"),
            (
                json!({"link": "javascript:alert(1)"}),
                "link: \"javascript:alert(1)\" is not an http or https address",
            ),
            (
                json!({"link": "https://x.example", "data": "eA==", "filename": "x.txt"}),
                "only one of link, data and path is possible",
            ),
            (
                json!({"data": "eA==", "path": "beside.txt", "filename": "x.txt"}),
                "one of data and path is required",
            ),
            (json!({"data": "eA=="}), "filename is required"),
            (json!({"data": "", "filename": "x.txt"}), "the file is empty"),
            (json!({"data": "eA==", "filename": "x.SVG"}), "SVG files are refused"),
            (json!({"path": "../x.txt"}), "path: \"../x.txt\" is not inside of the directory of the archive"),
            (
                json!({"path": "/etc/hostname"}),
                "path: \"/etc/hostname\" is not inside of the directory of the archive",
            ),
            (json!({"path": "link.txt"}), "path: \"link.txt\" is not inside of the directory of the archive"),
            (json!({"path": "beside.txt", "collection": "x"}), "attachment_collection \"x\" is not known"),
        ] {
            let mut record = json!({"type": "attachment", "ref": "bad", "organization": "city",
                "attached_to": parent, "title": {"en": "T"}});
            record.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
            let error = read(store, &files, &record.to_string(), false).await.unwrap_err().to_string();
            assert_eq!(error, format!("line 1: attachment \"bad\": {reason}"));
        }
        let invalid = json!({"type": "attachment", "ref": "bad", "organization": "city", "attached_to": parent,
            "title": {"en": "T"}, "data": "%%%%", "filename": "x.txt"});
        assert!(read(store, &files, &invalid.to_string(), false).await.is_err());
        assert_eq!(objects(&files).await, 0);
    }
}

#[tokio::test]
async fn a_long_file_and_all_others_survive_the_way_to_another_database() {
    let mut exported = Vec::new();
    for database in databases().await {
        let (store, files) = (&*database.store, files());
        let long: String = "0123456789abcdef\n".repeat(300_000);
        std::fs::write(files.directory.path().join("beside.txt"), &long).unwrap();
        read(store, &files, &city(), false).await.unwrap();
        let mut archive = Vec::new();
        export(store, services(&files), &ExportOptions::default(), &mut archive).await.unwrap();
        let archive = String::from_utf8(archive).unwrap();
        let (target, elsewhere) = (civitas_tests::World::in_memory().await, Files::empty());
        let report = read(target.store(), &elsewhere, &archive, false).await.unwrap();
        assert_eq!(count(&report, "created", "attachment"), 3);
        let mut second = Vec::new();
        export(
            target.store(),
            services(&elsewhere),
            &ExportOptions { organization: Some("city.example".to_owned()), ..ExportOptions::default() },
            &mut second,
        )
        .await
        .unwrap();
        let data = |archive: &str| {
            let rows = archive.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
            let mut data: Vec<String> =
                rows.filter(|row| row["type"] == "attachment").map(|row| row["data"].to_string()).collect();
            data.sort();
            data
        };
        let second = String::from_utf8(second).unwrap();
        assert!(data(&archive) == data(&second) && data(&archive).iter().any(|text| text.len() > 6_000_000));
        exported.push(data(&archive));
    }
    exported.dedup();
    assert_eq!(exported.len(), 1, "both engines export the same");
}

fn as_ports(store: &dyn Store) -> &dyn Ports {
    store
}

#[tokio::test]
async fn the_limits_of_the_interface_on_files_do_not_apply() {
    let limited =
        CITY.replacen(r#""default_locale": "en""#, r#""default_locale": "en", "max_attachment_bytes": 3"#, 1);
    let strange = ATTACHED.replace("plan.txt", "plan.exe");
    for database in databases().await {
        let (store, files) = (&*database.store, files());
        let report = read(store, &files, &format!("{limited}{strange}"), false).await.unwrap();
        let plan = stored(as_ports(store), &report, "plan").await;
        assert_eq!((plan.filename.as_str(), plan.is_shown_inline()), ("plan.exe", false));
    }
}
