//! Blog posts.

mod listing;

use self::listing::{Changeset, POSTS, PostList, Row, load, load_details, rows_of};
pub(super) use self::listing::{is_shown, is_visible};
use super::component_contexts;
use crate::columns;
use crate::failure::DieselResultExt;
use crate::page_rows::RowReadLimits;
use crate::records::records;
use crate::schema::{posts, roles};
use crate::session::Session;
use crate::tables::listing as lists;
use crate::tables::planner::CheckedRows;
use crate::tables::texts::{self, TextPart};
use crate::tables::visible_components::VisibleComponents;
use async_trait::async_trait;
use civitas_accounts::RoleKind;
use civitas_blogs::{
    BlogLookup, Post, PostDetail, PostNeighbours, PostQuery, PostSearch, PostState, PostStore,
};
use civitas_kernel::records::Records;
use civitas_kernel::{
    ComponentContext, ComponentId, Direction, LocationFilter, OrganizationId, Page, PageRequest, PostId,
    ReadContext, Result, SpaceRef, UserId, filter,
};
use civitas_spaces::ComponentKind;
use diesel::dsl::exists;
use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use time::OffsetDateTime;

records! { posts: PostId => Post; many plain; }

impl Session {
    /// The post, if it is neither hidden nor deleted and its component is visible and inside.
    async fn located(
        &self,
        read_context: ReadContext,
        id: PostId,
        within: LocationFilter,
    ) -> Result<Option<PostDetail>> {
        let post = Records::<Post>::find(self, read_context.organization, id).await?;
        let Some(post) = post.filter(Post::is_shown) else { return Ok(None) };
        let connection = &mut *self.read().await?;
        let kind = ComponentKind::Blogs;
        let context =
            component_contexts::load_visible(connection, read_context, within, post.component, kind).await?;
        Ok(context.map(|context| PostDetail { id, post, context }))
    }
}

#[async_trait]
impl PostStore for Session {
    async fn list(
        &self,
        read_context: ReadContext,
        now: OffsetDateTime,
        query: &PostQuery,
        page: PageRequest,
    ) -> Result<Page<PostDetail>> {
        let list = PostList::open(self, read_context, now, query).await?;
        let page = lists::page(&list, self, page).await?;
        load_details(&mut *self.read().await?, read_context.organization, page).await
    }

    async fn find_visible(
        &self,
        read_context: ReadContext,
        now: OffsetDateTime,
        id: PostId,
        within: LocationFilter,
    ) -> Result<Option<PostDetail>> {
        let is_own =
            |post: &Post| read_context.participant.is_some() && post.author == read_context.participant;
        let found = self.located(read_context, id, within).await?;
        Ok(found.filter(|found| found.post.is_published(now) || is_own(&found.post)))
    }

    async fn neighbours(
        &self,
        read_context: ReadContext,
        now: OffsetDateTime,
        query: &PostQuery,
        id: PostId,
        published_at: Option<OffsetDateTime>,
    ) -> Result<PostNeighbours> {
        let list = PostList::open(self, read_context, now, query).await?;
        if list.base.components.is_empty() {
            return Ok(PostNeighbours::default());
        }
        let connection = &mut *self.read().await?;
        let direction = list.base.direction().unwrap_or(Direction::Descending);
        let (next, prev) = lists::neighbours(&list, connection, direction, id.0, published_at).await?;
        Ok(PostNeighbours { next: next.map(PostId), prev: prev.map(PostId) })
    }

    async fn find_in_visible_component(
        &self,
        read_context: ReadContext,
        id: PostId,
    ) -> Result<Option<PostDetail>> {
        self.located(read_context, id, LocationFilter::default()).await
    }

    async fn detail(&self, organization: OrganizationId, id: PostId) -> Result<Option<PostDetail>> {
        let post = Records::<Post>::find(self, organization, id).await?;
        let Some(post) = post.filter(|post| post.deleted_at.is_none()) else { return Ok(None) };
        let ids = vec![post.component.0];
        let contexts =
            component_contexts::load_for_components(&mut *self.read().await?, organization, ids).await?;
        Ok(contexts.into_values().next().map(|context| PostDetail { id, post, context }))
    }

    async fn search(
        &self,
        organization: OrganizationId,
        now: OffsetDateTime,
        search: &PostSearch,
        page: PageRequest,
    ) -> Result<Page<PostDetail>> {
        let connection = &mut *self.read_long().await?;
        let kind = ComponentKind::Blogs;
        let components =
            VisibleComponents::load_of_kind(connection, organization, search.within, kind).await?;
        if components.is_empty() {
            return Ok(Page::new(Vec::new(), false));
        }
        let found = POSTS.records().filter(posts::deleted_at.is_null());
        let found = found.filter(components.contain::<()>(POSTS.name, CheckedRows::Many));
        // The conditions on drafts are those of their partial index, exactly.
        let dated = posts::published_at.is_not_null();
        let mut found = match search.state {
            Some(PostState::Draft) => found.filter(is_shown()).filter(posts::published_at.is_null()),
            Some(PostState::Scheduled) => {
                found.filter(is_shown()).filter(dated).filter(posts::published_at.gt(now))
            }
            Some(PostState::Published) => {
                found.filter(is_shown()).filter(dated).filter(posts::published_at.le(now))
            }
            Some(PostState::Hidden) => found.filter(posts::hidden_at.is_not_null()),
            None => found,
        };
        if let Some(words) = search.text.as_deref().and_then(filter::FilterCondition::words) {
            found = found.filter(texts::matches_by_index::<()>(
                POSTS.name,
                organization,
                TextPart::Title,
                &words,
            )?);
        }
        let found = found.order(POSTS.column("id"), search.direction).on_page(page.into());
        let rows = load(connection, found, RowReadLimits::NONE).await?;
        load_details(connection, organization, Page::from_fetched(rows, page)).await
    }
}

#[async_trait]
impl BlogLookup for Session {
    async fn find_blog(
        &self,
        read_context: ReadContext,
        component: ComponentId,
    ) -> Result<Option<ComponentContext>> {
        let (within, kind) = (LocationFilter::default(), ComponentKind::Blogs);
        component_contexts::load_visible(&mut *self.read().await?, read_context, within, component, kind)
            .await
    }

    async fn administers(&self, organization: OrganizationId, user: UserId, space: SpaceRef) -> Result<bool> {
        let accepted = roles::invited_at.is_null().or(roles::accepted_at.is_not_null());
        let given = roles::table
            .filter(roles::organization_id.eq(organization.0))
            .filter(roles::space_manifest.eq(columns::EnumColumn(space.kind)))
            .filter(roles::space_id.eq(space.id))
            .filter(roles::user_id.eq(user.0))
            .filter(roles::kind.eq(columns::EnumColumn(RoleKind::SpaceAdministrator)))
            .filter(accepted);
        diesel::select(exists(given)).get_result(&mut *self.read().await?).await.map_db_error()
    }
}
