//! A component of a space.

use crate::ComponentKind;
use civitas_kernel::extended_data::ExtendedDataValue;
use civitas_kernel::records::{Entity, SearchTexts};
use civitas_kernel::{ComponentId, SpaceRef, StepId, Translated};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use time::OffsetDateTime;

/// A component.
#[derive(Debug, Clone, PartialEq)]
pub struct Component {
    /// The space it belongs to.
    pub space: SpaceRef,
    /// Its kind.
    pub kind: ComponentKind,
    /// Its name.
    pub name: Translated,
    /// When it was published; `None` while it is not.
    pub published_at: Option<OffsetDateTime>,
    /// Its position in the space: lighter first.
    pub weight: i64,
    /// Global settings; an absent one has its default.
    pub settings: Map<String, Value>,
    /// Step settings without an active step.
    pub default_step_settings: Map<String, Value>,
    /// Step settings by step.
    pub step_settings: BTreeMap<StepId, Map<String, Value>>,
    /// The number of its scope of action.
    pub scope_id: Option<i64>,
    /// When it was deleted.
    pub deleted_at: Option<OffsetDateTime>,
    /// Free data of clients.
    pub extended_data: ExtendedDataValue,
    /// When it was created.
    pub created_at: OffsetDateTime,
    /// When it was last changed.
    pub updated_at: OffsetDateTime,
}

impl Component {
    /// A new, unpublished component.
    pub fn new(space: SpaceRef, kind: ComponentKind, name: Translated, now: OffsetDateTime) -> Self {
        Self {
            space,
            kind,
            name,
            published_at: None,
            weight: 0,
            settings: Map::new(),
            default_step_settings: Map::new(),
            step_settings: BTreeMap::new(),
            scope_id: None,
            deleted_at: None,
            extended_data: ExtendedDataValue::default(),
            created_at: now,
            updated_at: now,
        }
    }

    /// Publishes it. A second call keeps the time.
    pub fn publish(&mut self, now: OffsetDateTime) {
        self.published_at.get_or_insert(now);
    }

    /// Makes it invisible to all viewers until it is published again.
    pub fn unpublish(&mut self) {
        self.published_at = None;
    }
}

impl Entity for Component {
    type Id = ComponentId;

    civitas_kernel::time_fields!(updated_at, deleted_at);

    fn search_texts(&self) -> Option<SearchTexts> {
        Some(SearchTexts::new(&self.name, None))
    }

    fn lists_changed(&self, before: Option<&Self>) -> Vec<&'static str> {
        let is_lost = before.is_some_and(|before| {
            let is_unpublished = before.published_at.is_some() && self.published_at.is_none();
            is_unpublished || (!before.is_deleted() && self.is_deleted())
        });
        if is_lost { vec!["components"] } else { Vec::new() }
    }
}

/// A component with the title of its space.
#[derive(Debug, Clone, PartialEq)]
pub struct ComponentWithSpaceTitle {
    /// The component's id.
    pub id: ComponentId,
    /// The component.
    pub component: Component,
    /// The title of its space.
    pub space_title: Translated,
}

/// A component for a viewer.
#[derive(Debug, Clone, PartialEq)]
pub struct ComponentDetail {
    /// The component's id.
    pub id: ComponentId,
    /// The component.
    pub component: Component,
    /// The title of its space.
    pub space_title: Translated,
    /// The active step, if the space is a process that has one.
    pub active_step: Option<StepId>,
    /// The first [`Self::MAX_RESOURCES`] visible resources, by id.
    pub resources: Vec<i64>,
    /// How many are visible, uncapped.
    pub resource_count: i64,
    /// The latest change of the component, its space, its steps and its visible resources.
    pub changed_at: OffsetDateTime,
}

impl ComponentDetail {
    /// The most resources a component lists.
    pub const MAX_RESOURCES: i64 = 50;
}
