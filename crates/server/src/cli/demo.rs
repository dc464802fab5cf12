//! `civitas demo`: sets up and serves a platform with demo data.

use super::serve::{Signals, until_stopped};
use super::{CommandError, CommandResult, Console};
use crate::config::{Config, Scheme, SettingSources};
use crate::files;
use crate::store::Database;
use crate::{telemetry, webhooks, wiring};
use civitas_accounts::Secret;
use civitas_application::Store;
use civitas_archive::{self as archive, FileServices, ImportOptions, ImportReport, WebhookArchive};
use civitas_kernel::clock;
use civitas_tokens::Argon2Passwords;
use std::collections::BTreeMap;
use std::io::{self, Cursor, Write};
use std::net::TcpListener;
use std::num::NonZeroU16;

/// The ref of the demo city in the archive.
const CITY: &str = "riverbend";
/// The user of the example vote, and the ref of its proposal.
const VOTER: &str = "tom_baker";
const PROPOSAL: &str = "river-steps";
/// The client of the examples: it has every scope and ability.
const CLIENT: &str = "full-access";

pub(super) async fn run(sources: SettingSources, console: &mut Console<'_>) -> CommandResult {
    let config = configure(sources).map_err(CommandError::Because)?;
    let traces =
        telemetry::start_server_logging(&config).map_err(|error| CommandError::Because(error.to_string()))?;
    let database = Database::from_config(&config);
    let schema = database.schema().await?;
    if let Some(refusal) = schema.refusal().filter(|_| !schema.can_be_migrated()) {
        return Err(CommandError::Because(refusal));
    }
    database.migrate().await?;
    let signals = Signals::listen()?;
    let origin = format!("{}://localhost:{}", scheme(&config).as_str(), config.listen.port());
    let locales = config.locales.clone();
    let objects = files::open_file_store(&config)?;
    let intake = files::open_intake(&config)?;
    let files = FileServices { objects: &objects, intake: &intake, directory: None };
    let (cipher, policy) = (webhooks::webhook_cipher(&config)?, webhooks::target_policy(&config));
    let options = ImportOptions {
        single_label_hosts: true,
        files: Some(files),
        webhooks: Some(WebhookArchive { cipher: &cipher, policy: &policy }),
        allow_operators: true,
        ..ImportOptions::new(&locales, clock::now())
    };
    let running = wiring::start(config).await?;
    // Listens first: if the address were found in use after the import, the secrets would not be printed.
    let first = first_start(&*running.store, options).await?;
    greet(console.stdout, &origin, first.as_ref())?;
    until_stopped(running, traces, signals).await
}

/// Links begin with `http` and have the port, unless configured otherwise.
fn configure(mut sources: SettingSources) -> Result<Config, String> {
    sources.defaults.push(("public_scheme".to_owned(), "http".to_owned()));
    let mut config = Config::load(&sources).map_err(|error| error.to_string())?;
    if config.listen.port() == 0 {
        let free = TcpListener::bind(config.listen).and_then(|listener| listener.local_addr());
        config.listen = free.map_err(|error| error.to_string())?;
    }
    if config.public_scheme == Scheme::Http && config.public_port.is_none() {
        config.public_port = NonZeroU16::new(config.listen.port());
    }
    Ok(config)
}

fn scheme(config: &Config) -> Scheme {
    if config.is_https() { Scheme::Https } else { Scheme::Http }
}

/// Data that is available at the first start only.
struct FirstStart {
    admin: String,
    password: Secret,
    /// By ref: the `client_id` of each client and its secret.
    clients: BTreeMap<String, (String, String)>,
    /// The proposal of the example.
    proposal: i64,
}

/// Imports the demo into an empty database; `None` when it has an organization already.
async fn first_start(store: &dyn Store, options: ImportOptions<'_>) -> CommandResult<Option<FirstStart>> {
    if !store.organizations().ids(None, 1).await?.is_empty() {
        return Ok(None);
    }
    let passwords = Argon2Passwords::without_wait_limit();
    let demo = Cursor::new(archive::demo_archive());
    let report = archive::import_seekable(store, &passwords, demo, options, &mut |_| ()).await;
    let report = report?;
    let admins = store.administrators().page_after(None, 1).await?;
    let Some((_, admin)) = admins.into_iter().next() else {
        return Err(CommandError::Because("the demo has no administrator".to_owned()));
    };
    let (admin, password) = (admin.email, Secret::random("", 20));
    super::admin::set_password(store, &passwords, &admin, &password).await?;
    let clients = clients(store, &report).await?;
    let proposal = row(&report, "proposal", PROPOSAL);
    Ok(Some(FirstStart { admin, password, clients, proposal }))
}

async fn clients(
    store: &dyn Store,
    report: &ImportReport,
) -> civitas_kernel::Result<BTreeMap<String, (String, String)>> {
    let mut clients = BTreeMap::new();
    for (reference, secret) in report.secrets.get("api_client").into_iter().flatten() {
        let id = civitas_kernel::ClientId(row(report, "api_client", reference));
        if let Some(client) = store.clients().find(id).await? {
            clients.insert(reference.clone(), (client.uid, secret.clone()));
        }
    }
    Ok(clients)
}

/// The id of a record of the city.
fn row(report: &ImportReport, kind: &str, reference: &str) -> i64 {
    let city = report.refs.get(CITY).and_then(|city| city.get(kind));
    city.and_then(|rows| rows.get(reference)).copied().unwrap_or_default()
}

fn greet(out: &mut (dyn Write + Send), origin: &str, first: Option<&FirstStart>) -> io::Result<()> {
    let base = format!("{origin}/api/rest_full/v0.3");
    writeln!(out, "Civitas is ready.\n")?;
    writeln!(out, "  API             {base}/")?;
    writeln!(out, "  Documentation   {base}/docs")?;
    writeln!(out, "  Panel           {origin}/system")?;
    let Some(first) = first else {
        writeln!(
            out,
            "\nThe data of the last start is kept; the credentials were printed at the first start."
        )?;
        writeln!(out, "New ones: `civitas api-client create --help`, `civitas admin create --help`.\n")?;
        return out.flush();
    };
    writeln!(out, "  Panel account   {}   {}", first.admin, first.password.expose())?;
    for (uid, secret) in first.clients.values() {
        writeln!(out, "  API client      {uid}   {secret}")?;
    }
    writeln!(out, "\nThese secrets are kept hashed and not printed again. Try:\n")?;
    if let Some((uid, secret)) = first.clients.get(CLIENT) {
        writeln!(
            out,
            "TOKEN=$(curl -s {origin}/oauth/token -d grant_type=password -d auth_type=impersonate \
             -d username={VOTER} -d client_id={uid} -d client_secret={secret} -d 'scope=public proposals' \
             | sed 's/.*\"access_token\":\"\\([^\"]*\\)\".*/\\1/')"
        )?;
        writeln!(out, "curl -s -H \"Authorization: Bearer $TOKEN\" '{base}/components/search?per_page=3'")?;
        writeln!(
            out,
            "curl -s -H \"Authorization: Bearer $TOKEN\" -H 'Content-Type: application/json' \
             -d '{{\"proposal_id\": {}, \"data\": {{\"weight\": 1}}}}' {base}/vote_proposals/sync",
            first.proposal
        )?;
    }
    writeln!(out)?;
    out.flush()
}
