//! Files in an archive: base64 text in the line, or a path beside the archive. Their bytes are stored before the
//! transaction of the import begins (`stored_files.rs`).

use super::error::RecordError;
use super::lines::LongTexts;
use super::prepared::PreparedFile;
use super::record::checked_id;
use base64::engine::general_purpose::STANDARD;
use base64::read::DecoderReader;
use bytes::Bytes;
use civitas_application::Ports;
use civitas_attachments::{
    ByteStream, FileInspection, FileIntake, FileState, FileStore, ImageBytes, ReceiveOutcome, StoredFile,
    sanitize_and_shorten,
};
use civitas_kernel::{Error, FileId, OrganizationId, QuestionId, Result};
use futures_util::{StreamExt, stream};
use serde::Deserialize;
use serde_json::Value;
use std::fs::File;
use std::io::{Cursor, Read};
use std::path::{Component, Path};
use time::OffsetDateTime;

/// How much of a file is read at a time, in bytes.
const CHUNK: usize = 64 * 1024;

/// The most bytes of a file: its length is stored as a signed number.
const MAX_BYTES: u64 = i64::MAX.unsigned_abs();

/// Where an import stores files.
#[derive(Clone, Copy)]
pub struct FileServices<'a> {
    /// Stores the bytes of files.
    pub objects: &'a dyn FileStore,
    /// Receives and inspects files.
    pub intake: &'a dyn FileIntake,
    /// The directory that paths of files are relative to; `None`: paths are refused.
    pub directory: Option<&'a Path>,
}

/// The content of a file as a record gives it: one of `data` and `path`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct FileSource {
    /// Base64, or the mark of a long text ([`LongTexts`]).
    pub(super) data: Option<String>,
    /// Relative to the archive.
    pub(super) path: Option<String>,
    pub(super) filename: Option<String>,
    /// A hint: the type is detected.
    #[serde(rename = "content_type")]
    pub(super) _content_type: Option<String>,
    /// The id of the attachment of an answer's file; see [`FileSource::checked_id`].
    pub(super) id: Option<Value>,
    /// Where it is in the record; see [`PreparedFile::file_key`].
    #[serde(skip)]
    pub(super) file_key: String,
}

impl FileSource {
    /// The id that the attachment has where the archive comes from.
    pub(super) fn checked_id(&self) -> Result<Option<i64>, RecordError> {
        let id = self.id.as_ref().map(checked_id).transpose();
        Ok(id.map_err(|reason| format!("the id of a file {reason}"))?)
    }

    /// The files of an answer, each with its key.
    pub(super) fn with_keys(sources: Vec<Self>, question: &str) -> impl Iterator<Item = Self> {
        let keyed = move |(number, source)| Self { file_key: format!("{question}/{number}"), ..source };
        (0_usize..).zip(sources).map(keyed)
    }
}

/// A file that a record has.
#[derive(Clone, Copy)]
pub(super) struct FileRequest<'r> {
    /// Its content.
    pub(super) source: &'r FileSource,
    /// The `reference_prefix` of the organization.
    pub(super) prefix: &'r str,
    /// The time of the import.
    pub(super) now: OffsetDateTime,
}

/// A file that was received.
pub(super) struct ReceivedFile {
    /// The file, pending.
    pub(super) file: StoredFile,
    bytes: ReceivedBytes,
}

/// Where the bytes of a file are.
enum ReceivedBytes {
    /// Prepared, with the pending row if they are stored.
    PreparedData(Option<FileId>),
    /// In temporary files.
    Inspected(Box<FileInspection>),
}

/// The files of one import.
pub(super) struct ImportedFiles<'a> {
    services: Option<FileServices<'a>>,
    /// Nothing is stored in a dry run.
    is_dry: bool,
    /// The names of the objects that were stored.
    stored: Vec<String>,
    /// The long texts of the current line.
    pub(super) long_texts: LongTexts,
    /// The prepared files of the current line.
    prepared: Vec<PreparedFile>,
    /// Files of the answers of the current record.
    pub(super) of_answers: Vec<(QuestionId, Vec<FileSource>)>,
}

impl<'a> ImportedFiles<'a> {
    pub(super) fn new(services: Option<FileServices<'a>>, is_dry: bool) -> Self {
        Self {
            services,
            is_dry,
            stored: Vec::new(),
            long_texts: LongTexts::default(),
            prepared: Vec::new(),
            of_answers: Vec::new(),
        }
    }

    fn services(&self) -> Result<FileServices<'a>, RecordError> {
        self.services.ok_or_else(|| "files cannot be imported here".into())
    }

    /// Begins a line with these long texts and prepared files.
    pub(super) fn begin_line(&mut self, long_texts: LongTexts, prepared: Vec<PreparedFile>) {
        self.long_texts = long_texts;
        self.prepared = prepared;
    }

    /// The prepared file; one that was not prepared is received and inspected.
    pub(super) async fn receive(&mut self, request: FileRequest<'_>) -> Result<ReceivedFile, RecordError> {
        let file_key = &request.source.file_key;
        if let Some(at) = self.prepared.iter().position(|prepared| prepared.file_key == *file_key) {
            let prepared = self.prepared.swap_remove(at);
            let bytes = ReceivedBytes::PreparedData(prepared.row.map(FileId));
            return Ok(ReceivedFile { file: prepared.file, bytes });
        }
        let (file, inspected) = self.receive_now(request).await?;
        Ok(ReceivedFile { file, bytes: ReceivedBytes::Inspected(Box::new(inspected)) })
    }

    /// Receives and inspects a file. The limits of the interface on size, type and pixels do not apply (contract 13 R10); SVG
    /// is refused.
    pub(super) async fn receive_now(
        &mut self,
        request: FileRequest<'_>,
    ) -> Result<(StoredFile, FileInspection), RecordError> {
        let services = self.services()?;
        let (reader, name) = self.open(request.source, services.directory)?;
        if is_svg(&name) {
            return Err("SVG files are refused".into());
        }
        let received = match services.intake.receive(chunks(reader), MAX_BYTES).await? {
            ReceiveOutcome::Complete(received) if received.content.byte_size > 0 => received,
            ReceiveOutcome::Complete(_) => return Err("the file is empty".into()),
            ReceiveOutcome::TooLong => return Err("the file is too long".into()),
        };
        let inspected = services.intake.inspect(received, ImageBytes::Unchanged).await?;
        Ok((StoredFile::new(request.prefix, name, &inspected, request.now), inspected))
    }

    /// Makes a received file one of the organization. The bytes of one that was not prepared are stored now: its record
    /// has changed since the first pass, or the reaper has deleted the file.
    pub(super) async fn keep(
        &mut self,
        ports: &dyn Ports,
        organization: OrganizationId,
        request: FileRequest<'_>,
        received: ReceivedFile,
    ) -> Result<(FileId, StoredFile), RecordError> {
        let ReceivedFile { file, bytes } = received;
        let (file, inspected) = match bytes {
            ReceivedBytes::Inspected(inspected) => (file, *inspected),
            ReceivedBytes::PreparedData(Some(id))
                if ports.files().adopt(organization, id, request.now).await? =>
            {
                return Ok((id, StoredFile { state: FileState::Stored, ..file }));
            }
            // Nothing is stored in a dry run.
            ReceivedBytes::PreparedData(None) if self.is_dry => {
                let file = StoredFile { state: FileState::Stored, ..file };
                return Ok((ports.files().add(organization, &file).await?, file));
            }
            ReceivedBytes::PreparedData(_) => self.receive_now(request).await?,
        };
        let services = self.services()?;
        if !self.is_dry {
            self.stored.push(file.object.clone());
            services.objects.put(&file.object, inspected.content).await?;
            if let Some(thumbnail) = inspected.thumbnail {
                self.stored.push(file.thumbnail_object());
                services.objects.put(&file.thumbnail_object(), thumbnail).await?;
            }
        }
        let file = StoredFile { state: FileState::Stored, ..file };
        Ok((ports.files().add(organization, &file).await?, file))
    }

    /// The names of the objects that were stored.
    pub(super) fn into_stored(self) -> Vec<String> {
        self.stored
    }

    /// The bytes of a source, and the name of its file.
    fn open(
        &mut self,
        source: &FileSource,
        directory: Option<&Path>,
    ) -> Result<(Box<dyn Read + Send>, String), RecordError> {
        let named = source.filename.as_deref().map(sanitize_and_shorten);
        match (&source.data, &source.path) {
            (Some(data), None) => {
                let name = named.filter(|name| !name.is_empty()).ok_or("filename is required")?;
                let text: Box<dyn Read + Send> = match self.long_texts.take(data)? {
                    Some(file) => Box::new(file),
                    None => Box::new(Cursor::new(data.clone().into_bytes())),
                };
                Ok((Box::new(DecoderReader::new(text, &STANDARD)), name))
            }
            (None, Some(path)) => {
                let own = sanitize_and_shorten(path);
                Ok((
                    Box::new(file_at(path, directory)?),
                    named.filter(|name| !name.is_empty()).unwrap_or(own),
                ))
            }
            _ => Err("one of data and path is required".into()),
        }
    }
}

/// Deletes the objects of an import that was rolled back. Whether all could be deleted.
pub(super) async fn delete_objects(services: Option<FileServices<'_>>, names: &[String]) -> bool {
    let Some(services) = services else { return false };
    let mut is_done = true;
    for name in names {
        if let Err(error) = services.objects.delete(name).await {
            tracing::warn!(%error, name, "a file of the import could not be deleted");
            is_done = false;
        }
    }
    is_done
}

/// Whether a file has the name of an SVG image, which can have scripts.
fn is_svg(name: &str) -> bool {
    let extension = Path::new(name).extension();
    extension.is_some_and(|own| own.eq_ignore_ascii_case("svg") || own.eq_ignore_ascii_case("svgz"))
}

/// The file at a path inside of the directory of the archive.
fn file_at(path: &str, directory: Option<&Path>) -> Result<File, RecordError> {
    let directory = directory.ok_or("path: an archive from standard input has no directory")?;
    let is_inside =
        Path::new(path).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if !is_inside {
        return Err(format!("path: {path:?} is not inside of the directory of the archive").into());
    }
    let fault = |error: std::io::Error| RecordError::from(format!("path: {path:?}: {error}"));
    let resolved = directory.join(path).canonicalize().map_err(fault)?;
    if !resolved.starts_with(directory.canonicalize().map_err(fault)?) {
        return Err(format!("path: {path:?} is not inside of the directory of the archive").into());
    }
    File::open(resolved).map_err(fault)
}

/// The bytes of a reader. It blocks: files of an archive are on a local disk.
fn chunks(reader: Box<dyn Read + Send>) -> ByteStream {
    let read = |mut reader: Box<dyn Read + Send>| {
        let mut chunk = vec![0; CHUNK];
        let next = match reader.read(&mut chunk) {
            Ok(0) => return None,
            Ok(length) => {
                chunk.truncate(length);
                Ok(Bytes::from(chunk))
            }
            Err(error) => Err(Error::rejected(format!("the file cannot be read: {error}"))),
        };
        Some((next, reader))
    };
    // `Read` is not `Sync`, and a future must not hold it across the state of a stream by reference.
    stream::unfold(reader, move |reader| std::future::ready(read(reader))).boxed()
}
