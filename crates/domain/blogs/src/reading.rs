//! Reading blog posts (contract 07 A.3, A.4).

use crate::{POST_FIELDS, PostDetail, PostNeighbours, PostQuery, PostStore};
use civitas_kernel::filter::{RawFilter, read_filters};
use civitas_kernel::{
    Ability, Access, Ctx, Error, LocationFilter, Order, Page, PageRequest, PostId, Result, Scope,
};

/// The rights to read posts.
pub const READ_POSTS: Access = Access::either(Scope::Blogs, &[Ability::BlogsRead]);

/// Reads blog posts.
pub struct Posts<'a> {
    /// The store of posts.
    pub store: &'a dyn PostStore,
}

impl Posts<'_> {
    /// The visible posts.
    ///
    /// # Errors
    /// `Forbidden`; `Unknown filter`, `Invalid value for filter`.
    pub async fn list(
        &self,
        ctx: &Ctx,
        within: LocationFilter,
        filter: &RawFilter,
        order: Order,
        page: PageRequest,
    ) -> Result<Page<PostDetail>> {
        ctx.require(&READ_POSTS)?;
        let mut filter = filter.clone();
        // Existing clients send `state_not_eq` (contract 07 A.3).
        filter.values.retain(|(key, _)| !key.starts_with("state_"));
        let query = PostQuery { within, filters: read_filters(POST_FIELDS, &filter)?, order };
        self.store.list(ctx.read_context(), ctx.now, &query, page).await
    }

    /// One visible post inside `within`, and its neighbours in the list with this order.
    ///
    /// # Errors
    /// `Forbidden`, `NotFound`.
    pub async fn find(
        &self,
        ctx: &Ctx,
        id: PostId,
        within: LocationFilter,
        order: Order,
    ) -> Result<(PostDetail, PostNeighbours)> {
        ctx.require(&READ_POSTS)?;
        let found =
            self.store.find_visible(ctx.read_context(), ctx.now, id, within).await?.ok_or(Error::NotFound)?;
        let at = found.post.published_at;
        let query = PostQuery { within, filters: Vec::new(), order };
        let neighbours = self.store.neighbours(ctx.read_context(), ctx.now, &query, id, at).await?;
        Ok((found, neighbours))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MockPostStore;
    use civitas_kernel::testing::raw_filter;

    #[tokio::test]
    async fn without_the_ability_nothing_is_read() {
        let (ctx, store) = (Ctx::for_test(), MockPostStore::new());
        let posts = Posts { store: &store };
        let (all, filter, order) = (LocationFilter::default(), RawFilter::default(), Order::default());
        let listed = posts.list(&ctx, all, &filter, order, PageRequest::default()).await;
        assert!(matches!(listed, Err(Error::Forbidden)));
        let found = posts.find(&ctx, PostId(1), all, order).await;
        assert!(matches!(found, Err(Error::Forbidden)));
    }

    #[tokio::test]
    async fn a_post_that_is_not_visible_has_no_neighbours() {
        let ctx = Ctx::for_test().with_access(&READ_POSTS);
        let mut store = MockPostStore::new();
        store.expect_find_visible().returning(|_, _, _, _| Ok(None));
        let found =
            Posts { store: &store }.find(&ctx, PostId(1), LocationFilter::default(), Order::default()).await;
        assert!(matches!(found, Err(Error::NotFound)));
    }

    #[tokio::test]
    async fn only_a_filter_by_state_is_ignored() {
        let ctx = Ctx::for_test().with_access(&READ_POSTS);
        let mut store = MockPostStore::new();
        store.expect_list().once().returning(|_, _, query, _| {
            assert!(query.filters.is_empty());
            Ok(Page::new(Vec::new(), false))
        });
        let (all, order, page) = (LocationFilter::default(), Order::default(), PageRequest::default());
        let posts = Posts { store: &store };
        posts.list(&ctx, all, &raw_filter("state_not_eq", "rejected"), order, page).await.unwrap();
        let refused = posts.list(&ctx, all, &raw_filter("colour_eq", "red"), order, page).await.unwrap_err();
        assert_eq!(refused.description(), "Unknown filter: colour_eq");
    }
}
