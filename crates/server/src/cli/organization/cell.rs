//! One of the deployments of a move.

use super::super::archive::ArchiveCipher;
use super::super::{CommandResult, Console, command_error, open_store};
use super::{PAGE, SEARCH, failure};
use crate::config::Config;
use crate::{files, webhooks};
use civitas_application::{Store, Transaction};
use civitas_archive::{
    ExportOptions, ExportServices, FileServices, ImportOptions, WebhookArchive, export, import_seekable,
};
use civitas_files::FileStorage;
use civitas_jobs::{JobLogFilter, JobStatus};
use civitas_kernel::{LogRequest, LogStart, OrganizationId, clock};
use civitas_organizations::MoveState;
use civitas_tokens::Argon2Passwords;
use ring::digest::{Context, Digest, SHA256};
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The longest wait for the jobs of the organization.
const MAX_JOB_WAIT: Duration = Duration::from_secs(60);
/// The rows of one statement that deletes.
const BATCH: i64 = 1_000;

/// An organization, and the state of its move.
type FoundOrganization = (OrganizationId, Option<MoveState>);

/// A deployment.
pub(super) struct Cell {
    pub(super) config: Config,
    pub(super) store: Arc<dyn Store>,
    objects: FileStorage,
}

/// The state of an organization in a transaction: `None` when no organization has the host.
pub(super) async fn state_in(tx: &dyn Transaction, host: &str) -> CommandResult<Option<FoundOrganization>> {
    let Some(id) = tx.organizations().find_by_host(host).await.map_err(command_error)? else {
        return Ok(None);
    };
    tx.organizations().find_for_update(id).await.map_err(command_error)?;
    let tenant = tx.organizations().tenant(id).await.map_err(command_error)?;
    Ok(tenant.map(|tenant| (id, tenant.move_state)))
}

impl Cell {
    pub(super) async fn open(config: Config) -> CommandResult<Self> {
        let objects = files::open_file_store(&config).map_err(command_error)?;
        Ok(Self { store: open_store(&config).await?, config, objects })
    }

    /// The organization with this primary host, and its state.
    pub(super) async fn find(&self, host: &str) -> CommandResult<Option<FoundOrganization>> {
        let tx = self.store.begin().await.map_err(command_error)?;
        let found = state_in(&*tx, host).await;
        tx.rollback().await;
        found
    }

    /// Changes the state, if it is one of these.
    pub(super) async fn change_state(
        &self,
        host: &str,
        from: &[Option<MoveState>],
        to: Option<MoveState>,
    ) -> CommandResult {
        let tx = self.store.begin().await.map_err(command_error)?;
        match state_in(&*tx, host).await? {
            Some((id, state)) if from.contains(&state) => {
                tx.organizations().set_move_state(id, to).await.map_err(command_error)?;
                tx.commit().await.map_err(command_error)
            }
            _ => Err(failure(format!("another command has changed the state of {host}"))),
        }
    }

    /// Removes the organization, which must not be served, and all rows of removed ones.
    pub(super) async fn remove(&self, host: &str) -> CommandResult {
        let tx = self.store.begin().await.map_err(command_error)?;
        match state_in(&*tx, host).await? {
            None => tx.rollback().await,
            Some((id, Some(MoveState::Left | MoveState::Arriving))) => {
                tx.removals().remove_organization(id).await.map_err(command_error)?;
                tx.commit().await.map_err(command_error)?;
            }
            Some(_) => return Err(failure(format!("{host} is served: it is not deleted"))),
        }
        while self.store.removals().remove_rows(BATCH).await.map_err(command_error)? > 0 {}
        Ok(())
    }

    /// Whether a job of the organization waits or runs.
    pub(super) async fn has_jobs(&self, id: OrganizationId) -> CommandResult<bool> {
        for status in [JobStatus::Pending, JobStatus::Processing] {
            let filter =
                JobLogFilter { organization: Some(id), status: Some(status), ..JobLogFilter::default() };
            let request = LogRequest { start: LogStart::Newest, limit: 1 };
            let found = self.store.job_log().list(&filter, request).await.map_err(command_error)?;
            if !found.items.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    pub(super) async fn wait_for_jobs(&self, id: OrganizationId) -> CommandResult {
        let begun = Instant::now();
        while self.has_jobs(id).await? {
            if begun.elapsed() > MAX_JOB_WAIT {
                return Err(failure("jobs of the organization do not end"));
            }
            tokio::time::sleep(SEARCH).await;
        }
        Ok(())
    }

    /// Writes the archive of the organization, with ids and secrets.
    pub(super) async fn export(&self, host: &str, to: impl Write + Send) -> CommandResult<Summary> {
        let options = export_options(host);
        let cipher = ArchiveCipher::new(&self.config);
        let services = ExportServices { objects: &self.objects, cipher: &cipher };
        let mut writer =
            SummingWriter { to: BufWriter::new(to), context: Context::new(&SHA256), lines: 0, bytes: 0 };
        export(&*self.store, services, &options, &mut writer).await.map_err(command_error)?;
        let SummingWriter { context, lines, bytes, .. } = writer;
        Ok(Summary { digest: context.finish(), lines, bytes })
    }

    /// Imports the archive of the organization, which is not served then: all of it, or nothing.
    pub(super) async fn import(&self, host: &str, archive: File) -> CommandResult {
        let intake = files::open_intake(&self.config).map_err(command_error)?;
        let (cipher, policy) = (ArchiveCipher::new(&self.config), webhooks::target_policy(&self.config));
        let options = ImportOptions {
            single_label_hosts: true,
            files: Some(FileServices { objects: &self.objects, intake: &intake, directory: None }),
            webhooks: Some(WebhookArchive { cipher: &cipher, policy: &policy }),
            into: Some(host),
            keep_ids: true,
            is_moved: true,
            ..ImportOptions::new(&self.config.locales, clock::now())
        };
        let passwords = Argon2Passwords::without_wait_limit();
        let archive = BufReader::new(archive);
        let imported = import_seekable(&*self.store, &passwords, archive, options, &mut |_| {}).await;
        imported.map(drop).map_err(command_error)
    }

    pub(super) async fn print_hosts(&self, backend: &str, console: &mut Console<'_>) -> CommandResult {
        let (organizations, mut after) = (self.store.organizations(), None);
        loop {
            let ids = organizations.ids(after, PAGE).await.map_err(command_error)?;
            let Some(last) = ids.last() else { return Ok(()) };
            after = Some(*last);
            for id in ids {
                let tenant = organizations.tenant(id).await.map_err(command_error)?;
                let found = organizations.find(id).await.map_err(command_error)?;
                let is_served = tenant.is_some_and(|tenant| tenant.check_served().is_ok());
                let Some(found) = found.filter(|_| is_served) else { continue };
                let is_confirmed = |host: &&String| !found.unconfirmed_secondary_hosts.contains(host);
                let hosts = found.secondary_hosts.iter().filter(is_confirmed);
                for host in std::iter::once(&found.host).chain(hosts) {
                    console.print(format_args!("{host} {backend}"))?;
                }
            }
        }
    }
}

/// The options of the archive of a move.
pub(super) fn export_options(host: &str) -> ExportOptions {
    ExportOptions { organization: Some(host.to_owned()), with_secrets: true, with_ids: true }
}

/// What was exported.
pub(super) struct Summary {
    digest: Digest,
    pub(super) lines: u64,
    pub(super) bytes: u64,
}

impl Summary {
    pub(super) fn equals(&self, other: &Self) -> bool {
        self.digest.as_ref() == other.digest.as_ref()
    }
}

/// Computes the digest of what it writes.
struct SummingWriter<W> {
    to: W,
    context: Context,
    lines: u64,
    bytes: u64,
}

impl<W: Write> Write for SummingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.to.write(bytes)?;
        let bytes = &bytes[..written];
        self.context.update(bytes);
        self.lines += bytes.iter().map(|byte| u64::from(*byte == b'\n')).sum::<u64>();
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}
