//! Webhooks: the outbox of events, registrations of receivers, deliveries and their retries (contract 09 B to D).
//!
//! ```
//! use civitas_kernel::Ability;
//! use civitas_webhooks::envelope;
//!
//! let body = envelope(Ability::ProposalCreation, &serde_json::json!({"id": "42"}));
//! assert_eq!(body, r#"{"type":"proposal_creation.succeeded","data":{"id":"42"}}"#);
//! ```

#[cfg(feature = "conformance")]
pub mod conformance;
mod delivery;
mod event;
mod log;
mod ports;
mod registration;
mod schedule;
mod secret;
mod service;
mod target;

pub use delivery::{
    DeliveryAttempt, DeliveryContent, DeliveryId, DeliveryOutcome, DeliveryStatus, DeliveryVerdict,
    DueDelivery, LoggedDelivery, NewDelivery, ReceiverResponse, SendError, SendErrorKind,
};
pub use event::{
    EventHead, EventPosition, EventSwitches, OutboxEvent, ReceiverRights, RelayedEvent, describes_user,
    envelope, is_of_system, parse_event,
};
pub use log::{
    DeliveryFigures, DeliveryFilter, RegistrationFilter, RegistrationReport, RegistrationState,
    ReplaySelection,
};
pub use ports::*;
pub use registration::{
    EventReceiver, FAILING_TO_DISABLE, FAILURES_TO_DISABLE, Registration, RegistrationHealth,
};
pub use schedule::{RetrySchedule, is_gone};
#[cfg(any(test, feature = "mocks"))]
pub use secret::MockSecretCipher;
pub use secret::{SealedSecret, SecretCipher, SigningSecret};
pub use service::{
    CheckedRegistration, DESTROY_WEBHOOKS, NewRegistration, READ_WEBHOOKS, RegistrationChecks,
    RegistrationOwner, RegistrationRules, Registrations, SentRegistration, WRITE_WEBHOOKS, events_to_stream,
    rights_of, too_many_registrations_error, url_taken_error,
};
pub use target::{TargetError, TargetPolicy, has_public_name, is_public};
