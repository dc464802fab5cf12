//! Asks for the own password before requests that change accounts or the sign-in of administrators (contract 04 §1): a
//! session alone changes no key.

use super::sign_in::is_own_path;
use crate::parts::{Field, Form, Problem, Section};
use crate::query::Query;
use crate::reply::Reply;
use crate::request::SIGN_IN_PATH;
use crate::visit::Visit;
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

fn back(visit: &Visit) -> &str {
    visit.query.get("back").filter(|back| is_own_path(back)).unwrap_or("/system/account")
}

pub(crate) async fn show(visit: &mut Visit) -> Result<Reply> {
    page(visit, Vec::new()).await
}

async fn page(visit: &Visit, problems: Vec<Problem>) -> Result<Reply> {
    let words = &visit.words;
    let password = Field::password(PASSWORD, visit.say("password"), "current-password").required();
    let mut section =
        Section::new("confirmation", visit.say("confirmation")).field(password.check(&problems).html(words));
    if visit.signed.administrator.second_factor.is_some() {
        let code =
            Field::text(CODE, visit.say("sign-in-code"), "").class("short").autocomplete("one-time-code");
        let code = code.hint(visit.say("confirmation-code-hint"));
        section = section.field(code.check(&problems).html(words));
    }
    let form = Form::new(words, address(back(visit)), visit.token(), "confirmation-continue")
        .section(section)
        .cancel("/system");
    let head = visit.head("confirmation").lede(visit.say("confirmation-lede"));
    visit.form_page(head, form.html(), problems).await
}

pub(crate) async fn confirm(visit: &Visit) -> Result<Reply> {
    let (signed, form) = (&visit.signed, &visit.form);
    let own = (signed.id, signed.administrator.email.as_str(), &signed.session.digest);
    let password = form.get(PASSWORD).filter(|text| text.len() <= NewPassword::MAX_BYTES);
    let password = Secret::new(password.unwrap_or_default());
    let sign_in = visit.panel.sign_in(visit.from);
    let (field, key) = match sign_in.check_password(own, password, form.get(CODE), visit.now).await {
        Ok(()) => return Ok(Reply::redirect(back(visit))),
        Err(SignInError::Store(fault)) => return Err(fault),
        Err(SignInError::Refused { ends_session: true, .. }) => return Ok(Reply::redirect(SIGN_IN_PATH)),
        Err(SignInError::CodeNeeded) => (CODE, "sign-in-code-needed"),
        Err(SignInError::Refused { .. }) => (PASSWORD, "confirmation-refused"),
    };
    page(visit, vec![Problem::new(field, visit.say(key))]).await
}
