//! How fast one event goes to many registrations at one host: a write must not become a flood of requests to somebody else.

use civitas_application::{KeyedLimit, ShareHolder};
use governor::Quota;
use std::hash::{BuildHasher, RandomState};
use std::num::NonZeroU32;
use std::time::Duration;
use uuid::Uuid;

/// How many registrations of one client at one host get an event at once.
const AT_ONCE: NonZeroU32 = NonZeroU32::new(20).unwrap();
/// How many further ones of all clients of an organization get one of its events within a second, at one host.
const FURTHER: NonZeroU32 = NonZeroU32::new(50).unwrap();

/// Limits the copies of events. A receiver of few registrations is not limited; those of different organizations never wait
/// for each other.
pub(super) struct FanOutLimit {
    copies: KeyedLimit<u64>,
    further: KeyedLimit<u64>,
    /// Keys are hashes: they are small, and a client cannot choose two that are equal.
    hasher: RandomState,
}

impl FanOutLimit {
    pub(super) fn new() -> Self {
        Self {
            copies: KeyedLimit::new(Quota::per_minute(AT_ONCE)),
            further: KeyedLimit::new(Quota::per_second(FURTHER)),
            hasher: RandomState::new(),
        }
    }

    /// Counts a copy of this event to this host. How long to wait if there are too many; then it is not counted.
    pub(super) fn take(
        &self,
        host: &str,
        holder: ShareHolder<'_>,
        event: Option<Uuid>,
    ) -> Result<(), Duration> {
        let ShareHolder { organization, client, .. } = holder;
        if self.copies.consume(&self.hasher.hash_one((host, client, event))).is_ok() {
            return Ok(());
        }
        self.further.consume(&self.hasher.hash_one((host, organization))).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use civitas_kernel::{ClientId, OrganizationId};

    fn holder(organization: i64, client: i64) -> ShareHolder<'static> {
        ShareHolder {
            organization: OrganizationId(organization),
            client: Some(ClientId(client)),
            record: None,
        }
    }

    #[test]
    fn the_copies_of_an_event_to_one_host_are_limited_and_others_go_on() {
        let limit = FanOutLimit::new();
        let (host, event) = ("hooks.example", Some(Uuid::from_u128(1)));
        let bad = holder(1, 1);
        let taken = (0..1_500).filter(|_| limit.take(host, bad, event).is_ok()).count();
        assert!((70..300).contains(&taken), "{taken}");
        let wait = limit.take(host, bad, event).unwrap_err();
        assert!(wait <= Duration::from_millis(20), "{wait:?}");
        for other in [holder(1, 2), holder(2, 3)] {
            (0..20).for_each(|_| limit.take(host, other, event).unwrap());
        }
        (0..20).for_each(|_| limit.take("other.example", bad, event).unwrap());
        (0..70).for_each(|_| limit.take(host, holder(2, 3), None).unwrap());
    }

    #[test]
    fn one_registration_is_not_limited() {
        let limit = FanOutLimit::new();
        (0..10_000)
            .for_each(|n| limit.take("hooks.example", holder(1, 1), Some(Uuid::from_u128(n))).unwrap());
    }
}
