//! OLE compound files: Word, Excel and `PowerPoint` before OOXML.
//!
//! Only what is in the root decides, not an embedded document.

use cfb::CompoundFile;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

/// The first bytes of a compound file.
pub(super) const SIGNATURE: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";
/// A compound file of another application, or a damaged one.
const OTHER: &str = "application/x-ole-storage";
/// How much of a file is read, in bytes: the allocation table of a file of 512 MiB, or 32,768 entries of the directory.
const MAX_READ: usize = 4 << 20;
/// The length of the shortest sectors, in bytes.
const SECTOR: usize = 512;
/// Names of streams, and the types of the documents.
const TYPES: [(&str, &str); 4] = [
    ("WordDocument", "application/msword"),
    ("Workbook", "application/vnd.ms-excel"),
    ("Book", "application/vnd.ms-excel"),
    ("PowerPoint Document", "application/vnd.ms-powerpoint"),
];

pub(super) fn content_type(file: &File) -> io::Result<&'static str> {
    let compound = match CompoundFile::open(BufReader::with_capacity(SECTOR, Limited(file, MAX_READ))) {
        Ok(compound) => compound,
        Err(cause) if cause.raw_os_error().is_some() => return Err(cause),
        Err(_) => return Ok(OTHER),
    };
    let has =
        |name: &str| compound.read_root_storage().any(|entry| entry.is_stream() && entry.name() == name);
    Ok(TYPES.iter().find(|(name, _)| has(name)).map_or(OTHER, |(_, content_type)| content_type))
}

/// A file of which so many bytes may be read.
struct Limited<'a>(&'a File, usize);

impl Read for Limited<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.0.read(buffer)?;
        self.1 = self.1.checked_sub(length).ok_or(io::ErrorKind::FileTooLarge)?;
        Ok(length)
    }
}

impl Seek for Limited<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.0.seek(to)
    }
}
