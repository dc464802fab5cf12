//! How many mails are queued for addresses that callers name (contract 02 §2.4).

use crate::{Digest, Secret};
use async_trait::async_trait;
use civitas_kernel::{ClientId, OrganizationId, Result};
use time::{Duration, OffsetDateTime};

/// The time in which mails are counted; it begins with the first.
pub const MAIL_COUNT_WINDOW: Duration = Duration::HOUR;
/// The most mails to one address of an organization within [`MAIL_COUNT_WINDOW`].
pub const MAX_MAILS_TO_ADDRESS: i64 = 5;
/// The most mails that one API client causes in an organization within [`MAIL_COUNT_WINDOW`].
pub const MAX_MAILS_PER_CLIENT: i64 = 1_000;

/// Counts mails.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait MailCountStore: Send + Sync {
    /// Counts a mail, in one atomic statement. Returns how many were counted within [`MAIL_COUNT_WINDOW`], this one
    /// included.
    async fn count(&self, organization: OrganizationId, subject: &Digest, now: OffsetDateTime)
    -> Result<i64>;
    /// Removes counts that began before this time, the oldest first, at most `limit`. Returns their number.
    async fn remove_before(&self, before: OffsetDateTime, limit: i64) -> Result<u64>;
}

/// Whether a mail to this address may be queued; counts it. `client`: the one that causes it; `None` for an
/// administrator.
pub async fn may_queue(
    counts: &dyn MailCountStore,
    organization: OrganizationId,
    client: Option<ClientId>,
    address: &str,
    now: OffsetDateTime,
) -> Result<bool> {
    let subject = Secret::new(format!("address {}", address.to_lowercase())).digest();
    if counts.count(organization, &subject, now).await? > MAX_MAILS_TO_ADDRESS {
        tracing::warn!(organization = organization.0, "too many mails to one address: one is not sent");
        return Ok(false);
    }
    let Some(client) = client else { return Ok(true) };
    let subject = Secret::new(format!("client {client}")).digest();
    if counts.count(organization, &subject, now).await? > MAX_MAILS_PER_CLIENT {
        tracing::warn!(
            organization = organization.0,
            client = client.0,
            "too many mails of one client: one is not sent"
        );
        return Ok(false);
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::macros::datetime;

    const NOW: OffsetDateTime = datetime!(2026-01-01 0:00 UTC);

    /// Whether a mail may be queued when this is the number of the address and of the client.
    async fn allowed(of_address: i64, of_client: i64, client: Option<ClientId>) -> bool {
        let mut counts = MockMailCountStore::new();
        let address = Secret::new("address ada@city.example").digest();
        counts
            .expect_count()
            .returning(move |_, subject, _| Ok(if *subject == address { of_address } else { of_client }));
        may_queue(&counts, OrganizationId(1), client, "Ada@City.example", NOW).await.unwrap()
    }

    #[tokio::test]
    async fn an_address_gets_five_mails_an_hour_and_a_client_causes_a_thousand() {
        let client = Some(ClientId(4));
        for (of_address, of_client, client, expected) in [
            (1, 1, client, true),
            (5, 1_000, client, true),
            (6, 1, client, false),
            (1, 1_001, client, false),
            (5, i64::MAX, None, true),
            (6, 1, None, false),
        ] {
            assert_eq!(allowed(of_address, of_client, client).await, expected, "{of_address} {of_client}");
        }
    }
}
