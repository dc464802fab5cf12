//! Writing blog posts (contract 07 A.6).

use crate::{BlogLookup, Post, PostAdministration, PostDetail, PostStore};
use async_trait::async_trait;
use civitas_kernel::records::{Change, RecordAdministration, find_for_update};
use civitas_kernel::{
    Ability, Access, CommandHandler, ComponentId, Ctx, Error, PostId, Result, Scope, Translated, commands,
    set_given,
};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

/// The rights to create and update posts: a user token of a client that may write.
pub const WRITE_POSTS: Access = Access::user(Scope::Blogs, &[Ability::BlogsWrite]);
/// The rights to delete posts.
pub const DESTROY_POSTS: Access = Access::user(Scope::Blogs, &[Ability::BlogsDestroy]);

/// Creates a post in a component. Its author is the user of the token.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CreatePost {
    /// The blog component.
    pub component: ComponentId,
    /// The title.
    pub title: Translated,
    /// The body.
    pub body: Translated,
    /// When it is published; `None` for a draft.
    #[serde(with = "time::serde::rfc3339::option")]
    pub published_at: Option<OffsetDateTime>,
}

/// Changes a post. Each given member replaces the stored one.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct UpdatePost {
    /// The post.
    pub id: PostId,
    /// The new title.
    pub title: Option<Translated>,
    /// The new body.
    pub body: Option<Translated>,
    /// The new publication time.
    pub publication: Option<Publication>,
}

/// When a post is published; `None` for a draft.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Publication {
    /// The time.
    #[serde(with = "time::serde::rfc3339::option")]
    pub at: Option<OffsetDateTime>,
}

/// Deletes a post.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DestroyPost {
    /// The post.
    pub id: PostId,
}

commands! {
    CreatePost: "blogs/posts#create", WRITE_POSTS => PostDetail;
    UpdatePost: "blogs/posts#update", WRITE_POSTS => PostDetail;
    DestroyPost: "blogs/posts#destroy", DESTROY_POSTS => PostDetail;
}

impl UpdatePost {
    fn apply(self, post: &mut Post) {
        set_given(&mut post.title, self.title);
        set_given(&mut post.body, self.body);
        set_given(&mut post.published_at, self.publication.map(|publication| publication.at));
    }
}

/// Writes posts.
pub struct PostWrites<'a> {
    /// The store of posts.
    pub store: &'a dyn PostStore,
    /// Reads components, and the administrators of spaces.
    pub lookup: &'a dyn BlogLookup,
}

impl PostWrites<'_> {
    fn admin(&self, ctx: &Ctx) -> PostAdministration<'_> {
        PostAdministration { store: self.store, default_locale: ctx.default_locale }
    }

    /// The post, if the user of the token may change it: its author, an administrator of the organization, or one of
    /// its space.
    ///
    /// # Errors
    /// `NotFound` for a post the user neither sees nor administers, `Forbidden` for one the user only sees.
    async fn find_own(&self, ctx: &Ctx, access: &Access, id: PostId) -> Result<PostDetail> {
        ctx.require(access)?;
        let user = ctx.user()?.id;
        let found =
            self.store.find_in_visible_component(ctx.read_context(), id).await?.ok_or(Error::NotFound)?;
        let may = found.post.author == Some(user)
            || ctx.viewer.is_admin()
            || self.lookup.administers(ctx.organization, user, found.context.space).await?;
        match may {
            true => Ok(found),
            false if found.post.is_published(ctx.now) => Err(Error::Forbidden),
            false => Err(Error::NotFound),
        }
    }

    /// The post of [`Self::find_own`], locked until the transaction ends.
    async fn find_own_for_update(&self, ctx: &Ctx, access: &Access, id: PostId) -> Result<PostDetail> {
        let found = self.find_own(ctx, access, id).await?;
        let post = find_for_update(self.store, ctx.organization, id).await?;
        // A moderator may have hidden it meanwhile.
        if post.is_shown() { Ok(PostDetail { post, ..found }) } else { Err(Error::NotFound) }
    }
}

#[async_trait]
impl CommandHandler<CreatePost> for PostWrites<'_> {
    async fn handle(&self, ctx: &Ctx, command: CreatePost) -> Result<PostDetail> {
        ctx.require(&WRITE_POSTS)?;
        let CreatePost { component, title, body, published_at } = command;
        let context = self.lookup.find_blog(ctx.read_context(), component).await?.ok_or(Error::NotFound)?;
        let author = Some(ctx.user()?.id);
        let post = Post { author, published_at, ..Post::new(component, title, body, ctx.now) };
        let id = self.admin(ctx).create(ctx.organization, &post).await?;
        Ok(PostDetail { id, post, context })
    }
}

#[async_trait]
impl CommandHandler<UpdatePost> for PostWrites<'_> {
    async fn check_enqueue(&self, ctx: &Ctx, command: &UpdatePost) -> Result<()> {
        self.find_own(ctx, &WRITE_POSTS, command.id).await.map(drop)
    }

    async fn handle(&self, ctx: &Ctx, command: UpdatePost) -> Result<PostDetail> {
        let PostDetail { id, post, context } =
            self.find_own_for_update(ctx, &WRITE_POSTS, command.id).await?;
        let change = Change::from_edit(post, ctx.now, |post| command.apply(post));
        self.admin(ctx).change(ctx.organization, id, &change).await?;
        Ok(PostDetail { id, post: change.after, context })
    }
}

#[async_trait]
impl CommandHandler<DestroyPost> for PostWrites<'_> {
    async fn check_enqueue(&self, ctx: &Ctx, command: &DestroyPost) -> Result<()> {
        self.find_own(ctx, &DESTROY_POSTS, command.id).await.map(drop)
    }

    async fn handle(&self, ctx: &Ctx, DestroyPost { id }: DestroyPost) -> Result<PostDetail> {
        let before = self.find_own_for_update(ctx, &DESTROY_POSTS, id).await?;
        let change = Change::from_edit(before.post.clone(), ctx.now, |post| post.delete(ctx.now));
        self.admin(ctx).change(ctx.organization, id, &change).await?;
        Ok(before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MockBlogLookup, MockPostStore};
    use civitas_kernel::ComponentContext;
    use civitas_kernel::testing::text;
    use serde_json::json;
    use time::Duration;
    use time::macros::datetime;

    const NOW: OffsetDateTime = datetime!(2026-03-01 09:30 UTC);
    const ID: PostId = PostId(7);

    fn published() -> Post {
        let author = Some(civitas_kernel::UserId(1));
        Post { author, published_at: Some(NOW), ..Post::new(ComponentId(3), text("A"), text("B"), NOW) }
    }

    fn ctx(user: i64) -> Ctx {
        Ctx::for_test()
            .with_access(&WRITE_POSTS)
            .with_access(&DESTROY_POSTS)
            .with_user(user)
            .at_time(NOW + Duration::DAY)
    }

    fn store(post: Post) -> MockPostStore {
        let mut store = MockPostStore::new();
        let locked = post.clone();
        store.expect_find_in_visible_component().returning(move |_, id| {
            let context = ComponentContext::for_test(ComponentId(3), NOW);
            Ok(Some(PostDetail { id, post: post.clone(), context }))
        });
        store.expect_find_for_update().returning(move |_, _| Ok(Some(locked.clone())));
        store
    }

    fn lookup(administers: bool) -> MockBlogLookup {
        let mut lookup = MockBlogLookup::new();
        lookup.expect_administers().returning(move |_, _, _| Ok(administers));
        lookup
    }

    fn retitle(title: &str) -> UpdatePost {
        UpdatePost { id: ID, title: Some(text(title)), body: None, publication: None }
    }

    #[tokio::test]
    async fn its_author_and_administrators_may_change_a_post_and_nobody_else() {
        let update = async |ctx: &Ctx, administers: bool, post: Post| {
            let mut store = store(post);
            store.expect_save().returning(|_, _, _| Ok(()));
            let lookup = lookup(administers);
            PostWrites { store: &store, lookup: &lookup }.handle(ctx, retitle("C")).await
        };
        let draft = || Post { published_at: None, ..published() };
        assert_eq!(update(&ctx(1), false, draft()).await.unwrap().post.title, text("C"));
        assert!(update(&ctx(2), true, draft()).await.is_ok(), "an administrator of the space");
        assert!(
            update(&ctx(2).with_admin_viewer(2), false, draft()).await.is_ok(),
            "one of the organization"
        );
        assert!(matches!(update(&ctx(2), false, published()).await, Err(Error::Forbidden)));
        assert!(matches!(update(&ctx(2), false, draft()).await, Err(Error::NotFound)));
    }

    #[tokio::test]
    async fn a_post_that_is_hidden_before_it_is_locked_is_not_found() {
        let mut store = MockPostStore::new();
        store.expect_find_in_visible_component().returning(|_, id| {
            let context = ComponentContext::for_test(ComponentId(3), NOW);
            Ok(Some(PostDetail { id, post: published(), context }))
        });
        store
            .expect_find_for_update()
            .returning(|_, _| Ok(Some(Post { hidden_at: Some(NOW), ..published() })));
        let lookup = lookup(false);
        let update = PostWrites { store: &store, lookup: &lookup }.handle(&ctx(1), retitle("C")).await;
        assert!(matches!(update, Err(Error::NotFound)));
    }

    #[tokio::test]
    async fn a_change_that_changes_nothing_is_not_stored() {
        let (store, lookup) = (store(published()), lookup(false));
        let writes = PostWrites { store: &store, lookup: &lookup };
        assert_eq!(writes.handle(&ctx(1), retitle("A")).await.unwrap().post, published());
    }

    #[tokio::test]
    async fn a_post_is_unpublished_by_a_null_and_dated_by_a_time() {
        for (at, expected) in [(None, None), (Some(NOW + Duration::WEEK), Some(NOW + Duration::WEEK))] {
            let mut store = store(published());
            store.expect_save().once().returning(|_, _, _| Ok(()));
            let lookup = lookup(false);
            let command =
                UpdatePost { id: ID, title: None, body: None, publication: Some(Publication { at }) };
            let stored =
                PostWrites { store: &store, lookup: &lookup }.handle(&ctx(1), command).await.unwrap();
            assert_eq!((stored.post.published_at, stored.post.updated_at), (expected, NOW + Duration::DAY));
        }
    }

    #[tokio::test]
    async fn deleting_answers_the_post_as_it_was() {
        let mut store = store(published());
        store
            .expect_save()
            .once()
            .withf(|_, _, change| change.after.deleted_at.is_some())
            .returning(|_, _, _| Ok(()));
        let lookup = lookup(false);
        let writes = PostWrites { store: &store, lookup: &lookup };
        assert_eq!(writes.handle(&ctx(1), DestroyPost { id: ID }).await.unwrap().post, published());
    }

    #[tokio::test]
    async fn a_post_is_created_by_the_user_of_the_token_in_a_blog_that_is_visible() {
        let create = || CreatePost {
            component: ComponentId(3),
            title: text("A"),
            body: text("B"),
            published_at: None,
        };
        let mut store = MockPostStore::new();
        store.expect_add().once().withf(|_, post| post.author.is_some()).returning(|_, _| Ok(ID));
        let mut lookup = MockBlogLookup::new();
        let context = |id: ComponentId| (id == ComponentId(3)).then(|| ComponentContext::for_test(id, NOW));
        lookup.expect_find_blog().returning(move |_, id| Ok(context(id)));
        let writes = PostWrites { store: &store, lookup: &lookup };
        assert_eq!(writes.handle(&ctx(1), create()).await.unwrap().id, ID);
        let blank = CreatePost { title: text(" "), ..create() };
        assert_eq!(writes.handle(&ctx(1), blank).await.unwrap_err().description(), "Title cannot be blank");
        let nowhere = CreatePost { component: ComponentId(4), ..create() };
        assert!(matches!(writes.handle(&ctx(1), nowhere).await, Err(Error::NotFound)));
    }

    #[test]
    fn a_null_publication_survives_its_job() {
        let command = UpdatePost { publication: Some(Publication { at: None }), ..retitle("A") };
        let read: UpdatePost = serde_json::from_value(json!(command)).unwrap();
        assert!(read.publication.is_some_and(|publication| publication.at.is_none()));
    }
}
