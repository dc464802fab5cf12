//! What the start page of the panel shows: what needs attention, and figures. The caller checks permission.

use async_trait::async_trait;
use civitas_kernel::{OrganizationId, Result};
use civitas_organizations::OrganizationFigures;
use time::{Duration, OffsetDateTime};

/// The largest number of an [`AlertCount`]: counting stops there, which means "or more".
pub const MAX_ALERT_COUNT: i64 = 1_000;
/// The largest number of a [`DeploymentFigures`]: counting stops there, which means "more than 10,000".
pub const MAX_FIGURE: i64 = 10_001;
/// How far back failed jobs are counted.
const FAILURES: Duration = Duration::days(1);
/// How long a delivery may wait before it is an alert.
const WAITING: Duration = Duration::hours(1);

/// A kind of things that may need an administrator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AlertKind {
    /// Registrations for webhooks that were disabled after failures.
    DisabledRegistrations,
    /// Registrations that an administrator has paused.
    PausedRegistrations,
    /// Jobs that were accepted in the last 24 hours and have failed.
    FailedJobs,
    /// Deliveries that were given up and are still stored.
    DeadDeliveries,
    /// Deliveries that were queued more than an hour ago and are pending.
    WaitingDeliveries,
    /// Mails and invitations that could not be sent at the first attempt and wait for another one. Those that were
    /// given up are not stored: the log has them.
    FailedMails,
    /// Hosts of organizations that are not confirmed, primary and secondary ones.
    PendingHosts,
    /// General administrators of organizations whose account is locked.
    LockedAdministrators,
}

impl AlertKind {
    /// All kinds, in the order of the page.
    pub const ALL: [Self; 8] = [
        Self::DisabledRegistrations,
        Self::PausedRegistrations,
        Self::FailedJobs,
        Self::DeadDeliveries,
        Self::WaitingDeliveries,
        Self::FailedMails,
        Self::PendingHosts,
        Self::LockedAdministrators,
    ];

    /// The time that limits what counts: `from` of the list of failed jobs, `to` of that of waiting deliveries. The
    /// present for the others, which have no limit.
    pub fn moment(self, now: OffsetDateTime) -> OffsetDateTime {
        match self {
            Self::FailedJobs => now - FAILURES,
            Self::WaitingDeliveries => now - WAITING,
            _ => now,
        }
    }
}

/// How many things of a kind there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AlertCount {
    /// Their number, at most [`MAX_ALERT_COUNT`].
    pub number: i64,
    /// The organization, if all are of one and fewer than [`MAX_ALERT_COUNT`].
    pub organization: Option<OrganizationId>,
}

/// A kind of things that needs attention.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Alert {
    /// The kind.
    pub kind: AlertKind,
    /// The time that limits what counts ([`AlertKind::moment`]).
    pub moment: OffsetDateTime,
    /// What was found, at least one; `None` if the database could not be read.
    pub found: Option<AlertCount>,
}

/// The figures of a deployment, each at most [`MAX_FIGURE`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DeploymentFigures {
    /// Organizations.
    pub organizations: i64,
    /// API clients.
    pub clients: i64,
    /// Accounts that are not deleted.
    pub people: i64,
    /// Proposals, with drafts and hidden ones.
    pub proposals: i64,
    /// Votes.
    pub votes: i64,
    /// Jobs that were accepted since the given time.
    pub jobs_today: i64,
}

/// The rows of a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct QueueFigures {
    /// Their number, at most [`MAX_FIGURE`].
    pub number: i64,
    /// When the first of them was accepted (jobs), queued (deliveries) or is due (tasks).
    pub first: Option<OffsetDateTime>,
}

/// What the database has to store and what waits in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DatabaseLoad {
    /// Jobs that wait for a worker.
    pub jobs: QueueFigures,
    /// Deliveries of webhooks that wait for an attempt.
    pub deliveries: QueueFigures,
    /// Tasks of the platform: mails, invitations, checks of hosts.
    pub tasks: QueueFigures,
    /// The size of the database in bytes.
    pub database_bytes: i64,
}

/// What waits the longest in each queue, and the size of the database: for metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OldestWaiting {
    /// When the oldest job that waits was accepted.
    pub job: Option<OffsetDateTime>,
    /// Since when the first mail or invitation is due. In the future if all wait for another attempt.
    pub mail: Option<OffsetDateTime>,
    /// Since when the first check of a host is due, as for mails.
    pub host_check: Option<OffsetDateTime>,
    /// When the oldest event happened that was not relayed to receivers.
    pub event: Option<OffsetDateTime>,
    /// Since when the first registration has a delivery that is due, as for mails.
    pub delivery: Option<OffsetDateTime>,
    /// The size of the database in bytes.
    pub database_bytes: i64,
}

/// Counts for administrators of the deployment. Each count stops at its limit.
#[cfg_attr(test, mockall::automock)]
#[async_trait]
pub trait OperationsStore: Send + Sync {
    /// The things of this kind, with one statement. `at`: [`AlertKind::moment`].
    async fn find(&self, kind: AlertKind, at: OffsetDateTime) -> Result<AlertCount>;
    /// The figures, with one statement. `today`: the time from which jobs count.
    async fn figures(&self, today: OffsetDateTime) -> Result<DeploymentFigures>;
    /// What these organizations have, in any order, with one statement. Unknown ids are left out.
    async fn organization_figures(
        &self,
        ids: &[OrganizationId],
    ) -> Result<Vec<(OrganizationId, OrganizationFigures)>>;
    /// The queues and the size of the database, with one statement.
    async fn load(&self) -> Result<DatabaseLoad>;
    /// The oldest of each queue and the size of the database, with one statement that reads a row of an index for each.
    async fn oldest_waiting(&self) -> Result<OldestWaiting>;
}

/// Lists what needs attention.
#[derive(Clone, Copy)]
pub struct Alerts<'a> {
    /// The counts.
    pub store: &'a dyn OperationsStore,
}

impl Alerts<'_> {
    /// The kinds of which there is at least one, and those that could not be read; with 8 statements. An error of the
    /// database is logged.
    pub async fn list(&self, now: OffsetDateTime) -> Vec<Alert> {
        let mut entries = Vec::new();
        for kind in AlertKind::ALL {
            let moment = kind.moment(now);
            let found = self.store.find(kind, moment).await;
            if let Err(error) = &found {
                tracing::warn!(concern = ?kind, %error, "what needs attention could not be counted");
            }
            let found = found.ok();
            if found.is_none_or(|found| found.number > 0) {
                entries.push(Alert { kind, moment, found });
            }
        }
        entries
    }

    /// The figures of the deployment.
    pub async fn figures(&self, today: OffsetDateTime) -> Result<DeploymentFigures> {
        self.store.figures(today).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use civitas_kernel::Error;
    use time::macros::datetime;

    const NOW: OffsetDateTime = datetime!(2026-03-01 09:30 UTC);

    #[tokio::test]
    async fn what_there_is_none_of_is_left_out_and_what_cannot_be_read_is_an_entry() {
        let mut store = MockOperationsStore::new();
        let three = AlertCount { number: 3, organization: Some(OrganizationId(7)) };
        store.expect_find().times(8).returning(move |kind, at| match kind {
            AlertKind::FailedJobs if at == NOW - Duration::days(1) => Ok(three),
            AlertKind::WaitingDeliveries if at == NOW - Duration::hours(1) => Err(Error::internal("broken")),
            _ => Ok(AlertCount::default()),
        });
        let entries = Alerts { store: &store }.list(NOW).await;
        let found: Vec<_> = entries.iter().map(|entry| (entry.kind, entry.found)).collect();
        assert_eq!(found, [(AlertKind::FailedJobs, Some(three)), (AlertKind::WaitingDeliveries, None)]);
    }
}
