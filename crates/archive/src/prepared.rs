//! What is prepared for the lines of an archive before the transaction of the import begins, in temporary files, so that
//! memory does not depend on the number of lines.

use civitas_attachments::StoredFile;
use civitas_kernel::{Error, Result};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Seek, Write};

/// The types of records that can have files.
pub(super) const KINDS_WITH_FILES: [&str; 2] = [ATTACHMENT, RESPONSE];
pub(super) const ATTACHMENT: &str = "attachment";
pub(super) const RESPONSE: &str = "questionnaire_response";

/// A file that was received and inspected.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct PreparedFile {
    /// Which of the files of the record: empty for that of an attachment, `<ref of the question>/<number>` for that of
    /// an answer.
    pub(super) file_key: String,
    /// The pending row; `None` if the bytes are not stored: in a dry run, or because the record has this file already.
    pub(super) row: Option<i64>,
    /// The file, pending.
    pub(super) file: StoredFile,
}

/// Writes values with the numbers of their lines.
pub(super) struct PreparedWriter(BufWriter<File>);

impl PreparedWriter {
    /// Writes to a new temporary file, which has no name.
    pub(super) fn new() -> Result<Self> {
        Ok(Self(BufWriter::new(tempfile::tempfile().map_err(Error::internal)?)))
    }

    /// Adds a value of a line. Lines come in their order.
    pub(super) fn add(&mut self, line: u64, value: &impl Serialize) -> Result<()> {
        serde_json::to_writer(&mut self.0, &(line, value)).map_err(Error::internal)?;
        self.0.write_all(b"\n").map_err(Error::internal)
    }

    /// The values, from the first.
    pub(super) fn finish<T: DeserializeOwned>(self) -> Result<PreparedLines<T>> {
        let file = self.0.into_inner().map_err(|error| Error::internal(error.into_error()))?;
        let mut values = PreparedLines { file: Some(BufReader::new(file)), next: None };
        values.rewind()?;
        Ok(values)
    }
}

/// Values in the order of their lines.
pub(super) struct PreparedLines<T> {
    /// `None`: there are no values.
    file: Option<BufReader<File>>,
    next: Option<(u64, T)>,
}

impl<T> Default for PreparedLines<T> {
    fn default() -> Self {
        Self { file: None, next: None }
    }
}

impl<T: DeserializeOwned> PreparedLines<T> {
    /// Begins with the first again.
    pub(super) fn rewind(&mut self) -> Result<()> {
        self.next = None;
        self.file.as_mut().map_or(Ok(()), Seek::rewind).map_err(Error::internal)
    }

    /// The next value with the number of its line.
    pub(super) fn read(&mut self) -> Result<Option<(u64, T)>> {
        let Some(file) = &mut self.file else { return Ok(None) };
        let mut text = String::new();
        if file.read_line(&mut text).map_err(Error::internal)? == 0 {
            return Ok(None);
        }
        serde_json::from_str(&text).map(Some).map_err(Error::internal)
    }

    /// The values of a line. Lines are asked for in their order.
    pub(super) fn take(&mut self, line: u64) -> Result<Vec<T>> {
        let mut values = Vec::new();
        loop {
            let next = match self.next.take() {
                Some(next) => Some(next),
                None => self.read()?,
            };
            match next {
                Some((at, value)) if at == line => values.push(value),
                Some((at, _)) if at < line => {}
                other => {
                    self.next = other;
                    return Ok(values);
                }
            }
        }
    }
}
