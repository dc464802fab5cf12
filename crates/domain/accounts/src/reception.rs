//! What a new account is sent (contract 02 §2.4).

use crate::{HomeStore, Letter, SendLetter, User, is_deliverable};
use civitas_kernel::{Error, NewTask, OrganizationId, Result, TaskQueue, UserId};
use time::OffsetDateTime;

/// Queues the letters to new users, in the transaction that makes them new.
pub struct Reception<'a> {
    /// Where letters wait.
    pub queue: &'a dyn TaskQueue,
    /// Tells who is welcomed.
    pub homes: &'a dyn HomeStore,
}

impl Reception<'_> {
    /// An account was made: it is asked for its confirmation, or welcomed when it is confirmed already.
    pub async fn registered(
        &self,
        organization: OrganizationId,
        id: UserId,
        user: &User,
        now: OffsetDateTime,
    ) -> Result<()> {
        if user.confirmed_at.is_some() {
            return self.confirmed(organization, id, user, now).await;
        }
        self.queue(organization, id, user, Letter::Confirmation, now).await
    }

    /// An account was confirmed: it is welcomed, where the organization does that.
    pub async fn confirmed(
        &self,
        organization: OrganizationId,
        id: UserId,
        user: &User,
        now: OffsetDateTime,
    ) -> Result<()> {
        if !is_deliverable(&user.email) {
            return Ok(());
        }
        let home = self.homes.find(organization).await?;
        if home.ok_or_else(|| Error::internal("the organization is gone"))?.welcomes {
            self.queue(organization, id, user, Letter::Welcome, now).await?;
        }
        Ok(())
    }

    async fn queue(
        &self,
        organization: OrganizationId,
        id: UserId,
        user: &User,
        letter: Letter,
        now: OffsetDateTime,
    ) -> Result<()> {
        if !is_deliverable(&user.email) {
            return Ok(());
        }
        let send = SendLetter { letter, user: id };
        self.queue.add(&NewTask::of(organization, &send, now)?.about(send.subject())).await
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{Home, MockHomeStore};
    use civitas_kernel::MockTaskQueue;
    use serde_json::json;
    use time::macros::datetime;

    const NOW: OffsetDateTime = datetime!(2026-01-01 0:00 UTC);

    /// An organization that welcomes new users, or does not.
    pub(crate) fn home(welcomes: bool) -> MockHomeStore {
        let mut homes = MockHomeStore::new();
        homes.expect_find().returning(move |_| Ok(Some(Home { welcomes, ..Home::default() })));
        homes
    }

    /// A queue that gets exactly these letters to user 5.
    pub(crate) fn letters(expected: &'static [&'static str]) -> MockTaskQueue {
        let mut queue = MockTaskQueue::new();
        for letter in expected {
            let queued = move |task: &NewTask| {
                task.kind == "mail"
                    && task.payload == json!({"letter": letter, "user": 5})
                    && task.subject == Some(format!("{letter}/5"))
            };
            queue.expect_add().once().withf(queued).returning(|_| Ok(()));
        }
        queue
    }

    async fn registered(email: &str, confirmed: bool, welcomes: bool, expected: &'static [&'static str]) {
        let (queue, homes) = (letters(expected), home(welcomes));
        let mut user = User::new("norablum".into(), email.into(), "Nora".into(), NOW);
        user.confirmed_at = confirmed.then_some(NOW);
        let reception = Reception { queue: &queue, homes: &homes };
        reception.registered(OrganizationId(1), UserId(5), &user, NOW).await.unwrap();
    }

    #[tokio::test]
    async fn who_is_not_confirmed_is_asked_and_not_welcomed_yet() {
        registered("n@city.example", false, true, &["confirmation"]).await;
        registered("n@city.example", false, false, &["confirmation"]).await;
    }

    #[tokio::test]
    async fn who_is_confirmed_at_once_is_welcomed_where_that_is_done_and_never_asked() {
        registered("n@city.example", true, true, &["welcome"]).await;
        registered("n@city.example", true, false, &[]).await;
    }

    #[tokio::test]
    async fn who_has_no_address_is_written_nothing() {
        registered("norablum@example.org", false, true, &[]).await;
        registered("norablum@example.org", true, true, &[]).await;
    }
}
