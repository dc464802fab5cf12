//! The service itself: landing page, health, document (contract 01 §11b). They answer on any host; feature switches do
//! not apply.

use crate::BASE_PATH;
use crate::api::Api;
use crate::counted::mount_page;
use crate::error::{ApiError, JSON};
use crate::reply::{etag_of, none_match_names};
use crate::tenancy::{self, HostLookupResult, RequestOrigin};
use actix_web::http::StatusCode;
use actix_web::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, ETAG, LOCATION};
use actix_web::web::Bytes;
use actix_web::{HttpRequest, HttpResponse, web};
use civitas_kernel::Scope;
use civitas_organizations::Tenant;
use ring::digest::{Context, SHA256};
use serde_json::json;
use std::sync::Arc;

/// The path of the metadata of the token endpoints.
pub(crate) const WELL_KNOWN: &str = "/.well-known/oauth-authorization-server";
/// How clients present their credentials.
const CLIENT_AUTHENTICATION: [&str; 2] = ["client_secret_basic", "client_secret_post"];
const LANDING: &str = include_str!("pages/landing.html");

type MakePage = fn(&Api) -> Page;
const PAGES: [(&str, MakePage); 3] = [("/", landing), ("/openapi.json", document), ("/docs", docs)];

/// The four service routes, in the scope of the interface.
pub(crate) fn mount(scope: &mut web::ServiceConfig, api: &Arc<Api>) {
    for (path, page) in PAGES {
        let answer = async move |api: &Api, request: &HttpRequest| {
            moved(api, request).await.unwrap_or_else(|| page(api).respond(request))
        };
        mount_page(scope, path, api, answer);
    }
    mount_page(scope, "/health", api, health);
}

/// The pages at the host of an organization, outside of the interface: `/`, which leads to the landing page, and the
/// metadata of the token endpoints (contract 02 §2.6, RFC 8414).
pub(crate) fn mount_at_hosts(config: &mut web::ServiceConfig, api: &Arc<Api>) {
    for path in ["/", WELL_KNOWN] {
        let answer = async |api: &Api, request: &HttpRequest| {
            at_host(api, request).await.unwrap_or_else(|refusal| refusal.respond())
        };
        mount_page(config, path, api, answer);
    }
}

async fn at_host(api: &Api, request: &HttpRequest) -> Result<HttpResponse, ApiError> {
    let tenant = tenancy::tenant(&api.backend, request).await?;
    Ok(match request.path() {
        WELL_KNOWN => metadata(api, &tenant),
        _ => HttpResponse::Found().insert_header((LOCATION, format!("{BASE_PATH}/"))).finish(),
    })
}

fn metadata(api: &Api, tenant: &Tenant) -> HttpResponse {
    let site = &api.backend.settings.site;
    let host = site.origin(&tenant.host);
    let scopes: Vec<&str> = Scope::ALL.iter().map(|scope| scope.as_str()).collect();
    let metadata = json!({
        "issuer": host,
        "token_endpoint": format!("{host}/oauth/token"),
        "introspection_endpoint": format!("{host}/oauth/introspect"),
        "revocation_endpoint": format!("{host}/oauth/revoke"),
        "grant_types_supported": ["client_credentials", "password"],
        "response_types_supported": [],
        "scopes_supported": scopes,
        "token_endpoint_auth_methods_supported": CLIENT_AUTHENTICATION,
        "introspection_endpoint_auth_methods_supported": CLIENT_AUTHENTICATION,
        "revocation_endpoint_auth_methods_supported": CLIENT_AUTHENTICATION,
        "service_documentation": format!("{}/docs", site.base(&tenant.host)),
    });
    let mut response = HttpResponse::Ok();
    response.insert_header((CACHE_CONTROL, "public, max-age=3600"));
    response.content_type(JSON).body(metadata.to_string())
}

struct Page {
    media_type: &'static str,
    body: Bytes,
    /// The content security policy of an HTML page.
    policy: Option<String>,
}

impl Page {
    fn html(body: String) -> Self {
        let policy = Some(crate::pages::policy(&body));
        Self { media_type: "text/html; charset=utf-8", body: body.into(), policy }
    }

    /// The page: 304 if the client has it.
    fn respond(self, request: &HttpRequest) -> HttpResponse {
        let mut digest = Context::new(&SHA256);
        digest.update(&self.body);
        let etag = etag_of(digest);
        if none_match_names(request.headers(), &etag) == Some(true) {
            return HttpResponse::NotModified().insert_header((ETAG, etag)).finish();
        }
        let mut response = HttpResponse::Ok();
        if let Some(policy) = self.policy {
            response.insert_header((CONTENT_SECURITY_POLICY, policy));
        }
        response.insert_header((ETAG, etag)).content_type(self.media_type).body(self.body)
    }
}

fn landing(_: &Api) -> Page {
    Page::html(LANDING.to_owned())
}

fn document(api: &Api) -> Page {
    Page { media_type: JSON, body: api.document(), policy: None }
}

fn docs(_: &Api) -> Page {
    Page::html(crate::pages::docs())
}

/// A secondary host redirects here too.
async fn moved(api: &Api, request: &HttpRequest) -> Option<HttpResponse> {
    match tenancy::resolve(
        &**api.backend.store(),
        request,
        &RequestOrigin::from_request(&api.backend, request),
    )
    .await
    {
        Ok(HostLookupResult::Moved(redirect)) => Some(redirect.respond()),
        _ => None,
    }
}

async fn health(api: &Api, request: &HttpRequest) -> HttpResponse {
    if let Some(moved) = moved(api, request).await {
        return moved;
    }
    let (status, message) = match api.backend.store().ready().await {
        Ok(()) => (StatusCode::OK, "OK"),
        Err(error) => {
            tracing::error!(%error, "the database does not answer");
            (StatusCode::SERVICE_UNAVAILABLE, "ERROR")
        }
    };
    HttpResponse::build(status).content_type(JSON).body(format!(r#"{{"message":"{message}"}}"#))
}
