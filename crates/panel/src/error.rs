//! Errors: the status and the page of each, and the problems of a refused form.

use crate::parts::{FormError, FormErrors, Html, StandalonePage, render};
use crate::reply::Reply;
use crate::request::SIGN_IN_PATH;
use crate::translator::Translator;
use actix_web::http::StatusCode;
use askama::Template;
use civitas_application::RetryAfter;
use civitas_kernel::{Error, FieldError, sortable_id};
use time::OffsetDateTime;

/// When a form may be sent again while the deployment is read-only, in seconds.
const READ_ONLY_SECONDS: u64 = 60;

#[derive(Template)]
#[template(path = "pages/broken.html")]
struct ServerErrorPage<'a> {
    translator: &'a Translator,
    lede: String,
    request: String,
    time: String,
}

#[derive(Template)]
#[template(
    source = r#"<p>{{ text }}</p><div class="acts"><a class="button" href="{{ href }}">{{ label }}</a></div>"#,
    ext = "html"
)]
struct MessageAndLink {
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
        Error::ReadOnly
        | Error::NotServed
        | Error::Conflict(_)
        | Error::Unavailable(_)
        | Error::Timeout(_) => StatusCode::SERVICE_UNAVAILABLE,
        Error::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// The page of a failed request. It needs no database: the cause may be that there is none.
pub(crate) fn page(translator: &Translator, error: &Error, now: OffsetDateTime) -> Reply {
    let status = status(error);
    if status.is_server_error() {
        let request = sortable_id().simple().to_string();
        tracing::error!(%error, cause = ?error.cause(), request, "a page of the panel failed");
        let key = if error.is_transient() { "broken-busy" } else { "broken-lede" };
        let time = crate::format::date_time_seconds(translator.locale, crate::format::Zone::utc(), now);
        let body = render(&ServerErrorPage {
            translator,
            lede: translator.tr(key),
            request,
            time: format!("{time} UTC"),
        });
        return standalone_page(translator, status, translator.tr("broken-title"), body);
    }
    let text = match status {
        StatusCode::NOT_FOUND => translator.tr("missing-lede"),
        _ => error.description().into_owned(),
    };
    let title = match status {
        StatusCode::NOT_FOUND => translator.tr("missing-title"),
        StatusCode::FORBIDDEN => translator.tr("forbidden-title"),
        _ => translator.tr("refused-title"),
    };
    let body =
        render(&MessageAndLink { text, href: "/system".to_owned(), label: translator.tr("nav-start") });
    standalone_page(translator, status, title, body)
}

/// The page of a form whose token is missing, wrong or used. `href` leads to it again.
pub(crate) fn expired_form_page(translator: &Translator, href: String) -> Reply {
    let body = render(&MessageAndLink {
        text: translator.tr("stale-lede"),
        href,
        label: translator.tr("stale-open"),
    });
    standalone_page(translator, StatusCode::FORBIDDEN, translator.tr("stale-title"), body)
}

/// The page after too many refused sign-ins from one address.
pub(crate) fn too_many_sign_ins_page(translator: &Translator, wait: RetryAfter) -> Reply {
    let seconds = wait.seconds();
    let text = translator.tr_with("too-many-lede", "seconds", seconds.to_string());
    let body = render(&MessageAndLink {
        text,
        href: SIGN_IN_PATH.to_owned(),
        label: translator.tr("too-many-open"),
    });
    standalone_page(translator, StatusCode::TOO_MANY_REQUESTS, translator.tr("too-many-title"), body)
        .with_retry_after(seconds)
}

/// The page of a form while the deployment is read-only.
pub(crate) fn read_only_page(translator: &Translator) -> Reply {
    let text = format!("{} {}", translator.tr("read-only-lede"), translator.tr("read-only-stored"));
    let body =
        render(&MessageAndLink { text, href: "/system".to_owned(), label: translator.tr("nav-start") });
    standalone_page(translator, StatusCode::SERVICE_UNAVAILABLE, translator.tr("read-only-title"), body)
        .with_retry_after(READ_ONLY_SECONDS)
}

/// The page of a form that could not be read.
pub(crate) fn unreadable_form_page(translator: &Translator, status: StatusCode) -> Reply {
    let key = if status == StatusCode::PAYLOAD_TOO_LARGE { "unread-large" } else { "unread-lede" };
    let body = render(&MessageAndLink {
        text: translator.tr(key),
        href: "/system".to_owned(),
        label: translator.tr("nav-start"),
    });
    standalone_page(translator, status, translator.tr("refused-title"), body)
}

fn standalone_page(translator: &Translator, status: StatusCode, title: String, body: Html) -> Reply {
    Reply::page(status, StandalonePage { translator, title, body, locales: Vec::new() }.html())
}

/// The problems of a refused form, or the error itself when no value is to blame. `field` returns the name of the field
/// for the member of an error.
pub(crate) fn form_errors(
    translator: &Translator,
    error: Error,
    field: impl Fn(&FieldError) -> String,
) -> Result<FormErrors, Error> {
    form_errors_with_texts(translator, error, field, |_| None)
}

/// As [`form_errors`]; `text` returns the sentence for an error; `None`: the general one for its code.
pub(crate) fn form_errors_with_texts(
    translator: &Translator,
    error: Error,
    field: impl Fn(&FieldError) -> String,
    text: impl Fn(&FieldError) -> Option<String>,
) -> Result<FormErrors, Error> {
    let fields = match error {
        Error::Invalid { fields, .. } => fields,
        Error::Rejected(field_error) => vec![*field_error],
        other => return Err(other),
    };
    let problem = |field_error: &FieldError| {
        let is_of_record = matches!(field_error.field.as_ref(), "" | "revision");
        let field = if is_of_record { String::new() } else { field(field_error) };
        let text = text(field_error).unwrap_or_else(|| sentence(translator, field_error));
        FormError::new(field, text)
    };
    Ok(fields.iter().map(problem).collect())
}

/// What is wrong with a value, in the language of the page where it has this sentence.
fn sentence(translator: &Translator, field_error: &FieldError) -> String {
    let key = match field_error.code.as_ref() {
        "blank" => "problem-blank",
        "taken" => "problem-taken",
        "inclusion" => "problem-inclusion",
        "greater_than" => "problem-greater",
        "before_start" => "problem-before-start",
        "changed_meanwhile" => "problem-changed-meanwhile",
        "too_long" => {
            let numbers = field_error.description.split(|c: char| !c.is_ascii_digit());
            let most = numbers.filter_map(|digits| digits.parse::<i64>().ok()).next_back();
            let most = most.map(|most| crate::format::number(translator.locale, most)).unwrap_or_default();
            return translator.tr_with("problem-long", "most", most);
        }
        "" => return field_error.description.clone(),
        _ => return format!("{}.", field_error.description.trim_end_matches('.')),
    };
    translator.tr(key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use civitas_kernel::Locale;

    #[test]
    fn a_rejected_field_has_the_text_of_its_code_and_a_rejection_without_field_its_own_text() {
        let translator = Translator::for_locale(Locale::FR);
        let errors = |error| {
            form_errors(&translator, error, |field_error| format!("space[{}]", field_error.field)).unwrap()
        };
        let taken = Error::rejected_field("slug", "taken", "slug has already been taken");
        assert_eq!(errors(taken), [FormError::new("space[slug]", translator.tr("problem-taken"))]);
        assert_eq!(errors(Error::rejected("no")), [FormError::new("", "no")]);
        assert!(form_errors(&translator, Error::NotFound, |_| String::new()).is_err());
    }
}
