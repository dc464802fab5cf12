//! The handlers of tasks that send mails.

use crate::event_committer::tenant;
use crate::{SiteSettings, TaskContext, TaskHandler};
use async_trait::async_trait;
use civitas_accounts::{
    Confirmation, Mail, MailKind, MailRecipient, MailSender, Mailer, Role, Secret, SendInvitation, SendMail,
    SendSignInNotice, is_deliverable,
};
use civitas_kernel::{Locale, Result, TaskPayload};
use civitas_organizations::Tenant;
use civitas_tasks::{Task, TaskOutcome};
use std::sync::Arc;

/// Renders mails when they are due, and passes them to the mailer. The secret of a link is created with the mail, so
/// that the stored task has no secret.
pub struct MailHandler {
    /// Sends the mails.
    pub mailer: Arc<dyn Mailer>,
    /// Scheme and port of links, and languages.
    pub site: SiteSettings,
}

#[async_trait]
impl TaskHandler for MailHandler {
    fn kind(&self) -> &'static str {
        SendMail::KIND
    }

    async fn run(&self, turn: TaskContext<'_>, task: &Task) -> Result<TaskOutcome> {
        if let Ok(notice) = task.read() {
            return self.send_notice(turn, task, notice).await;
        }
        let send: SendMail = task.read()?;
        let user = turn.store.users().find(task.organization, send.user).await?;
        let Some(user) = user.filter(|user| send.mail.is_for(user)) else { return Ok(TaskOutcome::Done) };
        let tenant = tenant(turn.store, task.organization).await?;
        let link = self.link(turn, &tenant, send).await?;
        let mail = send.mail.write(task.id, head(&tenant, user.locale), (&user).into(), link);
        self.mailer.send(&mail).await?;
        Ok(TaskOutcome::Done)
    }
}

impl MailHandler {
    async fn send_notice(
        &self,
        turn: TaskContext<'_>,
        task: &Task,
        notice: SendSignInNotice,
    ) -> Result<TaskOutcome> {
        let found = turn.store.administrators().find(notice.administrator).await?;
        let Some(own) = found.filter(|own| is_deliverable(&own.email)) else { return Ok(TaskOutcome::Done) };
        let tenant = tenant(turn.store, task.organization).await?;
        let locale = head(&tenant, own.locale).locale;
        self.mailer.send(&Mail::sign_in_notice(task.id, &own.email, locale)).await?;
        Ok(TaskOutcome::Done)
    }

    async fn link(&self, turn: TaskContext<'_>, tenant: &Tenant, send: SendMail) -> Result<Secret> {
        let origin = self.site.origin(&tenant.host);
        match send.mail {
            MailKind::Confirmation => {
                let (confirmation, token) = Confirmation::begin(send.user, turn.now);
                turn.store.confirmations().add(tenant.id, &confirmation, turn.now).await?;
                Ok(Secret::new(format!("{origin}/confirmation/{}", token.expose())))
            }
            MailKind::Welcome | MailKind::Invitation => Ok(Secret::new(format!("{origin}/"))),
        }
    }
}
/// The name of the organization, in the reader's language if there is one.
fn head(tenant: &Tenant, chosen: Option<Locale>) -> MailSender<'_> {
    let locale = chosen.unwrap_or(tenant.default_locale);
    let organization = tenant.name.get(locale).filter(|name| !name.is_empty());
    let organization = organization.or_else(|| tenant.name.title(tenant.default_locale)).unwrap_or_default();
    MailSender { organization, locale: locale.or_translated_locale(tenant.default_locale) }
}

/// Sends invitations to roles: to the account if there is one, else to the address.
pub struct InvitationHandler {
    /// Sends the mails.
    pub mailer: Arc<dyn Mailer>,
    /// Scheme and port of links, and languages.
    pub site: SiteSettings,
}

#[async_trait]
impl TaskHandler for InvitationHandler {
    fn kind(&self) -> &'static str {
        SendInvitation::KIND
    }

    async fn run(&self, turn: TaskContext<'_>, task: &Task) -> Result<TaskOutcome> {
        let SendInvitation { role } = task.read()?;
        let found = turn.store.roles().find(task.organization, role).await?;
        let Some(role) = found.filter(Role::is_pending) else { return Ok(TaskOutcome::Done) };
        let user = match role.user {
            Some(id) => turn.store.users().find(task.organization, id).await?,
            None => None,
        };
        let to = match (&user, &role.email) {
            (Some(user), _) if user.deleted_at.is_none() => MailRecipient::from(user),
            (None, Some(email)) => MailRecipient { email, name: email },
            _ => return Ok(TaskOutcome::Done),
        };
        if !is_deliverable(to.email) {
            return Ok(TaskOutcome::Done);
        }
        let tenant = tenant(turn.store, task.organization).await?;
        let (origin, space) = (self.site.origin(&tenant.host), role.space);
        let link = Secret::new(format!("{origin}/public/{}/{}", space.kind.as_str(), space.id));
        let head = head(&tenant, user.as_ref().and_then(|user| user.locale));
        self.mailer.send(&MailKind::Invitation.write(task.id, head, to, link)).await?;
        Ok(TaskOutcome::Done)
    }
}
