//! Reminders of meetings: once for each meeting and start time (contract 09 C.1).

use super::Platform;
use civitas_event_delivery::ReminderWorker;
use civitas_kernel::{Ability, clock};
use civitas_tests::{Received, at_once};
use time::format_description::well_known::Rfc3339;
use time::{Duration, OffsetDateTime};

fn text(at: OffsetDateTime) -> String {
    at.format(&Rfc3339).unwrap()
}

/// A meeting of the archive that begins at this time. `more`: further members.
fn meeting(reference: &str, start: OffsetDateTime, more: &str) -> String {
    format!(
        r#"{{"type": "meeting", "ref": "{reference}", "organization": "city", "component": "meetings",
            "title": {{"en": "{reference}"}}, "start_time": "{}"{more}}}"#,
        text(start)
    )
    .replace('\n', " ")
}

fn titles(received: &[Received]) -> Vec<String> {
    let title = |one: &Received| one.json()["data"]["attributes"]["title"]["en"].as_str().unwrap().to_owned();
    let mut titles: Vec<_> = received.iter().map(title).collect();
    titles.sort();
    titles
}

#[tokio::test(flavor = "multi_thread")]
async fn a_meeting_is_reminded_of_when_it_is_published_within_48_hours_and_again_when_it_moves() {
    at_once(Platform::on_both_engines(&[]).await, |mut platform| async move {
        platform.register("/", &[Ability::MeetingReminder]).await;
        let now = clock::now();
        let published = format!(r#", "published_at": "{}""#, text(now));
        let soon = now + Duration::hours(5);
        let lines = [
            meeting("unpublished", soon, ""),
            meeting("past", now - Duration::hours(1), &published),
            meeting("later", now + Duration::days(3), &published),
            meeting("known", soon, &published),
            meeting("hidden", soon, &format!(r#"{published}, "hidden_at": "{}""#, text(now))),
        ];
        platform.emit(&lines.join("\n")).await;
        tokio::time::sleep(std::time::Duration::from_secs(7)).await;
        assert_eq!(platform.receiver.count(), 0, "reminders that are due at the import are not sent");

        platform.edit("unpublished", |meeting| meeting.published_at = Some(now)).await;
        platform.edit("known", |meeting| meeting.start_time = soon + Duration::hours(1)).await;
        let all = platform.receiver.wait_for(2).await;
        assert_eq!(titles(&all), ["known", "unpublished"]);
        platform.events_of(&all);

        platform.edit("known", |meeting| meeting.start_time = soon).await;
        platform.edit("unpublished", |meeting| meeting.start_time = now + Duration::days(9)).await;
        platform.edit("later", |meeting| meeting.start_time = now + Duration::hours(47)).await;
        let all = platform.receiver.wait_for(3).await;
        assert_eq!(titles(&all), ["known", "later", "unpublished"], "once for each start time");
        tokio::time::sleep(std::time::Duration::from_secs(7)).await;
        assert_eq!(platform.receiver.count(), 3);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn several_nodes_send_one_reminder() {
    at_once(Platform::on_both_engines(&[]).await, |mut platform| async move {
        platform.register("/", &[Ability::MeetingReminder]).await;
        platform.emit(&meeting("soon", clock::now() + Duration::days(3), "")).await;
        let start = clock::now() + Duration::hours(3);
        platform
            .edit("soon", |meeting| {
                meeting.published_at = Some(clock::now());
                meeting.start_time = start;
            })
            .await;
        let other = platform.service.database.open_again().await;
        let nodes = [platform.service.store.clone(), other.clone(), other];
        let nodes = nodes.map(|store| {
            tokio::spawn(async move { ReminderWorker::new(store, super::event_committer()).remind().await })
        });
        let mut sent = 0;
        for node in nodes {
            sent += node.await.unwrap().unwrap();
        }
        assert!(sent <= 1);
        platform.receiver.wait_for(1).await;
        tokio::time::sleep(std::time::Duration::from_secs(6)).await;
        assert_eq!(platform.receiver.count(), 1);
    })
    .await;
}

impl Platform {
    /// Changes a meeting that the archive made, as an administrator does.
    async fn edit(&self, title: &str, edit: impl FnOnce(&mut civitas_meetings::Meeting) + Send) {
        let store = &self.service.store;
        let all = store.meetings().page_after(self.city(), None, 100).await.unwrap();
        let found = |one: &civitas_meetings::Meeting| one.title.iter().any(|(_, text)| text == title);
        let (id, _) = all.into_iter().find(|(_, meeting)| found(meeting)).expect("a meeting");
        let tx = store.begin().await.unwrap();
        let admin = civitas_kernel::records::AdminWithoutRules(
            tx.meetings() as &dyn civitas_kernel::records::Records<_>
        );
        civitas_kernel::records::edit(&admin, self.city(), id, clock::now(), edit).await.unwrap();
        super::event_committer().commit_with_events(tx, clock::now(), Ok(())).await.unwrap();
    }
}
