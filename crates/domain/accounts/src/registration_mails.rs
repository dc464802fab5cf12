//! Queues the mails to new users (contract 02 §2.4).

use crate::mail_limits::{MailCountStore, may_queue};
use crate::{MailKind, OrganizationLookup, SendMail, User, is_deliverable};
use civitas_kernel::{ClientId, Error, NewTask, OrganizationId, Result, TaskQueue, UserId};
use time::OffsetDateTime;

/// Queues the mails to new users, in the transaction of the registration or confirmation. A mail beyond the limits of
/// [`crate::mail_limits`] is left out; the account is registered.
pub struct RegistrationMails<'a> {
    /// The task queue.
    pub queue: &'a dyn TaskQueue,
    /// Whether an organization sends welcome mails.
    pub organizations: &'a dyn OrganizationLookup,
    /// Counts the mails.
    pub counts: &'a dyn MailCountStore,
    /// The client that registers; `None` for an administrator, and for a person who confirms.
    pub client: Option<ClientId>,
}

impl RegistrationMails<'_> {
    /// After a registration: queues the confirmation mail, or the welcome mail if the account is already confirmed.
    pub async fn queue_registration_mails(
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
        if found.ok_or(Error::NotFound)?.welcomes {
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
        if !may_queue(self.counts, organization, self.client, &user.email, now).await? {
            return Ok(());
        }
        let send = SendMail { mail, user: id };
        self.queue.add(&NewTask::new(organization, &send, now)?.with_subject(send.subject())).await
    }
}

#[cfg(test)]
pub(crate) mod tests;
