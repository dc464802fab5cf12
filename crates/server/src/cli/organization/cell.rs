//! One of the deployments of a move.

use super::super::archive::ArchiveCipher;
use super::super::{CommandResult, open_store};
use super::{SEARCH, failure};
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
use ring::digest::{Context, SHA256};
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
    let Some(id) = tx.organizations().find_by_host(host).await? else {
        return Ok(None);
    };
    tx.organizations().find_for_update(id).await?;
    let tenant = tx.organizations().tenant(id).await?;
    Ok(tenant.map(|tenant| (id, tenant.move_state)))
}

impl Cell {
    pub(super) async fn open(config: Config) -> CommandResult<Self> {
        let objects = files::open_file_store(&config)?;
        Ok(Self { store: open_store(&config).await?, config, objects })
    }

    /// The organization with this primary host, and its state.
    pub(super) async fn find(&self, host: &str) -> CommandResult<Option<FoundOrganization>> {
        let tx = self.store.begin().await?;
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
        let tx = self.store.begin().await?;
        match state_in(&*tx, host).await? {
            Some((id, state)) if from.contains(&state) => {
                tx.organizations().set_move_state(id, to).await?;
                Ok(tx.commit().await?)
            }
            _ => Err(failure(format!("another command has changed the state of {host}"))),
        }
    }

    /// Removes the organization, which must not be served, and all rows of removed ones.
    pub(super) async fn remove(&self, host: &str) -> CommandResult {
        let tx = self.store.begin().await?;
        match state_in(&*tx, host).await? {
            None => tx.rollback().await,
            Some((id, Some(MoveState::Left | MoveState::Arriving))) => {
                tx.removals().remove_organization(id).await?;
                tx.commit().await?;
            }
            Some(_) => return Err(failure(format!("{host} is served: it is not deleted"))),
        }
        while self.store.removals().remove_rows(BATCH).await? > 0 {}
        Ok(())
    }

    /// Whether a job of the organization waits or runs.
    pub(super) async fn has_jobs(&self, id: OrganizationId) -> CommandResult<bool> {
        for status in [JobStatus::Pending, JobStatus::Processing] {
            let filter =
                JobLogFilter { organization: Some(id), status: Some(status), ..JobLogFilter::default() };
            let request = LogRequest { start: LogStart::Newest, limit: 1 };
            let found = self.store.job_log().list(&filter, request).await?;
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

    /// Writes the archive of the organization, with ids and secrets. Returns its digest.
    pub(super) async fn export(&self, host: &str, to: impl Write + Send) -> CommandResult<Vec<u8>> {
        let cipher = ArchiveCipher::new(&self.config);
        let services = ExportServices { objects: &self.objects, cipher: &cipher };
        let mut writer = DigestWriter { to: BufWriter::new(to), digest: Context::new(&SHA256) };
        export(&*self.store, services, &export_options(host), &mut writer).await?;
        Ok(writer.digest.finish().as_ref().to_vec())
    }

    /// Imports the archive of the organization, which is not served then: all of it, or nothing. Returns the number of its
    /// records.
    pub(super) async fn import(&self, host: &str, archive: File) -> CommandResult<u64> {
        let intake = files::open_intake(&self.config)?;
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
        let report = import_seekable(&*self.store, &passwords, archive, options, &mut |_| {}).await?;
        Ok(report.created.values().sum())
    }
}

/// The options of the archive of a move.
pub(super) fn export_options(host: &str) -> ExportOptions {
    ExportOptions { organization: Some(host.to_owned()), with_secrets: true, with_ids: true }
}

/// Computes the digest of what it writes.
struct DigestWriter<W> {
    to: W,
    digest: Context,
}

impl<W: Write> Write for DigestWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.to.write(bytes)?;
        self.digest.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}
