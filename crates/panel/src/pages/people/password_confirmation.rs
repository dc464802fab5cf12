//! Asks for the own password before requests that change accounts or the sign-in of administrators (contract 04 §1): a
//! session alone changes no key.

use super::sign_in::is_own_path;
use crate::admin_request::AdminRequest;
use crate::parts::{Field, Form, FormError, FormErrors, Section};
use crate::query::Query;
use crate::reply::Reply;
use crate::request::SIGN_IN_PATH;
use actix_web::http::Method;
use civitas_accounts::Secret;
use civitas_accounts::administrators::{NewPassword, SignInError};
use civitas_kernel::Result;

const PATH: &str = "/system/account/confirmation";
const PASSWORD: &str = "password";
const CODE: &str = "code";

/// The address of the page; it leads back to this one.
pub(crate) fn address(back: &str) -> String {
    Query::default().with(PATH, "back", Some(back))
}

/// The address to go to before a request for a route, in a session that is not confirmed; `None`: the request needs no
/// confirmation. New routes below these two addresses need one. The last step of a second factor has a secret that a
/// confirmed session of the same account got.
pub(crate) fn before(method: &Method, route: &str, path: &str) -> Option<String> {
    let is_read = *method == Method::GET;
    match route {
        "/system/account/preferences"
        | "/system/account/second_factor/confirm"
        | "/system/admins/sign_out"
        | PATH => None,
        "/system/admins" if is_read => None,
        _ if route.starts_with("/system/admins") => {
            Some(address(if is_read { path } else { "/system/admins" }))
        }
        _ if route.starts_with("/system/account/") => Some(address("/system/account")),
        _ => None,
    }
}

fn back(req: &AdminRequest) -> &str {
    req.query.get("back").filter(|back| is_own_path(back)).unwrap_or("/system/account")
}

pub(crate) async fn show(req: &AdminRequest) -> Result<Reply> {
    page(req, Vec::new()).await
}

async fn page(req: &AdminRequest, problems: FormErrors) -> Result<Reply> {
    let translator = &req.translator;
    let password = Field::password(PASSWORD, req.tr("password"), "current-password").required();
    let mut section = Section::new("confirmation", req.tr("confirmation"))
        .field(password.check(&problems).html(translator));
    if req.signed.administrator.second_factor.is_some() {
        let code = Field::text(CODE, req.tr("sign-in-code"), "").class("short").autocomplete("one-time-code");
        let code = code.hint(req.tr("confirmation-code-hint"));
        section = section.field(code.check(&problems).html(translator));
    }
    let form = Form::new(translator, address(back(req)), req.token(), "confirmation-continue")
        .section(section)
        .cancel("/system");
    let head = req.head("confirmation").lede(req.tr("confirmation-lede"));
    req.form_page(head, form.html(), problems).await
}

pub(crate) async fn confirm(req: &AdminRequest) -> Result<Reply> {
    let (signed, form) = (&req.signed, &req.form);
    let account = (signed.id, signed.administrator.email.as_str(), &signed.session.digest);
    let password = form.get(PASSWORD).filter(|text| text.len() <= NewPassword::MAX_BYTES);
    let password = Secret::new(password.unwrap_or_default());
    let sign_in = req.panel.sign_in(req.from);
    let (field, key) = match sign_in.check_password(account, password, form.get(CODE), req.now).await {
        Ok(()) => return Ok(Reply::redirect(back(req))),
        Err(SignInError::Store(fault)) => return Err(fault),
        Err(SignInError::Refused { ends_session: true, .. }) => return Ok(Reply::redirect(SIGN_IN_PATH)),
        Err(SignInError::CodeNeeded) => (CODE, "sign-in-code-needed"),
        Err(SignInError::Refused { .. } | SignInError::Outdated) => (PASSWORD, "confirmation-refused"),
    };
    page(req, vec![FormError::new(field, req.tr(key))]).await
}
