//! Conformance tests: what every implementation of the ports must pass. Each is a function that fails on a violation.

use crate::{BlogLookup, Post, PostNeighbours, PostQuery, PostSearch, PostState, PostStore};
use civitas_kernel::conformance::read_pages;
use civitas_kernel::records::conformance::Samples;
use civitas_kernel::testing::{ALL, in_component, text, viewer_read_context};
use civitas_kernel::{
    ComponentId, Direction, Locale, LocationFilter, Order, Page, PageRequest, PostId, ReadContext, Result,
    Sort, SortColumn, SpaceRef, Translated, UserId, Viewer, conformance_world,
};
use time::macros::datetime;
use time::{Duration, OffsetDateTime};

conformance_world! {
    /// The stores, two existing organizations, and records of the first.
    pub struct World {
        ports(posts: PostStore, lookup: BlogLookup)
        /// A user.
        nora: UserId,
        /// Another user.
        otto: UserId,
        /// A public, published process.
        space: SpaceRef,
        /// A published blog component there.
        blog: ComponentId,
        /// A component of another kind.
        ideas: ComponentId,
    }
}

const NOW: OffsetDateTime = datetime!(2026-03-01 09:30:00.123456 UTC);

impl World<'_> {
    fn reader(&self, user: UserId) -> ReadContext {
        viewer_read_context(self.mine, Viewer::Participant(user))
    }

    fn public(&self) -> ReadContext {
        viewer_read_context(self.mine, Viewer::Public)
    }

    fn post(&self, author: Option<UserId>, published_at: Option<OffsetDateTime>) -> Post {
        Post { author, published_at, ..Post::new(self.blog, text("Title"), text("<p>Body</p>"), NOW) }
    }

    async fn add(&self, post: &Post) -> Result<PostId> {
        self.posts.add(self.mine, post).await
    }

    async fn ids(
        &self,
        read_context: ReadContext,
        direction: Direction,
        page: PageRequest,
    ) -> Result<Page<PostId>> {
        let query = PostQuery { order: Order::Column(direction), ..PostQuery::default() };
        Ok(self.posts.list(read_context, NOW, &query, page).await?.map(|post| post.id))
    }
}

/// Posts for the conformance tests of [`Records`](civitas_kernel::records::Records).
#[expect(clippy::unused_async, reason = "the samples of other stores are added first")]
pub async fn posts(world: World<'_>) -> Result<Samples<'_, Post>> {
    let unusual = Post {
        title: [(Locale::EN, "Walk".to_owned()), (Locale::FR, "Balade".to_owned())].into(),
        body: [(Locale::ES, String::new())].into(),
        hidden_at: Some(NOW + Duration::HOUR),
        deleted_at: Some(NOW + Duration::DAY),
        updated_at: NOW + Duration::DAY,
        ..world.post(Some(world.nora), Some(NOW))
    };
    let early = Post { created_at: NOW - Duration::DAY, ..world.post(Some(world.otto), None) };
    let elsewhere = Post { component: world.ideas, ..world.post(None, Some(NOW + Duration::SECOND)) };
    Ok(Samples::new(world.posts, [world.mine, world.other], [unusual, early, elsewhere], PostId(987_654)))
}

/// No organization sees or changes another's posts.
pub async fn isolates_organizations(world: World<'_>) -> Result<()> {
    let id = world.add(&world.post(None, Some(NOW))).await?;
    let elsewhere = ReadContext { organization: world.other, ..world.public() };
    assert_eq!(world.posts.find_visible(elsewhere, NOW, id, LocationFilter::default()).await?, None);
    assert_eq!(world.posts.find_in_visible_component(elsewhere, id).await?, None);
    assert!(world.posts.list(elsewhere, NOW, &PostQuery::default(), ALL).await?.items.is_empty());
    assert_eq!(world.lookup.find_blog(elsewhere, world.blog).await?, None);
    Ok(())
}

/// Published posts are visible to all viewers, drafts and scheduled ones to their author, hidden and deleted ones to no viewer.
pub async fn shows_what_is_visible(world: World<'_>) -> Result<()> {
    let later = Some(NOW + Duration::HOUR);
    let published = world.add(&world.post(Some(world.nora), Some(NOW))).await?;
    let scheduled = world.add(&world.post(Some(world.nora), later)).await?;
    let draft = world.add(&world.post(Some(world.nora), None)).await?;
    let official = world.add(&world.post(None, None)).await?;
    let deleted =
        world.add(&Post { deleted_at: Some(NOW), ..world.post(Some(world.nora), Some(NOW)) }).await?;
    let mut hidden = Vec::new();
    for published_at in [Some(NOW), later, None] {
        let post = Post { hidden_at: Some(NOW), ..world.post(Some(world.nora), published_at) };
        hidden.push(world.add(&post).await?);
    }
    let readers =
        [(world.public(), false), (world.reader(world.otto), false), (world.reader(world.nora), true)];
    for (read_context, is_author) in readers {
        for (id, is_visible) in [
            (published, true),
            (scheduled, is_author),
            (draft, is_author),
            (official, false),
            (deleted, false),
            (hidden[0], false),
            (hidden[1], false),
            (hidden[2], false),
        ] {
            let found = world.posts.find_visible(read_context, NOW, id, LocationFilter::default()).await?;
            assert_eq!(found.is_some(), is_visible, "{id} for {read_context:?}");
        }
        let listed = world.ids(read_context, Direction::Ascending, ALL).await?.items;
        let expected = if is_author { vec![published, scheduled, draft] } else { vec![published] };
        assert_eq!(listed, expected, "{read_context:?}");
        let random = PostQuery { order: Order::Random, ..PostQuery::default() };
        let shuffled = world.posts.list(read_context, NOW, &random, ALL).await?;
        assert_eq!(shuffled.items.len(), expected.len());
        for column in SortColumn::COMMON {
            let order = Order::By(Sort { column, direction: Direction::Descending });
            let sorted = PostQuery { order, ..PostQuery::default() };
            let listed = world.posts.list(read_context, NOW, &sorted, ALL).await?;
            assert_eq!(listed.items.len(), expected.len(), "{column:?}");
        }
    }
    let then = NOW + Duration::HOUR;
    assert!(
        world.posts.find_visible(world.public(), then, scheduled, LocationFilter::default()).await?.is_some()
    );
    assert!(world.posts.find_in_visible_component(world.public(), draft).await?.is_some());
    for gone in [deleted, hidden[0], hidden[2]] {
        assert!(world.posts.find_in_visible_component(world.public(), gone).await?.is_none());
    }
    Ok(())
}

/// By date in both directions, ids ascending in either; the author's drafts last ascending, first descending. Pages of
/// any length have each post once, and neighbours are those of the list.
pub async fn lists_in_order_with_neighbours(world: World<'_>) -> Result<()> {
    let mut dated = Vec::new();
    let mut drafts = Vec::new();
    for hours in [5, 1, 3, 1, 5, 1] {
        let at = NOW - Duration::hours(hours);
        dated.push((at, world.add(&world.post(Some(world.nora), Some(at))).await?));
        world.add(&world.post(Some(world.otto), None)).await?;
        drafts.push(world.add(&world.post(Some(world.nora), None)).await?);
    }
    let reader = world.reader(world.nora);
    for direction in [Direction::Ascending, Direction::Descending] {
        let ascending = direction == Direction::Ascending;
        dated.sort_by(|(a, x), (b, y)| (if ascending { a.cmp(b) } else { b.cmp(a) }).then(x.cmp(y)));
        let by_date = dated.iter().map(|(_, id)| *id);
        let expected: Vec<PostId> = if ascending {
            by_date.chain(drafts.iter().copied()).collect()
        } else {
            drafts.iter().copied().chain(by_date).collect()
        };
        for per_page in [1, 4, 100] {
            let walked = read_pages(per_page, async |page| world.ids(reader, direction, page).await).await?;
            assert_eq!(walked, expected, "{direction:?} by {per_page}");
        }
        let query = PostQuery { order: Order::Column(direction), ..PostQuery::default() };
        for (position, id) in expected.iter().enumerate() {
            let beside = PostNeighbours {
                next: expected.get(position + 1).copied(),
                prev: position.checked_sub(1).map(|before| expected[before]),
            };
            let at = dated.iter().find(|(_, dated)| dated == id).map(|(at, _)| *at);
            let found = world.posts.neighbours(reader, NOW, &query, *id, at).await?;
            assert_eq!(found, beside, "{direction:?} {position}");
        }
    }
    Ok(())
}

/// A post is found and listed inside its own component and space only.
pub async fn stays_inside(world: World<'_>) -> Result<()> {
    let id = world.add(&world.post(None, Some(NOW))).await?;
    for (within, is_inside) in [
        (in_component(world.blog), true),
        (in_component(world.ideas), false),
        (LocationFilter { space_id: Some(world.space.id), ..LocationFilter::default() }, true),
        (LocationFilter { space_id: Some(world.space.id + 1_000), ..LocationFilter::default() }, false),
    ] {
        let found = world.posts.find_visible(world.public(), NOW, id, within).await?;
        assert_eq!(found.is_some(), is_inside, "{within:?}");
        let query = PostQuery { within, ..PostQuery::default() };
        let listed = world.posts.list(world.public(), NOW, &query, ALL).await?;
        assert_eq!(listed.items.len(), usize::from(is_inside), "{within:?}");
    }
    Ok(())
}

/// A blog is found if it is visible; only users with the role administer a space.
pub async fn knows_blogs_and_administrators(world: World<'_>) -> Result<()> {
    let context = world.lookup.find_blog(world.public(), world.blog).await?.expect("the blog is visible");
    assert_eq!((context.component, context.space), (world.blog, world.space));
    assert_eq!(world.lookup.find_blog(world.public(), world.ideas).await?, None, "of another kind");
    assert!(!world.lookup.administers(world.mine, world.nora, world.space).await?);
    Ok(())
}

/// A search finds posts in all states but deleted ones, by each of its conditions, in order.
pub async fn searches_for_administrators(world: World<'_>) -> Result<()> {
    let text = |text: &str| Translated::from([(Locale::FR, text.to_owned())]);
    let published = world.add(&world.post(Some(world.nora), Some(NOW))).await?;
    let scheduled = world.add(&world.post(None, Some(NOW + Duration::HOUR))).await?;
    let draft = world.add(&Post { title: text("100% Été"), ..world.post(None, None) }).await?;
    let hidden = world.add(&Post { hidden_at: Some(NOW), ..world.post(None, Some(NOW)) }).await?;
    world.add(&Post { deleted_at: Some(NOW), ..world.post(None, None) }).await?;
    let all = PostSearch::default();
    let state = |state| PostSearch { state: Some(state), ..all.clone() };
    let named = |text: &str| PostSearch { text: Some(text.to_owned()), ..all.clone() };
    let part = |within| PostSearch { within, ..all.clone() };
    let component = |component| part(in_component(component));
    let space = |id| part(LocationFilter { space_id: Some(id), ..LocationFilter::default() });
    for (search, expected) in [
        (all.clone(), vec![published, scheduled, draft, hidden]),
        (
            PostSearch { direction: Direction::Descending, ..all.clone() },
            vec![hidden, draft, scheduled, published],
        ),
        (state(PostState::Published), vec![published]),
        (state(PostState::Scheduled), vec![scheduled]),
        (state(PostState::Draft), vec![draft]),
        (state(PostState::Hidden), vec![hidden]),
        (component(world.blog), vec![published, scheduled, draft, hidden]),
        (component(world.ideas), vec![]),
        (space(world.space.id), vec![published, scheduled, draft, hidden]),
        (space(world.space.id + 1_000), vec![]),
        (named("TITLE"), vec![published, scheduled, hidden]),
        (named("0% é"), vec![draft]),
        (named("ETE"), vec![draft]),
        (PostSearch { state: Some(PostState::Draft), ..named("title") }, vec![]),
    ] {
        let found = world.posts.search(world.mine, NOW, &search, ALL).await?;
        let found: Vec<PostId> = found.items.into_iter().map(|post| post.id).collect();
        assert_eq!(found, expected, "{search:?}");
    }
    let request = PageRequest::new(2, 2);
    for (search, left) in [(all.clone(), 2), (named("title"), 1)] {
        let last = world.posts.search(world.mine, NOW, &search, request).await?;
        assert_eq!((last.items.len(), last.has_more), (left, false), "{search:?}");
    }
    assert!(world.posts.search(world.other, NOW, &all, ALL).await?.items.is_empty());
    let found = world.posts.detail(world.mine, draft).await?.expect("it is not deleted");
    assert_eq!((found.id, found.context.component), (draft, world.blog));
    assert_eq!(world.posts.detail(world.other, draft).await?, None);
    Ok(())
}
