//! The files of an archive that were received before the transaction of the import begins: their names and what was
//! detected in them, in a temporary file, so that memory does not depend on their number.

use civitas_attachments::{FileState, StoredFile};
use civitas_kernel::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{BufRead, BufReader, Seek};
use time::OffsetDateTime;

/// The types of records that can have files.
pub(super) const KINDS_WITH_FILES: [&str; 2] = [ATTACHMENT, RESPONSE];
pub(super) const ATTACHMENT: &str = "attachment";
pub(super) const RESPONSE: &str = "questionnaire_response";

/// A file that was received and inspected.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct PreparedFile {
    /// The number of the line.
    line: u64,
    /// Which of the files of the record: empty for that of an attachment, `<ref of the question>/<number>` for that of
    /// an answer.
    pub(super) place: String,
    /// The pending row; `None` if the bytes are not stored: in a dry run, or because the record has this file already.
    pub(super) row: Option<i64>,
    key: String,
    object: String,
    filename: String,
    content_type: String,
    byte_size: i64,
    sha256: String,
    thumbnail_bytes: Option<i64>,
}

impl PreparedFile {
    /// The file of a line.
    pub(super) fn of(line: u64, place: String, row: Option<i64>, file: StoredFile) -> Self {
        Self {
            line,
            place,
            row,
            key: file.key,
            object: file.object,
            filename: file.filename,
            content_type: file.content_type,
            byte_size: file.byte_size,
            sha256: file.sha256,
            thumbnail_bytes: file.thumbnail_bytes,
        }
    }

    /// The file, pending.
    pub(super) fn into_file(self, now: OffsetDateTime) -> StoredFile {
        StoredFile {
            key: self.key,
            object: self.object,
            filename: self.filename,
            content_type: self.content_type,
            fault: None,
            byte_size: self.byte_size,
            sha256: self.sha256,
            thumbnail_bytes: self.thumbnail_bytes,
            state: FileState::Pending,
            created_at: now,
        }
    }
}

/// The prepared files of an archive, in the order of their lines, in a temporary file.
#[derive(Default)]
pub(super) struct PreparedFiles {
    file: Option<BufReader<File>>,
    next: Option<PreparedFile>,
}

impl PreparedFiles {
    /// Those of this file.
    pub(super) fn of(file: File) -> Self {
        Self { file: Some(BufReader::new(file)), next: None }
    }

    /// Begins with the first again.
    pub(super) fn rewind(&mut self) -> Result<()> {
        self.next = None;
        self.file.as_mut().map_or(Ok(()), Seek::rewind).map_err(Error::internal)
    }

    /// The next one, in the order of the file.
    pub(super) fn read(&mut self) -> Result<Option<PreparedFile>> {
        let Some(file) = &mut self.file else { return Ok(None) };
        let mut text = String::new();
        if file.read_line(&mut text).map_err(Error::internal)? == 0 {
            return Ok(None);
        }
        serde_json::from_str(&text).map(Some).map_err(Error::internal)
    }

    /// The files of a line. Lines are asked for in their order.
    pub(super) fn take(&mut self, line: u64) -> Result<Vec<PreparedFile>> {
        let mut files = Vec::new();
        loop {
            let next = match self.next.take() {
                Some(next) => Some(next),
                None => self.read()?,
            };
            match next {
                Some(next) if next.line == line => files.push(next),
                Some(next) if next.line < line => {}
                other => {
                    self.next = other;
                    return Ok(files);
                }
            }
        }
    }
}
