//! The service itself: landing page, health, document (contract 01 §11b). They answer on any host; feature switches do
//! not apply.

use crate::api::Api;
use crate::error::{ApiError, JSON};
use crate::tenancy::{self, HostLookup, Origin};
use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse, web};
use std::sync::Arc;

const LANDING: &str = include_str!("pages/landing.html");

/// A handler of a service page.
type MakePage = fn(&Api) -> Page;
const PAGES: [(&str, MakePage); 3] = [("/", landing), ("/openapi.json", document), ("/docs", docs)];

/// The four service routes of one mount.
pub(crate) fn mount(config: &mut web::ServiceConfig, api: &Arc<Api>, base: &str) {
    for (path, page) in PAGES {
        let api = api.clone();
        let handler = move |request: HttpRequest| {
            let api = api.clone();
            async move { moved(&api, &request).await.unwrap_or_else(|| page(&api).respond()) }
        };
        config.route(&format!("{base}{path}"), web::get().to(handler.clone()));
        config.route(&format!("{base}{path}"), web::head().to(handler));
    }
    let api = api.clone();
    let check = move |request: HttpRequest| {
        let api = api.clone();
        async move { health(&api, &request).await }
    };
    config.route(&format!("{base}/health"), web::get().to(check.clone()));
    config.route(&format!("{base}/health"), web::head().to(check));
}

struct Page {
    media_type: &'static str,
    body: String,
}

impl Page {
    fn html(body: String) -> Self {
        Self { media_type: "text/html; charset=utf-8", body }
    }

    fn respond(self) -> HttpResponse {
        HttpResponse::Ok().content_type(self.media_type).body(self.body)
    }
}

fn landing(_: &Api) -> Page {
    Page::html(LANDING.to_owned())
}

fn document(api: &Api) -> Page {
    Page { media_type: JSON, body: api.document.clone() }
}

fn docs(_: &Api) -> Page {
    Page::html(crate::pages::docs())
}

/// A secondary host redirects here too.
async fn moved(api: &Api, request: &HttpRequest) -> Option<HttpResponse> {
    match tenancy::resolve(&api.backend, request, &Origin::of(&api.backend, request)).await {
        Ok(HostLookup::Moved(to)) => Some(ApiError::Moved(to).respond()),
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
