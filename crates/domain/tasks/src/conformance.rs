//! Conformance tests: what every implementation of the ports must pass. Each is a function that fails on a violation.

use crate::{LEASE, Task, TaskFilter, TaskLog, TaskStore};
use civitas_kernel::{
    LogRequest, LogStart, NewTask, OrganizationId, Result, TaskId, TaskQueue, conformance_world,
};
use serde_json::{Value, json};
use std::time::Instant;
use time::macros::datetime;
use time::{Duration, OffsetDateTime};

conformance_world! {
    /// A store, and two existing organizations.
    pub struct World {
        ports(queue: TaskQueue, tasks: TaskStore, log: TaskLog)
    }
}

const NOW: OffsetDateTime = datetime!(2026-03-01 09:30:00.123456 UTC);

fn task(organization: OrganizationId, payload: Value, seconds: i64) -> NewTask {
    let due_at = NOW + Duration::seconds(seconds);
    NewTask { organization, kind: "look", subject: None, payload, due_at }
}

impl World<'_> {
    async fn claim(&self, now: OffsetDateTime) -> Result<Vec<Task>> {
        self.tasks.claim(&["look", "mail"], now, now + LEASE, 100).await
    }
}

fn payloads(tasks: &[Task]) -> Vec<&Value> {
    tasks.iter().map(|task| &task.payload).collect()
}

/// A stored task is read back with all members.
pub async fn keeps_every_member(world: World<'_>) -> Result<()> {
    let payload = json!({"deep": [{"a": 1}], "nothing": null, "text": "Été"});
    world.queue.add(&task(world.mine, payload.clone(), 0)).await?;
    let claimed = world.claim(NOW).await?;
    let [one] = claimed.as_slice() else { panic!("{claimed:?}") };
    let known = (one.organization, one.kind.as_str(), &one.payload, one.attempt);
    assert_eq!(known, (world.mine, "look", &payload, 1));
    Ok(())
}

/// Due tasks are claimed, the longest due first, up to the limit, each once.
pub async fn claims_what_is_due(world: World<'_>) -> Result<()> {
    for (number, seconds) in [(2, 20), (1, 10), (3, 90)] {
        world.queue.add(&task(world.mine, json!(number), seconds)).await?;
    }
    let now = NOW + Duration::seconds(60);
    let first = world.tasks.claim(&["look"], now, now + LEASE, 1).await?;
    assert_eq!(payloads(&first), [&json!(1)]);
    let second = world.claim(now).await?;
    assert_eq!(payloads(&second), [&json!(2)], "not what is not due, nor what is claimed");
    assert!(world.claim(now).await?.is_empty());
    Ok(())
}

/// A worker gets tasks of its kinds only.
pub async fn leaves_kinds_a_worker_does_not_know(world: World<'_>) -> Result<()> {
    world.queue.add(&task(world.mine, json!(1), 0)).await?;
    assert!(world.tasks.claim(&["mail", "host"], NOW, NOW + LEASE, 9).await?.is_empty());
    assert!(world.tasks.claim(&[], NOW, NOW + LEASE, 9).await?.is_empty());
    assert_eq!(world.tasks.claim(&["look"], NOW, NOW + LEASE, 9).await?.len(), 1);
    Ok(())
}

/// A single worker makes claimed tasks due, and does not change postponed ones.
pub async fn takes_over_what_a_dead_process_left(world: World<'_>) -> Result<()> {
    for number in [1, 2] {
        world.queue.add(&task(world.mine, json!(number), number)).await?;
    }
    let now = NOW + Duration::seconds(10);
    let claimed = world.claim(now).await?;
    assert_eq!(payloads(&claimed), [&json!(1), &json!(2)]);
    assert!(world.tasks.postpone(&claimed[1], now + LEASE, true).await?);
    assert_eq!(world.tasks.reclaim_all(now).await?, 1);
    let again = world.claim(now).await?;
    assert_eq!(payloads(&again), [&json!(1)]);
    assert!(!world.tasks.end(&claimed[0]).await?, "the dead one has lost it");
    Ok(())
}

/// A claimed task that was not ended is due again when its lease expires, as another attempt; the first worker has lost
/// it.
pub async fn brings_lost_tasks_back(world: World<'_>) -> Result<()> {
    world.queue.add(&task(world.mine, json!(1), 0)).await?;
    let lost = world.claim(NOW).await?.remove(0);
    assert!(world.claim(NOW + LEASE - Duration::microseconds(1)).await?.is_empty());
    let found = world.claim(NOW + LEASE).await?.remove(0);
    assert_eq!(found, Task { attempt: 2, ..lost.clone() });
    assert!(!world.tasks.end(&lost).await?, "it is another worker's");
    assert!(!world.tasks.postpone(&lost, NOW, true).await?);
    assert!(world.tasks.end(&found).await?);
    assert!(!world.tasks.end(&found).await?, "there is nothing left to end");
    assert!(world.claim(NOW + LEASE * 9).await?.is_empty());
    Ok(())
}

/// A postponed task waits until it is due, and its attempts are counted further.
pub async fn postpones(world: World<'_>) -> Result<()> {
    world.queue.add(&task(world.mine, json!(1), 0)).await?;
    let first = world.claim(NOW).await?.remove(0);
    let due = NOW + Duration::hours(3);
    assert!(world.tasks.postpone(&first, due, true).await?);
    assert!(world.claim(due - Duration::microseconds(1)).await?.is_empty());
    let second = world.claim(due).await?.remove(0);
    assert_eq!(second, Task { attempt: 2, ..first });
    assert!(world.tasks.postpone(&second, due, false).await?);
    assert_eq!(world.claim(due).await?, [second], "the attempt was not counted");
    Ok(())
}

/// For one organization, kind and subject there is one task: the last that was added. The attempts begin again, and the
/// worker of the previous one has lost it.
pub async fn keeps_one_task_about_a_subject(world: World<'_>) -> Result<()> {
    let about = |number: i64, seconds| task(world.mine, json!(number), seconds).with_subject("7");
    world.queue.add(&about(1, 0)).await?;
    let running = world.claim(NOW).await?.remove(0);
    world.queue.add(&about(2, 5)).await?;
    assert!(!world.tasks.end(&running).await?, "another one has replaced it");
    assert!(world.claim(NOW).await?.is_empty(), "which is not due yet");
    let claimed = world.claim(NOW + Duration::seconds(5)).await?;
    assert_eq!((payloads(&claimed), claimed[0].attempt), (vec![&json!(2)], 1));
    let strangers = [
        NewTask { subject: Some("8".to_owned()), ..about(3, 0) },
        NewTask { kind: "mail", ..about(4, 0) },
        NewTask { organization: world.other, ..about(5, 0) },
        NewTask { subject: None, ..about(6, 0) },
        NewTask { subject: None, ..about(7, 0) },
    ];
    for stranger in &strangers {
        world.queue.add(stranger).await?;
    }
    assert_eq!(world.claim(NOW).await?.len(), strangers.len(), "each has a key of its own");
    assert!(world.tasks.end(&claimed[0]).await?);
    Ok(())
}

/// A withdrawn task is removed: that of this organization, kind and subject, and no other.
pub async fn withdraws(world: World<'_>) -> Result<()> {
    for organization in [world.mine, world.other] {
        world.queue.add(&task(organization, json!(organization), 0).with_subject("7")).await?;
    }
    assert!(!world.queue.withdraw(world.mine, "mail", "7").await?);
    assert!(!world.queue.withdraw(world.mine, "look", "8").await?);
    assert!(world.queue.withdraw(world.mine, "look", "7").await?);
    assert!(!world.queue.withdraw(world.mine, "look", "7").await?);
    assert_eq!(payloads(&world.claim(NOW).await?), [&json!(world.other)]);
    Ok(())
}

/// A waiting worker is notified of an added task, also of one added just before the wait; otherwise the wait times out.
pub async fn wakes_who_waits(world: World<'_>) -> Result<()> {
    let begun = Instant::now();
    world.tasks.wait(std::time::Duration::from_millis(50)).await;
    assert!(begun.elapsed() >= std::time::Duration::from_millis(50), "nothing was added");
    world.queue.add(&task(world.mine, json!(1), 0)).await?;
    let begun = Instant::now();
    world.tasks.wait(std::time::Duration::from_secs(60)).await;
    assert!(begun.elapsed() < std::time::Duration::from_secs(30), "a task was added before the wait");
    Ok(())
}

/// The log has the tasks of its kinds, the last added first, in pages without gaps.
pub async fn logs_what_waits(world: World<'_>) -> Result<()> {
    for (number, organization) in [(1, world.mine), (2, world.other), (3, world.mine)] {
        world
            .queue
            .add(&task(organization, json!(number), 60 - number).with_subject(number.to_string()))
            .await?;
    }
    let all = TaskFilter { kinds: &["look"], is_retried: false };
    let page = async |start| world.log.page(&all, LogRequest { start, limit: 2 }).await;
    let subjects = |items: &[crate::WaitingTask]| -> Vec<String> {
        items.iter().filter_map(|task| task.subject.clone()).collect()
    };
    let first = page(LogStart::Newest).await?;
    assert_eq!(
        (subjects(&first.items), first.has_newer, first.has_older),
        (vec!["3".to_owned(), "2".to_owned()], false, true)
    );
    let newest = &first.items[0];
    let known =
        (newest.organization, newest.kind.as_str(), newest.attempts, newest.is_claimed, newest.due_at);
    assert_eq!(known, (world.mine, "look", 0, false, NOW + Duration::seconds(57)));
    let older = page(LogStart::OlderThan(NOW, first.items[1].id)).await?;
    assert_eq!((subjects(&older.items), older.has_older), (vec!["1".to_owned()], false));
    let newer = page(LogStart::NewerThan(NOW, older.items[0].id)).await?;
    assert_eq!((subjects(&newer.items), newer.has_newer), (subjects(&first.items), false));
    let others = TaskFilter { kinds: &["mail"], is_retried: false };
    let newest = LogRequest { start: LogStart::<TaskId>::Newest, limit: 2 };
    assert!(world.log.page(&others, newest).await?.items.is_empty());
    Ok(())
}

/// Tasks that wait for another attempt can be listed alone, and brought forward; claimed and new ones are not.
pub async fn brings_retried_tasks_forward(world: World<'_>) -> Result<()> {
    for number in [1, 2] {
        world.queue.add(&task(world.mine, json!(number), number).with_subject(number.to_string())).await?;
    }
    let now = NOW + Duration::seconds(10);
    let claimed = world.claim(now).await?;
    assert!(world.tasks.postpone(&claimed[0], now + Duration::hours(2), true).await?);
    world.queue.add(&task(world.mine, json!(3), 3600).with_subject("3")).await?;
    let retried = TaskFilter { kinds: &["look"], is_retried: true };
    let page = LogRequest { start: LogStart::Newest, limit: 9 };
    let listed = world.log.page(&retried, page).await?.items;
    let [one] = listed.as_slice() else { panic!("{listed:?}") };
    assert_eq!((one.id, one.attempts, one.is_claimed), (claimed[0].id, 1, false));
    assert_eq!(world.log.bring_forward(&["mail"], now, 9).await?, 0);
    assert_eq!(world.log.bring_forward(&["look"], now, 9).await?, 1);
    assert_eq!(world.log.bring_forward(&["look"], now, 9).await?, 0, "it is due already");
    let again = world.claim(now).await?;
    assert_eq!((payloads(&again), again[0].attempt), (vec![&json!(1)], 2));
    Ok(())
}
