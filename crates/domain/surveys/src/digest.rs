//! Keyed digests of respondents and their addresses, and random texts (contract 08 §6.2).

use civitas_kernel::UserId;
use civitas_kernel::text::hexadecimal;
use ring::hmac::{HMAC_SHA256, Key, sign};
use ring::rand::{SecureRandom, SystemRandom};
use std::net::IpAddr;

/// 256 random bits, in hexadecimal.
///
/// # Panics
/// When the system's random source fails.
pub(crate) fn random_digest() -> String {
    let mut bytes = [0; 32];
    SystemRandom::new().fill(&mut bytes).expect("the system's random generator works");
    hexadecimal(&bytes)
}

/// The session token of the response of a user: the same for each response to the questionnaire with this salt.
pub(crate) fn user_digest(salt: &str, user: UserId) -> String {
    keyed(salt, &format!("user {user}"))
}

/// The digest of an address, in its canonical form.
pub(crate) fn address_digest(salt: &str, address: IpAddr) -> String {
    keyed(salt, &format!("address {}", address.to_canonical()))
}

fn keyed(salt: &str, text: &str) -> String {
    hexadecimal(sign(&Key::new(HMAC_SHA256, salt.as_bytes()), text.as_bytes()).as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_that_of_its_questionnaire_alone() {
        let address: IpAddr = "203.0.113.42".parse().unwrap();
        let mapped: IpAddr = "::ffff:203.0.113.42".parse().unwrap();
        assert_eq!(address_digest("a", address), address_digest("a", mapped));
        assert_ne!(address_digest("a", address), address_digest("b", address));
        assert_eq!(user_digest("a", UserId(1)), user_digest("a", UserId(1)));
        assert_ne!(user_digest("a", UserId(1)), user_digest("a", UserId(2)));
        assert_ne!(random_digest(), random_digest());
        assert_eq!(random_digest().len(), 64);
    }
}
