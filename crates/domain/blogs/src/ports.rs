//! Ports: traits for everything outside this crate.

use crate::{Post, PostDetail, PostNeighbours, PostState};
use async_trait::async_trait;
use civitas_kernel::filter::{FieldKind, ListQuery};
use civitas_kernel::records::Records;
use civitas_kernel::{
    ComponentContext, ComponentId, Direction, LocationFilter, OrganizationId, Page, PageRequest, PostId,
    ReadContext, Result, SpaceRef, UserId, filter_fields, store,
};
use time::OffsetDateTime;

filter_fields! {
    /// The fields for filters of posts (contract 01 §6.2).
    pub enum PostField = POST_FIELDS, PostFilter {
        Id: "id", FieldKind::Integer;
        CreatedAt: "created_at", FieldKind::Time;
        UpdatedAt: "updated_at", FieldKind::Time;
        /// The time of publication; null for a draft.
        PublishedAt: "published_at", FieldKind::Time;
        /// The title, in any language.
        Title: "title", FieldKind::Text;
        /// The body, in any language.
        Body: "body", FieldKind::Text;
        /// Title or body.
        SearchText: "search_text", FieldKind::SearchText;
        Component: "component_id", FieldKind::Integer;
        /// The number of the space, of any kind.
        SpaceId: "participatory_space_id", FieldKind::Integer;
        /// The class name of the space.
        SpaceType: "participatory_space_type", FieldKind::Text;
        /// The author; null for an official post.
        Author: "author_id", FieldKind::Integer;
    }
}

/// The query of a list of posts. The column of the order is `published_at`: posts without it come last ascending and
/// first descending; ids ascend in both directions.
pub type PostQuery = ListQuery<PostField>;

/// What an administrator searches posts for. Those of deleted components are not found, nor deleted ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PostSearch {
    /// A part of the title in any language, without regard to case and accents.
    pub text: Option<String>,
    /// The part of the organization.
    pub within: LocationFilter,
    /// Their state.
    pub state: Option<PostState>,
    /// By id, which is the order of creation.
    pub direction: Direction,
}

store! {
    /// Stores blog posts.
    ///
    /// Visible means (contract 07 A.1): in a visible component, neither hidden nor deleted, and published at `now` or
    /// written by the user of the token.
    pub trait PostStore: Records<Post> {
        /// The visible posts of a query.
        async fn list(&self, read_context: ReadContext, now: OffsetDateTime, query: &PostQuery, page: PageRequest)
        -> Result<Page<PostDetail>>;
        /// The post, if it is visible and inside.
        async fn find_visible(&self, read_context: ReadContext, now: OffsetDateTime, id: PostId, within: LocationFilter)
        -> Result<Option<PostDetail>>;
        /// The neighbours of a visible post in the list of a query. With random order they are those of the column.
        /// `published_at`: that of the post, as it was read before.
        async fn neighbours(
            &self,
            read_context: ReadContext,
            now: OffsetDateTime,
            query: &PostQuery,
            id: PostId,
            published_at: Option<OffsetDateTime>,
        ) -> Result<PostNeighbours>;
        /// The post, if it is neither hidden nor deleted and its component is visible, by any author, published or not.
        async fn find_in_visible_component(&self, read_context: ReadContext, id: PostId) -> Result<Option<PostDetail>>;
        /// The post, if it is not deleted, visible or not.
        async fn detail(&self, organization: OrganizationId, id: PostId) -> Result<Option<PostDetail>>;
        /// The posts of a search, visible or not; at `now`.
        async fn search(
            &self,
            organization: OrganizationId,
            now: OffsetDateTime,
            search: &PostSearch,
            page: PageRequest,
        ) -> Result<Page<PostDetail>>;
    }
}

/// Reads components and users for blog posts.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait BlogLookup: Send + Sync {
    /// The visible blog component of this id; `None` also when it is of another kind.
    async fn find_blog(
        &self,
        read_context: ReadContext,
        component: ComponentId,
    ) -> Result<Option<ComponentContext>>;
    /// Whether the user administers this space.
    async fn administers(&self, organization: OrganizationId, user: UserId, space: SpaceRef) -> Result<bool>;
}
