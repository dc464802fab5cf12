//! The task that sends letters: people's accounts, their organization's name, and the way out.

use crate::announcing::tenant;
use crate::{Site, TaskHandler, Turn};
use async_trait::async_trait;
use civitas_accounts::{
    Addressee, Confirmation, Letter, Letterhead, Mailer, Role, Secret, SendInvitation, SendLetter,
    is_deliverable,
};
use civitas_kernel::{Locale, Result, TaskPayload};
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
        let link = self.link(turn, &tenant, send).await?;
        self.mailer.send(&send.letter.write(head(&tenant, user.locale), (&user).into(), link)).await?;
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
            Letter::Welcome | Letter::Invitation => Ok(Secret::new(format!("{origin}/"))),
        }
    }
}
/// The name of the organization, in the reader's language where it has one there.
fn head(tenant: &Tenant, chosen: Option<Locale>) -> Letterhead<'_> {
    let locale = chosen.unwrap_or(tenant.default_locale);
    let organization = tenant.name.get(locale).filter(|name| !name.is_empty());
    let organization = organization.or_else(|| tenant.name.title(tenant.default_locale)).unwrap_or_default();
    Letterhead { organization, locale }
}

/// Sends invitations to roles: to the account where there is one, else to the address.
pub struct Invitations {
    /// Takes the mails.
    pub mailer: Arc<dyn Mailer>,
    /// How links are written.
    pub site: Site,
}

#[async_trait]
impl TaskHandler for Invitations {
    fn kind(&self) -> &'static str {
        SendInvitation::KIND
    }

    async fn run(&self, turn: Turn<'_>, task: &Task) -> Result<Outcome> {
        let SendInvitation { role } = task.read()?;
        let found = turn.store.roles().find(task.organization, role).await?;
        let Some(role) = found.filter(Role::is_pending) else { return Ok(Outcome::Done) };
        let user = match role.user {
            Some(id) => turn.store.users().find(task.organization, id).await?,
            None => None,
        };
        let to = match (&user, &role.email) {
            (Some(user), _) if user.deleted_at.is_none() => Addressee::from(user),
            (None, Some(email)) => Addressee { email, name: email },
            _ => return Ok(Outcome::Done),
        };
        if !is_deliverable(to.email) {
            return Ok(Outcome::Done);
        }
        let tenant = tenant(turn.store, task.organization).await?;
        let (origin, space) = (self.site.origin(&tenant.host), role.space);
        let link = Secret::new(format!("{origin}/public/{}/{}", space.manifest.as_str(), space.id));
        let head = head(&tenant, user.as_ref().and_then(|user| user.locale));
        self.mailer.send(&Letter::Invitation.write(head, to, link)).await?;
        Ok(Outcome::Done)
    }
}
