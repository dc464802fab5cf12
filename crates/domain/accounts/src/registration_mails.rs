//! Queues the mails to new users (contract 02 §2.4).

use crate::{MailKind, OrganizationLookup, SendMail, User, is_deliverable};
use civitas_kernel::{Error, NewTask, OrganizationId, Result, TaskQueue, UserId};
use time::OffsetDateTime;

/// Queues the mails to new users, in the transaction of the registration or confirmation.
pub struct RegistrationMails<'a> {
    /// The task queue.
    pub queue: &'a dyn TaskQueue,
    /// Whether an organization sends welcome mails.
    pub organizations: &'a dyn OrganizationLookup,
}

impl RegistrationMails<'_> {
    /// After a registration: queues the confirmation mail, or the welcome mail if the account is already confirmed.
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
        self.queue(organization, id, user, MailKind::Confirmation, now).await
    }

    /// After a confirmation: queues the welcome mail, if the organization sends one.
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
        let found = self.organizations.find(organization).await?;
        if found.ok_or_else(|| Error::internal("the organization is gone"))?.welcomes {
            self.queue(organization, id, user, MailKind::Welcome, now).await?;
        }
        Ok(())
    }

    async fn queue(
        &self,
        organization: OrganizationId,
        id: UserId,
        user: &User,
        mail: MailKind,
        now: OffsetDateTime,
    ) -> Result<()> {
        if !is_deliverable(&user.email) {
            return Ok(());
        }
        let send = SendMail { mail, user: id };
        self.queue.add(&NewTask::of(organization, &send, now)?.about(send.subject())).await
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{AccountsOrganization, MockOrganizationLookup};
    use civitas_kernel::MockTaskQueue;
    use serde_json::json;
    use time::macros::datetime;

    const NOW: OffsetDateTime = datetime!(2026-01-01 0:00 UTC);

    /// An organization with welcome mails, or without.
    pub(crate) fn organization(welcomes: bool) -> MockOrganizationLookup {
        let mut organizations = MockOrganizationLookup::new();
        organizations.expect_find().returning(move |_| {
            Ok(Some(AccountsOrganization { welcomes, ..AccountsOrganization::default() }))
        });
        organizations
    }

    /// A queue that expects exactly these mails to user 5.
    pub(crate) fn mails(expected: &'static [&'static str]) -> MockTaskQueue {
        let mut queue = MockTaskQueue::new();
        for mail in expected {
            let queued = move |task: &NewTask| {
                task.kind == "mail"
                    && task.payload == json!({"mail": mail, "user": 5})
                    && task.subject == Some(format!("{mail}/5"))
            };
            queue.expect_add().once().withf(queued).returning(|_| Ok(()));
        }
        queue
    }

    async fn registered(email: &str, confirmed: bool, welcomes: bool, expected: &'static [&'static str]) {
        let (queue, organizations) = (mails(expected), organization(welcomes));
        let mut user = User::new("norablum".into(), email.into(), "Nora".into(), NOW);
        user.confirmed_at = confirmed.then_some(NOW);
        let registration_mails = RegistrationMails { queue: &queue, organizations: &organizations };
        registration_mails.registered(OrganizationId(1), UserId(5), &user, NOW).await.unwrap();
    }

    #[tokio::test]
    async fn an_unconfirmed_user_gets_the_confirmation_mail_and_no_welcome_mail_yet() {
        registered("n@city.example", false, true, &["confirmation"]).await;
        registered("n@city.example", false, false, &["confirmation"]).await;
    }

    #[tokio::test]
    async fn a_user_confirmed_at_once_gets_a_welcome_mail_if_enabled_and_no_confirmation_mail() {
        registered("n@city.example", true, true, &["welcome"]).await;
        registered("n@city.example", true, false, &[]).await;
    }

    #[tokio::test]
    async fn who_has_no_address_is_written_nothing() {
        registered("norablum@example.org", false, true, &[]).await;
        registered("norablum@example.org", true, true, &[]).await;
    }
}
