//! The right to write, which one caller has at a time.

use std::ops::{Deref, DerefMut};
use std::pin::pin;
use std::sync::Arc;
use tokio::sync::{Mutex, Notify, OwnedMutexGuard};

/// The right to write, and what the current writer uses.
#[derive(Default)]
pub(super) struct Lock<T> {
    state: Arc<Mutex<T>>,
    /// Notified each time the right is given back.
    freed: Notify,
}

impl<T> Lock<T> {
    /// Takes it, if nobody has it.
    pub(super) fn try_take(self: &Arc<Self>) -> Option<LockGuard<T>> {
        let state = self.state.clone().try_lock_owned().ok()?;
        Some(LockGuard { state, lock: Freed(self.clone()) })
    }

    /// Waits for it. It is never reserved for a caller that waits.
    pub(super) async fn take(self: &Arc<Self>) -> LockGuard<T> {
        loop {
            let mut freed = pin!(self.freed.notified());
            freed.as_mut().enable();
            if let Some(held) = self.try_take() {
                return held;
            }
            freed.await;
        }
    }
}

/// The right to write, until it is dropped.
pub(super) struct LockGuard<T> {
    state: OwnedMutexGuard<T>,
    /// Dropped after the guard.
    lock: Freed<T>,
}

/// Wakes those that wait, when it is dropped.
struct Freed<T>(Arc<Lock<T>>);

impl<T> Drop for Freed<T> {
    fn drop(&mut self) {
        self.0.freed.notify_waiters();
    }
}

impl<T> LockGuard<T> {
    /// The lock that is held.
    pub(super) fn lock(&self) -> Arc<Lock<T>> {
        self.lock.0.clone()
    }
}

impl<T> Deref for LockGuard<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.state
    }
}

impl<T> DerefMut for LockGuard<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.state
    }
}
