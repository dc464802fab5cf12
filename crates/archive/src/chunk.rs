//! Consecutive lines of one type and one organization: their records are imported together.

use super::lines::LongTexts;
use super::passwords::PreparedPassword;
use super::prepared::PreparedFile;
use super::record::{ArchiveRecord, RecordHead};
use std::collections::HashSet;

/// The most lines of a chunk.
const MAX_LINES: usize = 500;
/// The most bytes of its lines, without the last one.
const MAX_BYTES: usize = 4 << 20;

/// A line of the second pass.
pub(super) struct ImportLine {
    pub(super) head: RecordHead,
    pub(super) record: ArchiveRecord,
    /// Its long texts.
    pub(super) long_texts: LongTexts,
    /// Its password, hashed.
    pub(super) password: Option<PreparedPassword>,
    /// Its files, stored.
    pub(super) files: Vec<PreparedFile>,
    /// The number of the line.
    pub(super) count: u64,
    /// Its length in bytes, without long texts.
    pub(super) length: usize,
    /// The number of bytes of the archive up to its end.
    pub(super) bytes: u64,
}

/// Lines of one type and one organization, with different refs.
#[derive(Default)]
pub(super) struct LineChunk {
    lines: Vec<ImportLine>,
    refs: HashSet<String>,
    length: usize,
}

impl LineChunk {
    /// Whether a line can be added. Long texts are in open files: a line with some is the last.
    pub(super) fn accepts(&self, line: &ImportLine) -> bool {
        let Some(last) = self.last() else { return true };
        last.head.kind == line.head.kind
            && last.head.organization == line.head.organization
            && last.long_texts.is_empty()
            && self.lines.len() < MAX_LINES
            && self.length < MAX_BYTES
            && !self.refs.contains(&line.head.reference)
    }

    /// Adds a line that it accepts.
    pub(super) fn push(&mut self, line: ImportLine) {
        self.length += line.length;
        self.refs.insert(line.head.reference.clone());
        self.lines.push(line);
    }

    /// The line that was added last.
    pub(super) fn last(&self) -> Option<&ImportLine> {
        self.lines.last()
    }

    /// The lines in their order.
    pub(super) fn into_lines(self) -> Vec<ImportLine> {
        self.lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record;

    fn line(kind: &str, reference: &str, length: usize) -> ImportLine {
        let text = format!(r#"{{"type": "{kind}", "ref": "{reference}", "organization": "city"}}"#);
        let (head, members) = record::read(&text).unwrap();
        ImportLine {
            head,
            record: ArchiveRecord { organization: None, existing_id: None, members },
            long_texts: LongTexts::default(),
            password: None,
            files: Vec::new(),
            count: 1,
            length,
            bytes: 0,
        }
    }

    #[test]
    fn a_chunk_has_lines_of_one_type_with_different_refs() {
        let mut chunk = LineChunk::default();
        assert!(chunk.accepts(&line("vote", "a", 10)));
        chunk.push(line("vote", "a", 10));
        assert!(chunk.accepts(&line("vote", "b", 10)));
        assert!(!chunk.accepts(&line("vote", "a", 10)), "the second changes what the first adds");
        assert!(!chunk.accepts(&line("user", "b", 10)));
        let elsewhere = ImportLine {
            head: RecordHead { organization: None, ..line("vote", "b", 1).head },
            ..line("vote", "b", 1)
        };
        assert!(!chunk.accepts(&elsewhere));
    }

    #[test]
    fn a_chunk_has_a_maximum_of_lines_and_of_bytes() {
        let mut chunk = LineChunk::default();
        for number in 0..MAX_LINES {
            let next = line("vote", &number.to_string(), 10);
            assert!(chunk.accepts(&next));
            chunk.push(next);
        }
        assert!(!chunk.accepts(&line("vote", "more", 10)));
        assert_eq!(chunk.into_lines().len(), MAX_LINES);
        let mut chunk = LineChunk::default();
        chunk.push(line("vote", "a", MAX_BYTES));
        assert!(!chunk.accepts(&line("vote", "b", 10)));
    }
}
