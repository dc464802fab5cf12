//! The server is killed in the middle of uploads, several times. At all times each object has a row; after the next
//! start and the reaper each stored row has its object, and what was answered with 201 is served.

use super::platform::{BASE, Platform, Server, exchange, read_answer};
use civitas_attachments::{FileState, FileStore, StoredFile};
use civitas_kernel::OrganizationId;
use civitas_kernel::records::Records;
use civitas_tests::{Database, Engine, ObjectServer};
use futures_util::TryStreamExt;
use md5::{Digest, Md5};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::sleep;

/// The server is killed this many milliseconds after the first byte.
const DELAYS: [u64; 10] = [0, 4, 9, 17, 30, 55, 90, 140, 230, 380];
/// The same, as long as no upload was answered: a busy machine needs more time.
const LATER: [u64; 4] = [1_000, 3_000, 9_000, 20_000];
/// The length of a file, in bytes.
const LENGTH: usize = 300_000;

#[tokio::test(flavor = "multi_thread")]
async fn sqlite_and_a_directory_agree_after_kills() {
    if let Some(database) = Database::fresh(Engine::Sqlite).await {
        kill_again_and_again(&Platform::over(database, None)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_and_a_directory_agree_after_kills() {
    if let Some(database) = Database::fresh(Engine::Postgres).await {
        kill_again_and_again(&Platform::over(database, None)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_and_a_bucket_agree_after_kills() {
    if let Some(database) = Database::fresh(Engine::Postgres).await {
        kill_again_and_again(&Platform::over(database, Some(ObjectServer::start().await))).await;
    }
}

async fn kill_again_and_again(platform: &Platform) {
    let mut acknowledged = Vec::new();
    for delay in DELAYS.into_iter().chain(LATER) {
        if !acknowledged.is_empty() && LATER.contains(&delay) {
            break;
        }
        acknowledged.extend(kill_after(platform, Duration::from_millis(delay)).await);
        assert_no_unknown_object(platform).await;
    }
    let server = platform.serve().await;
    platform.reap().await;
    assert_no_unknown_object(platform).await;
    let mut expected = Vec::new();
    for row in rows(platform).await {
        assert_eq!(row.state, FileState::Stored, "{row:?}");
        expected.push((row.object, row.byte_size.unsigned_abs()));
    }
    expected.sort();
    assert_eq!(objects(platform).await, expected);
    for path in &acknowledged {
        let request = format!("{}\r\n", Server::head("GET", path)).into_bytes();
        let (status, body) = exchange(server.address, request).await.unwrap();
        assert_eq!((status, body.len()), (200, LENGTH), "{path}");
    }
    let staging = platform.directory.path().join("files/.staging");
    assert!(std::fs::read_dir(staging).map_or(0, Iterator::count) == 0);
    let incoming = platform.directory.path().join("incoming");
    assert_eq!(std::fs::read_dir(incoming).unwrap().count(), 0);
    println!("{} rows, {} acknowledged", expected.len(), acknowledged.len());
    assert!(!acknowledged.is_empty());
}

/// Uploads in every way until the server is killed. Returns the paths of the files that were acknowledged.
async fn kill_after(platform: &Platform, delay: Duration) -> Vec<String> {
    let mut server = platform.serve().await;
    let acknowledged = Arc::new(Mutex::new(Vec::new()));
    let bytes = Arc::new("some text\n".repeat(LENGTH / 10).into_bytes());
    let signed = stage(&server, &bytes).await;
    let (before, after) = platform.form();
    let form = Arc::new([before.as_bytes(), &bytes, after.as_bytes()].concat());
    let mut uploads = Vec::new();
    for number in 0..3_usize {
        let head = format!("{}Content-Length: {}\r\n\r\n", server.form_head(), form.len());
        let (form, address, acknowledged) = (form.clone(), server.address, acknowledged.clone());
        uploads.push(tokio::spawn(async move {
            // One stops in the middle of its body; the others send all of theirs, again and again.
            let end = if number == 0 { form.len() / 2 } else { form.len() };
            while let Ok(mut socket) = TcpStream::connect(address).await {
                let sent = socket.write_all(&[head.as_bytes(), &form[..end]].concat()).await;
                let Some((201, body)) = read_answer(&mut socket).await.filter(|_| sent.is_ok()) else {
                    continue;
                };
                let document: Value = serde_json::from_slice(&body).unwrap();
                let url = document["data"]["attributes"]["url"].as_str().unwrap().to_owned();
                acknowledged.lock().unwrap().push(url.replace("https://city.test", ""));
            }
        }));
    }
    for end in [LENGTH / 2, LENGTH] {
        let head = Server::head("PUT", &format!("{BASE}/attachments/direct_upload/{signed}"));
        let head = format!("{head}Content-Length: {LENGTH}\r\n\r\n");
        let (bytes, address) = (bytes.clone(), server.address);
        uploads.push(tokio::spawn(async move {
            while let Ok(mut socket) = TcpStream::connect(address).await {
                // The server may be gone.
                let _ = socket.write_all(&[head.as_bytes(), &bytes[..end]].concat()).await;
                let _ = read_answer(&mut socket).await;
            }
        }));
    }
    sleep(delay).await;
    server.process.kill().unwrap();
    server.process.wait().unwrap();
    for upload in uploads {
        upload.await.unwrap();
    }
    let found = acknowledged.lock().unwrap();
    found.clone()
}

/// Requests an upload of the bytes; returns the signed id.
async fn stage(server: &Server, bytes: &[u8]) -> String {
    use base64::Engine;
    let checksum = base64::engine::general_purpose::STANDARD.encode(Md5::digest(bytes));
    let members = json!({"filename": "a.txt", "byte_size": bytes.len(), "checksum": checksum});
    let answer = server.post("/attachments/direct_upload", &members).await.unwrap();
    answer["signed_id"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

async fn rows(platform: &Platform) -> Vec<StoredFile> {
    let files = platform.database.store.files();
    let rows = Records::<StoredFile>::page_after(files, OrganizationId(1), None, 100_000).await.unwrap();
    rows.into_iter().map(|(_, row)| row).collect()
}

/// The names and lengths of all objects, sorted.
async fn objects(platform: &Platform) -> Vec<(String, u64)> {
    let found: Vec<_> = platform.objects().list("").try_collect().await.unwrap();
    let mut objects: Vec<_> = found.into_iter().map(|object| (object.name, object.byte_size)).collect();
    objects.sort();
    objects
}

async fn assert_no_unknown_object(platform: &Platform) {
    let names: Vec<String> = objects(platform).await.into_iter().map(|(name, _)| name).collect();
    let known = platform.database.store.files().known_objects(&names).await.unwrap();
    assert!(names.iter().all(|name| known.contains(name)), "{names:?}\n{known:?}");
}
