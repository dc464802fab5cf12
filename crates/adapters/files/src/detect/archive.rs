//! ZIP archives: OOXML and `OpenDocument`.
//!
//! Only the list at the end of the archive is read, and one small entry. Both have limits that are checked before
//! anything is read; a general reader of archives keeps the whole list in memory. Archives of more than 4 GiB or with
//! bytes before their begin are not looked into.

use super::{read_up_to, u16_at, u32_at};
use flate2::read::DeflateDecoder;
use std::fs::File;
use std::io::{self, Read};

/// An archive of another kind.
const ZIP: &str = "application/zip";
/// How many entries an archive may have to be looked into.
const MAX_ENTRIES: u16 = 8192;
/// The largest list of entries that is read, in bytes.
const MAX_LIST: u32 = 1 << 20;
/// The length of the record at the end, without comment, in bytes.
const END: usize = 22;
/// The longest comment of an archive, in bytes.
const MAX_COMMENT: usize = 65_535;
/// The longest part of a media type from an archive, in bytes.
const MAX_NAME: usize = 75;
/// The largest entry that is read, in bytes: compressed, and decompressed.
const MAX_ENTRY: u32 = 256 * 1024;

/// The begin of content types of OOXML documents, in lower case.
const OOXML: [&str; 2] = ["application/vnd.openxmlformats-officedocument.", "application/vnd.ms-"];

/// An entry with `mimetype` names the type of an `OpenDocument` or EPUB file; `[Content_Types].xml` that of OOXML.
pub(super) fn content_type(file: &File, size: u64) -> io::Result<String> {
    let Some(list) = list(file, size)? else { return Ok(ZIP.to_owned()) };
    if let Some(entry) = find(&list, b"mimetype") {
        let named = read_entry(file, &entry)?.and_then(|bytes| String::from_utf8(bytes).ok());
        return Ok(named
            .filter(|name| is_document(name.trim()))
            .map_or(ZIP.to_owned(), |name| name.trim().to_owned()));
    }
    let Some(entry) = find(&list, b"[Content_Types].xml") else { return Ok(ZIP.to_owned()) };
    let parts = read_entry(file, &entry)?.unwrap_or_default();
    let parts = String::from_utf8_lossy(&parts).to_ascii_lowercase();
    Ok(main_part(&parts).unwrap_or_else(|| ZIP.to_owned()))
}

/// The type of an OOXML document, from the content type of its main part. One with macros decides before others.
fn main_part(parts: &str) -> Option<String> {
    let types = parts.split(['"', '\'']).filter(|value| OOXML.iter().any(|begin| value.starts_with(begin)));
    let main = types.filter_map(|value| value.strip_suffix("+xml").unwrap_or(value).strip_suffix(".main"));
    let main: Vec<&str> = main.filter(|name| is_name(name)).collect();
    let with_macros = main.iter().find(|name| name.contains("macroenabled"));
    // The registered names of templates do not say twice what they are.
    let registered = |name: &str| format!("{}.12", name.replace("macroenabledtemplate", "macroenabled"));
    with_macros.map(|name| registered(name)).or_else(|| main.first().map(|name| (*name).to_owned()))
}

fn is_document(name: &str) -> bool {
    let kind = name.strip_prefix("application/vnd.oasis.opendocument.");
    kind.is_some_and(|kind| is_name(kind) && !kind.contains(['/', '.'])) || name == "application/epub+zip"
}

/// Whether a part of a media type has a usual length and usual characters.
fn is_name(name: &str) -> bool {
    let is_usual = |byte: u8| byte.is_ascii_lowercase() || matches!(byte, b'/' | b'.' | b'-');
    (1..=MAX_NAME).contains(&name.len()) && name.bytes().all(is_usual)
}

/// The list of entries; `None` where it is not at its position or beyond the limits.
fn list(file: &File, size: u64) -> io::Result<Option<Vec<u8>>> {
    let length = size.min((END + MAX_COMMENT) as u64);
    let tail = read_up_to(file, size - length, usize::try_from(length).unwrap_or(END + MAX_COMMENT))?;
    let is_end = |at: &usize| {
        tail[*at..].starts_with(b"PK\x05\x06")
            && u16_at(&tail, at + 20).is_some_and(|comment| at + END + usize::from(comment) == tail.len())
    };
    let Some(at) = (0..=tail.len().saturating_sub(END)).rev().find(is_end) else { return Ok(None) };
    let end = &tail[at..];
    let (Some(disks), Some(entries), Some(length), Some(offset)) =
        (u32_at(end, 4), u16_at(end, 10), u32_at(end, 12), u32_at(end, 16))
    else {
        return Ok(None);
    };
    let position = size - tail.len() as u64 + at as u64;
    if disks != 0
        || entries > MAX_ENTRIES
        || length > MAX_LIST
        || u64::from(offset) + u64::from(length) != position
    {
        return Ok(None);
    }
    let length = usize::try_from(length).map_err(io::Error::other)?;
    let list = read_up_to(file, offset.into(), length)?;
    Ok((list.len() == length).then_some(list))
}

struct ZipEntry {
    encrypted: bool,
    method: u16,
    compressed: u32,
    offset: u32,
}

/// The first entry of that name.
fn find(list: &[u8], name: &[u8]) -> Option<ZipEntry> {
    let mut rest = list;
    while rest.starts_with(b"PK\x01\x02") {
        let lengths = [28, 30, 32].map(|at| u16_at(rest, at).map(usize::from));
        let [Some(of_name), Some(of_extra), Some(of_comment)] = lengths else { return None };
        if rest.get(46..46 + of_name)? == name {
            return Some(ZipEntry {
                encrypted: u16_at(rest, 8)? & 1 == 1,
                method: u16_at(rest, 10)?,
                compressed: u32_at(rest, 20)?,
                offset: u32_at(rest, 42)?,
            });
        }
        rest = rest.get(46 + of_name + of_extra + of_comment..)?;
    }
    None
}

/// The bytes of an entry, up to the limit; `None` for one that is encrypted, too long, or damaged.
fn read_entry(file: &File, entry: &ZipEntry) -> io::Result<Option<Vec<u8>>> {
    let header = read_up_to(file, entry.offset.into(), 30)?;
    let (Some(of_name), Some(of_extra)) = (u16_at(&header, 26), u16_at(&header, 28)) else { return Ok(None) };
    if !header.starts_with(b"PK\x03\x04") || entry.encrypted || entry.compressed > MAX_ENTRY {
        return Ok(None);
    }
    let begin = u64::from(entry.offset) + 30 + u64::from(of_name) + u64::from(of_extra);
    let compressed = read_up_to(file, begin, usize::try_from(entry.compressed).map_err(io::Error::other)?)?;
    match entry.method {
        0 => Ok(Some(compressed)),
        8 => {
            let mut bytes = Vec::new();
            let read = DeflateDecoder::new(&*compressed).take(MAX_ENTRY.into()).read_to_end(&mut bytes);
            Ok(read.is_ok().then_some(bytes))
        }
        _ => Ok(None),
    }
}
