//! Writes: stored records and errors.

use super::{ALL, NOW, World, in_component, open, text};
use crate::{Meeting, MeetingQuery};
use civitas_kernel::records::Change;
use civitas_kernel::records::conformance::Samples;
use civitas_kernel::{Error, Locale, LocationFilter, MeetingId, Result, UserId};
use serde_json::json;
use time::Duration;

/// Meetings for the conformance tests of [`Records`](civitas_kernel::records::Records).
pub async fn meetings(world: World<'_>) -> Result<Samples<'_, Meeting>> {
    let at = |seconds| Some(NOW + Duration::seconds(seconds));
    let unusual = Meeting {
        title: [(Locale::EN, "Walk".to_owned()), (Locale::FR, "Balade".to_owned())].into(),
        description: [(Locale::ES, String::new())].into(),
        end_time: at(-1),
        published_at: at(1),
        private: true,
        transparent: true,
        registrations: [world.otto, world.nora].into(),
        withdrawn_at: at(2),
        hidden_at: at(3),
        deleted_at: at(4),
        extended_data: json!({"a": [null, {"é": 1.5}]}).as_object().cloned().unwrap_or_default().into(),
        updated_at: NOW + Duration::days(1),
        ..Meeting::new(world.agenda, text(""), NOW + Duration::days(9), NOW)
    };
    let plain = Meeting { registrations: [world.nora].into(), ..open(world.walks) };
    let early = NOW - Duration::days(1);
    let samples = [unusual, plain, Meeting::new(world.sessions, text("Early"), early, early)];
    let World { meetings, mine, other, .. } = world;
    Ok(Samples { records: meetings, mine, other, samples, unknown: MeetingId(i64::MAX) })
}

/// No organization sees another's meetings.
pub async fn isolates_organizations(world: World<'_>) -> Result<()> {
    let (other, id) = (world.other, world.add(&open(world.agenda)).await?);
    let mut foreign = world.read_context_of(world.admin);
    foreign.organization = other;
    for part in [LocationFilter::default(), in_component(world.agenda)] {
        let query = MeetingQuery { within: part, ..MeetingQuery::default() };
        assert_eq!(world.meetings.list(foreign, &query, ALL).await?.items, []);
        assert_eq!(world.meetings.find_visible(foreign, id, part).await?, None);
    }
    Ok(())
}

/// A registered user without an account in the organization is an error, and nothing is stored.
pub async fn registers_nobody_without_an_account(world: World<'_>) -> Result<()> {
    let with = |user| Meeting { registrations: [world.nora, user].into(), ..open(world.agenda) };
    let stranger = UserId(i64::MAX);
    assert!(matches!(world.add(&with(stranger)).await, Err(Error::NotFound)));
    assert!(matches!(world.meetings.add(world.other, &with(world.otto)).await, Err(Error::NotFound)));
    assert_eq!(world.meetings.page_after(world.mine, None, 9).await?, []);
    let id = world.add(&with(world.otto)).await?;
    let changed = Meeting { title: text("Farewell"), ..with(stranger) };
    let change = Change::new(with(world.otto), changed);
    assert!(matches!(world.meetings.save(world.mine, id, &change).await, Err(Error::NotFound)));
    assert_eq!(world.meetings.find(world.mine, id).await?, Some(with(world.otto)));
    Ok(())
}
