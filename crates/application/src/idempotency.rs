//! Writes that carry an idempotency key, and their answers (contract 01 §11c).

use async_trait::async_trait;
use civitas_accounts::{Digest, Secret};
use civitas_kernel::{ClientId, Ctx, Error, OrganizationId, Result, UserId};
use time::{Duration, OffsetDateTime};

/// How long an answer is kept, at least; the sweep that deletes it runs every ten minutes.
pub const ANSWER_RETENTION: Duration = Duration::hours(24);
/// The longest key, in characters.
const MAX_LENGTH: usize = 255;

/// A key of one API client and user. Stored as a digest: clients choose keys, which may name a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyKey {
    /// The organization.
    pub organization: OrganizationId,
    /// The client.
    pub client: ClientId,
    /// The user of the token; `None` for a service token.
    pub user: Option<UserId>,
    /// Of the three above and the key as it was sent.
    pub digest: Digest,
}

impl IdempotencyKey {
    /// The key that this caller sent.
    ///
    /// # Errors
    /// `Rejected` for a key that is not 1 to 255 visible ASCII characters.
    pub fn read(ctx: &Ctx, sent: &str) -> Result<Self> {
        if sent.is_empty() || sent.len() > MAX_LENGTH || !sent.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(Error::rejected("Invalid Idempotency-Key"));
        }
        let (organization, client, user) = (ctx.organization, ctx.caller.client, ctx.participant());
        let owner = user.map_or(0, |user| user.0);
        let digest = Secret::new(format!("{organization} {client} {owner} {sent}")).digest();
        Ok(Self { organization, client, user, digest })
    }
}

/// The answer to a write that carried a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotentAnswer {
    /// The digest of the request: its method, path, query and body.
    pub request: Digest,
    /// The status.
    pub status: u16,
    /// The headers that the contract names for this answer, and its body, encrypted: both may contain secrets.
    pub sealed: String,
}

/// Keeps answers by their keys.
#[async_trait]
pub trait IdempotencyStore: Send + Sync {
    /// The answer of a key.
    async fn find_answer(&self, key: &IdempotencyKey) -> Result<Option<IdempotentAnswer>>;

    /// Keeps an answer. Call it in the transaction of the write.
    ///
    /// # Errors
    /// `Conflict` when the key has an answer.
    async fn save_answer(
        &self,
        key: &IdempotencyKey,
        answer: &IdempotentAnswer,
        now: OffsetDateTime,
    ) -> Result<()>;

    /// Deletes the answers to writes of a user. Returns their number.
    async fn remove_answers_of_user(&self, organization: OrganizationId, user: UserId) -> Result<u64>;

    /// Deletes answers that are older, at most `limit`. Returns their number.
    async fn remove_answers_before(&self, before: OffsetDateTime, limit: i64) -> Result<u64>;
}
