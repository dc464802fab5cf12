//! Tokens of forms, and digests of sources: a token is bound to a session, has a nonce, and can be used for one change.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use civitas_accounts::Secret;
use civitas_application::network_of;
use ring::hmac::{self, HMAC_SHA256, Key};
use std::net::IpAddr;

/// Signs and checks tokens.
pub(crate) struct FormTokens(Key);

impl FormTokens {
    /// With this key of 32 bytes.
    pub(crate) fn new(key: &[u8; 32]) -> Self {
        Self(Key::new(HMAC_SHA256, key))
    }

    /// A new token for the session, or the visit before sign-in, with this cookie.
    pub(crate) fn issue(&self, cookie: &str) -> String {
        let nonce = Secret::alphanumeric();
        let nonce = &nonce.expose()[..16];
        format!(
            "{nonce}.{}",
            URL_SAFE_NO_PAD.encode(hmac::sign(&self.0, signed_text(cookie, nonce).as_bytes()))
        )
    }

    /// The nonce of a token, if it was issued for this cookie.
    pub(crate) fn check<'a>(&self, cookie: &str, token: &'a str) -> Option<&'a str> {
        let (nonce, signature) = token.split_once('.')?;
        let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
        hmac::verify(&self.0, signed_text(cookie, nonce).as_bytes(), &signature).ok()?;
        Some(nonce)
    }

    /// The digest of the address or network a sign-in comes from. It cannot be computed without the key.
    pub(crate) fn source_digest(&self, client_ip: Option<IpAddr>) -> String {
        let text = format!("source {:?}", client_ip.map(network_of));
        URL_SAFE_NO_PAD.encode(&hmac::sign(&self.0, text.as_bytes()).as_ref()[..18])
    }
}

fn signed_text(cookie: &str, nonce: &str) -> String {
    format!("{nonce}.{cookie}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_valid_for_its_session_only() {
        let tokens = FormTokens::new(&[7; 32]);
        let token = tokens.issue("session");
        assert_eq!(tokens.check("session", &token).unwrap().len(), 16);
        assert_ne!(tokens.issue("session"), token);
        for (cookie, token) in
            [("another", token.as_str()), ("session", "x.y"), ("session", ""), ("session", "abc")]
        {
            assert!(tokens.check(cookie, token).is_none());
        }
        assert!(FormTokens::new(&[8; 32]).check("session", &token).is_none());
    }

    #[test]
    fn a_source_is_an_address_or_a_network_and_depends_on_the_key() {
        let tokens = FormTokens::new(&[7; 32]);
        let source = |address: &str| tokens.source_digest(address.parse().ok());
        assert_eq!(source("192.0.2.1"), source("::ffff:192.0.2.1"));
        assert_eq!(source("2001:db8::1"), source("2001:db8::ffff:2"));
        for other in ["192.0.2.2", "2001:db8:0:1::1", ""] {
            assert!(source(other) != source("192.0.2.1") && source(other) != source("2001:db8::1"));
        }
        assert_ne!(FormTokens::new(&[8; 32]).source_digest("192.0.2.1".parse().ok()), source("192.0.2.1"));
    }
}
