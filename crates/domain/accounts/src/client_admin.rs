//! Creates API clients, grants and revokes their permissions (contract 02 §1, 04 §2 and §4). The command line and the
//! panel call this; each has its own error texts.

use crate::{ApiClient, ClientStore, DEPLOYMENT_WIDE, Secret};
use async_trait::async_trait;
use civitas_kernel::{Abilities, Ability, ClientId, Error, OrganizationId, Scope, Scopes};
use std::fmt;
use time::OffsetDateTime;

/// The port to organizations.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait ClientOrganizationLookup: Send + Sync {
    /// Whether there is such an organization.
    async fn exists(&self, organization: OrganizationId) -> civitas_kernel::Result<bool>;
}

/// The request for a new client. Unknown scopes and permissions are errors.
#[derive(Debug, Default)]
pub struct NewClient {
    /// Its public name; `None`: `id_` and 16 random characters.
    pub uid: Option<String>,
    /// Its secret; `None`: `key_` and 32 random characters.
    pub secret: Option<Secret>,
    /// Its display name; `None`: `API Client ***` and the last four characters of its public name.
    pub name: Option<String>,
    /// Its organization; `None` only when the scopes are exactly `system`.
    pub organization: Option<OrganizationId>,
    /// At least one; duplicates are ignored.
    pub scopes: Vec<String>,
    /// Abilities and event permissions to grant.
    pub permissions: Vec<String>,
}

/// Why a client could not be created or changed. Nothing was stored.
#[derive(Debug)]
pub enum ClientFault {
    /// It would have no scope.
    NoScope,
    /// Its public name would be shorter than [`ApiClient::SHORTEST_UID`].
    ShortUid,
    /// Its public name is in use.
    UidTaken(String),
    /// Its name or secret would be blank.
    Blank(&'static str),
    /// It would have no organization, and its scopes are not exactly `system`.
    NoOrganization,
    /// It would belong to an organization that does not exist.
    UnknownOrganization(OrganizationId),
    /// There is no scope of this name.
    UnknownScope(String),
    /// The permission is unknown, or needs a scope the client does not own.
    WrongScope {
        /// The permission.
        permission: String,
        /// The client's public name.
        uid: String,
    },
    /// There is no client of this public name.
    UnknownClient(String),
    /// The database failed.
    Store(Error),
}

impl fmt::Display for ClientFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoScope => f.write_str("at least one scope is required"),
            Self::ShortUid => {
                write!(f, "client ID must have at least {} characters", ApiClient::SHORTEST_UID)
            }
            Self::UidTaken(uid) => write!(f, "client with ID {uid} already exists"),
            Self::Blank(what) => write!(f, "{what} must not be blank"),
            Self::NoOrganization => f.write_str("organization is required for non-system clients"),
            Self::UnknownOrganization(id) => write!(f, "organization with ID {id} does not exist"),
            Self::UnknownScope(scope) => write!(f, "unknown scope {scope}"),
            Self::WrongScope { permission, uid } => {
                write!(f, "can not grant permission {permission} to client {uid}, wrong scope")
            }
            Self::UnknownClient(uid) => write!(f, "client with ID {uid} does not exist"),
            Self::Store(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ClientFault {}

impl From<Error> for ClientFault {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

/// Creates and changes API clients.
pub struct ClientAdmin<'a> {
    /// The store of clients.
    pub clients: &'a dyn ClientStore,
    /// Organizations.
    pub organizations: &'a dyn ClientOrganizationLookup,
}

impl ClientAdmin<'_> {
    /// Creates a client. Its secret is only in the result.
    ///
    /// # Errors
    /// The first fault of: no scope, public name, name, secret, organization, unknown scope, permission.
    pub async fn create(
        &self,
        new: NewClient,
        now: OffsetDateTime,
    ) -> Result<(ApiClient, Secret), ClientFault> {
        if new.scopes.is_empty() {
            return Err(ClientFault::NoScope);
        }
        let uid = self.free_uid(new.uid).await?;
        let name = new.name.unwrap_or_else(|| default_name(&uid));
        let secret = new.secret.unwrap_or_else(|| Secret::random("key_", 32));
        for (what, text) in [("name", name.as_str()), ("secret", secret.expose())] {
            if text.trim().is_empty() {
                return Err(ClientFault::Blank(what));
            }
        }
        self.check_organization(new.organization, &new.scopes).await?;
        let mut client = ApiClient {
            uid,
            secret: secret.digest(),
            name,
            organization: new.organization,
            scopes: read_scopes(&new.scopes)?,
            permissions: Abilities::default(),
            created_at: now,
            updated_at: now,
        };
        client.permissions = grantable(&client, &new.permissions)?;
        match self.clients.add(&client).await {
            Ok(_) => Ok((client, secret)),
            Err(Error::Conflict(_)) => Err(ClientFault::UidTaken(client.uid)),
            Err(error) => Err(error.into()),
        }
    }

    /// Grants permissions to a client; those it has already stay unchanged.
    ///
    /// # Errors
    /// [`ClientFault::UnknownClient`]; [`ClientFault::WrongScope`] for the first permission that is not allowed; then
    /// none is granted.
    pub async fn grant(
        &self,
        uid: &str,
        permissions: &[String],
        now: OffsetDateTime,
    ) -> Result<ApiClient, ClientFault> {
        let (id, client) = self.find(uid).await?;
        let given = grantable(&client, permissions)?;
        let all = client.permissions.iter().chain(given.iter()).collect();
        self.keep(id, client, all, now).await
    }

    /// Revokes permissions of a client; others are ignored.
    ///
    /// # Errors
    /// [`ClientFault::UnknownClient`].
    pub async fn revoke(
        &self,
        uid: &str,
        permissions: &[String],
        now: OffsetDateTime,
    ) -> Result<ApiClient, ClientFault> {
        let (id, client) = self.find(uid).await?;
        let taken: Abilities = permissions.iter().filter_map(|p| Ability::parse(p)).collect();
        let rest = client.permissions.iter().filter(|ability| !taken.has(*ability)).collect();
        self.keep(id, client, rest, now).await
    }

    /// Removes a client with its tokens, permissions and webhook registrations.
    ///
    /// # Errors
    /// [`ClientFault::UnknownClient`].
    pub async fn delete(&self, uid: &str) -> Result<(), ClientFault> {
        let (id, _) = self.find(uid).await?;
        Ok(self.clients.remove(id).await?)
    }

    /// The client of this public name.
    ///
    /// # Errors
    /// [`ClientFault::UnknownClient`].
    pub async fn find(&self, uid: &str) -> Result<(ClientId, ApiClient), ClientFault> {
        let found = self.clients.find_by_uid(uid).await?;
        found.ok_or_else(|| ClientFault::UnknownClient(uid.to_owned()))
    }

    async fn free_uid(&self, asked: Option<String>) -> Result<String, ClientFault> {
        let Some(uid) = asked else { return Ok(Secret::random("id_", 16).expose().to_owned()) };
        if uid.trim().chars().count() < ApiClient::SHORTEST_UID {
            return Err(ClientFault::ShortUid);
        }
        match self.clients.find_by_uid(&uid).await? {
            None => Ok(uid),
            Some(_) => Err(ClientFault::UidTaken(uid)),
        }
    }

    async fn check_organization(
        &self,
        organization: Option<OrganizationId>,
        scopes: &[String],
    ) -> Result<(), ClientFault> {
        match organization {
            None if scopes.iter().all(|word| Scope::parse(word) == Some(DEPLOYMENT_WIDE[0])) => Ok(()),
            None => Err(ClientFault::NoOrganization),
            Some(id) if self.organizations.exists(id).await? => Ok(()),
            Some(id) => Err(ClientFault::UnknownOrganization(id)),
        }
    }

    async fn keep(
        &self,
        id: ClientId,
        mut client: ApiClient,
        permissions: Abilities,
        now: OffsetDateTime,
    ) -> Result<ApiClient, ClientFault> {
        if permissions != client.permissions {
            client.permissions = permissions;
            client.updated_at = now;
            self.clients.save(id, &client).await?;
        }
        Ok(client)
    }
}

fn default_name(uid: &str) -> String {
    let from = uid.char_indices().rev().nth(3).map_or(0, |(at, _)| at);
    format!("API Client ***{}", &uid[from..])
}

fn read_scopes(words: &[String]) -> Result<Scopes, ClientFault> {
    let known = |word: &String| Scope::parse(word).ok_or_else(|| ClientFault::UnknownScope(word.clone()));
    words.iter().map(known).collect()
}

fn grantable(client: &ApiClient, words: &[String]) -> Result<Abilities, ClientFault> {
    let fits = |word: &String| {
        let ability = Ability::parse(word).filter(|ability| client.may_hold(*ability));
        ability.ok_or_else(|| ClientFault::WrongScope { permission: word.clone(), uid: client.uid.clone() })
    };
    words.iter().map(fits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Digest, MockClientStore};
    use time::macros::datetime;

    const NOW: OffsetDateTime = datetime!(2026-01-01 12:00 UTC);
    const TAKEN: &str = "id_that_is_taken";

    fn words(list: &str) -> Vec<String> {
        list.split_whitespace().map(str::to_owned).collect()
    }

    fn held(permissions: &str) -> ApiClient {
        ApiClient {
            uid: TAKEN.to_owned(),
            secret: Digest::kept(""),
            name: "App".to_owned(),
            organization: Some(OrganizationId(2)),
            scopes: Scopes::read("public blogs"),
            permissions: Abilities::read(permissions),
            created_at: NOW,
            updated_at: NOW,
        }
    }

    /// A store with one client and one organization.
    fn store() -> MockClientStore {
        let mut store = MockClientStore::new();
        store
            .expect_find_by_uid()
            .returning(|uid| Ok((uid == TAKEN).then(|| (ClientId(3), held("blogs.read")))));
        store
    }

    fn organizations() -> MockClientOrganizationLookup {
        let mut organizations = MockClientOrganizationLookup::new();
        organizations.expect_exists().returning(|id| Ok(id == OrganizationId(2)));
        organizations
    }

    fn asked(scopes: &str, permissions: &str) -> NewClient {
        NewClient {
            organization: Some(OrganizationId(2)),
            scopes: words(scopes),
            permissions: words(permissions),
            ..NewClient::default()
        }
    }

    async fn refusal(new: NewClient) -> String {
        let (store, organizations) = (store(), organizations());
        let admin = ClientAdmin { clients: &store, organizations: &organizations };
        admin.create(new, NOW).await.unwrap_err().to_string()
    }

    async fn created(new: NewClient) -> (ApiClient, Secret) {
        let (mut store, organizations) = (store(), organizations());
        store.expect_add().once().returning(|_| Ok(ClientId(4)));
        ClientAdmin { clients: &store, organizations: &organizations }.create(new, NOW).await.unwrap()
    }

    #[tokio::test]
    async fn a_new_client_gets_what_was_asked_and_nothing_more() {
        let (client, secret) = created(asked("public blogs public", "blogs.read oauth.login")).await;
        assert_eq!(client.scopes, Scopes::read("public blogs"));
        assert_eq!(client.permissions, Abilities::read("blogs.read oauth.login"));
        assert!(client.secret.matches(&secret));
        assert_eq!((client.uid.len(), secret.expose().len()), (19, 36));
        assert_eq!(client.name, format!("API Client ***{}", &client.uid[15..]));
        assert_eq!(created(asked("public", "")).await.0.permissions, Abilities::default());
    }

    #[tokio::test]
    async fn only_a_pure_system_client_belongs_nowhere() {
        let nowhere = |scopes| NewClient { organization: None, ..asked(scopes, "") };
        assert_eq!(created(nowhere("system system")).await.0.organization, None);
        for scopes in ["public", "system public", "ecosystem"] {
            assert_eq!(refusal(nowhere(scopes)).await, "organization is required for non-system clients");
        }
    }

    #[tokio::test]
    async fn a_new_client_is_refused_for_its_first_fault() {
        let named = |uid: &str| NewClient { uid: Some(uid.to_owned()), ..asked("public ghost", "") };
        assert_eq!(refusal(asked("", "blogs.read")).await, "at least one scope is required");
        assert_eq!(refusal(named("id_7chr")).await, "client ID must have at least 8 characters");
        assert_eq!(refusal(named(TAKEN)).await, "client with ID id_that_is_taken already exists");
        assert_eq!(refusal(named("id_that_is_free")).await, "unknown scope ghost");
        let elsewhere = NewClient { organization: Some(OrganizationId(9)), ..asked("public", "") };
        assert_eq!(refusal(elsewhere).await, "organization with ID 9 does not exist");
        let nameless = NewClient { name: Some(" ".to_owned()), ..asked("public", "") };
        assert_eq!(refusal(nameless).await, "name must not be blank");
        let open = NewClient { secret: Some(Secret::new("")), ..asked("public", "") };
        assert_eq!(refusal(open).await, "secret must not be blank");
        for permission in ["blogs.read", "ghost", "user.created"] {
            let text = refusal(asked("public", permission)).await;
            assert!(
                text.starts_with(&format!("can not grant permission {permission} to client id_")),
                "{text}"
            );
        }
    }

    #[tokio::test]
    async fn of_two_who_take_a_name_at_once_one_is_reported() {
        let (mut store, organizations) = (store(), organizations());
        store.expect_add().returning(|_| Err(Error::Conflict("unique".into())));
        let new = NewClient { uid: Some("id_that_is_free".to_owned()), ..asked("public", "") };
        let fault = ClientAdmin { clients: &store, organizations: &organizations }
            .create(new, NOW)
            .await
            .unwrap_err();
        assert!(matches!(fault, ClientFault::UidTaken(uid) if uid == "id_that_is_free"));
    }

    #[tokio::test]
    async fn granting_adds_and_revoking_takes_away() {
        let (mut store, organizations) = (store(), organizations());
        store.expect_save().times(2).returning(|_, _| Ok(()));
        let admin = ClientAdmin { clients: &store, organizations: &organizations };
        let later = NOW + time::Duration::HOUR;
        let richer = admin.grant(TAKEN, &words("blogs.write oauth.impersonate"), later).await.unwrap();
        assert_eq!(richer.permissions, Abilities::read("blogs.read blogs.write oauth.impersonate"));
        assert_eq!(richer.updated_at, later);
        let poorer = admin.revoke(TAKEN, &words("blogs.read proposals.vote ghost"), later).await.unwrap();
        assert_eq!(poorer.permissions, Abilities::default());
    }

    #[tokio::test]
    async fn what_changes_nothing_is_not_kept_again() {
        let (store, organizations) = (store(), organizations());
        let admin = ClientAdmin { clients: &store, organizations: &organizations };
        let later = NOW + time::Duration::HOUR;
        assert_eq!(admin.grant(TAKEN, &words("blogs.read"), later).await.unwrap(), held("blogs.read"));
        assert_eq!(admin.revoke(TAKEN, &words("blogs.write"), later).await.unwrap(), held("blogs.read"));
        let fault = admin.grant(TAKEN, &words("blogs.write proposals.vote"), later).await.unwrap_err();
        assert!(matches!(fault, ClientFault::WrongScope { .. }), "and then nothing is granted");
        let stranger = admin.delete("id_of_nobody").await.unwrap_err();
        assert_eq!(stranger.to_string(), "client with ID id_of_nobody does not exist");
    }
}
