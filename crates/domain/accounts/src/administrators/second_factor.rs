//! The second factor: codes of an authenticator app (RFC 6238), and recovery codes.

use crate::{Digest, Secret};
use civitas_kernel::{AdministratorId, Result};
use ring::rand::{SecureRandom, SystemRandom};
use serde::{Deserialize, Serialize};
use std::fmt;
use time::{Duration, OffsetDateTime};

/// How many recovery codes are made.
const RECOVERY_CODES: usize = 10;
/// The characters of a recovery code, 5 bits each; none is easily confused with another one.
const ALPHABET: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
/// The characters of a recovery code: 80 bits.
const RECOVERY_CODE_LENGTH: usize = 16;
/// How long a new secret can be confirmed.
const TIME_TO_CONFIRM: Duration = Duration::minutes(15);

/// An active second factor.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecondFactor {
    /// The secret of the app, sealed with [`TextCipher`].
    pub secret: String,
    /// The digests of the recovery codes that were not used.
    pub recovery_codes: Vec<Digest>,
    /// The step of the last code: a code is accepted once, and no older one after it. Steps of 30 seconds since 1970.
    pub last_step: i64,
}

impl fmt::Debug for SecondFactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecondFactor")
            .field("recovery_codes", &self.recovery_codes.len())
            .field("last_step", &self.last_step)
            .finish_non_exhaustive()
    }
}

/// Encrypts short texts with a key of the deployment.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
pub trait TextCipher: Send + Sync {
    /// The sealed text: printable ASCII, another one each time.
    fn seal(&self, text: &str) -> Result<String>;
    /// The text of a sealed text.
    ///
    /// # Errors
    /// `Internal` when it was changed, or sealed with another key.
    fn open(&self, sealed: &str) -> Result<String>;
}

/// Time-based one-time passwords (RFC 6238): HMAC-SHA-1, six digits, steps of 30 seconds, as authenticator apps expect.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
pub trait SecondFactorCodes: Send + Sync {
    /// A new secret of 160 bits, in base32.
    fn generate(&self) -> Result<Secret>;
    /// The `otpauth://totp/` address of a secret, for a QR code. `issuer` has no colon.
    fn url(&self, secret: &Secret, account: &str, issuer: &str) -> Result<Secret>;
    /// The step of a code that is valid at this time, at most one step early or late; `None` for a wrong one.
    fn step_of(&self, secret: &Secret, code: &str, now: OffsetDateTime) -> Result<Option<i64>>;
}

/// A secret that is not active until a code confirms it. It is not stored: the form that asks for the code has it.
#[derive(Debug)]
pub struct NewSecondFactor {
    /// The secret in base32, to type into an app.
    pub secret: Secret,
    /// The `otpauth://` address.
    pub url: Secret,
    /// The secret with its administrator and its end, sealed: a hidden field of the form.
    pub sealed: String,
}

/// The content of [`NewSecondFactor::sealed`].
#[derive(Serialize, Deserialize)]
struct Pending {
    purpose: String,
    administrator: AdministratorId,
    /// Unix seconds.
    until: i64,
    secret: String,
}

/// The purpose of a [`Pending`] secret: no other sealed text is accepted instead.
const PURPOSE: &str = "new second factor";

impl NewSecondFactor {
    /// A new secret for an administrator.
    pub(super) fn begin(
        administrator: AdministratorId,
        email: &str,
        issuer: &str,
        cipher: &dyn TextCipher,
        codes: &dyn SecondFactorCodes,
        now: OffsetDateTime,
    ) -> Result<Self> {
        let secret = codes.generate()?;
        let url = codes.url(&secret, email, &issuer.replace(':', " "))?;
        let pending = Pending {
            purpose: PURPOSE.to_owned(),
            administrator,
            until: (now + TIME_TO_CONFIRM).unix_timestamp(),
            secret: secret.expose().to_owned(),
        };
        let text = serde_json::to_string(&pending).map_err(civitas_kernel::Error::internal)?;
        Ok(Self { secret, url, sealed: cipher.seal(&text)? })
    }

    /// The secret of a sealed text of this administrator; `None` when it is expired or another text.
    pub(super) fn open(
        sealed: &str,
        administrator: AdministratorId,
        cipher: &dyn TextCipher,
        now: OffsetDateTime,
    ) -> Option<Secret> {
        // The text comes from a form: one that cannot be opened is no fault of the deployment.
        let text = cipher.open(sealed).ok()?;
        let pending: Pending = serde_json::from_str(&text).ok()?;
        let is_valid = pending.purpose == PURPOSE
            && pending.administrator == administrator
            && now.unix_timestamp() < pending.until;
        is_valid.then(|| Secret::new(pending.secret))
    }
}

impl SecondFactor {
    /// Activates a secret that a code of this step has confirmed. The recovery codes are in the result alone.
    pub(super) fn activate(
        secret: &Secret,
        step: i64,
        cipher: &dyn TextCipher,
    ) -> Result<(Self, Vec<Secret>)> {
        let codes = recovery_codes();
        let factor = Self {
            secret: cipher.seal(secret.expose())?,
            recovery_codes: codes.iter().map(|code| normalized(code.expose()).digest()).collect(),
            last_step: step,
        };
        Ok((factor, codes))
    }

    /// The step of a code of the app, as people type it.
    pub(super) fn step_of(
        secret: &Secret,
        code: &str,
        codes: &dyn SecondFactorCodes,
        now: OffsetDateTime,
    ) -> Result<Option<i64>> {
        codes.step_of(secret, normalized(code).expose(), now)
    }

    /// Accepts a code of the app that is newer than the last one, or a recovery code; each once. Whether it was accepted.
    pub(super) fn accept(
        &mut self,
        code: &str,
        cipher: &dyn TextCipher,
        codes: &dyn SecondFactorCodes,
        now: OffsetDateTime,
    ) -> Result<bool> {
        let code = normalized(code);
        // Before the secret is opened: a recovery code is accepted with a new key of the deployment too.
        if let Some(used) = self.recovery_codes.iter().position(|digest| digest.matches(&code)) {
            self.recovery_codes.remove(used);
            return Ok(true);
        }
        let secret = Secret::new(cipher.open(&self.secret)?);
        let step = codes.step_of(&secret, code.expose(), now)?;
        let is_new = step.is_some_and(|step| step > self.last_step);
        self.last_step = step.map_or(self.last_step, |step| step.max(self.last_step));
        Ok(is_new)
    }
}

/// A code without the spaces and dashes that people type, in lower case.
fn normalized(code: &str) -> Secret {
    let characters = code.chars().filter(|c| !c.is_whitespace() && *c != '-');
    Secret::new(characters.flat_map(char::to_lowercase).collect::<String>())
}

/// New recovery codes: four groups of four characters, with dashes.
///
/// # Panics
/// When the system's random source fails.
fn recovery_codes() -> Vec<Secret> {
    let mut bytes = [0; RECOVERY_CODES * RECOVERY_CODE_LENGTH];
    SystemRandom::new().fill(&mut bytes).expect("the system's random generator works");
    let code = |bytes: &[u8]| {
        let groups = bytes.chunks(4).map(|group| {
            group.iter().map(|byte| char::from(ALPHABET[usize::from(byte % 32)])).collect::<String>()
        });
        Secret::new(groups.collect::<Vec<_>>().join("-"))
    };
    bytes.chunks(RECOVERY_CODE_LENGTH).map(code).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::administrators::tests::memory::{PlainCipher, StepCodes};
    use time::macros::datetime;

    const NOW: OffsetDateTime = datetime!(2026-01-01 8:00 UTC);
    const ADA: AdministratorId = AdministratorId(7);

    #[test]
    fn recovery_codes_are_ten_different_ones_of_80_bits() {
        let codes = recovery_codes();
        let texts: std::collections::BTreeSet<_> =
            codes.iter().map(|code| code.expose().to_owned()).collect();
        assert_eq!((codes.len(), texts.len()), (10, 10));
        assert!(texts.iter().all(|text| text.len() == 19 && text.split('-').count() == 4), "{texts:?}");
    }

    #[test]
    fn a_code_and_a_recovery_code_are_accepted_once() {
        let secret = Secret::new("S");
        let (mut factor, codes) = SecondFactor::activate(&secret, 10, &PlainCipher).unwrap();
        let mut accept = |code: &str| factor.accept(code, &PlainCipher, &StepCodes, NOW).unwrap();
        assert!(!accept("S10"), "it confirmed the secret");
        assert!(accept("S 12"));
        assert!(!accept("S12") && !accept("S11"), "used, and older");
        assert!(!accept("wrong") && !accept(""));
        let typed = codes[3].expose().to_uppercase().replace('-', " ");
        assert!(accept(&typed));
        assert!(!accept(&typed));
        assert!(accept(codes[4].expose()));
        assert_eq!(factor.recovery_codes.len(), 8);
    }

    #[test]
    fn a_new_secret_is_confirmed_by_its_administrator_in_time() {
        let new =
            NewSecondFactor::begin(ADA, "ada@a.example", "A: B", &PlainCipher, &StepCodes, NOW).unwrap();
        let open = |sealed: &str, by, at| NewSecondFactor::open(sealed, by, &PlainCipher, at);
        let opened = open(&new.sealed, ADA, NOW + Duration::minutes(14)).unwrap();
        assert_eq!(opened.expose(), new.secret.expose());
        assert!(open(&new.sealed, ADA, NOW + TIME_TO_CONFIRM).is_none(), "too late");
        assert!(open(&new.sealed, AdministratorId(8), NOW).is_none(), "of somebody else");
        let notice = PlainCipher.seal("a notice").unwrap();
        assert!(open(&notice, ADA, NOW).is_none() && open("", ADA, NOW).is_none());
    }
}
