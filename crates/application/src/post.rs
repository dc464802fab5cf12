//! The task that sends letters: people's accounts, their organization's name, and the way out.

use crate::announcing::tenant;
use crate::{Site, TaskHandler, Turn};
use async_trait::async_trait;
use civitas_accounts::{Confirmation, Letter, Letterhead, Mailer, Secret, SendLetter};
use civitas_kernel::{Result, TaskPayload};
use civitas_organizations::Tenant;
use civitas_tasks::{Outcome, Task};
use std::sync::Arc;

/// Writes letters when they are due, and hands them over. A link that opens something is made with the letter, so
/// that the waiting task holds nothing that could be used.
pub struct Post {
    /// Takes the mails.
    pub mailer: Arc<dyn Mailer>,
    /// How links are written.
    pub site: Site,
}

#[async_trait]
impl TaskHandler for Post {
    fn kind(&self) -> &'static str {
        SendLetter::KIND
    }

    async fn run(&self, turn: Turn<'_>, task: &Task) -> Result<Outcome> {
        let send: SendLetter = task.read()?;
        let user = turn.store.users().find(task.organization, send.user).await?;
        let Some(user) = user.filter(|user| send.letter.is_for(user)) else { return Ok(Outcome::Done) };
        let tenant = tenant(turn.store, task.organization).await?;
        let locale = user.locale.unwrap_or(tenant.default_locale);
        let organization = tenant.name.get(locale).filter(|name| !name.is_empty());
        let organization =
            organization.or_else(|| tenant.name.title(tenant.default_locale)).unwrap_or_default();
        let link = self.link(turn, &tenant, send).await?;
        self.mailer.send(&send.letter.write(Letterhead { organization, locale }, &user, link)).await?;
        Ok(Outcome::Done)
    }
}

impl Post {
    async fn link(&self, turn: Turn<'_>, tenant: &Tenant, send: SendLetter) -> Result<Secret> {
        let origin = self.site.origin(&tenant.host);
        match send.letter {
            Letter::Confirmation => {
                let (confirmation, token) = Confirmation::begin(send.user, turn.now);
                turn.store.confirmations().add(tenant.id, &confirmation, turn.now).await?;
                Ok(Secret::new(format!("{origin}/confirmation/{}", token.expose())))
            }
            Letter::Welcome => Ok(Secret::new(format!("{origin}/"))),
        }
    }
}
