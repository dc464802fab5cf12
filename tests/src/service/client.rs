//! HTTP clients of a server.

use super::BASE;
use crate::document::Validator;
use reqwest::header::{HeaderMap, HeaderValue};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// An HTTP client with one host and an optional token.
#[derive(Clone)]
pub struct Client {
    pub(crate) address: SocketAddr,
    /// The Host header.
    pub host: String,
    /// The bearer.
    pub token: Option<String>,
    pub(crate) http: reqwest::Client,
    pub(crate) validator: Arc<Validator>,
}

/// An answer.
#[derive(Debug)]
pub struct Answer {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body; null when it is not JSON.
    pub body: Value,
    /// The raw body.
    pub text: String,
}

impl Answer {
    /// Asserts the status, and returns the answer.
    #[expect(clippy::return_self_not_must_use, reason = "the assertion may be all that is wanted")]
    #[track_caller]
    pub fn is(self, status: u16) -> Self {
        assert_eq!(self.status.as_u16(), status, "{}", self.text);
        self
    }

    /// Asserts an error with this status and text.
    #[expect(clippy::return_self_not_must_use, reason = "the assertion may be all that is wanted")]
    #[track_caller]
    pub fn refuses(self, status: u16, sentence: &str) -> Self {
        let answer = self.is(status);
        assert_eq!(answer.body["error_description"], sentence, "{}", answer.text);
        answer
    }

    /// `data` of the body.
    pub fn data(&self) -> &Value {
        &self.body["data"]
    }

    /// The ids of `data`, a list.
    pub fn ids(&self) -> Vec<i64> {
        let rows = self.data().as_array().expect("a list");
        rows.iter().map(|row| row["id"].as_str().and_then(|id| id.parse().ok()).expect("an id")).collect()
    }

    /// A header as text.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|v| v.to_str().ok()).unwrap_or_default()
    }
}

impl Client {
    /// The same client with a token from this request.
    pub async fn with_token(&self, request: &Value) -> Self {
        let answer = self.post("/oauth/token", request).await.is(200);
        Self { token: answer.body["access_token"].as_str().map(str::to_owned), ..self.clone() }
    }

    /// With a token of one of [`SYSTEM_CLIENTS`].
    pub async fn of_system(&self, client: &str) -> Self {
        let asked = json!({"grant_type": "client_credentials", "client_id": format!("id_{client}"),
            "client_secret": format!("key_{client}"), "scope": "system"});
        self.with_token(&asked).await
    }

    /// The same client with this bearer.
    #[must_use]
    pub fn bearing(&self, token: &str) -> Self {
        Self { token: Some(token.to_owned()), ..self.clone() }
    }

    /// The same client without a token.
    #[must_use]
    pub fn without_token(&self) -> Self {
        Self { token: None, ..self.clone() }
    }

    /// The same client of another host.
    #[must_use]
    pub fn of_host(&self, host: &str) -> Self {
        Self { host: host.to_owned(), ..self.clone() }
    }

    /// `GET {base}{path}`
    pub async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, &[], None).await
    }

    /// `POST {base}{path}`
    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        self.send(Method::POST, path, &[], Some(body)).await
    }

    /// `PUT {base}{path}`
    pub async fn put(&self, path: &str, body: &Value) -> Answer {
        self.send(Method::PUT, path, &[], Some(body)).await
    }

    /// `DELETE {base}{path}`
    pub async fn delete(&self, path: &str) -> Answer {
        self.send(Method::DELETE, path, &[], None).await
    }

    /// A request with a JSON body, its answer validated against the document.
    pub async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&Value>,
    ) -> Answer {
        let mut all = headers.to_vec();
        let text = body.map(Value::to_string);
        if text.is_some() {
            all.push(("content-type", "application/json"));
        }
        let answer =
            self.raw(method.clone(), &format!("{BASE}{path}"), &all, text.map(String::into_bytes)).await;
        if !answer.body.is_null() {
            self.validator.check(method.as_str(), path, answer.status.as_u16(), &answer.body);
        }
        answer
    }

    /// `POST {base}{path}` to a server that may end at any time; `None` without an answer.
    pub async fn try_post(&self, path: &str, headers: &[(&str, &str)], body: &Value) -> Option<Answer> {
        let headers = [headers, &[("content-type", "application/json")]].concat();
        let body = body.to_string().into_bytes();
        self.try_raw(Method::POST, &format!("{BASE}{path}"), &headers, Some(body)).await.ok()
    }

    /// A request without body, to a server that may end at any time; `None` without an answer.
    pub async fn try_send(&self, method: Method, path: &str) -> Option<Answer> {
        self.try_raw(method, &format!("{BASE}{path}"), &[], None).await.ok()
    }

    /// The same client of a server at another address.
    #[must_use]
    pub fn moved_to(&self, address: SocketAddr) -> Self {
        Self { address, ..self.clone() }
    }

    /// A request of any kind to any path.
    pub async fn raw(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<Vec<u8>>,
    ) -> Answer {
        self.try_raw(method, path, headers, body).await.expect("an answer")
    }

    /// The same to a server that may end at any time.
    ///
    /// # Errors
    /// There is no answer.
    pub async fn try_raw(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<Vec<u8>>,
    ) -> reqwest::Result<Answer> {
        let mut request = self.http.request(method, format!("http://{}{path}", self.address));
        request = request.header("host", &self.host);
        if let Some(token) = &self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        for (name, value) in headers {
            request = request.header(*name, HeaderValue::from_str(value).expect("a header"));
        }
        if let Some(body) = body {
            request = request.body(body);
        }
        let answered = async {
            let response = request.send().await?;
            let (status, headers) = (response.status(), response.headers().clone());
            let text = response.text().await?;
            let body = serde_json::from_str(&text).unwrap_or(Value::Null);
            Ok(Answer { status, headers, body, text })
        };
        answered.await
    }

    /// The job of a 202, once it has ended.
    pub async fn finished(&self, accepted: &Answer) -> Value {
        let id = accepted.body["job_id"].as_str().expect("a job").to_owned();
        let started = Instant::now();
        loop {
            let job = self.get(&format!("/jobs/{id}")).await.is(200).body;
            if job["status"] == "completed" || job["status"] == "failed" {
                return job;
            }
            assert!(started.elapsed() < Duration::from_secs(30), "the job never ended: {job}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}
