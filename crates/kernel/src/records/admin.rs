//! The one way to change records: lock, edit, check, save.

use super::{Change, Entity, Records};
use crate::{Error, OrganizationId, Result};
use async_trait::async_trait;
use time::OffsetDateTime;

/// Writes the records of a kind by its rules. The caller checks permission.
///
/// An implementation gives the store and the rules; `create` and `change` are the same for all kinds. Use the stores of a
/// transaction: checks, write and consequences belong together.
#[async_trait]
pub trait RecordAdmin<E: Entity>: Send + Sync {
    /// The store.
    fn records(&self) -> &dyn Records<E>;

    /// Checks a state before it is stored, and writes what must be written before it. `before` is the id and the state
    /// it replaces; `None`: the record is new.
    ///
    /// # Errors
    /// Those of the rules.
    async fn prepare(
        &self,
        _organization: OrganizationId,
        _before: Option<(E::Id, &E)>,
        _after: &E,
    ) -> Result<()> {
        Ok(())
    }

    /// Writes what follows from a state that was stored.
    ///
    /// # Errors
    /// Those of the stores.
    async fn follow_up(
        &self,
        _organization: OrganizationId,
        _id: E::Id,
        _before: Option<&E>,
        _after: &E,
    ) -> Result<()> {
        Ok(())
    }

    /// Stores a new record.
    ///
    /// # Errors
    /// Those of the rules and of [`Records::add`].
    async fn create(&self, organization: OrganizationId, record: &E) -> Result<E::Id> {
        self.prepare(organization, None, record).await?;
        let id = self.records().add(organization, record).await?;
        self.follow_up(organization, id, None, record).await?;
        Ok(id)
    }

    /// Stores a change. An empty one is neither checked nor stored.
    ///
    /// # Errors
    /// Those of the rules and of [`Records::save`].
    async fn change(&self, organization: OrganizationId, id: E::Id, change: &Change<E>) -> Result<()> {
        if change.is_empty() {
            return Ok(());
        }
        let Change { before, after } = change;
        self.prepare(organization, Some((id, before)), after).await?;
        self.records().save(organization, id, change).await?;
        self.follow_up(organization, id, Some(before), after).await
    }
}

/// Records of a kind without rules.
pub struct Plain<'a, E>(pub &'a dyn Records<E>);

impl<E: Entity> RecordAdmin<E> for Plain<'_, E> {
    fn records(&self) -> &dyn Records<E> {
        self.0
    }
}

/// Changes a record under its lock, at `now`, and returns its new state.
///
/// # Errors
/// Those of [`find_for_update`] and of [`RecordAdmin::change`].
pub async fn edit<E: Entity>(
    admin: &impl RecordAdmin<E>,
    organization: OrganizationId,
    id: E::Id,
    now: OffsetDateTime,
    edit: impl FnOnce(&mut E) + Send,
) -> Result<E> {
    let before = find_for_update(admin.records(), organization, id).await?;
    let change = Change::of(before, now, edit);
    admin.change(organization, id, &change).await?;
    Ok(change.after)
}

/// The record, locked until the transaction ends.
///
/// # Errors
/// `NotFound` when it is not there or deleted; `Internal` outside a transaction.
pub async fn find_for_update<E: Entity>(
    records: &dyn Records<E>,
    organization: OrganizationId,
    id: E::Id,
) -> Result<E> {
    let found = records.find_for_update(organization, id).await?;
    found.filter(|record| !record.is_deleted()).ok_or(Error::NotFound)
}
