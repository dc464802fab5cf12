//! Blog posts.

mod listing;

use self::listing::List;
use super::component_places;
use crate::columns::{self, columns};
use crate::engine::Conn;
use crate::failure::{Stored, changed};
use crate::schema::{posts, roles};
use crate::session::{Session, lock_row};
use crate::tables::two_parts::TwoParts;
use async_trait::async_trait;
use civitas_accounts::RoleKind;
use civitas_blogs::{BlogLookup, Post, PostDetail, PostNeighbours, PostQuery, PostStore};
use civitas_kernel::{
    ComponentId, ComponentPlace, Direction, Error, Order, OrganizationId, Page, PageRequest, PostId,
    ReadContext, Result, SpaceRef, Translated, UserId, Within,
};
use civitas_spaces::ComponentManifest;
use diesel::dsl::{Eq, Filter, exists};
use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use time::OffsetDateTime;

columns! {
    /// A post as its row stores it.
    posts as Post;
    id PostId;
    fields {
        component as component_id: ComponentId,
        title: Translated,
        body: Translated,
        author as author_id: Option<UserId>,
        published_at: Option<OffsetDateTime>,
        deleted_at: Option<OffsetDateTime>,
        created_at: OffsetDateTime,
        updated_at: OffsetDateTime,
    }
}

type Scoped = Filter<posts::table, Eq<posts::organization_id, i64>>;

/// The posts of one organization; the only way to the table.
fn of(organization: OrganizationId) -> Scoped {
    posts::table.filter(posts::organization_id.eq(organization.0))
}

async fn one(connection: &mut Conn, organization: OrganizationId, id: PostId) -> Result<Option<Post>> {
    let row: Option<Row> = of(organization)
        .filter(posts::id.eq(id.0))
        .select(columns::of::<Row>())
        .first(connection)
        .await
        .optional()
        .stored()?;
    Ok(row.map(Row::into_model))
}

impl Session {
    /// The post, if it is not deleted and its component is visible and inside.
    async fn located(
        &self,
        read_context: ReadContext,
        id: PostId,
        within: Within,
    ) -> Result<Option<PostDetail>> {
        let connection = &mut *self.read().await?;
        let post =
            one(connection, read_context.organization, id).await?.filter(|post| post.deleted_at.is_none());
        let Some(post) = post else { return Ok(None) };
        let manifest = ComponentManifest::Blogs;
        let place =
            component_places::visible(connection, read_context, within, post.component, manifest).await?;
        Ok(place.map(|place| PostDetail { id, post, place }))
    }
}

#[async_trait]
impl PostStore for Session {
    async fn list(
        &self,
        read_context: ReadContext,
        now: OffsetDateTime,
        query: PostQuery,
        page: PageRequest,
    ) -> Result<Page<PostDetail>> {
        let connection = &mut *self.read().await?;
        let list = List::open(connection, read_context, now, query.within).await?;
        let rows = match query.order {
            _ if list.is_empty() => Vec::new(),
            Order::Random => list.shuffled(connection, page.into()).await?,
            Order::Column(direction) => list.rows(connection, direction, page.into()).await?,
        };
        let page = Page::cut(rows, page);
        let ids = page.items.iter().map(|row| row.component_id).collect();
        let places = component_places::of_components(connection, read_context.organization, ids).await?;
        let items = page.items.into_iter().filter_map(|row| {
            let place = places.get(&row.component_id)?.clone();
            let (id, post) = row.into();
            Some(PostDetail { id, post, place })
        });
        Ok(Page { items: items.collect(), has_more: page.has_more })
    }

    async fn find_visible(
        &self,
        read_context: ReadContext,
        now: OffsetDateTime,
        id: PostId,
        within: Within,
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
        query: PostQuery,
        id: PostId,
    ) -> Result<PostNeighbours> {
        let connection = &mut *self.read().await?;
        let list = List::open(connection, read_context, now, query.within).await?;
        let Some(post) = one(connection, read_context.organization, id).await? else {
            return Ok(PostNeighbours::default());
        };
        if list.is_empty() {
            return Ok(PostNeighbours::default());
        }
        let direction = match query.order {
            Order::Column(direction) => direction,
            Order::Random => Direction::Descending,
        };
        let (next, prev) =
            TwoParts::neighbours(&list, connection, direction, id.0, post.published_at).await?;
        Ok(PostNeighbours { next: next.map(PostId), prev: prev.map(PostId) })
    }

    async fn find_in_visible_component(
        &self,
        read_context: ReadContext,
        id: PostId,
    ) -> Result<Option<PostDetail>> {
        self.located(read_context, id, Within::default()).await
    }

    async fn next_publication(&self, now: OffsetDateTime) -> Result<Option<OffsetDateTime>> {
        let next: Option<Option<OffsetDateTime>> = posts::table
            .filter(posts::deleted_at.is_null())
            .filter(posts::published_at.gt(now))
            .order(posts::published_at)
            .select(posts::published_at)
            .first(&mut *self.read().await?)
            .await
            .optional()
            .stored()?;
        Ok(next.flatten())
    }

    async fn find(&self, organization: OrganizationId, id: PostId) -> Result<Option<Post>> {
        one(&mut *self.read().await?, organization, id).await
    }

    async fn find_for_update(&self, organization: OrganizationId, id: PostId) -> Result<Option<Post>> {
        let row = of(organization).filter(posts::id.eq(id.0)).select(posts::id);
        if lock_row!(self, row) { PostStore::find(self, organization, id).await } else { Ok(None) }
    }

    async fn add(&self, organization: OrganizationId, post: &Post) -> Result<PostId> {
        let id: i64 = diesel::insert_into(posts::table)
            .values((posts::organization_id.eq(organization.0), Changeset::of(post)))
            .returning(posts::id)
            .get_result(&mut *self.write().await?)
            .await
            .stored()?;
        Ok(PostId(id))
    }

    async fn save(&self, organization: OrganizationId, id: PostId, post: &Post) -> Result<()> {
        let atomic = self.atomic().await?;
        let mut connection = atomic.connection().await?;
        let before = one(&mut connection, organization, id).await?.ok_or(Error::NotFound)?;
        diesel::update(of(organization).filter(posts::id.eq(id.0)))
            .set(Changeset::of(post))
            .execute(&mut *connection)
            .await
            .stored()
            .and_then(changed)?;
        drop(connection);
        if before.is_lost_by(post) {
            atomic.touch_list(organization, "posts").await?;
        }
        atomic.commit().await
    }

    async fn page_after(
        &self,
        organization: OrganizationId,
        after: Option<PostId>,
        limit: i64,
    ) -> Result<Vec<(PostId, Post)>> {
        let rows: Vec<Row> = of(organization)
            .filter(posts::id.gt(after.map_or(i64::MIN, |id| id.0)))
            .order(posts::id)
            .limit(limit)
            .select(columns::of::<Row>())
            .load(&mut *self.read().await?)
            .await
            .stored()?;
        Ok(rows.into_iter().map(Into::into).collect())
    }
}

#[async_trait]
impl BlogLookup for Session {
    async fn find_blog(
        &self,
        read_context: ReadContext,
        component: ComponentId,
    ) -> Result<Option<ComponentPlace>> {
        let (within, manifest) = (Within::default(), ComponentManifest::Blogs);
        component_places::visible(&mut *self.read().await?, read_context, within, component, manifest).await
    }

    async fn administers(&self, organization: OrganizationId, user: UserId, space: SpaceRef) -> Result<bool> {
        let accepted = roles::invited_at.is_null().or(roles::accepted_at.is_not_null());
        let given = roles::table
            .filter(roles::organization_id.eq(organization.0))
            .filter(roles::space_manifest.eq(columns::EnumColumn(space.manifest)))
            .filter(roles::space_id.eq(space.id))
            .filter(roles::user_id.eq(user.0))
            .filter(roles::kind.eq(columns::EnumColumn(RoleKind::SpaceAdministrator)))
            .filter(accepted);
        diesel::select(exists(given)).get_result(&mut *self.read().await?).await.stored()
    }
}
