//! Text: plain, markup and scripts.

use super::{MARK, read_up_to};
use std::fs::File;
use std::io;

/// How much is read at a time, in bytes.
const CHUNK: usize = 64 * 1024;
/// How much of the begin of a text is searched for markup, in bytes.
const SEARCHED: usize = 1024;
/// Text that is neither markup nor a script.
pub(super) const PLAIN: &str = "text/plain";
/// Bytes without a character in Windows-1252.
const UNDEFINED: [u8; 5] = [0x81, 0x8d, 0x8f, 0x90, 0x9d];

/// The type of a file that is text as a whole: UTF-16 after its byte order mark, valid UTF-8, or characters of Windows-1252,
/// without control characters other than tab, line feed, form feed and carriage return.
pub(super) fn content_type(file: &File, head: &[u8]) -> io::Result<Option<&'static str>> {
    let decoded = match head {
        [] => None,
        [0xff, 0xfe, ..] => utf16_begin(file, u16::from_le_bytes)?,
        [0xfe, 0xff, ..] => utf16_begin(file, u16::from_be_bytes)?,
        _ => is_text(file)?.then(|| head.to_vec()),
    };
    let Some(head) = decoded else { return Ok(None) };
    let begin = head.strip_prefix(MARK).unwrap_or(&head).trim_ascii_start();
    let searched = head[..head.len().min(SEARCHED)].to_ascii_lowercase();
    let contains = |needle: &str| searched.windows(needle.len()).any(|window| window == needle.as_bytes());
    let any = |needles: &[&str]| needles.iter().any(|needle| contains(needle));
    Ok(Some(if begin.starts_with(b"#!") {
        "text/x-shellscript"
    } else if begin.starts_with(b"%!PS") {
        "application/postscript"
    } else if any(&["<!doctype html", "<html", "<script", "<head", "<body", "<iframe", "<style", "<meta"])
        || infer::text::is_html(begin)
    {
        "text/html"
    } else if begin.starts_with(b"<?") || begin.starts_with(b"<!") || any(&["<?xml", "<svg", "<?php"]) {
        "application/xml"
    } else {
        PLAIN
    }))
}

/// The begin of a file of UTF-16, in UTF-8; `None` if it is not text as a whole.
fn utf16_begin(file: &File, unit: fn([u8; 2]) -> u16) -> io::Result<Option<Vec<u8>>> {
    let (mut begin, mut failed) = (String::new(), None);
    let chunks = (0..).map(|number| read_up_to(file, number * CHUNK as u64, CHUNK)).map_while(|chunk| {
        let chunk = chunk.map_err(|error| failed = Some(error)).ok()?;
        // Half a unit at the end is half a character.
        let units = chunk.chunks(2).map(|pair| pair.try_into().map_or(0xd800, unit));
        (!chunk.is_empty()).then(|| units.collect::<Vec<u16>>())
    });
    for character in char::decode_utf16(chunks.flatten()) {
        match character {
            Ok(character) if u8::try_from(character).is_ok_and(is_control) => return Ok(None),
            Ok(character) if begin.len() < SEARCHED => begin.push(character),
            Ok(_) => {}
            Err(_) => return Ok(None),
        }
    }
    failed.map_or(Ok(Some(begin.into_bytes())), Err)
}

fn is_text(file: &File) -> io::Result<bool> {
    let (mut utf8, mut windows) = (true, true);
    // The begin of a character that ends in the next chunk.
    let mut cut = Vec::new();
    let mut offset = 0;
    loop {
        let chunk = read_up_to(file, offset, CHUNK)?;
        if chunk.is_empty() {
            return Ok((utf8 && cut.is_empty()) || windows);
        }
        offset += chunk.len() as u64;
        windows = windows && !chunk.iter().any(|byte| UNDEFINED.contains(byte));
        if chunk.iter().copied().any(is_control) {
            return Ok(false);
        }
        if utf8 {
            cut.extend_from_slice(&chunk);
            match std::str::from_utf8(&cut) {
                Ok(_) => cut.clear(),
                Err(error) if error.error_len().is_none() => drop(cut.drain(..error.valid_up_to())),
                Err(_) => utf8 = false,
            }
        }
        if !utf8 && !windows {
            return Ok(false);
        }
    }
}

fn is_control(byte: u8) -> bool {
    matches!(byte, 0x00..=0x08 | 0x0b | 0x0e..=0x1f | 0x7f)
}
