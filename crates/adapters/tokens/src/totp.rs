//! Codes of authenticator apps (RFC 6238), with the crate `totp-rs`.

use crate::bytes::random;
use civitas_accounts::Secret;
use civitas_accounts::administrators::SecondFactorCodes;
use civitas_kernel::{Error, Result};
use time::OffsetDateTime;
use totp_rs::{Builder, Totp};

/// The length of a new secret, in bytes (RFC 4226, 4: R6).
const SECRET_LENGTH: usize = 20;

/// HMAC-SHA-1, six digits, steps of 30 seconds, one step of tolerance: the defaults of authenticator apps.
#[derive(Debug, Default, Clone, Copy)]
pub struct TotpCodes;

fn builder(secret: &Secret) -> Result<Builder> {
    let bytes = totp_rs::Secret::try_from_base32(secret.expose());
    let bytes = bytes.map_err(|_| Error::internal("the secret of a second factor is not base32"))?;
    Ok(Builder::new().with_secret(bytes).with_digits(6).with_step_duration(30).with_skew(1))
}

fn build(builder: Builder) -> Result<Totp> {
    builder.build().map_err(|error| Error::internal(error.to_string()))
}

impl SecondFactorCodes for TotpCodes {
    fn generate(&self) -> Result<Secret> {
        let bytes: [u8; SECRET_LENGTH] = random()?;
        Ok(Secret::new(totp_rs::Secret::new_stack(bytes).to_base32()))
    }

    fn url(&self, secret: &Secret, account: &str, issuer: &str) -> Result<Secret> {
        let totp = build(builder(secret)?.with_account_name(account).with_issuer(Some(issuer)))?;
        totp.to_url().map(Secret::new).map_err(|error| Error::internal(error.to_string()))
    }

    fn step_of(&self, secret: &Secret, code: &str, now: OffsetDateTime) -> Result<Option<i64>> {
        let Ok(seconds) = u64::try_from(now.unix_timestamp()) else { return Ok(None) };
        let step = build(builder(secret)?)?.check(code, seconds);
        Ok(step.and_then(|step| i64::try_from(step).ok()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The secret of RFC 6238, appendix B: the ASCII text `12345678901234567890`.
    const RFC: &str = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";

    fn step(code: &str, seconds: i64) -> Option<i64> {
        let now = OffsetDateTime::from_unix_timestamp(seconds).unwrap();
        TotpCodes.step_of(&Secret::new(RFC), code, now).unwrap()
    }

    #[test]
    fn the_codes_are_those_of_the_rfc() {
        // The last six of the eight digits of appendix B.
        for (seconds, code) in [
            (59, "287082"),
            (1_111_111_109, "081804"),
            (1_111_111_111, "050471"),
            (1_234_567_890, "005924"),
            (2_000_000_000, "279037"),
            (20_000_000_000, "353130"),
        ] {
            assert_eq!(step(code, seconds), Some(seconds / 30), "{code}");
        }
    }

    #[test]
    fn a_code_is_valid_one_step_early_or_late() {
        for (seconds, expected) in [(29, None), (30, Some(2)), (119, Some(2)), (120, None)] {
            // The code of step 2: 60 to 89 seconds.
            assert_eq!(step("359152", seconds), expected, "{seconds}");
        }
        for wrong in ["", "28708", "2870822", "000000", "28708a", "２８７０８２"] {
            assert_eq!(step(wrong, 59), None, "{wrong}");
        }
    }

    #[test]
    fn a_new_secret_has_160_bits_and_an_address_for_apps() {
        let (first, second) = (TotpCodes.generate().unwrap(), TotpCodes.generate().unwrap());
        assert_ne!(first.expose(), second.expose());
        assert_eq!(first.expose().len(), 32);
        let url = TotpCodes.url(&Secret::new(RFC), "ada@city.example", "City of Riverton").unwrap();
        assert!(url.expose().starts_with("otpauth://totp/City%20of%20Riverton:ada"), "{}", url.expose());
        assert!(url.expose().contains(&format!("secret={RFC}")), "{}", url.expose());
        assert!(TotpCodes.url(&Secret::new("no base32!"), "a", "b").is_err());
    }
}
