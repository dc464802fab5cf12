//! Answers to request heads that actix-http refuses: malformed (400), late (408) or too large (431).
//!
//! actix-http writes such an answer itself, without a body, and has no place where another can be set. [`find`] recognizes
//! it at the end of written bytes; [`HeadErrors::answer`] makes the one that takes its place, in the shape of contract 01 §3.

use actix_web::body::MessageBody;
use actix_web::http::StatusCode;
use actix_web::http::header::HeaderName;
use civitas_api::head_error;
use std::fmt::Write;

/// How each answer of HTTP/1 begins.
const VERSION: &[u8] = b"HTTP/1.";
/// How each head ends.
const END: &str = "\r\n\r\n";
/// No answer of actix-http to a head is longer.
const LONGEST: usize = 192;

/// The statuses, as status lines have them.
const STATUSES: [(&str, StatusCode); 3] = [
    ("400 Bad Request", StatusCode::BAD_REQUEST),
    ("408 Request Timeout", StatusCode::REQUEST_TIMEOUT),
    ("431 Request Header Fields Too Large", StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE),
];

/// Makes the answers.
pub(crate) struct HeadErrors {
    /// The lines that each answer of the server has.
    headers: String,
}

/// An answer of actix-http to a request head that it refuses.
struct EmptyAnswer<'a> {
    status_line: &'a str,
    status: StatusCode,
    date: &'a str,
}

impl HeadErrors {
    /// `headers`: those of each answer of the server.
    pub(crate) fn new(headers: &[(HeaderName, &str)]) -> Self {
        Self {
            headers: headers
                .iter()
                .map(|(name, value)| [name.as_str(), ": ", value, "\r\n"].concat())
                .collect(),
        }
    }

    /// The answer in the shape of the contract that takes the place of this one, and a line in the log. `None` when it is
    /// not an answer of actix-http to a request head.
    pub(crate) fn answer(&self, empty: &[u8]) -> Option<Vec<u8>> {
        let empty = parse(empty)?;
        let (response, body) = head_error(empty.status)?.into_parts();
        let body = body.try_into_bytes().ok()?;
        let mut text =
            format!("{}\r\ncontent-length: {}\r\nconnection: close\r\n", empty.status_line, body.len());
        for (name, value) in response.headers() {
            // A text takes everything.
            let _ = write!(text, "{name}: {}\r\n", value.to_str().unwrap_or_default());
        }
        let _ = write!(text, "{}date: {}{END}", self.headers, empty.date);
        log(empty.status);
        let mut answer = text.into_bytes();
        answer.extend(body);
        Some(answer)
    }
}

/// Where an answer of actix-http to a request head begins, if the bytes end with one. A body of the application can end with
/// the same bytes.
pub(crate) fn find(bytes: &[u8]) -> Option<usize> {
    // Nearly no other bytes end so: this comparison is all it costs.
    if !bytes.ends_with(END.as_bytes()) {
        return None;
    }
    let before = bytes.len().saturating_sub(LONGEST);
    let start = before + bytes[before..].windows(VERSION.len()).rposition(|part| part == VERSION)?;
    parse(&bytes[start..]).map(|_| start)
}

fn parse(answer: &[u8]) -> Option<EmptyAnswer<'_>> {
    let (status_line, rest) = str::from_utf8(answer).ok()?.split_once("\r\n")?;
    let (_, named) = status_line.split_once(' ')?;
    let (_, status) = STATUSES.into_iter().find(|(line, _)| *line == named)?;
    let rest = rest.strip_prefix("content-length: 0\r\n")?;
    let rest = match rest.strip_prefix("connection: ") {
        Some(connection) => connection.split_once("\r\n")?.1,
        None => rest,
    };
    // Answers of the application have more headers.
    let date = rest.strip_prefix("date: ")?.strip_suffix(END).filter(|date| !date.contains("\r\n"))?;
    Some(EmptyAnswer { status_line, status, date })
}

fn log(status: StatusCode) {
    match status {
        StatusCode::REQUEST_TIMEOUT => tracing::debug!("a request head did not arrive in time"),
        StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE => tracing::debug!("a request head is too large"),
        _ => tracing::debug!("a request head is malformed"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::http::header::X_CONTENT_TYPE_OPTIONS;

    const DATE: &str = "date: Thu, 26 Nov 2026 10:00:00 GMT\r\n\r\n";

    #[test]
    fn each_answer_of_the_library_is_found_at_the_end() {
        for version in ["HTTP/1.0", "HTTP/1.1"] {
            for (line, _) in STATUSES {
                for connection in ["", "connection: close\r\n", "connection: keep-alive\r\n"] {
                    let answer = format!("{version} {line}\r\ncontent-length: 0\r\n{connection}{DATE}");
                    assert!(answer.len() <= LONGEST);
                    assert_eq!(find(answer.as_bytes()), Some(0), "{answer}");
                    let after = format!("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{{}}{answer}");
                    assert_eq!(find(after.as_bytes()), Some(after.len() - answer.len()), "{after}");
                    let before = format!("{answer}HTTP/1.1 204 No Content\r\n{DATE}");
                    assert_eq!(find(before.as_bytes()), None, "{before}");
                }
            }
        }
    }

    #[test]
    fn other_answers_are_not_found() {
        for other in [
            String::new(),
            "\r\n\r\n".to_owned(),
            format!("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n{DATE}"),
            format!("HTTP/1.1 400 Bad Request\r\ncontent-length: 10\r\n{DATE}"),
            format!(
                "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nx-content-type-options: nosniff\r\n{DATE}"
            ),
            format!("HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n{DATE}."),
        ] {
            assert_eq!(find(other.as_bytes()), None, "{other}");
        }
    }

    #[test]
    fn the_answer_has_the_shape_of_the_contract_and_the_headers_of_all_answers() {
        let errors = HeadErrors::new(&[(X_CONTENT_TYPE_OPTIONS, "nosniff")]);
        let empty = format!("HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n{DATE}");
        let answer = errors.answer(empty.as_bytes()).unwrap();
        let expected = format!(
            "HTTP/1.1 400 Bad Request\r\ncontent-length: 73\r\nconnection: close\r\n\
             content-type: application/json; charset=utf-8\r\nx-content-type-options: nosniff\r\n{DATE}\
             {{\"error\":\"400: Bad request\",\"error_description\":\"Malformed request head\"}}"
        );
        assert_eq!(String::from_utf8(answer).unwrap(), expected);
        assert!(errors.answer(expected.as_bytes()).is_none(), "an answer is replaced once");
    }
}
