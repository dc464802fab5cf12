//! Verification of webhooks (contract 09 C.3).

use ring::hmac;
use serde::Deserialize;
use serde_json::Value;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The largest difference between the timestamp of a delivery and the clock.
pub const TOLERANCE: Duration = Duration::from_secs(300);

/// A verified delivery.
#[derive(Debug, Clone, PartialEq)]
pub struct WebhookEvent {
    /// Equal for all attempts at a delivery: store it to ignore repeated ones. The signature does not cover it.
    pub id: String,
    /// When the attempt began, in Unix seconds.
    pub timestamp: u64,
    /// The type: `proposal_creation.succeeded`.
    pub kind: String,
    /// The record.
    pub data: Value,
}

/// Why a request is not a valid delivery. Answer 400 or 401 and ignore its body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WebhookError {
    /// `X-Webhook-Timestamp` is absent or not a number.
    #[error("no valid X-Webhook-Timestamp")]
    Timestamp,
    /// Another secret, another body, or no signature.
    #[error("the signature does not match")]
    Signature,
    /// The timestamp differs from the clock by more than [`TOLERANCE`].
    #[error("the timestamp is too old or in the future")]
    Stale,
    /// The signature is valid, the body is not an event.
    #[error("the body is not an event, or X-Webhook-Id is absent")]
    Body,
}

/// The body of a delivery.
#[derive(Deserialize)]
struct Body {
    #[serde(rename = "type")]
    kind: String,
    data: Value,
}

/// Verifies the signature of a delivery and returns its event. `header` returns the value of a header by its lower-case
/// name, `body` is the body as received, `secret` the `signing_secret` of the registration.
///
/// # Errors
/// A [`WebhookError`] when the request is not a valid delivery.
pub fn verify_webhook<'a>(
    header: impl Fn(&str) -> Option<&'a str>,
    body: &[u8],
    secret: &str,
) -> Result<WebhookEvent, WebhookError> {
    #[expect(clippy::disallowed_methods, reason = "the clock of the kernel is one of the server")]
    let now = SystemTime::now();
    verify_webhook_at(header, body, secret, now)
}

/// The same at another time than now.
///
/// # Errors
/// As [`verify_webhook`].
pub fn verify_webhook_at<'a>(
    header: impl Fn(&str) -> Option<&'a str>,
    body: &[u8],
    secret: &str,
    now: SystemTime,
) -> Result<WebhookEvent, WebhookError> {
    let sent = header("x-webhook-timestamp").filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    let sent = sent.ok_or(WebhookError::Timestamp)?;
    let timestamp: u64 = sent.parse().map_err(|_| WebhookError::Timestamp)?;
    let signature = header("x-webhook-signature").and_then(|text| hex(text.strip_prefix("v1=")?));
    let signed = [sent.as_bytes(), b".", body].concat();
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    hmac::verify(&key, &signed, &signature.unwrap_or_default()).map_err(|_| WebhookError::Signature)?;
    let now = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    if now.abs_diff(timestamp) > TOLERANCE.as_secs() {
        return Err(WebhookError::Stale);
    }
    let Body { kind, data } = serde_json::from_slice(body).map_err(|_| WebhookError::Body)?;
    let id = header("x-webhook-id").ok_or(WebhookError::Body)?.to_owned();
    Ok(WebhookEvent { id, timestamp, kind, data })
}

/// The bytes of lower-case hexadecimal digits.
fn hex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let pairs = text.as_bytes().chunks(2);
    pairs.map(|pair| Some(digit(pair[0])? << 4 | digit(*pair.get(1)?)?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &str = r#"{"type":"proposal_creation.succeeded","data":{"id":"42","type":"proposal","attributes":{"title":{"en":"Café & bikes"}}}}"#;
    const SECRET: &str = "8f2a1c4e6b7d90315a2f4c6e8b0d1f3a5c7e9b1d3f5a7c9e0b2d4f6a8c0e2f4a";
    const SIGNATURE: &str = "v1=85c2654024aa8ba30b9bd2fe85d551b001194ce31dfeb3d8b1e89cf42381d966";
    const AT: u64 = 1_767_225_600;

    /// Verifies the example of the contract with changes.
    fn verify(
        changed: &[(&str, Option<&'static str>)],
        body: &str,
        secret: &str,
        now: u64,
    ) -> Result<WebhookEvent, WebhookError> {
        let header = |name: &str| match changed.iter().find(|(changed, _)| *changed == name) {
            Some((_, value)) => *value,
            None => match name {
                "x-webhook-timestamp" => Some("1767225600"),
                "x-webhook-signature" => Some(SIGNATURE),
                "x-webhook-id" => Some("0b6c"),
                _ => None,
            },
        };
        verify_webhook_at(header, body.as_bytes(), secret, UNIX_EPOCH + Duration::from_secs(now))
    }

    #[test]
    fn the_example_of_the_contract_is_valid_for_five_minutes() {
        for now in [AT - 300, AT, AT + 300] {
            let event = verify(&[], BODY, SECRET, now).unwrap();
            assert_eq!((event.id.as_str(), event.timestamp), ("0b6c", AT));
            assert_eq!(
                (event.kind.as_str(), &event.data["id"]),
                ("proposal_creation.succeeded", &"42".into())
            );
        }
        for now in [AT - 301, AT + 301] {
            assert_eq!(verify(&[], BODY, SECRET, now), Err(WebhookError::Stale));
        }
    }

    #[test]
    fn a_changed_delivery_is_refused() {
        let refused =
            |changed: &[_], body: &str, secret: &str| verify(changed, body, secret, AT).unwrap_err();
        assert_eq!(refused(&[], &BODY.replace("42", "43"), SECRET), WebhookError::Signature);
        assert_eq!(refused(&[], BODY, "another"), WebhookError::Signature);
        for value in [None, Some(""), Some("v1="), Some("v1=8"), Some("v1=zz"), Some(&SIGNATURE[3..])] {
            assert_eq!(refused(&[("x-webhook-signature", value)], BODY, SECRET), WebhookError::Signature);
        }
        for value in [None, Some(""), Some("-1"), Some("1e3"), Some("99999999999999999999999")] {
            assert_eq!(refused(&[("x-webhook-timestamp", value)], BODY, SECRET), WebhookError::Timestamp);
        }
        let later = refused(&[("x-webhook-timestamp", Some("1767225601"))], BODY, SECRET);
        assert_eq!(later, WebhookError::Signature);
        assert_eq!(refused(&[("x-webhook-id", None)], BODY, SECRET), WebhookError::Body);
    }
}
