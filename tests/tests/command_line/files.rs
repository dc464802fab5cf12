//! `civitas files`: on both engines, from a directory to a bucket and back.

use crate::command_line::city::{City, Said};
use civitas_application::{Files, SiteSettings};
use civitas_attachments::{FileState, FileStore, StoredFile};
use civitas_files::{DirectoryIntake, FileStorage};
use civitas_kernel::records::Change;
use civitas_kernel::{OrganizationId, clock};
use civitas_tests::{ObjectServer, inspected};
use futures_util::TryStreamExt;
use serde_json::{Value, json};
use std::sync::Arc;

/// A deployment with files in a directory, and a bucket.
struct Deployment {
    city: City,
    server: ObjectServer,
    /// The rows, and the bytes of their objects.
    files: Vec<(StoredFile, Vec<u8>)>,
}

async fn deployments() -> Vec<Deployment> {
    let mut cities = vec![City::with_organizations().await];
    if let Some(city) = City::on_postgres().await {
        cities.push(city.founded().await);
    }
    let mut deployments = Vec::new();
    for city in cities {
        let mut deployment = Deployment { city, server: ObjectServer::start().await, files: Vec::new() };
        deployment.fill().await;
        deployments.push(deployment);
    }
    deployments
}

impl Deployment {
    /// Stores three texts and an image, which has a thumbnail.
    async fn fill(&mut self) {
        let store = self.city.store().await;
        let intake = Arc::new(DirectoryIntake::open(self.city.path().join("intake")).unwrap());
        let site = SiteSettings::default();
        let objects = Arc::new(self.local("data/files"));
        let files = Files::new(store.clone(), civitas_api::event_committer(site), objects, intake);
        let image = image::DynamicImage::new_rgb8(30, 20);
        let mut png = std::io::Cursor::new(Vec::new());
        image.write_to(&mut png, image::ImageFormat::Png).unwrap();
        let texts = ["one", "two", "three"].map(|text| text.repeat(50_000).into_bytes());
        for bytes in texts.into_iter().chain([png.into_inner()]) {
            let organization = OrganizationId(1);
            let inspected = inspected(&files, bytes.clone()).await;
            let new =
                files.register(organization, "A", "a.txt".to_owned(), inspected, clock::now()).await.unwrap();
            let (id, file) = files.put(new).await.unwrap();
            let after = StoredFile { state: FileState::Stored, ..file.clone() };
            store
                .files()
                .save(organization, id, &Change { before: file, after: after.clone() })
                .await
                .unwrap();
            self.files.push((after, bytes));
        }
    }

    fn local(&self, path: &str) -> FileStorage {
        FileStorage::open(&self.url(path), []).unwrap()
    }

    fn url(&self, path: &str) -> String {
        format!("file://{}", self.city.path().join(path).display())
    }

    fn bucket(&self) -> FileStorage {
        FileStorage::open(&self.server.url("x"), self.server.settings()).unwrap()
    }

    async fn run(&self, words: &[&str]) -> Said {
        self.city.run_with(words, "", self.server.settings()).await
    }

    async fn moved(&self, from: &str, to: &str) -> (u8, Value) {
        let said = self.run(&["files", "move", "--quiet", "--to", to, "--files-url", from]).await;
        (said.code, said.json())
    }

    /// The answer of `files check`: its lines and its exit code.
    async fn checked(&self, url: &str, more: &[&str]) -> (u8, Vec<Value>) {
        let said = self.run(&[&["files", "check", "--files-url", url], more].concat()).await;
        (said.code, said.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
    }

    /// The bytes of the four files, of the thumbnail too.
    fn bytes(&self) -> i64 {
        self.files.iter().map(|(file, _)| file.byte_size + file.thumbnail_bytes.unwrap_or(0)).sum()
    }
}

async fn names(store: &FileStorage) -> Vec<String> {
    let mut names: Vec<_> = store.list("").map_ok(|object| object.name).try_collect().await.unwrap();
    names.sort();
    names
}

#[tokio::test(flavor = "multi_thread")]
async fn files_move_to_a_bucket_and_back() {
    for deployment in deployments().await {
        let (home, bucket, back) =
            (deployment.url("data/files"), deployment.server.url("x"), deployment.url("back"));
        let all = json!({"copied": 5, "skipped": 0, "missing": 0, "bytes": deployment.bytes()});
        let none = json!({"copied": 0, "skipped": 5, "missing": 0, "bytes": 0});
        assert_eq!(deployment.moved(&home, &bucket).await, (0, all.clone()));
        assert_eq!(deployment.moved(&home, &bucket).await, (0, none), "again");
        assert_eq!(deployment.moved(&bucket, &back).await, (0, all));
        let first = names(&deployment.local("data/files")).await;
        assert_eq!(first.len(), 5, "nothing changed at the source");
        assert_eq!(
            (names(&deployment.bucket()).await, names(&deployment.local("back")).await),
            (first.clone(), first)
        );
        for (file, bytes) in deployment.files.iter().take(3) {
            assert_eq!(
                std::fs::read(deployment.city.path().join("back").join(&file.object)).unwrap(),
                *bytes
            );
        }
        for url in [&home, &bucket, &back] {
            let sound = json!({"objects": 5, "files": 4, "unknown": 0, "deleted": 0, "missing": 0});
            assert_eq!(deployment.checked(url, &[]).await, (0, vec![sound]), "{url}");
        }
        let reminded = deployment.run(&["files", "move", "--to", &back]).await;
        assert_eq!((reminded.code, reminded.json()["skipped"].as_u64()), (0, Some(5)));
        assert_eq!(reminded.err, format!("Set files_url to {back} and restart the server.\n"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_move_continues_and_repairs_what_is_not_equal() {
    for deployment in deployments().await {
        let (home, bucket) = (deployment.url("data/files"), deployment.server.url("x"));
        deployment.moved(&home, &bucket).await;
        let (to, thumbnail) = (deployment.bucket(), deployment.files[3].0.thumbnail_object());
        to.delete(&deployment.files[0].0.object).await.unwrap();
        to.put(&deployment.files[1].0.object, content(b"short")).await.unwrap();
        let longer = [&deployment.files[2].1[..], b"x"].concat();
        to.put(&deployment.files[2].0.object, content(&longer)).await.unwrap();
        to.put(&thumbnail, content(b"another picture")).await.unwrap();
        let (code, report) = deployment.moved(&home, &bucket).await;
        assert_eq!((code, &report["copied"], &report["skipped"]), (0, &json!(4), &json!(1)), "{report}");
        assert_eq!(deployment.checked(&bucket, &[]).await.0, 0);
        assert_eq!(deployment.moved(&bucket, &deployment.url("back")).await.1["copied"], 5);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_missing_or_damaged_is_named_and_the_rest_is_copied() {
    for deployment in deployments().await {
        let (home, bucket) = (deployment.url("data/files"), deployment.server.url("x"));
        let from = deployment.local("data/files");
        let [absent, damaged, short, image] = [0, 1, 2, 3].map(|number| &deployment.files[number]);
        from.delete(&absent.0.object).await.unwrap();
        from.put(&damaged.0.object, content(&damaged.1.to_ascii_uppercase())).await.unwrap();
        from.put(&short.0.object, content(b"short")).await.unwrap();
        from.delete(&image.0.thumbnail_object()).await.unwrap();
        let said = deployment.run(&["files", "move", "--quiet", "--to", &bucket]).await;
        assert_eq!((said.code, &said.json()["copied"], &said.json()["missing"]), (1, &json!(1), &json!(4)));
        let lost = [&absent.0.object, &damaged.0.object, &short.0.object, &image.0.thumbnail_object()];
        let lines: Vec<String> = lost.iter().map(|name| format!("missing or damaged: {name}")).collect();
        assert_eq!(said.err.lines().collect::<Vec<_>>(), lines);
        assert_eq!(names(&deployment.bucket()).await, std::slice::from_ref(&image.0.object));
        let (code, found) = deployment.checked(&home, &[]).await;
        let expected = [lost[0], lost[2], lost[3]].map(|name| json!({"missing": name}));
        assert_eq!((code, &found[..3]), (1, &expected[..]), "{found:?}");
        assert_eq!(found[3]["missing"], 3);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_objects_are_deleted_only_on_request() {
    for deployment in deployments().await {
        let bucket = deployment.server.url("x");
        let home = deployment.url("data/files");
        deployment.moved(&home, &bucket).await;
        for (url, store) in [(&home, deployment.local("data/files")), (&bucket, deployment.bucket())] {
            store.put("A/unknown", content(b"x")).await.unwrap();
            store.put("A/unknown.thumbnail", content(b"x")).await.unwrap();
            let outside =
                FileStorage::open(&deployment.server.url("y"), deployment.server.settings()).unwrap();
            outside.put("A/other", content(b"x")).await.unwrap();
            for _ in 0..2 {
                let (code, found) = deployment.checked(url, &[]).await;
                assert_eq!(
                    (code, found.len(), &found[2]["unknown"], &found[2]["deleted"]),
                    (1, 3, &json!(2), &json!(0))
                );
            }
            let (code, found) = deployment.checked(url, &["--delete-unknown"]).await;
            assert_eq!((code, &found[2]["unknown"], &found[2]["deleted"]), (0, &json!(2), &json!(2)));
            let sound = json!({"objects": 5, "files": 4, "unknown": 0, "deleted": 0, "missing": 0});
            assert_eq!(deployment.checked(url, &["--delete-unknown"]).await, (0, vec![sound]));
            assert_eq!(names(&outside).await, ["A/other"], "another prefix is not looked at");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_does_not_answer_is_one_line_and_a_fault_of_the_doctor() {
    let deployment = deployments().await.remove(0);
    let (home, bucket) = (deployment.url("data/files"), deployment.server.url("x"));
    for (to, line) in [
        ("http://x", "civitas: --to must begin with file:// or s3://\n".to_owned()),
        (home.as_str(), format!("civitas: {home} is already files_url\n")),
    ] {
        let said = deployment.run(&["files", "move", "--to", to, "--files-url", &home]).await;
        assert_eq!((said.code, said.out.as_str(), said.err), (1, "", line));
    }
    let well = deployment.run(&["doctor", "--files-url", &bucket]).await;
    assert!(
        well.out.contains(&format!("ok    files         {bucket} can be written and read")),
        "{}",
        well.out
    );
    assert!(names(&deployment.bucket()).await.is_empty(), "the doctor leaves nothing");
    let wrong = vec![("AWS_SECRET_ACCESS_KEY".to_owned(), "wrong".to_owned())];
    let wrong = [deployment.server.settings(), wrong].concat();
    let sick = deployment.city.run_with(&["doctor", "--files-url", &bucket], "", wrong.clone()).await;
    assert!(sick.code == 1 && sick.out.contains("FAULT files"), "{}", sick.out);
    assert!(sick.out.contains("check files_url") && !sick.out.contains("tests-secret"), "{}", sick.out);
    let said = deployment.city.run_with(&["files", "move", "--to", &bucket], "", wrong).await;
    assert_eq!((said.code, said.out.as_str(), said.err.lines().count()), (1, "", 1), "{}", said.err);
}

fn content(bytes: &[u8]) -> civitas_attachments::FileContent {
    use std::io::{Seek, Write};
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file.rewind().unwrap();
    civitas_attachments::FileContent { file, byte_size: bytes.len() as u64 }
}
