//! A server with its store of files, and what must always be true of both.

use crate::uploads::wire::{Reply, Request, field, file, form};
use civitas_application::Files;
use civitas_attachments::{FileStore, PENDING_FILE_LIFETIME, SignedId, StoredFile, Upload};
use civitas_files::{DirectoryIntake, FileStorage};
use civitas_kernel::records::{Change, Records};
use civitas_kernel::{FileId, OrganizationId, UploadId, clock};
use civitas_tests::service::{BASE, CITIES, Service};
use civitas_tests::{Database, Engine, ObjectServer};
use futures_util::TryStreamExt;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;
use time::Duration;

/// The longest file of the city, in bytes.
pub const LIMIT: usize = 1024 * 1024;

/// A limit, clients, and records that files can be attached to.
const MORE: &str = r#"
{"type": "organization", "ref": "city", "max_attachment_bytes": 1048576, "reference_prefix": "RIVER/../TON"}
{"type": "api_client", "ref": "uploader", "organization": "city", "client_id": "id_uploader", "client_secret": "key_uploader", "name": "Uploader", "scopes": ["attachments", "proposals", "blogs"], "permissions": ["attachments.read", "attachments.write", "attachments.destroy", "oauth.impersonate", "proposals.draft", "proposals.read", "blogs.read", "blogs.write", "blogs.destroy"]}
{"type": "api_client", "ref": "another", "organization": "city", "client_id": "id_another", "client_secret": "key_another", "name": "Another", "scopes": ["attachments"], "permissions": ["attachments.read", "attachments.write"]}
{"type": "api_client", "ref": "foreign", "organization": "town", "client_id": "id_foreign", "client_secret": "key_foreign", "name": "Foreign", "scopes": ["attachments"], "permissions": ["attachments.read", "attachments.write"]}
{"type": "post", "ref": "news1", "organization": "city", "component": "news", "author": "norablum", "title": {"en": "News"}, "body": {"en": "B"}, "published_at": "2026-02-01T08:00:00Z"}
"#;

/// A server, and its store of files.
pub struct Place {
    pub service: Service,
    pub objects: FileStorage,
    /// A token of the client `uploader`.
    pub token: String,
    data: PathBuf,
    /// The server of the bucket, while it is used.
    server: Option<ObjectServer>,
    root: TempDir,
}

/// Where the bytes are.
#[derive(Clone, Copy, PartialEq)]
pub enum Kind {
    Directory,
    Bucket,
}

/// Each engine with each store.
pub async fn places() -> Vec<Place> {
    let mut places = Vec::new();
    for kind in [Kind::Directory, Kind::Bucket] {
        places.extend(engines(kind).await);
    }
    places
}

/// Each engine with one store.
pub async fn engines(kind: Kind) -> Vec<Place> {
    let mut places = Vec::new();
    for engine in Engine::BOTH {
        if let Some(database) = Database::fresh(engine).await {
            places.push(Place::over(database, kind).await);
        }
    }
    places
}

impl Place {
    async fn over(database: Database, kind: Kind) -> Self {
        let root = tempfile::tempdir().unwrap();
        let data = root.path().join("a/data");
        let server = if kind == Kind::Bucket { Some(ObjectServer::start().await) } else { None };
        let environment = server.as_ref().map(ObjectServer::settings).unwrap_or_default();
        let url = match &server {
            Some(server) => server.url("some/prefix"),
            None => format!("file://{}/files", data.display()),
        };
        let archive = format!("{}{MORE}", CITIES.trim_end());
        let data_dir = data.display().to_string();
        let settings = [("files_url", url.as_str()), ("data_dir", &data_dir), ("public_scheme", "http")];
        let service = Service::with_environment(database, &archive, &settings, environment.clone()).await;
        let objects = FileStorage::open(&url, environment).unwrap();
        let token = token(&service, "city.test", "uploader").await;
        Self { service, objects, token, data, server, root }
    }

    /// A token of another client.
    pub async fn token_of(&self, host: &str, client: &str) -> String {
        token(&self.service, host, client).await
    }

    pub async fn send(&self, request: Request) -> Reply {
        let reply = request.send(self.service.address).await;
        assert!(reply.status < 500, "{reply:?}");
        reply
    }

    /// A form with the members of an attachment of proposal `p1`, and these parts.
    pub async fn attach(&self, parts: &[Vec<u8>]) -> Reply {
        let proposal = self.service.id("proposal", "p1");
        self.attach_to("proposals", proposal, parts).await
    }

    /// The same, with any answer.
    pub async fn attach_unchecked(&self, parts: &[Vec<u8>]) -> Reply {
        let proposal = self.service.id("proposal", "p1");
        self.form_to("proposals", proposal, parts).send(self.service.address).await
    }

    /// Stops the server of the bucket.
    pub fn stop_bucket(&mut self) {
        self.server = None;
    }

    /// The same for another record.
    pub async fn attach_to(&self, kind: &str, id: i64, parts: &[Vec<u8>]) -> Reply {
        self.send(self.form_to(kind, id, parts)).await
    }

    fn form_to(&self, kind: &str, id: i64, parts: &[Vec<u8>]) -> Request {
        let members = [field("attached_to_type", kind), field("attached_to_id", &id.to_string())];
        let texts = [field("title", "Title"), field("description", "Text")];
        self.form(&form(&[&members[..], &texts, parts].concat()))
    }

    pub async fn post_form(&self, body: &[u8]) -> Reply {
        self.send(self.form(body)).await
    }

    fn form(&self, body: &[u8]) -> Request {
        let request = self.authorized("POST", "/attachments");
        let content_type = format!("multipart/form-data; boundary={}", crate::uploads::wire::BOUNDARY);
        request.with("Content-Type", &content_type).body(body)
    }

    /// Attaches a text file to proposal `p1`; returns its URL.
    pub async fn attach_text(&self, name: &str) -> String {
        let reply = self.attach(&[file(name.as_bytes(), b"some text\n")]).await;
        assert_eq!(reply.status, 201, "{reply:?}");
        url_of(&reply)
    }

    /// A request of the client `uploader`.
    pub fn authorized(&self, method: &str, path: &str) -> Request {
        let authorization = format!("Bearer {}", self.token);
        Request::new(method, &format!("{BASE}{path}")).with("Authorization", &authorization)
    }

    /// `GET` of a path.
    pub async fn fetch(&self, path: &str) -> Reply {
        self.send(Request::new("GET", path)).await
    }

    /// The service that deletes files, over the same database and store.
    pub fn files(&self) -> Files {
        let intake = DirectoryIntake::open(self.root.path().join("incoming")).unwrap();
        let site = civitas_application::SiteSettings { scheme: "http".to_owned(), ..Default::default() };
        let (objects, store) = (Arc::new(self.objects.clone()), self.service.store.clone());
        Files::new(store, civitas_api::event_committer(site), objects, Arc::new(intake))
    }

    /// Runs the reaper as if a day had passed since the last upload.
    pub async fn reap(&self) {
        self.files().sweep(clock::now() + PENDING_FILE_LIFETIME + Duration::MINUTE).await.unwrap();
    }

    fn organizations(&self) -> [OrganizationId; 2] {
        ["city", "town"].map(|name| OrganizationId(self.service.id_in(name, "organization", name)))
    }

    /// The rows of all files of both organizations.
    pub async fn rows(&self) -> Vec<(FileId, StoredFile)> {
        let mut rows = Vec::new();
        for organization in self.organizations() {
            let files = self.service.store.files();
            rows.extend(Records::<StoredFile>::page_after(files, organization, None, 10_000).await.unwrap());
        }
        rows
    }

    /// The names of all objects.
    pub async fn names(&self) -> Vec<String> {
        let objects: Vec<_> = self.objects.list("").try_collect().await.unwrap();
        objects.into_iter().map(|object| object.name).collect()
    }

    /// Asserts that each object has a row, and that no file is outside of the store.
    pub async fn assert_contained(&self, after: &str) {
        let names = self.names().await;
        let owners: Vec<String> = names.iter().map(|name| name.replace(".thumbnail", "")).collect();
        let known = self.service.store.files().known_objects(&owners).await.unwrap();
        for (name, owner) in names.iter().zip(&owners) {
            assert!(known.contains(owner), "{after}: {name} has no row");
            assert!(name.starts_with("RIVERTON/"), "{after}: {name}");
        }
        for path in files_below(self.root.path()) {
            let inside =
                path.strip_prefix(&self.data).unwrap_or_else(|_| panic!("{after}: {}", path.display()));
            let is_object = names.iter().any(|name| inside == Path::new("files").join(name));
            assert!(is_object || inside.starts_with("files/.staging"), "{after}: {}", path.display());
        }
    }

    /// Runs the reaper, then asserts that rows and objects are the same.
    pub async fn assert_sound(&self) {
        self.reap().await;
        self.assert_contained("at the end").await;
        let (rows, names) = (self.rows().await, self.names().await);
        let mut expected = Vec::new();
        for (_, row) in rows {
            assert_eq!(row.state.as_str(), "stored", "{row:?}");
            assert_eq!(self.length(&row.object).await, row.byte_size, "{row:?}");
            expected.push(row.object.clone());
            if let Some(length) = row.thumbnail_bytes {
                assert_eq!(self.length(&row.thumbnail_object()).await, length, "{row:?}");
                expected.push(row.thumbnail_object());
            }
        }
        assert_eq!(sorted(names), sorted(expected));
        assert!(files_below(&self.data.join("files/.staging")).is_empty());
    }

    async fn length(&self, object: &str) -> i64 {
        let bytes = self.objects.read(object, 0..u64::MAX / 2).await.unwrap();
        let bytes = bytes.unwrap_or_else(|| panic!("{object} has no bytes"));
        bytes.try_fold(0, async |sum, chunk| Ok(sum + i64::try_from(chunk.len()).unwrap())).await.unwrap()
    }

    /// Makes an upload older.
    pub async fn age(&self, signed: &str, by: Duration) {
        let UploadId(id) = SignedId::parse(signed).unwrap().id;
        let [city, _] = self.organizations();
        let uploads = self.service.store.uploads();
        let before = Records::<Upload>::find(uploads, city, UploadId(id)).await.unwrap().unwrap();
        let after = Upload { created_at: before.created_at - by, ..before.clone() };
        uploads.save(city, UploadId(id), &Change { before, after }).await.unwrap();
    }
}

async fn token(service: &Service, host: &str, client: &str) -> String {
    let asked = json!({"grant_type": "client_credentials", "client_id": format!("id_{client}"),
        "client_secret": format!("key_{client}"), "scope": "attachments"});
    service.at(host).with_token(&asked).await.token.unwrap()
}

/// The path of the address of an attachment.
pub fn url_of(reply: &Reply) -> String {
    path_of(&reply.json()["data"]["attributes"]["url"])
}

/// The path of an absolute address.
pub fn path_of(address: &serde_json::Value) -> String {
    let address = address.as_str().unwrap_or_else(|| panic!("{address}"));
    address.strip_prefix("http://city.test").unwrap_or_else(|| panic!("{address}")).to_owned()
}

fn files_below(path: &Path) -> Vec<PathBuf> {
    let (mut open, mut files) = (vec![path.to_owned()], Vec::new());
    while let Some(directory) = open.pop() {
        let Ok(entries) = std::fs::read_dir(directory) else { continue };
        for path in entries.map(|entry| entry.unwrap().path()) {
            if path.is_dir() { open.push(path) } else { files.push(path) }
        }
    }
    files
}

fn sorted(mut names: Vec<String>) -> Vec<String> {
    names.sort();
    names
}
