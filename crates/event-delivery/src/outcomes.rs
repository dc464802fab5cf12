//! What follows from a delivery and from its attempts.

use civitas_kernel::sortable_id;
use civitas_webhooks::{
    DeliveryOutcome, DeliveryVerdict, DueDelivery, RegistrationHealth, WebhookTarget, is_gone,
};

/// Why a delivery is not sent any more (contract 09 C.4).
pub(super) fn reason_to_drop(target: &WebhookTarget, delivery: &DueDelivery) -> Option<&'static str> {
    if delivery.is_test {
        None
    } else if !target.registration.subscriptions.contains(&delivery.name) {
        Some("the registration is no longer subscribed to the event")
    } else if !target.rights.may_receive(delivery.name) {
        Some("the client no longer has the event permission")
    } else {
        None
    }
}

/// Records the outcomes in the health of their registration.
pub(super) fn record_health(health: &mut RegistrationHealth, outcomes: &[DeliveryOutcome]) {
    for outcome in outcomes {
        if let Some(attempt) = &outcome.attempt {
            match outcome.verdict {
                DeliveryVerdict::Delivered => health.succeed(attempt.at),
                _ => health.fail(attempt.at, is_gone(attempt)),
            }
        }
    }
}

/// A random number between -1.0 and 1.0.
pub(super) fn jitter() -> f64 {
    let random = sortable_id().as_bytes()[15];
    f64::from(random) / 127.5 - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_vary_within_their_limits() {
        let values: Vec<f64> = (0..1_000).map(|_| jitter()).collect();
        assert!(values.iter().all(|value| (-1.0..=1.0).contains(value)));
        assert!(values.iter().any(|value| *value > 0.5) && values.iter().any(|value| *value < -0.5));
    }
}
