//! Tokens, conditional GET and errors: all requests pass here.

use crate::answer::Response;
use crate::cache::ResponseCache;
use crate::error::{ApiError, Error, Result};
use reqwest::header::{
    AUTHORIZATION, ETAG, HeaderMap, HeaderName, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH, RANGE,
};
use reqwest::{Method, StatusCode, Url};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::Instant;

/// A token is renewed this long before it expires, or after four fifths of its lifetime if that is later.
const RENEWAL_MARGIN: Duration = Duration::from_secs(60);

/// Says that an answer comes from the cache of the client (RFC 9211).
const CACHE_STATUS: HeaderName = HeaderName::from_static("cache-status");

/// Whom the client acts for, and how it proves it (contract 02 §2).
#[derive(Debug, Default)]
pub(crate) struct Credentials {
    pub(crate) client_id: String,
    pub(crate) client_secret: SecretString,
    pub(crate) scopes: Vec<String>,
    /// `None`: the client acts for itself.
    pub(crate) user: Option<String>,
    /// `None`: impersonation.
    pub(crate) password: Option<SecretString>,
    /// That of impersonation.
    pub(crate) meta: Option<Value>,
}

impl Credentials {
    /// The body of a request for a token.
    fn grant(&self) -> Map<String, Value> {
        let mut grant = Map::new();
        let mut add = |name: &str, value: Value| drop(grant.insert(name.to_owned(), value));
        add("client_id", json!(self.client_id));
        add("client_secret", json!(self.client_secret.expose_secret()));
        add("scope", json!(self.scopes.join(" ")));
        let Some(user) = &self.user else {
            add("grant_type", json!("client_credentials"));
            return grant;
        };
        add("grant_type", json!("password"));
        add("username", json!(user));
        match &self.password {
            Some(password) => {
                add("auth_type", json!("login"));
                add("password", json!(password.expose_secret()));
            }
            None => add("auth_type", json!("impersonate")),
        }
        if let Some(meta) = &self.meta {
            add("meta", meta.clone());
        }
        grant
    }
}

/// A token and the time of its renewal.
#[derive(Clone)]
struct Token {
    text: SecretString,
    renew_at: Instant,
}

/// The part of a token answer that is used.
#[derive(Deserialize)]
struct TokenAnswer {
    access_token: SecretString,
    expires_in: u64,
}

/// What a request sends.
#[derive(Debug, Clone)]
pub(crate) struct OutgoingRequest {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Option<Vec<u8>>,
}

/// Sends requests to one server with the tokens of one client or user.
pub(crate) struct Session {
    pub(crate) http: reqwest::Client,
    /// Ends with a slash; paths of operations are relative to it.
    pub(crate) base: Url,
    pub(crate) credentials: Credentials,
    pub(crate) cache: ResponseCache,
    pub(crate) token: TokenSlot,
}

/// The current token. One request for a token runs at a time.
#[derive(Default)]
pub(crate) struct TokenSlot(Mutex<Option<Token>>);

impl Session {
    /// Sends a request. A stored answer is revalidated; after a 401 the token is renewed once.
    pub(crate) async fn execute(&self, mut request: OutgoingRequest) -> Result<Response> {
        let has_condition =
            [IF_NONE_MATCH, IF_MODIFIED_SINCE, RANGE].iter().any(|name| request.headers.contains_key(name));
        let cached = if has_condition {
            None
        } else {
            self.cache.get(&request.method, &request.url, &request.headers)
        };
        let asked = request.headers.clone();
        if let Some(etag) = cached.as_ref().and_then(|cached| cached.headers.get(ETAG)) {
            request.headers.insert(IF_NONE_MATCH, etag.clone());
        }
        let token = self.access_token(None).await?;
        let mut answer = self.send(&request, Some(&token)).await?;
        if answer.status == StatusCode::UNAUTHORIZED {
            let token = self.access_token(Some(&token)).await?;
            answer = self.send(&request, Some(&token)).await?;
        }
        match cached {
            Some(mut cached) if answer.status == StatusCode::NOT_MODIFIED => {
                cached.headers.insert(CACHE_STATUS, HeaderValue::from_static("civitas-client; hit"));
                Ok(cached)
            }
            _ => {
                let answer = success(request.method.clone(), request.url.clone(), answer)?;
                if !has_condition {
                    self.cache.insert(&request.method, &request.url, &asked, &answer);
                }
                Ok(answer)
            }
        }
    }

    /// A valid token: the current one, or a new one when it expires soon or was rejected.
    pub(crate) async fn access_token(&self, rejected: Option<&SecretString>) -> Result<SecretString> {
        let mut slot = self.token.0.lock().await;
        if let Some(token) = &*slot {
            let is_rejected = rejected.is_some_and(|old| old.expose_secret() == token.text.expose_secret());
            if !is_rejected && Instant::now() < token.renew_at {
                return Ok(token.text.clone());
            }
        }
        let token = self.request_token().await?;
        Ok(slot.insert(token).text.clone())
    }

    async fn request_token(&self) -> Result<Token> {
        let begun = Instant::now();
        let body = serde_json::to_vec(&self.credentials.grant()).map_err(Error::Encode)?;
        let url = self.address("/oauth/token")?;
        let mut request =
            OutgoingRequest { method: Method::POST, url, headers: HeaderMap::new(), body: Some(body) };
        request.headers.insert(reqwest::header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let answer = self.send(&request, None).await?;
        let answer: TokenAnswer = success(request.method, request.url, answer)?.json()?;
        let lifetime = Duration::from_secs(answer.expires_in);
        let renew_after = lifetime.saturating_sub(RENEWAL_MARGIN).max(lifetime.mul_f64(0.8));
        Ok(Token { text: answer.access_token, renew_at: begun + renew_after })
    }

    /// The address of an operation. The path cannot lead to another server.
    pub(crate) fn address(&self, path: &str) -> Result<Url> {
        let mut url = self.base.clone();
        let (path, query) = path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)));
        url.set_path(&format!("{}{}", self.base.path(), path.trim_start_matches('/')));
        url.set_query(query);
        if url.path().starts_with(self.base.path()) { Ok(url) } else { Err(Error::Address(path.to_owned())) }
    }

    async fn send(&self, request: &OutgoingRequest, token: Option<&SecretString>) -> Result<Response> {
        let mut builder =
            self.http.request(request.method.clone(), request.url.clone()).headers(request.headers.clone());
        if let Some(token) = token {
            let mut value = HeaderValue::try_from(format!("Bearer {}", token.expose_secret()))
                .map_err(|_| Error::Address("the token".into()))?;
            value.set_sensitive(true);
            builder = builder.header(AUTHORIZATION, value);
        }
        if let Some(body) = &request.body {
            builder = builder.body(body.clone());
        }
        let answer = builder.send().await?;
        let (status, headers) = (answer.status(), answer.headers().clone());
        Ok(Response { status, headers, body: answer.bytes().await?[..].into() })
    }
}

/// The answer when it is a success.
fn success(method: Method, url: Url, answer: Response) -> Result<Response> {
    if answer.status.is_success() {
        return Ok(answer);
    }
    Err(Error::Api(Box::new(ApiError::read(method, url, answer.status, &answer.headers, &answer.body))))
}
