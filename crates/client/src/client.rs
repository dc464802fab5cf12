//! The client and its settings.

use crate::answer::Job;
use crate::cache::ResponseCache;
use crate::error::{Error, Result};
use crate::request::{Request, wait};
use crate::session::{Credentials, Session, TokenSlot};
use reqwest::{Method, Url};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

/// The path prefix of the interface.
const BASE_PATH: &str = "/api/rest_full/v0.3/";
/// How long a request may take.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The size of the cache of conditional GET.
const CACHE_BYTES: u64 = 8 * 1024 * 1024;

/// The settings of a client.
#[must_use = "`build` returns the client"]
pub struct ClientBuilder {
    address: String,
    credentials: Credentials,
    cache_bytes: u64,
    http: Option<reqwest::ClientBuilder>,
}

impl ClientBuilder {
    /// The scopes of the tokens; `public` unless given.
    pub fn scopes<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.credentials.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// Acts for this user: by impersonation, or with [`Self::password`] by a sign-in.
    pub fn user(mut self, nickname: &str) -> Self {
        self.credentials.user = Some(nickname.to_owned());
        self
    }

    /// The password of the user.
    pub fn password(mut self, password: impl Into<SecretString>) -> Self {
        self.credentials.password = Some(password.into());
        self
    }

    /// The `meta` of impersonation: `json!({"register_on_missing": true})` (contract 02 §2.2).
    pub fn meta(mut self, meta: Value) -> Self {
        self.credentials.meta = Some(meta);
        self
    }

    /// The size of the cache of conditional GET in bytes; 8 MiB unless given, 0 for none.
    pub fn cache_bytes(mut self, bytes: u64) -> Self {
        self.cache_bytes = bytes;
        self
    }

    /// Options of the HTTP client: certificates, proxies, another timeout than 30 s.
    pub fn http(mut self, options: reqwest::ClientBuilder) -> Self {
        self.http = Some(options);
        self
    }

    /// The client. Nothing is sent yet.
    ///
    /// # Errors
    /// [`Error::Address`] when the address is not one of a server; [`Error::Connection`] when the system gives no TLS.
    pub fn build(self) -> Result<Client> {
        // A second install is refused, and changes nothing.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let refused = || Error::Address(self.address.clone());
        let mut base = Url::parse(&self.address).map_err(|_| refused())?;
        if !matches!(base.scheme(), "http" | "https") || !base.has_host() {
            return Err(refused());
        }
        base.set_path(BASE_PATH);
        base.set_query(None);
        let http = self.http.unwrap_or_else(|| reqwest::Client::builder().timeout(TIMEOUT));
        let http = http.redirect(reqwest::redirect::Policy::none()).build()?;
        let cache = ResponseCache::new(self.cache_bytes);
        let session =
            Session { http, base, credentials: self.credentials, cache, token: TokenSlot::default() };
        Ok(Client { session: Arc::new(session) })
    }
}

/// A client of one organization, for an API client or one of its users. Clones share everything.
#[derive(Clone)]
pub struct Client {
    session: Arc<Session>,
}

impl Client {
    /// Settings for the server at this address, `https://city.example`, with the id and the secret of an API client.
    pub fn builder(address: &str, client_id: &str, client_secret: impl Into<SecretString>) -> ClientBuilder {
        let credentials = Credentials {
            client_id: client_id.to_owned(),
            client_secret: client_secret.into(),
            scopes: vec!["public".to_owned()],
            ..Credentials::default()
        };
        ClientBuilder { address: address.to_owned(), credentials, cache_bytes: CACHE_BYTES, http: None }
    }

    /// A GET of this path, `/proposals/7`.
    pub fn get(&self, path: &str) -> Request {
        self.request(Method::GET, path)
    }

    /// A POST to this path.
    pub fn post(&self, path: &str) -> Request {
        self.request(Method::POST, path)
    }

    /// A PUT to this path.
    pub fn put(&self, path: &str) -> Request {
        self.request(Method::PUT, path)
    }

    /// A DELETE of this path.
    pub fn delete(&self, path: &str) -> Request {
        self.request(Method::DELETE, path)
    }

    fn request(&self, method: Method, path: &str) -> Request {
        Request::new(self.session.clone(), method, path)
    }

    /// Waits until a job has completed, and returns it. Looks again after increasing pauses, or as `Retry-After` says.
    ///
    /// # Errors
    /// [`Error::JobFailed`]; [`Error::JobTimeout`] when it has not ended after `timeout`.
    pub async fn wait(&self, job: Uuid, timeout: Duration) -> Result<Job> {
        wait(self.session.clone(), job, timeout).await
    }

    /// A valid token, for requests that another library sends.
    ///
    /// # Errors
    /// [`Error::Api`] when the server gives none.
    pub async fn access_token(&self) -> Result<String> {
        Ok(self.session.access_token(None).await?.expose_secret().to_owned())
    }
}
