//! The steps of every request, in the order of contract 01: tenant, route, body, switches, token, rights, handler.

use crate::Api;
use crate::body::{self, Body};
use crate::error::ApiError;
use crate::query::Query;
use crate::reply::Reply;
use crate::response_cache::CacheKey;
use crate::route::{Answer, Gate, Route};
use crate::router::Found;
use crate::tenancy::{self, HostLookup, Origin};
use actix_web::http::Method;
use actix_web::http::header::AUTHORIZATION;
use actix_web::web::Payload;
use actix_web::{HttpRequest, HttpResponse};
use civitas_accounts::Callers;
use civitas_application::{Ports, RenderContext};
use civitas_kernel::{Ctx, Error, Locales, Result, clock, sortable_id};
use civitas_organizations::{Feature, Tenant};
use futures_util::future::{Either, LocalBoxFuture, Ready, ready};
use serde_json::{Map, Value};
use std::sync::{Arc, OnceLock};
use time::OffsetDateTime;
use tracing::{Instrument, Span};

/// A request that may be answered: its organization is known, its body read, its rights asked.
pub(crate) struct Request {
    /// The service.
    pub(crate) api: Arc<Api>,
    /// The organization.
    pub(crate) tenant: Tenant,
    /// The caller; `None` where no token is asked.
    pub(crate) ctx: Option<Ctx>,
    /// What time it is.
    pub(crate) now: OffsetDateTime,
    /// How the client sees this service.
    pub(crate) origin: Origin,
    /// The verb as sent: `HEAD` comes to where `GET` goes.
    pub(crate) method: Method,
    /// The path as sent, without query.
    pub(crate) path: String,
    /// What stands behind the `?`.
    pub(crate) query: Query,
    /// The body; empty without one.
    pub(crate) body: Map<String, Value>,
    /// The `Authorization` header as sent.
    pub(crate) authorization: Option<String>,
    /// The languages of the answer, once they are read.
    locales: OnceLock<Option<Locales>>,
    parameters: Vec<(&'static str, String)>,
}

impl Request {
    /// The caller.
    ///
    /// # Errors
    /// `Unauthenticated` on a route that asks for no token.
    pub(crate) fn ctx(&self) -> Result<&Ctx> {
        self.ctx.as_ref().ok_or(Error::Unauthenticated)
    }

    /// The ports on the pool.
    pub(crate) fn ports(&self) -> &dyn Ports {
        &**self.api.store()
    }

    /// For whom an answer is shown.
    pub(crate) fn render_context(&self) -> Result<RenderContext<'_>> {
        let site = self.api.commands().site();
        Ok(RenderContext { ctx: self.ctx()?, tenant: &self.tenant, site, asked: self.locales()? })
    }

    /// The languages the caller requests; `None` when they did not say.
    ///
    /// # Errors
    /// `Not allowed locales: xx`.
    pub(crate) fn locales(&self) -> Result<Option<&Locales>> {
        if let Some(read) = self.locales.get() {
            return Ok(read.as_ref());
        }
        let read = self.query.locales(self.api.locales())?;
        Ok(self.locales.get_or_init(|| read).as_ref())
    }

    /// A member of the path, as text.
    pub(crate) fn segment(&self, name: &str) -> &str {
        self.parameters.iter().find(|(key, _)| *key == name).map_or("", |(_, value)| value)
    }

    /// The id in the path.
    ///
    /// # Errors
    /// `NotFound` for what is no decimal number of ours (contract 01 §2).
    pub(crate) fn id(&self) -> Result<i64> {
        decimal(self.segment("id")).ok_or(Error::NotFound)
    }
}

/// A decimal integer without sign, at most 2^63 - 1.
fn decimal(text: &str) -> Option<i64> {
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if digits { text.parse().ok() } else { None }
}

/// Answers a request: from the response cache, or with [`dispatch`].
pub(crate) fn serve(
    api: Arc<Api>,
    http: HttpRequest,
    payload: Payload,
) -> Either<Ready<HttpResponse>, LocalBoxFuture<'static, HttpResponse>> {
    let origin = Origin::of(&api, &http);
    let cache_key = CacheKey::read(&**api.store(), &http, &origin);
    if let Some(cached) = cache_key.as_ref().and_then(|cache_key| api.response_cache().get(cache_key)) {
        let response = cached.reply.respond(&http);
        // Only `answered` is logged here; the span is not needed if that level is disabled.
        if tracing::enabled!(tracing::Level::DEBUG) {
            span(&cached.route).in_scope(|| answered(&response));
        }
        return Either::Left(ready(response));
    }
    Either::Right(Box::pin(dispatch(api, http, payload, origin, cache_key)))
}

async fn dispatch(
    api: Arc<Api>,
    http: HttpRequest,
    payload: Payload,
    origin: Origin,
    cache_key: Option<CacheKey>,
) -> HttpResponse {
    let Some(Found { route, parameters }) = api.router().find(http.method(), http.match_info().as_str())
    else {
        return no_route(&api, &http, &origin).await;
    };
    let span = span(&route);
    let asked_at = clock::now();
    async {
        let response = match process(api.clone(), &route, parameters, &http, payload, origin).await {
            Ok((reply, until)) => {
                let response = reply.respond(&http);
                if let (Some(cache_key), Some(until)) = (&cache_key, until) {
                    let until = if route.shows_posts() {
                        // A scheduled post is published by the clock, and no commit says so.
                        match api.store().posts().next_publication(asked_at).await {
                            Ok(next) => next.map_or(until, |at| at.min(until)),
                            Err(_) => asked_at,
                        }
                    } else {
                        until
                    };
                    api.response_cache().insert(cache_key, route.clone(), reply, until);
                }
                response
            }
            Err(refusal) => refusal.respond(),
        };
        answered(&response);
        response
    }
    .instrument(span)
    .await
}

fn span(route: &Route) -> Span {
    tracing::info_span!(
        "api.request",
        id = %sortable_id(),
        method = %route.method,
        route = route.path,
        organization = tracing::field::Empty,
        client = tracing::field::Empty,
        status = tracing::field::Empty,
    )
}

fn answered(response: &HttpResponse) {
    Span::current().record("status", response.status().as_u16());
    tracing::debug!("answered");
}

/// Answers a request without a route. An unknown host takes precedence.
async fn no_route(api: &Api, http: &HttpRequest, origin: &Origin) -> HttpResponse {
    let refusal = match tenancy::resolve(api, http, origin).await {
        Ok(lookup) => lookup.tenant().err().unwrap_or(ApiError::NoRoute),
        Err(error) => error.into(),
    };
    refusal.respond()
}

/// The reply, and when its token expires; `None` without a token.
async fn process(
    api: Arc<Api>,
    route: &Arc<Route>,
    parameters: Vec<(&'static str, String)>,
    http: &HttpRequest,
    payload: Payload,
    origin: Origin,
) -> Result<(Reply, Option<OffsetDateTime>), ApiError> {
    let lookup = tenancy::resolve(&api, http, &origin).await?;
    if let (Gate::Token, HostLookup::Unknown) = (route.gate, &lookup) {
        return Err(Error::rejected("Invalid Organization. Check requested host.").into());
    }
    let tenant = lookup.tenant()?;
    if route.gate == Gate::NoAction {
        return Err(ApiError::NoAction);
    }
    Span::current().record("organization", tenant.id.0);
    let has_body = !matches!(*http.method(), Method::GET | Method::HEAD);
    let limit = api.settings().max_body_bytes;
    let Body { members: body, bytes } =
        if has_body { body::read(http, payload, limit).await? } else { Body::default() };
    if !is_on(&tenant, route.path) {
        return Err(Error::Disabled.into());
    }
    let now = clock::now();
    let authorization = http.headers().get_all(AUTHORIZATION);
    let authorization: Vec<&str> = authorization.map(|v| v.to_str().unwrap_or("?")).collect();
    let ctx = match route.gate {
        Gate::Needs(access) => {
            let ctx = authenticate(&api, &tenant, now, &authorization).await?;
            Span::current().record("client", ctx.caller.client_uid.as_str());
            ctx.require(&access)?;
            Some(ctx)
        }
        Gate::Open | Gate::Token | Gate::NoAction => None,
    };
    let request = Request {
        ctx,
        now,
        origin,
        method: http.method().clone(),
        path: http.path().to_owned(),
        query: Query::read(http.query_string())?,
        body,
        authorization: authorization.first().map(|v| (*v).to_owned()),
        locales: OnceLock::new(),
        parameters,
        tenant,
        api,
    };
    let until = request.ctx.as_ref().map(|ctx| ctx.caller.token_expires_at);
    let reply =
        if bytes > body::LIGHT { aside(route, request).await? } else { (route.handler)(request).await? };
    Ok((reply, until))
}

/// Answers a request with a long body on a thread of its own, a few at once: it may compute for a while, and the thread
/// of a connection serves others meanwhile.
async fn aside(route: &Arc<Route>, request: Request) -> Answer {
    let (api, route, span) = (request.api.clone(), route.clone(), Span::current());
    let _permit = api.heavy().acquire().await.map_err(|closed| Error::Unavailable(closed.into()))?;
    let runtime = api.runtime().clone();
    let answer =
        api.runtime().spawn_blocking(move || runtime.block_on((route.handler)(request).instrument(span)));
    answer.await.map_err(Error::internal)?
}

fn is_on(tenant: &Tenant, path: &str) -> bool {
    match Feature::of_path(path) {
        Some(feature) => tenant.features.is_on(feature),
        None => tenant.features.enabled,
    }
}

async fn authenticate(
    api: &Api,
    tenant: &Tenant,
    now: OffsetDateTime,
    sent: &[&str],
) -> Result<Ctx, ApiError> {
    if sent.is_empty() {
        return Err(ApiError::NoCredentials);
    }
    let token = bearer(sent).ok_or(Error::Unauthenticated)?;
    let callers = Callers { tokens: api.store().tokens(), signer: api.signer(), locales: api.locales() };
    Ok(callers.authenticate(auth_context(tenant, now), token).await?)
}

/// Where and when a token is shown.
pub(crate) fn auth_context(tenant: &Tenant, now: OffsetDateTime) -> civitas_accounts::AuthContext {
    civitas_accounts::AuthContext { organization: tenant.id, default_locale: tenant.default_locale, now }
}

/// The one token of the one header: `Bearer <token>`, the scheme in any case, one space or more.
pub(crate) fn bearer<'a>(sent: &[&'a str]) -> Option<&'a str> {
    let [header] = sent else { return None };
    let (scheme, token) = header.split_once(' ')?;
    let token = token.trim_start_matches(' ');
    let sound = !token.is_empty() && token.bytes().all(|b| b.is_ascii_graphic() && b != b',');
    (scheme.eq_ignore_ascii_case("bearer") && sound).then_some(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_plain_decimals() {
        assert_eq!(decimal("42"), Some(42));
        for bad in ["", "abc", "12abc", "-1", "+1", "1 ", "999999999999999999999999999999", "٣"] {
            assert_eq!(decimal(bad), None, "{bad}");
        }
    }

    #[test]
    fn there_is_one_way_to_show_a_token() {
        for good in ["Bearer x.y", "bearer x.y", "BEARER   x.y"] {
            assert_eq!(bearer(&[good]), Some("x.y"));
        }
        for bad in ["x.y", "Basic x.y", "Bearer", "Bearer ", "Bearer x y", "Bearer x,y", "Bearer\tx"] {
            assert_eq!(bearer(&[bad]), None, "{bad}");
        }
        assert_eq!(bearer(&["Bearer x", "Bearer y"]), None, "two tokens");
    }
}
