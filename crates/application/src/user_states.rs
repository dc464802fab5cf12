//! The state of an account, as administrators change it in the panel and on the command line.

use crate::Transaction;
use civitas_accounts::{User, UserAdministration};
use civitas_audit::{Action, Actor, NewAuditEntry};
use civitas_kernel::records::edit;
use civitas_kernel::{Error, OrganizationId, Result, UserId};
use time::OffsetDateTime;

/// A change of the state of an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UserStateChange {
    /// Blocks it.
    Block,
    /// Removes a block.
    Unblock,
    /// Locks it.
    Lock,
    /// Removes a lock, and the locks of its login through all clients.
    Unlock,
}

impl UserStateChange {
    /// Its name in the audit trail.
    pub fn action(self) -> Action {
        match self {
            Self::Block => Action::UserBlocked,
            Self::Unblock => Action::UserUnblocked,
            Self::Lock => Action::UserLocked,
            Self::Unlock => Action::UserUnlocked,
        }
    }
}

/// Changes states in a transaction, and writes them into the audit trail.
pub struct UserStates<'a> {
    /// The transaction. [`EventCommitter`](crate::EventCommitter) commits it: a change has an event.
    pub tx: &'a dyn Transaction,
    /// Who changes.
    pub actor: Actor,
    /// The address of the client, for the audit trail.
    pub from: Option<String>,
    /// The current time.
    pub now: OffsetDateTime,
}

impl UserStates<'_> {
    /// Changes the state of an account. Returns whether it changed; an act without effect is not recorded.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn change(
        &self,
        organization: OrganizationId,
        id: UserId,
        act: UserStateChange,
    ) -> Result<bool> {
        let (tx, now) = (self.tx, self.now);
        let before = tx.users().find_for_update(organization, id).await?.ok_or(Error::NotFound)?;
        let admin = UserAdministration { store: tx.users(), tokens: tx.tokens(), queue: tx.queue() };
        let (after, was_closed) = match act {
            UserStateChange::Block => {
                (edit(&admin, organization, id, now, |user| user.block(now)).await?, false)
            }
            UserStateChange::Unblock => (edit(&admin, organization, id, now, User::unblock).await?, false),
            UserStateChange::Lock => {
                (edit(&admin, organization, id, now, |user| user.lock(now)).await?, false)
            }
            UserStateChange::Unlock => admin.unlock(tx.login_failures(), organization, id, now).await?,
        };
        if after == before && !was_closed {
            return Ok(false);
        }
        let entry = NewAuditEntry::new(self.actor.clone(), act.action()).in_organization(organization);
        let entry =
            entry.with_object("user", &id.to_string(), &before.nickname).with_address(self.from.as_deref());
        tx.audit().append(&entry, now).await?;
        Ok(true)
    }
}
