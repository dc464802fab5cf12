//! Conformance tests that every [`Records`] must pass. Each is a function that fails on a violation.

use super::{Change, Entity, Records};
use crate::{Error, OrganizationId, Result};
use std::fmt::Debug;

/// A store under test, two organizations, and records to store in the first.
pub struct Samples<'a, E: Entity> {
    /// Under test, in a transaction.
    pub records: &'a dyn Records<E>,
    /// An organization.
    pub mine: OrganizationId,
    /// Another one.
    pub other: OrganizationId,
    /// Three records that can be stored together; no member has the same value in all of them.
    pub samples: [E; 3],
    /// An id that no record has.
    pub unknown: E::Id,
}

impl<'a, E: Entity> Samples<'a, E> {
    /// Samples of a store, for the first of two organizations.
    pub fn new(
        records: &'a dyn Records<E>,
        [mine, other]: [OrganizationId; 2],
        samples: impl TryInto<[E; 3], Error: Debug>,
        unknown: E::Id,
    ) -> Self {
        Self { records, mine, other, samples: samples.try_into().expect("three samples"), unknown }
    }

    async fn add_all(&self) -> Result<Vec<(E::Id, E)>> {
        let mut added = Vec::new();
        for sample in &self.samples {
            added.push((self.records.add(self.mine, sample).await?, sample.clone()));
        }
        Ok(added)
    }

    fn change(&self) -> Change<E> {
        Change::new(self.samples[0].clone(), self.samples[1].clone())
    }
}

/// A stored record and each of its changes is read back with all members.
pub async fn keeps_every_member<E: Entity>(world: Samples<'_, E>) -> Result<()> {
    let Samples { records, mine, samples: [first, second, third], .. } = &world;
    let id = records.add(*mine, first).await?;
    let mut before = first;
    for after in [first, second, third, first] {
        records.save(*mine, id, &Change::new(before.clone(), after.clone())).await?;
        assert_eq!(records.find(*mine, id).await?.as_ref(), Some(after));
        before = after;
    }
    Ok(())
}

/// Records that are stored together are read back with all members, under ids in their order. Records that cannot be
/// stored together leave nothing behind.
pub async fn adds_several_together<E: Entity>(world: Samples<'_, E>) -> Result<()> {
    let Samples { records, mine, other, samples, .. } = &world;
    let before = records.page_after(*mine, None, 1_000).await?.len();
    let Some(ids) = records.add_many(*mine, samples).await? else {
        assert_eq!(records.page_after(*mine, None, 1_000).await?.len(), before);
        return Ok(());
    };
    assert_eq!(ids.len(), samples.len());
    for (id, sample) in ids.iter().zip(samples) {
        assert_eq!(records.find(*mine, *id).await?.as_ref(), Some(sample));
        assert_eq!(records.find(*other, *id).await?, None);
    }
    let stored = records.page_after(*mine, None, 1_000).await?;
    assert_eq!(stored.len(), before + samples.len());
    let own: Vec<_> = stored.iter().map(|(id, _)| *id).filter(|id| ids.contains(id)).collect();
    assert_eq!(own, ids, "ids ascend in the order of the records");
    if records.add_many(*mine, samples).await?.is_none() {
        assert_eq!(records.page_after(*mine, None, 1_000).await?.len(), stored.len(), "all or nothing");
    }
    assert_eq!(records.add_many(*mine, &[]).await?.unwrap_or_default(), []);
    Ok(())
}

/// No organization reads or changes the records of another.
pub async fn isolates_organizations<E: Entity>(world: Samples<'_, E>) -> Result<()> {
    let Samples { records, mine, other, .. } = world;
    let id = records.add(mine, &world.samples[0]).await?;
    assert_eq!(records.find(other, id).await?, None);
    assert_eq!(records.find_for_update(other, id).await?, None);
    assert!(records.page_after(other, None, 1_000).await?.iter().all(|(found, _)| *found != id));
    let stolen = records.save(other, id, &world.change()).await;
    assert!(matches!(stolen, Err(Error::NotFound)), "{stolen:?}");
    assert_eq!(records.find(mine, id).await?.as_ref(), Some(&world.samples[0]));
    Ok(())
}

/// A missing record is neither found nor changed.
pub async fn saves_only_what_is_there<E: Entity>(world: Samples<'_, E>) -> Result<()> {
    let Samples { records, mine, unknown, .. } = world;
    assert_eq!(records.find(mine, unknown).await?, None);
    assert_eq!(records.find_for_update(mine, unknown).await?, None);
    let saved = records.save(mine, unknown, &world.change()).await;
    assert!(matches!(saved, Err(Error::NotFound)), "{saved:?}");
    Ok(())
}

/// Pages of any length together have all records, each once, in ascending order of id.
pub async fn pages_in_order_without_gaps<E: Entity>(world: Samples<'_, E>) -> Result<()> {
    let (records, mine) = (world.records, world.mine);
    let added = world.add_all().await?;
    let all = records.page_after(mine, None, 1_000).await?;
    let own: Vec<_> = all.iter().filter(|(id, _)| added.iter().any(|(own, _)| own == id)).cloned().collect();
    assert_eq!(own, added, "ids ascend in the order of creation");
    for limit in [1, 2] {
        let mut walked: Vec<(E::Id, E)> = Vec::new();
        loop {
            let page = records.page_after(mine, walked.last().map(|(id, _)| *id), limit).await?;
            assert!(i64::try_from(page.len()).is_ok_and(|length| length <= limit));
            if page.is_empty() {
                break;
            }
            walked.extend(page);
        }
        assert_eq!(walked, all, "by {limit}");
    }
    Ok(())
}

/// A locking read returns the record unchanged.
pub async fn finds_what_it_locks<E: Entity>(world: Samples<'_, E>) -> Result<()> {
    for (id, record) in world.add_all().await? {
        assert_eq!(world.records.find_for_update(world.mine, id).await?, Some(record));
    }
    Ok(())
}

/// Replaces the stored state.
///
/// # Errors
/// `NotFound` without a record; those of [`Records::save`].
pub async fn replace<E: Entity>(
    records: &dyn Records<E>,
    organization: OrganizationId,
    id: E::Id,
    after: &E,
) -> Result<()> {
    let before = records.find(organization, id).await?.ok_or(Error::NotFound)?;
    records.save(organization, id, &Change::new(before, after.clone())).await
}
