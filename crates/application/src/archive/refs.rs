//! What refs mean: asked of the store, and kept for a while, for most lines point at the same few records.

use super::failure::Fault;
use crate::RefStore;
use civitas_kernel::{
    ClientId, ComponentId, OrganizationId, ProposalId, SpaceManifest, SpaceRef, StepId, UserId,
};
use std::collections::HashMap;
use std::hash::Hash;

/// How many meanings are kept at once: some 10 MB.
const MOST: usize = 50_000;

/// A cache that never grows past a size: full, it begins anew.
pub(super) struct Bounded<K, V>(HashMap<K, V>);

impl<K: Eq + Hash, V: Clone> Bounded<K, V> {
    pub(super) fn new() -> Self {
        Self(HashMap::new())
    }

    pub(super) fn get(&self, key: &K) -> Option<V> {
        self.0.get(key).cloned()
    }

    pub(super) fn insert(&mut self, key: K, value: V) {
        if self.0.len() >= MOST {
            self.0.clear();
        }
        self.0.insert(key, value);
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

/// The meanings of refs.
pub(super) struct Refs<'a> {
    store: &'a dyn RefStore,
    kept: Bounded<(Option<OrganizationId>, String, String), String>,
}

impl<'a> Refs<'a> {
    pub(super) fn over(store: &'a dyn RefStore) -> Self {
        Self { store, kept: Bounded::new() }
    }

    /// The id of a record seen before.
    pub(super) async fn find(
        &mut self,
        organization: Option<OrganizationId>,
        kind: &str,
        reference: &str,
    ) -> Result<Option<String>, Fault> {
        let key = (organization, kind.to_owned(), reference.to_owned());
        if let Some(id) = self.kept.get(&key) {
            return Ok(Some(id));
        }
        let found = self.store.find(organization, kind, reference).await?;
        if let Some(id) = &found {
            self.kept.insert(key, id.clone());
        }
        Ok(found)
    }

    /// Remembers a record.
    pub(super) async fn add(
        &mut self,
        organization: Option<OrganizationId>,
        kind: &str,
        reference: &str,
        id: &str,
    ) -> Result<(), Fault> {
        self.store.add(organization, kind, reference, id).await?;
        self.kept.insert((organization, kind.to_owned(), reference.to_owned()), id.to_owned());
        Ok(())
    }

    async fn id(
        &mut self,
        organization: OrganizationId,
        kind: &str,
        reference: &str,
    ) -> Result<String, Fault> {
        let found = self.find(Some(organization), kind, reference).await?;
        found.ok_or_else(|| unknown(kind, reference))
    }

    async fn number(
        &mut self,
        organization: OrganizationId,
        kind: &str,
        reference: &str,
    ) -> Result<i64, Fault> {
        let id = self.id(organization, kind, reference).await?;
        id.parse().map_err(|_| unknown(kind, reference))
    }

    /// The user of this ref.
    pub(super) async fn user(&mut self, of: OrganizationId, reference: &str) -> Result<UserId, Fault> {
        self.number(of, "user", reference).await.map(UserId)
    }

    /// The API client of this ref.
    pub(super) async fn client(&mut self, of: OrganizationId, reference: &str) -> Result<ClientId, Fault> {
        self.number(of, "api_client", reference).await.map(ClientId)
    }

    /// The space of this ref.
    pub(super) async fn space(&mut self, of: OrganizationId, reference: &str) -> Result<SpaceRef, Fault> {
        let id = self.id(of, "space", reference).await?;
        read_space(&id).ok_or_else(|| unknown("space", reference))
    }

    /// The step of this ref.
    pub(super) async fn step(&mut self, of: OrganizationId, reference: &str) -> Result<StepId, Fault> {
        self.number(of, "step", reference).await.map(StepId)
    }

    /// The component of this ref.
    pub(super) async fn component(
        &mut self,
        of: OrganizationId,
        reference: &str,
    ) -> Result<ComponentId, Fault> {
        self.number(of, "component", reference).await.map(ComponentId)
    }

    /// The proposal of this ref.
    pub(super) async fn proposal(
        &mut self,
        of: OrganizationId,
        reference: &str,
    ) -> Result<ProposalId, Fault> {
        self.number(of, "proposal", reference).await.map(ProposalId)
    }
}

/// A line points at something no earlier line and no earlier import brought.
pub(super) fn unknown(kind: &str, reference: &str) -> Fault {
    format!("{kind} {reference:?} is not known").into()
}

/// `assemblies/3`: numbers of spaces are unique per kind only.
pub(super) fn space_id(space: SpaceRef) -> String {
    format!("{}/{}", space.manifest.as_str(), space.id)
}

/// Reads what [`space_id`] wrote.
pub(super) fn read_space(id: &str) -> Option<SpaceRef> {
    let (manifest, number) = id.split_once('/')?;
    Some(SpaceRef { manifest: SpaceManifest::parse(manifest)?, id: number.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_a_space_says_its_kind() {
        for manifest in SpaceManifest::ALL {
            let space = SpaceRef { manifest, id: 3 };
            assert_eq!(read_space(&space_id(space)), Some(space));
        }
        assert_eq!(read_space("3"), None);
        assert_eq!(read_space("blogs/3"), None);
    }

    #[test]
    fn a_full_cache_begins_anew() {
        let mut cache = Bounded::new();
        for i in 0..=MOST {
            cache.insert(i, i);
        }
        assert_eq!((cache.get(&0), cache.get(&MOST)), (None, Some(MOST)));
    }
}
