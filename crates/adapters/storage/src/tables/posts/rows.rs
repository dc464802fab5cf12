//! The row of a post.

use crate::columns::{Condition, Expr, columns};
use crate::engine::sql::Moment;
use crate::schema::posts;
use crate::scoped::scoped;
use crate::tables::planner::published_without_index;
use civitas_blogs::Post;
use civitas_kernel::{ComponentId, PostId, Translated, UserId};
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

scoped! { pub(super) posts }

/// Whether a post is not deleted, and published at this time or written by this account (contract 07 A.1).
pub(in crate::tables) fn visible(author: Option<UserId>, now: OffsetDateTime) -> Condition<posts::table> {
    visible_at(Box::new(posts::published_at), author, now)
}

/// The same, for reads in another order than that of the times.
pub(super) fn visible_in_any_order(author: Option<UserId>, now: OffsetDateTime) -> Condition<posts::table> {
    visible_at(published_without_index("posts"), author, now)
}

fn visible_at(
    published_at: Expr<posts::table, Moment>,
    author: Option<UserId>,
    now: OffsetDateTime,
) -> Condition<posts::table> {
    let (kept, published) = (posts::deleted_at.is_null(), published_at.le(now));
    match author {
        None => Box::new(kept.and(published)),
        Some(author) => Box::new(kept.and(published.or(posts::author_id.eq(author.0)))),
    }
}
