//! The right to write, which one caller has at a time.

use std::ops::{Deref, DerefMut};
use std::pin::pin;
use std::sync::Arc;
use tokio::sync::{Mutex, Notify, OwnedMutexGuard};

/// The right to write, and what the current writer uses.
#[derive(Default)]
pub(super) struct WriteLock<T> {
    state: Arc<Mutex<T>>,
    /// Notified each time the right is given back.
    freed: Notify,
}

impl<T> WriteLock<T> {
    /// Takes it, if nobody has it.
    pub(super) fn try_acquire(self: &Arc<Self>) -> Option<WriteLockGuard<T>> {
        let state = self.state.clone().try_lock_owned().ok()?;
        Some(WriteLockGuard { state, lock: UnlockOnDrop(self.clone()) })
    }

    /// Waits for it. It is never reserved for a caller that waits.
    pub(super) async fn acquire(self: &Arc<Self>) -> WriteLockGuard<T> {
        loop {
            let mut freed = pin!(self.freed.notified());
            freed.as_mut().enable();
            if let Some(held) = self.try_acquire() {
                return held;
            }
            freed.await;
        }
    }
}

/// The right to write, until it is dropped.
pub(super) struct WriteLockGuard<T> {
    state: OwnedMutexGuard<T>,
    /// Dropped after the guard.
    lock: UnlockOnDrop<T>,
}

/// Wakes those that wait, when it is dropped.
struct UnlockOnDrop<T>(Arc<WriteLock<T>>);

impl<T> Drop for UnlockOnDrop<T> {
    fn drop(&mut self) {
        self.0.freed.notify_waiters();
    }
}

impl<T> WriteLockGuard<T> {
    /// The lock that is held.
    pub(super) fn lock(&self) -> Arc<WriteLock<T>> {
        self.lock.0.clone()
    }
}

impl<T> Deref for WriteLockGuard<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.state
    }
}

impl<T> DerefMut for WriteLockGuard<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.state
    }
}
