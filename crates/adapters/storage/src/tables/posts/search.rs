//! The search for posts by administrators.

use super::rows::Row;
use crate::columns::{self, Condition};
use crate::engine::{Conn, Db};
use crate::failure::Stored;
use crate::filter::{holds, translated};
use crate::schema::posts;
use crate::tables::component_places;
use crate::tables::pages::{By, Checked, OnPage, Rows};
use crate::tables::visible_components::VisibleComponents;
use civitas_blogs::{MOST_SEARCHED, PostDetail, PostSearch, PostState};
use civitas_kernel::filter;
use civitas_kernel::{Locales, OrganizationId, Page, PageRequest, Result};
use civitas_spaces::ComponentManifest;
use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use time::OffsetDateTime;

/// The conditions but the text. Those of a draft are those of its partial index, exactly.
fn conditions(
    components: &VisibleComponents,
    search: &PostSearch,
    now: OffsetDateTime,
) -> Vec<Condition<posts::table>> {
    let organization = Box::new(posts::organization_id.nullable());
    let mut conditions = vec![
        Box::new(posts::deleted_at.is_null().nullable()),
        components.contain(organization, Box::new(posts::component_id.nullable()), Checked::Many),
    ];
    match search.state {
        Some(PostState::Draft) => conditions.push(Box::new(posts::published_at.is_null().nullable())),
        Some(PostState::Scheduled) => {
            conditions.push(Box::new(posts::published_at.is_not_null().nullable()));
            conditions.push(Box::new(posts::published_at.gt(now).nullable()));
        }
        Some(PostState::Published) => {
            conditions.push(Box::new(posts::published_at.is_not_null().nullable()));
            conditions.push(Box::new(posts::published_at.le(now).nullable()));
        }
        None => {}
    }
    conditions
}

/// One page of a search. `locales` are the languages whose titles are searched.
pub(super) async fn page(
    connection: &mut Conn,
    organization: OrganizationId,
    now: OffsetDateTime,
    search: &PostSearch,
    page: PageRequest,
    locales: &Locales,
) -> Result<Page<PostDetail>> {
    let kind = ComponentManifest::Blogs;
    let components = VisibleComponents::of_kind(connection, organization, search.within, kind).await?;
    if components.is_empty() {
        return Ok(Page { items: Vec::new(), has_more: false });
    }
    let mut ids = posts::table.select(posts::id).into_boxed::<Db>();
    for condition in conditions(&components, search, now) {
        ids = ids.filter(condition);
    }
    ids = ids.order(By(posts::id, search.direction));
    let id = Box::new(posts::id.nullable());
    let rows = posts::table.select(columns::of::<Row>()).into_boxed::<Db>().limit(page.fetch());
    let rows = match &search.text {
        None => rows.filter(OnPage::of(id, ids, page.into())),
        Some(text) => {
            let searched = Rows { limit: MOST_SEARCHED, offset: 0 };
            let part = filter::Condition::Contains(text.clone());
            rows.filter(OnPage::of(id, ids, searched))
                .filter(holds(translated!(posts::title, locales), &part)?)
                .offset(page.offset())
        }
    };
    let rows = rows.order(By(posts::id, search.direction));
    let page = Page::cut(rows.load::<Row>(connection).await.stored()?, page);
    let of_components = page.items.iter().map(|row| row.component_id).collect();
    let places = component_places::of_components(connection, organization, of_components).await?;
    let items = page.items.into_iter().filter_map(|row| {
        let place = places.get(&row.component_id)?.clone();
        let (id, post) = row.into();
        Some(PostDetail { id, post, place })
    });
    Ok(Page { items: items.collect(), has_more: page.has_more })
}
