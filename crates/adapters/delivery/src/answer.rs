//! Reads the parts of an answer that are stored.

use civitas_webhooks::ReceiverResponse;
use std::time::Duration;
use time::OffsetDateTime;

/// The most bytes of a body that are read. The connection is closed where a body is longer.
const MAX_BODY: usize = 64 * 1024;

/// Reads an answer up to [`MAX_BODY`]. `at`: when the head arrived.
pub(crate) async fn read_response(
    mut response: reqwest::Response,
    at: OffsetDateTime,
) -> reqwest::Result<ReceiverResponse> {
    let status = response.status().as_u16();
    let header = response.headers().get(reqwest::header::RETRY_AFTER);
    let retry_after = header.and_then(|value| retry_after(value.to_str().ok()?, at));
    let (mut stored, mut length) = (Vec::new(), 0);
    while length < MAX_BODY
        && let Some(chunk) = response.chunk().await?
    {
        length += chunk.len();
        let wanted = ReceiverResponse::MAX_STORED_BODY_BYTES - stored.len();
        stored.extend_from_slice(&chunk[..wanted.min(chunk.len())]);
    }
    let is_cut = length > stored.len();
    Ok(ReceiverResponse { status, retry_after, body: printable_text(&stored, is_cut) })
}

/// The text of the first bytes of a body, at most [`ReceiverResponse::MAX_STORED_BODY_BYTES`] bytes. Bytes that are not UTF-8,
/// and control characters, which databases and terminals may not accept, are replaced. `is_cut`: more bytes followed;
/// then an incomplete character at the end is left out.
pub(crate) fn printable_text(bytes: &[u8], is_cut: bool) -> String {
    let whole = match std::str::from_utf8(bytes) {
        Err(error) if is_cut && error.error_len().is_none() => &bytes[..error.valid_up_to()],
        _ => bytes,
    };
    let mut text = String::with_capacity(whole.len());
    for character in String::from_utf8_lossy(whole).chars() {
        let is_printable = !character.is_control() || matches!(character, '\t' | '\n' | '\r');
        let character = if is_printable { character } else { char::REPLACEMENT_CHARACTER };
        if text.len() + character.len_utf8() > ReceiverResponse::MAX_STORED_BODY_BYTES {
            break;
        }
        text.push(character);
    }
    text
}

/// The delay of a `Retry-After` header: seconds, or the time until a date (RFC 9110, 10.2.3). `None` if it is neither;
/// zero for a date in the past.
fn retry_after(value: &str, now: OffsetDateTime) -> Option<Duration> {
    let value = value.trim();
    if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        // A number that is too large is the longest delay.
        return Some(Duration::from_secs(value.parse::<u32>().unwrap_or(u32::MAX).into()));
    }
    let date = OffsetDateTime::from(httpdate::parse_http_date(value).ok()?);
    Some((date - now).try_into().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::macros::datetime;

    #[test]
    fn retry_after_is_read_in_seconds_and_as_a_date() {
        let now = datetime!(2026-03-02 10:00 UTC);
        let delay = |value: &str| retry_after(value, now).map(|delay| delay.as_secs());
        for (value, seconds) in [
            ("0", Some(0)),
            ("120", Some(120)),
            (" 120 ", Some(120)),
            ("99999999999999999999999", Some(u32::MAX.into())),
            ("Mon, 02 Mar 2026 10:02:00 GMT", Some(120)),
            ("Monday, 02-Mar-26 10:02:00 GMT", Some(120)),
            ("Mon Mar  2 10:02:00 2026", Some(120)),
            ("Mon, 02 Mar 2020 10:02:00 GMT", Some(0)),
            ("", None),
            ("-1", None),
            ("1.5", None),
            ("soon", None),
            ("2026-03-02T10:02:00Z", None),
        ] {
            assert_eq!(delay(value), seconds, "{value}");
        }
    }

    #[test]
    fn the_text_of_a_body_ends_with_a_whole_character() {
        let mut bytes = vec![b'a'; 1023];
        bytes.extend_from_slice(&"é".as_bytes()[..1]);
        assert_eq!(printable_text(&bytes, true), "a".repeat(1023));
        assert_eq!(printable_text("é".as_bytes(), true), "é");
        assert_eq!(printable_text(b"\xC3", false), "\u{FFFD}", "the body ends with half a character");
    }

    #[test]
    fn bytes_that_are_not_text_are_replaced_and_the_text_is_not_longer_than_its_limit() {
        assert_eq!(printable_text(b"a\0b\xFFc\x1B[0m\n\t", false), "a\u{FFFD}b\u{FFFD}c\u{FFFD}[0m\n\t");
        let long = printable_text(&[0xFF; 1024], true);
        assert_eq!(long.len(), 1023);
        assert!(long.chars().all(|character| character == '\u{FFFD}'));
    }
}
