//! Background work that follows a change: sending a mail, checking a host. A domain crate adds a [`NewTask`] to the
//! [`TaskQueue`] in the transaction of the change. The crate `tasks` has the rest.

use crate::{Error, OrganizationId, Result};
use async_trait::async_trait;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use std::fmt::Display;
use time::OffsetDateTime;

/// The payload of a task of one kind, stored as JSON. It has ids of records and not their contents, which may change
/// before the task runs, and no secrets.
pub trait TaskPayload: Serialize + DeserializeOwned + Send + Sync + 'static {
    /// The name of the kind: `mail`.
    const KIND: &'static str;
}

/// A task to store.
#[derive(Debug, Clone, PartialEq)]
pub struct NewTask {
    /// The organization.
    pub organization: OrganizationId,
    /// The [`TaskPayload::KIND`] of its payload.
    pub kind: &'static str,
    /// The subject. For one organization, kind and subject there is one task at a time.
    pub subject: Option<String>,
    /// The payload.
    pub payload: Value,
    /// The earliest time of execution.
    pub due_at: OffsetDateTime,
}

impl NewTask {
    /// A task of the payload's kind.
    ///
    /// # Errors
    /// `Internal` when the payload cannot be written as JSON.
    pub fn new<P: TaskPayload>(
        organization: OrganizationId,
        payload: &P,
        due_at: OffsetDateTime,
    ) -> Result<Self> {
        let payload = serde_json::to_value(payload).map_err(Error::internal)?;
        Ok(Self { organization, kind: P::KIND, subject: None, payload, due_at })
    }

    /// Sets the subject: the task replaces another one with this subject.
    #[must_use]
    pub fn with_subject(self, subject: impl Display) -> Self {
        Self { subject: Some(subject.to_string()), ..self }
    }
}

/// The queue of tasks of domain crates.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait TaskQueue: Send + Sync {
    /// Stores a task. With a subject it replaces the pending or running one, and its attempts begin again.
    async fn add(&self, task: &NewTask) -> Result<()>;
    /// Removes the task with this subject. Whether there was one; a running task may still take effect.
    async fn withdraw(&self, organization: OrganizationId, kind: &'static str, subject: &str)
    -> Result<bool>;
}
