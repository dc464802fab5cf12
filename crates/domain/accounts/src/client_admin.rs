//! Creates API clients, grants and revokes their permissions (contract 02 §1, 04 §2 and §4). The command line and the
//! panel call this; each has its own error texts.

use crate::{ApiClient, ClientStore, DEPLOYMENT_WIDE, OrganizationLookup, Secret};
use civitas_kernel::records::{Entity, check_revision};
use civitas_kernel::{Abilities, Ability, ClientId, Error, OrganizationId, Scope, Scopes};
use std::fmt;
use time::OffsetDateTime;

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
pub enum ClientAdministrationError {
    /// It would have no scope.
    NoScope,
    /// Its public name would be shorter than [`ApiClient::MIN_UID`].
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

impl fmt::Display for ClientAdministrationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoScope => f.write_str("at least one scope is required"),
            Self::ShortUid => {
                write!(f, "client ID must have at least {} characters", ApiClient::MIN_UID)
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

impl std::error::Error for ClientAdministrationError {}

impl From<Error> for ClientAdministrationError {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

/// Creates and changes API clients.
pub struct ClientAdministration<'a> {
    /// The store of clients.
    pub clients: &'a dyn ClientStore,
    /// Organizations.
    pub organizations: &'a dyn OrganizationLookup,
}

impl ClientAdministration<'_> {
    /// Creates a client. Its secret is only in the result.
    ///
    /// # Errors
    /// The first fault of: no scope, public name, name, secret, organization, unknown scope, permission.
    pub async fn create(
        &self,
        new: NewClient,
        now: OffsetDateTime,
    ) -> Result<(ApiClient, Secret), ClientAdministrationError> {
        if new.scopes.is_empty() {
            return Err(ClientAdministrationError::NoScope);
        }
        let uid = self.free_uid(new.uid).await?;
        let name = new.name.unwrap_or_else(|| default_name(&uid));
        let secret = new.secret.unwrap_or_else(|| Secret::random("key_", 32));
        for (what, text) in [("name", name.as_str()), ("secret", secret.expose())] {
            if text.trim().is_empty() {
                return Err(ClientAdministrationError::Blank(what));
            }
        }
        self.check_organization(new.organization, &new.scopes).await?;
        let scopes = read_scopes(&new.scopes)?;
        let mut client = ApiClient::new(uid, secret.digest(), name, new.organization, scopes, now);
        client.permissions = grantable(&client, &new.permissions)?;
        match self.clients.add(&client).await {
            Ok(_) => Ok((client, secret)),
            Err(Error::Conflict(_)) => Err(ClientAdministrationError::UidTaken(client.uid)),
            Err(error) => Err(error.into()),
        }
    }

    /// Grants permissions to a client; those it has already stay unchanged. Needs a transaction.
    ///
    /// # Errors
    /// [`ClientAdministrationError::UnknownClient`]; [`ClientAdministrationError::WrongScope`] for the first permission
    /// that is not allowed; then none is granted.
    pub async fn grant(
        &self,
        uid: &str,
        permissions: &[String],
        now: OffsetDateTime,
    ) -> Result<ApiClient, ClientAdministrationError> {
        let (id, client) = self.find_for_update(uid).await?;
        let given = grantable(&client, permissions)?;
        let all = client.permissions.iter().chain(given.iter()).collect();
        self.keep(id, client, all, now).await
    }

    /// Revokes permissions of a client; others are ignored. Needs a transaction.
    ///
    /// # Errors
    /// [`ClientAdministrationError::UnknownClient`].
    pub async fn revoke(
        &self,
        uid: &str,
        permissions: &[String],
        now: OffsetDateTime,
    ) -> Result<ApiClient, ClientAdministrationError> {
        let (id, client) = self.find_for_update(uid).await?;
        let taken: Abilities = permissions.iter().filter_map(|p| Ability::parse(p)).collect();
        let rest = client.permissions.iter().filter(|ability| !taken.has(*ability)).collect();
        self.keep(id, client, rest, now).await
    }

    /// Replaces all permissions of a client; without any it has none. Needs a transaction.
    ///
    /// # Errors
    /// Those of [`check_revision`] when `seen` is not the revision of the client;
    /// [`ClientAdministrationError::UnknownClient`]; [`ClientAdministrationError::WrongScope`] for the first permission
    /// that is not allowed; then nothing is changed.
    pub async fn replace_permissions(
        &self,
        (uid, seen): (&str, &str),
        permissions: &[String],
        now: OffsetDateTime,
    ) -> Result<ApiClient, ClientAdministrationError> {
        let (id, client) = self.find_for_update(uid).await?;
        check_revision(Some(seen), &client.revision())?;
        let given = grantable(&client, permissions)?;
        self.keep(id, client, given, now).await
    }

    /// Gives a client a new secret, which is only in the result. The old one gets no more tokens; those it got stay
    /// valid. Needs a transaction.
    ///
    /// # Errors
    /// [`ClientAdministrationError::UnknownClient`].
    pub async fn rotate_secret(
        &self,
        uid: &str,
        now: OffsetDateTime,
    ) -> Result<Secret, ClientAdministrationError> {
        let (id, client) = self.find_for_update(uid).await?;
        let secret = Secret::random("key_", 32);
        let rotated = ApiClient { secret: secret.digest(), updated_at: now, ..client };
        self.clients.save(id, &rotated).await?;
        Ok(secret)
    }

    /// Removes a client with its tokens, permissions and webhook registrations.
    ///
    /// # Errors
    /// [`ClientAdministrationError::UnknownClient`].
    pub async fn delete(&self, uid: &str) -> Result<(), ClientAdministrationError> {
        let (id, _) = self.find(uid).await?;
        Ok(self.clients.remove(id).await?)
    }

    /// The client of this public name.
    ///
    /// # Errors
    /// [`ClientAdministrationError::UnknownClient`].
    pub async fn find(&self, uid: &str) -> Result<(ClientId, ApiClient), ClientAdministrationError> {
        let found = self.clients.find_by_uid(uid).await?;
        found.ok_or_else(|| ClientAdministrationError::UnknownClient(uid.to_owned()))
    }

    async fn find_for_update(&self, uid: &str) -> Result<(ClientId, ApiClient), ClientAdministrationError> {
        let found = self.clients.find_by_uid_for_update(uid).await?;
        found.ok_or_else(|| ClientAdministrationError::UnknownClient(uid.to_owned()))
    }

    async fn free_uid(&self, asked: Option<String>) -> Result<String, ClientAdministrationError> {
        let Some(uid) = asked else { return Ok(Secret::random("id_", 16).expose().to_owned()) };
        if uid.trim().chars().count() < ApiClient::MIN_UID {
            return Err(ClientAdministrationError::ShortUid);
        }
        match self.clients.find_by_uid(&uid).await? {
            None => Ok(uid),
            Some(_) => Err(ClientAdministrationError::UidTaken(uid)),
        }
    }

    async fn check_organization(
        &self,
        organization: Option<OrganizationId>,
        scopes: &[String],
    ) -> Result<(), ClientAdministrationError> {
        match organization {
            None if scopes.iter().all(|word| Scope::parse(word) == Some(DEPLOYMENT_WIDE[0])) => Ok(()),
            None => Err(ClientAdministrationError::NoOrganization),
            Some(id) if self.organizations.find(id).await?.is_some() => Ok(()),
            Some(id) => Err(ClientAdministrationError::UnknownOrganization(id)),
        }
    }

    async fn keep(
        &self,
        id: ClientId,
        mut client: ApiClient,
        permissions: Abilities,
        now: OffsetDateTime,
    ) -> Result<ApiClient, ClientAdministrationError> {
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

fn read_scopes(words: &[String]) -> Result<Scopes, ClientAdministrationError> {
    let known = |word: &String| {
        Scope::parse(word).ok_or_else(|| ClientAdministrationError::UnknownScope(word.clone()))
    };
    words.iter().map(known).collect()
}

fn grantable(client: &ApiClient, words: &[String]) -> Result<Abilities, ClientAdministrationError> {
    let fits = |word: &String| {
        let ability = Ability::parse(word).filter(|ability| client.may_hold(*ability));
        ability.ok_or_else(|| ClientAdministrationError::WrongScope {
            permission: word.clone(),
            uid: client.uid.clone(),
        })
    };
    words.iter().map(fits).collect()
}

#[cfg(test)]
mod tests;
