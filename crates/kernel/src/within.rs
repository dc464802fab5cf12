//! The part of an organization that a read is limited to.

use crate::{ComponentId, SpaceManifest, SpaceRef};
use serde::{Deserialize, Serialize};

/// A part of the organization to which a read is restricted (contract 06 §1.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
pub struct Within {
    /// Spaces of this kind.
    pub space_manifest: Option<SpaceManifest>,
    /// Spaces of this number, of any kind unless the kind is given.
    pub space_id: Option<i64>,
    /// This component.
    pub component: Option<ComponentId>,
}

impl Within {
    /// Whether a component in this space is in the part.
    pub fn has(&self, space: SpaceRef, component: ComponentId) -> bool {
        self.space_manifest.is_none_or(|manifest| manifest == space.manifest)
            && self.space_id.is_none_or(|id| id == space.id)
            && self.component.is_none_or(|only| only == component)
    }
}
