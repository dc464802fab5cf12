//! The keys of writes that this process executes now.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The idempotency keys of writes that this process executes now, as digests.
#[derive(Default)]
pub(crate) struct RunningKeys(Mutex<HashSet<String>>);

impl RunningKeys {
    /// The keys, locked.
    pub(crate) fn lock(&self) -> MutexGuard<'_, HashSet<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
