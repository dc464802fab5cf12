//! What both engines need.

use civitas_attachments::{Checksum, Content};
use civitas_backup::Table;
use civitas_kernel::{Error, Result};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use std::fs::File;
use std::io::{self, Seek, Write};
use std::path::Path;

/// A read or write of a file failed.
pub fn disk_error(error: io::Error) -> Error {
    Error::Unavailable(error.into())
}

/// Runs `work` on a thread for blocking work.
pub async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(Error::internal)?
}

/// Compresses bytes into a temporary file.
pub struct Compressor(GzEncoder<File>);

impl Compressor {
    /// In this directory.
    pub fn new(directory: &Path) -> Result<Self> {
        let file = tempfile::tempfile_in(directory).map_err(disk_error)?;
        Ok(Self(GzEncoder::new(file, Compression::fast())))
    }

    /// The file.
    pub fn finish(self) -> Result<Content> {
        let finish = || {
            let mut file = self.0.finish()?;
            let byte_size = file.stream_position()?;
            Ok(Content { file, byte_size })
        };
        finish().map_err(disk_error)
    }
}

impl Write for Compressor {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Reads the bytes of such a file from the beginning.
pub fn decompress(content: &Content) -> Result<GzDecoder<File>> {
    let mut file = content.file.try_clone().map_err(disk_error)?;
    file.rewind().map_err(disk_error)?;
    Ok(GzDecoder::new(file))
}

/// Counts the rows of a table, and adds up their bytes.
#[derive(Default)]
pub struct Rows {
    rows: u64,
    checksum: Checksum,
}

impl Rows {
    /// Adds bytes of rows.
    pub fn update(&mut self, bytes: &[u8]) {
        self.checksum.update(bytes);
    }

    /// Adds a number of rows.
    pub fn count(&mut self, rows: u64) {
        self.rows += rows;
    }

    /// The table.
    pub fn finish(self) -> Table {
        Table { rows: self.rows, sha256: self.checksum.finish().1 }
    }
}
