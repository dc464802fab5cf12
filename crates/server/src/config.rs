//! Configuration: one struct, read once at the start.
//!
//! A setting comes from a flag, else from the environment (`CIVITAS_` and its name in capitals), else from
//! `civitas.toml` (or the file `--config` names), else from its default. An unknown name or an invalid value is an
//! error with its source. `civitas.example.toml` is written from this file.

mod example;
mod layers;
mod retired;
mod values;

pub use example::example;
pub use layers::{ConfigError, SettingSources, flag};
pub use retired::RETIRED;
pub use values::{Endpoint, LogFormat, Origin, Pepper, Scheme, SecretKey, SettingFormat};

use crate::open_files;
use civitas_application::ShareCapacity;
use civitas_application::backups::TimeOfDay;
use civitas_application::worker_loop::WorkerSlots;
use civitas_kernel::{ClassNames, Locales};
use ipnet::IpNet;
use layers::MergedSettings;
use std::net::{IpAddr, SocketAddr};
use std::num::{NonZeroU16, NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::thread::available_parallelism;
use values::{Limit, SettingType};

/// The description of a setting.
#[derive(Debug)]
pub struct Setting {
    /// Its name in the file; a flag writes `-` for `_`.
    pub name: &'static str,
    /// What it means, with its unit, in lines.
    pub doc: &'static [&'static str],
    /// Its default, in the format of the environment; empty: none.
    pub default: &'static str,
    /// Its format in the file.
    pub shape: SettingFormat,
}

macro_rules! settings {
    ($($(#[doc = $doc:literal])+ $name:ident: $type:ty = $default:literal),+ $(,)?) => {
        /// All settings.
        #[derive(Clone, PartialEq)]
        pub struct Config {
            $($(#[doc = $doc])+ pub $name: $type,)+
            /// The variables of the environment that begin with `AWS_`: the settings of object storage. They have no
            /// flags and no names in the file.
            pub object_storage: Vec<(String, String)>,
            /// Whether the environment names a collector of traces (`OTEL_EXPORTER_OTLP_ENDPOINT`). The exporter reads these
            /// variables of OpenTelemetry.
            pub has_collector: bool,
        }

        /// Every setting, in the order of the documentation.
        pub const SETTINGS: &[Setting] = &[$(Setting {
            name: stringify!($name),
            doc: &[$($doc),+],
            default: $default,
            shape: <$type as SettingType>::FORMAT,
        }),+];

        impl Config {
            fn read(
                layers: &MergedSettings,
                object_storage: Vec<(String, String)>,
                has_collector: bool,
            ) -> Result<Self, ConfigError> {
                Ok(Self { $($name: layers.read(stringify!($name))?,)+ object_storage, has_collector })
            }
        }
    };
}

settings! {
    /// Where the data is: `sqlite://PATH`, or `postgres://USER:PASSWORD@HOST/NAME` for PostgreSQL 15 or newer.
    database_url: String = "sqlite://<data_dir>/civitas.db",
    /// The address of a transaction pooler in front of the PostgreSQL server of `database_url`, for requests and background work:
    /// PgBouncer 1.21 or newer. None: they connect to `database_url`, as migrations and backups always do.
    database_pooler_url: Option<String> = "",
    /// The addresses of standbys of the server of `database_url`, for reads that may show a state of up to 5 s ago:
    /// `postgres://USER:PASSWORD@HOST1,HOST2/NAME`. None: all reads are at `database_url`.
    database_read_url: Option<String> = "",
    /// The directory of attachments and keys. `<data_dir>` in another setting means this one.
    data_dir: PathBuf = "civitas-data",
    /// Where attachments are kept: `file://PATH`, or `s3://BUCKET/PREFIX` for object storage.
    files_url: String = "file://<data_dir>/files",
    /// Address and port to listen on; port 0 takes a free one.
    listen: SocketAddr = "127.0.0.1:3000",
    /// Address and port of `/live`, `/ready` and `/metrics` (Prometheus text), apart from the public listener. None: they
    /// are not served.
    operations_listen: Option<SocketAddr> = "",
    /// PEM file with the certificate and its chain. With it the listener speaks HTTPS; SIGHUP reads it again.
    tls_certificate: Option<PathBuf> = "",
    /// PEM file with the private key of the certificate.
    tls_key: Option<PathBuf> = "",
    /// The mail address of the operator for the CA of `tls_acme_directory`. With it the listener speaks HTTPS, with
    /// certificates of that CA for all confirmed hosts, and you accept the terms of service of the CA.
    tls_acme_email: Option<String> = "",
    /// The directory (RFC 8555) of the CA that makes certificates for `tls_acme_email`.
    tls_acme_directory: Endpoint = "https://acme-v02.api.letsencrypt.org/directory",
    /// The languages of the deployment, as `en` or `pt-BR`; 1 to 60. Mails and pages of the service exist in English,
    /// French and Spanish; readers of others get the default language of their organization.
    locales: Locales = "en, fr, es",
    /// The prefix of class names in answers, events and the OpenAPI document, as in `Platform::Assembly`: `Decidim` for
    /// clients that were written for that product. Requests are understood with this prefix, `Platform` and `Decidim`.
    class_name_prefix: ClassNames = "Platform",
    /// How absolute links begin: `https` or `http`. `demo` says http.
    public_scheme: Scheme = "https",
    /// The port written in absolute links. None: no port is written. `demo` says the one it listens on.
    public_port: Option<NonZeroU16> = "",
    /// 32 bytes in base64 (`openssl rand -base64 32`): access tokens are signed, webhook secrets encrypted and
    /// upload links signed with keys derived from it. None: generated into `<data_dir>/secret_key` on SQLite;
    /// required with PostgreSQL, the same for all nodes. Of several, the first one signs and encrypts, and all verify
    /// and decrypt: `civitas key rotate`.
    secret_key: Vec<SecretKey> = "",
    /// The `pepper` of a Decidim installation whose accounts were imported with their hashes of bcrypt. A secret. None: it had
    /// none. It is needed until each of them has signed in once.
    decidim_password_pepper: Option<Pepper> = "",
    /// Networks (CIDR) of proxies whose `X-Forwarded-*` and `Forwarded` headers count.
    trusted_proxies: Vec<IpNet> = "",
    /// The lifetime of an access token, in seconds.
    token_lifetime_seconds: NonZeroU32 = "7200",
    /// The most refused credentials of one source address within a minute, at the token endpoints and at the panel's
    /// sign-in; beyond it the answer is 429. None or 0: no limit.
    max_failed_authentications_per_minute: Limit = "600",
    /// The most requests of one API client within a second, in each process; beyond it the answer is 429. None or 0:
    /// no limit.
    max_requests_per_second_per_client: Limit = "",
    /// The longest body of a request, in bytes; uploads of files have limits of their own.
    max_body_bytes: NonZeroUsize = "1048576",
    /// The longest payload of an asynchronous job, in bytes. None or 0: no limit.
    max_async_api_job_payload_bytes: Limit = "",
    /// The longest extended data that may come of one write, in bytes. None or 0: no limit but that of one record, 1 MiB.
    max_extended_data_payload_bytes: Limit = "",
    /// The bytes that one API client stores of each kind: files that are attached to nothing, jobs of a day, answers to
    /// writes with an idempotency key. All clients of an organization together store four times as many. 0: no limit.
    max_stored_bytes_per_client: Limit = "1073741824",
    /// The addresses a new host of an organization must point at before it is confirmed.
    loadbalancer_ips: Vec<IpAddr> = "127.0.0.1, ::1",
    /// Address and port of the DNS server asked for hosts of organizations and targets of webhooks. None: the
    /// system's.
    dns_server: Option<SocketAddr> = "",
    /// Origins (`https://app.example`) whose pages in browsers may use the interface and the token endpoints; `*` for all.
    /// Credentials of browsers are never accepted. None: no other origin may.
    cors_allowed_origins: Vec<Origin> = "",
    /// Whether nothing is changed: reads are served, writes answer 503 with `Retry-After`, and background work waits.
    /// `true` or `false`. Tokens are issued and revoked, for accounts as they are.
    read_only: bool = "false",
    /// Networks (CIDR) webhooks may reach although they are not public: a receiver on the own network.
    webhook_allowed_networks: Vec<IpNet> = "",
    /// The delays between the attempts at a webhook delivery, in seconds. There is one attempt more than delays.
    webhook_retry_delays_seconds: Vec<NonZeroU32> = "5, 60, 300, 1800, 7200, 21600, 86400",
    /// How long events and accepted webhook deliveries are kept, in days: event streams can resume within this time.
    /// Deliveries that were given up are kept 30 days at least. None or 0: for ever.
    event_retention_days: Limit = "30",
    /// How long jobs are kept after they completed or failed, in days. None or 0: for ever.
    job_retention_days: Limit = "90",
    /// How long entries of the audit trail are kept, in days. None or 0: for ever.
    audit_retention_days: Limit = "365",
    /// Where backups are stored: `file://PATH`, or `s3://BUCKET/PREFIX` with the same variables `AWS_*` as `files_url`. One
    /// place for each deployment, on another machine than the data.
    backup_to: Option<String> = "",
    /// The times of day (UTC) at which a backup is made, as `02:30`. None: only `civitas backup` makes one.
    backup_times: Vec<TimeOfDay> = "",
    /// How long backups are kept, in days; the newest one stays. None or 0: for ever.
    backup_retention_days: Limit = "30",
    /// The server outgoing mail is given to: `smtps://USER:PASSWORD@HOST`, or `smtp://USER:PASSWORD@HOST?tls=required`
    /// for STARTTLS. None: mails are logged without their links, and not sent.
    smtp_url: Option<String> = "",
    /// The sender of outgoing mail, required with `smtp_url`: `no-reply@city.example`, or with a name before it,
    /// `City <no-reply@city.example>`. Without a name mails come in that of their organization.
    mail_from: Option<String> = "",
    /// Connections to the database at most, for reading and again as many for writing (SQLite: one); on PostgreSQL as many
    /// again, together, for searches and background work. They are opened when they are needed.
    database_pool_size: NonZeroUsize = "16",
    /// What is logged: `error`, `warn`, `info`, `debug`, `trace`, also by target: `info,civitas_api=debug`.
    log: String = "info",
    /// `text` for people, `json` for machines.
    log_format: LogFormat = "text",
}

/// The variables of OpenTelemetry with the address of a collector.
const COLLECTOR_VARIABLES: [&str; 2] = ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"];

/// Whether the environment names a collector of traces.
///
/// # Errors
/// For an invalid address. The exporter's own error shows the address, which may have a password.
fn has_collector(sources: &SettingSources, layers: &MergedSettings) -> Result<bool, ConfigError> {
    let is_named =
        |(name, value): &&(String, String)| COLLECTOR_VARIABLES.contains(&name.as_str()) && !value.is_empty();
    let mut has_collector = false;
    for (name, value) in sources.environment.iter().filter(is_named) {
        let is_uri = value.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&byte));
        if !is_uri || value.parse::<Endpoint>().is_err() {
            return Err(layers.fault(name, "must be an address, as http://127.0.0.1:4318"));
        }
        has_collector = true;
    }
    Ok(has_collector)
}

impl Config {
    /// Reads and checks everything.
    ///
    /// # Errors
    /// The first invalid setting: its source, and what it must be.
    pub fn load(sources: &SettingSources) -> Result<Self, ConfigError> {
        let layers = MergedSettings::merge(sources)?;
        let of_storage = sources.environment.iter().filter(|(name, _)| name.starts_with("AWS_"));
        let has_collector = has_collector(sources, &layers)?;
        let mut config = Self::read(&layers, of_storage.cloned().collect(), has_collector)?;
        let directory = config.data_dir.display().to_string();
        for url in [&mut config.database_url, &mut config.files_url] {
            *url = url.replace("<data_dir>", &directory);
        }
        config.check(&layers)?;
        Ok(config)
    }

    fn check(&self, layers: &MergedSettings) -> Result<(), ConfigError> {
        let begins = |url: &str, schemes: &[&str]| schemes.iter().any(|scheme| url.starts_with(scheme));
        let demand = |holds: bool, name: &str, text: &str| {
            if holds { Ok(()) } else { Err(layers.fault(name, text)) }
        };
        let together = |is_set: bool, other_is_set: bool, name: &str, other: &str| {
            demand(!is_set || other_is_set, name, &format!("needs {other} beside it"))
        };
        let databases = ["sqlite://", "postgres://", "postgresql://"];
        let is_database = begins(&self.database_url, &databases);
        demand(is_database, "database_url", "must begin with sqlite:// or postgres://")?;
        let is_server = |url: &str| begins(url, &databases[1..]) && !self.is_sqlite();
        for (url, name) in [
            (&self.database_pooler_url, "database_pooler_url"),
            (&self.database_read_url, "database_read_url"),
        ] {
            let text = "must begin with postgres://, as database_url";
            demand(url.as_deref().is_none_or(is_server), name, text)?;
        }
        let is_storage = |url: &str| begins(url, &["file://", "s3://"]);
        demand(is_storage(&self.files_url), "files_url", "must begin with file:// or s3://")?;
        let (has_certificate, has_key) = (self.tls_certificate.is_some(), self.tls_key.is_some());
        together(has_certificate, has_key, "tls_certificate", "tls_key")?;
        together(has_key, has_certificate, "tls_key", "tls_certificate")?;
        let is_address = |email: &str| civitas_mail::is_sender(email) && !email.contains('<');
        demand(
            self.tls_acme_email.as_deref().is_none_or(is_address),
            "tls_acme_email",
            "must be an address, as operator@city.example",
        )?;
        let is_one = self.tls_acme_email.is_none() || !has_certificate;
        demand(is_one, "tls_acme_email", "cannot be set beside tls_certificate")?;
        together(self.smtp_url.is_some(), self.mail_from.is_some(), "smtp_url", "mail_from")?;
        demand(
            self.smtp_url.as_deref().is_none_or(civitas_mail::is_server),
            "smtp_url",
            "must be smtps://USER:PASSWORD@HOST:PORT, or begin with smtp:// and end with ?tls=required",
        )?;
        demand(
            self.mail_from.as_deref().is_none_or(civitas_mail::is_sender),
            "mail_from",
            "must be an address, as no-reply@city.example or City <no-reply@city.example>",
        )?;
        demand(
            self.is_sqlite() || !self.secret_key.is_empty(),
            "database_url",
            "is PostgreSQL, which needs a secret_key: set CIVITAS_SECRET_KEY to the output of `openssl rand -base64 32`, on all nodes the same",
        )?;
        let has_place = self.backup_to.as_deref().is_none_or(is_storage);
        demand(has_place, "backup_to", "must begin with file:// or s3://")?;
        together(!self.backup_times.is_empty(), self.backup_to.is_some(), "backup_times", "backup_to")?;
        demand(values::is_filter(&self.log), "log", "must be a log filter, as info or info,civitas_api=debug")
    }

    /// Whether the listener speaks HTTPS.
    pub fn is_https(&self) -> bool {
        self.tls_certificate.is_some() || self.tls_acme_email.is_some()
    }

    /// Whether the data is kept in SQLite.
    pub fn is_sqlite(&self) -> bool {
        self.database_url.starts_with("sqlite://")
    }

    /// The numbers of shares that depend on the machine and the settings.
    pub fn share_capacity(&self) -> ShareCapacity {
        let connections = self.database_pool_size.get() as u64;
        let write_connections = (!self.is_sqlite()).then_some(connections);
        let stored_bytes = self.max_stored_bytes_per_client.0.map_or(u64::MAX, |bytes| bytes as u64);
        // The other three quarters are for connections of clients and of the database, and for files.
        let webhook_requests = (open_files::limits().0 / 4).clamp(20, 400);
        ShareCapacity {
            read_connections: connections,
            // On SQLite twice as many as run at once: those that wait, or are rendered, hold nothing that others need.
            searches: if self.is_sqlite() {
                4 * available_parallelism().map_or(1, usize::from) as u64
            } else {
                connections.div_ceil(4)
            },
            write_connections,
            stored_bytes,
            webhook_requests,
        }
    }

    /// How many background jobs run at once, and how many more the worker has.
    pub fn job_capacity(&self) -> WorkerSlots {
        // A job waits most of its time: with others for the disk, or for answers of PostgreSQL. There two connections of
        // background work are left to the rest of it, and one claim has several jobs, because it costs a commit of its own.
        let background = self.database_pool_size.get().div_ceil(2);
        let running = if self.is_sqlite() { 32 } else { background.saturating_sub(2).max(1) };
        WorkerSlots { running, ahead: if self.is_sqlite() { 0 } else { 2 * running } }
    }
}
