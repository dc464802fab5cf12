//! Lists that lose something: the list is noted in the transaction of the change (contract 01 §8).

use crate::session::Atomic;
use civitas_application::ListChanges;
use civitas_kernel::{OrganizationId, Result, clock};

impl Atomic<'_> {
    /// Notes that a record left this list, or shows itself to others than before. The time is that of the write: a
    /// record brought from an archive may say that it changed long ago, and its list still changes now.
    pub(crate) async fn touch_list(&self, organization: OrganizationId, list: &str) -> Result<()> {
        let session = match self {
            Self::Own(session) => session,
            Self::Joined(session) => *session,
        };
        session.touch_list(organization, list, clock::now()).await
    }
}
