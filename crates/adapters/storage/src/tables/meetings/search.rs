//! The search for meetings by administrators.

use crate::columns::{self, Condition, JsonColumn};
use crate::engine::{Conn, Db};
use crate::failure::Stored;
use crate::filter::{holds, translated};
use crate::schema::meetings;
use crate::tables::component_places;
use crate::tables::pages::{By, Checked, OnPage, Rows};
use crate::tables::visible_components::VisibleComponents;
use civitas_kernel::filter;
use civitas_kernel::{
    ComponentPlace, Locales, MeetingId, OrganizationId, Page, PageRequest, Result, Translated,
};
use civitas_meetings::{
    Audience, MOST_SEARCHED, MeetingSearch, MeetingState, MeetingSummary, MeetingTime, Place,
};
use civitas_spaces::ComponentManifest;
use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use time::OffsetDateTime;

/// The columns of a meeting to read.
#[derive(Queryable, Selectable)]
#[diesel(table_name = meetings, check_for_backend(Db))]
struct Row {
    id: i64,
    component_id: i64,
    title: JsonColumn<Translated>,
    start_time: OffsetDateTime,
    end_time: Option<OffsetDateTime>,
    published_at: Option<OffsetDateTime>,
    private: bool,
    transparent: bool,
    withdrawn_at: Option<OffsetDateTime>,
    hidden_at: Option<OffsetDateTime>,
    updated_at: OffsetDateTime,
}

impl Row {
    fn summary(self, place: &ComponentPlace) -> MeetingSummary {
        MeetingSummary {
            id: MeetingId(self.id),
            title: self.title.0,
            start_time: self.start_time,
            end_time: self.end_time,
            published_at: self.published_at,
            withdrawn_at: self.withdrawn_at,
            hidden_at: self.hidden_at,
            audience: Audience::of(self.private, self.transparent),
            updated_at: self.updated_at,
            place: Place { component: place.component, name: place.name.clone(), space: place.space },
        }
    }
}

/// The conditions but the text. Those of a state are those of its partial index, exactly.
fn conditions(
    organization: OrganizationId,
    components: &VisibleComponents,
    search: &MeetingSearch,
    now: OffsetDateTime,
) -> Vec<Condition<meetings::table>> {
    let mut conditions: Vec<Condition<meetings::table>> = vec![
        Box::new(meetings::organization_id.eq(organization.0).nullable()),
        Box::new(meetings::deleted_at.is_null().nullable()),
        components.contain_one(Box::new(meetings::component_id.nullable()), Checked::Many),
    ];
    match search.time {
        Some(MeetingTime::Upcoming) => conditions.push(Box::new(meetings::start_time.ge(now).nullable())),
        Some(MeetingTime::Past) => conditions.push(Box::new(meetings::start_time.lt(now).nullable())),
        None => {}
    }
    match search.state {
        Some(MeetingState::Published) => {
            conditions.push(Box::new(meetings::published_at.is_not_null().nullable()));
        }
        Some(MeetingState::Unpublished) => {
            conditions.push(Box::new(meetings::published_at.is_null().nullable()));
        }
        Some(MeetingState::Withdrawn) => {
            conditions.push(Box::new(meetings::withdrawn_at.is_not_null().nullable()));
        }
        Some(MeetingState::Hidden) => {
            conditions.push(Box::new(meetings::hidden_at.is_not_null().nullable()));
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
    search: &MeetingSearch,
    page: PageRequest,
    locales: &Locales,
) -> Result<Page<MeetingSummary>> {
    let kind = ComponentManifest::Meetings;
    let components = VisibleComponents::of_kind(connection, organization, search.within, kind).await?;
    if components.is_empty() {
        return Ok(Page { items: Vec::new(), has_more: false });
    }
    let mut ids = meetings::table.select(meetings::id).into_boxed::<Db>();
    for condition in conditions(organization, &components, search, now) {
        ids = ids.filter(condition);
    }
    ids = ids.order((By(meetings::start_time, search.direction), By(meetings::id, search.direction)));
    let id = Box::new(meetings::id.nullable());
    let rows = meetings::table.select(columns::of::<Row>()).into_boxed::<Db>().limit(page.fetch());
    let rows = match &search.text {
        None => rows.filter(OnPage::of(id, ids, page.into())),
        Some(text) => {
            let searched = Rows { limit: MOST_SEARCHED, offset: 0 };
            let part = filter::Condition::Contains(text.clone());
            rows.filter(OnPage::of(id, ids, searched))
                .filter(holds(translated!(meetings::title, locales), &part)?)
                .offset(page.offset())
        }
    };
    let rows = rows.order((By(meetings::start_time, search.direction), By(meetings::id, search.direction)));
    let page = Page::cut(rows.load::<Row>(connection).await.stored()?, page);
    let of_components = page.items.iter().map(|row| row.component_id).collect();
    let places = component_places::of_components(connection, organization, of_components).await?;
    let items = page.items.into_iter().filter_map(|row| {
        let place = places.get(&row.component_id)?;
        Some(row.summary(place))
    });
    Ok(Page { items: items.collect(), has_more: page.has_more })
}
