//! Background work that follows a change: sending a mail, checking a host.
//!
//! A domain crate adds a [`NewTask`] to the [`TaskQueue`] in the transaction of the change. The crate `tasks` has
//! everything after that.

use crate::{Error, OrganizationId, Result};
use async_trait::async_trait;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use std::fmt::Display;
use time::OffsetDateTime;

/// What must be known to carry out a task of one kind. Serialized, it is kept with the task. It holds numbers of
/// records rather than their contents: time passes, and nothing secret may lie there.
pub trait TaskPayload: Serialize + DeserializeOwned + Send + Sync + 'static {
    /// The name of the kind: `mail`.
    const KIND: &'static str;
}

/// A task that is to be kept.
#[derive(Debug, Clone, PartialEq)]
pub struct NewTask {
    /// For which organization.
    pub organization: OrganizationId,
    /// The [`TaskPayload::KIND`] of its payload.
    pub kind: &'static str,
    /// What it is about. Of one organization, kind and subject there is one task at a time.
    pub subject: Option<String>,
    /// The payload.
    pub payload: Value,
    /// Not before this time.
    pub due_at: OffsetDateTime,
}

impl NewTask {
    /// A task of the payload's kind.
    ///
    /// # Errors
    /// `Internal` when the payload cannot be written as JSON.
    pub fn of<P: TaskPayload>(
        organization: OrganizationId,
        payload: &P,
        due_at: OffsetDateTime,
    ) -> Result<Self> {
        let payload = serde_json::to_value(payload).map_err(Error::internal)?;
        Ok(Self { organization, kind: P::KIND, subject: None, payload, due_at })
    }

    /// Makes it the only one about this subject.
    #[must_use]
    pub fn about(self, subject: impl Display) -> Self {
        Self { subject: Some(subject.to_string()), ..self }
    }
}

/// Where domain crates put work for later.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait TaskQueue: Send + Sync {
    /// Stores a task. With a subject it takes the place of the one that waits or runs: its attempts begin again.
    async fn add(&self, task: &NewTask) -> Result<()>;
    /// Takes the task about this subject back. Whether there was one; what already runs may still take effect.
    async fn withdraw(&self, organization: OrganizationId, kind: &'static str, subject: &str)
    -> Result<bool>;
}
