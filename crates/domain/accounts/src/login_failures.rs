//! Failed logins, which close the login of a name through one API client for a time (contract 02 §2.3).

use crate::{Digest, Secret};
use async_trait::async_trait;
use civitas_kernel::{ClientId, OrganizationId, Result};
use time::{Duration, OffsetDateTime};

/// Failed logins in a row that close the login.
pub const FAILURES_THAT_LOCK: i64 = 20;
/// How long they close it: long enough that guesses are hopeless, and short enough for a person who waits.
pub const LOGIN_LOCK_DURATION: Duration = Duration::HOUR;
/// How long failures count after the last one.
pub const LOGIN_FAILURE_WINDOW: Duration = Duration::DAY;
/// The most names with failures that are stored.
pub const MAX_FAILED_NAMES: i64 = 100_000;

/// Whose logins are counted: a name, known or not, through one client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoginKey {
    /// The organization.
    pub organization: OrganizationId,
    /// The API client.
    pub client: ClientId,
    /// The digest of the name.
    pub name: Digest,
}

impl LoginKey {
    /// Of this name, in any case.
    pub fn new(organization: OrganizationId, client: ClientId, nickname: &str) -> Self {
        Self { organization, client, name: name_digest(nickname) }
    }
}

/// The digest that stands for a name, the same in any case.
pub fn name_digest(nickname: &str) -> Digest {
    Secret::new(nickname.to_lowercase()).digest()
}

/// Failed logins since the last success.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FailedLogins {
    /// How many, those while the login was closed included.
    pub failures: i64,
    /// Until when the login is closed; `None` when it was not closed since the last success.
    pub locked_until: Option<OffsetDateTime>,
}

impl FailedLogins {
    /// Whether the login is closed.
    pub fn is_locked(&self, now: OffsetDateTime) -> bool {
        self.locked_until.is_some_and(|until| until > now)
    }
}

/// A login that is closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoginLock {
    /// The public name of the client.
    pub client_uid: String,
    /// The name of the client.
    pub client_name: String,
    /// Until when.
    pub until: OffsetDateTime,
}

/// Stores failed logins.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait LoginFailureStore: Send + Sync {
    /// The failures of a name through a client.
    async fn find(&self, key: &LoginKey) -> Result<Option<FailedLogins>>;
    /// Counts a failure, and closes the login until `locked_until` when it is the [`FAILURES_THAT_LOCK`]th in a row.
    /// After a lock has ended it counts from one. One atomic statement. Returns the new state.
    async fn count(
        &self,
        key: &LoginKey,
        locked_until: OffsetDateTime,
        now: OffsetDateTime,
    ) -> Result<FailedLogins>;
    /// Resets the failures of a name through a client, unless the login is closed.
    async fn reset(&self, key: &LoginKey, now: OffsetDateTime) -> Result<()>;
    /// The clients through which the login of a name is closed, by public name.
    async fn locks(
        &self,
        organization: OrganizationId,
        name: &Digest,
        now: OffsetDateTime,
    ) -> Result<Vec<LoginLock>>;
    /// Removes the failures of a name through all clients. Returns whether the login was closed through one of them.
    async fn clear_lock(
        &self,
        organization: OrganizationId,
        name: &Digest,
        now: OffsetDateTime,
    ) -> Result<bool>;
    /// Removes failures that do not count any more ([`LOGIN_FAILURE_WINDOW`]), and of more than `most` names those with
    /// the fewest failures; at most `limit` of each. Returns their number.
    async fn remove_unneeded(&self, now: OffsetDateTime, most: i64, limit: i64) -> Result<u64>;
}
