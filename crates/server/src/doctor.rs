//! Checks what a server needs: each check returns the state, or what to do.

use crate::acme;
use crate::backup::{backups_at, cause, database_copier};
use crate::config::Config;
use crate::connection_limiter::MAX_CONNECTIONS;
use crate::files::open_file_store;
use crate::open_files;
use crate::paths;
use crate::secret_key;
use crate::store::Database;
use async_trait::async_trait;
use civitas_application::backups::BackupName;
use civitas_application::{
    Dependency, HealthChecks, HealthFinding, ShareLimits, SharedResource, Shares, Store,
};
use civitas_attachments::FileStore;
use civitas_kernel::{Error, clock};
use civitas_mail::SmtpMailer;
use futures_util::future::join_all;
use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use time::OffsetDateTime;
use time::macros::datetime;
use tokio::net::{UdpSocket, lookup_host};
use tokio::time::timeout;

/// The time limit for a name server or mail server.
const TIMEOUT: Duration = Duration::from_secs(3);
/// The time limit for the store of files.
const FILES_TIMEOUT: Duration = Duration::from_secs(15);
/// The largest difference between the clocks of the data directory and of the process.
const TOLERANCE: time::Duration = time::Duration::seconds(5);
/// What to do if a connection has the settings of another.
const SHARED_SESSIONS: &str = "a pooler shares sessions: set database_pooler_url to its address, and database_url to that of the server";
/// A backup that is older than this is too old.
const OLD_BACKUP: time::Duration = time::Duration::days(2);
/// A time before this means that the clock is not set.
const EPOCH: OffsetDateTime = datetime!(2026-01-01 0:00 UTC);
/// The number of hosts that are looked up.
const MAX_HOSTS: i64 = 20;

/// The state; or what is wrong, and what to do.
type Finding = Result<String, String>;

/// Checks what a server with this configuration needs.
pub(crate) struct Doctor {
    pub(crate) config: Config,
    /// Whether the settings of connections are read back, which opens some of each kind: not for a page.
    pub(crate) reads_settings: bool,
}

#[async_trait]
impl HealthChecks for Doctor {
    async fn run(&self) -> Vec<HealthFinding> {
        let config = &self.config;
        let (files, mail, backups, (schema, database, dns, certificates)) =
            tokio::join!(files(config), mail(config), backups(config), self.database_and_hosts());
        let finding = |dependency, state| HealthFinding { dependency, state };
        vec![
            finding(Dependency::Configuration, Ok(configuration(config).to_owned())),
            finding(Dependency::OpenFiles, Ok(open_files_of())),
            finding(Dependency::Storage, storage(config)),
            finding(Dependency::Files, files),
            finding(Dependency::SecretKey, secret(config)),
            finding(Dependency::Clock, clock_of(config)),
            finding(Dependency::Schema, schema),
            finding(Dependency::Database, database),
            finding(Dependency::Dns, dns),
            finding(Dependency::Certificates, certificates),
            finding(Dependency::Mail, mail),
            finding(Dependency::Backups, backups),
            finding(Dependency::Shares, Ok(shares(config))),
        ]
    }
}

fn configuration(config: &Config) -> &'static str {
    if config.read_only {
        "every setting can be read; with read_only, writes are refused and background work waits"
    } else {
        "every setting can be read"
    }
}

impl Doctor {
    /// The schema, the database, the hosts of its organizations, and their certificates.
    async fn database_and_hosts(&self) -> (Finding, Finding, Finding, Finding) {
        let config = &self.config;
        let database = Database::from_config(config);
        let schema = schema(&database).await;
        let opened = match schema {
            Ok(_) => open(&database, self.reads_settings).await,
            Err(_) => Err("it is opened when its schema is right".to_owned()),
        };
        let (store, state) = match opened {
            Ok((store, text)) => (Some(store), Ok(text)),
            Err(text) => (None, Err(text)),
        };
        let hosts = match store {
            Some(store) => {
                let hosts = store.organizations().served_hosts("", MAX_HOSTS).await;
                hosts.map_err(|error| error.to_string())
            }
            None => Ok(Vec::new()),
        };
        let dns = dns(config, hosts.as_deref()).await;
        (schema, state, dns, hosts.and_then(|hosts| certificates(config, &hosts)))
    }
}

/// The limit of open files of this process, and whether it is lower than that of connections.
fn open_files_of() -> String {
    let (soft, hard) = open_files::limits();
    let text = |limit: u64| if limit == u64::MAX { "no limit".to_owned() } else { limit.to_string() };
    let is_low = soft <= MAX_CONNECTIONS as u64;
    let advice =
        if is_low { ": fewer than 10000 connections and some more; raise the hard limit" } else { "" };
    format!("{} at most, hard limit {}{advice}", text(soft), text(hard))
}

/// Checks that a file can be created, read and removed in the data directory.
fn storage(config: &Config) -> Finding {
    let location = config.data_dir.display();
    let probe = config.data_dir.join(format!(".doctor-{}", std::process::id()));
    let probed = secret_key::create_private_directory(&config.data_dir).and_then(|()| {
        let written = fs::write(&probe, "civitas").and_then(|()| fs::remove_file(&probe));
        written.map_err(|error| paths::with_path(&config.data_dir, error))
    });
    match probed {
        Ok(()) => Ok(format!("{location} can be written")),
        Err(error) => Err(format!("{error}: make it writable, or set data_dir")),
    }
}

/// Checks that a file can be stored, read and deleted.
async fn files(config: &Config) -> Finding {
    // Without settings and user names, so without secrets: an address with them is refused.
    let location = &config.files_url;
    let checked = async { open_file_store(config)?.ready().await };
    match timeout(FILES_TIMEOUT, checked).await {
        Ok(Ok(())) => Ok(format!("{location} can be written and read")),
        Ok(Err(error)) => {
            Err(format!("{}: check files_url and, for s3://, the variables AWS_*", cause(&error)))
        }
        Err(_) => Err(format!("{location} does not answer: check files_url and the variables AWS_*")),
    }
}

/// Checks that a backup can be made, and that there is a new one, if the configuration has times for backups.
async fn backups(config: &Config) -> Finding {
    let ready = async { database_copier(config)?.ready().await };
    // Where the database does not answer, the check of the database reports it.
    let lacks = match timeout(FILES_TIMEOUT, ready).await {
        Ok(Err(error @ Error::Internal(_))) => Some(cause(&error)),
        _ => None,
    };
    let Some(to) = &config.backup_to else {
        let lacks = lacks.map_or_else(String::new, |lacks| format!(" after this: {lacks}"));
        return Ok(format!("backup_to is not set: `civitas backup --to` makes one{lacks}"));
    };
    if let Some(lacks) = lacks {
        return Err(lacks);
    }
    let found = async {
        Ok::<_, Error>(backups_at(config, to)?.newest().await?.as_ref().and_then(BackupName::begun_at))
    };
    let newest = match timeout(FILES_TIMEOUT, found).await {
        Ok(Ok(newest)) => newest,
        Ok(Err(error)) => return Err(format!("{to}: {}: check backup_to", cause(&error))),
        Err(_) => return Err(format!("{to} does not answer: check backup_to and the variables AWS_*")),
    };
    let is_old = newest.is_none_or(|newest| newest < clock::now() - OLD_BACKUP);
    match newest {
        _ if config.backup_times.is_empty() && is_old => {
            Ok(format!("{to} has no backup of the last two days; backup_times is not set"))
        }
        Some(newest) if !is_old => Ok(format!("the newest one in {to} is of {newest}")),
        Some(newest) => Err(format!("the newest one in {to} is of {newest}: see the log of the server")),
        None => Err(format!("{to} has none: see the log of the server, or run `civitas backup`")),
    }
}

fn secret(config: &Config) -> Finding {
    if !config.secret_key.is_empty() {
        return Ok(format!("it is set{}", older(config.secret_key.len())));
    }
    let path = secret_key::path(config);
    match secret_key::read(&path) {
        Ok(keys) => {
            Ok(format!("it is in {}: keep a copy with the backups{}", path.display(), older(keys.count())))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Ok(format!("the first start makes one in {}", path.display()))
        }
        Err(error) => Err(format!("{error}: restore it from a backup, or set secret_key")),
    }
}

fn shares(config: &Config) -> String {
    let shares = Shares::new(config.share_capacity());
    let written = |limit: u64| if limit == u64::MAX { "-".to_owned() } else { limit.to_string() };
    let rows = SharedResource::ALL.map(|share| {
        let ShareLimits { record, client, tenant, process } = shares.limits(share);
        format!("{} {}", share.as_str(), [record, client, tenant, process].map(written).join("/"))
    });
    format!("of a record/API client/organization/process: {}", rows.join(", "))
}

/// What is said about keys after the first one.
fn older(count: usize) -> String {
    match count {
        0 | 1 => String::new(),
        count => {
            format!("; {count} keys are in use: after `civitas key reencrypt`, remove all but the first")
        }
    }
}

/// Checks the clock, which tokens, votes and deadlines depend on.
fn clock_of(config: &Config) -> Finding {
    let now = clock::now();
    if now < EPOCH {
        return Err(format!("it says {}: set it, and run a time service", now.date()));
    }
    let probe = config.data_dir.join(format!(".doctor-clock-{}", std::process::id()));
    let written = fs::write(&probe, "").and_then(|()| fs::metadata(&probe)).and_then(|file| file.modified());
    // The directory may not exist; then the check of the storage reports it.
    let _ = fs::remove_file(&probe);
    match written {
        Ok(at) if (OffsetDateTime::from(at) - now).abs() > TOLERANCE => {
            Err(format!("it differs from that of {}: run a time service on both", config.data_dir.display()))
        }
        _ => Ok(format!("it says {now}", now = now.replace_nanosecond(0).unwrap_or(now))),
    }
}

async fn schema(database: &Database) -> Finding {
    match database.schema().await {
        Ok(schema) => schema.refusal().map_or_else(|| Ok("it is up to date".to_owned()), Err),
        Err(error) => Err(format!("{}: check database_url, and that the database runs", cause(&error))),
    }
}

async fn open(database: &Database, reads_settings: bool) -> Result<(Arc<dyn Store>, String), String> {
    let fault = |error| format!("{}: check database_url, and that the database runs", cause(&error));
    let store = database.clone().without_replicas().open().await.map_err(fault)?;
    store.check_writable().await.map_err(fault)?;
    let missing = if reads_settings { database.missing_settings().await.map_err(fault)? } else { Vec::new() };
    if !missing.is_empty() {
        return Err(format!("{}: {SHARED_SESSIONS}", missing.join("; ")));
    }
    let texts = texts(&*store).await.map_err(fault)?;
    let checked = database.replica_states().await;
    let replicas = checked.map_err(|error| format!("{}: check database_read_url", cause(&error)))?;
    let engine = if database.file().is_some() { "SQLite" } else { "PostgreSQL" };
    let state = [vec![format!("{engine} answers and can be written")], replicas].concat().join("; ");
    Ok((store, format!("{state}{texts}")))
}

/// What the search for words lacks, and what to run.
async fn texts(store: &dyn Store) -> civitas_kernel::Result<String> {
    let statements = store.missing_texts().index_statements().await?;
    let scanned = match statements.as_slice() {
        [] => String::new(),
        statements => format!("; words are searched by scanning: run {}", statements.join(" ")),
    };
    match store.missing_texts().count(None).await {
        Ok(missing @ 1..) => {
            Ok(format!("{scanned}; records without texts: {missing}: run `civitas migrate`"))
        }
        // They are too many to be counted in time.
        Ok(_) | Err(Error::Timeout(_)) => Ok(scanned),
        Err(error) => Err(error),
    }
}

/// Checks that a name server answers and resolves the hosts of the organizations.
async fn dns(config: &Config, hosts: Result<&[String], &String>) -> Finding {
    if let Some(server) = config.dns_server {
        let silent = || format!("{server} does not answer: check dns_server");
        return answers(server).await.then(|| format!("{server} answers")).ok_or_else(silent);
    }
    let hosts = hosts.map_err(String::clone)?;
    let names = hosts.iter().map(String::as_str).chain(["localhost"]);
    let looked_up = join_all(names.map(async |name| (name, resolves(name).await))).await;
    let lost: Vec<&str> = looked_up.into_iter().filter(|(_, found)| !found).map(|(name, _)| name).collect();
    if lost.is_empty() {
        return Ok(format!("the system's resolver knows {} of our hosts", hosts.len()));
    }
    let records = config.loadbalancer_ips.iter().map(IpAddr::to_string).collect::<Vec<_>>().join(", ");
    Err(format!("no address for {}: add records that point at {records}", lost.join(", ")))
}

/// Checks that there is a valid certificate for each host, if the configuration lets a CA make them.
fn certificates(config: &Config, hosts: &[String]) -> Finding {
    if config.tls_acme_email.is_none() {
        return Ok("tls_acme_email is not set: none are made".to_owned());
    }
    let stored = acme::stored_certificates(config).map_err(|error| error.to_string())?;
    let is_valid = |host: &&String| stored.get(*host).is_some_and(|stored| clock::now() < stored.ends_at);
    let names = hosts.iter().filter(|host| acme::is_name(host));
    let lacking: Vec<&str> = names.filter(|host| !is_valid(host)).map(String::as_str).collect();
    if !lacking.is_empty() {
        return Err(format!("none is valid for {}: see the log of the server", lacking.join(", ")));
    }
    Ok(match stored.values().map(|stored| stored.ends_at).min() {
        Some(first) => format!("{} are stored; the first one ends on {}", stored.len(), first.date()),
        None => "none is needed yet".to_owned(),
    })
}

/// Checks that the mail server answers and accepts the credentials. Sends nothing.
async fn mail(config: &Config) -> Finding {
    let (Some(server), Some(sender)) = (&config.smtp_url, &config.mail_from) else {
        return Ok("smtp_url is not set: mails are logged without their links, and not sent".to_owned());
    };
    let smtp = SmtpMailer::new(server, sender).map_err(|fault| fault.to_string())?.with_time_limit(TIMEOUT);
    match smtp.check_connection().await {
        Ok(()) => Ok(format!("the server answers; mails come from {sender}")),
        Err(error) => Err(format!("the server does not take us: {}: check smtp_url", cause(&error))),
    }
}

async fn resolves(host: &str) -> bool {
    host.parse::<IpAddr>().is_ok() || matches!(timeout(TIMEOUT, lookup_host((host, 443))).await, Ok(Ok(_)))
}

/// Queries the name servers of the root (RFC 1035, 4.1); any answer is sufficient.
async fn answers(server: SocketAddr) -> bool {
    const QUESTION: [u8; 17] = [0xC1, 0x71, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 1];
    let here: SocketAddr = if server.is_ipv4() { ([0, 0, 0, 0], 0).into() } else { ([0u16; 8], 0).into() };
    let ask = async {
        let socket = UdpSocket::bind(here).await?;
        socket.connect(server).await?;
        socket.send(&QUESTION).await?;
        socket.recv(&mut [0; 512]).await
    };
    matches!(timeout(TIMEOUT, ask).await, Ok(Ok(length)) if length >= 12)
}
