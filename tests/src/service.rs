//! A whole server on a separate database with two cities, and HTTP clients for it.
//!
//! Every JSON answer is validated against the OpenAPI document of the interface.

mod client;

pub use client::{Answer, Client};

use crate::databases::pooler_of;
use crate::document::Validator;
use crate::{Database, Engine, KnownPasswords, NameServer};
use civitas_application::Store;
use civitas_archive::{
    ExportOptions, ExportServices, FileServices, ImportOptions, WebhookArchive, export, import,
};
use civitas_kernel::{ClassNames, Locales, clock};
use civitas_server::config::{Config, SettingSources};
use civitas_server::wiring::{RunningServer, start};
use civitas_server::{files, webhooks};
use civitas_tokens::WebhookCipher;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

/// The path prefix of the interface.
pub const BASE: &str = "/api/rest_full/v0.3";
/// Two organizations, `city.test` and `town.test`, equal except for their names.
pub const CITIES: &str = include_str!("../fixtures/city.ndjson");

/// Clients of the system scope, to be added to [`CITIES`]: `city_system` and `city_modest` (without rights for
/// organizations) of the city, and `whole_deployment`.
pub const SYSTEM_CLIENTS: &str = include_str!("../fixtures/system.ndjson");

/// For deployments with the standard languages.
static VALIDATOR: LazyLock<Arc<Validator>> = LazyLock::new(|| Arc::new(Validator::new()));

/// An HTTP client without TLS. Follows no redirects: tests check them.
///
/// # Panics
/// When the system gives no TLS.
pub fn http() -> reqwest::Client {
    http_builder().build().expect("an HTTP client")
}

/// The same, to be configured further, also with certificates to trust.
pub fn http_builder() -> reqwest::ClientBuilder {
    // A second install is refused, and changes nothing.
    let _ = rustls::crypto::ring::default_provider().install_default();
    // The server closes connections after 5 s idle: the client drops them earlier. It trusts no certificates: a client
    // would read all those of the system when it is built.
    let builder = reqwest::Client::builder()
        .pool_idle_timeout(Duration::from_secs(2))
        .tls_certs_only(Vec::<reqwest::Certificate>::new());
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
    running: Option<RunningServer>,
    flags: Vec<(String, String)>,
    validator: Arc<Validator>,
    objects: civitas_files::FileStorage,
    cipher: WebhookCipher,
    directory: tempfile::TempDir,
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
            ("secret_key".to_owned(), "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=".to_owned()),
        ];
        let pooler = setting("database_url").is_none().then(|| pooler_of(database.url())).flatten();
        flags.extend(pooler.map(|address| ("database_pooler_url".to_owned(), address)));
        // Names have no addresses, and nothing waits for the resolver of the system.
        let name_server = match setting("dns_server") {
            Some(_) => None,
            None => Some(NameServer::start().await),
        };
        flags.extend(name_server.iter().map(|server| ("dns_server".to_owned(), server.address.to_string())));
        flags.extend(settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        let config =
            Config::load(&SettingSources { flags: flags.clone(), environment, ..SettingSources::default() })
                .expect("a configuration");
        let objects = files::open_file_store(&config).expect("a store of files");
        let intake = files::open_intake(&config).expect("a directory");
        let cipher = webhooks::webhook_cipher(&config).expect("a secret key");
        let policy = webhooks::target_policy(&config);
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
            directory,
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
        let sources = SettingSources { flags: self.flags.clone(), ..SettingSources::default() };
        let running =
            start(Config::load(&sources).expect("a configuration")).await.expect("the server starts");
        self.address = running.address.expect("an address");
        self.operations = running.operations_address;
        self.store = running.store.clone();
        self.running = Some(running);
    }

    /// A file with the settings of the server, for commands.
    ///
    /// # Panics
    /// When it cannot be written.
    pub fn settings_file(&self) -> String {
        let path = self.directory.path().join("settings.toml");
        let lines: Vec<_> = self.flags.iter().map(|(name, value)| format!("{name} = {value:?}\n")).collect();
        std::fs::write(&path, lines.concat()).expect("a file of settings");
        path.display().to_string()
    }

    /// The settings of the server, as flags.
    pub fn flags(&self) -> &[(String, String)] {
        &self.flags
    }
}
