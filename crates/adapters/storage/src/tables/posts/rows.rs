//! The row of a post.

use crate::columns::{Condition, columns};
use crate::schema::posts;
use civitas_blogs::Post;
use civitas_kernel::{ComponentId, OrganizationId, PostId, Translated, UserId};
use diesel::dsl::{Eq, Filter};
use diesel::prelude::*;
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

pub(super) type Scoped = Filter<posts::table, Eq<posts::organization_id, i64>>;

/// The posts of one organization.
pub(super) fn of(organization: OrganizationId) -> Scoped {
    posts::table.filter(posts::organization_id.eq(organization.0))
}

/// Whether a post is not deleted, and published at this time or written by this account (contract 07 A.1).
pub(in crate::tables) fn visible(author: Option<UserId>, now: OffsetDateTime) -> Condition<posts::table> {
    visible_if(Box::new(posts::published_at.le(now)), author)
}

/// The same, by a condition that tells whether a post is published.
pub(super) fn visible_if(
    published: Condition<posts::table>,
    author: Option<UserId>,
) -> Condition<posts::table> {
    let kept = posts::deleted_at.is_null();
    match author {
        None => Box::new(kept.and(published)),
        Some(author) => Box::new(kept.and(published.or(posts::author_id.eq(author.0)))),
    }
}
