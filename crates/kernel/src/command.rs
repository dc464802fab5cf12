//! A write as data: executed at once, or stored as a job and executed later, by the same use case.

use crate::{Access, Ctx, Result};
use async_trait::async_trait;
use serde::{Serialize, de::DeserializeOwned};

/// A write. Serialized, it is the payload of a job. After a conflict a clone of it is executed again.
pub trait Command: Clone + Serialize + DeserializeOwned + Send + Sync + 'static {
    /// Its name in jobs (contract 09 A.6): `draft_proposals#publish`.
    const KEY: &'static str;
    /// Its name among commands: its key, unless several share one.
    const NAME: &'static str = Self::KEY;
    /// The rights it requires.
    const ACCESS: Access;
    /// The result of the use case.
    type Output: Send;
}

/// Implements [`Command`] for structs: `CreateNote: "notes#create", WRITE_NOTES => NoteDetail;` is the struct, its key,
/// the rights and the result.
#[macro_export]
macro_rules! commands {
    ($($command:ident: $key:literal, $access:expr => $output:ty;)+) => {$(
        impl $crate::Command for $command {
            const KEY: &'static str = $key;
            const ACCESS: $crate::Access = $access;
            type Output = $output;
        }
    )+};
}

/// The use case of a command: check permission, load, decide, save.
///
/// It is built over ports, which may be on the connection pool or inside a transaction.
#[async_trait]
pub trait CommandHandler<C: Command>: Send + Sync {
    /// The checks before a job is accepted (contract 01 §9): the right, and those in the sheet. [`CommandHandler::handle`]
    /// repeats them, because it runs later.
    async fn check_enqueue(&self, ctx: &Ctx, command: &C) -> Result<()> {
        let _ = command;
        ctx.require(&C::ACCESS)
    }

    /// Cheap checks before the transaction begins, so that requests that must fail do not wait for the write lock.
    /// The first checks of [`CommandHandler::handle`], in its order; `handle` repeats them.
    async fn precheck(&self, ctx: &Ctx, command: &C) -> Result<()> {
        let _ = command;
        ctx.require(&C::ACCESS)
    }

    /// Executes the command.
    async fn handle(&self, ctx: &Ctx, command: C) -> Result<C::Output>;
}
