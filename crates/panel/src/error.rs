//! Errors of pages: which status and page they have, and what a refused form says.

use crate::parts::{Alone, Html, Problem, render};
use crate::reply::Reply;
use crate::request::SIGN_IN_PATH;
use crate::words::Words;
use actix_web::http::StatusCode;
use askama::Template;
use civitas_application::RetryAfter;
use civitas_kernel::{Error, FieldError, sortable_id};
use time::OffsetDateTime;

/// When a form may be sent again while the deployment is read-only, in seconds.
const READ_ONLY_SECONDS: u64 = 60;

#[derive(Template)]
#[template(path = "pages/broken.html")]
struct Broken<'a> {
    words: &'a Words,
    lede: String,
    request: String,
    time: String,
}

#[derive(Template)]
#[template(
    source = r#"<p>{{ text }}</p><div class="acts"><a class="button" href="{{ href }}">{{ label }}</a></div>"#,
    ext = "html"
)]
struct Short {
    text: String,
    href: String,
    label: String,
}

/// The status of an error.
pub(crate) fn status(error: &Error) -> StatusCode {
    match error {
        Error::Unauthenticated | Error::Forbidden => StatusCode::FORBIDDEN,
        Error::NotFound => StatusCode::NOT_FOUND,
        Error::Rejected(_)
        | Error::MissingParameter(_)
        | Error::Invalid { .. }
        | Error::OAuth { .. }
        | Error::AnswerTooLong => StatusCode::UNPROCESSABLE_ENTITY,
        Error::Disabled => StatusCode::NOT_IMPLEMENTED,
        Error::TooManyRequests(_) => StatusCode::TOO_MANY_REQUESTS,
        Error::Conflict(_) | Error::Unavailable(_) | Error::Timeout(_) => StatusCode::SERVICE_UNAVAILABLE,
        Error::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// The page of a failed request. It needs no database: the cause may be that there is none.
pub(crate) fn page(words: &Words, error: &Error, now: OffsetDateTime) -> Reply {
    let status = status(error);
    if status.is_server_error() {
        let request = sortable_id().simple().to_string();
        tracing::error!(%error, cause = ?error.cause(), request, "a page of the panel failed");
        let key = if error.is_transient() { "broken-busy" } else { "broken-lede" };
        let time = crate::format::date_time_seconds(words.locale, crate::format::Zone::utc(), now);
        let body = render(&Broken { words, lede: words.say(key), request, time: format!("{time} UTC") });
        return alone(words, status, words.say("broken-title"), body);
    }
    let text = match status {
        StatusCode::NOT_FOUND => words.say("missing-lede"),
        _ => error.description().into_owned(),
    };
    let title = match status {
        StatusCode::NOT_FOUND => words.say("missing-title"),
        StatusCode::FORBIDDEN => words.say("forbidden-title"),
        _ => words.say("refused-title"),
    };
    let body = render(&Short { text, href: "/system".to_owned(), label: words.say("nav-start") });
    alone(words, status, title, body)
}

/// The page of a form whose token is missing, wrong or used. `href` leads to it again.
pub(crate) fn stale(words: &Words, href: String) -> Reply {
    let body = render(&Short { text: words.say("stale-lede"), href, label: words.say("stale-open") });
    alone(words, StatusCode::FORBIDDEN, words.say("stale-title"), body)
}

/// The page after too many refused sign-ins from one address.
pub(crate) fn too_many(words: &Words, wait: RetryAfter) -> Reply {
    let seconds = wait.seconds();
    let text = words.tell("too-many-lede", &[("seconds", seconds.to_string().into())]);
    let body = render(&Short { text, href: SIGN_IN_PATH.to_owned(), label: words.say("too-many-open") });
    alone(words, StatusCode::TOO_MANY_REQUESTS, words.say("too-many-title"), body).after(seconds)
}

/// The page of a form while the deployment is read-only.
pub(crate) fn read_only(words: &Words) -> Reply {
    let text = words.say("read-only-lede");
    let body = render(&Short { text, href: "/system".to_owned(), label: words.say("nav-start") });
    alone(words, StatusCode::SERVICE_UNAVAILABLE, words.say("read-only-title"), body).after(READ_ONLY_SECONDS)
}

/// The page of a form that could not be read.
pub(crate) fn unread(words: &Words, status: StatusCode) -> Reply {
    let key = if status == StatusCode::PAYLOAD_TOO_LARGE { "unread-large" } else { "unread-lede" };
    let body =
        render(&Short { text: words.say(key), href: "/system".to_owned(), label: words.say("nav-start") });
    alone(words, status, words.say("refused-title"), body)
}

fn alone(words: &Words, status: StatusCode, title: String, body: Html) -> Reply {
    Reply::page(status, Alone { words, title, body, locales: Vec::new() }.html())
}

/// The problems of a refused form, or the error itself when no value is to blame. `field` gives the name in the form of
/// a member.
pub(crate) fn problems(
    words: &Words,
    error: Error,
    field: impl Fn(&FieldError) -> String,
) -> Result<Vec<Problem>, Error> {
    match error {
        Error::Invalid { fields, .. } => {
            let problem = |fault: &FieldError| {
                let of_record = fault.field == "revision";
                Problem::new(if of_record { String::new() } else { field(fault) }, sentence(words, fault))
            };
            Ok(fields.iter().map(problem).collect())
        }
        Error::Rejected(text) => Ok(vec![Problem::new("", text.into_owned())]),
        other => Err(other),
    }
}

/// What is wrong with a value, in the language of the page where it has this sentence.
pub(crate) fn sentence(words: &Words, fault: &FieldError) -> String {
    let key = match fault.code.as_ref() {
        "blank" => "problem-blank",
        "taken" => "problem-taken",
        "inclusion" => "problem-inclusion",
        "greater_than" => "problem-greater",
        "before_start" => "problem-before-start",
        "changed_meanwhile" => "problem-changed-meanwhile",
        "too_long" => {
            let numbers = fault.description.split(|c: char| !c.is_ascii_digit());
            let most = numbers.filter_map(|digits| digits.parse::<i64>().ok()).next_back();
            let most = most.map(|most| crate::format::number(words.locale, most)).unwrap_or_default();
            return words.tell("problem-long", &[("most", most.into())]);
        }
        _ => return format!("{}.", fault.description.trim_end_matches('.')),
    };
    words.say(key)
}
