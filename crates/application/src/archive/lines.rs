//! Reads a file of any length line by line.

use std::io::{self, BufRead, Read};

/// The maximum length of a line in bytes.
const MAX_BYTES: u64 = 64 << 20;

/// The lines of an archive.
pub(super) struct Lines<R> {
    input: R,
    buffer: Vec<u8>,
    /// The number of lines read.
    pub(super) count: u64,
    /// The number of bytes read.
    pub(super) bytes: u64,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input, buffer: Vec::new(), count: 0, bytes: 0 }
    }

    /// The next line that is not blank, without its line break; `None` at the end. Errors: the line is not UTF-8 or
    /// longer than [`MAX_BYTES`], or the input fails.
    pub(super) fn next(&mut self) -> io::Result<Option<&str>> {
        loop {
            self.buffer.clear();
            self.count += 1;
            let read = self.input.by_ref().take(MAX_BYTES + 1).read_until(b'\n', &mut self.buffer)?;
            self.bytes += read as u64;
            if read == 0 {
                self.count -= 1;
                return Ok(None);
            }
            if read as u64 > MAX_BYTES {
                return Err(io::Error::other(format!("is longer than {MAX_BYTES} bytes")));
            }
            if !self.buffer.trim_ascii().is_empty() {
                break;
            }
        }
        let line = str::from_utf8(self.buffer.trim_ascii()).map_err(|_| io::Error::other("is not UTF-8"))?;
        Ok(Some(line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_lines_are_counted_and_passed_over() {
        let mut lines = Lines::new("{}\r\n\n  \n{\"a\": 1}".as_bytes());
        assert_eq!(lines.next().unwrap(), Some("{}"));
        assert_eq!(lines.next().unwrap(), Some("{\"a\": 1}"));
        assert_eq!((lines.count, lines.bytes), (4, 16));
        assert_eq!(lines.next().unwrap(), None);
        assert_eq!(lines.count, 4);
    }

    #[test]
    fn bytes_that_are_no_text_are_refused() {
        let mut lines = Lines::new(&b"\xff\n"[..]);
        assert_eq!(lines.next().unwrap_err().to_string(), "is not UTF-8");
    }
}
