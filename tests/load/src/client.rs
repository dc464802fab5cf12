//! A client of both servers, for requests that `wrk` does not measure.

use crate::Outcome;
use crate::city::{CLIENT_ID, CLIENT_SECRET, HOST};
use reqwest::header::{
    AUTHORIZATION, CONTENT_TYPE, ETAG, HOST as HOST_HEADER, HeaderName, IF_MODIFIED_SINCE, LAST_MODIFIED,
};
use reqwest::{Method, RequestBuilder, Response};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::time::Duration;

/// The path prefix of the interface.
pub const BASE: &str = "/api/rest_full/v0.3";

/// No single request may take longer.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The server closes idle connections after 5 s: the client drops them earlier.
const IDLE: Duration = Duration::from_secs(2);

/// An answer.
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The validator; empty without one.
    pub etag: String,
    /// The preference that was applied; empty without one.
    pub applied: String,
    /// The body as it came.
    pub body: Vec<u8>,
}

impl Answer {
    /// Demands this status.
    pub fn is(self, status: u16) -> Outcome<Self> {
        if self.status == status {
            return Ok(self);
        }
        Err(format!("{} instead of {status}: {}", self.status, String::from_utf8_lossy(&self.body)).into())
    }

    /// The body, read.
    pub fn json(&self) -> Outcome<Value> {
        Ok(serde_json::from_slice(&self.body)?)
    }
}

/// A client of one server, with an optional bearer token.
#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    address: SocketAddr,
    bearer: Option<String>,
}

impl Client {
    /// A client without a token.
    pub fn new(address: SocketAddr) -> Outcome<Self> {
        // A second install is refused, and changes nothing.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder().timeout(TIMEOUT).pool_idle_timeout(IDLE).no_proxy().build()?;
        Ok(Self { http, address, bearer: None })
    }

    /// The same client of another server.
    pub fn at(&self, address: SocketAddr) -> Self {
        Self { address, ..self.clone() }
    }

    /// The same client without a token.
    pub fn anonymous(&self) -> Self {
        Self { bearer: None, ..self.clone() }
    }

    /// The same client with this token.
    pub fn bearing(&self, bearer: &str) -> Self {
        Self { bearer: Some(bearer.to_owned()), ..self.clone() }
    }

    /// The token, if there is one.
    pub fn bearer(&self) -> Option<&str> {
        self.bearer.as_deref()
    }

    /// A token of the client itself, or of a user.
    pub async fn token(&self, nickname: Option<&str>) -> Outcome<String> {
        let mut grant = grant();
        impersonate(&mut grant, nickname);
        let answer = self.post("/oauth/token", &grant, None).await?.is(200)?.json()?;
        Ok(answer["access_token"].as_str().ok_or("an answer without token")?.to_owned())
    }

    /// A token of the client itself, of this scope.
    pub async fn token_for(&self, scope: &str) -> Outcome<String> {
        self.token_of(None, scope).await
    }

    /// A token of the client itself, or of a user; of this scope.
    pub async fn token_of(&self, nickname: Option<&str>, scope: &str) -> Outcome<String> {
        let mut grant = grant();
        grant["scope"] = scope.into();
        impersonate(&mut grant, nickname);
        let answer = self.post("/oauth/token", &grant, None).await?.is(200)?.json()?;
        Ok(answer["access_token"].as_str().ok_or("an answer without token")?.to_owned())
    }

    /// `GET`, with a validator to compare.
    pub async fn get(&self, path: &str, etag: Option<&str>) -> Outcome<Answer> {
        let mut request = self.request(Method::GET, path);
        if let Some(etag) = etag {
            request = request.header("if-none-match", etag);
        }
        send(request).await
    }

    /// `POST`; `user` is sent to the baseline server, which has no tokens.
    pub async fn post(&self, path: &str, body: &Value, user: Option<i64>) -> Outcome<Answer> {
        let mut request = self.request(Method::POST, path).json(body);
        if let Some(user) = user {
            request = request.header("x-user", user);
        }
        send(request).await
    }

    /// `GET`. With the answer comes the time of the last change; empty without one.
    pub async fn get_dated(&self, path: &str) -> Outcome<(Answer, String)> {
        let response = self.request(Method::GET, path).send().await?;
        let modified = header(&response, LAST_MODIFIED);
        Ok((read(response).await?, modified))
    }

    /// `GET`, with the time of a last change to compare.
    pub async fn get_if_modified(&self, path: &str, since: &str) -> Outcome<Answer> {
        send(self.request(Method::GET, path).header(IF_MODIFIED_SINCE, since)).await
    }

    /// Any method, with a body of JSON that may be empty.
    pub async fn call(&self, method: &str, path: &str, body: String) -> Outcome<Answer> {
        self.call_preferring(method, path, "", body).await
    }

    /// The same, with a preference that may be empty.
    pub async fn call_preferring(
        &self,
        method: &str,
        path: &str,
        preference: &str,
        body: String,
    ) -> Outcome<Answer> {
        let mut request = self.request(Method::from_bytes(method.as_bytes())?, path);
        if !preference.is_empty() {
            request = request.header("prefer", preference);
        }
        if body.is_empty() {
            return send(request).await;
        }
        send(request.header(CONTENT_TYPE, "application/json").body(body)).await
    }

    /// `PUT` of plain text.
    pub async fn put_text(&self, path: &str, text: &'static str) -> Outcome<Answer> {
        let request = self.request(Method::PUT, path).header(CONTENT_TYPE, "text/plain");
        send(request.body(text)).await
    }

    /// `DELETE`.
    pub async fn delete(&self, path: &str) -> Outcome<Answer> {
        send(self.request(Method::DELETE, path)).await
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.http.request(method, format!("http://{}{path}", self.address));
        let request = request.header(HOST_HEADER, HOST);
        match &self.bearer {
            Some(bearer) => request.header(AUTHORIZATION, format!("Bearer {bearer}")),
            None => request,
        }
    }
}

fn impersonate(grant: &mut Value, nickname: Option<&str>) {
    if let Some(nickname) = nickname {
        grant["grant_type"] = "password".into();
        grant["auth_type"] = "impersonate".into();
        grant["username"] = nickname.into();
    }
}

/// What the token endpoint is asked under load: the machine client's own token.
pub fn grant() -> Value {
    json!({"grant_type": "client_credentials", "client_id": CLIENT_ID, "client_secret": CLIENT_SECRET,
        "scope": "public proposals"})
}

async fn send(request: RequestBuilder) -> Outcome<Answer> {
    read(request.send().await?).await
}

fn header(response: &Response, name: HeaderName) -> String {
    response.headers().get(name).and_then(|v| v.to_str().ok()).unwrap_or_default().to_owned()
}

async fn read(response: Response) -> Outcome<Answer> {
    let etag = header(&response, ETAG);
    let applied = header(&response, HeaderName::from_static("preference-applied"));
    Ok(Answer { status: response.status().as_u16(), etag, applied, body: response.bytes().await?.to_vec() })
}
