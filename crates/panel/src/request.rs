//! A request before its session is known.

use crate::form::SubmittedForm;
use crate::panel::Panel;
use crate::query::Query;
use crate::request_headers;
use crate::translator::Translator;
use crate::upload::UploadedFile;
use actix_web::HttpRequest;
use std::net::IpAddr;
use std::sync::Arc;
use time::OffsetDateTime;

/// The cookie of the session.
pub(crate) const SESSION_COOKIE: &str = "civitas_panel";
/// The cookie of the language, before sign-in.
pub(crate) const LOCALE_COOKIE: &str = "civitas_panel_locale";
/// The path of the sign-in page.
pub(crate) const SIGN_IN_PATH: &str = "/system/admins/sign_in";
/// The form of each page that ends the session.
pub(crate) const SIGN_OUT_PATH: &str = "/system/admins/sign_out";
/// The sign-in page after the end of a session.
pub(crate) const SESSION_ENDED_PATH: &str = "/system/admins/sign_in?ended=1";

/// A request before its session is known.
pub(crate) struct PanelRequest {
    pub(crate) panel: Arc<Panel>,
    pub(crate) http: HttpRequest,
    pub(crate) query: Query,
    pub(crate) form: SubmittedForm,
    /// The file of the form.
    pub(crate) file: Option<UploadedFile>,
    pub(crate) translator: Translator,
    pub(crate) now: OffsetDateTime,
}

impl PanelRequest {
    /// The address of the client.
    pub(crate) fn client_ip(&self) -> Option<IpAddr> {
        request_headers::client_ip(&self.http, &self.panel.settings.trusted_proxies)
    }
}
