//! The headers of a request (contract 09 C.3).

use crate::{sign, sign_standard};
use civitas_webhooks::SignedRequest;

/// The value of `User-Agent`.
pub const USER_AGENT: &str = "civitas-webhook/1";

/// The headers of an attempt. The HTTP client adds `Host` and `Content-Length`. The last three are those of Standard
/// Webhooks.
pub fn headers(message: &SignedRequest<'_>) -> [(&'static str, String); 9] {
    let SignedRequest { secret, id, body, .. } = *message;
    let timestamp = message.at.unix_timestamp();
    [
        ("Accept", "*/*".to_owned()),
        ("Content-Type", "application/json".to_owned()),
        ("User-Agent", USER_AGENT.to_owned()),
        ("X-Webhook-Timestamp", timestamp.to_string()),
        ("X-Webhook-Signature", sign(secret, timestamp, body)),
        ("X-Webhook-Id", id.to_string()),
        ("Webhook-Id", id.to_string()),
        ("Webhook-Timestamp", timestamp.to_string()),
        ("Webhook-Signature", sign_standard(secret, id, timestamp, body)),
    ]
}
