//! The signatures of a request (contract 09 C.3, and Standard Webhooks).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use civitas_kernel::text::hexadecimal;
use civitas_webhooks::{DeliveryId, SigningSecret};
use ring::hmac::{HMAC_SHA256, Key, Tag, sign as hmac};

/// The value of `X-Webhook-Signature`: `v1=` and HMAC-SHA256 of `{timestamp}.{body}` in lowercase hexadecimal digits.
/// The key is the text of the secret. `timestamp`: Unix seconds.
pub fn sign(secret: &SigningSecret, timestamp: i64, body: &str) -> String {
    format!("v1={}", hexadecimal(tag(secret, &format!("{timestamp}.{body}")).as_ref()))
}

/// The value of `webhook-signature` of Standard Webhooks: `v1,` and HMAC-SHA256 of `{id}.{timestamp}.{body}` in base64.
/// The key is the text of the secret; a library of a receiver gets it as `whsec_` and the base64 form of this text.
pub fn sign_standard(secret: &SigningSecret, id: DeliveryId, timestamp: i64, body: &str) -> String {
    format!("v1,{}", STANDARD.encode(tag(secret, &format!("{id}.{timestamp}.{body}"))))
}

fn tag(secret: &SigningSecret, text: &str) -> Tag {
    hmac(&Key::new(HMAC_SHA256, secret.expose().as_bytes()), text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ring::digest::{SHA256, digest};
    use standardwebhooks::Webhook;

    const SECRET: &str = "8f2a1c4e6b7d90315a2f4c6e8b0d1f3a5c7e9b1d3f5a7c9e0b2d4f6a8c0e2f4a";
    const BODY: &str = r#"{"type":"proposal_creation.succeeded","data":{"id":"42","type":"proposal","attributes":{"title":{"en":"Café & bikes"}}}}"#;

    fn from_hex(text: &str) -> Vec<u8> {
        (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
    }

    #[test]
    fn the_signature_is_that_of_the_contract() {
        let secret = SigningSecret::new(SECRET);
        assert_eq!(BODY.len(), 121);
        let sha256 = "60ac015db078f2345c7664ee2226736d4fef7f65ce75ab160b4399a021aed326";
        assert_eq!(hexadecimal(digest(&SHA256, BODY.as_bytes()).as_ref()), sha256);
        assert_eq!(
            sign(&secret, 1_767_225_600, BODY),
            "v1=85c2654024aa8ba30b9bd2fe85d551b001194ce31dfeb3d8b1e89cf42381d966"
        );
        assert_eq!(
            sign(&secret, 1_700_000_000, "{}"),
            "v1=866126cd2094016351a2de7128370d78bd44a022468724828c9705a8a4299590"
        );
    }

    #[test]
    fn the_secret_decoded_from_hexadecimal_digits_gives_another_signature() {
        let wrong = Key::new(HMAC_SHA256, &from_hex(SECRET));
        let signature = hmac(&wrong, format!("1767225600.{BODY}").as_bytes());
        assert_eq!(
            hexadecimal(signature.as_ref()),
            "4430298c9524c9cff8b6506d90f560836876966efc56ebeb83cdeb0ec9c3d368"
        );
        assert_ne!(
            format!("v1={}", hexadecimal(signature.as_ref())),
            sign(&SigningSecret::new(SECRET), 1_767_225_600, BODY)
        );
    }

    #[test]
    fn a_receiver_with_the_library_of_standard_webhooks_accepts_the_signature() {
        let receiver = Webhook::new(&format!("whsec_{}", STANDARD.encode(SECRET))).unwrap();
        let (secret, id) = (SigningSecret::new(SECRET), DeliveryId::generate());
        let signature = sign_standard(&secret, id, 1_767_225_600, BODY);
        let expected = receiver.sign(&id.to_string(), 1_767_225_600, BODY.as_bytes()).unwrap();
        assert_eq!(signature, expected);
    }

    #[test]
    fn id_time_body_and_secret_each_change_the_signature() {
        let (secret, other) = (SigningSecret::new(SECRET), SigningSecret::new("0123456789abcdef"));
        let id = DeliveryId::generate();
        let first = sign_standard(&secret, id, 1, "{}");
        assert_ne!(first, sign_standard(&secret, DeliveryId::generate(), 1, "{}"));
        assert_ne!(first, sign_standard(&secret, id, 2, "{}"));
        assert_ne!(first, sign_standard(&secret, id, 1, "{} "));
        assert_ne!(first, sign_standard(&other, id, 1, "{}"));
        assert_ne!(sign(&secret, 1, "{}"), sign(&other, 1, "{}"));
    }
}
