//! Reminders.

use super::{NOW, World, open};
use crate::Meeting;
use civitas_kernel::records::Change;
use civitas_kernel::{MeetingId, OrganizationId, Result};
use time::{Duration, OffsetDateTime};

/// The time until which reminders are due.
const UNTIL: OffsetDateTime = NOW.saturating_add(Duration::hours(48));

impl World<'_> {
    /// A published meeting that begins this long after [`NOW`].
    fn beginning(&self, after: Duration) -> Meeting {
        Meeting { start_time: NOW + after, ..open(self.agenda) }
    }

    async fn due(&self, limit: i64) -> Result<Vec<(OrganizationId, MeetingId)>> {
        self.reminders.due(NOW, UNTIL, limit).await
    }

    async fn claim(&self, organization: OrganizationId, id: MeetingId) -> Result<bool> {
        self.reminders.claim(organization, id, NOW, UNTIL).await
    }
}

/// Published meetings of the next time are due, the earliest first, but none that is withdrawn, hidden or deleted.
pub async fn finds_meetings_to_remind_of(world: World<'_>) -> Result<()> {
    let hour = world.beginning(Duration::HOUR);
    let last = world.add(&world.beginning(UNTIL - NOW)).await?;
    let first = world.add(&hour).await?;
    let mut left_out = Vec::new();
    for meeting in [
        world.beginning(Duration::ZERO),
        world.beginning(UNTIL - NOW + Duration::MICROSECOND),
        Meeting { published_at: None, ..hour.clone() },
        Meeting { withdrawn_at: Some(NOW), ..hour.clone() },
        Meeting { hidden_at: Some(NOW), ..hour.clone() },
        Meeting { deleted_at: Some(NOW), ..hour.clone() },
    ] {
        left_out.push(world.add(&meeting).await?);
    }
    assert_eq!(world.due(9).await?, [(world.mine, first), (world.mine, last)]);
    assert_eq!(world.due(1).await?, [(world.mine, first)]);
    for id in left_out {
        assert!(!world.claim(world.mine, id).await?);
    }
    assert!(!world.claim(world.other, first).await?, "of another organization");
    assert!(!world.claim(world.mine, MeetingId(first.0 + 999)).await?);
    Ok(())
}

/// A reminder is claimed once for each start time.
pub async fn claims_a_reminder_once_for_each_time(world: World<'_>) -> Result<()> {
    let before = world.beginning(Duration::HOUR);
    let id = world.add(&before).await?;
    assert!(world.claim(world.mine, id).await?);
    assert!(!world.claim(world.mine, id).await?);
    assert!(world.due(9).await?.is_empty());
    let later = Meeting { start_time: NOW + Duration::HOUR * 2, ..before.clone() };
    world.meetings.save(world.mine, id, &Change::new(before.clone(), later.clone())).await?;
    assert_eq!(world.due(9).await?, [(world.mine, id)]);
    assert!(world.claim(world.mine, id).await?);
    world.meetings.save(world.mine, id, &Change::new(later, before)).await?;
    assert!(world.due(9).await?.is_empty(), "of the first time there was one");
    Ok(())
}

/// An import records the reminders of meetings that begin soon or have begun as sent.
pub async fn marks_what_an_import_need_not_send(world: World<'_>) -> Result<()> {
    let (past, soon, late) = (
        world.beginning(-Duration::DAY),
        world.beginning(Duration::HOUR),
        world.beginning(Duration::DAY * 3),
    );
    let hidden = Meeting { hidden_at: Some(NOW), ..soon.clone() };
    let mut ids = Vec::new();
    for meeting in [&past, &soon, &late, &hidden] {
        let id = world.add(meeting).await?;
        world.reminders.mark_due(world.other, id, UNTIL).await?;
        ids.push(id);
    }
    assert_eq!(world.due(9).await?, [(world.mine, ids[1])], "of another organization");
    for id in &ids {
        world.reminders.mark_due(world.mine, *id, UNTIL).await?;
        world.reminders.mark_due(world.mine, *id, UNTIL).await?;
    }
    assert!(world.due(9).await?.is_empty());
    world.meetings.save(world.mine, ids[3], &Change::new(hidden, soon)).await?;
    assert_eq!(world.due(9).await?, [(world.mine, ids[3])], "it was hidden");
    assert!(world.reminders.claim(world.mine, ids[2], NOW, NOW + Duration::DAY * 3).await?);
    let earlier = NOW - Duration::DAY * 2;
    assert!(!world.reminders.claim(world.mine, ids[0], earlier, NOW).await?, "marked, although it was past");
    Ok(())
}
