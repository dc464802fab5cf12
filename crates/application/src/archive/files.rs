//! Files in an archive: base64 text in the line, or a path beside the archive. They are stored while the transaction
//! of the import is open, and deleted when it rolls back.

use super::error::RecordError;
use super::lines::LongTexts;
use crate::Ports;
use base64::engine::general_purpose::STANDARD;
use base64::read::DecoderReader;
use bytes::Bytes;
use civitas_attachments::{
    ByteStream, FileIntake, FileStore, Inspected, ParentKind, ReceiveOutcome, StoredFile,
    sanitize_and_shorten,
};
use civitas_kernel::{Error, FileId, OrganizationId, QuestionId, Result};
use civitas_organizations::Tenant;
use futures_util::{StreamExt, stream};
use serde::Deserialize;
use std::fs::File;
use std::io::{Cursor, Read};
use std::path::{Component, Path};
use time::OffsetDateTime;

/// How much of a file is read at a time, in bytes.
const CHUNK: usize = 64 * 1024;

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
            of_answers: Vec::new(),
        }
    }

    fn services(&self) -> Result<FileServices<'a>, RecordError> {
        self.services.ok_or_else(|| "files cannot be imported here".into())
    }

    /// Receives and inspects a file. Returns its name and content. The limits are those of the interface.
    pub(super) async fn receive(
        &mut self,
        source: &FileSource,
        tenant: &Tenant,
        kind: ParentKind,
        now: OffsetDateTime,
    ) -> Result<(StoredFile, Inspected), RecordError> {
        let services = self.services()?;
        let (reader, name) = self.open(source, services.directory)?;
        let limit = tenant.max_attachment_bytes.unsigned_abs();
        let received = match services.intake.receive(chunks(reader), limit).await? {
            ReceiveOutcome::Complete(received) if received.content.byte_size > 0 => received,
            ReceiveOutcome::Complete(_) => return Err("the file is empty".into()),
            ReceiveOutcome::TooLong => return Err(format!("the file is longer than {limit} bytes").into()),
        };
        let inspected = services.intake.inspect(received).await?;
        let file = StoredFile::new(&tenant.reference_prefix, name, &inspected, now);
        match kind.allow_list().refusal(&file) {
            None => Ok((file, inspected)),
            Some(error) => Err(error.description.into()),
        }
    }

    /// Stores the bytes and the row of a file, pending.
    pub(super) async fn keep(
        &mut self,
        ports: &dyn Ports,
        organization: OrganizationId,
        file: &StoredFile,
        inspected: Inspected,
    ) -> Result<FileId, RecordError> {
        let services = self.services()?;
        if !self.is_dry {
            self.stored.push(file.object.clone());
            services.objects.put(&file.object, inspected.content).await?;
            if let Some(thumbnail) = inspected.thumbnail {
                self.stored.push(file.thumbnail_object());
                services.objects.put(&file.thumbnail_object(), thumbnail).await?;
            }
        }
        Ok(ports.files().add(organization, file).await?)
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

/// Deletes the objects of an import that was rolled back.
pub(super) async fn delete_objects(services: Option<FileServices<'_>>, names: &[String]) {
    let Some(services) = services else { return };
    for name in names {
        if let Err(error) = services.objects.delete(name).await {
            tracing::warn!(%error, name, "a file of the import could not be deleted");
        }
    }
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
