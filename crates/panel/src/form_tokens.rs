//! Tokens of forms: each is bound to the session, has a value of its own, and can be used for one change.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use civitas_accounts::Secret;
use ring::hmac::{self, HMAC_SHA256, Key};

/// Signs and checks tokens.
pub(crate) struct FormTokens(Key);

impl FormTokens {
    /// With this key of 32 bytes.
    pub(crate) fn new(key: &[u8; 32]) -> Self {
        Self(Key::new(HMAC_SHA256, key))
    }

    /// A new token for the session or visit with this cookie.
    pub(crate) fn issue(&self, cookie: &str) -> String {
        let nonce = Secret::alphanumeric();
        let nonce = &nonce.expose()[..16];
        format!("{nonce}.{}", URL_SAFE_NO_PAD.encode(hmac::sign(&self.0, message(cookie, nonce).as_bytes())))
    }

    /// The own value of a token, if it was issued for this cookie.
    pub(crate) fn check<'a>(&self, cookie: &str, token: &'a str) -> Option<&'a str> {
        let (nonce, signature) = token.split_once('.')?;
        let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
        hmac::verify(&self.0, message(cookie, nonce).as_bytes(), &signature).ok()?;
        Some(nonce)
    }
}

fn message(cookie: &str, nonce: &str) -> String {
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
}
