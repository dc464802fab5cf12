//! What happens to the data of a deleted account.

use civitas_kernel::{TaskPayload, UserId};
use serde::{Deserialize, Serialize};

/// The task of removing what other records have of a deleted account: its jobs, the events with its data and their
/// deliveries, its links and sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct EraseAccount {
    /// The account.
    pub user: UserId,
}

impl TaskPayload for EraseAccount {
    const KIND: &'static str = "erase_account";
}
