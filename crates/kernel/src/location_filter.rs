//! The part of an organization that a read is limited to.

use crate::{ComponentId, SpaceKind, SpaceRef};
use serde::{Deserialize, Serialize};

/// A part of the organization to which a read is restricted (contract 06 §1.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
pub struct LocationFilter {
    /// Spaces of this kind: `space_manifest` in stored commands.
    #[serde(rename = "space_manifest")]
    pub space_kind: Option<SpaceKind>,
    /// Spaces of this number, of any kind unless the kind is given.
    pub space_id: Option<i64>,
    /// This component.
    pub component: Option<ComponentId>,
}

impl LocationFilter {
    /// Whether a component in this space is in the part.
    pub fn includes(&self, space: SpaceRef, component: ComponentId) -> bool {
        self.space_kind.is_none_or(|kind| kind == space.kind)
            && self.space_id.is_none_or(|id| id == space.id)
            && self.component.is_none_or(|only| only == component)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_commands_name_the_kind_of_a_space_as_always() {
        let space = SpaceRef { kind: SpaceKind::Assemblies, id: 3 };
        let within =
            LocationFilter { space_kind: Some(space.kind), space_id: Some(space.id), component: None };
        assert_eq!(serde_json::to_string(&space).unwrap(), r#"{"manifest":"assemblies","id":3}"#);
        let stored = r#"{"space_manifest":"assemblies","space_id":3,"component":null}"#;
        assert_eq!(serde_json::to_string(&within).unwrap(), stored);
    }
}
