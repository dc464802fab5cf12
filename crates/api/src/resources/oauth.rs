//! Tokens: issue, introspect, revoke (contract 02).

use crate::document::OperationDoc;
use crate::error::ApiError;
use crate::reply::Reply;
use crate::request::{Request, auth_context, bearer};
use crate::route::{HandlerResult, RequiredAccess, Routes};
use crate::shapes::{CreationDate, EditionDate, IntrospectedType, LocaleName, TokenType};
use actix_web::http::{Method, StatusCode};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use civitas_accounts::grants::{Introspection, IntrospectionResult, IssuedToken, Revocation, TokenRequest};
use civitas_accounts::{Secret, TokenAuthenticator, TokenIdentity, User};
use civitas_application::form_decoded;
use civitas_kernel::{ClientId, Error, Locale, UserId, UserState};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

/// An access token.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = oauth_token_response, title = "OAuth token response")]
pub(crate) struct TokenView {
    /// Opaque to clients.
    access_token: String,
    token_type: TokenType,
    /// In seconds.
    expires_in: i64,
    /// The granted scopes in the order of the request.
    scope: String,
    /// In Unix seconds.
    created_at: i64,
}

/// A token; one that does not count is only `{"active": false}`.
#[derive(Debug, Default, Serialize, ToSchema)]
#[schema(as = introspect_data, title = "Introspection Response")]
struct IntrospectedView {
    active: bool,
    /// The granted scopes, separated by spaces.
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    client_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    token_type: Option<&'static str>,
    /// In Unix seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    iat: Option<i64>,
    /// In Unix seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    exp: Option<i64>,
    /// The number of the token.
    #[serde(skip_serializing_if = "Option::is_none")]
    sub: Option<i64>,
    /// `https://` and the host of the organization.
    #[serde(skip_serializing_if = "Option::is_none")]
    aud: Option<String>,
    /// The user of a user token.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(inline)]
    resource: Option<IntrospectedUser>,
}

#[derive(Debug, Serialize, ToSchema)]
struct IntrospectedUser {
    id: String,
    #[schema(inline)]
    r#type: IntrospectedType,
    #[schema(inline)]
    attributes: IntrospectedAttributes,
    #[schema(inline)]
    relationships: NoRelationships,
    #[schema(inline)]
    meta: IntrospectedMeta,
}

#[derive(Debug, Serialize, ToSchema)]
struct IntrospectedAttributes {
    email: String,
    name: String,
    created_at: CreationDate,
    updated_at: EditionDate,
    #[schema(required)]
    personal_url: Option<String>,
    #[schema(value_type = LocaleName)]
    locale: Locale,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NoRelationships {}

#[derive(Debug, Serialize, ToSchema)]
struct IntrospectedMeta {
    blocked: bool,
    locked: bool,
}

/// The introspection and revocation of tokens, mounted below `{base}` and `{host}` alike.
pub(crate) fn routes(routes: &mut Routes) {
    let doc =
        OperationDoc::without_envelope::<TokenView>("Issues a token").with_named_body("oauth_grant_param");
    let doc = doc.with_failure(401).with_failure(403).with_note(
        "Also at `{host}/oauth/token`. The credentials of the client may come as HTTP Basic instead. There is no \
         refresh token: ask again.",
    );
    routes.add_route("createToken", Method::POST, "/oauth/token", RequiredAccess::Token, doc, token);
    let doc = OperationDoc::without_envelope::<IntrospectedView>("Describes a token")
        .with_named_body("introspect_body")
        .with_failure(401);
    let doc = doc.with_bearer_or_credentials().with_note(
        "Also at `{host}/oauth/introspect`. Instead of a bearer token the credentials of the client may come in the \
         body or as HTTP Basic.",
    );
    routes.add_route(
        "introspectToken",
        Method::POST,
        "/oauth/introspect",
        RequiredAccess::Open,
        doc,
        introspect,
    );
    let doc = OperationDoc::new("Revokes a token", "revoke_response")
        .with_named_body("revoke_body")
        .with_failure(403);
    let doc = doc.with_optional_body().with_note(
        "Also at `{host}/oauth/revoke`. The credentials of the client come in the body or as HTTP Basic. The token may \
         be a query parameter instead.",
    );
    routes.add_route("revokeToken", Method::POST, "/oauth/revoke", RequiredAccess::Open, doc, revoke);
}

async fn token(request: Request) -> HandlerResult {
    let asked = token_request(&request);
    let IssuedToken { token, expires_in, scope, created_at } =
        request.backend.token_service.grant(&request.tenant, asked, request.from, request.now).await?;
    let view = TokenView { access_token: token, token_type: TokenType, expires_in, scope, created_at };
    Ok(Reply::json(StatusCode::OK, &view)?
        .with_header("Cache-Control", "no-store")
        .with_header("Pragma", "no-cache"))
}

async fn introspect(request: Request) -> HandlerResult {
    let introspection = Introspection { callers: callers(&request), users: request.ports().users() };
    let auth = auth_context(&request.tenant, request.now);
    let client = introspecting_client(&request, &introspection).await?;
    request.backend.client_limit.consume(client)?;
    let wanted = request.body.get("token").and_then(Value::as_str).unwrap_or_default();
    let found = introspection.describe(auth, client, wanted).await?;
    if wanted.trim().is_empty() {
        return Err(Error::missing("token").into());
    }
    Ok(Reply::json(StatusCode::OK, &described(&request, found))?)
}

/// The client of the bearer token; without one, the client whose credentials the request carries (RFC 7662 §2.1).
async fn introspecting_client(
    request: &Request,
    introspection: &Introspection<'_>,
) -> Result<ClientId, ApiError> {
    let sent = request.authorization.as_deref();
    let is_bearer = sent.is_some_and(|sent| sent.get(..7).is_some_and(|s| s.eq_ignore_ascii_case("bearer ")));
    let credentials = token_request(request);
    if !is_bearer && credentials.names_client() {
        let service = &request.backend.token_service;
        return Ok(service.authenticate(&request.tenant, &credentials, request.now).await?);
    }
    let shown = sent.and_then(|sent| bearer(&[sent])).unwrap_or_default();
    let auth = auth_context(&request.tenant, request.now);
    introspection.client(auth, shown).await?.map_err(ApiError::Bearer)
}

async fn revoke(request: Request) -> HandlerResult {
    let asked = token_request(&request);
    let revocation = Revocation { clients: request.ports().clients(), callers: callers(&request) };
    let in_body = request.body.get("token").and_then(Value::as_str);
    let mut sent = in_body.into_iter().chain(request.query.get("token"));
    let token = sent
        .find(|token| !token.trim().is_empty())
        .ok_or(Error::OAuth { code: "invalid_request", description: "The token is missing." })?;
    revocation.revoke(auth_context(&request.tenant, request.now), &asked, token).await?;
    Ok(Reply::json(StatusCode::OK, &json!({}))?)
}

/// The request in the body, with the credentials of the client from the body or HTTP Basic.
fn token_request(request: &Request) -> TokenRequest {
    let body = request.body.as_object().cloned().unwrap_or_default();
    TokenRequest::read(&body, basic(request.authorization.as_deref()))
}

fn callers(request: &Request) -> TokenAuthenticator<'_> {
    let (backend, tokens) = (&request.backend, request.ports().tokens());
    TokenAuthenticator { tokens, signer: &*backend.services.signer, locales: backend.locales() }
}

/// The credentials of HTTP Basic: what the name and the secret can mean.
fn basic(header: Option<&str>) -> Option<(Vec<String>, Vec<Secret>)> {
    let (scheme, encoded) = header?.split_once(' ')?;
    let decoded = STANDARD.decode(encoded.trim()).ok().filter(|_| scheme.eq_ignore_ascii_case("basic"))?;
    let text = String::from_utf8(decoded).ok()?;
    let (id, secret) = text.split_once(':')?;
    Some((meanings(id), meanings(secret).into_iter().map(Secret::new).collect()))
}

/// A text as it came, and what it is if it is form-encoded (RFC 6749, 2.3.1).
fn meanings(sent: &str) -> Vec<String> {
    let decoded = form_decoded(sent).filter(|decoded| decoded != sent);
    // PostgreSQL cannot compare a text with U+0000, and no valid credentials have one.
    [sent.to_owned()].into_iter().chain(decoded).filter(|text| !text.contains('\0')).collect()
}

fn described(request: &Request, found: IntrospectionResult) -> IntrospectedView {
    let IntrospectionResult::Known { id, identity, user, active } = found else {
        return IntrospectedView::default();
    };
    let TokenIdentity { token, client, .. } = *identity;
    IntrospectedView {
        active,
        scope: Some(token.scope),
        client_id: Some(client.uid),
        token_type: Some("Bearer"),
        iat: Some(token.issued_at.unix_timestamp()),
        exp: Some(token.expires_at.unix_timestamp()),
        sub: Some(id.0),
        aud: Some(request.backend.commands.site().origin(&request.tenant.host)),
        resource: token.user.zip(user).map(|(id, user)| introspected_user(request, id, *user)),
    }
}

fn introspected_user(request: &Request, id: UserId, user: User) -> IntrospectedUser {
    IntrospectedUser {
        id: id.to_string(),
        r#type: IntrospectedType,
        meta: IntrospectedMeta {
            blocked: user.state() == UserState::Blocked,
            locked: user.locked_at.is_some(),
        },
        attributes: IntrospectedAttributes {
            email: user.email,
            name: user.name,
            created_at: CreationDate(user.created_at),
            updated_at: EditionDate(user.updated_at),
            personal_url: user.personal_url,
            locale: user.locale.unwrap_or(request.tenant.default_locale),
        },
        relationships: NoRelationships {},
    }
}
