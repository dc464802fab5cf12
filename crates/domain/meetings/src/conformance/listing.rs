//! Filters, order, pages, and parts of the organization.

use super::{NOW, World, closed, everything, in_component, open};
use crate::{MEETING_FIELDS, Meeting, MeetingQuery};
use civitas_kernel::conformance::read_pages;
use civitas_kernel::filter::read_filters;
use civitas_kernel::testing::raw_filter;
use civitas_kernel::{Direction, LocationFilter, MeetingId, Order, Result, SpaceKind};
use serde_json::json;
use time::{Duration, OffsetDateTime};

/// By start in both directions, ids ascending in either; pages of any length have each once.
pub async fn lists_in_order_without_overlap(world: World<'_>) -> Result<()> {
    let mut all: Vec<(OffsetDateTime, MeetingId)> = Vec::new();
    for (i, hours) in [5, 1, 3, 1, 5, 1, 9, -7].into_iter().enumerate() {
        let component = if i % 2 == 0 { world.agenda } else { world.walks };
        let start_time = NOW + Duration::hours(hours);
        all.push((start_time, world.add(&Meeting { start_time, ..open(component) }).await?));
        // Meetings that are invisible to this reader must not appear in the list.
        world.add(&Meeting { start_time, ..closed(component) }).await?;
    }
    let reader = world.read_context_of(world.otto);
    for direction in [Direction::Ascending, Direction::Descending] {
        let mut expected = all.clone();
        expected.sort_by(|(a, x), (b, y)| {
            let times = if direction == Direction::Ascending { a.cmp(b) } else { b.cmp(a) };
            times.then(x.cmp(y))
        });
        let expected: Vec<_> = expected.into_iter().map(|(_, id)| id).collect();
        let query = everything(LocationFilter::default(), direction);
        for per_page in [1, 3, 100] {
            let list = async |page| world.meetings.list(reader, &query, page).await;
            let walked: Vec<_> =
                read_pages(per_page, list).await?.into_iter().map(|meeting| meeting.id).collect();
            assert_eq!(walked, expected, "{direction:?} by {per_page}");
        }
    }
    let random = MeetingQuery { order: Order::Random, ..MeetingQuery::default() };
    let mut shuffled = world.list(reader, &random).await?;
    shuffled.sort_unstable();
    assert_eq!(shuffled, all.into_iter().map(|(_, id)| id).collect::<Vec<_>>());
    Ok(())
}

/// By id, and by a part of the text of the extended data.
pub async fn filters_by_number_and_extended_data(world: World<'_>) -> Result<()> {
    let marked = json!({"key": {"is": "ÉTÉ 50%"}}).as_object().cloned().unwrap_or_default();
    let first = world.add(&Meeting { extended_data: marked.into(), ..open(world.agenda) }).await?;
    let second = world.add(&open(world.agenda)).await?;
    let third = world.add(&open(world.agenda)).await?;
    for (key, value, expected) in [
        ("id", second.to_string(), vec![second]),
        ("id_gt", first.to_string(), vec![second, third]),
        ("id_not_eq", first.to_string(), vec![second, third]),
        ("id_blank", "true".to_owned(), vec![]),
        ("id_eq", String::new(), vec![first, second, third]),
        ("extended_data_cont", r#""Key":{"IS":"été 50%"}"#.to_owned(), vec![first]),
        ("extended_data_cont", "5_%".to_owned(), vec![]),
    ] {
        let filters = read_filters(MEETING_FIELDS, &raw_filter(key, &value))?;
        let query = MeetingQuery { filters, ..everything(in_component(world.agenda), Direction::Ascending) };
        assert_eq!(world.list(world.read_context_of(world.nora), &query).await?, expected, "{key} {value}");
    }
    Ok(())
}

/// A read that is restricted to a part of the organization finds only records of that part.
pub async fn stays_inside(world: World<'_>) -> Result<()> {
    let here = world.add(&open(world.agenda)).await?;
    let beside = world.add(&open(world.walks)).await?;
    let elsewhere = world.add(&open(world.sessions)).await?;
    let reader = world.read_context_of(world.nora);
    let part = |kind, id, component| LocationFilter { space_kind: kind, space_id: id, component };
    let (processes, assemblies) = (SpaceKind::ParticipatoryProcesses, SpaceKind::Assemblies);
    let number = world.space.id;
    for (part, expected) in [
        (LocationFilter::default(), vec![here, beside, elsewhere]),
        (part(Some(processes), None, None), vec![here, beside]),
        (part(Some(assemblies), None, None), vec![elsewhere]),
        (part(Some(processes), Some(number), None), vec![here, beside]),
        (part(None, Some(number + 1_000), None), vec![]),
        (part(None, None, Some(world.agenda)), vec![here]),
        (part(Some(assemblies), None, Some(world.agenda)), vec![]),
        (part(None, Some(number), Some(world.walks)), vec![beside]),
        (part(None, None, Some(world.unpublished)), vec![]),
        (part(None, None, Some(world.blog)), vec![]),
    ] {
        assert_eq!(world.list(reader, &everything(part, Direction::Ascending)).await?, expected, "{part:?}");
        for id in [here, beside, elsewhere] {
            let found = world.meetings.find_visible(reader, id, part).await?.is_some();
            assert_eq!(found, expected.contains(&id), "{id} in {part:?}");
        }
    }
    Ok(())
}
