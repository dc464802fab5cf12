//! Answers of the panel.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{self, ContentDisposition};
use actix_web::web::Bytes;
use civitas_kernel::Error;
use futures_util::stream::LocalBoxStream;
use std::fmt;

/// What pages may load and do: their own style sheet and script, nothing inline.
const CSP: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// The answer to a request.
#[derive(Debug)]
pub(crate) enum Reply {
    /// A page.
    Page {
        status: StatusCode,
        html: String,
        /// Values of `Set-Cookie`.
        cookies: Vec<String>,
        /// When to try again, in seconds.
        retry_after: Option<u64>,
    },
    /// A redirect to an address, which the browser reads with GET.
    Redirect {
        to: String,
        /// Values of `Set-Cookie`.
        cookies: Vec<String>,
    },
    /// A file to download, in parts.
    Download { media_type: &'static str, filename: String, chunks: Chunks },
    /// A file of the panel.
    File { media_type: &'static str, content: &'static str },
}

/// The parts of a file. After an error the connection is closed, so that the file is not taken as complete.
pub(crate) struct Chunks(pub(crate) LocalBoxStream<'static, Result<Bytes, Error>>);

impl fmt::Debug for Chunks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Chunks")
    }
}

impl Reply {
    pub(crate) fn page(status: StatusCode, html: String) -> Self {
        Self::Page { status, html, cookies: Vec::new(), retry_after: None }
    }

    /// With `Retry-After`, in seconds.
    pub(crate) fn with_retry_after(mut self, seconds: u64) -> Self {
        if let Self::Page { retry_after, .. } = &mut self {
            *retry_after = Some(seconds);
        }
        self
    }

    pub(crate) fn redirect(to: impl Into<String>) -> Self {
        Self::Redirect { to: to.into(), cookies: Vec::new() }
    }

    /// Sets these cookies too.
    pub(crate) fn with_cookies(mut self, more: Vec<String>) -> Self {
        if let Self::Page { cookies, .. } | Self::Redirect { cookies, .. } = &mut self {
            cookies.extend(more);
        }
        self
    }

    pub(crate) fn respond(self) -> HttpResponse {
        let (mut answer, caching) = match self {
            Self::Page { status, html, cookies, retry_after } => {
                let mut answer = HttpResponse::build(status);
                if let Some(seconds) = retry_after {
                    answer.insert_header((header::RETRY_AFTER, seconds.to_string()));
                }
                for cookie in cookies {
                    answer.append_header((header::SET_COOKIE, cookie));
                }
                (answer.content_type("text/html; charset=utf-8").body(html), "no-store")
            }
            Self::Redirect { to, cookies } => {
                let mut answer = HttpResponse::Found();
                for cookie in cookies {
                    answer.append_header((header::SET_COOKIE, cookie));
                }
                (answer.insert_header((header::LOCATION, to)).finish(), "no-store")
            }
            Self::Download { media_type, filename, chunks } => {
                let disposition = ContentDisposition::attachment(filename);
                let mut answer = HttpResponse::Ok();
                let answer = answer.content_type(media_type).insert_header(disposition);
                (answer.streaming(chunks.0), "no-store")
            }
            Self::File { media_type, content } => {
                let answer = HttpResponse::Ok().content_type(media_type).body(content);
                (answer, "public, max-age=31536000, immutable")
            }
        };
        set_header(&mut answer, header::CACHE_CONTROL, caching);
        set_header(&mut answer, header::CONTENT_SECURITY_POLICY, CSP);
        set_header(&mut answer, header::REFERRER_POLICY, "same-origin");
        answer
    }
}

fn set_header(answer: &mut HttpResponse, name: header::HeaderName, value: &'static str) {
    answer.headers_mut().insert(name, header::HeaderValue::from_static(value));
}
