//! Changes of administrators. The caller is an administrator, or the command line; there are no further rights.

use super::{Administrator, AdministratorStore, PanelSessionStore, PanelTheme};
use crate::{Digest, Passwords, Secret, is_email, normal_email};
use civitas_kernel::records::{Entity, check_revision};
use civitas_kernel::text::nfc;
use civitas_kernel::{AdministratorId, Error, Locale, OrganizationId, Result};
use time::OffsetDateTime;

/// The sentences of refusals: the texts of [`Error::Rejected`].
pub(super) mod refusals {
    /// Field: e-mail address.
    pub const EMAIL_INVALID: &str = "Enter an e-mail address.";
    /// Field: e-mail address.
    pub const EMAIL_TAKEN: &str = "Another administrator already has this e-mail address.";
    /// Field: password.
    pub const PASSWORD_SHORT: &str = "Enter at least 12 characters.";
    /// Field: password.
    pub const PASSWORD_LONG: &str = "Enter at most 1,000 bytes.";
    /// Field: password.
    pub const PASSWORD_BLANK: &str = "Enter a password that is not only spaces.";
    /// Field: password.
    pub const PASSWORD_IS_EMAIL: &str = "Enter a password that is not the e-mail address.";
    /// The account.
    pub const LAST_ADMINISTRATOR: &str = "The last administrator cannot be deleted.";
    /// The account.
    pub const SECOND_FACTOR_IS_ON: &str = "The second factor is already on. Turn it off first.";
    /// The account.
    pub const SECOND_FACTOR_IS_OFF: &str = "The second factor is already off.";
    /// Field: code.
    pub const CODE_WRONG: &str = "The code is not right. Enter the code that the app shows now.";
    /// The form.
    pub const SECOND_FACTOR_EXPIRED: &str = "This form is too old. Begin again with a new QR code.";
}

/// A password that meets the rule, with its hash. Make it before the transaction begins: hashing takes 20 ms.
#[derive(Debug)]
pub struct NewPassword {
    email: String,
    hash: Secret,
}

impl NewPassword {
    /// The fewest characters of a password.
    pub const MIN_CHARACTERS: usize = 12;
    /// The most bytes of a password: the sign-in page takes no longer ones.
    pub const MAX_BYTES: usize = 1_000;

    /// Checks the address and the password, and hashes it.
    ///
    /// # Errors
    /// `Rejected` when the address is invalid, or the password has less than 12 characters, more than 1,000 bytes, only spaces, or is the
    /// address.
    pub async fn new(passwords: &dyn Passwords, email: &str, password: &Secret) -> Result<Self> {
        let email = valid_email(email)?;
        let text = password.expose();
        let refusal = if nfc(text).chars().count() < Self::MIN_CHARACTERS {
            Some(("too_short", refusals::PASSWORD_SHORT))
        } else if text.len() > Self::MAX_BYTES {
            Some(("too_long", refusals::PASSWORD_LONG))
        } else if text.trim().is_empty() {
            Some(("blank", refusals::PASSWORD_BLANK))
        } else if normal_email(text) == email {
            Some(("is_email", refusals::PASSWORD_IS_EMAIL))
        } else {
            None
        };
        match refusal {
            Some((code, text)) => Err(Error::rejected_field("password", code, text)),
            None => Ok(Self { email, hash: Secret::new(passwords.hash(password.clone()).await?) }),
        }
    }

    fn hash(&self) -> String {
        self.hash.expose().to_owned()
    }
}

/// The address as it is stored.
fn valid_email(email: &str) -> Result<String> {
    let email = normal_email(email);
    let invalid = || Error::rejected_field("email", "invalid", refusals::EMAIL_INVALID);
    if is_email(&email) { Ok(email) } else { Err(invalid()) }
}

/// Changes administrators. Each method needs the ports of one transaction. `NotFound` for an unknown id.
pub struct Administrators<'a> {
    /// The accounts.
    pub administrators: &'a dyn AdministratorStore,
    /// The sessions.
    pub sessions: &'a dyn PanelSessionStore,
}

impl Administrators<'_> {
    /// Creates an administrator with the address of the password.
    ///
    /// # Errors
    /// `Rejected` when the address is taken.
    pub async fn create(&self, password: NewPassword, now: OffsetDateTime) -> Result<AdministratorId> {
        let hash = Some(password.hash());
        let administrator = Administrator { password: hash, ..Administrator::new(password.email, now) };
        self.administrators.add(&administrator).await
    }

    /// The account, locked until the transaction ends, in the state that the caller read.
    ///
    /// # Errors
    /// Those of [`check_revision`].
    pub async fn find_revision_for_update(
        &self,
        id: AdministratorId,
        revision: &str,
    ) -> Result<Administrator> {
        let found = self.administrators.find_for_update(id).await?.ok_or(Error::NotFound)?;
        check_revision(Some(revision), &found.revision())?;
        Ok(found)
    }

    /// Changes the address. The password stays.
    ///
    /// # Errors
    /// `Rejected` when it is invalid or taken.
    pub async fn change_email(&self, id: AdministratorId, email: &str, now: OffsetDateTime) -> Result<()> {
        let email = valid_email(email)?;
        let holder = self.administrators.find_by_email(&email).await?;
        if holder.is_some_and(|(other, _)| other != id) {
            return Err(Administrator::key_taken_error());
        }
        edit(self.administrators, id, now, |administrator| {
            administrator.email = email;
            Ok(())
        })
        .await
    }

    /// Sets the password of another administrator, forgets failures to sign in, and ends all sessions of the account.
    ///
    /// # Errors
    /// `Conflict` when the address is no longer that of `password`.
    pub async fn set_password(
        &self,
        id: AdministratorId,
        password: NewPassword,
        now: OffsetDateTime,
    ) -> Result<()> {
        edit(self.administrators, id, now, |administrator| {
            store_password(administrator, &password)?;
            administrator.sources.forget_failures();
            Ok(())
        })
        .await?;
        self.sessions.remove_all_of(id, None).await
    }

    /// Sets the own password, and ends all other sessions of the account.
    ///
    /// # Errors
    /// `Conflict` when the address is no longer that of `password`.
    pub async fn change_own_password(
        &self,
        id: AdministratorId,
        password: NewPassword,
        session: &Digest,
        now: OffsetDateTime,
    ) -> Result<()> {
        edit(self.administrators, id, now, |administrator| store_password(administrator, &password)).await?;
        self.sessions.remove_all_of(id, Some(session)).await
    }

    /// Removes the second factor.
    ///
    /// # Errors
    /// `NotFound`; `Rejected` when there is none.
    pub async fn disable_second_factor(&self, id: AdministratorId, now: OffsetDateTime) -> Result<()> {
        edit(self.administrators, id, now, remove_second_factor).await
    }

    /// Forgets failures to sign in: no source is refused.
    pub async fn unlock(&self, id: AdministratorId, now: OffsetDateTime) -> Result<()> {
        edit(self.administrators, id, now, |administrator| {
            administrator.sources.forget_failures();
            Ok(())
        })
        .await
    }

    /// Deletes the account with its sessions. `by`: who acts.
    ///
    /// # Errors
    /// `Rejected` when it is the last one; `Unauthenticated` when the account of `by` was deleted meanwhile.
    pub async fn delete(&self, id: AdministratorId, by: AdministratorId) -> Result<()> {
        let removed = self.administrators.remove(id).await;
        // Removals are one after the other: of two administrators who delete each other, the second one is gone here.
        let is_decided = matches!(removed, Ok(()) | Err(Error::Rejected(_)));
        if is_decided && by != id && self.administrators.find(by).await?.is_none() {
            return Err(Error::Unauthenticated);
        }
        removed
    }

    /// Sets language and colours of the panel; `None`: the language of the browser.
    pub async fn set_preferences(
        &self,
        id: AdministratorId,
        locale: Option<Locale>,
        theme: PanelTheme,
        now: OffsetDateTime,
    ) -> Result<()> {
        edit(self.administrators, id, now, |administrator| {
            administrator.locale = locale;
            administrator.theme = theme;
            Ok(())
        })
        .await
    }

    /// Remembers the organization that was opened last. No change of the account: `updated_at` stays.
    pub async fn set_last_organization(
        &self,
        id: AdministratorId,
        organization: Option<OrganizationId>,
    ) -> Result<()> {
        let mut administrator = self.administrators.find_for_update(id).await?.ok_or(Error::NotFound)?;
        if administrator.organization == organization {
            return Ok(());
        }
        administrator.organization = organization;
        self.administrators.save(id, &administrator).await
    }
}

fn remove_second_factor(administrator: &mut Administrator) -> Result<()> {
    match administrator.second_factor.take() {
        Some(_) => Ok(()),
        None => Err(Error::rejected_field("second_factor", "is_off", refusals::SECOND_FACTOR_IS_OFF)),
    }
}

/// Changes an account under the lock of its row.
pub(super) async fn edit<T>(
    store: &dyn AdministratorStore,
    id: AdministratorId,
    now: OffsetDateTime,
    change: impl FnOnce(&mut Administrator) -> Result<T>,
) -> Result<T> {
    let mut administrator = store.find_for_update(id).await?.ok_or(Error::NotFound)?;
    let result = change(&mut administrator)?;
    administrator.updated_at = now;
    store.save(id, &administrator).await?;
    Ok(result)
}

fn store_password(administrator: &mut Administrator, password: &NewPassword) -> Result<()> {
    if password.email != administrator.email {
        return Err(Error::Conflict("the e-mail address has changed".into()));
    }
    administrator.password = Some(password.hash());
    Ok(())
}

#[cfg(test)]
mod tests;
