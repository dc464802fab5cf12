//! Deletes an organization with everything in it. The caller checks permission. Nobody finds it any more after the
//! transaction; its rows are deleted later, in batches ([`crate::RemovalStore`]).

use crate::{EventCommitter, Transaction};
use civitas_kernel::{Ability, Error, Event, OrganizationId, Result, Subject};
use time::OffsetDateTime;

/// Deletes an organization and everything that belongs to it, and records the event with its last state (contract 09
/// C.1).
///
/// # Errors
/// `NotFound`.
pub async fn remove_organization(
    tx: &dyn Transaction,
    committer: &EventCommitter,
    id: OrganizationId,
    now: OffsetDateTime,
) -> Result<()> {
    let deleted = Event { name: Ability::OrganizationDeleted, subject: Subject::Organization(id) };
    tx.organizations().find_for_update(id).await?.ok_or(Error::NotFound)?;
    committer.render_events(tx, vec![(id, deleted)], now).await?;
    tx.removals().remove_organization(id).await
}
