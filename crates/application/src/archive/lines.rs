//! Lines of a file of any length, read one at a time.

use std::io::{self, BufRead, Read};

/// The longest line, in bytes: a record with an attachment of the largest usual size in it, with room to spare.
const LONGEST: u64 = 64 << 20;

/// The lines of an archive and how far they were read.
pub(super) struct Lines<R> {
    input: R,
    buffer: Vec<u8>,
    /// How many lines were read.
    pub(super) count: u64,
    /// How many bytes were read.
    pub(super) bytes: u64,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn of(input: R) -> Self {
        Self { input, buffer: Vec::new(), count: 0, bytes: 0 }
    }

    /// The next line that is not blank, without its end; `None` behind the last. What can not be read, is no
    /// UTF-8 or longer than [`LONGEST`] is an error.
    pub(super) fn next(&mut self) -> io::Result<Option<&str>> {
        loop {
            self.buffer.clear();
            self.count += 1;
            let read = self.input.by_ref().take(LONGEST + 1).read_until(b'\n', &mut self.buffer)?;
            self.bytes += read as u64;
            if read == 0 {
                self.count -= 1;
                return Ok(None);
            }
            if read as u64 > LONGEST {
                return Err(io::Error::other(format!("is longer than {LONGEST} bytes")));
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
        let mut lines = Lines::of("{}\r\n\n  \n{\"a\": 1}".as_bytes());
        assert_eq!(lines.next().unwrap(), Some("{}"));
        assert_eq!(lines.next().unwrap(), Some("{\"a\": 1}"));
        assert_eq!((lines.count, lines.bytes), (4, 16));
        assert_eq!(lines.next().unwrap(), None);
        assert_eq!(lines.count, 4);
    }

    #[test]
    fn bytes_that_are_no_text_are_refused() {
        let mut lines = Lines::of(&b"\xff\n"[..]);
        assert_eq!(lines.next().unwrap_err().to_string(), "is not UTF-8");
    }
}
