//! Turns the second factor of administrators on.

use super::admin::{edit, refusals};
use super::{NewSecondFactor, SecondFactor, SignInPorts};
use crate::{Digest, Secret};
use civitas_kernel::{AdministratorId, Error, Result};
use time::OffsetDateTime;

impl SignInPorts<'_> {
    /// Makes a secret for a second factor. Nothing is stored: [`Self::enable_second_factor`] activates it, within 15
    /// minutes. `issuer` is the name that the app shows. Needs no transaction.
    ///
    /// # Errors
    /// `NotFound`; `Rejected` when a second factor is active.
    pub async fn begin_second_factor(
        &self,
        id: AdministratorId,
        issuer: &str,
        now: OffsetDateTime,
    ) -> Result<NewSecondFactor> {
        let administrator = self.administrators.find(id).await?.ok_or(Error::NotFound)?;
        if administrator.second_factor.is_some() {
            return Err(Error::rejected_field("second_factor", "is_on", refusals::SECOND_FACTOR_IS_ON));
        }
        NewSecondFactor::begin(id, &administrator.email, issuer, self.cipher, self.codes, now)
    }

    /// Activates a new secret when the code is right. Returns the recovery codes, which are shown once. Ends all other
    /// sessions of the account.
    ///
    /// # Errors
    /// `NotFound`; `Rejected` when the code is wrong, the form is too old, or a second factor is active.
    pub async fn enable_second_factor(
        &self,
        id: AdministratorId,
        sealed: &str,
        code: &str,
        session: &Digest,
        now: OffsetDateTime,
    ) -> Result<Vec<Secret>> {
        let recovery_codes = edit(self.administrators, id, now, |administrator| {
            if administrator.second_factor.is_some() {
                return Err(Error::rejected_field("second_factor", "is_on", refusals::SECOND_FACTOR_IS_ON));
            }
            let secret = NewSecondFactor::open(sealed, id, self.cipher, now).ok_or_else(|| {
                Error::rejected_field("second_factor", "expired", refusals::SECOND_FACTOR_EXPIRED)
            })?;
            let step = SecondFactor::step_of(&secret, code, self.codes, now)?
                .ok_or_else(|| Error::rejected_field("code", "wrong", refusals::CODE_WRONG))?;
            let (factor, codes) = SecondFactor::activate(&secret, step, self.cipher)?;
            administrator.second_factor = Some(factor);
            Ok(codes)
        })
        .await?;
        self.sessions.remove_all_of(id, Some(session)).await?;
        Ok(recovery_codes)
    }
}

#[cfg(test)]
mod tests;
