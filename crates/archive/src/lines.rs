//! Reads a file of any length line by line. Long texts in a line, such as the base64 of files, are written to
//! temporary files, so that memory does not depend on their length.

use super::error::RecordError;
use std::fs::File;
use std::io::{self, BufRead, Read, Seek, Write};

/// The maximum length of a line in bytes, without its long texts.
const MAX_BYTES: usize = 64 << 20;
/// A text of a line that is longer is written to a temporary file, in bytes.
const LONG: usize = 1 << 20;
/// The begin of the mark of a long text. Authors cannot write it: U+0000 is refused.
const MARK: &str = "\0long text ";

/// The long texts of a line. In the line there is a mark instead of each.
#[derive(Debug, Default)]
pub(super) struct LongTexts(Vec<Option<File>>);

impl LongTexts {
    /// The long text that a text is the mark of; `None` for any other text.
    pub(super) fn take(&mut self, text: &str) -> Result<Option<File>, RecordError> {
        let Some(number) = text.strip_prefix(MARK) else { return Ok(None) };
        let number: Option<usize> = number.parse().ok();
        let file = number.and_then(|number| self.0.get_mut(number)?.take());
        file.map(Some).ok_or_else(|| "a text contains the character U+0000".into())
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a text is the mark of one of them.
    pub(super) fn has(&self, text: &str) -> bool {
        let number = text.strip_prefix(MARK).and_then(|number| number.parse::<usize>().ok());
        number.is_some_and(|number| number < self.0.len())
    }
}

/// The lines of an archive.
pub(super) struct LineReader<R> {
    input: R,
    buffer: Vec<u8>,
    /// The long texts of the current line.
    long_texts: LongTexts,
    /// The number of lines read.
    pub(super) count: u64,
    /// The number of bytes read.
    pub(super) bytes: u64,
}

/// Where a scan of a line is.
#[derive(Default)]
struct Scan {
    /// Where the current text begins in the buffer; `None` outside of texts.
    text: Option<usize>,
    is_escaped: bool,
    /// The temporary file of the current text.
    file: Option<File>,
}

impl<R: BufRead> LineReader<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input, buffer: Vec::new(), long_texts: LongTexts::default(), count: 0, bytes: 0 }
    }

    /// The input, after the last line that was read.
    pub(super) fn into_input(self) -> R {
        self.input
    }

    /// The length of the current line in bytes, without its long texts.
    pub(super) fn length(&self) -> usize {
        self.buffer.len()
    }

    /// The long texts of the current line.
    pub(super) fn long_texts(&mut self) -> LongTexts {
        std::mem::take(&mut self.long_texts)
    }

    /// The next line that is not blank, without its line break; `None` at the end. A byte order mark before the first line
    /// is left out. Errors: the line is not UTF-8 or longer than [`MAX_BYTES`], or the input fails.
    pub(super) fn next(&mut self) -> io::Result<Option<&str>> {
        loop {
            self.buffer.clear();
            self.long_texts = LongTexts::default();
            self.count += 1;
            let limit = LONG as u64;
            let read = self.input.by_ref().take(limit).read_until(b'\n', &mut self.buffer)? as u64;
            self.bytes += read;
            if read == 0 {
                self.count -= 1;
                return Ok(None);
            }
            if read == limit && self.buffer.last() != Some(&b'\n') {
                self.read_long()?;
            }
            if self.count == 1 && self.buffer.starts_with(b"\xef\xbb\xbf") {
                self.buffer.drain(..3);
            }
            if !self.buffer.trim_ascii().is_empty() {
                break;
            }
        }
        let line = str::from_utf8(self.buffer.trim_ascii()).map_err(|_| io::Error::other("is not UTF-8"))?;
        Ok(Some(line))
    }

    /// Reads the rest of a line whose begin is in the buffer.
    fn read_long(&mut self) -> io::Result<()> {
        let mut scan = Scan::default();
        let begin = std::mem::take(&mut self.buffer);
        self.scan(&mut scan, &begin)?;
        loop {
            let available = self.input.fill_buf()?;
            let end = available.iter().position(|b| *b == b'\n');
            let chunk = available[..end.unwrap_or(available.len())].to_vec();
            let read = chunk.len() + usize::from(end.is_some());
            self.input.consume(read);
            self.bytes += read as u64;
            self.scan(&mut scan, &chunk)?;
            if end.is_some() || read == 0 {
                return Ok(());
            }
        }
    }

    /// Adds bytes to the buffer, or to the temporary file of a long text.
    fn scan(&mut self, scan: &mut Scan, bytes: &[u8]) -> io::Result<()> {
        // The part of the bytes that is not yet written anywhere.
        let mut rest = 0;
        for (at, byte) in bytes.iter().enumerate() {
            match (scan.text, byte) {
                (None, b'"') => scan.text = Some(self.buffer.len() + at + 1 - rest),
                (Some(_), _) if scan.is_escaped => scan.is_escaped = false,
                (Some(_), b'\\') => scan.is_escaped = true,
                (Some(_), b'"') => {
                    scan.text = None;
                    if let Some(mut file) = scan.file.take() {
                        file.write_all(&bytes[rest..at])?;
                        file.rewind()?;
                        self.long_texts.0.push(Some(file));
                        rest = at;
                    }
                }
                _ => {}
            }
        }
        if let Some(file) = &mut scan.file {
            return file.write_all(&bytes[rest..]);
        }
        self.buffer.extend_from_slice(&bytes[rest..]);
        if let Some(start) = scan.text.filter(|start| self.buffer.len() - start >= LONG / 2) {
            let mut file = tempfile::tempfile()?;
            file.write_all(&self.buffer[start..])?;
            self.buffer.truncate(start);
            self.buffer.extend_from_slice(b"\\u0000");
            self.buffer.extend_from_slice(&MARK.as_bytes()[1..]);
            self.buffer.extend_from_slice(self.long_texts.0.len().to_string().as_bytes());
            scan.file = Some(file);
        }
        if self.buffer.len() > MAX_BYTES {
            return Err(io::Error::other(format!("is longer than {MAX_BYTES} bytes")));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_in_a_file_and_a_mark_is_in_the_line() {
        let (long, other) = ("QUJD".repeat(500_000), "x\\\"y".repeat(400_000));
        let archive =
            format!("{{\"a\": \"{long}\", \"b\": 1, \"c\": [\"{other}\", \"short\"]}}\n{{\"d\": 2}}\n");
        let mut lines = LineReader::new(io::BufReader::with_capacity(8_000, archive.as_bytes()));
        let line: serde_json::Value = serde_json::from_str(lines.next().unwrap().unwrap()).unwrap();
        let mut texts = lines.long_texts();
        for (mark, expected) in [(&line["a"], &long), (&line["c"][0], &other)] {
            let mark = mark.as_str().unwrap();
            assert!(texts.has(mark), "{mark:?}");
            let mut text = String::new();
            texts.take(mark).unwrap().unwrap().read_to_string(&mut text).unwrap();
            assert!(text == *expected, "{} bytes", text.len());
            assert!(texts.take(mark).is_err(), "each is read once");
        }
        assert_eq!((&line["b"], &line["c"][1]), (&1.into(), &"short".into()));
        assert_eq!(lines.next().unwrap(), Some("{\"d\": 2}"));
        assert_eq!(lines.next().unwrap(), None);
        assert_eq!(lines.bytes, archive.len() as u64);
    }

    #[test]
    fn a_mark_that_an_author_writes_is_none() {
        let mut texts = LongTexts::default();
        assert!(!texts.has("\0long text 0"));
        assert!(texts.take("\0long text 0").is_err());
        assert!(texts.take("long text 0").unwrap().is_none());
    }

    #[test]
    fn blank_lines_are_counted_and_passed_over() {
        let mut lines = LineReader::new("{}\r\n\n  \n{\"a\": 1}".as_bytes());
        assert_eq!(lines.next().unwrap(), Some("{}"));
        assert_eq!(lines.next().unwrap(), Some("{\"a\": 1}"));
        assert_eq!((lines.count, lines.bytes), (4, 16));
        assert_eq!(lines.next().unwrap(), None);
        assert_eq!(lines.count, 4);
    }

    #[test]
    fn a_byte_order_mark_before_the_first_line_is_left_out() {
        for (text, expected) in [
            ("\u{feff}{}\n{}", ["{}", "{}"]),
            ("\u{feff}\n\u{feff}{}\n{}", ["\u{feff}{}", "{}"]),
            ("{}\r\n\u{feff}{}", ["{}", "\u{feff}{}"]),
        ] {
            let mut lines = LineReader::new(text.as_bytes());
            for expected in expected {
                assert_eq!(lines.next().unwrap(), Some(expected), "{text:?}");
            }
            assert_eq!(lines.next().unwrap(), None);
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_refused() {
        let mut lines = LineReader::new(&b"\xff\n"[..]);
        assert_eq!(lines.next().unwrap_err().to_string(), "is not UTF-8");
    }
}
