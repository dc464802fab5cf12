//! What the dispatcher of actix-http gets of what was read: a head, or a part of a body, at once.
//!
//! The dispatcher parses all requests that it gets, and keeps in one place for all of them what an answer depends on (the method,
//! the version, whether the connection ends). So it gets the next head only when it needs it.
//!
//! An offer of another protocol (`Connection: Upgrade`, RFC 9110, 7.8) does not reach the dispatcher: it would answer
//! `connection: upgrade` and end the connection, or read the rest of the connection as the body.

use crate::unread::{Taken, Unread};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, ReadBuf};

/// The most bytes of a piece.
pub(crate) const LONGEST: usize = 8 * 1024;

/// What may be passed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Bytes up to the end of one head, and the body if all of it was read with the head: a request that is refused without its
    /// body ends the connection, unless the dispatcher has the body.
    Head,
    /// A part of what was not read of a body.
    Body(Unread),
}

/// What was passed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Passed {
    /// A part of a head, or all of it.
    Head {
        /// Whether more than ends of lines was passed on of this head.
        has_begun: bool,
        /// How many bytes of the body follow in the piece.
        body: usize,
    },
    /// A part of a body.
    Body {
        /// What is left of it.
        left: Unread,
        /// Whether the part has more than sizes of chunks.
        has_data: bool,
    },
}

/// Passes on one piece after the other. What was read with a head and comes after it stays here.
#[derive(Debug, Default)]
pub(crate) struct Pieces {
    /// Bytes that were read; the first `passed` of them are passed on.
    bytes: Vec<u8>,
    passed: usize,
    head: HeadEnd,
}

/// Finds the ends of heads in bytes that come in parts: the first empty line after a line that is not empty.
#[derive(Debug, Default)]
struct HeadEnd {
    /// Whether there was a byte besides ends of lines.
    has_content: bool,
    /// Whether there was none since the last end of a line.
    is_line_empty: bool,
    /// What must follow in the line for it to be one of [`OFFERING`]; nothing in its value.
    offer: Option<&'static [u8]>,
}

/// The headers that offer another protocol.
const OFFERING: [&[u8]; 2] = [b"connection:", b"upgrade:"];

/// What must follow after this byte.
fn after(name: &'static [u8], byte: u8) -> Option<&'static [u8]> {
    let Some((first, rest)) = name.split_first() else { return Some(name) };
    first.eq_ignore_ascii_case(&byte).then_some(rest)
}

impl Pieces {
    /// Appends the next piece to the buffer, nothing at the end of the stream.
    pub(crate) fn poll_next(
        &mut self,
        stream: Pin<&mut impl AsyncRead>,
        cx: &mut Context<'_>,
        piece: Piece,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<Passed>> {
        let most = match piece {
            Piece::Body(Unread::Bytes(left)) => {
                usize::try_from(left).map_or(LONGEST, |left| left.min(LONGEST))
            }
            Piece::Head | Piece::Body(_) => LONGEST,
        };
        let most = most.min(buffer.remaining());
        if self.is_empty() {
            return self.poll_read(stream, cx, piece, most, buffer);
        }
        let rest = &mut self.bytes[self.passed..];
        let most = rest.len().min(most);
        let rest = &mut rest[..most];
        let (length, passed) = self.head.piece(piece, rest);
        buffer.put_slice(&rest[..length]);
        self.passed += length;
        if self.is_empty() {
            (self.bytes, self.passed) = (Vec::new(), 0);
        }
        Poll::Ready(Ok(passed))
    }

    /// Whether nothing is left that was read.
    fn is_empty(&self) -> bool {
        self.passed == self.bytes.len()
    }

    fn poll_read(
        &mut self,
        stream: Pin<&mut impl AsyncRead>,
        cx: &mut Context<'_>,
        piece: Piece,
        most: usize,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<Passed>> {
        let mut part = ReadBuf::new(buffer.initialize_unfilled_to(most));
        ready!(stream.poll_read(cx, &mut part))?;
        let (length, passed) = self.head.piece(piece, part.filled_mut());
        self.bytes.extend(&part.filled()[length..]);
        buffer.advance(length);
        Poll::Ready(Ok(passed))
    }
}

impl HeadEnd {
    /// The length of a piece at the beginning of these bytes, and what it is.
    fn piece(&mut self, piece: Piece, bytes: &mut [u8]) -> (usize, Passed) {
        if let Piece::Body(mut left) = piece {
            let Taken { length, has_data } = left.take(bytes);
            return (length, Passed::Body { left, has_data });
        }
        let is_whole = !self.has_content;
        let Some(end) = self.find(bytes) else {
            return (bytes.len(), Passed::Head { has_begun: self.has_content, body: 0 });
        };
        let (head, rest) = bytes.split_at(end);
        let body = if is_whole && !rest.is_empty() { body_length(head) } else { None };
        let body = body.filter(|body| *body <= rest.len()).unwrap_or_default();
        (end + body, Passed::Head { has_begun: true, body })
    }

    /// Where the head ends in its next bytes; `None`: after them. At the end it begins with the next head. An offer becomes
    /// unreadable: `upgrade` and `websocket` lose their first character, which is not in the options `close` and `keep-alive`.
    fn find(&mut self, bytes: &mut [u8]) -> Option<usize> {
        for (at, byte) in bytes.iter_mut().enumerate() {
            match byte {
                b'\n' if self.has_content && self.is_line_empty => {
                    *self = Self::default();
                    return Some(at + 1);
                }
                b'\n' => self.is_line_empty = true,
                b'\r' => {}
                _ => {
                    let mut begun = self.offer.as_slice();
                    if self.is_line_empty || !self.has_content {
                        begun = &OFFERING;
                    }
                    self.offer = begun.iter().find_map(|name| after(name, *byte));
                    if self.offer.is_some_and(<[u8]>::is_empty) && b"uUwW".contains(byte) {
                        *byte = b'-';
                    }
                    (self.has_content, self.is_line_empty) = (true, false);
                }
            }
        }
        None
    }
}

/// The length of a body, by its head. The dispatcher decides whether the head is valid.
fn body_length(head: &[u8]) -> Option<usize> {
    head.split(|byte| *byte == b'\n').find_map(|line| {
        let colon = line.iter().position(|byte| *byte == b':')?;
        let is_length = line[..colon].eq_ignore_ascii_case(b"content-length");
        is_length.then(|| str::from_utf8(&line[colon + 1..]).ok()?.trim().parse().ok())?
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unread::Chunks;
    use std::task::Waker;

    const GET: &str = "GET / HTTP/1.1\r\nhost: a\r\n\r\n";

    fn part(bytes: u64) -> Piece {
        Piece::Body(Unread::of_length(bytes))
    }

    /// The pieces that are passed on of these bytes, one for each that is wanted.
    fn pieces(bytes: &str, wanted: &[Piece], capacity: usize) -> Vec<String> {
        let (mut pieces, mut stream) = (Pieces::default(), bytes.as_bytes());
        let mut next = |piece: &Piece| {
            let mut passed = vec![0; capacity];
            let mut buffer = ReadBuf::new(&mut passed);
            let cx = &mut Context::from_waker(Waker::noop());
            assert!(pieces.poll_next(Pin::new(&mut stream), cx, *piece, &mut buffer).is_ready());
            String::from_utf8(buffer.filled().to_vec()).unwrap()
        };
        wanted.iter().map(&mut next).collect()
    }

    #[test]
    fn each_head_is_a_piece() {
        let heads = [GET, "\r\n\nHEAD / HTTP/1.0\n\n", GET, "GET / HT"];
        assert_eq!(pieces(&heads.concat(), &[Piece::Head; 5], 8192), [&heads[..], &[""]].concat());
    }

    #[test]
    fn a_head_may_come_in_parts() {
        let (found, both) = (pieces(&GET.repeat(2), &[Piece::Head; 8], 10), GET.repeat(2));
        assert_eq!(found.concat(), both);
        assert_eq!(found[..3].concat(), GET, "it ends with a piece");
        let long = format!("GET /{} HTTP/1.1\r\n\r\n", "a".repeat(2 * LONGEST));
        let found = pieces(&format!("{long}{GET}"), &[Piece::Head; 4], 3 * LONGEST);
        assert_eq!(found.iter().map(String::len).max(), Some(LONGEST));
        assert_eq!((found[..3].concat(), &*found[3]), (long, GET));
    }

    #[test]
    fn a_body_that_was_read_with_its_head_is_in_its_piece() {
        let post = "POST / HTTP/1.1\r\nContent-Length: 4\r\n\r\nbody";
        assert_eq!(pieces(&[post, GET].concat(), &[Piece::Head; 2], 8192), [post, GET]);
        let begun = &post[..post.len() - 1];
        assert_eq!(pieces(begun, &[Piece::Head, part(4)], 8192), [&post[..post.len() - 4], "bod"]);
        for lengths in ["-1", "99999999999999999999", "", "4, 4"] {
            let post = post.replace(": 4", &format!(": {lengths}"));
            assert_eq!(pieces(&post, &[Piece::Head], 8192), [&post[..post.len() - 4]]);
        }
    }

    /// The second part looks like another header.
    #[test]
    fn the_length_of_a_body_is_not_looked_for_in_a_part_of_a_head() {
        let head = format!("GET / HTTP/1.1\r\nx-content-length: {}\r\n\r\n", GET.len());
        for capacity in 18..head.len() {
            let found = pieces(&[&head, GET].concat(), &[Piece::Head; 2], capacity).concat();
            assert!(found.len() <= head.len(), "{capacity}: {found}");
        }
    }

    #[test]
    fn no_more_of_a_body_is_passed_on_than_is_wanted() {
        let body = "a\n\nb".repeat(5000);
        let wanted = [Piece::Head, part(3), part(u64::MAX), part(2), Piece::Head];
        let found = pieces(&format!("{GET}{body}"), &wanted, 3 * LONGEST);
        let lengths: Vec<_> = found.iter().map(String::len).collect();
        assert_eq!((&*found[0], &*found[1]), (GET, "a\n\n"));
        assert!((1..=LONGEST).contains(&lengths[2]) && lengths[3] == 2, "{lengths:?}");
    }

    #[test]
    fn chunks_are_passed_on_to_their_end() {
        let post = "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n";
        let (chunks, body) = ("2\r\n{}\r\n0\r\n\r\n", Piece::Body(Unread::Chunks(Chunks::default())));
        let bytes = [post, chunks, GET, GET].concat();
        assert_eq!(
            pieces(&bytes, &[Piece::Head, body, Piece::Head, Piece::Head], 8192),
            [post, chunks, GET, GET]
        );
    }

    #[test]
    fn an_offer_of_another_protocol_is_unreadable_and_nothing_else_is_altered() {
        let post = "POST /upgrade HTTP/1.1\r\nhost: upgrade\r\nconnection: close, Upgrade\r\nUPGRADE: WebSocket\r\n\
                    Connection:keep-alive,upgrade\r\nx-connection: upgrade\r\nupgrades: h2c, websocket\r\n\
                    content-length: 21\r\n\r\n\nconnection: upgrade\n";
        let expected = post
            .replace("close, Upgrade", "close, -pgrade")
            .replace("WebSocket", "-ebSocket")
            .replace("keep-alive,upgrade", "keep-alive,-pgrade");
        for capacity in [1, 10, 8192] {
            let mut wanted = vec![Piece::Head; (post.len() - 21).div_ceil(capacity)];
            wanted.extend(vec![part(21); 21]);
            assert_eq!(pieces(post, &wanted, capacity).concat(), expected, "{capacity}");
        }
    }

    #[test]
    fn ends_of_lines_before_a_head_are_not_its_beginning() {
        let mut head = HeadEnd::default();
        for (bytes, has_begun) in
            [("\r\n", false), ("\n", false), ("G", true), ("ET /\r\n", true), ("\r\n", true)]
        {
            let passed = Passed::Head { has_begun, body: 0 };
            assert_eq!(head.piece(Piece::Head, &mut bytes.as_bytes().to_vec()), (bytes.len(), passed));
        }
        assert_eq!(
            head.piece(Piece::Head, &mut b"\r\n".to_vec()).1,
            Passed::Head { has_begun: false, body: 0 }
        );
    }
}
