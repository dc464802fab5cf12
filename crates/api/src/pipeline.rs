//! The steps of every request, in the order of contract 01: tenant, route, body, switches, token, rights, handler.

use crate::api::Api;
use crate::backend::Backend;
use crate::body::{self, RequestBody};
use crate::error::ApiError;
use crate::keyed_write::KeyedWrite;
use crate::positions;
use crate::prefer;
use crate::query::Query;
use crate::request::{Request, auth_context, bearer};
use crate::route::{HandlerResult, RequiredAccess, Route, UnreadBodies};
use crate::router::RouteMatch;
use crate::tenancy::{self, HostLookupResult, RequestOrigin};
use crate::unread_body::UnreadBody;
use actix_web::http::Method;
use actix_web::http::header::{ACCEPT_LANGUAGE, AUTHORIZATION, HeaderValue};
use actix_web::web::Payload;
use actix_web::{HttpRequest, HttpResponse};
use civitas_accounts::TokenAuthenticator;
use civitas_application::{SharedResource, Store, metrics, source_address, traces};
use civitas_jobs::JobOwner;
use civitas_kernel::{Ctx, Error, PageRequest, Result, clock, sortable_id};
use civitas_organizations::{Feature, Tenant};
use std::net::IpAddr;
use std::sync::{Arc, OnceLock};
use std::time::Instant;
use time::OffsetDateTime;
use tracing::{Instrument, Span};

/// The longest answer that is built on the thread of the request, in bytes. For a longer answer the request is processed
/// again, because the length is known only after the answer was built.
const USUAL_ANSWER: usize = 1024 * 1024;
/// The header with the last event a client of a stream has.
const LAST_EVENT_ID: &str = "last-event-id";

pub(crate) async fn serve(api: Arc<Api>, http: HttpRequest, payload: Payload) -> HttpResponse {
    let begun = Instant::now();
    let origin = RequestOrigin::from_request(&api.backend, &http);
    let Some(found) = api.router.find(http.method(), http.match_info().as_str()) else {
        let response = no_route(&api, &http, &origin).await;
        count(None, &response, begun);
        return response;
    };
    let span = span(&found.route, &api.backend, &http);
    let response = async {
        let longest = if found.route.writes() { usize::MAX } else { USUAL_ANSWER };
        let mut answer = process(&api, &found, &http, Some(payload), &origin, longest).await;
        if matches!(answer, Err(ApiError::Error(Error::AnswerTooLong))) {
            answer = process(&api, &found, &http, None, &origin, PageRequest::MAX_BYTES).await;
        }
        let response = answer.map_or_else(|refusal| refusal.respond(), |reply| reply.respond(&http));
        Span::current().record("status", response.status().as_u16());
        tracing::debug!("answered");
        response
    }
    .instrument(span)
    .await;
    count(Some(&found.route), &response, begun);
    response
}

/// Counts a request. Requests without a route have one label: their paths and methods are of any number.
fn count(route: Option<&Route>, response: &HttpResponse, begun: Instant) {
    let (route, method) = route.map_or(("none", "any"), |route| (route.path.as_str(), route.method.as_str()));
    metrics::record_request(route, method, response.status().as_u16(), begun.elapsed());
}

fn span(route: &Route, backend: &Backend, http: &HttpRequest) -> Span {
    let peer = http.peer_addr().map(|peer| peer.ip());
    let header = http.headers().get("traceparent").and_then(|value| value.to_str().ok());
    tracing::info_span!(
        "api.request",
        id = %sortable_id(),
        method = %route.method,
        route = route.path.as_str(),
        traceparent = traces::caller_trace(peer, header, &backend.settings.trusted_proxies),
        organization = tracing::field::Empty,
        client = tracing::field::Empty,
        status = tracing::field::Empty,
    )
}

/// Answers a request without a route. An unknown host takes precedence.
async fn no_route(api: &Api, http: &HttpRequest, origin: &RequestOrigin) -> HttpResponse {
    let refusal = match tenancy::resolve(&**api.backend.store(), http, origin).await {
        Ok(lookup) => lookup.tenant().err().unwrap_or(ApiError::NoRoute),
        Err(error) => error.into(),
    };
    refusal.respond()
}

/// The reply. `longest`: the most bytes of the reply to a read.
async fn process(
    api: &Api,
    found: &RouteMatch,
    http: &HttpRequest,
    payload: Option<Payload>,
    origin: &RequestOrigin,
    longest: usize,
) -> HandlerResult {
    let (route, store) = (&found.route, api.backend.store().clone());
    let from = source(&api.backend, http);
    if route.takes_credentials() {
        api.backend.authentication_limit.check(from)?;
    }
    let lookup = tenancy::resolve(&*store, http, origin).await?;
    if let (RequiredAccess::Token, HostLookupResult::Unknown) = (route.required_access, &lookup) {
        return Err(Error::rejected("Invalid Organization. Check requested host.").into());
    }
    let tenant = lookup.tenant()?;
    if route.required_access == RequiredAccess::NoAction {
        return Err(ApiError::NoAction);
    }
    if route.changes_content() {
        api.backend.check_writable(&tenant)?;
    }
    Span::current().record("organization", tenant.id.0);
    let (body, incoming) = receive(&api.backend, route, http, payload).await?;
    let RequestBody { members: body, bytes } = body;
    if !is_on(&tenant, &route.path) {
        return Err(Error::Disabled.into());
    }
    let now = clock::now();
    let authorization = http.headers().get_all(AUTHORIZATION);
    let authorization: Vec<&str> = authorization.map(|v| v.to_str().unwrap_or("?")).collect();
    let is_again = longest == PageRequest::MAX_BYTES;
    let ctx = authorize(&api.backend, &*store, route, &tenant, now, &authorization, is_again).await?;
    let keyed = match &ctx {
        Some(ctx) if route.writes() => KeyedWrite::read(&api.backend, ctx, http)?,
        _ => None,
    };
    let (store, primary) = positions::stores_of(route, store, longest, ctx.as_ref(), http).await?;
    let request = Request {
        ctx,
        now,
        origin: origin.clone(),
        method: http.method().clone(),
        path: http.path().to_owned(),
        query: Query::read(http.query_string())?,
        is_counted: prefer::is_count_exact(http.headers()),
        body: body.into(),
        from,
        authorization: authorization.first().map(|v| (*v).to_owned()),
        locales: OnceLock::new(),
        language: OnceLock::new(),
        accept_language: body::header_text(http.headers(), &ACCEPT_LANGUAGE).map(str::to_owned),
        last_event_id: http.headers().get(LAST_EVENT_ID).map(|v| v.to_str().unwrap_or("?").to_owned()),
        keyed,
        parameters: found.parameters.clone(),
        tenant,
        store,
        primary,
        longest,
        backend: api.backend.clone(),
    };
    let writer = request.ctx.as_ref().filter(|_| route.writes()).map(JobOwner::of_caller);
    let reply = answer(route, request, incoming, bytes > body::MAX_INLINE_BYTES).await?;
    Ok(api.backend.with_position(reply, writer).await)
}

/// The body of a request, read or not: some routes read it themselves.
async fn receive(
    backend: &Backend,
    route: &Route,
    http: &HttpRequest,
    payload: Option<Payload>,
) -> Result<(RequestBody, Option<UnreadBody>), ApiError> {
    let Some(payload) = payload.filter(|_| !matches!(*http.method(), Method::GET | Method::HEAD)) else {
        return Ok((RequestBody::default(), None));
    };
    let is_unread = match route.handler.unread {
        UnreadBodies::None => false,
        UnreadBodies::Forms => body::is_multipart(http),
        UnreadBodies::All => true,
    };
    if is_unread {
        if body::is_encoded(http.headers()) {
            return Err(ApiError::UnsupportedMediaType);
        }
        return Ok((RequestBody::default(), Some(UnreadBody { headers: http.headers().clone(), payload })));
    }
    Ok((body::read(http, payload, backend.settings.max_body_bytes).await?, None))
}

/// Calls the handler, unless the reply to this request was stored; counts refused credentials.
async fn answer(
    route: &Arc<Route>,
    request: Request,
    incoming: Option<UnreadBody>,
    is_heavy: bool,
) -> HandlerResult {
    let (backend, from) = (request.backend.clone(), request.from);
    let (keyed, now) = (request.keyed.clone(), request.now);
    if keyed.is_some()
        && incoming.is_none()
        && let Some(stored) = request.stored_reply(&request.body.to_string()).await?
    {
        return Ok(stored);
    }
    // The permit of a long body comes first, so that other requests can write while bodies wait. A handler that receives the
    // body itself takes the permit of the write.
    let share = match request.longest {
        PageRequest::MAX_BYTES => Some(SharedResource::LargeAnswers),
        _ => is_heavy.then_some(SharedResource::LargeBodies),
    };
    let long = match share {
        Some(share) => Some(request.take_permit(share).await?),
        None => None,
    };
    let permit = match route.writes() {
        // The endpoint of tokens takes its permits by itself.
        true if incoming.is_some() || route.path == "/oauth/token" => None,
        true => Some(request.take_permit(SharedResource::Writes).await?),
        false => Some(request.take_permit(SharedResource::Reads).await?),
    };
    let search =
        if request.may_search() { Some(request.take_permit(SharedResource::Searches).await?) } else { None };
    let permits = (long, permit, search);
    let (answer, (long, ..)) = if permits.0.is_some() {
        on_separate_runtime(route, request, permits).await?
    } else {
        (positions::call(route, request, incoming).await, permits)
    };
    // A long answer uses memory until it was sent.
    let answer = match (answer, long.filter(|_| share == Some(SharedResource::LargeAnswers))) {
        (Ok(reply), Some(long)) => Ok(reply.with_permit(long)),
        (answer, _) => answer,
    };
    let answer = match (answer, keyed) {
        (Err(error), Some(keyed)) => keyed.store_refusal(error, now).await,
        (answer, _) => answer,
    };
    if route.takes_credentials() && answer.as_ref().is_err_and(refuses_a_client) {
        backend.authentication_limit.count(from);
    }
    answer
}

/// The address of the client.
fn source(backend: &Backend, http: &HttpRequest) -> Option<IpAddr> {
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned().into();
    let values = |name| http.headers().get_all(name).map(text).collect();
    Some(source_address(http.peer_addr()?.ip(), values, &backend.settings.trusted_proxies))
}

/// Whether the credentials of a client were refused.
fn refuses_a_client(error: &ApiError) -> bool {
    matches!(error, ApiError::Error(Error::OAuth { code: "invalid_client" | "unauthorized_client", .. }))
}

/// Answers a request with a long body or answer on a separate runtime, because long computations would block the other
/// connections of a thread. The request ends even if the client is gone, and holds the permits until then.
async fn on_separate_runtime<P: Send + 'static>(
    route: &Arc<Route>,
    request: Request,
    permits: P,
) -> Result<(HandlerResult, P), ApiError> {
    let (route, span) = (route.clone(), Span::current());
    let (backend, runtime) = (request.backend.clone(), request.backend.services.runtime.clone());
    let answer = backend.services.runtime.spawn_blocking(move || {
        (runtime.block_on(positions::call(&route, request, None).instrument(span)), permits)
    });
    Ok(answer.await.map_err(Error::internal)?)
}

fn is_on(tenant: &Tenant, path: &str) -> bool {
    match Feature::from_path(path) {
        Some(feature) => tenant.features.is_on(feature),
        None => tenant.features.enabled,
    }
}

/// The caller, who has the rights that the route requires; `None` on a route without token.
async fn authorize(
    backend: &Backend,
    store: &dyn Store,
    route: &Route,
    tenant: &Tenant,
    now: OffsetDateTime,
    sent: &[&str],
    is_again: bool,
) -> Result<Option<Ctx>, ApiError> {
    let RequiredAccess::Needs(access) = route.required_access else { return Ok(None) };
    if sent.is_empty() {
        return Err(ApiError::NoCredentials);
    }
    let token = bearer(sent).ok_or(Error::Unauthenticated)?;
    let callers = TokenAuthenticator {
        tokens: store.tokens(),
        signer: &*backend.services.signer,
        locales: backend.locales(),
    };
    let ctx = callers.authenticate(auth_context(tenant, now), token).await?;
    Span::current().record("client", ctx.caller.client_uid.as_str());
    if !is_again {
        backend.client_limit.consume(ctx.caller.client)?;
    }
    ctx.require(&access)?;
    Ok(Some(ctx))
}
