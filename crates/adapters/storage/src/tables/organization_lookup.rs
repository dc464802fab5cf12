//! The settings of organizations that accounts use.

use super::organizations::hosts::CONFIRMED;
use crate::columns::JsonColumn;
use crate::schema::{organization_hosts, organizations};
use crate::session::{LoadRowsExt, Session};
use async_trait::async_trait;
use civitas_accounts::{AccountSettings, OrganizationLookup};
use civitas_kernel::{OrganizationId, Result};
use diesel::prelude::*;

#[async_trait]
impl OrganizationLookup for Session {
    async fn find(&self, organization: OrganizationId) -> Result<Option<AccountSettings>> {
        let found: Option<(bool, JsonColumn<Vec<String>>)> = organizations::table
            .find(organization.0)
            .filter(organizations::deleted_at.is_null())
            .select((organizations::send_welcome_notification, organizations::external_domain_allowlist))
            .first_from(self.read())
            .await?;
        let Some((welcomes, allowlist)) = found else { return Ok(None) };
        let mut destinations: Vec<String> = organization_hosts::table
            .filter(organization_hosts::organization_id.eq(organization.0))
            .filter(organization_hosts::state.eq(CONFIRMED))
            .order((organization_hosts::kind, organization_hosts::position))
            .select(organization_hosts::host)
            .rows_from(self.read())
            .await?;
        destinations.extend(allowlist.0);
        Ok(Some(AccountSettings { welcomes, destinations }))
    }
}
