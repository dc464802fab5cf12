//! When the next attempt at a delivery follows (contract 09 C.4).

use crate::{DeliveryAttempt, DeliveryVerdict};
use std::time::Duration;
use time::OffsetDateTime;

/// The longest delay that a receiver can ask for.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(24 * 60 * 60);

/// The delays between the attempts at a delivery. There is one attempt more than delays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetrySchedule(pub Vec<Duration>);

impl Default for RetrySchedule {
    /// `5, 60, 300, 1800, 7200, 21600, 86400` seconds.
    fn default() -> Self {
        Self([5, 60, 300, 1800, 7200, 21_600, 86_400].map(Duration::from_secs).to_vec())
    }
}

impl RetrySchedule {
    /// What follows from an attempt. `number`: of the attempt since the last replay; the first is 1. `jitter`: -1.0 to
    /// 1.0, the part of the 10 % by which the delay varies. `Retry-After` of a 429 or 503 lengthens the delay, up to
    /// 24 h. After a 410 no attempt follows.
    pub fn decide(
        &self,
        number: i64,
        attempt: &DeliveryAttempt,
        now: OffsetDateTime,
        jitter: f64,
    ) -> DeliveryVerdict {
        let asked = match &attempt.result {
            Ok(response) if response.is_success() => return DeliveryVerdict::Delivered,
            Ok(response) if response.status == 410 => return DeliveryVerdict::Dead("410 Gone".into()),
            Ok(response) if matches!(response.status, 429 | 503) => response.retry_after,
            _ => None,
        };
        let index = usize::try_from(number - 1).unwrap_or(usize::MAX);
        let Some(delay) = self.0.get(index) else {
            return DeliveryVerdict::Dead("the last attempt failed".into());
        };
        let varied = delay.mul_f64(1.0 + jitter.clamp(-1.0, 1.0) / 10.0);
        DeliveryVerdict::Retry(now + varied.max(asked.unwrap_or_default().min(MAX_RETRY_AFTER)))
    }
}

/// Whether the receiver wants no more deliveries.
pub fn is_gone(attempt: &DeliveryAttempt) -> bool {
    attempt.result.as_ref().is_ok_and(|response| response.status == 410)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ReceiverResponse, SendError, SendErrorKind};
    use time::macros::datetime;

    const NOW: OffsetDateTime = datetime!(2026-03-01 09:30 UTC);

    fn answered(status: u16, retry_after: Option<u64>) -> DeliveryAttempt {
        let retry_after = retry_after.map(Duration::from_secs);
        let result = Ok(ReceiverResponse { status, retry_after, body: String::new() });
        DeliveryAttempt { number: 1, at: NOW, duration: Duration::ZERO, result }
    }

    fn failed(kind: SendErrorKind) -> DeliveryAttempt {
        let result = Err(SendError { kind, cause: String::new() });
        DeliveryAttempt { number: 1, at: NOW, duration: Duration::ZERO, result }
    }

    fn after(seconds: u64) -> DeliveryVerdict {
        DeliveryVerdict::Retry(NOW + Duration::from_secs(seconds))
    }

    #[test]
    fn only_200_to_299_are_a_success() {
        let schedule = RetrySchedule::default();
        for status in [200, 204, 299] {
            assert_eq!(
                schedule.decide(1, &answered(status, None), NOW, 0.0),
                DeliveryVerdict::Delivered,
                "{status}"
            );
        }
        for status in [100, 199, 300, 301, 304, 400, 404, 500] {
            assert_eq!(schedule.decide(1, &answered(status, None), NOW, 0.0), after(5), "{status}");
        }
    }

    #[test]
    fn eight_attempts_follow_the_delays_and_then_it_is_dead() {
        let schedule = RetrySchedule::default();
        let attempt = failed(SendErrorKind::Timeout);
        for (number, delay) in (1..).zip([5, 60, 300, 1800, 7200, 21_600, 86_400]) {
            assert_eq!(schedule.decide(number, &attempt, NOW, 0.0), after(delay));
        }
        assert!(matches!(schedule.decide(8, &attempt, NOW, 0.0), DeliveryVerdict::Dead(_)));
    }

    #[test]
    fn a_delay_varies_by_a_tenth() {
        let schedule = RetrySchedule::default();
        let attempt = failed(SendErrorKind::Connection);
        assert_eq!(schedule.decide(2, &attempt, NOW, 1.0), after(66));
        assert_eq!(schedule.decide(2, &attempt, NOW, -1.0), after(54));
        assert_eq!(schedule.decide(2, &attempt, NOW, 9.0), after(66));
    }

    #[test]
    fn retry_after_lengthens_the_delay_up_to_a_day() {
        let schedule = RetrySchedule::default();
        let next = |attempt: &DeliveryAttempt| schedule.decide(1, attempt, NOW, 0.0);
        assert_eq!(next(&answered(503, Some(120))), after(120));
        assert_eq!(next(&answered(429, Some(1))), after(5), "it shortens none");
        assert_eq!(next(&answered(429, Some(1_000_000))), after(86_400));
        assert_eq!(next(&answered(500, Some(120))), after(5), "only of 429 and 503");
    }

    #[test]
    fn after_a_410_no_attempt_follows() {
        assert!(is_gone(&answered(410, None)) && !is_gone(&answered(404, None)));
        assert_eq!(
            RetrySchedule::default().decide(1, &answered(410, None), NOW, 0.0),
            DeliveryVerdict::Dead("410 Gone".into())
        );
    }
}
