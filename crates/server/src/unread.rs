//! Where the body of a request ends, by the bytes that have been read (RFC 9112, section 7.1).
//!
//! It says how much the dispatcher of actix-http gets. The dispatcher decides for itself where a body ends, and whether it is valid.

/// What was not read of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unread {
    /// All was read, or there is no body.
    Nothing,
    /// So many bytes, more than none.
    Bytes(u64),
    /// Chunks.
    Chunks(Chunks),
    /// The dispatcher finds the end, or refuses the body.
    Unknown,
}

impl Unread {
    /// The bytes of a body of this length.
    pub(crate) fn of_length(bytes: u64) -> Self {
        if bytes == 0 { Self::Nothing } else { Self::Bytes(bytes) }
    }

    /// Counts the bytes of the body at the beginning of these as read.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> Taken {
        let all_of = |length| Taken { length, has_data: length > 0 };
        match self {
            Self::Nothing => all_of(0),
            Self::Bytes(left) => {
                let taken = shorter(bytes, *left);
                *self = Self::of_length(*left - taken as u64);
                all_of(taken)
            }
            Self::Chunks(chunks) => {
                let taken = chunks.take(bytes);
                if taken.is_none() {
                    *self = Self::Unknown;
                } else if chunks.place == Place::End {
                    *self = Self::Nothing;
                }
                taken.unwrap_or(all_of(bytes.len()))
            }
            Self::Unknown => all_of(bytes.len()),
        }
    }
}

/// The beginning of some bytes, which belongs to a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Taken {
    /// How many bytes it has.
    pub(crate) length: usize,
    /// Whether one of them is for the handler, or ends the body with an error: sizes of chunks are not.
    pub(crate) has_data: bool,
}

/// The number of these bytes, or the smaller number.
fn shorter(bytes: &[u8], most: u64) -> usize {
    usize::try_from(most).map_or(bytes.len(), |most| most.min(bytes.len()))
}

/// A place in a body that comes in chunks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Chunks {
    place: Place,
    /// The size of the chunk, or what is left of it.
    left: u64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Place {
    /// In the size of a chunk.
    #[default]
    Size,
    /// Between the size and the end of its line.
    Extension,
    /// In the end of that line.
    SizeEnd,
    /// In the bytes of a chunk.
    Data,
    /// In the end of the line after them.
    DataEnd,
    DataEndHalf,
    /// At the beginning of a trailer, or of the empty line that ends the body.
    Line,
    /// In a trailer.
    Trailer,
    /// In the end of its line.
    TrailerEnd,
    /// In the end of the empty line.
    LastEnd,
    /// After the body.
    End,
}

impl Chunks {
    /// Goes to the end of the body, at most to that of these bytes; `None` if this is no body in chunks.
    fn take(&mut self, bytes: &[u8]) -> Option<Taken> {
        let (mut taken, mut has_data) = (0, false);
        while self.place != Place::End && taken < bytes.len() {
            if self.place == Place::Data {
                let data = shorter(&bytes[taken..], self.left);
                (self.left, taken, has_data) = (self.left - data as u64, taken + data, true);
                if self.left == 0 {
                    self.place = Place::DataEnd;
                }
            } else {
                self.place = self.after(bytes[taken])?;
                taken += 1;
            }
        }
        Some(Taken { length: taken, has_data })
    }

    /// The place after this byte, which is not one of a chunk.
    fn after(&mut self, byte: u8) -> Option<Place> {
        Some(match (self.place, byte) {
            (Place::Size, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => {
                let digit = char::from(byte).to_digit(16)?;
                self.left = self.left.checked_mul(16)? + u64::from(digit);
                Place::Size
            }
            (Place::Size | Place::Extension, b'\r') => Place::SizeEnd,
            (Place::Size, b' ' | b'\t' | b';') | (Place::Extension, _) => Place::Extension,
            (Place::SizeEnd, b'\n') if self.left == 0 => Place::Line,
            (Place::SizeEnd, b'\n') => Place::Data,
            (Place::DataEnd, b'\r') => Place::DataEndHalf,
            (Place::DataEndHalf, b'\n') => Place::Size,
            (Place::Line, b'\r') => Place::LastEnd,
            (Place::Trailer, b'\r') => Place::TrailerEnd,
            (Place::Line | Place::Trailer, _) => Place::Trailer,
            (Place::TrailerEnd, b'\n') => Place::Line,
            (Place::LastEnd, b'\n') => Place::End,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHUNKS: &str =
        "3\r\na\r\n\r\n1A;name=\"value\"\r\nabcdefghijklmnopqrstuvwxyz\r\n000\r\nexpires: never\r\n\r\n";

    /// Takes these bytes in parts of this length. Returns how many belong to the body, and what is left of it.
    fn taken(mut unread: Unread, bytes: &str, part: usize) -> (usize, Unread) {
        let mut taken = 0;
        for part in bytes.as_bytes().chunks(part) {
            let of_part = unread.take(part).length;
            taken += of_part;
            if of_part < part.len() {
                break;
            }
        }
        (taken, unread)
    }

    #[test]
    fn the_end_of_chunks_is_found_in_parts_of_any_length() {
        let chunks = Unread::Chunks(Chunks::default());
        for more in ["", "GET / HTTP/1.1\r\n\r\n", "\r\n"] {
            let bytes = format!("{CHUNKS}{more}");
            for part in 1..bytes.len() {
                assert_eq!(taken(chunks, &bytes, part), (CHUNKS.len(), Unread::Nothing), "{part}");
            }
        }
        for end in 0..CHUNKS.len() {
            let (length, left) = taken(chunks, &CHUNKS[..end], 7);
            assert!(length == end && matches!(left, Unread::Chunks(_)), "{end}: {left:?}");
        }
    }

    #[test]
    fn what_is_no_chunk_is_left_to_the_dispatcher() {
        for bytes in [
            "x\r\n",
            "-1\r\n",
            "1\na\r\n",
            "1\r\nabc\r\n",
            "1\r\na\n0\r\n\r\n",
            "0\r\n\r!",
            "11111111111111111\r\n",
            "5\r\nhello\r\n\r!",
        ] {
            let (length, left) = taken(Unread::Chunks(Chunks::default()), bytes, bytes.len());
            assert_eq!((length, left), (bytes.len(), Unread::Unknown), "{bytes:?}");
        }
    }

    #[test]
    fn the_sizes_of_chunks_are_no_data() {
        let mut unread = Unread::Chunks(Chunks::default());
        for (bytes, has_data) in [
            ("1", false),
            ("0\r", false),
            ("\nabc", true),
            ("d", true),
            ("efghijklmnop\r\n0", true),
            ("\r\n\r\n", false),
        ] {
            assert_eq!(unread.take(bytes.as_bytes()), Taken { length: bytes.len(), has_data }, "{bytes:?}");
        }
        assert_eq!(unread, Unread::Nothing);
        assert!(Unread::Chunks(Chunks::default()).take(b"!").has_data, "an error");
    }

    #[test]
    fn a_length_is_counted_down() {
        assert_eq!(taken(Unread::of_length(5), "body and more", 3), (5, Unread::Nothing));
        assert_eq!(taken(Unread::of_length(5), "body", 3), (4, Unread::Bytes(1)));
        assert_eq!(taken(Unread::of_length(u64::MAX), "body", 4), (4, Unread::Bytes(u64::MAX - 4)));
        assert_eq!(taken(Unread::of_length(0), "GET", 3), (0, Unread::Nothing));
    }
}
