//! A server with the S3 interface, for tests.

use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use s3s::auth::SimpleAuth;
use s3s::service::S3ServiceBuilder;
use s3s_fs::FileSystem;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::task::{JoinHandle, JoinSet};

/// The key id that the server accepts.
const KEY_ID: &str = "tests";
/// The key that requests are signed with.
const SECRET: &str = "tests-secret";

/// A server with the S3 interface on a free port of 127.0.0.1, with one bucket in a temporary directory. It accepts
/// signed requests only, and stops when it is dropped.
#[derive(Debug)]
pub struct ObjectServer {
    address: std::net::SocketAddr,
    directory: TempDir,
    task: JoinHandle<()>,
}

impl ObjectServer {
    /// The name of the bucket.
    pub const BUCKET: &'static str = "files";

    /// Starts a server.
    pub async fn start() -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        std::fs::create_dir(directory.path().join(Self::BUCKET)).expect("space on the disk");
        let mut builder = S3ServiceBuilder::new(FileSystem::new(directory.path()).expect("a directory"));
        builder.set_auth(SimpleAuth::from_single(KEY_ID, SECRET));
        let service = builder.build();
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let task = tokio::spawn(async move {
            // Connections end with the server.
            let mut connections = JoinSet::new();
            while let Ok((socket, _)) = listener.accept().await {
                let connection =
                    http1::Builder::new().serve_connection(TokioIo::new(socket), service.clone());
                while connections.try_join_next().is_some() {}
                connections.spawn(async move {
                    // A client that goes away is no failure.
                    let _ = connection.await;
                });
            }
        });
        Self { address, directory, task }
    }

    /// The `files_url` of a prefix in the bucket.
    pub fn url(&self, prefix: &str) -> String {
        format!("s3://{}/{prefix}", Self::BUCKET)
    }

    /// The environment variables of a client.
    pub fn settings(&self) -> Vec<(String, String)> {
        let endpoint = format!("http://{}", self.address);
        [
            ("AWS_ENDPOINT", endpoint.as_str()),
            ("AWS_ALLOW_HTTP", "true"),
            ("AWS_REGION", "us-east-1"),
            ("AWS_ACCESS_KEY_ID", KEY_ID),
            ("AWS_SECRET_ACCESS_KEY", SECRET),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into()
    }

    /// Where the server has its objects, and the parts of incomplete uploads.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// The files of parts of incomplete uploads.
    pub fn parts(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.directory()).expect("a directory");
        let files = entries.map(|entry| entry.expect("an entry").path()).filter(|path| path.is_file());
        files.filter(|path| path.to_string_lossy().contains("upload")).collect()
    }
}

impl Drop for ObjectServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}
