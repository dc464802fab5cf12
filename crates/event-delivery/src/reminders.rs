//! Reminders of meetings: an event 48 hours before a meeting begins (contract 09 C.1).

use civitas_application::worker_loop::{is_running, pause};
use civitas_application::{EventCommitter, Store};
use civitas_kernel::{Ability, Event, MeetingId, OrganizationId, Result, Subject, clock};
use civitas_meetings::REMINDER_NOTICE;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// The interval of the search for due reminders.
const SEARCH: Duration = Duration::from_secs(5);
/// The most reminders of one search.
const BATCH: i64 = 50;

/// Finds meetings whose reminder is due, and emits its event: once for each meeting and start time, on any number of
/// nodes. The search needs no queue: a meeting that is published, moved or withdrawn is found, or not, by its columns.
pub struct ReminderWorker {
    store: Arc<dyn Store>,
    committer: EventCommitter,
}

impl ReminderWorker {
    /// Reminders for the meetings of this store.
    pub fn new(store: Arc<dyn Store>, committer: EventCommitter) -> Self {
        Self { store, committer }
    }

    /// Runs until `stop` is true.
    pub async fn run(self, mut stop: watch::Receiver<bool>) {
        while is_running(&stop) {
            match self.remind().await {
                Ok(found) if found >= BATCH => {}
                Ok(_) => pause(SEARCH, &mut stop).await,
                Err(error) => {
                    tracing::warn!(%error, "the search for due reminders failed");
                    pause(SEARCH, &mut stop).await;
                }
            }
        }
    }

    /// Emits the earliest due reminders. Returns their number.
    ///
    /// # Errors
    /// Those of the store and of the view; the reminder stays due.
    pub async fn remind(&self) -> Result<i64> {
        let now = clock::now();
        let due = self.store.reminders().due(now, now + REMINDER_NOTICE, BATCH).await?;
        let mut emitted = 0;
        for (organization, meeting) in due {
            emitted += i64::from(self.emit(organization, meeting).await?);
        }
        Ok(emitted)
    }

    /// Emits the reminder of a meeting, unless another node was first or the meeting has changed. Whether it did.
    async fn emit(&self, organization: OrganizationId, meeting: MeetingId) -> Result<bool> {
        let now = clock::now();
        let event = Event { name: Ability::MeetingReminder, subject: Subject::Meeting(meeting) };
        let tx = self.store.begin().await?;
        let outcome = match tx.reminders().claim(organization, meeting, now, now + REMINDER_NOTICE).await {
            Ok(true) => {
                self.committer.render_events(&*tx, vec![(organization, event)], now).await.map(|()| true)
            }
            outcome => outcome,
        };
        self.committer.commit_with_events(tx, now, outcome).await
    }
}
