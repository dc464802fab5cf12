//! The three token grants (contract 02 §2): client credentials, login, impersonation. [`Grants::check_request`] checks
//! the request and the client before the user; then a user is found ([`Logins`]) or created ([`Impersonation`]); then
//! [`issue`] creates the token.

mod impersonation;
mod login;
mod request;
mod tokens;

pub use impersonation::Impersonation;
pub use login::{LOGIN_LOCKED, Logins};
pub use request::{
    CheckedTokenRequest, GrantKind, ImpersonationGrant, LoginGrant, MissingUserRegistration, TokenRequest,
};
pub use tokens::{Introspection, IntrospectionResult, IssuedToken, Revocation, issue};

use crate::{ApiClient, ClientStore};
use civitas_kernel::{Ability, ClientId, Error, OrganizationId, Result, Scope, Scopes};

/// The text of the refusal of an unknown client (check 6 of contract 02 §2.2).
pub const UNKNOWN_CLIENT: &str = "Invalid Api Client, check credentials";

/// Checks token requests.
pub struct Grants<'a> {
    /// The store of clients.
    pub clients: &'a dyn ClientStore,
}

impl Grants<'_> {
    /// Checks 3 to 10 of contract 02 §2.2, in that order. Nothing has a side effect.
    ///
    /// # Errors
    /// Those of the table.
    pub async fn check_request(
        &self,
        organization: OrganizationId,
        request: TokenRequest,
    ) -> Result<CheckedTokenRequest> {
        let kind = request.grant_type.as_deref().filter(|k| !k.is_empty());
        let password_grant = match kind.ok_or_else(|| Error::missing("grant_type"))? {
            "client_credentials" => false,
            "password" => true,
            _ => return Err(Error::rejected("Unsupported grant_type")),
        };
        let asked = request.scope.clone().filter(|scope| !scope.trim().is_empty());
        let asked = asked.unwrap_or_else(|| Scope::Public.as_str().to_owned());
        if password_grant && asked.split_whitespace().any(|word| word == Scope::System.as_str()) {
            return Err(Error::rejected("can not request system scope with ROPC flow"));
        }
        let known = self.known_client(organization, &request, password_grant).await?;
        let (id, client) =
            known.filter(|(_, client)| request.proves(&client.secret)).ok_or_else(invalid_client)?;
        let scope = granted_scope(&asked, client.scopes)?;
        let grant = if password_grant { request.into_password_grant(&client)? } else { GrantKind::Service };
        Ok(CheckedTokenRequest { client: id, client_uid: client.uid, scope, grant })
    }

    /// The client whose credentials these are, for operations without a grant (contract 02 §3).
    ///
    /// # Errors
    /// `invalid_client` when there are none, or not those of a client of this organization.
    pub async fn authenticate(
        &self,
        organization: OrganizationId,
        request: &TokenRequest,
    ) -> Result<ClientId> {
        let known = self.known_client(organization, request, false).await?;
        let known = known.filter(|(_, client)| request.proves(&client.secret));
        known.map(|(id, _)| id).ok_or_else(invalid_client)
    }

    /// Check 6, which differs for the password grant; with the other grant an unknown client is an authentication
    /// error.
    async fn known_client(
        &self,
        organization: OrganizationId,
        request: &TokenRequest,
        password_grant: bool,
    ) -> Result<Option<(ClientId, ApiClient)>> {
        let uid = request.client_id().unwrap_or_default();
        if password_grant && uid.trim().is_empty() {
            return Err(Error::missing("client_id"));
        }
        if password_grant && uid.chars().count() < ApiClient::MIN_UID {
            return Err(Error::rejected("Invalid Api Client, check client_id credentials"));
        }
        let found = request.known_client(self.clients).await?;
        let found = found.filter(|(_, client)| client.serves(organization));
        if password_grant && found.is_none() {
            return Err(Error::rejected(UNKNOWN_CLIENT));
        }
        Ok(found)
    }
}

/// Check 8: every word is a scope the client owns. Duplicates are dropped, the order stays.
fn granted_scope(asked: &str, owned: Scopes) -> Result<String> {
    let mut words: Vec<&str> = Vec::new();
    for word in asked.split_whitespace() {
        let owned = Scope::parse(word).is_some_and(|scope| owned.has(scope));
        if !owned {
            return Err(invalid_scope());
        }
        if !words.contains(&word) {
            words.push(word);
        }
    }
    Ok(words.join(" "))
}

impl TokenRequest {
    /// Checks 9 and 10, then the fields of the grant.
    fn into_password_grant(self, client: &ApiClient) -> Result<GrantKind> {
        let auth_type =
            self.auth_type.clone().filter(|t| !t.is_empty()).ok_or_else(|| Error::missing("auth_type"))?;
        let needed = match auth_type.as_str() {
            "login" => Ability::OauthLogin,
            "impersonate" => Ability::OauthImpersonate,
            strange => {
                let cut: String = strange.chars().take(50).collect();
                return Err(Error::rejected(format!("Not allowed param auth_type='{cut}'")));
            }
        };
        if !client.permissions.has(needed) {
            return Err(Error::Forbidden);
        }
        if needed == Ability::OauthLogin { self.into_login() } else { self.into_impersonate() }
    }
}

fn invalid_client() -> Error {
    Error::OAuth {
        code: "invalid_client",
        description: "Client authentication failed due to unknown client, no client authentication included, \
                      or unsupported authentication method.",
    }
}

fn invalid_scope() -> Error {
    Error::OAuth {
        code: "invalid_scope",
        description: "The requested scope is invalid, unknown, or malformed.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MockClientStore, Secret};
    use civitas_kernel::Abilities;
    use serde_json::{Value, json};
    use time::macros::datetime;

    async fn check_request(body: Value, abilities: &[Ability]) -> Result<CheckedTokenRequest> {
        begin_with(body, None, abilities).await
    }

    async fn begin_with(
        body: Value,
        basic: Option<(Vec<String>, Vec<Secret>)>,
        abilities: &[Ability],
    ) -> Result<CheckedTokenRequest> {
        let abilities: Abilities = abilities.iter().copied().collect();
        let mut clients = MockClientStore::new();
        clients.expect_find_by_uid().returning(move |uid| {
            let now = datetime!(2026-01-01 0:00 UTC);
            let client = ApiClient {
                uid: uid.to_owned(),
                secret: Secret::new("key_right").digest(),
                name: "App".to_owned(),
                organization: Some(OrganizationId(1)),
                scopes: Scopes::read("public proposals"),
                permissions: abilities,
                created_at: now,
                updated_at: now,
            };
            Ok((uid == "id_known").then_some((ClientId(4), client)))
        });
        let body = body.as_object().unwrap();
        Grants { clients: &clients }.check_request(OrganizationId(1), TokenRequest::read(body, basic)).await
    }

    async fn refusal(change: Value) -> String {
        let mut body = json!({"grant_type": "password", "auth_type": "login", "username": "ada", "password": "x",
            "client_id": "id_known", "client_secret": "key_right", "scope": "public"});
        for (key, value) in change.as_object().unwrap() {
            body[key] = value.clone();
        }
        let error = check_request(body, &[Ability::OauthLogin]).await.err();
        error.map_or_else(String::new, |e| e.description().into_owned())
    }

    #[tokio::test]
    async fn the_checks_come_in_the_order_of_the_table() {
        let missing = "param is missing or the value is empty or invalid";
        let table = [
            (json!({"grant_type": ""}), format!("{missing}: grant_type")),
            (json!({"grant_type": "implicit", "scope": "system"}), "Unsupported grant_type".to_owned()),
            (
                json!({"scope": "public system", "client_id": ""}),
                "can not request system scope with ROPC flow".into(),
            ),
            (json!({"client_id": "", "client_secret": "no"}), format!("{missing}: client_id")),
            (json!({"client_id": "short"}), "Invalid Api Client, check client_id credentials".into()),
            (json!({"client_id": "id_unknown"}), "Invalid Api Client, check credentials".into()),
            (json!({"client_secret": "no", "scope": "blogs"}), invalid_client().description().into_owned()),
            (json!({"scope": "public blogs", "auth_type": ""}), invalid_scope().description().into_owned()),
            (json!({"scope": "ecosystem"}), invalid_scope().description().into_owned()),
            (json!({"auth_type": ""}), format!("{missing}: auth_type")),
            (
                json!({"auth_type": "x".repeat(60)}),
                format!("Not allowed param auth_type='{}'", "x".repeat(50)),
            ),
            (json!({"auth_type": "impersonate"}), "Forbidden".into()),
            (json!({"username": ""}), format!("{missing}: username")),
            (json!({}), String::new()),
        ];
        for (change, expected) in table {
            assert_eq!(refusal(change.clone()).await, expected, "{change}");
        }
    }

    #[tokio::test]
    async fn a_client_on_its_own_gets_the_scopes_in_the_order_asked_once_each() {
        let body = json!({"grant_type": "client_credentials", "client_id": "id_known", "client_secret": "key_right",
            "scope": "proposals  public proposals", "colour": "ignored"});
        assert_eq!(check_request(body, &[]).await.unwrap().scope, "proposals public");
    }

    #[tokio::test]
    async fn a_request_without_a_scope_asks_for_public() {
        let credentials = json!({"grant_type": "client_credentials", "client_id": "id_known", "client_secret": "key_right"});
        for scope in [None, Some(json!(null)), Some(json!("")), Some(json!(" \t"))] {
            let mut body = credentials.clone();
            if let Some(scope) = scope {
                body["scope"] = scope;
            }
            assert_eq!(check_request(body.clone(), &[]).await.unwrap().scope, "public", "{body}");
        }
        for scope in [json!(5), json!(["public"]), json!({}), json!(false)] {
            let mut body = credentials.clone();
            body["scope"] = scope;
            assert!(matches!(
                check_request(body, &[]).await,
                Err(Error::OAuth { code: "invalid_scope", .. })
            ));
        }
        assert!(granted_scope("public", Scopes::read("proposals")).is_err(), "the client does not own it");
    }

    #[tokio::test]
    async fn a_name_and_a_secret_may_each_have_two_meanings() {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let secrets = |sent: &[&str]| sent.iter().map(|text| Secret::new(*text)).collect::<Vec<_>>();
        for (ids, sent, authenticates) in [
            (&["id_known"][..], &["key_right"][..], true),
            (&["id%5Fknown", "id_known"], &["key%5Fright", "key_right"], true),
            (&["id_known", "id known"], &["key_right", "key right"], true),
            (&["id_known"], &["key_wrong", "key wrong"], false),
            (&["id_known"], &[], false),
            (&[], &["key_right"], false),
        ] {
            let body = json!({"grant_type": "client_credentials"});
            let begun = begin_with(body, Some((texts(ids), secrets(sent))), &[]).await;
            assert_eq!(begun.is_ok(), authenticates, "{ids:?} {sent:?}");
        }
    }

    #[tokio::test]
    async fn an_unknown_client_on_its_own_does_not_authenticate() {
        let body = json!({"grant_type": "client_credentials", "client_id": "no", "client_secret": "", "scope": "public"});
        assert!(matches!(check_request(body, &[]).await, Err(Error::OAuth { code: "invalid_client", .. })));
    }
}
