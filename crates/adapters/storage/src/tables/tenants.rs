//! The organizations that requests and jobs are for, with what most of them need.

use super::organizations::hosts::{CONFIRMED, PRIMARY, PROMOTED, SECONDARY};
use crate::columns::{self, ColumnValue, EnumColumn, JsonColumn};
use crate::engine::Db;
use crate::schema::{organization_hosts, organizations};
use crate::session::{LoadRowsExt, Session};
use civitas_kernel::{Locale, Locales, OrganizationId, Result, TimeZone, Translated};
use civitas_organizations::{Features, HostMatch, MoveState, Tenant};
use diesel::prelude::*;

#[derive(Queryable, Selectable)]
#[diesel(table_name = organizations, check_for_backend(Db))]
struct TenantRow {
    id: i64,
    name: JsonColumn<Translated>,
    default_locale: EnumColumn<Locale>,
    available_locales: String,
    features: JsonColumn<Features>,
    comments_max_length: i64,
    reference_prefix: String,
    max_attachment_bytes: i64,
    time_zone: String,
    move_state: Option<EnumColumn<MoveState>>,
}

impl TenantRow {
    fn with_host(self, host: String) -> Tenant {
        Tenant {
            id: OrganizationId(self.id),
            host,
            name: self.name.0,
            default_locale: self.default_locale.0,
            available_locales: Locales::from_column(self.available_locales),
            features: self.features.0,
            comments_max_length: self.comments_max_length,
            reference_prefix: self.reference_prefix,
            max_attachment_bytes: self.max_attachment_bytes,
            time_zone: TimeZone::from_name(&self.time_zone),
            move_state: self.move_state.map(|state| state.0),
        }
    }
}

impl Session {
    /// The meaning of a confirmed host.
    pub(super) async fn find_host(&self, host: &str) -> Result<Option<HostMatch>> {
        let found: Option<(String, TenantRow)> = organization_hosts::table
            .inner_join(organizations::table)
            .filter(organization_hosts::host.eq(host))
            .filter(organization_hosts::state.eq(CONFIRMED))
            .select((organization_hosts::kind, columns::all_columns::<TenantRow>()))
            .first_from(self.read())
            .await?;
        Ok(match found {
            Some((kind, row)) if kind == PRIMARY => Some(HostMatch::Primary(row.with_host(host.to_owned()))),
            Some((kind, row)) if kind == SECONDARY || kind == PROMOTED => {
                let tenant = self.find_tenant(OrganizationId(row.id)).await?;
                tenant.map(|tenant| HostMatch::Secondary { primary: tenant.host })
            }
            _ => None,
        })
    }

    /// An organization with its primary host.
    pub(super) async fn find_tenant(&self, id: OrganizationId) -> Result<Option<Tenant>> {
        let found: Option<(String, TenantRow)> = organization_hosts::table
            .inner_join(organizations::table)
            .filter(organization_hosts::organization_id.eq(id.0))
            .filter(organization_hosts::kind.eq(PRIMARY))
            .select((organization_hosts::host, columns::all_columns::<TenantRow>()))
            .first_from(self.read())
            .await?;
        Ok(found.map(|(host, row)| row.with_host(host)))
    }
}
