//! Ports: what this crate needs from outside.

use crate::{
    Component, ComponentDetail, ComponentEntry, ComponentEntryKind, ComponentEntryRef, ComponentKind,
    ComponentWithSpaceTitle, Space, SpaceDetail, Step,
};
use civitas_kernel::filter::FieldKind;
use civitas_kernel::records::Records;
use civitas_kernel::{
    ComponentId, OrganizationId, Page, PageRequest, ReadContext, Result, SpaceKind, SpaceRef, StepId,
    filter_fields, store,
};

filter_fields! {
    /// The fields for filters of spaces (contract 05 §2.3, 01 §6.2).
    pub enum SpaceField = SPACE_FIELDS, SpaceFilter {
        Kind: "manifest_name", FieldKind::Enum(SpaceKind::NAMES);
        Id: "id", FieldKind::Integer;
        /// The slug; an initiative's is `i-<id>`.
        Slug: "slug", FieldKind::Text;
        /// The title, in any language.
        Title: "title", FieldKind::Text;
        PublishedAt: "published_at", FieldKind::Time;
        CreatedAt: "created_at", FieldKind::Time;
        UpdatedAt: "updated_at", FieldKind::Time;
        ExtendedData: "extended_data", FieldKind::ExtendedData;
    }
}

/// What an administrator searches spaces for. Visibility does not matter: all spaces of the organization are found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SpaceSearch {
    /// Spaces of this kind.
    pub kind: Option<SpaceKind>,
    /// Published spaces, or those that are not.
    pub published: Option<bool>,
    /// A part of the title in any language, without regard to case and accents, or of the slug, in any case.
    pub text: Option<String>,
}

store! {
    /// Stores participatory spaces.
    pub trait SpaceStore: Records<Space> {
        /// The visible spaces, of one kind or of all, by `created_at`, name of the kind and id.
        async fn list(
            &self,
            read_context: ReadContext,
            kind: Option<SpaceKind>,
            filters: &[SpaceFilter],
            page: PageRequest,
        ) -> Result<Page<SpaceDetail>>;
        /// The space, if it is visible.
        async fn find_visible(&self, read_context: ReadContext, id: SpaceRef) -> Result<Option<SpaceDetail>>;
        /// The number of the space with this slug.
        async fn find_by_slug(&self, organization: OrganizationId, kind: SpaceKind, slug: &str)
        -> Result<Option<SpaceRef>>;
        /// The spaces of a search, the newest first by `created_at`, name of the kind and id. For administrators.
        async fn search(&self, organization: OrganizationId, search: &SpaceSearch, page: PageRequest)
        -> Result<Page<(SpaceRef, Space)>>;
    }
}

store! {
    /// Stores the steps of participatory processes.
    pub trait StepStore: Records<Step> {
        /// The active step of a process, if it has one.
        async fn active(&self, organization: OrganizationId, space: SpaceRef) -> Result<Option<(StepId, Step)>>;
        /// The steps of a process by position and id, at most `limit`.
        async fn list_of_process(&self, organization: OrganizationId, space: SpaceRef, limit: i64)
        -> Result<Vec<(StepId, Step)>>;
        /// The active steps of these spaces; those without one are left out.
        async fn active_of(&self, organization: OrganizationId, spaces: &[SpaceRef]) -> Result<Vec<(StepId, Step)>>;
        /// Deletes a step.
        ///
        /// # Errors
        /// `NotFound` when there is no such step.
        async fn remove(&self, organization: OrganizationId, id: StepId) -> Result<()>;
    }
}

/// Where the count of the records of a component stops.
pub const MAX_RECORDS_COUNTED: i64 = 10_001;

filter_fields! {
    /// The fields for filters of components (contract 05 §3.2, 01 §6.2).
    pub enum ComponentField = COMPONENT_FIELDS, ComponentFilter {
        Kind: "manifest_name", FieldKind::Enum(ComponentKind::NAMES);
        Id: "id", FieldKind::Integer;
        /// The number of its space.
        SpaceId: "participatory_space_id", FieldKind::Integer;
        /// The class name of its space.
        SpaceType: "participatory_space_type", FieldKind::Text;
        /// The name, in any language.
        Name: "name", FieldKind::Text;
        PublishedAt: "published_at", FieldKind::Time;
        CreatedAt: "created_at", FieldKind::Time;
        UpdatedAt: "updated_at", FieldKind::Time;
        ExtendedData: "extended_data", FieldKind::ExtendedData;
    }
}

store! {
    /// The store of components.
    pub trait ComponentStore: Records<Component> {
        /// The visible components, of one kind or of all, by id.
        async fn list(
            &self,
            read_context: ReadContext,
            kind: Option<ComponentKind>,
            filters: &[ComponentFilter],
            page: PageRequest,
        ) -> Result<Page<ComponentDetail>>;
        /// The component, if it is visible.
        async fn find_visible(&self, read_context: ReadContext, id: ComponentId) -> Result<Option<ComponentDetail>>;
        /// The visible components of one kind, by id, at most `limit`. Unlike [`Self::list`] it reads none of their
        /// resources.
        async fn titled(&self, read_context: ReadContext, kind: ComponentKind, limit: i64)
        -> Result<Vec<ComponentWithSpaceTitle>>;
        /// The components of a space that are not deleted, by weight, name of the kind and id, at most `limit`. For
        /// administrators.
        async fn list_in_space(&self, organization: OrganizationId, space: SpaceRef, limit: i64)
        -> Result<Vec<(ComponentId, Component)>>;
        /// All components of a space, also deleted ones, by id, locked against other writers until the transaction
        /// ends.
        ///
        /// # Errors
        /// `Internal` outside a transaction.
        async fn list_in_space_for_update(&self, organization: OrganizationId, space: SpaceRef)
        -> Result<Vec<(ComponentId, Component)>>;
        /// The number of components of these spaces that are not deleted; spaces without one are left out.
        async fn count_in(&self, organization: OrganizationId, spaces: &[SpaceRef]) -> Result<Vec<(SpaceRef, i64)>>;
        /// The number of records of these components that are not deleted: published proposals, meetings, posts,
        /// surveys, entries. At most [`MAX_RECORDS_COUNTED`] for each.
        async fn count_records(&self, organization: OrganizationId, components: &[ComponentId])
        -> Result<Vec<(ComponentId, i64)>>;
    }
}

store! {
    /// The store of entries, which components only list and count. The name of their list, for removals, is `entries`.
    pub trait ComponentEntryStore: Records<ComponentEntry> {
        /// As `page_after`, of one kind; `after` is a number of that kind.
        async fn page_of_kind_after(
            &self,
            organization: OrganizationId,
            kind: ComponentEntryKind,
            after: Option<i64>,
            limit: i64,
        ) -> Result<Vec<(ComponentEntryRef, ComponentEntry)>>;
    }
}
