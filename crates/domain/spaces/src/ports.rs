//! Ports: what this crate needs from outside.

use crate::{
    Component, ComponentDetail, ComponentManifest, Entry, EntryKind, EntryRef, Space, SpaceDetail, Step,
    TitledComponent,
};
use civitas_kernel::filter::Kind;
use civitas_kernel::records::Records;
use civitas_kernel::{
    ComponentId, OrganizationId, Page, PageRequest, ReadContext, Result, SpaceManifest, SpaceRef, StepId,
    filter_fields, store,
};

filter_fields! {
    /// The fields for filters of spaces (contract 05 §2.3, 01 §6.2).
    pub enum SpaceField = SPACE_FIELDS, SpaceFilter {
        Manifest: "manifest_name", Kind::Enum(SpaceManifest::NAMES);
        Id: "id", Kind::Integer;
        /// The slug; an initiative's is `i-<id>`.
        Slug: "slug", Kind::Text;
        /// The title, in any language.
        Title: "title", Kind::Text;
        PublishedAt: "published_at", Kind::Time;
        CreatedAt: "created_at", Kind::Time;
        UpdatedAt: "updated_at", Kind::Time;
        ExtendedData: "extended_data", Kind::ExtendedData;
    }
}

/// What an administrator searches spaces for. Visibility does not matter: all spaces of the organization are found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SpaceSearch {
    /// Spaces of this kind.
    pub manifest: Option<SpaceManifest>,
    /// Published spaces, or those that are not.
    pub published: Option<bool>,
    /// A part of the title in any language, without regard to case and accents, or of the slug, in any case.
    pub text: Option<String>,
}

store! {
    /// Stores participatory spaces.
    pub trait SpaceStore: Records<Space> {
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
        /// The number of the space with this slug.
        async fn find_by_slug(&self, organization: OrganizationId, manifest: SpaceManifest, slug: &str)
        -> Result<Option<SpaceRef>>;
        /// The spaces of a search, the newest first by `created_at`, manifest name and id. For administrators.
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
        async fn of_process(&self, organization: OrganizationId, space: SpaceRef, limit: i64)
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
        Manifest: "manifest_name", Kind::Enum(ComponentManifest::NAMES);
        Id: "id", Kind::Integer;
        /// The number of its space.
        SpaceId: "participatory_space_id", Kind::Integer;
        /// The class name of its space.
        SpaceType: "participatory_space_type", Kind::Text;
        /// The name, in any language.
        Name: "name", Kind::Text;
        PublishedAt: "published_at", Kind::Time;
        CreatedAt: "created_at", Kind::Time;
        UpdatedAt: "updated_at", Kind::Time;
        ExtendedData: "extended_data", Kind::ExtendedData;
    }
}

store! {
    /// The store of components.
    pub trait ComponentStore: Records<Component> {
        /// The visible components, of one kind or of all, by id.
        async fn list(
            &self,
            read_context: ReadContext,
            manifest: Option<ComponentManifest>,
            filters: &[ComponentFilter],
            page: PageRequest,
        ) -> Result<Page<ComponentDetail>>;
        /// The component, if it is visible.
        async fn find_visible(&self, read_context: ReadContext, id: ComponentId) -> Result<Option<ComponentDetail>>;
        /// The visible components of one kind, by id, at most `limit`. Unlike [`Self::list`] it reads none of their
        /// resources.
        async fn titled(&self, read_context: ReadContext, manifest: ComponentManifest, limit: i64)
        -> Result<Vec<TitledComponent>>;
        /// The components of a space that are not deleted, by weight, manifest name and id, at most `limit`. For
        /// administrators.
        async fn in_space(&self, organization: OrganizationId, space: SpaceRef, limit: i64)
        -> Result<Vec<(ComponentId, Component)>>;
        /// All components of a space, also deleted ones, by id, locked against other writers until the transaction
        /// ends.
        ///
        /// # Errors
        /// `Internal` outside a transaction.
        async fn in_space_for_update(&self, organization: OrganizationId, space: SpaceRef)
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
    pub trait EntryStore: Records<Entry> {
        /// As `page_after`, of one kind; `after` is a number of that kind.
        async fn page_of_kind_after(
            &self,
            organization: OrganizationId,
            kind: EntryKind,
            after: Option<i64>,
            limit: i64,
        ) -> Result<Vec<(EntryRef, Entry)>>;
    }
}
