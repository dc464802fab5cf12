//! What is kept, and what is refused.

use super::{ALL, NOW, World, open, text, within};
use crate::{Meeting, MeetingQuery};
use civitas_kernel::{ComponentId, Error, Locale, MeetingId, Result, UserId, Within};
use serde_json::json;
use time::Duration;

/// What is kept comes back, member by member; so does its change.
pub async fn keeps_every_member(world: World<'_>) -> Result<()> {
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
        extended_data: json!({"a": [null, {"é": 1.5}]}).as_object().cloned().unwrap_or_default(),
        updated_at: NOW + Duration::days(1),
        ..Meeting::new(world.agenda, text(""), NOW + Duration::days(9), NOW)
    };
    let plain = Meeting { registrations: [world.nora].into(), ..open(world.walks) };
    let id = world.add(&unusual).await?;
    assert_eq!(world.meetings.find(world.mine, id).await?.as_ref(), Some(&unusual));
    let second = world.add(&plain).await?;
    let all = world.meetings.page_after(world.mine, None, 9).await?;
    assert_eq!(all, [(id, unusual), (second, plain.clone())]);
    world.meetings.save(world.mine, id, &plain).await?;
    assert_eq!(world.meetings.find(world.mine, id).await?.as_ref(), Some(&plain));
    world.meetings.save(world.mine, id, &open(world.agenda)).await?;
    assert_eq!(world.meetings.find(world.mine, id).await?, Some(open(world.agenda)));
    assert_eq!(world.meetings.page_after(world.mine, Some(id), 9).await?, [(second, plain)]);
    assert_eq!(world.meetings.page_after(world.mine, None, 1).await?.len(), 1);
    Ok(())
}

/// No organization sees or changes another's meetings, components and people.
pub async fn keeps_organizations_apart(world: World<'_>) -> Result<()> {
    let (other, id) = (world.other, world.add(&open(world.agenda)).await?);
    let mut foreign = world.of(world.admin);
    foreign.organization = other;
    for part in [Within::default(), within(world.agenda)] {
        let query = MeetingQuery { within: part, ..MeetingQuery::default() };
        assert_eq!(world.meetings.list(foreign, &query, ALL).await?.items, []);
        assert_eq!(world.meetings.find_visible(foreign, id, part).await?, None);
    }
    assert_eq!(world.meetings.find(other, id).await?, None);
    assert_eq!(world.meetings.page_after(other, None, 9).await?, []);
    assert!(!world.lookup.holds_meetings(other, world.agenda).await?);
    assert!(!world.lookup.knows(other, &[world.nora].into()).await?);

    let theft = Meeting { title: text("Stolen"), ..open(world.agenda) };
    assert!(matches!(world.meetings.save(other, id, &theft).await, Err(Error::NotFound)));
    assert_eq!(world.meetings.find(world.mine, id).await?, Some(open(world.agenda)));
    let unknown = world.meetings.save(world.mine, MeetingId(i64::MAX), &theft).await;
    assert!(matches!(unknown, Err(Error::NotFound)));
    Ok(())
}

/// Who has no account in the organization is not registered, and then nothing is kept.
pub async fn registers_nobody_without_an_account(world: World<'_>) -> Result<()> {
    let with = |user| Meeting { registrations: [world.nora, user].into(), ..open(world.agenda) };
    let stranger = UserId(i64::MAX);
    assert!(matches!(world.add(&with(stranger)).await, Err(Error::NotFound)));
    assert!(matches!(world.meetings.add(world.other, &with(world.otto)).await, Err(Error::NotFound)));
    assert_eq!(world.meetings.page_after(world.mine, None, 9).await?, []);
    let id = world.add(&with(world.otto)).await?;
    let changed = Meeting { title: text("Farewell"), ..with(stranger) };
    assert!(matches!(world.meetings.save(world.mine, id, &changed).await, Err(Error::NotFound)));
    assert_eq!(world.meetings.find(world.mine, id).await?, Some(with(world.otto)));
    let knows =
        async |people: &[UserId]| world.lookup.knows(world.mine, &people.iter().copied().collect()).await;
    assert!(knows(&[]).await? && knows(&[world.nora, world.otto]).await?);
    assert!(!knows(&[world.nora, stranger]).await?);
    Ok(())
}

/// A meeting is held by a transaction: on the pool nothing would hold it.
pub async fn is_held_by_a_transaction_only(world: World<'_>) -> Result<()> {
    let id = world.add(&open(world.agenda)).await?;
    assert!(matches!(world.meetings.find_for_update(world.mine, id).await, Err(Error::Internal(_))));
    Ok(())
}

/// Meetings belong to components for meetings, published or not.
pub async fn knows_components_for_meetings(world: World<'_>) -> Result<()> {
    for (component, holds) in [
        (world.agenda, true),
        (world.sessions, true),
        (world.unpublished, true),
        (world.blog, false),
        (ComponentId(i64::MAX), false),
    ] {
        assert_eq!(world.lookup.holds_meetings(world.mine, component).await?, holds, "{component}");
    }
    Ok(())
}
