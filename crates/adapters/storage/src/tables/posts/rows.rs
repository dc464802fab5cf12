//! The row of a post.

use crate::columns::columns;
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

/// The posts of one organization; the only access to the table.
pub(super) fn of(organization: OrganizationId) -> Scoped {
    posts::table.filter(posts::organization_id.eq(organization.0))
}
