//! A token request, as sent and as parsed.

use crate::{ApiClient, ClientStore, Digest, Secret};
use civitas_kernel::{ClientId, Error, Result};
use serde_json::{Map, Value};

/// A token request as it was sent.
#[derive(Debug, Clone, Default)]
pub struct TokenRequest {
    pub(super) grant_type: Option<String>,
    /// What the name of the client can be; HTTP Basic can be read in two ways.
    client_ids: Vec<String>,
    client_secrets: Vec<Secret>,
    pub(super) scope: Option<String>,
    pub(super) auth_type: Option<String>,
    username: Option<Value>,
    password: Option<Secret>,
    id: Option<Value>,
    meta: Option<Value>,
    extra: Option<Value>,
    /// The first key that no grant has.
    unknown: Option<String>,
}

/// A request that passed all checks of the client.
#[derive(Debug)]
pub struct CheckedTokenRequest {
    /// The client.
    pub client: ClientId,
    /// Its public name.
    pub client_uid: String,
    /// The granted scopes in the order of the request, separated by single spaces.
    pub scope: String,
    /// The grant.
    pub grant: GrantKind,
}

/// The grant of a token request.
#[derive(Debug)]
pub enum GrantKind {
    /// For the client itself.
    Service,
    /// For a user who knows the password.
    Login(LoginGrant),
    /// For a user the client acts for.
    Impersonate(ImpersonationGrant),
}

/// A user who logs in.
#[derive(Debug)]
pub struct LoginGrant {
    /// The nickname.
    pub username: String,
    /// The password.
    pub password: Secret,
}

/// A user a client acts for.
#[derive(Debug)]
pub struct ImpersonationGrant {
    /// The user's id as sent; it takes precedence over the name.
    pub id: Option<Value>,
    /// The nickname.
    pub username: Option<String>,
    /// How to register a missing user.
    pub registration: MissingUserRegistration,
    /// Values to merge into the user's extended data.
    pub extra: Map<String, Value>,
}

/// The `meta` of an impersonation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MissingUserRegistration {
    /// Register the user when there is none of that nickname.
    pub on_missing: bool,
    /// The new user has accepted the terms of service.
    pub accept_tos: bool,
    /// The new user is confirmed at once.
    pub skip_confirmation: bool,
    /// The new user's address; by default `<username>@example.org`.
    pub email: Option<String>,
    /// The new user's name; by default the username.
    pub name: Option<String>,
}

const KNOWN: [&str; 10] = [
    "grant_type",
    "client_id",
    "client_secret",
    "scope",
    "auth_type",
    "username",
    "password",
    "id",
    "meta",
    "extra",
];

impl TokenRequest {
    /// The name of the client, as it was sent.
    pub fn client_id(&self) -> Option<&str> {
        self.client_ids.first().map(String::as_str)
    }

    /// Whether there are credentials of a client, or a part of them.
    pub fn names_client(&self) -> bool {
        !self.client_ids.is_empty() || !self.client_secrets.is_empty()
    }

    /// The client of the first name that is one of a client.
    pub(super) async fn known_client(
        &self,
        clients: &dyn ClientStore,
    ) -> Result<Option<(ClientId, ApiClient)>> {
        for uid in &self.client_ids {
            if let Some(found) = clients.find_by_uid(uid).await? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Whether one of the secrets is the one of this digest. All are compared, each in constant time.
    pub(super) fn proves(&self, digest: &Digest) -> bool {
        self.client_secrets.iter().fold(false, |proved, secret| proved | digest.matches(secret))
    }

    /// Reads a body. Credentials in it take precedence over those of HTTP Basic: what the name and the secret can be.
    pub fn read(body: &Map<String, Value>, basic: Option<(Vec<String>, Vec<Secret>)>) -> Self {
        let text = |key: &str| body.get(key).and_then(Value::as_str).map(str::to_owned);
        let sent = |key: &str| body.get(key).filter(|v| !v.is_null()).cloned();
        let (basic_ids, basic_secrets) = basic.unwrap_or_default();
        Self {
            grant_type: text("grant_type"),
            client_ids: text("client_id").map_or(basic_ids, |id| vec![id]),
            client_secrets: text("client_secret").map_or(basic_secrets, |secret| vec![Secret::new(secret)]),
            // A value of another type is no scope.
            scope: sent("scope").map(|scope| scope.as_str().map_or_else(|| scope.to_string(), str::to_owned)),
            auth_type: text("auth_type"),
            username: sent("username"),
            password: text("password").map(Secret::new),
            id: sent("id"),
            meta: sent("meta"),
            extra: sent("extra"),
            unknown: body.keys().find(|key| !KNOWN.contains(&key.as_str())).cloned(),
        }
    }

    pub(super) fn into_login(self) -> Result<GrantKind> {
        let filled = |text: &String| !text.is_empty();
        let username = self.username.as_ref().and_then(Value::as_str).map(str::to_owned).filter(filled);
        let username = username.ok_or_else(|| Error::missing("username"))?;
        let password =
            self.password.filter(|p| !p.expose().is_empty()).ok_or_else(|| Error::missing("password"))?;
        Ok(GrantKind::Login(LoginGrant { username, password }))
    }

    pub(super) fn into_impersonate(self) -> Result<GrantKind> {
        // A password is ignored: libraries send one with this grant.
        if let Some(name) = self.unknown {
            return Err(unknown_parameter(&name));
        }
        let registration = MissingUserRegistration::read(self.meta)?;
        let extra = match self.extra {
            None => Map::new(),
            Some(Value::Object(extra)) => extra,
            Some(_) => return Err(Error::rejected("extra must be an object")),
        };
        if self.id.is_some() && registration.on_missing {
            return Err(Error::rejected("Param .id forbidden. Check your impersonation payload"));
        }
        let username = match self.username {
            None => None,
            Some(Value::String(name)) => Some(name).filter(|n| !n.trim().is_empty()),
            Some(_) => return Err(Error::rejected("username must be a string")),
        };
        if self.id.is_none() && username.is_none() {
            return Err(Error::rejected("Username params required"));
        }
        Ok(GrantKind::Impersonate(ImpersonationGrant { id: self.id, username, registration, extra }))
    }
}

impl MissingUserRegistration {
    fn read(meta: Option<Value>) -> Result<Self> {
        let meta = match meta {
            None => return Ok(Self::default()),
            Some(Value::Object(meta)) => meta,
            Some(_) => return Err(Error::rejected("meta must be an object")),
        };
        let mut read = Self::default();
        for (key, value) in meta {
            match key.as_str() {
                "register_on_missing" => read.on_missing = boolean(&key, &value)?,
                "accept_tos_on_register" => read.accept_tos = boolean(&key, &value)?,
                "skip_confirmation_on_register" => read.skip_confirmation = boolean(&key, &value)?,
                "email" => read.email = text(&key, value)?,
                "name" => read.name = text(&key, value)?,
                _ => return Err(unknown_parameter(&key)),
            }
        }
        Ok(read)
    }
}

fn boolean(key: &str, value: &Value) -> Result<bool> {
    match value {
        Value::Bool(value) => Ok(*value),
        Value::Null => Ok(false),
        Value::String(text) if text == "true" || text == "1" => Ok(true),
        Value::String(text) if text == "false" || text == "0" => Ok(false),
        _ => Err(Error::rejected(format!("meta.{key} must be a boolean"))),
    }
}

fn text(key: &str, value: Value) -> Result<Option<String>> {
    match value {
        Value::String(text) => Ok(Some(text)),
        Value::Null => Ok(None),
        _ => Err(Error::rejected(format!("meta.{key} must be a string"))),
    }
}

fn unknown_parameter(name: &str) -> Error {
    Error::rejected(format!("Unknown parameter: {name}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[expect(clippy::needless_pass_by_value, reason = "it takes a literal")]
    fn impersonate(body: Value) -> Result<ImpersonationGrant> {
        match TokenRequest::read(body.as_object().unwrap(), None).into_impersonate()? {
            GrantKind::Impersonate(asked) => Ok(asked),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_other_key_is_named_also_inside_meta() {
        let refused = |body| impersonate(body).unwrap_err().description().into_owned();
        assert_eq!(refused(json!({"username": "ada", "colour": 1})), "Unknown parameter: colour");
        assert_eq!(refused(json!({"username": "ada", "meta": {"admin": true}})), "Unknown parameter: admin");
        assert_eq!(refused(json!({"username": "ada", "meta": {"email": 3}})), "meta.email must be a string");
    }

    #[test]
    fn a_password_beside_an_impersonation_is_ignored() {
        let asked = impersonate(json!({"username": "ada", "password": "unused"})).unwrap();
        assert_eq!(asked.username.as_deref(), Some("ada"));
        assert!(impersonate(json!({"username": "ada", "password": 7})).is_ok());
    }

    #[test]
    fn an_id_and_registration_exclude_each_other_and_one_name_is_needed() {
        let refused = |body| impersonate(body).unwrap_err().description().into_owned();
        let both = json!({"id": 3, "meta": {"register_on_missing": "true"}});
        assert_eq!(refused(both), "Param .id forbidden. Check your impersonation payload");
        assert_eq!(refused(json!({"username": " "})), "Username params required");
        assert!(impersonate(json!({"id": "3", "username": "ignored"})).unwrap().id.is_some());
    }
}
