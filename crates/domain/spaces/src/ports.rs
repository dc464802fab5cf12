//! Ports: what this crate needs from outside.

use crate::{Component, ComponentDetail, ComponentManifest, Entry, EntryKind, Space, SpaceDetail, Step};
use async_trait::async_trait;
use civitas_kernel::filter::{Field, Filter, Kind};
use civitas_kernel::{
    ComponentId, EntryId, EventName, OrganizationId, Page, PageRequest, ReadContext, Result, SpaceManifest,
    SpaceRef, StepId,
};

/// What spaces can be filtered by (contract 05 §2.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpaceField {
    /// The kind's name.
    Manifest,
    /// The number.
    Id,
    /// The slug; an initiative's is `i-<id>`.
    Slug,
    /// The title, in any language.
    Title,
    /// The canonical text of the extended data.
    ExtendedData,
}

/// The fields of space lists.
pub const SPACE_FIELDS: &[Field<SpaceField>] = &[
    Field::new(
        "manifest_name",
        Kind::Enum(&["participatory_processes", "assemblies", "conferences", "initiatives"]),
        SpaceField::Manifest,
    ),
    Field::new("id", Kind::Integer, SpaceField::Id),
    Field::new("slug", Kind::Text, SpaceField::Slug),
    Field::new("title", Kind::Text, SpaceField::Title),
    Field::new("extended_data", Kind::ExtendedData, SpaceField::ExtendedData),
];

/// A condition on a list of spaces.
pub type SpaceFilter = Filter<SpaceField>;

/// Where participatory spaces are kept.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait SpaceStore: Send + Sync {
    /// The visible spaces, of one kind or of all, by `created_at`, manifest name and id.
    async fn list(
        &self,
        read_context: ReadContext,
        manifest: Option<SpaceManifest>,
        filters: &[SpaceFilter],
        page: PageRequest,
    ) -> Result<Page<SpaceDetail>>;
    /// The space, if it is visible.
    async fn find_visible(&self, read_context: ReadContext, id: SpaceRef) -> Result<Option<SpaceDetail>>;
    /// The space.
    async fn find(&self, organization: OrganizationId, id: SpaceRef) -> Result<Option<Space>>;
    /// The same, locked against other writers until the transaction ends. `Internal` outside a transaction.
    async fn find_for_update(&self, organization: OrganizationId, id: SpaceRef) -> Result<Option<Space>>;
    /// The number of the space with this slug.
    async fn find_by_slug(
        &self,
        organization: OrganizationId,
        manifest: SpaceManifest,
        slug: &str,
    ) -> Result<Option<SpaceRef>>;
    /// Stores a new one. `Rejected` when its slug is taken.
    async fn add(&self, organization: OrganizationId, space: &Space) -> Result<SpaceRef>;
    /// Stores a new state. `Rejected` when its slug is taken.
    async fn save(&self, organization: OrganizationId, id: SpaceRef, space: &Space) -> Result<()>;
    /// Spaces after `after` in ascending order of kind and number, at most `limit`; for export.
    async fn page_after(
        &self,
        organization: OrganizationId,
        after: Option<SpaceRef>,
        limit: i64,
    ) -> Result<Vec<(SpaceRef, Space)>>;
}

/// Where the steps of participatory processes are kept.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait StepStore: Send + Sync {
    /// The step.
    async fn find(&self, organization: OrganizationId, id: StepId) -> Result<Option<Step>>;
    /// The same, locked against other writers until the transaction ends. `Internal` outside a transaction.
    async fn find_for_update(&self, organization: OrganizationId, id: StepId) -> Result<Option<Step>>;
    /// The active step of a process, if it has one.
    async fn active(&self, organization: OrganizationId, space: SpaceRef) -> Result<Option<(StepId, Step)>>;
    /// Stores a new one. An active one makes the others of its process inactive and announces itself by these names.
    async fn add(&self, organization: OrganizationId, step: &Step, announce: &[EventName]) -> Result<StepId>;
    /// Stores a new state, with the same care.
    async fn save(
        &self,
        organization: OrganizationId,
        id: StepId,
        step: &Step,
        announce: &[EventName],
    ) -> Result<()>;
    /// Steps after `after` in ascending order of id, at most `limit`; for export.
    async fn page_after(
        &self,
        organization: OrganizationId,
        after: Option<StepId>,
        limit: i64,
    ) -> Result<Vec<(StepId, Step)>>;
}

/// What components can be filtered by (contract 05 §3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComponentField {
    /// The kind's name.
    Manifest,
    /// The id.
    Id,
    /// The number of its space.
    SpaceId,
    /// The class name of its space.
    SpaceType,
    /// The name, in any language.
    Name,
    /// The canonical text of the extended data.
    ExtendedData,
}

/// The fields of the component search.
pub const COMPONENT_FIELDS: &[Field<ComponentField>] = &[
    Field::new("manifest_name", Kind::Enum(ComponentManifest::NAMES), ComponentField::Manifest),
    Field::new("id", Kind::Integer, ComponentField::Id),
    Field::new("participatory_space_id", Kind::Integer, ComponentField::SpaceId),
    Field::new("participatory_space_type", Kind::Text, ComponentField::SpaceType),
    Field::new("name", Kind::Text, ComponentField::Name),
    Field::new("extended_data", Kind::ExtendedData, ComponentField::ExtendedData),
];

/// A condition on a list of components.
pub type ComponentFilter = Filter<ComponentField>;

/// The store of components.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait ComponentStore: Send + Sync {
    /// The visible components, of one kind or of all, by id.
    async fn list(
        &self,
        read_context: ReadContext,
        manifest: Option<ComponentManifest>,
        filters: &[ComponentFilter],
        page: PageRequest,
    ) -> Result<Page<ComponentDetail>>;
    /// The component, if it is visible.
    async fn find_visible(
        &self,
        read_context: ReadContext,
        id: ComponentId,
    ) -> Result<Option<ComponentDetail>>;
    /// The component.
    async fn find(&self, organization: OrganizationId, id: ComponentId) -> Result<Option<Component>>;
    /// The same, locked against other writers until the transaction ends. `Internal` outside a transaction.
    async fn find_for_update(
        &self,
        organization: OrganizationId,
        id: ComponentId,
    ) -> Result<Option<Component>>;
    /// Stores a new one; one for proposals gets its built-in states.
    async fn add(&self, organization: OrganizationId, component: &Component) -> Result<ComponentId>;
    /// Stores a new state.
    async fn save(&self, organization: OrganizationId, id: ComponentId, component: &Component) -> Result<()>;
    /// Components after `after` in ascending order of id, at most `limit`; for export.
    async fn page_after(
        &self,
        organization: OrganizationId,
        after: Option<ComponentId>,
        limit: i64,
    ) -> Result<Vec<(ComponentId, Component)>>;
}

/// The store of entries: what components only name and count. Their list, for what leaves it, is `entries`.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait EntryStore: Send + Sync {
    /// The entry.
    async fn find(&self, organization: OrganizationId, id: EntryId) -> Result<Option<Entry>>;
    /// Stores a new one.
    async fn add(&self, organization: OrganizationId, entry: &Entry) -> Result<EntryId>;
    /// Stores a new state.
    async fn save(&self, organization: OrganizationId, id: EntryId, entry: &Entry) -> Result<()>;
    /// Entries of a kind after `after` in ascending order of id, at most `limit`; for export.
    async fn page_after(
        &self,
        organization: OrganizationId,
        kind: EntryKind,
        after: Option<EntryId>,
        limit: i64,
    ) -> Result<Vec<(EntryId, Entry)>>;
}
