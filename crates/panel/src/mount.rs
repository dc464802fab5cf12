//! Mounts the panel on actix-web: finds the session, checks the token of a form, calls the page.

use crate::admin_request::{AdminRequest, AdminSession};
use crate::form::SubmittedForm;
use crate::format::Zone;
use crate::instrumentation::instrumented;
use crate::notice::Notice;
use crate::pages::people::{password_confirmation, setup, sign_in};
use crate::pages::{self, Handler};
use crate::panel::{Panel, SETUP_PATH};
use crate::query::Query;
use crate::reply::Reply;
use crate::request::{
    LOCALE_COOKIE, PanelRequest, SESSION_COOKIE, SESSION_ENDED_PATH, SIGN_IN_PATH, SIGN_OUT_PATH,
};
use crate::translator::Translator;
use crate::upload::{self, UploadedFile};
use crate::{assets, error, request_headers};
use actix_web::http::{Method, StatusCode};
use actix_web::{HttpRequest, HttpResponse, web};
use civitas_accounts::Secret;
use civitas_kernel::{Error, Locale, OrganizationId, Result, choose_language, clock};
use futures_util::StreamExt;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use time::OffsetDateTime;

/// The most bytes of a form.
const MAX_FORM_BYTES: usize = 2 * 1024 * 1024;
/// The longest time a form may take to arrive.
const FORM_TIMEOUT: Duration = Duration::from_secs(30);
/// The paths of pages that belong to an organization.
const ORGANIZATIONS_PATH: &str = "/system/organizations/";

impl Panel {
    /// Method and path of each route that needs a session: `("PUT", "/system/organizations/{id}")`. PUT and DELETE are
    /// sent as POST with `_method`.
    pub fn routes() -> Vec<(String, &'static str)> {
        pages::routes().into_iter().map(|route| (route.method.to_string(), route.path)).collect()
    }

    /// Mounts all pages.
    pub fn configure(self: &Arc<Self>, config: &mut web::ServiceConfig) {
        let mut paths: BTreeMap<&'static str, Vec<(Method, Handler)>> = BTreeMap::new();
        for route in pages::routes() {
            paths.entry(route.path).or_default().push((route.method, route.handler));
        }
        self.mount(config, SIGN_IN_PATH, sign_in::serve);
        self.mount(config, SETUP_PATH, setup::serve);
        // Paths with fixed segments come first: `/new` is no id.
        let mut paths: Vec<_> = paths.into_iter().collect();
        paths.sort_by_key(|(path, _)| path.matches('{').count());
        for (path, handlers) in paths {
            let handlers = Arc::new(handlers);
            self.mount(config, path, move |request: PanelRequest| {
                let handlers = handlers.clone();
                async move { request.dispatch(path, &handlers).await }
            });
        }
        let panel = self.clone();
        config.service(web::resource("/system/{rest:.*}").to(
            move |request: HttpRequest, payload: web::Payload| {
                let panel = panel.clone();
                async move {
                    if let Some(asset) = assets::find(request.path()) {
                        let file = Reply::File { media_type: asset.media_type, content: asset.content };
                        return instrumented(&panel, &request, async { file.respond() }).await;
                    }
                    let serve = |request: PanelRequest| request.dispatch("", &[]);
                    PanelRequest::serve(panel, request, payload, serve).await
                }
            },
        ));
    }

    /// Answers requests for this path with what `serve` returns.
    fn mount<F: Future<Output = Result<Reply>> + 'static>(
        self: &Arc<Self>,
        config: &mut web::ServiceConfig,
        path: &'static str,
        serve: impl Fn(PanelRequest) -> F + Clone + 'static,
    ) {
        let panel = self.clone();
        config.service(web::resource(path).to(move |request: HttpRequest, payload: web::Payload| {
            let (panel, serve) = (panel.clone(), serve.clone());
            async move { PanelRequest::serve(panel, request, payload, serve).await }
        }));
    }
}

impl PanelRequest {
    /// Reads the form, and answers with what `serve` returns. An error becomes a page.
    async fn serve<F: Future<Output = Result<Reply>>>(
        panel: Arc<Panel>,
        request: HttpRequest,
        payload: web::Payload,
        serve: impl FnOnce(Self) -> F,
    ) -> HttpResponse {
        let answer = async {
            let query = Query::parse(request.query_string());
            let translator = visitor_translator(&request, &query);
            let now = clock::now();
            let reads = matches!(*request.method(), Method::GET | Method::HEAD);
            if panel.settings.read_only && !reads && !matches!(request.path(), SIGN_IN_PATH | SIGN_OUT_PATH) {
                return error::read_only_page(&translator).respond();
            }
            let read = if upload::is_multipart(&request) {
                read_upload(&panel, &request, payload, now).await
            } else {
                read_form(payload).await.map(|form| (form, None))
            };
            let (form, file) = match read {
                Ok(read) => read,
                Err(status) => return error::unreadable_form_page(&translator, status).respond(),
            };
            let (panel, http) = (panel.clone(), request.clone());
            let reply = serve(Self { panel, http, query, form, file, translator, now }).await;
            reply.unwrap_or_else(|failure| error::page(&translator, &failure, now)).respond()
        };
        instrumented(&panel, &request, answer).await
    }

    /// The method: that of the request, or for a POST the one in `_method`.
    fn method(&self) -> Method {
        let sent = self.http.method();
        if *sent != Method::POST {
            return if *sent == Method::HEAD { Method::GET } else { sent.clone() };
        }
        match self.form.text("_method") {
            "put" | "patch" => Method::PUT,
            "delete" => Method::DELETE,
            _ => Method::POST,
        }
    }

    async fn dispatch(self, route: &'static str, handlers: &[(Method, Handler)]) -> Result<Reply> {
        let method = self.method();
        let Some((signed_in, translator)) = self.find_session().await? else {
            return Ok(Reply::redirect(self.sign_in_address(&method)));
        };
        if method != Method::GET && self.http.method() != Method::POST {
            return Err(Error::NotFound);
        }
        let Some((_, handler)) = handlers.iter().find(|(known, _)| *known == method) else {
            return Ok(error::page(&translator, &Error::NotFound, self.now));
        };
        let confirmation_address =
            password_confirmation::confirmation_address(&method, route, self.http.path());
        let confirmation_address = confirmation_address.filter(|_| !signed_in.session.is_confirmed(self.now));
        if method != Method::GET {
            return self.submit(route, *handler, signed_in, translator, confirmation_address).await;
        }
        if let Some(address) = confirmation_address {
            return Ok(Reply::redirect(address));
        }
        Ok(call_handler(&self.admin_request(route, signed_in, translator), *handler).await)
    }

    /// Handles a form. Its token must belong to this session, and is accepted once. `confirmation_address`: the page to
    /// redirect to first.
    async fn submit(
        self,
        route: &'static str,
        handler: Handler,
        signed_in: AdminSession,
        translator: Translator,
        confirmation_address: Option<String>,
    ) -> Result<Reply> {
        let token = self.form.text("authenticity_token").to_owned();
        let nonce = self.panel.tokens.check(&signed_in.cookie, &token).map(str::to_owned);
        let Some(nonce) = nonce.filter(|_| !request_headers::is_cross_site(&self.http)) else {
            return Ok(error::expired_form_page(&translator, self.http.path().to_owned()));
        };
        if self.form.has_nul() {
            return Err(Error::rejected(translator.tr("problem-nul")));
        }
        if let Some(address) = confirmation_address {
            let unsaved = Notice::failure(translator.tr("confirmation-unsaved"));
            return self.admin_request(route, signed_in, translator).redirect(address, unsaved).await;
        }
        let (panel, digest) = (self.panel.clone(), signed_in.session.digest.clone());
        if let Some(id) = organization_in_path(&self.http)
            && let Some(tenant) = panel.store().organizations().tenant(id).await?
            && tenant.check_writable().is_err()
        {
            return Ok(error::read_only_page(&translator));
        }
        let sessions = panel.store().panel_sessions();
        if !sessions.use_form(&digest, &nonce, self.now).await? {
            if sessions.find(&digest, self.now).await?.is_none() {
                return Ok(Reply::redirect(SESSION_ENDED_PATH));
            }
            return Ok(error::expired_form_page(&translator, "/system".to_owned()));
        }
        let reply = call_handler(&self.admin_request(route, signed_in, translator), handler).await;
        let may_be_sent_again = match &reply {
            // Nothing was changed.
            Reply::Page { status, .. } => !status.is_success(),
            // The page with the form stays open.
            Reply::Download { .. } => true,
            Reply::Redirect { .. } | Reply::File { .. } => false,
        };
        if may_be_sent_again {
            sessions.forget_form(&digest, &nonce).await?;
        }
        Ok(reply)
    }

    /// The administrator of the session, if there is a valid one.
    async fn find_session(&self) -> Result<Option<(AdminSession, Translator)>> {
        let Some(cookie) = request_headers::cookie(&self.http, SESSION_COOKIE) else { return Ok(None) };
        let digest = Secret::new(cookie.as_str()).digest();
        let sessions = self.panel.store().panel_sessions();
        let Some((id, administrator, session)) = sessions.find(&digest, self.now).await? else {
            return Ok(None);
        };
        if let Some(expires_at) = session.extended_end(self.now)
            && !self.panel.settings.read_only
        {
            sessions.touch(&digest, self.now, expires_at).await?;
        }
        let translator = administrator.locale.map_or(self.translator, Translator::for_locale);
        Ok(Some((AdminSession { id, administrator, session, cookie }, translator)))
    }

    fn admin_request(
        self,
        route: &'static str,
        signed_in: AdminSession,
        translator: Translator,
    ) -> AdminRequest {
        let params = self.http.match_info().iter();
        AdminRequest {
            translator,
            action: route.rsplit('/').next().unwrap_or_default(),
            path: self.http.path().to_owned(),
            params: params.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
            client_ip: self.client_ip(),
            query: self.query,
            form: self.form,
            file: Cell::new(self.file),
            now: self.now,
            zone: Cell::new(Zone::utc()),
            navigation_organization: Cell::new(signed_in.administrator.organization),
            panel: self.panel,
            signed_in,
        }
    }

    /// The sign-in page, which leads back here.
    fn sign_in_address(&self, method: &Method) -> String {
        let path = self.http.uri().path_and_query().map_or("/system", |path| path.as_str());
        if *method != Method::GET {
            return SESSION_ENDED_PATH.to_owned();
        }
        if path == "/system" {
            SIGN_IN_PATH.to_owned()
        } else {
            Query::default().with(SIGN_IN_PATH, "back", Some(path))
        }
    }
}

/// Calls a page; an error becomes a page in the language of the administrator. If the account was deleted meanwhile, redirects
/// to the sign-in page.
async fn call_handler(req: &AdminRequest, handler: Handler) -> Reply {
    let (translator, now) = (req.translator, req.now);
    match handler(req).await {
        Err(Error::Unauthenticated) => Reply::redirect(SESSION_ENDED_PATH),
        answer => answer.unwrap_or_else(|failure| error::page(&translator, &failure, now)),
    }
}

/// The language of a visitor: the parameter, the cookie, the header of the browser, English.
fn visitor_translator(request: &HttpRequest, query: &Query) -> Translator {
    let chosen =
        query.get("locale").map(str::to_owned).or_else(|| request_headers::cookie(request, LOCALE_COOKIE));
    let header = request.headers().get("accept-language").and_then(|value| value.to_str().ok());
    let available = Locale::TRANSLATED_LOCALES.into_iter().collect();
    let explicit = choose_language(chosen.as_deref(), header, None, &available, Locale::EN);
    Translator::for_locale(explicit.unwrap_or(Locale::EN))
}

/// Reads a form with a file. Without a session, and for pages that belong to no organization, nothing is read.
///
/// # Errors
/// The status: 413 when it is too large, 408 when it is too slow, 400 when it is broken, 503 when it cannot be stored.
async fn read_upload(
    panel: &Panel,
    request: &HttpRequest,
    payload: web::Payload,
    now: OffsetDateTime,
) -> Result<(SubmittedForm, Option<UploadedFile>), StatusCode> {
    match max_file_bytes(panel, request, now).await.map_err(|error| error::status(&error))? {
        Some(limit) => upload::read_form(&panel.services.files, request.headers(), payload, limit).await,
        None => Ok((SubmittedForm::default(), None)),
    }
}

/// The organization of a path.
fn organization_in_path(request: &HttpRequest) -> Option<OrganizationId> {
    let is_of_organization = request.path().starts_with(ORGANIZATIONS_PATH);
    let id = request.match_info().get("id").filter(|_| is_of_organization);
    id.and_then(|id| id.parse().ok()).map(OrganizationId)
}

/// The most bytes of a file for the organization of the path, in a session.
async fn max_file_bytes(panel: &Panel, request: &HttpRequest, now: OffsetDateTime) -> Result<Option<u64>> {
    let Some(cookie) = request_headers::cookie(request, SESSION_COOKIE) else { return Ok(None) };
    let digest = Secret::new(cookie.as_str()).digest();
    if panel.store().panel_sessions().find(&digest, now).await?.is_none() {
        return Ok(None);
    }
    let Some(id) = organization_in_path(request) else { return Ok(None) };
    let tenant = panel.store().organizations().tenant(id).await?;
    Ok(tenant.map(|tenant| tenant.max_attachment_bytes.unsigned_abs()))
}

/// Reads a form.
///
/// # Errors
/// The status: 413 when it is too large, 408 when it is too slow, 400 when it is broken.
async fn read_form(mut payload: web::Payload) -> Result<SubmittedForm, StatusCode> {
    let reading = async {
        let mut body = Vec::new();
        while let Some(part) = payload.next().await {
            let part = part.map_err(|_| StatusCode::BAD_REQUEST)?;
            if body.len() + part.len() > MAX_FORM_BYTES {
                return Err(StatusCode::PAYLOAD_TOO_LARGE);
            }
            body.extend_from_slice(&part);
        }
        Ok(SubmittedForm::from_body(&body))
    };
    actix_web::rt::time::timeout(FORM_TIMEOUT, reading).await.unwrap_or(Err(StatusCode::REQUEST_TIMEOUT))
}
