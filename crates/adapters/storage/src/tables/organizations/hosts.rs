//! The hosts of organizations.

use crate::engine::Db;
use crate::schema::{organization_hosts, organizations};
use crate::session::{ExecuteExt, LoadRowsExt, TransactionScope};
use civitas_kernel::records::Entity;
use civitas_kernel::{OrganizationId, Result, clock};
use civitas_organizations::Organization;
use diesel::prelude::*;
use diesel::query_dsl::methods::FilterDsl;

pub(in crate::tables) const PRIMARY: &str = "primary";
pub(in crate::tables) const SECONDARY: &str = "secondary";
pub(in crate::tables) const UNCONFIRMED: &str = "unconfirmed";
/// A pending primary host.
pub(in crate::tables) const PROMOTED: &str = "promoted";

/// The state of a host that was found by its check, or entered by an operator.
pub(in crate::tables) const CONFIRMED: &str = "confirmed";
/// The state of a host that is checked.
pub(super) const PENDING: &str = "pending";
/// The state of a host whose checks have ended without success: another organization may take it.
pub(super) const FAILED: &str = "failed";

#[derive(Queryable, Selectable, Insertable, AsChangeset, Clone, PartialEq)]
#[diesel(table_name = organization_hosts, primary_key(host), check_for_backend(Db), treat_none_as_default_value = false)]
pub(super) struct HostRow {
    pub(super) host: String,
    pub(super) organization_id: i64,
    pub(super) kind: String,
    position: i64,
    pub(super) state: String,
}

/// All hosts of an organization, in their order.
pub(super) fn hosts_of(id: OrganizationId, organization: &Organization) -> Vec<HostRow> {
    let primary = [(&organization.host, PRIMARY)];
    let pending = organization.unconfirmed_host.as_ref();
    let kind = |host| if pending == Some(host) { PROMOTED } else { SECONDARY };
    let secondary = organization.secondary_hosts.iter().map(|host| (host, kind(host)));
    let is_other = |host: &&String| !organization.secondary_hosts.contains(host);
    let unconfirmed = pending.into_iter().filter(is_other).map(|host| (host, UNCONFIRMED));
    let state = |host, kind| {
        let is_pending = kind == UNCONFIRMED || organization.unconfirmed_secondary_hosts.contains(host);
        if is_pending { PENDING } else { CONFIRMED }
    };
    let all = primary.into_iter().chain(secondary).chain(unconfirmed);
    all.zip(0..)
        .map(|((host, kind), position)| HostRow {
            host: host.clone(),
            organization_id: id.0,
            kind: kind.to_owned(),
            position,
            state: state(host, kind).to_owned(),
        })
        .collect()
}

/// Writes the hosts of an organization that has none. Those that others have released are taken from them: their
/// organizations change.
pub(super) async fn write_hosts(atomic: &TransactionScope<'_>, hosts: &[HostRow]) -> Result<()> {
    let released = organization_hosts::host
        .eq_any(hosts.iter().map(|host| &host.host))
        .and(organization_hosts::state.eq(FAILED));
    let former: Vec<i64> = QueryDsl::filter(organization_hosts::table, released)
        .select(organization_hosts::organization_id)
        .rows_from(atomic.connection())
        .await?;
    if !former.is_empty() {
        diesel::update(QueryDsl::filter(organizations::table, organizations::id.eq_any(former)))
            .set(organizations::updated_at.eq(clock::now()))
            .run_on(atomic.connection())
            .await?;
    }
    for host in hosts {
        let written = diesel::insert_into(organization_hosts::table)
            .values(host)
            .on_conflict(organization_hosts::host)
            .do_update()
            .set(host)
            .filter(organization_hosts::state.eq(FAILED))
            .run_on(atomic.connection())
            .await?;
        if written == 0 {
            return Err(Organization::key_taken_error()); // a moment ago, or twice in the list
        }
    }
    Ok(())
}
