//! Import: reads an archive into the database, line by line, in two passes.

use super::check::check;
use super::context::{ImportContext, ImportOptions, ImportedRecord, RecordType};
use super::error::{ImportError, RecordError};
use super::files::{ImportedFiles, delete_objects};
use super::lines::Lines;
use super::passwords::PreparedPasswords;
use super::progress::{Pass, Progress};
use super::record::{self, Head, Record};
use super::refs::{RecordId, Refs, unknown};
use super::report::{Outcome, Report};
use super::target::Target;
use super::types;
use crate::{Store, Transaction};
use civitas_accounts::Passwords;
use civitas_audit::{Action, Actor, Record as AuditRecord};
use civitas_kernel::{Error, OrganizationId};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, Write};

/// One import.
struct Import<'a> {
    transaction: &'a dyn Transaction,
    types: Vec<Box<dyn RecordType>>,
    context: ImportContext<'a>,
    prepared: PreparedPasswords,
    target: Option<Target>,
}

/// Reads an archive from a stream into the database (contract 10 §1): checks all lines and copies them to a temporary
/// file, then writes their records as [`import_seekable`] does.
///
/// # Errors
/// As [`import_seekable`].
pub async fn import(
    store: &dyn Store,
    passwords: &dyn Passwords,
    input: impl BufRead + Send,
    options: ImportOptions<'_>,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<Report, ImportError> {
    let mut copy = tempfile::tempfile().map_err(not_readable_again)?;
    let mut copied = BufReader::new(Copied { input, copy: BufWriter::new(&mut copy) });
    let prepared = check(store, passwords, &mut copied, options, progress).await?;
    copied.into_inner().copy.flush().map_err(not_readable_again)?;
    copy.rewind().map_err(not_readable_again)?;
    write(store, passwords, BufReader::new(copy), (options, prepared), progress).await
}

/// Reads an archive into the database (contract 10 §1), twice: first all lines are checked and passwords are hashed,
/// without a transaction; then the records are written in one transaction.
///
/// A record with a known ref updates its row with the members it has; equal values change nothing. Events are
/// discarded unless there is an announcer. Memory is bounded for files of any length. `progress` is called after
/// each line of each pass.
///
/// # Errors
/// [`ImportError::Line`] for the first invalid line, [`ImportError::Store`] when the database fails.
pub async fn import_seekable(
    store: &dyn Store,
    passwords: &dyn Passwords,
    mut input: impl BufRead + Seek + Send,
    options: ImportOptions<'_>,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<Report, ImportError> {
    let prepared = check(store, passwords, &mut input, options, progress).await?;
    input.rewind().map_err(not_readable_again)?;
    write(store, passwords, input, (options, prepared), progress).await
}

/// A stream whose bytes are copied to a file when they are read.
struct Copied<R, W> {
    input: R,
    copy: W,
}

impl<R: Read, W: Write> Read for Copied<R, W> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let length = self.input.read(to)?;
        self.copy.write_all(&to[..length])?;
        Ok(length)
    }
}

/// The archive cannot be copied, or not read again.
fn not_readable_again(error: io::Error) -> ImportError {
    ImportError::Store(0, Error::internal(error))
}

/// The second pass: writes the records in one transaction.
async fn write(
    store: &dyn Store,
    passwords: &dyn Passwords,
    input: impl BufRead + Send,
    (options, prepared): (ImportOptions<'_>, PreparedPasswords),
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<Report, ImportError> {
    let transaction = store.begin().await.map_err(|error| ImportError::Store(0, error))?;
    let context = ImportContext {
        ports: &*transaction,
        passwords,
        password: None,
        options,
        refs: Refs::new(&*transaction),
        report: Report::default(),
        reference: String::new(),
        files: ImportedFiles::new(options.files, options.dry_run),
    };
    let target = options.into.map(Target::new);
    let mut import = Import { transaction: &*transaction, types: types::all(), context, prepared, target };
    let done = match import.run(Lines::new(input), progress).await {
        Ok(()) => import.record().await.map_err(|error| ImportError::Store(0, error)),
        Err(error) => Err(error),
    };
    let Import { context: ImportContext { files, report, .. }, .. } = import;
    let (done, stored) = (done.map(|()| report), files.into_stored());
    if done.is_err() || options.dry_run {
        transaction.rollback().await;
        delete_objects(options.files, &stored).await;
    } else {
        let committed = transaction.commit().await;
        if committed.is_err() {
            delete_objects(options.files, &stored).await;
        }
        committed.map_err(|error| ImportError::Store(0, error))?;
        // The records are committed even if this fails.
        if let Err(error) = store.analyze().await {
            tracing::warn!(%error, "the table statistics could not be updated; reads may be slow until they are");
        }
    }
    done
}

impl Import<'_> {
    /// The entry of the audit trail, if the archive changed anything.
    async fn record(&self) -> civitas_kernel::Result<()> {
        let ImportContext { report, options, .. } = &self.context;
        let sum = |counts: &BTreeMap<&str, u64>| counts.values().sum::<u64>();
        let (created, updated) = (sum(&report.created), sum(&report.updated));
        if created + updated == 0 {
            return Ok(());
        }
        let mut record = AuditRecord::new(Actor::Archive, Action::ArchiveImported)
            .changed("created", None, Some(&created.to_string()))
            .changed("updated", None, Some(&updated.to_string()));
        if let Some(host) = options.into {
            record = record.on("organization", "", host);
        }
        self.transaction.audit().append(&record, options.now).await.map(drop)
    }

    async fn run(
        &mut self,
        mut lines: Lines<impl BufRead + Send>,
        progress: &mut (dyn FnMut(Progress) + Send),
    ) -> Result<(), ImportError> {
        if let Some(target) = &mut self.target {
            target.find(self.context.ports).await.map_err(|error| ImportError::Store(0, error))?;
        }
        loop {
            let (line, count) = match lines.next() {
                Ok(None) => return Ok(()),
                Ok(Some(line)) => (record::read(line), lines.count),
                Err(error) => return Err(RecordError::from(error.to_string()).at(lines.count, None)),
            };
            let (head, members) = line.map_err(|error| error.at(count, None))?;
            self.context.files.long_texts = lines.long_texts();
            self.context.password =
                self.prepared.take(count).map_err(|error| ImportError::Store(count, error))?;
            self.import_record(&head, members)
                .await
                .map_err(|error| error.at(count, Some((head.kind, head.reference))))?;
            progress(Progress { pass: Pass::Write, lines: lines.count, bytes: lines.bytes });
        }
    }

    async fn import_record(&mut self, head: &Head, members: Map<String, Value>) -> Result<(), RecordError> {
        let Self { transaction, types, context, target, .. } = self;
        let kind = types::find(types, &head.kind);
        let kind = kind.ok_or_else(|| format!("type {:?} is not known", head.kind))?;
        let name = kind.name();
        let organization = match &head.organization {
            Some(reference) => Some(find_organization(context, reference).await?),
            None => None,
        };
        if let Some(target) = target.as_ref().filter(|_| name != types::ORGANIZATION) {
            target.check(organization)?;
        }
        let existing_id = context.refs.find(organization, name, &head.reference).await?;
        context.reference.clone_from(&head.reference);
        let record = Record { organization, existing_id: existing_id.clone(), members };
        let imported = kind.import(context, record).await?;
        if let Some(target) = target.as_mut().filter(|_| name == types::ORGANIZATION) {
            target.check_organization(context.ports, &imported).await?;
        }
        if existing_id.as_ref() != Some(&imported.id) {
            context.refs.add(organization, name, &head.reference, &imported.id).await?;
        }
        add_to_report(&mut context.report, name, head, &imported);
        if imported.outcome == Outcome::Updated {
            for kind in types {
                kind.invalidate(name);
            }
        }
        match context.options.announcer {
            Some(announcer) => announcer.render_recorded_events(*transaction, context.options.now).await?,
            None => drop(transaction.announced()),
        }
        Ok(())
    }
}

async fn find_organization(
    context: &mut ImportContext<'_>,
    reference: &str,
) -> Result<OrganizationId, RecordError> {
    let id = context.refs.find(None, types::ORGANIZATION, reference).await?;
    id.as_deref().and_then(OrganizationId::parse).ok_or_else(|| unknown(types::ORGANIZATION, reference))
}

fn add_to_report(report: &mut Report, name: &'static str, head: &Head, imported: &ImportedRecord) {
    report.count(name, imported.outcome);
    let own_reference = (name == types::ORGANIZATION).then_some(head.reference.as_str());
    let organization = head.organization.as_deref().or(own_reference).unwrap_or_default();
    let in_id = || imported.id.rsplit('/').next().and_then(|number| number.parse().ok());
    let number = imported.number.or_else(in_id).unwrap_or_default();
    report.add_id(organization, name, &head.reference, number);
}
