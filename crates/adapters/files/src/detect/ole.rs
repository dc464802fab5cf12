//! OLE compound files: Word, Excel and `PowerPoint` before OOXML.
//!
//! Only the directory is read, up to a limit, and of it only what is in the root: an embedded document does not decide.
//! Format: \[MS-CFB\].

use super::{read_up_to, u16_at, u32_at};
use std::fs::File;
use std::io;

/// The first bytes of a compound file.
pub(super) const SIGNATURE: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";
/// A compound file of another application.
const OTHER: &str = "application/x-ole-storage";
/// How many sectors of the directory are read.
const MAX_SECTORS: usize = 128;
/// How many sectors with places of the allocation table are read.
const MAX_TABLES: usize = 64;
/// The length of an entry of the directory, in bytes.
const ENTRY: usize = 128;
/// How many places of the allocation table the header has.
const IN_HEADER: u32 = 109;
/// The largest number of a sector.
const MAX_SECTOR: u32 = 0xffff_fffa;

pub(super) fn content_type(file: &File) -> io::Result<&'static str> {
    let directory = match Compound::open(file)? {
        Some(compound) => compound.directory()?,
        None => return Ok(OTHER),
    };
    let names = root_names(&directory);
    let types = [
        ("WordDocument", "application/msword"),
        ("Workbook", "application/vnd.ms-excel"),
        ("Book", "application/vnd.ms-excel"),
        ("PowerPoint Document", "application/vnd.ms-powerpoint"),
    ];
    let found = types.iter().find(|(name, _)| names.iter().any(|other| other == name));
    Ok(found.map_or(OTHER, |(_, content_type)| content_type))
}

struct Compound<'a> {
    file: &'a File,
    header: Vec<u8>,
    shift: u16,
}

impl<'a> Compound<'a> {
    fn open(file: &'a File) -> io::Result<Option<Self>> {
        let header = read_up_to(file, 0, 512)?;
        let shift = u16_at(&header, 30).filter(|shift| matches!(shift, 9 | 12) && header.len() == 512);
        Ok(shift.map(|shift| Self { file, header, shift }))
    }

    fn sector(&self, number: u32) -> io::Result<Vec<u8>> {
        read_up_to(self.file, (u64::from(number) + 1) << self.shift, 1 << self.shift)
    }

    /// The entries of the directory, up to a limit.
    fn directory(&self) -> io::Result<Vec<u8>> {
        let mut entries = Vec::new();
        let mut next = u32_at(&self.header, 48);
        for _ in 0..MAX_SECTORS {
            let Some(number) = next.filter(|number| *number <= MAX_SECTOR) else { break };
            let sector = self.sector(number)?;
            if sector.len() < ENTRY {
                break;
            }
            entries.extend(sector);
            next = self.after(number)?;
        }
        Ok(entries)
    }

    /// The sector that follows another one, from the allocation table.
    fn after(&self, number: u32) -> io::Result<Option<u32>> {
        let in_sector = 1u32 << (self.shift - 2);
        let Some(table) = self.table(number / in_sector, in_sector - 1)? else { return Ok(None) };
        Ok(u32_at(&self.sector(table)?, index((number % in_sector) * 4)))
    }

    /// The sector of the allocation table with the number `place`. `in_list` places are in one sector of their list.
    fn table(&self, place: u32, in_list: u32) -> io::Result<Option<u32>> {
        let Some(mut left) = place.checked_sub(IN_HEADER) else {
            return Ok(u32_at(&self.header, index(76 + place * 4)).filter(|number| *number <= MAX_SECTOR));
        };
        let mut next = u32_at(&self.header, 68);
        for _ in 0..MAX_TABLES {
            let Some(number) = next.filter(|number| *number <= MAX_SECTOR) else { return Ok(None) };
            let sector = self.sector(number)?;
            if left < in_list {
                return Ok(u32_at(&sector, index(left * 4)).filter(|number| *number <= MAX_SECTOR));
            }
            left -= in_list;
            next = u32_at(&sector, index(in_list * 4));
        }
        Ok(None)
    }
}

/// The names of the streams in the root.
fn root_names(directory: &[u8]) -> Vec<String> {
    let entries: Vec<&[u8]> = directory.chunks_exact(ENTRY).collect();
    let mut seen = vec![false; entries.len()];
    let mut names = Vec::new();
    let mut open: Vec<u32> = entries.first().and_then(|root| u32_at(root, 76)).into_iter().collect();
    while let Some(number) = open.pop() {
        let at = index(number);
        let (Some(entry), Some(visited)) = (entries.get(at), seen.get_mut(at)) else { continue };
        if std::mem::replace(visited, true) {
            continue;
        }
        if entry.get(66) == Some(&2) {
            names.push(name(entry));
        }
        open.extend([68, 72].iter().filter_map(|at| u32_at(entry, *at)));
    }
    names
}

fn name(entry: &[u8]) -> String {
    let length = u16_at(entry, 64).map_or(0, usize::from).min(64) / 2;
    let units = (0..length.saturating_sub(1)).filter_map(|at| u16_at(entry, at * 2));
    char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

fn index(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
