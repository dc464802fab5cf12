//! Where answers come from: a running server, or a directory of recorded ones.

use crate::{Actor, CompareOptions, Error, Result};
use reqwest::header::{CONTENT_TYPE, HeaderName, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Client, RequestBuilder, Url};
use ring::digest::{SHA256, digest};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Mutex, Semaphore};
use tokio::time::sleep;

/// The path prefix of the interface.
const BASE_PATH: &str = "/api/rest_full/v0.3";
/// How long a request may take.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Civitas closes connections after 5 s idle: they are dropped before.
const IDLE: Duration = Duration::from_secs(2);
/// How often a request is sent that fails, or is answered with 429 or 503.
const TRIES: u32 = 5;
/// The longest pause that `Retry-After` is followed for, in seconds.
const MAX_PAUSE: u64 = 60;
/// The longest answer that is read. Those of Civitas have at most 16 MiB (contract 01 §4).
const MAX_BYTES: usize = 64 << 20;

/// What is compared of an answer.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// In lower case, without blanks.
    pub(crate) content_type: String,
    /// Null when it is not JSON, or too long.
    pub(crate) body: Value,
}

impl Answer {
    /// The answer, when it is one of the interface, and no failure of the server or of a proxy before it.
    fn reject_failure(self, server: &str, path: &str) -> Result<Self> {
        let reason = match self.status {
            200 if self.body.is_object() => return Ok(self),
            200 => "no JSON, or too much".to_owned(),
            400..=499 | 501 if !matches!(self.status, 408 | 429) => return Ok(self),
            status => format!("status {status}"),
        };
        Err(Error::Answer(server.to_owned(), path.to_owned(), reason))
    }
}

/// A running server.
pub(crate) struct Server {
    http: Client,
    /// The address as it was given, without path and password.
    name: String,
    /// With the name of the organization.
    base: String,
    client_id: String,
    client_secret: SecretString,
    /// As many requests may be open, to both servers together.
    permits: Arc<Semaphore>,
    tokens: Mutex<Tokens>,
}

/// The tokens by actor and scope, or the answers that refuse them.
type Tokens = HashMap<(String, &'static str), Result<SecretString, Answer>>;

impl Server {
    /// With a host, the connection goes to the address, and the header Host and the certificate are those of the host.
    pub(crate) fn new(address: &Url, options: &CompareOptions, permits: Arc<Semaphore>) -> Result<Self> {
        // A second install is refused, and changes nothing.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let name = name_of(address);
        let mut url = address.clone();
        let mut http = Client::builder().redirect(Policy::none()).timeout(TIMEOUT).pool_idle_timeout(IDLE);
        if !matches!(url.scheme(), "http" | "https") {
            return Err(Error::Address(name));
        }
        if let Some(host) = &options.host {
            let refused = || Error::Address(format!("{name} with the host {host}"));
            let addresses = url.socket_addrs(|| None).map_err(|_| refused())?;
            url.set_host(Some(host)).map_err(|_| refused())?;
            http = http.resolve_to_addrs(host, &addresses).no_proxy();
        }
        Ok(Self {
            http: http.build().map_err(|error| Error::Connection(name.clone(), error))?,
            base: format!("{}{BASE_PATH}", name_of(&url)),
            name,
            client_id: options.client_id.clone(),
            client_secret: options.client_secret.clone(),
            permits,
            tokens: Mutex::default(),
        })
    }

    async fn get(&self, actor: &Actor, scope: &'static str, path: &str) -> Result<Answer> {
        let mut is_renewed = false;
        loop {
            let token = match self.token(actor, scope).await? {
                Ok(token) => token,
                Err(refused) => return Ok(refused),
            };
            let request = || self.http.get(format!("{}{path}", self.base)).bearer_auth(token.expose_secret());
            let answer = self.send(request).await?;
            if answer.status != 401 || is_renewed {
                return Ok(answer);
            }
            is_renewed = true;
            self.tokens.lock().await.remove(&(actor.to_string(), scope));
        }
    }

    /// The token of this scope. A client without the scope gets a refusal for it alone.
    async fn token(&self, actor: &Actor, scope: &'static str) -> Result<Result<SecretString, Answer>> {
        let mut tokens = self.tokens.lock().await;
        let key = (actor.to_string(), scope);
        if let Some(token) = tokens.get(&key) {
            return Ok(token.clone());
        }
        let grant = self.grant(actor, scope);
        let request = || self.http.post(format!("{}/oauth/token", self.base)).json(&grant);
        let answer = self.send(request).await?.reject_failure(&self.name, "/oauth/token")?;
        let token = match answer.body["access_token"].as_str() {
            Some(token) if answer.status == 200 => Ok(SecretString::from(token)),
            _ if matches!(answer.status, 200 | 401) => return Err(Error::Credentials(self.name.clone())),
            _ => Err(answer),
        };
        tokens.insert(key, token.clone());
        Ok(token)
    }

    /// The body of a request for a token (contract 02 §2.1). It registers nobody and changes no account.
    fn grant(&self, actor: &Actor, scope: &str) -> Value {
        let mut grant = json!({"grant_type": "client_credentials", "client_id": self.client_id,
            "client_secret": self.client_secret.expose_secret(), "scope": scope});
        let (member, user) = match actor {
            Actor::Service => return grant,
            Actor::User(nickname) => ("username", nickname),
            Actor::Account(id, _) => ("id", id),
        };
        grant["grant_type"] = json!("password");
        grant["auth_type"] = json!("impersonate");
        grant[member] = json!(user);
        grant
    }

    /// Sends a request, again after a pause when the server is busy or the connection fails.
    async fn send(&self, request: impl Fn() -> RequestBuilder) -> Result<Answer> {
        let mut tries = 1;
        loop {
            let pause = match self.attempt(request()).await {
                Ok((answer, pause)) if matches!(answer.status, 429 | 503) && tries < TRIES => pause,
                Ok((answer, _)) => return Ok(answer),
                Err(_) if tries < TRIES => None,
                Err(error) => return Err(Error::Connection(self.name.clone(), error.without_url())),
            };
            sleep(Duration::from_secs(pause.unwrap_or(1).min(MAX_PAUSE))).await;
            tries += 1;
        }
    }

    /// The answer, and `Retry-After` in seconds.
    async fn attempt(&self, request: RequestBuilder) -> reqwest::Result<(Answer, Option<u64>)> {
        // Nothing closes the semaphore.
        let _permit = self.permits.acquire().await;
        let mut response = request.send().await?;
        let header = |name: HeaderName| Some(response.headers().get(name)?.to_str().ok()?.to_lowercase());
        let pause = header(RETRY_AFTER).and_then(|seconds| seconds.parse().ok());
        let content_type = header(CONTENT_TYPE).unwrap_or_default().replace(' ', "");
        let status = response.status().as_u16();
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await? {
            bytes.extend_from_slice(&chunk);
            if bytes.len() > MAX_BYTES {
                bytes.clear();
                break;
            }
        }
        let body = serde_json::from_slice(&bytes).unwrap_or_default();
        Ok((Answer { status, content_type, body }, pause))
    }
}

/// Scheme, host and port. The rest of an address can have a password.
fn name_of(url: &Url) -> String {
    let port = url.port().map_or_else(String::new, |port| format!(":{port}"));
    format!("{}://{}{port}", url.scheme(), url.host_str().unwrap_or_default())
}

/// A side of the comparison.
pub(crate) enum Source {
    /// A server, and the directory that its answers are recorded in.
    Live(Box<Server>, Option<PathBuf>),
    /// The directory of recorded answers.
    Recorded(PathBuf),
}

impl Source {
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Live(server, _) => server.name.clone(),
            Self::Recorded(directory) => directory.display().to_string(),
        }
    }

    /// The answer to a GET. `round` counts the readings of a list: each is recorded.
    ///
    /// # Errors
    /// Also when the answer is none of the interface.
    pub(crate) async fn get(
        &self,
        actor: &Actor,
        scope: &'static str,
        path: &str,
        round: u8,
    ) -> Result<Answer> {
        let answer = match self {
            Self::Live(server, record) => {
                let answer = server.get(actor, scope, path).await?;
                if let Some(directory) = record {
                    let file = file_of(directory, actor, path, round);
                    write(&file, &answer).map_err(|error| Error::Recording(file, error))?;
                }
                answer
            }
            Self::Recorded(directory) => {
                let file = file_of(directory, actor, path, round);
                read(&file).map_err(|error| match error.kind() {
                    ErrorKind::NotFound => Error::NotRecorded(path.to_owned()),
                    _ => Error::Recording(file, error),
                })?
            }
        };
        answer.reject_failure(&self.name(), path)
    }
}

/// Makes the directory of recorded answers.
pub(crate) fn make_directory(directory: &Path) -> Result<()> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(directory);
    made.map_err(|error| Error::Recording(directory.to_owned(), error))
}

/// The file of an answer: the name says nothing about persons.
fn file_of(directory: &Path, actor: &Actor, path: &str, round: u8) -> PathBuf {
    let name = hex(&sha256(format!("{actor}\n{path}\n{round}").as_bytes()));
    directory.join(format!("{name}.json.zst"))
}

/// Writes a new file: an old one may be a link, or readable to others.
fn write(file: &Path, answer: &Answer) -> io::Result<()> {
    let bytes = zstd::encode_all(serde_json::to_vec(answer)?.as_slice(), 3)?;
    fs::remove_file(file).or_else(|error| match error.kind() {
        ErrorKind::NotFound => Ok(()),
        _ => Err(error),
    })?;
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(file)?.write_all(&bytes)
}

fn read(file: &Path) -> io::Result<Answer> {
    Ok(serde_json::from_slice(&zstd::decode_all(fs::read(file)?.as_slice())?)?)
}

pub(crate) fn sha256(bytes: &[u8]) -> [u8; 32] {
    digest(&SHA256, bytes).as_ref().try_into().unwrap_or_default()
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a `String` does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    impl Source {
        /// Records these answers: path, status, body.
        pub(crate) fn from_answers(
            directory: PathBuf,
            actor: &Actor,
            answers: &[(&str, u16, Value)],
        ) -> Self {
            make_directory(&directory).unwrap();
            for (path, status, body) in answers {
                write(&file_of(&directory, actor, path, 1), &answer(*status, body.clone())).unwrap();
            }
            Self::Recorded(directory)
        }
    }

    fn answer(status: u16, body: Value) -> Answer {
        Answer { status, content_type: String::new(), body }
    }

    #[test]
    fn failures_of_a_server_are_no_answers_of_the_interface() {
        for status in [200, 301, 302, 408, 429, 500, 502, 503] {
            assert!(answer(status, Value::Null).reject_failure("a", "/b").is_err(), "{status}");
        }
        for status in [400, 401, 403, 404, 422, 501] {
            assert!(answer(status, Value::Null).reject_failure("a", "/b").is_ok(), "{status}");
        }
        assert!(answer(200, json!({"data": []})).reject_failure("a", "/b").is_ok());
    }

    #[test]
    fn names_of_servers_have_no_password() {
        let name = |url: &str| name_of(&Url::parse(url).unwrap());
        assert_eq!(name("https://nora:secret@city.example/x?y=secret"), "https://city.example");
        assert_eq!(name("http://[::1]:3000"), "http://[::1]:3000");
        assert_eq!(name("ftp://nora:secret@city.example"), "ftp://city.example");
    }

    #[test]
    fn recorded_answers_are_private_also_over_an_old_file() {
        let directory = std::env::temp_dir().join(format!("civitas-compare-{}", std::process::id()));
        make_directory(&directory).unwrap();
        let file = directory.join("answer");
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        write(&file, &answer(200, json!({"data": []}))).unwrap();
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(read(&file).unwrap().body, json!({"data": []}));
        fs::remove_dir_all(&directory).unwrap();
    }
}
