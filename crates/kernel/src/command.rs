//! A write as data: executed at once, or stored as a job and executed later, by the same use-case.

use crate::{Access, Ctx, Result};
use async_trait::async_trait;
use serde::{Serialize, de::DeserializeOwned};

/// A write. Serialized, it is the payload of a job. A clone runs again when another writer was faster.
pub trait Command: Clone + Serialize + DeserializeOwned + Send + Sync + 'static {
    /// Its name in jobs (contract 09 A.6): `draft_proposals#publish`.
    const KEY: &'static str;
    /// Its name among commands: its key, unless several share one.
    const NAME: &'static str = Self::KEY;
    /// What it asks of the caller.
    const ACCESS: Access;
    /// What the use-case answers.
    type Output: Send;
}

/// The use-case of a command: ask permission, load, decide, save.
///
/// It is built over ports, which may be on the connection pool or inside a transaction.
#[async_trait]
pub trait Handle<C: Command>: Send + Sync {
    /// What is checked before a job is accepted (contract 01 §9): the right, and what the sheet names.
    /// [`Handle::handle`] checks all of it again: time passes between the two.
    async fn check_enqueue(&self, ctx: &Ctx, command: &C) -> Result<()> {
        let _ = command;
        ctx.require(&C::ACCESS)
    }

    /// Cheap checks before the transaction begins, so that requests that must fail do not wait for the write lock.
    /// The first checks of [`Handle::handle`], in its order; `handle` repeats them.
    async fn precheck(&self, ctx: &Ctx, command: &C) -> Result<()> {
        let _ = command;
        ctx.require(&C::ACCESS)
    }

    /// Executes the command.
    async fn handle(&self, ctx: &Ctx, command: C) -> Result<C::Output>;
}
