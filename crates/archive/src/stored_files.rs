//! Stores the files of an archive before the transaction of the import begins, so that a slow file store keeps no other
//! writer waiting. A file has its row first, pending and without organization; the transaction makes it one of its
//! organization. When the import fails, they are deleted at once; when the process is killed, by the reaper within a day.

use super::check::organization_id;
use super::context::ImportOptions;
use super::error::{ImportError, RecordError};
use super::files::{FileRequest, FileServices, FileSource, ImportedFiles, delete_objects};
use super::lines::LineReader;
use super::prepared::{ATTACHMENT, PreparedFile, PreparedLines, PreparedWriter, RESPONSE};
use super::record::{self, RecordHead};
use super::refs::RecordId;
use super::types::ORGANIZATION;
use civitas_application::Store;
use civitas_attachments::{FileState, NO_ORGANIZATION_YET, StoredFile};
use civitas_kernel::records::{Change, Records};
use civitas_kernel::{
    AttachmentId, FileId, Locale, OrganizationId, Result as StoreResult, Translated, clock,
};
use civitas_organizations::Organization;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::io::BufRead;
use time::Duration;

/// How far in the future the time of a pending row is. The reaper deletes a pending file an hour after its time; an
/// import with many files, or large ones, takes longer.
const AHEAD: Duration = Duration::hours(23);

/// Deletes the files that are still pending: their transaction was not committed. What cannot be deleted is logged, and
/// left to the reaper.
pub(super) async fn discard(
    files: PreparedLines<PreparedFile>,
    store: &dyn Store,
    services: Option<FileServices<'_>>,
) {
    if let Err(error) = discard_all(files, store, services).await {
        tracing::warn!(%error, "files of the import are deleted later");
    }
}

async fn discard_all(
    mut files: PreparedLines<PreparedFile>,
    store: &dyn Store,
    services: Option<FileServices<'_>>,
) -> StoreResult<()> {
    files.rewind()?;
    while let Some((_, prepared)) = files.read()? {
        let Some(id) = prepared.row.map(FileId) else { continue };
        let Some(before) = Records::<StoredFile>::find(store.files(), NO_ORGANIZATION_YET, id).await? else {
            continue;
        };
        let mut objects = vec![before.object.clone()];
        objects.extend(before.thumbnail_bytes.map(|_| before.thumbnail_object()));
        let after = StoredFile { state: FileState::Removed, ..before.clone() };
        store.files().save(NO_ORGANIZATION_YET, id, &Change::new(before, after)).await?;
        if delete_objects(services, &objects).await {
            store.files().forget(&[id]).await?;
        }
    }
    Ok(())
}

/// The organization of files.
#[derive(Clone)]
struct Tenant {
    /// `None`: the archive creates it.
    id: Option<OrganizationId>,
    prefix: String,
}

/// One pass over an archive.
struct FileImport<'a> {
    store: &'a dyn Store,
    services: FileServices<'a>,
    options: ImportOptions<'a>,
    /// The organizations of the lines before, by ref.
    tenants: HashMap<String, Tenant>,
    files: ImportedFiles<'a>,
    prepared: PreparedWriter,
    /// The number of the current line.
    line: u64,
}

/// Receives, inspects and stores the files of an archive that was checked. In a dry run nothing is stored.
///
/// # Errors
/// [`ImportError::Line`] for the first file that is not allowed, [`ImportError::Store`] when a store fails; then nothing
/// remains stored.
pub(super) async fn store_files(
    store: &dyn Store,
    services: FileServices<'_>,
    input: impl BufRead + Send,
    options: ImportOptions<'_>,
) -> Result<PreparedLines<PreparedFile>, ImportError> {
    let failed = |error| ImportError::Store(0, error);
    let mut storing = FileImport {
        store,
        services,
        options,
        tenants: HashMap::new(),
        files: ImportedFiles::new(Some(services), options.dry_run),
        prepared: PreparedWriter::new().map_err(failed)?,
        line: 0,
    };
    let done = storing.run(LineReader::new(input)).await;
    let prepared = storing.prepared.finish().map_err(failed)?;
    match done {
        Ok(()) => Ok(prepared),
        Err(error) => {
            discard(prepared, store, Some(services)).await;
            Err(error)
        }
    }
}

/// Whether a line may be an organization or have files. Lines without are not parsed.
fn is_of_interest(line: &str) -> bool {
    line.contains("\"host\"")
        || line.contains("_prefix\"")
        || line.contains("\"data\"")
        || line.contains("\"path\"")
}

impl FileImport<'_> {
    async fn run(&mut self, mut lines: LineReader<impl BufRead + Send>) -> Result<(), ImportError> {
        loop {
            let line = match lines.next() {
                Ok(None) => return Ok(()),
                Ok(Some(line)) if !is_of_interest(line) => continue,
                Ok(Some(line)) => record::read(line),
                Err(error) => return Err(RecordError::from(error.to_string()).at_line(lines.count, None)),
            };
            let (head, members) = line.map_err(|error| error.at_line(lines.count, None))?;
            self.line = lines.count;
            self.files.begin_line(lines.long_texts(), Vec::new());
            let stored = match head.kind.as_str() {
                ORGANIZATION => self.organization(&head, &members).await,
                ATTACHMENT => self.attachment(&head, &members).await,
                RESPONSE => self.response(&head, &members).await,
                _ => Ok(()),
            };
            stored.map_err(|error| error.at_line(lines.count, Some((head.kind, head.reference))))?;
        }
    }

    /// Notes an organization that the archive creates or changes.
    async fn organization(
        &mut self,
        head: &RecordHead,
        members: &Map<String, Value>,
    ) -> Result<(), RecordError> {
        let tenant = if let Some(tenant) = self.tenants.remove(&head.reference) {
            tenant
        } else {
            let id = organization_id(self.store, &head.reference, members).await?;
            let existing = match id {
                Some(id) => self.store.organizations().find(id).await?,
                None => None,
            };
            let new =
                || Organization::new(String::new(), Translated::default(), Locale::EN, self.options.now);
            Tenant { id, prefix: existing.unwrap_or_else(new).reference_prefix }
        };
        let prefix = members.get("reference_prefix").and_then(Value::as_str);
        let tenant = Tenant { id: tenant.id, prefix: prefix.map_or(tenant.prefix, str::to_owned) };
        self.tenants.insert(head.reference.clone(), tenant);
        Ok(())
    }

    /// The organization of a record; `None` if it is not known, which the second pass refuses.
    async fn tenant(&mut self, head: &RecordHead) -> Result<Option<Tenant>, RecordError> {
        let Some(reference) = &head.organization else { return Ok(None) };
        if let Some(tenant) = self.tenants.get(reference) {
            return Ok(Some(tenant.clone()));
        }
        let found = self.store.refs().find(None, ORGANIZATION, reference).await?;
        let Some(id) = found.as_deref().and_then(OrganizationId::parse) else { return Ok(None) };
        let Some(tenant) = self.store.organizations().tenant(id).await? else { return Ok(None) };
        let tenant = Tenant { id: Some(id), prefix: tenant.reference_prefix };
        self.tenants.insert(reference.clone(), tenant.clone());
        Ok(Some(tenant))
    }

    /// The stored id of a record; `None` if it is new.
    async fn existing(
        &self,
        tenant: &Tenant,
        head: &RecordHead,
    ) -> Result<Option<(OrganizationId, String)>, RecordError> {
        let Some(id) = tenant.id else { return Ok(None) };
        let found = self.store.refs().find(Some(id), &head.kind, &head.reference).await?;
        Ok(found.map(|found| (id, found)))
    }

    async fn attachment(
        &mut self,
        head: &RecordHead,
        members: &Map<String, Value>,
    ) -> Result<(), RecordError> {
        let text = |name: &str| members.get(name).and_then(Value::as_str).map(str::to_owned);
        let source = FileSource {
            data: text("data"),
            path: text("path"),
            filename: text("filename"),
            ..FileSource::default()
        };
        // The second pass refuses a record with none or several of them.
        if text("link").is_some() || source.data.is_some() == source.path.is_some() {
            return Ok(());
        }
        let Some(tenant) = self.tenant(head).await? else { return Ok(()) };
        let existing = match self.existing(&tenant, head).await? {
            Some((of, id)) => match AttachmentId::parse(&id) {
                Some(id) => self.store.attachments().find(of, id).await?.map(|found| (of, found)),
                None => None,
            },
            None => None,
        };
        let own = match existing.and_then(|(of, attachment)| Some((of, attachment.file?))) {
            Some((of, id)) => Records::<StoredFile>::find(self.store.files(), of, id).await?,
            None => None,
        };
        self.store_one(&source, &tenant, own).await
    }

    /// The files of a new response. Those of an existing one stay as they are.
    async fn response(&mut self, head: &RecordHead, members: &Map<String, Value>) -> Result<(), RecordError> {
        let Some(tenant) = self.tenant(head).await? else { return Ok(()) };
        let answers = members.get("answers").and_then(Value::as_object);
        let Some(answers) = answers.filter(|answers| answers.values().any(has_files)) else { return Ok(()) };
        if self.existing(&tenant, head).await?.is_some() {
            return Ok(());
        }
        for (question, answer) in answers.iter().filter(|(_, answer)| has_files(answer)) {
            // The second pass says what is wrong.
            let Ok(sources) = serde_json::from_value::<Vec<FileSource>>(answer.clone()) else { continue };
            for source in FileSource::with_keys(sources, question) {
                self.store_one(&source, &tenant, None).await?;
            }
        }
        Ok(())
    }

    /// Receives and stores a file, unless the record has the same one.
    async fn store_one(
        &mut self,
        source: &FileSource,
        tenant: &Tenant,
        own: Option<StoredFile>,
    ) -> Result<(), RecordError> {
        let request = FileRequest { source, prefix: &tenant.prefix, now: self.options.now };
        let (file, inspected) = self.files.receive_now(request).await?;
        let is_same = |own: StoredFile| own.sha256 == file.sha256 && own.filename == file.filename;
        let row = if self.options.dry_run || own.is_some_and(is_same) {
            None
        } else {
            let pending = StoredFile { created_at: clock::now() + AHEAD, ..file.clone() };
            Some(self.store.files().add(NO_ORGANIZATION_YET, &pending).await?.0)
        };
        // Written before the bytes are stored, so that they are deleted when storing fails.
        let prepared = PreparedFile { file_key: source.file_key.clone(), row, file: file.clone() };
        self.prepared.add(self.line, &prepared)?;
        if row.is_some() {
            self.services.objects.put(&file.object, inspected.content).await?;
            if let Some(thumbnail) = inspected.thumbnail {
                self.services.objects.put(&file.thumbnail_object(), thumbnail).await?;
            }
        }
        Ok(())
    }
}

/// Whether an answer is a list of files. Those of other types are texts, or lists and objects of texts.
fn has_files(answer: &Value) -> bool {
    answer.as_array().is_some_and(|items| items.iter().any(Value::is_object))
}
