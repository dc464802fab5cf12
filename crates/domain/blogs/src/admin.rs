//! Administration of posts. The caller checks permission.

use crate::{Post, PostStore};
use async_trait::async_trait;
use civitas_kernel::records::{RecordAdministration, Records};
use civitas_kernel::{Locale, OrganizationId, PostId, Result};

/// Administers the posts of organizations, by the rules of [`Post::check`]. The commands of users write through it too.
/// A deletion is not checked: an imported post may have other texts.
pub struct PostAdministration<'a> {
    /// The store, in a transaction.
    pub store: &'a dyn PostStore,
    /// The language in which both texts are required: the default one of the organization.
    pub default_locale: Locale,
}

#[async_trait]
impl RecordAdministration<Post> for PostAdministration<'_> {
    fn records(&self) -> &dyn Records<Post> {
        self.store
    }

    async fn before_store(&self, _: OrganizationId, _: Option<(PostId, &Post)>, after: &Post) -> Result<()> {
        if after.deleted_at.is_some() { Ok(()) } else { after.check(self.default_locale) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MockPostStore;
    use civitas_kernel::records::edit;
    use civitas_kernel::{ComponentId, Translated};
    use time::OffsetDateTime;
    use time::macros::datetime;

    const CITY: OrganizationId = OrganizationId(1);
    const ID: PostId = PostId(7);
    const NOW: OffsetDateTime = datetime!(2026-03-01 09:30 UTC);

    fn post(locale: Locale) -> Post {
        let text = |text: &str| Translated::from([(locale, text.to_owned())]);
        Post::new(ComponentId(1), text("Works"), text("From Monday on."), NOW)
    }

    #[tokio::test]
    async fn a_post_of_the_organization_needs_both_texts_in_its_language() {
        let mut store = MockPostStore::new();
        store.expect_add().once().withf(|_, post| post.author.is_none()).returning(|_, _| Ok(ID));
        let admin = PostAdministration { store: &store, default_locale: Locale::EN };
        let refused = admin.create(CITY, &post(Locale::FR)).await.unwrap_err();
        assert_eq!(refused.description(), "Title cannot be blank. Body cannot be blank");
        assert_eq!(admin.create(CITY, &post(Locale::EN)).await.unwrap(), ID);
    }

    #[tokio::test]
    async fn an_imported_post_with_other_texts_can_be_deleted_but_not_published() {
        let mut store = MockPostStore::new();
        store.expect_find_for_update().returning(|_, _| Ok(Some(post(Locale::FR))));
        store.expect_save().once().returning(|_, _, _| Ok(()));
        let admin = PostAdministration { store: &store, default_locale: Locale::EN };
        let refused = edit(&admin, CITY, ID, NOW, |post| post.publish(NOW)).await.unwrap_err();
        assert_eq!(refused.details().len(), 2);
        assert_eq!(edit(&admin, CITY, ID, NOW, |post| post.delete(NOW)).await.unwrap().deleted_at, Some(NOW));
    }
}
