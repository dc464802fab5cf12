//! Asks for the own password before requests that change accounts or the sign-in of administrators (contract 04 §1), so that
//! a stolen session is not enough.

use super::sign_in::is_own_path;
use crate::admin_request::AdminRequest;
use crate::parts::{Field, FormError, FormErrors, Section};
use crate::query::Query;
use crate::reply::Reply;
use crate::request::SIGN_IN_PATH;
use actix_web::http::Method;
use civitas_accounts::Secret;
use civitas_accounts::administrators::{NewPassword, SignInError};
use civitas_kernel::Result;

const PATH: &str = "/system/account/confirmation";
const PASSWORD_FIELD: &str = "password";
const CODE_FIELD: &str = "code";

/// The address of the confirmation page, which leads to `return_to` afterwards.
pub(crate) fn page_address(return_to: &str) -> String {
    Query::default().with(PATH, "back", Some(return_to))
}

/// The address to go to before a request for a route, in a session that is not confirmed; `None`: the request needs no
/// confirmation. New routes below `/system/admins` and `/system/account/` need one. The last step of a second factor
/// needs none: its form has a secret that only a confirmed session of the same account gets.
pub(crate) fn confirmation_address(method: &Method, route: &str, path: &str) -> Option<String> {
    let is_read = *method == Method::GET;
    match route {
        "/system/account/preferences"
        | "/system/account/second_factor/confirm"
        | "/system/admins/sign_out"
        | PATH => None,
        "/system/admins" if is_read => None,
        _ if route.starts_with("/system/admins") => {
            Some(page_address(if is_read { path } else { "/system/admins" }))
        }
        _ if route.starts_with("/system/account/") => Some(page_address("/system/account")),
        _ => None,
    }
}

/// The page to return to after the confirmation.
fn return_address(req: &AdminRequest) -> &str {
    req.query.get("back").filter(|back| is_own_path(back)).unwrap_or("/system/account")
}

pub(crate) async fn show(req: &AdminRequest) -> Result<Reply> {
    show_page(req, Vec::new()).await
}

async fn show_page(req: &AdminRequest, problems: FormErrors) -> Result<Reply> {
    let translator = &req.translator;
    let password = Field::password(PASSWORD_FIELD, req.tr("password"), "current-password").required();
    let mut section = Section::new("confirmation", req.tr("confirmation"))
        .field(password.check(&problems).html(translator));
    if req.signed_in.administrator.second_factor.is_some() {
        let code =
            Field::text(CODE_FIELD, req.tr("sign-in-code"), "").class("short").autocomplete("one-time-code");
        let code = code.hint(req.tr("confirmation-code-hint"));
        section = section.field(code.check(&problems).html(translator));
    }
    let form = req
        .build_form(page_address(return_address(req)), "confirmation-continue")
        .section(section)
        .cancel("/system");
    let head = req.head("confirmation").lede(req.tr("confirmation-lede"));
    req.form_page(head, form.html(), problems).await
}

pub(crate) async fn confirm(req: &AdminRequest) -> Result<Reply> {
    let (signed_in, form) = (&req.signed_in, &req.form);
    let account = (signed_in.id, signed_in.administrator.email.as_str(), &signed_in.session.digest);
    let password = form.get(PASSWORD_FIELD).filter(|text| text.len() <= NewPassword::MAX_BYTES);
    let password = Secret::new(password.unwrap_or_default());
    let sign_in = req.panel.sign_in(req.client_ip);
    let (field, key) = match sign_in.check_password(account, password, form.get(CODE_FIELD), req.now).await {
        Ok(()) => return Ok(Reply::redirect(return_address(req))),
        Err(SignInError::Store(error)) => return Err(error),
        Err(SignInError::Refused { ends_session: true, .. }) => return Ok(Reply::redirect(SIGN_IN_PATH)),
        Err(SignInError::CodeNeeded) => (CODE_FIELD, "sign-in-code-needed"),
        Err(SignInError::Refused { .. } | SignInError::Outdated) => (PASSWORD_FIELD, "confirmation-refused"),
    };
    show_page(req, vec![FormError::new(field, req.tr(key))]).await
}
