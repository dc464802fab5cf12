//! `GET {host}/confirmation/{token}` (contract 02 §2.4): an HTML page outside of `{base}`, not in the OpenAPI document.
//! Feature switches do not apply to it.

use crate::backend::Backend;
use crate::counted::mount_page;
use crate::error::ApiError;
use crate::pages;
use crate::tenancy;
use actix_web::http::Method;
use actix_web::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY};
use actix_web::{HttpRequest, HttpResponse, web};
use civitas_accounts::Secret;
use civitas_application::OneTimeLinks;
use civitas_kernel::{Locale, clock};
use std::sync::Arc;
use tracing::Instrument;

pub(crate) fn mount(config: &mut web::ServiceConfig, backend: &Arc<Backend>) {
    let answer = async |backend: &Backend, request: &HttpRequest| {
        let confirmed =
            async { confirm(backend, request).await.map_or_else(|refusal| refusal.respond(), page) };
        confirmed.instrument(tracing::info_span!("api.confirmation")).await
    };
    mount_page(config, "/confirmation/{token}", backend, answer);
}

/// Confirms the account, and returns the language of the answer. `HEAD` changes nothing: mail scanners send it to check
/// links.
async fn confirm(backend: &Backend, request: &HttpRequest) -> Result<Locale, ApiError> {
    let tenant = tenancy::tenant(backend, request).await?;
    let links = OneTimeLinks { store: &**backend.store(), committer: backend.commands.committer() };
    let token = Secret::new(request.match_info().get("token").unwrap_or_default());
    let now = clock::now();
    if *request.method() == Method::HEAD {
        links.check_confirmation(&tenant, &token, now).await?;
        return Ok(tenant.default_locale);
    }
    backend.check_writable(&tenant)?;
    Ok(links.confirm(&tenant, &token, now).await?)
}

fn page(locale: Locale) -> HttpResponse {
    HttpResponse::Ok()
        .insert_header((CACHE_CONTROL, "no-store"))
        .insert_header((REFERRER_POLICY, "no-referrer"))
        .insert_header((CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"))
        .content_type("text/html; charset=utf-8")
        .body(pages::confirmed(locale))
}
