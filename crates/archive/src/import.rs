//! Import: reads an archive into the database, line by line, in two passes.

use super::check::{CheckedArchive, check, references};
use super::chunk::{ImportLine, LineChunk};
use super::context::{ImportContext, ImportOptions, ImportedRecord, RecordType};
use super::error::{ImportError, RecordError};
use super::files::{ImportedFiles, delete_objects};
use super::first_record::FirstRecord;
use super::ids::{ArchiveIds, number_in};
use super::prepared::{PreparedFile, PreparedLines};
use super::progress::{ImportPass, ImportProgress};
use super::reader::{ChunkReader, PreparedData};
use super::record::{ARCHIVE, ArchiveRecord, RecordHead};
use super::refs::{RecordId, RefResolver, unknown_ref};
use super::report::{ImportReport, RecordOutcome};
use super::stored_files::{discard, store_files};
use super::target::ImportTarget;
use super::types;
use civitas_accounts::Passwords;
use civitas_application::{Store, Transaction, index_texts};
use civitas_audit::{Action, Actor, NewAuditEntry};
use civitas_kernel::{Error, OrganizationId};
use civitas_organizations::MoveState;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, Write};
use tokio::sync::watch;

/// One import.
struct ImportRun<'a> {
    transaction: &'a dyn Transaction,
    types: Vec<Box<dyn RecordType>>,
    context: ImportContext<'a>,
    target: Option<ImportTarget>,
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
    progress: &mut (dyn FnMut(ImportProgress) + Send),
) -> Result<ImportReport, ImportError> {
    let mut copy = tempfile::tempfile().map_err(not_readable_again)?;
    let mut copied = BufReader::new(CopyingReader { input, copy: BufWriter::new(&mut copy) });
    let checked = check(store, passwords, &mut copied, options, progress).await?;
    copied.into_inner().copy.flush().map_err(not_readable_again)?;
    import_checked(store, passwords, BufReader::new(copy), (options, checked), progress).await
}

/// Reads an archive into the database (contract 10 §1), twice: first all lines are checked, passwords are hashed and the
/// bytes of files are stored, without a transaction; then the records are written in one transaction. An archive with
/// files is read once more for them. With [`ImportOptions::expected`] all is read once more before the commit, and compared.
///
/// A record with a known ref updates its row with the members it has; equal values change nothing. Events are
/// discarded unless there is a committer. Memory is bounded for files of any length. `progress` is called after
/// each line of each pass.
///
/// # Errors
/// [`ImportError::Line`] for the first invalid line, [`ImportError::Store`] when the database fails.
pub async fn import_seekable(
    store: &dyn Store,
    passwords: &dyn Passwords,
    mut input: impl BufRead + Seek + Send + 'static,
    options: ImportOptions<'_>,
    progress: &mut (dyn FnMut(ImportProgress) + Send),
) -> Result<ImportReport, ImportError> {
    let checked = check(store, passwords, &mut input, options, progress).await?;
    import_checked(store, passwords, input, (options, checked), progress).await
}

/// Stores the files of an archive that was checked, then writes its records.
async fn import_checked(
    store: &dyn Store,
    passwords: &dyn Passwords,
    mut input: impl BufRead + Seek + Send + 'static,
    (options, checked): (ImportOptions<'_>, CheckedArchive),
    progress: &mut (dyn FnMut(ImportProgress) + Send),
) -> Result<ImportReport, ImportError> {
    let mut files = PreparedLines::default();
    input.rewind().map_err(not_readable_again)?;
    if let Some(services) = options.files.filter(|_| checked.has_files) {
        files = store_files(store, services, &mut input, options).await?;
    }
    let prepared = PreparedData { passwords: checked.passwords, files };
    write(store, passwords, input, (options, prepared), progress).await
}

/// A stream whose bytes are copied to a file when they are read.
struct CopyingReader<R, W> {
    input: R,
    copy: W,
}

impl<R: Read, W: Write> Read for CopyingReader<R, W> {
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
    input: impl BufRead + Seek + Send + 'static,
    (options, prepared): (ImportOptions<'_>, PreparedData),
    progress: &mut (dyn FnMut(ImportProgress) + Send),
) -> Result<ImportReport, ImportError> {
    let transaction = match store.begin_long().await {
        Ok(transaction) => transaction,
        Err(error) => {
            discard(prepared.files, store, options.files).await;
            return Err(ImportError::Store(0, error));
        }
    };
    let context = ImportContext {
        ports: &*transaction,
        passwords,
        password: None,
        options,
        refs: RefResolver::new(&*transaction),
        report: ImportReport::new(options.list_all_ids),
        reference: String::new(),
        ids: ArchiveIds::new(options.keep_ids),
        files: ImportedFiles::new(options.files, options.dry_run),
    };
    let target = options.into.map(ImportTarget::new);
    let mut import =
        ImportRun { transaction: &*transaction, types: types::all_record_types(), context, target };
    let (done, prepared) = import.read(input, prepared, progress).await;
    let done = match done {
        Ok(()) => import.record().await.map_err(|error| ImportError::Store(0, error)),
        Err(error) => Err(error),
    };
    let ImportContext { files, report, .. } = import.context;
    let stored = files.into_stored();
    let ended = match done {
        Ok(()) if !options.dry_run => {
            transaction.commit().await.map(|()| report).map_err(|error| ImportError::Store(0, error))
        }
        done => {
            transaction.rollback().await;
            done.map(|()| report)
        }
    };
    if ended.is_err() || options.dry_run {
        delete_objects(options.files, &stored).await;
        discard(prepared, store, options.files).await;
    } else {
        prepare_reads(store, options).await;
    }
    ended
}

/// After the commit: indexes the new texts, which searches would compare one by one, and updates the statistics of tables. The
/// texts of an organization that is moved are indexed after its read-only time.
async fn prepare_reads(store: &dyn Store, options: ImportOptions<'_>) {
    let (_sender, stop) = watch::channel(false);
    if !options.is_moved
        && let Err(error) = index_texts(store, stop).await
    {
        tracing::warn!(%error, "texts could not be indexed; searches are slow until a server has indexed them");
    }
    if let Err(error) = store.analyze().await {
        tracing::warn!(%error, "the table statistics could not be updated; reads may be slow until they are");
    }
}

impl ImportRun<'_> {
    /// The entry of the audit trail, if the archive changed anything.
    async fn record(&self) -> civitas_kernel::Result<()> {
        let ImportContext { report, options, .. } = &self.context;
        let sum = |counts: &BTreeMap<&str, u64>| counts.values().sum::<u64>();
        let (created, updated) = (sum(&report.created), sum(&report.updated));
        if created + updated == 0 {
            return Ok(());
        }
        let mut record = NewAuditEntry::new(Actor::Archive, Action::ArchiveImported)
            .with_change("created", None, Some(&created.to_string()))
            .with_change("updated", None, Some(&updated.to_string()));
        if let Some(host) = options.into {
            record = record.with_object("organization", "", host);
        }
        self.transaction.audit().append(&record, options.now).await.map(drop)
    }

    /// Imports all lines, and compares them with their rows if there are expected numbers. Gives back the prepared files.
    async fn read(
        &mut self,
        input: impl BufRead + Seek + Send + 'static,
        prepared: PreparedData,
        progress: &mut (dyn FnMut(ImportProgress) + Send),
    ) -> (Result<(), ImportError>, PreparedLines<PreparedFile>) {
        let mut chunks = ChunkReader::start(input, prepared);
        let mut done = self.run(&mut chunks, progress).await;
        let mut ended = chunks.end().await;
        if let (Ok(()), Some(expected)) = (&done, self.context.options.expected) {
            ended = match ended {
                Ok((input, prepared)) => {
                    let mut chunks = ChunkReader::start(input, prepared);
                    done = self.verify(&mut chunks, expected).await;
                    chunks.end().await
                }
                failed => failed,
            };
        }
        // Without its end the archive would seem to end where the reading stopped.
        match ended {
            Ok((_, prepared)) => (done, prepared.files),
            Err(error) => (done.and(Err(ImportError::Store(0, error))), PreparedLines::default()),
        }
    }

    async fn run(
        &mut self,
        chunks: &mut ChunkReader<impl BufRead + Seek + Send + 'static>,
        progress: &mut (dyn FnMut(ImportProgress) + Send),
    ) -> Result<(), ImportError> {
        if let Some(target) = &mut self.target {
            target.find(self.context.ports).await.map_err(|error| ImportError::Store(0, error))?;
        }
        while let Some(chunk) = chunks.next().await? {
            self.import_chunk(chunk, progress).await?;
        }
        self.finish().await.map_err(|error| error.at_line(chunks.lines, None))
    }

    /// Imports the records of a chunk together if that is possible, otherwise one by one: then the first invalid one ends
    /// the import with its error.
    async fn import_chunk(
        &mut self,
        chunk: LineChunk,
        progress: &mut (dyn FnMut(ImportProgress) + Send),
    ) -> Result<(), ImportError> {
        let mut lines = chunk.into_lines();
        let is_done = match self.import_batch(&mut lines).await {
            Ok(is_done) => is_done,
            Err(error) => return Err(error.at_line(lines.first().map_or(0, |line| line.count), None)),
        };
        for line in lines {
            let at = ImportProgress { pass: ImportPass::Write, lines: line.count, bytes: line.bytes };
            if !is_done {
                let (head, count) = (line.head.clone(), line.count);
                let imported = self.import_record(line).await;
                imported.map_err(|error| error.at_line(count, Some((head.kind, head.reference))))?;
            }
            progress(at);
        }
        Ok(())
    }

    /// Adds new records with few statements. Whether it did: nothing is written when one of them is invalid, exists, or
    /// has to be added alone. Also reads the rows that the records refer to.
    async fn import_batch(&mut self, lines: &mut [ImportLine]) -> Result<bool, RecordError> {
        let Self { transaction, types, context, target, .. } = self;
        let [first, _, ..] = &*lines else { return Ok(false) };
        let kind = types::find_record_type(types, &first.head.kind);
        let (Some(kind), Some(organization)) = (kind, &first.head.organization) else { return Ok(false) };
        let Ok(organization) = find_organization(context, organization).await else { return Ok(false) };
        load_references(&mut context.refs, organization, lines).await?;
        let is_accepted = target.as_ref().is_none_or(|target| target.check(Some(organization)).is_ok());
        if !is_accepted || context.options.committer.is_some() {
            return Ok(false);
        }
        let name = kind.name();
        let references: Vec<&str> = lines.iter().map(|line| line.head.reference.as_str()).collect();
        if context.refs.has_any(organization, name, &references).await? {
            return Ok(false);
        }
        for line in &mut *lines {
            line.record.organization = Some(organization);
        }
        let Some(imported) = kind.import_batch(context, lines).await? else { return Ok(false) };
        let ids = lines.iter().zip(&imported);
        let ids: Vec<_> = ids.map(|(line, one)| (line.head.reference.as_str(), one.id.clone())).collect();
        context.refs.add_many(organization, name, &ids).await?;
        for (line, imported) in lines.iter().zip(&imported) {
            add_to_report(&mut context.report, name, &line.head, imported);
        }
        drop(transaction.take_events());
        Ok(true)
    }

    /// One more pass: compares each record with its row, and the number of records with the expected one.
    async fn verify(
        &mut self,
        chunks: &mut ChunkReader<impl BufRead + Seek + Send + 'static>,
        expected: &BTreeMap<&str, u64>,
    ) -> Result<(), ImportError> {
        let report = std::mem::take(&mut self.context.report);
        while let Some(chunk) = chunks.next().await? {
            let mut lines = chunk.into_lines();
            let first = lines.first().map_or(0, |line| line.count);
            let are_stored = self.are_stored(&mut lines).await.map_err(|error| error.at_line(first, None))?;
            for line in lines.into_iter().filter(|_| !are_stored) {
                let (head, count) = (line.head.clone(), line.count);
                let is_stored = self.is_stored(line).await;
                is_stored.map_err(|error| error.at_line(count, Some((head.kind, head.reference))))?;
            }
        }
        let numbers = report.check_numbers(expected);
        self.context.report = report;
        numbers.map_err(|reason| RecordError::from(reason).at_line(chunks.lines, None))
    }

    /// Whether the rows of these records, read together, are as the records say. `false`: they are read one by one.
    async fn are_stored(&mut self, lines: &mut [ImportLine]) -> Result<bool, RecordError> {
        let Self { types, context, .. } = self;
        let Some(RecordHead { kind, organization, .. }) = lines.first().map(|line| &line.head) else {
            return Ok(true);
        };
        let (Some(kind), Some(organization)) = (types::find_record_type(types, kind), organization) else {
            return Ok(false);
        };
        let (name, organization) = (kind.name(), find_organization(context, organization).await?);
        load_references(&mut context.refs, organization, lines).await?;
        let references = lines.iter().map(|line| line.head.reference.as_str()).collect();
        context.refs.load(organization, name, &references).await?;
        for line in &mut *lines {
            let existing_id = context.refs.find(Some(organization), name, &line.head.reference).await?;
            line.record.organization = Some(organization);
            line.record.existing_id = existing_id;
        }
        match kind.are_stored(context, lines).await {
            Err(RecordError::Invalid(_)) => Ok(false),
            are_stored => are_stored,
        }
    }

    /// An error unless the import of a record that was imported before changes nothing.
    async fn is_stored(&mut self, line: ImportLine) -> Result<(), RecordError> {
        self.import_record(line).await?;
        let is_stored = std::mem::take(&mut self.context.report).is_unchanged();
        if is_stored { Ok(()) } else { Err("the row is not as the record says".into()) }
    }

    /// Writes what follows from all records.
    async fn finish(&mut self) -> Result<(), RecordError> {
        for kind in &mut self.types {
            kind.finish(&mut self.context).await?;
        }
        let ImportContext { ids, ports, options, .. } = &self.context;
        ids.raise(*ports).await?;
        match self.target.as_ref().and_then(ImportTarget::id) {
            Some(id) if options.is_moved => {
                Ok(ports.organizations().set_move_state(id, Some(MoveState::Arriving)).await?)
            }
            _ => Ok(()),
        }
    }

    async fn import_record(&mut self, line: ImportLine) -> Result<(), RecordError> {
        let Self { transaction, types, context, target, .. } = self;
        let ImportLine { head, record, long_texts, password, files, .. } = line;
        if head.kind == ARCHIVE {
            // The first pass has checked its position.
            let first = FirstRecord::read(&head, &record, context.options.locales, true)?;
            return if context.options.keep_ids { first.raise(context.ports).await } else { Ok(()) };
        }
        context.files.begin_line(long_texts, files);
        context.password = password;
        context.ids.begin(head.id);
        let kind = types::find_record_type(types, &head.kind);
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
        let record = ArchiveRecord { organization, existing_id: existing_id.clone(), ..record };
        let imported = kind.import(context, record).await?;
        if let Some(target) = target.as_mut().filter(|_| name == types::ORGANIZATION) {
            target.check_organization(context.ports, &imported).await?;
        }
        if existing_id.as_ref() != Some(&imported.id) {
            context.refs.add(organization, name, &head.reference, &imported.id).await?;
        }
        add_to_report(&mut context.report, name, &head, &imported);
        if imported.outcome == RecordOutcome::Updated {
            for kind in types {
                kind.invalidate(name);
            }
        }
        match context.options.committer {
            Some(committer) => committer.render_recorded_events(*transaction, context.options.now).await?,
            None => drop(transaction.take_events()),
        }
        Ok(())
    }
}

/// Reads the ids of the refs in the members of these lines, with one query for each type.
async fn load_references(
    refs: &mut RefResolver<'_>,
    organization: OrganizationId,
    lines: &[ImportLine],
) -> Result<(), RecordError> {
    let mut by_kind: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (kind, reference) in lines.iter().flat_map(|line| references(&line.record.members)) {
        by_kind.entry(kind).or_default().insert(reference);
    }
    for (kind, references) in by_kind {
        refs.load(organization, kind, &references).await?;
    }
    Ok(())
}

async fn find_organization(
    context: &mut ImportContext<'_>,
    reference: &str,
) -> Result<OrganizationId, RecordError> {
    let id = context.refs.find(None, types::ORGANIZATION, reference).await?;
    id.as_deref().and_then(OrganizationId::parse).ok_or_else(|| unknown_ref(types::ORGANIZATION, reference))
}

fn add_to_report(
    report: &mut ImportReport,
    name: &'static str,
    head: &RecordHead,
    imported: &ImportedRecord,
) {
    report.count(name, imported.outcome);
    let own_reference = (name == types::ORGANIZATION).then_some(head.reference.as_str());
    let organization = head.organization.as_deref().or(own_reference).unwrap_or_default();
    let number = imported.number.or_else(|| number_in(&imported.id)).unwrap_or_default();
    report.add_id(organization, name, &head.reference, number);
}
