//! Reading blog posts (contract 07 A.3, A.4).

use crate::{PostDetail, PostNeighbours, PostQuery, PostStore};
use civitas_kernel::{Ability, Access, Ctx, Error, Page, PageRequest, PostId, Result, Scope, Within};

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
    /// `Forbidden`.
    pub async fn list(&self, ctx: &Ctx, query: PostQuery, page: PageRequest) -> Result<Page<PostDetail>> {
        ctx.require(&READ_POSTS)?;
        self.store.list(ctx.read_context(), ctx.now, query, page).await
    }

    /// One visible post inside `within`, and its neighbours in the list of a query.
    ///
    /// # Errors
    /// `Forbidden`, `NotFound`.
    pub async fn find(
        &self,
        ctx: &Ctx,
        id: PostId,
        within: Within,
        query: PostQuery,
    ) -> Result<(PostDetail, PostNeighbours)> {
        ctx.require(&READ_POSTS)?;
        let found =
            self.store.find_visible(ctx.read_context(), ctx.now, id, within).await?.ok_or(Error::NotFound)?;
        let at = found.post.published_at;
        let neighbours = self.store.neighbours(ctx.read_context(), ctx.now, query, id, at).await?;
        Ok((found, neighbours))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MockPostStore;

    #[tokio::test]
    async fn without_the_ability_nothing_is_read() {
        let (ctx, store) = (Ctx::for_test(), MockPostStore::new());
        let posts = Posts { store: &store };
        let listed = posts.list(&ctx, PostQuery::default(), PageRequest::default()).await;
        assert!(matches!(listed, Err(Error::Forbidden)));
        let found = posts.find(&ctx, PostId(1), Within::default(), PostQuery::default()).await;
        assert!(matches!(found, Err(Error::Forbidden)));
    }

    #[tokio::test]
    async fn a_post_that_is_not_visible_has_no_neighbours() {
        let ctx = Ctx::for_test().with(&READ_POSTS);
        let mut store = MockPostStore::new();
        store.expect_find_visible().returning(|_, _, _, _| Ok(None));
        let found =
            Posts { store: &store }.find(&ctx, PostId(1), Within::default(), PostQuery::default()).await;
        assert!(matches!(found, Err(Error::NotFound)));
    }
}
