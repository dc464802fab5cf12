//! Reads the chunks of the second pass ahead, on a thread of its own: while the records of one chunk are written, the next
//! one is parsed.

use super::chunk::{ImportLine, LineChunk};
use super::error::{ImportError, RecordError};
use super::lines::LineReader;
use super::passwords::PreparedPassword;
use super::prepared::{PreparedFile, PreparedLines};
use super::record::{self, ArchiveRecord};
use civitas_kernel::Error;
use std::io::{BufRead, Seek};
use tokio::sync::mpsc;
use tokio::task::{JoinHandle, spawn_blocking};

/// The chunks that wait to be written: one more is being read.
const WAITING: usize = 1;

/// What is done before the transaction begins.
#[derive(Default)]
pub(super) struct PreparedData {
    pub(super) passwords: PreparedLines<PreparedPassword>,
    pub(super) files: PreparedLines<PreparedFile>,
}

impl PreparedData {
    /// Begins with the first line again.
    fn rewind(&mut self) -> Result<(), Error> {
        self.passwords.rewind()?;
        self.files.rewind()
    }
}

/// The chunks of an archive, in their order.
pub(super) struct ChunkReader<R> {
    receiver: mpsc::Receiver<Result<LineChunk, ImportError>>,
    thread: JoinHandle<(R, PreparedData)>,
    /// The number of the last line that was received.
    pub(super) lines: u64,
}

impl<R: BufRead + Seek + Send + 'static> ChunkReader<R> {
    /// Begins to read, from the first line.
    pub(super) fn start(mut input: R, mut prepared: PreparedData) -> Self {
        let (sender, receiver) = mpsc::channel(WAITING);
        let thread = spawn_blocking(move || {
            let begun = input.rewind().map_err(Error::internal).and_then(|()| prepared.rewind());
            let following = begun.err().map(|error| Err(ImportError::Store(0, error)));
            let mut reader = ChunkParser { lines: LineReader::new(input), prepared, following };
            while let Some(chunk) = reader.next().transpose() {
                let is_last = chunk.is_err();
                // Nobody receives it when the import has failed.
                if sender.blocking_send(chunk).is_err() || is_last {
                    break;
                }
            }
            (reader.lines.into_input(), reader.prepared)
        });
        Self { receiver, thread, lines: 0 }
    }

    /// The next chunk; `None` at the end. An error comes after the lines before it.
    pub(super) async fn next(&mut self) -> Result<Option<LineChunk>, ImportError> {
        let chunk = self.receiver.recv().await.transpose()?;
        self.lines = chunk.as_ref().and_then(LineChunk::last).map_or(self.lines, |line| line.count);
        Ok(chunk)
    }

    /// Ends the reading, and gives back the archive and what was prepared.
    pub(super) async fn end(self) -> Result<(R, PreparedData), Error> {
        drop(self.receiver);
        self.thread.await.map_err(Error::internal)
    }
}

/// Reads chunks.
struct ChunkParser<R> {
    lines: LineReader<R>,
    prepared: PreparedData,
    /// What follows the last chunk: the first line of the next one, or why there is none.
    following: Option<Result<ImportLine, ImportError>>,
}

impl<R: BufRead> ChunkParser<R> {
    fn next(&mut self) -> Result<Option<LineChunk>, ImportError> {
        let mut chunk = LineChunk::default();
        if let Some(line) = self.following.take().transpose()? {
            chunk.push(line);
        }
        loop {
            match self.line() {
                Ok(Some(line)) if chunk.accepts(&line) => chunk.push(line),
                Ok(None) => return Ok(chunk.last().is_some().then_some(chunk)),
                Err(error) if chunk.last().is_none() => return Err(error),
                following => {
                    self.following = following.transpose();
                    return Ok(Some(chunk));
                }
            }
        }
    }

    fn line(&mut self) -> Result<Option<ImportLine>, ImportError> {
        let Self { lines, prepared, .. } = self;
        let (line, count) = match lines.next() {
            Ok(None) => return Ok(None),
            Ok(Some(line)) => (record::read(line), lines.count),
            Err(error) => return Err(RecordError::from(error.to_string()).at_line(lines.count, None)),
        };
        let (head, members) = line.map_err(|error| error.at_line(count, None))?;
        let failed = |error| ImportError::Store(count, error);
        Ok(Some(ImportLine {
            head,
            record: ArchiveRecord { organization: None, existing_id: None, members },
            long_texts: lines.long_texts(),
            password: prepared.passwords.take(count).map_err(failed)?.pop(),
            files: prepared.files.take(count).map_err(failed)?,
            count,
            length: lines.length(),
            bytes: lines.bytes,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{self, BufReader, Read};

    /// Ends with a panic.
    struct Broken(&'static [u8]);

    impl Read for Broken {
        fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
            assert!(!self.0.is_empty(), "the input is broken");
            self.0.read(to)
        }
    }

    impl Seek for Broken {
        fn seek(&mut self, _: io::SeekFrom) -> io::Result<u64> {
            Ok(0)
        }
    }

    fn read<R: Read + Seek + Send + 'static>(input: R) -> ChunkReader<BufReader<R>> {
        ChunkReader::start(BufReader::new(input), PreparedData::default())
    }

    async fn refs(
        chunks: &mut ChunkReader<impl BufRead + Seek + Send + 'static>,
    ) -> Result<Vec<String>, ImportError> {
        let lines = chunks.next().await?.map(LineChunk::into_lines).unwrap_or_default();
        Ok(lines.into_iter().map(|line| line.head.reference).collect())
    }

    #[tokio::test]
    async fn all_lines_come_in_their_order_and_an_error_after_those_before_it() {
        let input = "{\"type\": \"user\", \"ref\": \"a\"}\n{\"type\": \"user\", \"ref\": \"b\"}\n\
                     {\"type\": \"vote\", \"ref\": \"c\"}\n{\"type\": \"vote\"}\n{\"type\": \"vote\", \"ref\": \"d\"}";
        let mut chunks = read(io::Cursor::new(input));
        assert_eq!(refs(&mut chunks).await.unwrap(), ["a", "b"]);
        assert_eq!(chunks.lines, 2);
        assert_eq!(refs(&mut chunks).await.unwrap(), ["c"]);
        let error = refs(&mut chunks).await.unwrap_err();
        assert_eq!(error.to_string(), "line 4: ref is required");
        chunks.end().await.unwrap();
    }

    #[tokio::test]
    async fn an_end_before_the_end_of_the_archive_is_an_error() {
        let mut chunks = read(Broken(b"{\"type\": \"user\", \"ref\": \"a\"}\n"));
        while chunks.next().await.unwrap().is_some() {}
        chunks.end().await.map(drop).unwrap_err();
    }

    #[tokio::test]
    async fn the_thread_ends_when_the_import_fails() {
        let input = "{\"type\": \"user\", \"ref\": \"a\"}\n".repeat(1_000);
        let mut chunks = read(io::Cursor::new(input));
        assert_eq!(refs(&mut chunks).await.unwrap(), ["a"]);
        chunks.end().await.unwrap();
    }
}
