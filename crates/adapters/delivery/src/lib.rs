//! Signs webhooks and sends them (contract 09 C.3 to C.5).
//!
//! [`HttpWebhookSender`] makes one attempt at a delivery. It connects to public addresses and to allowed networks only: literal
//! addresses are checked before a connection is opened, names are resolved and checked by the resolver of the HTTP
//! client, which connects to the checked addresses.
//!
//! ```
//! use civitas_delivery::sign;
//! use civitas_webhooks::SigningSecret;
//!
//! let secret = SigningSecret::new("8f2a1c4e6b7d90315a2f4c6e8b0d1f3a5c7e9b1d3f5a7c9e0b2d4f6a8c0e2f4a");
//! let signature = sign(&secret, 1_700_000_000, "{}");
//! assert_eq!(signature, "v1=866126cd2094016351a2de7128370d78bd44a022468724828c9705a8a4299590");
//! ```

mod answer;
mod failure;
mod guard;
mod request;
mod sender;
mod signature;
mod tls;

pub use request::{USER_AGENT, headers};
pub use sender::{HttpWebhookSender, Timeouts};
pub use signature::{sign, sign_standard};
pub use tls::{client_config, system_roots};
