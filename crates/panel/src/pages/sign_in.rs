//! The sign-in page. It has no session: its token is bound to a cookie of the visit.

use crate::arrival::{Arrival, LOCALE, SESSION, SIGN_IN_PATH};
use crate::parts::{Alone, Field, Html, Problem, render};
use crate::reply::Reply;
use crate::words::Words;
use crate::{addresses, error};
use actix_web::http::{Method, StatusCode};
use askama::Template;
use civitas_accounts::Secret;
use civitas_accounts::administrators::SignInFault;
use civitas_application::{Holder, Share, network_of};
use civitas_kernel::{Error, Locale, OrganizationId, Result};

/// The cookie of a visit before sign-in.
const VISIT: &str = "civitas_panel_visit";

#[derive(Template)]
#[template(path = "pages/sign_in.html")]
struct SignInForm<'a> {
    words: &'a Words,
    action: String,
    token: String,
    problems: Vec<Problem>,
    email: Html,
    password: Html,
    code: Html,
    is_ended: bool,
}

/// GET shows the form, POST signs in.
pub(crate) async fn serve(arrival: Arrival) -> Result<Reply> {
    match *arrival.request.method() {
        Method::GET | Method::HEAD => Ok(show(&arrival)),
        Method::POST => submit(arrival).await,
        _ => Err(Error::NotFound),
    }
}

fn show(arrival: &Arrival) -> Reply {
    let mut cookies = Vec::new();
    let known = addresses::cookie(&arrival.request, VISIT).filter(|visit| visit.len() >= 16);
    let visit = known.unwrap_or_else(|| {
        let new = Secret::alphanumeric().expose().to_owned();
        cookies.push(cookie(arrival, VISIT, &new, "Strict", ""));
        new
    });
    if let Some(locale) = arrival.query.get("locale").filter(|text| is_locale(text)) {
        cookies.push(cookie(arrival, LOCALE, locale, "Lax", "; Max-Age=31536000"));
    }
    form(arrival, &visit, "", Vec::new(), StatusCode::OK).with_cookies(cookies)
}

async fn submit(arrival: Arrival) -> Result<Reply> {
    let visit = addresses::cookie(&arrival.request, VISIT).unwrap_or_default();
    let token = arrival.form.text("authenticity_token");
    if visit.len() < 16
        || arrival.panel.tokens.check(&visit, token).is_none()
        || addresses::is_cross_site(&arrival.request)
    {
        return Ok(error::stale(&arrival.words, SIGN_IN_PATH.to_owned()));
    }
    let services = &arrival.panel.services;
    if let Err(wait) = services.authentication_limit.check(arrival.client()) {
        return Ok(error::too_many(&arrival.words, wait));
    }
    let email = arrival.form.text("admin[email]").to_lowercase();
    let password = Secret::new(arrival.form.get("admin[password]").unwrap_or_default());
    let code = Some(arrival.form.text("admin[code]")).filter(|code| !code.is_empty());
    if arrival.form.has_nul() || email.is_empty() || email.len() > 254 || password.expose().len() > 1_000 {
        return Ok(refuse(&arrival, &visit, &email, false));
    }
    // Sources take turns, so that one does not keep others waiting.
    let source = arrival.client().map(|source| network_of(source).to_string());
    let of_panel = Holder { organization: OrganizationId(0), client: None, record: source.as_deref() };
    let _place = services.shares.take(Share::Passwords, of_panel).await?;
    match arrival.panel.sign_in(arrival.client()).sign_in(&email, password, code, arrival.now).await {
        Ok(signed) => {
            let cookies = vec![
                cookie(&arrival, SESSION, signed.text.expose(), "Lax", ""),
                cookie(&arrival, VISIT, "", "Strict", "; Max-Age=0"),
            ];
            let back = arrival.query.get("back").filter(|back| is_own_path(back)).unwrap_or("/system");
            Ok(Reply::Redirect { to: back.to_owned(), cookies })
        }
        Err(SignInFault::Store(fault)) => Err(fault),
        Err(fault) => Ok(refuse(&arrival, &visit, &email, matches!(fault, SignInFault::CodeNeeded))),
    }
}

/// Shows the form again, and counts a refusal. A refused source has the same answer as a wrong password: it cannot confirm
/// guesses.
fn refuse(arrival: &Arrival, visit: &str, email: &str, needs_code: bool) -> Reply {
    let key = if needs_code {
        "sign-in-code-needed"
    } else {
        arrival.panel.services.authentication_limit.count(arrival.client());
        "sign-in-refused"
    };
    let problem = Problem::new("", arrival.words.say(key));
    form(arrival, visit, email, vec![problem], StatusCode::UNPROCESSABLE_ENTITY)
}

fn form(arrival: &Arrival, visit: &str, email: &str, problems: Vec<Problem>, status: StatusCode) -> Reply {
    let words = &arrival.words;
    let back = arrival.query.get("back").filter(|back| is_own_path(back));
    let form = SignInForm {
        words,
        action: crate::query::Query::default().with(SIGN_IN_PATH, "back", back),
        token: arrival.panel.tokens.issue(visit),
        problems,
        email: Field::email("admin[email]", words.say("email"), email)
            .autocomplete("username")
            .required()
            .html(words),
        password: Field::password("admin[password]", words.say("password"), "current-password")
            .required()
            .html(words),
        code: Field::text("admin[code]", words.say("sign-in-code"), "")
            .hint(words.say("sign-in-code-hint"))
            .autocomplete("one-time-code")
            .optional()
            .html(words),
        is_ended: arrival.query.get("ended").is_some(),
    };
    let names = [(Locale::EN, "English"), (Locale::FR, "Français"), (Locale::ES, "Español")];
    let locales = names.map(|(locale, name)| (locale.to_string(), name.to_owned(), locale == words.locale));
    let page = Alone { words, title: words.say("sign-in"), body: render(&form), locales: locales.to_vec() };
    Reply::page(status, page.html())
}

fn is_locale(text: &str) -> bool {
    Locale::OF_SERVICE.iter().any(|locale| locale.as_str() == text)
}

/// Whether a path leads to a page of the panel, and to no other host.
pub(crate) fn is_own_path(path: &str) -> bool {
    (path == "/system" || path.starts_with("/system/") || path.starts_with("/system?"))
        && !path.contains("//")
        && path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\')
}

/// The value of `Set-Cookie`. The browser sends the cookie to pages of the panel only.
fn cookie(arrival: &Arrival, name: &str, value: &str, same_site: &str, more: &str) -> String {
    let secure = if arrival.panel.is_secure() { "; Secure" } else { "" };
    format!("{name}={value}; Path=/system; HttpOnly; SameSite={same_site}{secure}{more}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sign_in_leads_back_to_pages_of_the_panel_only() {
        for good in ["/system", "/system/jobs?page=2", "/system/organizations/1/edit"] {
            assert!(is_own_path(good), "{good}");
        }
        for bad in [
            "//evil.example",
            "/systems",
            "https://evil.example/system/",
            "/system//evil.example",
            "/",
            "/system/\\x",
        ] {
            assert!(!is_own_path(bad), "{bad}");
        }
    }
}
