//! Bodies and answers of the token endpoints (contract 02 §2 to §4).
#![expect(dead_code, reason = "the structs name the members of the document")]

use super::build::{Schemas, add, number_or_text};
use crate::shapes::{CreationDate, EditionDate, LocaleName, type_names};
use serde_json::Value;
use utoipa::ToSchema;
use utoipa::openapi::Ref;
use utoipa::openapi::schema::OneOfBuilder;

/// Adds the bodies of the three operations, and the answers that are not a view.
pub(super) fn add_all(to: &mut Schemas) {
    add::<ClientCredential>(to);
    add::<PasswordGrantLogin>(to);
    add::<PasswordGrantImpersonate>(to);
    let grants = [ClientCredential::name(), PasswordGrantLogin::name(), PasswordGrantImpersonate::name()];
    let one_of =
        grants.into_iter().fold(OneOfBuilder::new(), |o, grant| o.item(Ref::from_schema_name(grant)));
    to.insert("oauth_grant_param".to_owned(), one_of.into());
    add::<IntrospectBody>(to);
    add::<IntrospectData>(to);
    add::<RevokeBody>(to);
    add::<RevokeResponse>(to);
}

type_names! {
    ClientCredentials = "client_credentials" in "client_credentials",
    PasswordGrant = "password" in "password_grant",
    Login = "login" in "login",
    Impersonate = "impersonate" in "impersonate",
    IntrospectedType = "user" in "introspected_type",
}

/// A service token: the client asks for itself.
#[derive(ToSchema)]
#[schema(as = client_credential, examples(json!({
    "grant_type": "client_credentials", "client_id": "id_4fRk29aQpLx0WmZt", "client_secret": "..",
    "scope": "public proposals"})))]
struct ClientCredential {
    #[schema(inline)]
    grant_type: ClientCredentials,
    client_id: String,
    client_secret: String,
    /// Scopes of the client, separated by spaces; `public` when absent.
    scope: Option<String>,
}

/// A user token, by the password of the user. Needs `oauth.login`.
#[derive(ToSchema)]
#[schema(as = password_grant_login, examples(json!({
    "grant_type": "password", "auth_type": "login", "username": "norablum", "password": "..",
    "client_id": "id_4fRk29aQpLx0WmZt", "client_secret": "..", "scope": "public proposals"})))]
struct PasswordGrantLogin {
    #[schema(inline)]
    grant_type: PasswordGrant,
    #[schema(inline)]
    auth_type: Login,
    /// The nickname.
    username: String,
    password: String,
    client_id: String,
    client_secret: String,
    /// Scopes of the client, separated by spaces; `public` when absent; never `system`.
    scope: Option<String>,
}

/// A user token on the word of the client alone. Needs `oauth.impersonate`, and one of `username` and `id`.
#[derive(ToSchema)]
#[schema(as = password_grant_impersonate, examples(json!({
    "grant_type": "password", "auth_type": "impersonate", "username": "norablum",
    "client_id": "id_4fRk29aQpLx0WmZt", "client_secret": "..", "scope": "public proposals",
    "meta": {"register_on_missing": true, "accept_tos_on_register": true, "name": "Nora Blum"}})))]
#[serde(deny_unknown_fields)]
struct PasswordGrantImpersonate {
    #[schema(inline)]
    grant_type: PasswordGrant,
    #[schema(inline)]
    auth_type: Impersonate,
    client_id: String,
    client_secret: String,
    /// Scopes of the client, separated by spaces; `public` when absent; never `system`.
    scope: Option<String>,
    /// The nickname.
    username: Option<String>,
    /// Ignored: libraries send one with this grant.
    password: Option<String>,
    /// The number of the user, as text or number.
    #[schema(schema_with = number_or_text, required = false)]
    id: Option<Value>,
    #[schema(inline)]
    meta: Option<ImpersonationMeta>,
    /// Merged into the extended data of the user.
    #[schema(value_type = Option<Object>)]
    extra: Option<Value>,
}

/// How a missing user is registered.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
struct ImpersonationMeta {
    /// Registers the user where there is none.
    register_on_missing: Option<bool>,
    accept_tos_on_register: Option<bool>,
    /// No confirmation mail.
    skip_confirmation_on_register: Option<bool>,
    email: Option<String>,
    name: Option<String>,
}

/// Which token to describe. The credentials of the client are needed without a bearer token; they may come as HTTP Basic
/// instead.
#[derive(ToSchema)]
#[schema(as = introspect_body, examples(json!({"token": "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.."})))]
struct IntrospectBody {
    token: String,
    /// Ignored.
    token_type_hint: Option<String>,
    client_id: Option<String>,
    client_secret: Option<String>,
}

/// A token; one that does not count is only `{"active": false}`.
#[derive(ToSchema)]
#[schema(as = introspect_data)]
#[serde(deny_unknown_fields)]
struct IntrospectData {
    active: bool,
    /// The granted scopes, separated by spaces.
    scope: Option<String>,
    client_id: Option<String>,
    token_type: Option<String>,
    /// In Unix seconds.
    iat: Option<i64>,
    /// In Unix seconds.
    exp: Option<i64>,
    /// The number of the token.
    sub: Option<i64>,
    /// `https://` and the host of the organization.
    aud: Option<String>,
    /// The user of a user token.
    #[schema(inline)]
    resource: Option<IntrospectResource>,
}

#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
struct IntrospectResource {
    id: String,
    #[serde(rename = "type")]
    #[schema(inline)]
    kind: IntrospectedType,
    #[schema(inline)]
    attributes: IntrospectAttributes,
    #[schema(inline)]
    relationships: Nothing,
    #[schema(inline)]
    meta: IntrospectMeta,
}

#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
struct IntrospectAttributes {
    email: String,
    name: String,
    created_at: CreationDate,
    updated_at: EditionDate,
    #[schema(required)]
    personal_url: Option<String>,
    #[schema(value_type = LocaleName)]
    locale: &'static str,
}

#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
struct Nothing {}

#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
struct IntrospectMeta {
    blocked: bool,
    locked: bool,
}

/// Which token to revoke. The credentials of the client may come as HTTP Basic instead.
#[derive(ToSchema)]
#[schema(as = revoke_body, examples(json!({
    "token": "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9..", "client_id": "id_4fRk29aQpLx0WmZt", "client_secret": ".."})))]
struct RevokeBody {
    token: Option<String>,
    /// Ignored.
    token_type_hint: Option<String>,
    client_id: Option<String>,
    client_secret: Option<String>,
}

/// Nothing: whether there was such a token is not told.
#[derive(ToSchema)]
#[schema(as = revoke_response)]
#[serde(deny_unknown_fields)]
struct RevokeResponse {}
