//! The sign-in page. It has no session: its token is bound to a cookie of the visit.

use crate::parts::{Field, FormError, FormErrors, Html, StandalonePage, render};
use crate::reply::Reply;
use crate::request::{LOCALE_COOKIE, PanelRequest, SESSION_COOKIE, SIGN_IN_PATH};
use crate::translator::Translator;
use crate::{error, request_headers};
use actix_web::http::{Method, StatusCode};
use askama::Template;
use civitas_accounts::Secret;
use civitas_accounts::administrators::SignInError;
use civitas_application::{ShareHolder, SharedResource, network_of};
use civitas_kernel::{Error, Locale, OrganizationId, Result};

/// The cookie of a visit before sign-in.
const VISIT_COOKIE: &str = "civitas_panel_visit";

#[derive(Template)]
#[template(path = "pages/sign_in.html")]
struct SignInForm<'a> {
    translator: &'a Translator,
    action: String,
    token: String,
    problems: FormErrors,
    email: Html,
    password: Html,
    code: Html,
    is_ended: bool,
}

/// GET shows the form, POST signs in.
pub(crate) async fn serve(request: PanelRequest) -> Result<Reply> {
    match *request.http.method() {
        Method::GET | Method::HEAD => Ok(blank_page(&request)),
        Method::POST => submit(request).await,
        _ => Err(Error::NotFound),
    }
}

fn blank_page(request: &PanelRequest) -> Reply {
    let mut cookies = Vec::new();
    let known = request_headers::cookie(&request.http, VISIT_COOKIE).filter(|visit| visit.len() >= 16);
    let visit = known.unwrap_or_else(|| {
        let new = Secret::alphanumeric().expose().to_owned();
        cookies.push(cookie(request, VISIT_COOKIE, &new, "Strict", ""));
        new
    });
    if let Some(locale) = request.query.get("locale").filter(|text| is_locale(text)) {
        cookies.push(cookie(request, LOCALE_COOKIE, locale, "Lax", "; Max-Age=31536000"));
    }
    form_page(request, &visit, "", Vec::new(), StatusCode::OK).with_cookies(cookies)
}

async fn submit(request: PanelRequest) -> Result<Reply> {
    let visit = request_headers::cookie(&request.http, VISIT_COOKIE).unwrap_or_default();
    let token = request.form.text("authenticity_token");
    if visit.len() < 16
        || request.panel.tokens.check(&visit, token).is_none()
        || request_headers::is_cross_site(&request.http)
    {
        return Ok(error::expired_form_page(&request.translator, SIGN_IN_PATH.to_owned()));
    }
    let services = &request.panel.services;
    if let Err(wait) = services.authentication_limit.check(request.client_ip()) {
        return Ok(error::too_many_sign_ins_page(&request.translator, wait));
    }
    let email = request.form.text("admin[email]").to_lowercase();
    let password = Secret::new(request.form.get("admin[password]").unwrap_or_default());
    let code = Some(request.form.text("admin[code]")).filter(|code| !code.is_empty());
    if request.form.has_nul() || email.is_empty() || email.len() > 254 || password.expose().len() > 1_000 {
        return Ok(refuse(&request, &visit, &email, false));
    }
    // Sources take turns, so that one does not keep others waiting.
    let source = request.client_ip().map(|source| network_of(source).to_string());
    let of_panel = ShareHolder { organization: OrganizationId(0), client: None, record: source.as_deref() };
    let _permit = services.shares.acquire(SharedResource::Passwords, of_panel).await?;
    match request.panel.sign_in(request.client_ip()).sign_in(&email, password, code, request.now).await {
        Ok(signed) => {
            let cookies = vec![
                cookie(&request, SESSION_COOKIE, signed.text.expose(), "Lax", ""),
                cookie(&request, VISIT_COOKIE, "", "Strict", "; Max-Age=0"),
            ];
            let back = request.query.get("back").filter(|back| is_own_path(back)).unwrap_or("/system");
            Ok(Reply::Redirect { to: back.to_owned(), cookies })
        }
        Err(SignInError::Store(error)) => Err(error),
        Err(error) => Ok(refuse(&request, &visit, &email, matches!(error, SignInError::CodeNeeded))),
    }
}

/// Shows the form again, and counts a refusal. A refused source has the same answer as a wrong password: it cannot confirm
/// guesses.
fn refuse(request: &PanelRequest, visit: &str, email: &str, needs_code: bool) -> Reply {
    let key = if needs_code {
        "sign-in-code-needed"
    } else {
        request.panel.services.authentication_limit.count(request.client_ip());
        "sign-in-refused"
    };
    let problem = FormError::new("", request.translator.tr(key));
    form_page(request, visit, email, vec![problem], StatusCode::UNPROCESSABLE_ENTITY)
}

fn form_page(
    request: &PanelRequest,
    visit: &str,
    email: &str,
    problems: FormErrors,
    status: StatusCode,
) -> Reply {
    let translator = &request.translator;
    let back = request.query.get("back").filter(|back| is_own_path(back));
    let form = SignInForm {
        translator,
        action: crate::query::Query::default().with(SIGN_IN_PATH, "back", back),
        token: request.panel.tokens.issue(visit),
        problems,
        email: Field::email("admin[email]", translator.tr("email"), email)
            .autocomplete("username")
            .required()
            .html(translator),
        password: Field::password("admin[password]", translator.tr("password"), "current-password")
            .required()
            .html(translator),
        code: Field::text("admin[code]", translator.tr("sign-in-code"), "")
            .hint(translator.tr("sign-in-code-hint"))
            .autocomplete("one-time-code")
            .optional()
            .html(translator),
        is_ended: request.query.get("ended").is_some(),
    };
    let names = [(Locale::EN, "English"), (Locale::FR, "Français"), (Locale::ES, "Español")];
    let locales =
        names.map(|(locale, name)| (locale.to_string(), name.to_owned(), locale == translator.locale));
    let page = StandalonePage {
        translator,
        title: translator.tr("sign-in"),
        body: render(&form),
        locales: locales.to_vec(),
    };
    Reply::page(status, page.html())
}

fn is_locale(text: &str) -> bool {
    Locale::TRANSLATED_LOCALES.iter().any(|locale| locale.as_str() == text)
}

/// Whether a path leads to a page of the panel, and to no other host.
pub(crate) fn is_own_path(path: &str) -> bool {
    (path == "/system" || path.starts_with("/system/") || path.starts_with("/system?"))
        && !path.contains("//")
        && path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\')
}

/// The value of `Set-Cookie`. The browser sends the cookie to pages of the panel only.
fn cookie(request: &PanelRequest, name: &str, value: &str, same_site: &str, more: &str) -> String {
    let secure = if request.panel.is_secure() { "; Secure" } else { "" };
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
