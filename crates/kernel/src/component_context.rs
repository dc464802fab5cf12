//! The context of a record: its component and space.

use crate::{ComponentId, SpaceRef, Translated};
use time::OffsetDateTime;

/// The component of a record, with the data of it that every such record shows (contract 01 §10).
#[derive(Debug, Clone, PartialEq)]
pub struct ComponentContext {
    /// The component.
    pub component: ComponentId,
    /// Its name.
    pub name: Translated,
    /// The scope of the component, else that of its space.
    pub scope_id: Option<i64>,
    /// Its space.
    pub space: SpaceRef,
    /// The latest change of the component and of its space.
    pub changed_at: OffsetDateTime,
}

#[cfg(any(test, feature = "mocks"))]
impl ComponentContext {
    /// A component without a name, in process 1.
    pub fn for_test(component: ComponentId, changed_at: OffsetDateTime) -> Self {
        let space = SpaceRef { kind: crate::SpaceKind::ParticipatoryProcesses, id: 1 };
        Self { component, name: Translated::default(), scope_id: None, space, changed_at }
    }
}
