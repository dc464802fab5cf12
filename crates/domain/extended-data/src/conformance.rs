//! Conformance tests: what every implementation of the port must pass. Each is a function that fails on a violation.

use crate::{ExtendedDataOwner, ExtendedDataStore, StoredExtendedData};
use civitas_kernel::{Error, OrganizationId, ReadContext, Result, Viewer, conformance_world};
use serde_json::{Map, json};
use time::macros::datetime;
use time::{Duration, OffsetDateTime};

conformance_world! {
    /// A store, and existing records of every kind.
    pub struct World {
        ports(store: ExtendedDataStore)
        /// Visible records of the first, of several kinds, including the organization itself.
        owners: Vec<ExtendedDataOwner>,
        /// Records of the first that an anonymous viewer cannot see.
        unseen: Vec<ExtendedDataOwner>,
    }
}

const NOW: OffsetDateTime = datetime!(2026-03-01 09:30:00.123456 UTC);

fn public(organization: OrganizationId) -> ReadContext {
    ReadContext { organization, viewer: Viewer::Public, participant: None }
}

fn stored_data(n: i64) -> StoredExtendedData {
    let data = json!({"n": n, "é": [null, {"x": 1.5}]});
    StoredExtendedData {
        data: data.as_object().cloned().unwrap_or_default(),
        updated_at: NOW + Duration::seconds(n),
    }
}

/// The data saved for a record is read back with the time of the change, and other records do not change.
pub async fn keeps_the_data_of_each_record(world: World<'_>) -> Result<()> {
    for (owner, n) in world.owners.iter().zip(0_i64..) {
        world.store.save(world.mine, *owner, &stored_data(n)).await?;
    }
    for (owner, n) in world.owners.iter().zip(0_i64..) {
        assert_eq!(world.store.find(public(world.mine), *owner).await?, Some(stored_data(n)), "{owner:?}");
    }
    Ok(())
}

/// A record is found and written in its own organization only.
pub async fn isolates_organizations(world: World<'_>) -> Result<()> {
    for owner in &world.owners {
        assert_eq!(world.store.find(public(world.other), *owner).await?, None, "{owner:?}");
        let empty = StoredExtendedData { data: Map::new(), updated_at: NOW };
        let written = world.store.save(world.other, *owner, &empty).await;
        assert!(matches!(written, Err(Error::NotFound)), "{owner:?}: {written:?}");
    }
    Ok(())
}

/// The data of an invisible record is not found.
pub async fn hides_what_is_not_visible(world: World<'_>) -> Result<()> {
    assert!(!world.unseen.is_empty());
    for owner in &world.unseen {
        assert_eq!(world.store.find(public(world.mine), *owner).await?, None, "{owner:?}");
    }
    Ok(())
}

/// An administrator finds the data of visible and invisible records, of their own organization only.
pub async fn finds_the_data_of_any_record(world: World<'_>) -> Result<()> {
    for owner in world.owners.iter().chain(&world.unseen) {
        let found = world.store.find_unrestricted(world.mine, *owner).await?;
        assert!(found.is_some(), "{owner:?}");
        assert_eq!(world.store.find_unrestricted_for_update(world.mine, *owner).await?, found, "{owner:?}");
        assert_eq!(world.store.find_unrestricted(world.other, *owner).await?, None, "{owner:?}");
        assert_eq!(world.store.find_unrestricted_for_update(world.other, *owner).await?, None, "{owner:?}");
    }
    for owner in &world.unseen {
        world.store.save(world.mine, *owner, &stored_data(7)).await?;
        assert_eq!(
            world.store.find_unrestricted(world.mine, *owner).await?,
            Some(stored_data(7)),
            "{owner:?}"
        );
    }
    Ok(())
}
