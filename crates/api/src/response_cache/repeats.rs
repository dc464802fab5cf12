//! Which requests are repeated, approximately, in a fixed amount of memory.

use std::sync::atomic::{AtomicU32, Ordering};

/// The number of slots. 256 KiB.
const SLOTS: usize = 1 << 16;

/// Fingerprints of the last requests, each in a slot that follows from its hash.
pub(super) struct Repeats(Box<[AtomicU32]>);

impl Repeats {
    /// Without requests.
    pub(super) fn new() -> Self {
        Self((0..SLOTS).map(|_| AtomicU32::new(0)).collect())
    }

    /// Notes a request with this hash. Whether it was noted before, and since then no other one with the same slot.
    #[expect(clippy::cast_possible_truncation, reason = "parts of a hash")]
    pub(super) fn note(&self, hash: u64) -> bool {
        let (slot, fingerprint) = (hash as usize % SLOTS, (hash >> 32) as u32);
        self.0[slot].swap(fingerprint, Ordering::Relaxed) == fingerprint
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_repeated_until_another_one_has_its_slot() {
        let repeats = Repeats::new();
        let (first, same_slot, other_slot) = (7 << 32 | 5, 8 << 32 | 5, 7 << 32 | 6);
        assert!(!repeats.note(first));
        assert!(repeats.note(first));
        assert!(!repeats.note(other_slot));
        assert!(repeats.note(first));
        assert!(!repeats.note(same_slot));
        assert!(!repeats.note(first), "another one had its slot");
    }
}
