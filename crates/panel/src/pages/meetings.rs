//! The meetings of an organization: the list (contract 06 §5).

use super::content::title;
use super::publication::list_path;
use super::publications::{Components, PER_PAGE, head, opened, results, within};
use crate::parts::{Act, Badge, Cell, Chip, Choice, Column, Empty, Html, RowAct, Table};
use crate::reply::Reply;
use crate::visit::Visit;
use civitas_kernel::{Direction, Result};
use civitas_meetings::{Audience, Meeting, MeetingSearch, MeetingState, MeetingSummary, MeetingTime};
use civitas_spaces::ComponentManifest;
use time::OffsetDateTime;

const TIMES: [(&str, MeetingTime); 2] = [("upcoming", MeetingTime::Upcoming), ("past", MeetingTime::Past)];
const STATES: [(&str, MeetingState); 4] = [
    ("published", MeetingState::Published),
    ("not-published", MeetingState::Unpublished),
    ("withdrawn", MeetingState::Withdrawn),
    ("hidden", MeetingState::Hidden),
];
/// The values of the order by start time, the latest first without one.
const EARLIEST_FIRST: &str = "earliest";

/// The text of a state in the filter.
fn state_name(visit: &Visit, state: &str) -> String {
    match state {
        "published" | "not-published" => visit.say(state),
        other => visit.say(&format!("meeting-{other}")),
    }
}

/// The name of an audience.
pub(super) fn audience_key(audience: Audience) -> &'static str {
    match audience {
        Audience::Everybody => "everybody",
        Audience::Transparent => "transparent",
        Audience::Private => "private",
    }
}

/// The states of a meeting: whether it can be seen, and whether it takes place.
pub(super) fn badges(
    visit: &Visit,
    published_at: Option<OffsetDateTime>,
    withdrawn_at: Option<OffsetDateTime>,
    hidden_at: Option<OffsetDateTime>,
) -> Vec<Badge> {
    let mut badges = vec![super::content::published(visit, published_at.is_some())];
    if withdrawn_at.is_some() {
        badges.push(Badge::warn(visit.say("meeting-withdrawn")));
    }
    if hidden_at.is_some() {
        badges.push(Badge::bad(visit.say("meeting-hidden")));
    }
    badges
}

/// What the filters ask for. Unknown values are left out.
fn search(visit: &Visit) -> MeetingSearch {
    let (time, state) = (visit.query.get("time"), visit.query.get("state"));
    let earliest_first = visit.query.get("sort") == Some(EARLIEST_FIRST);
    MeetingSearch {
        text: visit.query.get("q").map(str::to_owned),
        within: within(visit),
        time: TIMES.iter().find(|(name, _)| Some(*name) == time).map(|(_, time)| *time),
        state: STATES.iter().find(|(name, _)| Some(*name) == state).map(|(_, state)| *state),
        direction: if earliest_first { Direction::Ascending } else { Direction::Descending },
    }
}

fn filters(visit: &Visit, components: &Components) -> Html {
    let times = TIMES.iter().map(|(name, _)| Choice::new(*name, visit.say(&format!("meeting-{name}"))));
    let states = STATES.iter().map(|(name, _)| Choice::new(*name, state_name(visit, name)));
    visit
        .filters(visit.say("meetings-filter"))
        .search(visit.say("publications-search"))
        .field(&components.filter(visit))
        .select("time", visit.say("meeting-start"), times)
        .select("state", visit.say("column-state"), states)
        .sort(visit.say("meetings-latest-first"), EARLIEST_FIRST, visit.say("meetings-earliest-first"))
        .html()
}

/// The filters in use.
fn chips(visit: &Visit, path: &str, search: &MeetingSearch, components: &Components) -> Vec<Chip> {
    let chip = |name: &str, text: String| visit.chip(path, name, text);
    let time = TIMES.iter().find(|(_, time)| Some(*time) == search.time);
    let state = STATES.iter().find(|(_, state)| Some(*state) == search.state);
    let chips = [
        search.text.clone().map(|text| chip("q", text)),
        components.chip(visit, path),
        time.map(|(name, _)| chip("time", visit.say(&format!("meeting-{name}")))),
        state.map(|(name, _)| chip("state", state_name(visit, name))),
    ];
    chips.into_iter().flatten().collect()
}

fn row(visit: &Visit, path: &str, meeting: &MeetingSummary, components: &Components) -> Vec<Cell> {
    let (name, own) = (title(visit, &meeting.title), format!("{path}/{}", meeting.id));
    let (act, key) = match meeting.published_at {
        Some(_) => ("unpublish", "unpublish"),
        None => ("publish", "publish"),
    };
    let acts = [
        RowAct::post(format!("{own}/{act}"), visit.say(key), name.clone(), visit.token()),
        RowAct::link(format!("{own}/edit"), visit.say("edit"), name.clone()),
    ];
    let end = meeting.end_time.map(|end| visit.tell("meeting-until", &[("time", visit.time(end).into())]));
    let badges = badges(visit, meeting.published_at, meeting.withdrawn_at, meeting.hidden_at);
    let number = visit.tell("component-id", &[("id", meeting.id.to_string().into())]);
    let space = components.space(visit, meeting.place.space).unwrap_or_default();
    vec![
        Cell::link(&format!("{own}/edit"), &name, &number),
        Cell::with_sub(&visit.time(meeting.start_time), &end.unwrap_or_default()),
        Cell::html(Html::join(badges.iter().flat_map(|badge| [badge.html(), Html::text(" ")]))),
        Cell::text(&visit.say(&format!("audience-{}", audience_key(meeting.audience)))),
        Cell::with_sub(&title(visit, &meeting.place.name), &space),
        Cell::acts(&acts),
    ]
}

pub(crate) async fn list(visit: &mut Visit) -> Result<Reply> {
    let (id, organization) = opened(visit).await?;
    let visit = &*visit;
    let (path, search) = (list_path::<Meeting>(id), search(visit));
    let meetings = visit.panel.store().meetings();
    let page = meetings.search(id, visit.now, &search, visit.query.page(PER_PAGE)).await?;
    let components = Components::load(visit, id, ComponentManifest::Meetings).await?;
    let rows = page.items.iter().map(|meeting| row(visit, &path, meeting, &components));
    let columns = vec![
        Column::new(visit.say("column-title")),
        Column::new(visit.say("meeting-start")),
        Column::new(visit.say("column-state")),
        Column::new(visit.say("meeting-audience")).low(),
        Column::new(visit.say("component-one")).low(),
        Column::acts(visit.say("column-acts")),
    ];
    let chips = chips(visit, &path, &search, &components);
    let empty = if chips.is_empty() {
        let new = Some((format!("{path}/new"), visit.say("meeting-new")));
        Empty { title: visit.say("meetings-none"), text: visit.say("meetings-lede"), act: new }
    } else {
        visit.no_match(&path, visit.say("meetings-no-match"))
    };
    let (other, direction) = match search.direction {
        Direction::Ascending => (None, "ascending"),
        Direction::Descending => (Some(EARLIEST_FIRST), "descending"),
    };
    let table = Table::new(visit.say("nav-meetings"), columns).rows(rows).empty(empty).sorted(
        1,
        visit.query.with(&path, "sort", other),
        Some(direction),
    );
    let results = results(visit, &path, &page, chips, &table);
    let head = head(visit, id, &organization, visit.say("nav-meetings"))
        .lede(visit.say("meetings-lede"))
        .act(Act::primary(format!("{path}/new"), visit.say("meeting-new")));
    visit.page(head, Html::join([filters(visit, &components), results])).await
}
