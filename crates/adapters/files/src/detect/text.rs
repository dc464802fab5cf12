//! Text: plain, markup and scripts.

use super::read_up_to;
use std::fs::File;
use std::io;

/// How much is read at a time, in bytes.
const CHUNK: usize = 64 * 1024;
/// How much of the begin of a text is searched for markup, in bytes.
const SEARCHED: usize = 1024;
/// Bytes without a character in Windows-1252.
const UNDEFINED: [u8; 5] = [0x81, 0x8d, 0x8f, 0x90, 0x9d];

/// The type of a file that is text as a whole: valid UTF-8, or characters of Windows-1252, without control characters
/// other than tab, line feed, form feed and carriage return.
pub(super) fn content_type(file: &File, head: &[u8]) -> io::Result<Option<&'static str>> {
    if head.is_empty() || !is_text(file)? {
        return Ok(None);
    }
    let begin = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
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
        "text/plain"
    }))
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
