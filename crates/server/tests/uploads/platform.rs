//! The binary on a database and a store of files, and requests to it.

use civitas_application::{Files, SiteSettings};
use civitas_attachments::PENDING_FILE_LIFETIME;
use civitas_files::{DirectoryIntake, FileStorage};
use civitas_kernel::clock;
use civitas_tests::{Database, ObjectServer};
use serde_json::{Value, json};
use std::net::{SocketAddr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::sleep;

/// Two organizations, `city.test` and `town.test`.
const CITIES: &str = include_str!("../../../../tests/fixtures/city.ndjson");
/// A client, and a limit of 200 MiB.
const MORE: &str = r#"
{"type": "organization", "ref": "city", "max_attachment_bytes": 209715200}
{"type": "api_client", "ref": "uploader", "organization": "city", "client_id": "id_uploader", "client_secret": "key_uploader", "name": "Uploader", "scopes": ["attachments"], "permissions": ["attachments.read", "attachments.write", "attachments.destroy"]}
"#;
pub const BASE: &str = "/api/rest_full/v0.3";
pub const BOUNDARY: &str = "boundary-of-tests";
const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const TIMEOUT: Duration = Duration::from_secs(60);

/// A database with two cities, and a store of files.
pub struct Platform {
    pub database: Database,
    pub directory: TempDir,
    pub proposal: i64,
    bucket: Option<ObjectServer>,
}

/// A server in a separate process, which is killed when dropped.
pub struct Server {
    pub process: Child,
    pub address: SocketAddr,
    pub token: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have been killed before.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Platform {
    pub fn over(database: Database, bucket: Option<ObjectServer>) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut platform = Self { database, directory, proposal: 0, bucket };
        let archive = platform.directory.path().join("city.ndjson");
        std::fs::write(&archive, format!("{}{MORE}", CITIES.trim_end())).unwrap();
        let imported = platform
            .civitas()
            .args(["import", "--quiet", "--allow-weak-secrets"])
            .arg(&archive)
            .output()
            .unwrap();
        assert!(imported.status.success(), "{}", String::from_utf8_lossy(&imported.stderr));
        std::fs::remove_file(archive).unwrap();
        let report: Value = serde_json::from_slice(&imported.stdout).unwrap();
        platform.proposal = report["refs"]["city"]["proposal"]["p1"].as_i64().unwrap();
        platform
    }

    fn url(&self) -> String {
        let directory = || format!("file://{}/files", self.directory.path().display());
        self.bucket.as_ref().map_or_else(directory, |bucket| bucket.url("x"))
    }

    fn civitas(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_civitas"));
        let is_ours = |name: &str| name.starts_with("CIVITAS_") || name.starts_with("AWS_");
        for (name, _) in std::env::vars_os().filter(|(name, _)| is_ours(&name.to_string_lossy())) {
            command.env_remove(name);
        }
        command.envs(self.bucket.iter().flat_map(ObjectServer::settings));
        command.args([
            "--database-url",
            self.database.url(),
            "--secret-key",
            KEY,
            "--files-url",
            &self.url(),
        ]);
        command.current_dir(self.directory.path()).arg("--data-dir").arg(self.directory.path());
        command
    }

    pub async fn serve(&self) -> Server {
        let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let address = free.unwrap();
        let mut command = self.civitas();
        command.args(["serve", "--log", "error", "--listen", &address.to_string()]);
        let process = command.stdout(Stdio::null()).spawn().unwrap();
        let mut server = Server { process, address, token: String::new() };
        let begun = Instant::now();
        while TcpStream::connect(address).await.is_err() {
            assert!(begun.elapsed() < TIMEOUT, "the server does not answer");
            sleep(Duration::from_millis(10)).await;
        }
        let asked = json!({"grant_type": "client_credentials", "client_id": "id_uploader",
            "client_secret": "key_uploader", "scope": "attachments"});
        let answer = server.post("/oauth/token", &asked).await.unwrap();
        answer["access_token"].as_str().unwrap_or_else(|| panic!("{answer}")).clone_into(&mut server.token);
        server
    }

    pub fn objects(&self) -> FileStorage {
        FileStorage::open(&self.url(), self.bucket.iter().flat_map(ObjectServer::settings)).unwrap()
    }

    /// Runs the reaper as if the time for pending files were over.
    pub async fn reap(&self) {
        let site = SiteSettings::default();
        let intake = DirectoryIntake::open(self.directory.path().join("reaper")).unwrap();
        let (store, objects) = (self.database.store.clone(), Arc::new(self.objects()));
        let files = Files::new(store, civitas_api::event_committer(site), objects, Arc::new(intake));
        files.remove_incomplete(Duration::ZERO).await;
        files.sweep(clock::now() + PENDING_FILE_LIFETIME + time::Duration::MINUTE).await.unwrap();
    }

    /// The parts of a form before and after its file.
    pub fn form(&self) -> (String, String) {
        let id = self.proposal.to_string();
        let members = [
            ("attached_to_type", "proposals"),
            ("attached_to_id", &id),
            ("title", "T"),
            ("description", "D"),
        ];
        let part = |(name, text)| {
            format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{text}\r\n")
        };
        let members: String = members.into_iter().map(part).collect();
        let head = "Content-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\n";
        (format!("{members}--{BOUNDARY}\r\n{head}"), format!("\r\n--{BOUNDARY}--\r\n"))
    }
}

impl Server {
    /// The head of a request, complete but for its end.
    pub fn head(method: &str, path: &str) -> String {
        format!("{method} {path} HTTP/1.1\r\nHost: city.test\r\nConnection: close\r\n")
    }

    /// The head of a form with a file.
    pub fn form_head(&self) -> String {
        let head = Self::head("POST", &format!("{BASE}/attachments"));
        let token = &self.token;
        format!(
            "{head}Authorization: Bearer {token}\r\nContent-Type: multipart/form-data; boundary={BOUNDARY}\r\n"
        )
    }

    /// Sends a JSON document; `None` without a complete answer.
    pub async fn post(&self, path: &str, body: &Value) -> Option<Value> {
        let body = body.to_string();
        let token = &self.token;
        let head = Self::head("POST", &format!("{BASE}{path}"));
        let head = if token.is_empty() { head } else { format!("{head}Authorization: Bearer {token}\r\n") };
        let length = body.len();
        let request =
            format!("{head}Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}");
        let (_, body) = exchange(self.address, request.into_bytes()).await?;
        serde_json::from_slice(&body).ok()
    }
}

/// Sends a request; returns status and body, or `None` without a complete answer.
pub async fn exchange(address: SocketAddr, request: Vec<u8>) -> Option<(u16, Vec<u8>)> {
    let mut socket = TcpStream::connect(address).await.ok()?;
    socket.write_all(&request).await.ok()?;
    read_answer(&mut socket).await
}

/// Reads status and body up to the end of the connection.
pub async fn read_answer(from: &mut (impl AsyncReadExt + Unpin)) -> Option<(u16, Vec<u8>)> {
    let mut answer = Vec::new();
    // A reset after a complete answer does not matter.
    let _ = from.read_to_end(&mut answer).await;
    let end = answer.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&answer[..end]).to_ascii_lowercase();
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let length = head.split("content-length: ").nth(1).and_then(|rest| rest.split('\r').next()?.parse().ok());
    let body = answer[end + 4..].to_vec();
    (length.unwrap_or(0) == body.len()).then_some((status, body))
}
