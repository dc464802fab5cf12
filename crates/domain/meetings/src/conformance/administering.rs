//! The search of administrators, and the lists of registered users.

use super::{ALL, NOW, World, closed, in_component, open, text};
use crate::{Meeting, MeetingSearch, MeetingState, MeetingTime};
use civitas_kernel::conformance::read_pages;
use civitas_kernel::{Direction, LocationFilter, MeetingId, PageRequest, Result, SpaceKind};
use time::Duration;

impl World<'_> {
    async fn found(&self, search: &MeetingSearch) -> Result<Vec<MeetingId>> {
        let page = self.meetings.search(self.mine, NOW, search, ALL).await?;
        Ok(page.items.into_iter().map(|meeting| meeting.id).collect())
    }
}

/// A search finds meetings in all states but deleted ones, by each of its conditions, in order.
pub async fn searches_for_administrators(world: World<'_>) -> Result<()> {
    let later = |meeting: Meeting, hours| Meeting { start_time: NOW + Duration::hours(hours), ..meeting };
    let past = world.add(&later(open(world.agenda), -1)).await?;
    let draft = world.add(&Meeting { published_at: None, ..open(world.walks) }).await?;
    let withdrawn =
        Meeting { withdrawn_at: Some(NOW), title: text("100% Walk Straße"), ..closed(world.unpublished) };
    let withdrawn = world.add(&later(withdrawn, 1)).await?;
    let hidden = world.add(&later(Meeting { hidden_at: Some(NOW), ..open(world.sessions) }, 2)).await?;
    world.add(&Meeting { deleted_at: Some(NOW), ..open(world.agenda) }).await?;
    let all = MeetingSearch { direction: Direction::Ascending, ..MeetingSearch::default() };
    let state = |state| MeetingSearch { state: Some(state), ..all.clone() };
    let time = |time| MeetingSearch { time: Some(time), ..all.clone() };
    let inside = |within| MeetingSearch { within, ..all.clone() };
    let named = |text: &str| MeetingSearch { text: Some(text.to_owned()), ..all.clone() };
    let processes = Some(SpaceKind::ParticipatoryProcesses);
    let process = LocationFilter { space_kind: processes, space_id: Some(world.space.id), component: None };
    for (search, expected) in [
        (all.clone(), vec![past, draft, withdrawn, hidden]),
        (
            MeetingSearch { direction: Direction::Descending, ..all.clone() },
            vec![hidden, withdrawn, draft, past],
        ),
        (state(MeetingState::Published), vec![past, withdrawn, hidden]),
        (state(MeetingState::Unpublished), vec![draft]),
        (state(MeetingState::Withdrawn), vec![withdrawn]),
        (state(MeetingState::Hidden), vec![hidden]),
        (time(MeetingTime::Upcoming), vec![draft, withdrawn, hidden]),
        (time(MeetingTime::Past), vec![past]),
        (inside(in_component(world.unpublished)), vec![withdrawn]),
        (inside(in_component(world.blog)), vec![]),
        (inside(process), vec![past, draft, withdrawn]),
        (named("KICK"), vec![past, draft, hidden]),
        (named("0% w"), vec![withdrawn]),
        (named("STRÄSSE"), vec![withdrawn]),
        (named("\u{301}"), vec![past, draft, withdrawn, hidden]),
        (named("none of them"), vec![]),
        (MeetingSearch { time: Some(MeetingTime::Past), ..named("kick") }, vec![past]),
    ] {
        assert_eq!(world.found(&search).await?, expected, "{search:?}");
    }
    assert!(world.meetings.search(world.other, NOW, &all, ALL).await?.items.is_empty());
    for text in [None, Some("k".to_owned())] {
        let search = MeetingSearch { text, ..all.clone() };
        let list = async |page| world.meetings.search(world.mine, NOW, &search, page).await;
        let walked: Vec<_> = read_pages(1, list).await?.into_iter().map(|meeting| meeting.id).collect();
        assert_eq!(walked, [past, draft, withdrawn, hidden]);
    }
    Ok(())
}

/// The registered users of a meeting are read by pages.
pub async fn pages_registered_users(world: World<'_>) -> Result<()> {
    let registrations = [world.otto, world.nora].into();
    let id = world.add(&Meeting { registrations, ..open(world.agenda) }).await?;
    let mut expected = vec![world.otto, world.nora];
    expected.sort();
    let page = async |organization, page| {
        world.meetings.registered(organization, id, PageRequest::new(page, 1)).await
    };
    let (first, second) = (page(world.mine, 1).await?, page(world.mine, 2).await?);
    assert_eq!((first.has_more, second.has_more), (true, false));
    assert_eq!([first.items, second.items].concat(), expected);
    assert!(page(world.other, 1).await?.items.is_empty());
    Ok(())
}
