//! Records that a list lost a record, in the transaction of the change (contract 01 §8).

use crate::session::TransactionScope;
use civitas_application::ListChanges;
use civitas_kernel::{OrganizationId, Result, clock};

impl TransactionScope<'_> {
    /// Records that this list lost a record, or that the visibility of one changed. The time is that of the write, also
    /// for a record that an archive imports with an older time of change.
    pub(crate) async fn touch_list(&self, organization: OrganizationId, list: &str) -> Result<()> {
        self.session().touch_list(organization, list, clock::now()).await
    }
}
