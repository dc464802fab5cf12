//! A whole server on a separate database with two cities, and HTTP clients for it.
//!
//! Every JSON answer is validated against the OpenAPI document of the interface.

use crate::databases::caches;
use crate::document::Validator;
use crate::{Database, Engine, KnownPasswords, NameServer};
use civitas_application::Store;
use civitas_application::archive::{
    ExportOptions, ExportServices, FileServices, ImportOptions, WebhookArchive, export, import,
};
use civitas_kernel::{ClassNames, Locales, clock};
use civitas_server::config::{Config, Sources};
use civitas_server::wiring::{Running, start};
use civitas_server::{files, webhooks};
use civitas_tokens::WebhookCipher;
use reqwest::header::{HeaderMap, HeaderValue};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

/// The path prefix of the interface.
pub const BASE: &str = "/api/rest_full/v0.3";
/// Two organizations, `city.test` and `town.test`, equal except for their names.
pub const CITIES: &str = include_str!("../fixtures/city.ndjson");

/// Clients of the system scope, to be added to [`CITIES`]: `city_system` and `city_modest` (without rights for
/// organizations) of the city, and `whole_deployment`.
pub const SYSTEM_CLIENTS: &str = include_str!("../fixtures/system.ndjson");

/// For deployments with the standard languages.
static VALIDATOR: LazyLock<Arc<Validator>> = LazyLock::new(|| Arc::new(Validator::new()));

/// An HTTP client. Follows no redirects: tests check them.
///
/// # Panics
/// When the system gives no TLS.
pub fn http() -> reqwest::Client {
    http_builder().build().expect("an HTTP client")
}

/// The same, to be configured further.
pub fn http_builder() -> reqwest::ClientBuilder {
    // A second install is refused, and changes nothing.
    let _ = rustls::crypto::ring::default_provider().install_default();
    // The server closes connections after 5 s idle: the client drops them earlier.
    let builder = reqwest::Client::builder().pool_idle_timeout(Duration::from_secs(2));
    builder.redirect(reqwest::redirect::Policy::none())
}

/// A running server, and the content of its database.
pub struct Service {
    /// The database engine.
    pub engine: Engine,
    /// Where it listens.
    pub address: SocketAddr,
    /// Where it listens for operators; `None` without the setting.
    pub operations: Option<SocketAddr>,
    /// Its store, for access without the interface.
    pub store: Arc<dyn Store>,
    /// The ids of the archive's records: `refs[organization][type][ref]`.
    pub refs: Value,
    /// The database. Its store is separate from the server's, like that of another process.
    pub database: Database,
    running: Option<Running>,
    flags: Vec<(String, String)>,
    validator: Arc<Validator>,
    objects: civitas_files::Store,
    cipher: WebhookCipher,
    _directory: tempfile::TempDir,
    _name_server: Option<NameServer>,
}

impl Service {
    /// A server on each available engine, with the two cities.
    pub async fn on_both_engines() -> Vec<Self> {
        Self::on_both_engines_with(CITIES, &[]).await
    }

    /// One on each engine, with this archive and these settings.
    pub async fn on_both_engines_with(archive: &str, settings: &[(&str, &str)]) -> Vec<Self> {
        let mut services = Vec::new();
        for engine in Engine::BOTH {
            if let Some(database) = Database::fresh(engine).await {
                services.push(Self::over(database, archive, settings).await);
            }
        }
        services
    }

    /// One over this database, with this archive and these settings.
    ///
    /// # Panics
    /// When the archive is invalid, or the server does not start.
    pub async fn over(database: Database, archive: &str, settings: &[(&str, &str)]) -> Self {
        Self::with_environment(database, archive, settings, Vec::new()).await
    }

    /// The same, with these environment variables.
    ///
    /// # Panics
    /// As [`Service::over`].
    pub async fn with_environment(
        database: Database,
        archive: &str,
        settings: &[(&str, &str)],
        environment: Vec<(String, String)>,
    ) -> Self {
        let setting =
            |wanted: &str| settings.iter().find(|(name, _)| *name == wanted).map(|(_, value)| *value);
        let locales =
            setting("locales").map_or_else(Locales::standard, |list| list.parse().expect("locales"));
        let names = setting("class_name_prefix")
            .map_or_else(ClassNames::default, |prefix| prefix.parse().expect("a prefix"));
        let directory = tempfile::tempdir().expect("a directory");
        let mut flags = vec![
            ("database_url".to_owned(), database.url().to_owned()),
            ("data_dir".to_owned(), directory.path().display().to_string()),
            ("listen".to_owned(), "127.0.0.1:0".to_owned()),
            ("row_level_security".to_owned(), "true".to_owned()),
            ("caches".to_owned(), caches().to_string()),
            // Tests send a thousand requests at once from one address.
            ("max_connections_per_address".to_owned(), "5000".to_owned()),
            ("secret_key".to_owned(), "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=".to_owned()),
        ];
        // Names have no addresses, and nothing waits for the resolver of the system.
        let name_server = match setting("dns_server") {
            Some(_) => None,
            None => Some(NameServer::start().await),
        };
        flags.extend(name_server.iter().map(|server| ("dns_server".to_owned(), server.address.to_string())));
        flags.extend(settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        let config = Config::load(&Sources { flags: flags.clone(), environment, ..Sources::default() })
            .expect("a configuration");
        let objects = files::store_of(&config).expect("a store of files");
        let intake = files::intake_of(&config).expect("a directory");
        let cipher = webhooks::cipher(&config).expect("a secret key");
        let policy = webhooks::policy(&config);
        let options = ImportOptions {
            files: Some(FileServices { objects: &objects, intake: &intake, directory: None }),
            webhooks: Some(WebhookArchive { cipher: &cipher, policy: &policy }),
            allow_operators: true,
            allow_weak_secrets: true,
            ..ImportOptions::new(&locales, clock::now())
        };
        let passwords = KnownPasswords::default();
        let report = import(&*database.store, &passwords, archive.as_bytes(), options, &mut |_| {}).await;
        let report = serde_json::to_value(report.expect("the archive is sound")).expect("a report");
        let running = start(config).await.expect("the server starts");
        Self {
            engine: database.engine,
            address: running.address.expect("an address"),
            operations: running.operations_address,
            store: running.store.clone(),
            refs: report["refs"].clone(),
            running: Some(running),
            flags,
            validator: if locales == Locales::standard() && names == ClassNames::default() {
                VALIDATOR.clone()
            } else {
                Arc::new(Validator::of(&locales, &names))
            },
            database,
            objects,
            cipher,
            _directory: directory,
            _name_server: name_server,
        }
    }

    /// Its archive.
    ///
    /// # Panics
    /// When it cannot be written.
    pub async fn export(&self, options: &ExportOptions) -> String {
        let services = ExportServices { objects: &self.objects, cipher: &self.cipher };
        let mut output = Vec::new();
        export(&*self.store, services, options, &mut output).await.expect("an archive");
        String::from_utf8(output).expect("UTF-8")
    }

    /// The id of a record of `city.test`.
    pub fn id(&self, kind: &str, reference: &str) -> i64 {
        self.id_in("city", kind, reference)
    }

    /// The id of a record of an organization.
    pub fn id_in(&self, organization: &str, kind: &str, reference: &str) -> i64 {
        let id = &self.refs[organization][kind][reference];
        let number = id.as_i64().or_else(|| id.as_str()?.rsplit('/').next()?.parse().ok());
        number.unwrap_or_else(|| panic!("no {kind} {reference} in {organization}: {id}"))
    }

    /// A client of `city.test` without a token.
    pub fn anonymous(&self) -> Client {
        self.at("city.test")
    }

    /// A client of another host without a token.
    pub fn at(&self, host: &str) -> Client {
        let (address, host, validator) = (self.address, host.to_owned(), self.validator.clone());
        Client { address, host, token: None, http: http(), validator }
    }

    /// The full client of `city.test` on its own.
    pub async fn machine(&self) -> Client {
        let scope = "public proposals meetings blogs oauth roles surveys attachments webhooks";
        self.anonymous()
            .with_token(&json!({"grant_type": "client_credentials", "client_id": "id_city_full",
            "client_secret": "key_city_full", "scope": scope}))
            .await
    }

    /// A user of `city.test` through the full client.
    pub async fn user(&self, nickname: &str) -> Client {
        self.user_through("city", "full", nickname).await
    }

    /// A user of an organization through one of its clients.
    pub async fn user_through(&self, organization: &str, client: &str, nickname: &str) -> Client {
        let scope = match client {
            "narrow" => "attachments",
            "full" | "second" | "bare" => {
                "public proposals meetings blogs oauth roles surveys attachments webhooks"
            }
            // Clients of single tests.
            _ => "public proposals meetings blogs oauth roles",
        };
        self.at(&format!("{organization}.test"))
            .with_token(&json!({"grant_type": "password",
            "auth_type": "impersonate", "username": nickname, "scope": scope,
            "client_id": format!("id_{organization}_{client}"),
            "client_secret": format!("key_{organization}_{client}")}))
            .await
    }

    /// Stops the server in order.
    pub async fn stop(mut self) {
        self.end().await;
    }

    /// The same, and keeps its database.
    pub async fn end(&mut self) {
        if let Some(running) = self.running.take() {
            running.stop().await;
        }
    }

    /// Stops the server, and starts another one over the same database, with these settings changed.
    ///
    /// # Panics
    /// When it does not start.
    pub async fn restart_with(&mut self, settings: &[(&str, &str)]) {
        self.end().await;
        for (name, value) in settings {
            self.flags.retain(|(known, _)| known != name);
            self.flags.push(((*name).to_owned(), (*value).to_owned()));
        }
        let sources = Sources { flags: self.flags.clone(), ..Sources::default() };
        let running =
            start(Config::load(&sources).expect("a configuration")).await.expect("the server starts");
        self.address = running.address.expect("an address");
        self.operations = running.operations_address;
        self.store = running.store.clone();
        self.running = Some(running);
    }

    /// The settings of the server, as flags.
    pub fn flags(&self) -> &[(String, String)] {
        &self.flags
    }
}

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

    async fn try_raw(
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
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}
