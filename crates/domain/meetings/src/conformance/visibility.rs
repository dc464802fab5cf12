//! Visibility of meetings.

use super::{ALL, NOW, World, closed, everything, in_component, open, text};
use crate::Meeting;
use civitas_kernel::records::conformance::replace;
use civitas_kernel::{Direction, Error, LocationFilter, MeetingId, ReadContext, Result};
use serde_json::json;
use time::Duration;

/// Whether the meeting is found, listed, and found in its component.
async fn found_by_each_read(
    world: &World<'_>,
    read_context: ReadContext,
    id: MeetingId,
    meeting: &Meeting,
) -> Result<[bool; 3]> {
    let part = in_component(meeting.component);
    let found = world.meetings.find_visible(read_context, id, LocationFilter::default()).await?.is_some();
    let listed = world.list(read_context, &everything(part, Direction::Ascending)).await?.contains(&id);
    let inside = world.meetings.find_visible(read_context, id, part).await?.is_some();
    Ok([found, listed, inside])
}

/// Open and transparent meetings are visible to all who see their component; others to registered users, users with a
/// role in the space, and administrators; unpublished, hidden or deleted ones to no viewer. A withdrawal does not
/// change visibility.
pub async fn shows_what_is_visible(world: World<'_>) -> Result<()> {
    let [as_admin, as_public] = world.services();
    let (nora, otto, admin) = (
        world.read_context_of(world.nora),
        world.read_context_of(world.otto),
        world.read_context_of(world.admin),
    );
    let (mona, ines) = (world.read_context_of(world.mona), world.read_context_of(world.ines));
    let all = [as_admin, as_public, nora, otto, admin, mona, ines];
    let admins = vec![as_admin, admin];
    let of_otto = |meeting| Meeting { registrations: [world.otto].into(), ..meeting };
    for (meeting, expected) in [
        (open(world.agenda), all.to_vec()),
        (Meeting { withdrawn_at: Some(NOW), ..open(world.agenda) }, all.to_vec()),
        (Meeting { transparent: true, ..open(world.agenda) }, all.to_vec()),
        (Meeting { transparent: true, ..closed(world.agenda) }, all.to_vec()),
        (Meeting { published_at: None, ..open(world.agenda) }, vec![]),
        (Meeting { hidden_at: Some(NOW), ..open(world.agenda) }, vec![]),
        (Meeting { deleted_at: Some(NOW), ..of_otto(closed(world.agenda)) }, vec![]),
        (open(world.unpublished), admins.clone()),
        (of_otto(closed(world.unpublished)), admins.clone()),
        (closed(world.agenda), admins.clone()),
        (of_otto(closed(world.agenda)), vec![as_admin, admin, otto]),
        (open(world.sessions), all.to_vec()),
        (closed(world.sessions), vec![as_admin, admin, nora, mona]),
        (of_otto(closed(world.sessions)), vec![as_admin, admin, nora, mona, otto]),
        (of_otto(Meeting { hidden_at: Some(NOW), ..closed(world.sessions) }), vec![]),
    ] {
        let id = world.add(&meeting).await?;
        for read_context in all {
            let sees = expected.contains(&read_context);
            assert_eq!(
                found_by_each_read(&world, read_context, id, &meeting).await?,
                [sees; 3],
                "{read_context:?} of {meeting:?}"
            );
        }
    }
    Ok(())
}

/// All members of a meeting that a reader sees, alone and in the list, and its time of change.
pub async fn tells_all_of_a_meeting(world: World<'_>) -> Result<()> {
    let later = NOW + Duration::days(9_000);
    let meeting = Meeting {
        title: text("Walk"),
        description: text("<p>Along the river</p>"),
        end_time: Some(NOW + Duration::hours(2)),
        extended_data: json!({"room": {"floor": 2}}).as_object().cloned().unwrap_or_default().into(),
        updated_at: later,
        ..open(world.agenda)
    };
    let id = world.add(&meeting).await?;
    let nora = world.read_context_of(world.nora);
    let seen =
        world.meetings.find_visible(nora, id, LocationFilter::default()).await?.ok_or(Error::NotFound)?;
    assert_eq!((seen.id, &seen.title, &seen.description), (id, &meeting.title, &meeting.description));
    assert_eq!((seen.start_time, seen.end_time), (meeting.start_time, meeting.end_time));
    assert_eq!((seen.created_at, seen.updated_at, seen.changed_at), (NOW, later, later));
    assert_eq!(seen.extended_data, meeting.extended_data);
    let context = &seen.context;
    assert_eq!(
        (context.component, &context.name, context.space),
        (world.agenda, &text("Component"), world.space)
    );
    let listed =
        world.meetings.list(nora, &everything(in_component(world.agenda), Direction::Ascending), ALL).await?;
    assert_eq!(listed.items, [seen], "the list tells the same");

    let aged = Meeting { updated_at: NOW - Duration::days(9_000), ..meeting };
    replace(world.meetings, world.mine, id, &aged).await?;
    let seen =
        world.meetings.find_visible(nora, id, LocationFilter::default()).await?.ok_or(Error::NotFound)?;
    assert!(seen.changed_at > aged.updated_at, "its component was made since");
    Ok(())
}

/// A meeting that no viewer sees is read by its id, and not from another organization.
pub async fn reads_what_is_not_visible(world: World<'_>) -> Result<()> {
    let hidden = Meeting { hidden_at: Some(NOW), ..closed(world.unpublished) };
    let id = world.add(&hidden).await?;
    let found = world.meetings.detail(world.mine, id).await?.ok_or(Error::NotFound)?;
    assert_eq!((found.id, &found.title, found.start_time), (id, &hidden.title, hidden.start_time));
    assert_eq!((found.context.component, found.context.space), (world.unpublished, world.space));
    assert_eq!(world.meetings.detail(world.other, id).await?, None);
    assert_eq!(world.meetings.detail(world.mine, MeetingId(i64::MAX)).await?, None);
    Ok(())
}
