//! What needs attention, and the figures of a deployment.

use crate::bounded_count::{BoundedCount, BoundedCountRow};
use crate::columns::{self, EnumColumn};
use crate::engine::Db;
use crate::engine::dialect::DATABASE_BYTES;
use crate::engine::sql::Moment;
use crate::optional::filter_some;
use crate::schema::{
    jobs, organization_hosts, organizations, tasks, users, webhook_deliveries as deliveries,
    webhook_registrations as registrations,
};
use crate::session::{LoadRowsExt, Session};
use async_trait::async_trait;
use civitas_accounts::{SendInvitation, SendMail};
use civitas_application::{
    AlertCount, AlertKind, DatabaseLoad, DeploymentFigures, MAX_ALERT_COUNT, MAX_FIGURE, OldestWaiting,
    OperationsStore, QueueFigures,
};
use civitas_jobs::JobStatus;
use civitas_kernel::{OrganizationId, Result, TaskPayload};
use civitas_organizations::{CheckHost, OrganizationFigures};
use civitas_webhooks::DeliveryStatus;
use diesel::dsl::sql;
use diesel::expression::SqlLiteral;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Nullable};
use time::OffsetDateTime;

/// The times of three queues.
type Times = (Option<OffsetDateTime>, Option<OffsetDateTime>, Option<OffsetDateTime>);

fn found((number, with_organization, first, last): BoundedCountRow) -> AlertCount {
    let is_one = number < MAX_ALERT_COUNT && with_organization == number && first == last;
    AlertCount { number, organization: first.filter(|_| is_one).map(OrganizationId) }
}

/// The number of rows of a table, at most [`MAX_FIGURE`].
fn number(of: &str) -> SqlLiteral<BigInt> {
    sql(&format!("(SELECT count(*) FROM (SELECT 1 FROM {of} LIMIT {MAX_FIGURE}) AS counted)"))
}

/// The time of the first row of a table in an order.
fn first(column: &str, of: &str, order: &str) -> SqlLiteral<Nullable<Moment>> {
    sql(&format!("(SELECT {column} FROM {of} ORDER BY {order} LIMIT 1)"))
}

/// The number of rows of a table with the organization of the outer statement, up to [`OrganizationFigures::MAX_COUNT`].
fn counted(table: &str, condition: &str) -> SqlLiteral<BigInt> {
    let most = OrganizationFigures::MAX_COUNT;
    sql::<BigInt>(&format!(
        "(SELECT count(*) FROM (SELECT 1 FROM {table} WHERE {table}.organization_id = organizations.id{condition} \
         LIMIT {most}) AS counted)"
    ))
}

impl Session {
    async fn count_deliveries(
        &self,
        status: DeliveryStatus,
        before: Option<OffsetDateTime>,
    ) -> Result<BoundedCountRow> {
        let mut some = deliveries::table
            .filter(deliveries::status.eq(EnumColumn(status)))
            .select(deliveries::organization_id)
            .limit(MAX_ALERT_COUNT)
            .into_boxed::<Db>();
        filter_some!(some; before => |before| deliveries::created_at.lt(before));
        BoundedCount(some).value_from(self.read_long()).await
    }
}

#[async_trait]
impl OperationsStore for Session {
    async fn find(&self, kind: AlertKind, at: OffsetDateTime) -> Result<AlertCount> {
        let registrations =
            registrations::table.select(registrations::organization_id).limit(MAX_ALERT_COUNT);
        let counted: Result<BoundedCountRow> = match kind {
            AlertKind::FailedJobs => {
                let failed = jobs::table
                    .filter(jobs::status.eq(EnumColumn(JobStatus::Failed)))
                    .filter(jobs::created_at.ge(at))
                    .select(jobs::organization_id)
                    .limit(MAX_ALERT_COUNT);
                BoundedCount(failed).value_from(self.read_long()).await
            }
            AlertKind::DisabledRegistrations => {
                let disabled = registrations.filter(registrations::disabled_at.is_not_null());
                BoundedCount(disabled).value_from(self.read_long()).await
            }
            AlertKind::PausedRegistrations => {
                let paused = registrations.filter(registrations::paused_at.is_not_null());
                BoundedCount(paused).value_from(self.read_long()).await
            }
            AlertKind::DeadDeliveries => self.count_deliveries(DeliveryStatus::Dead, None).await,
            AlertKind::WaitingDeliveries => self.count_deliveries(DeliveryStatus::Pending, Some(at)).await,
            AlertKind::PendingHosts => {
                // The same condition as the index `organization_hosts_pending`.
                let pending = organization_hosts::table
                    .filter(sql::<Bool>("state <> 'confirmed' OR kind IN ('unconfirmed', 'promoted')"))
                    .select(organization_hosts::organization_id)
                    .limit(MAX_ALERT_COUNT);
                BoundedCount(pending).value_from(self.read_long()).await
            }
            AlertKind::LockedAdministrators => {
                let locked = users::table
                    .filter(users::admin)
                    .filter(users::locked_at.is_not_null())
                    .filter(users::deleted_at.is_null())
                    .select(users::organization_id)
                    .limit(MAX_ALERT_COUNT);
                BoundedCount(locked).value_from(self.read_long()).await
            }
            AlertKind::FailedMails => {
                // The same condition as the index `tasks_retried`. A running task has had one attempt.
                let failed = tasks::table
                    .filter(sql::<Bool>("attempts > 0"))
                    .filter(tasks::kind.eq(SendMail::KIND).or(tasks::kind.eq(SendInvitation::KIND)))
                    .filter(diesel::dsl::not(tasks::claimed))
                    .select(tasks::organization_id)
                    .limit(MAX_ALERT_COUNT);
                BoundedCount(failed).value_from(self.read_long()).await
            }
        };
        counted.map(found)
    }

    async fn figures(&self, today: OffsetDateTime) -> Result<DeploymentFigures> {
        let jobs_today = sql::<BigInt>("(SELECT count(*) FROM (SELECT 1 FROM jobs WHERE created_at >= ")
            .bind::<Moment, _>(today)
            .sql(&format!(" LIMIT {MAX_FIGURE}) AS counted)"));
        let (organizations, clients, people, proposals, votes, jobs_today) = diesel::select((
            number("organizations WHERE deleted_at IS NULL"),
            number("api_clients WHERE deleted_at IS NULL"),
            number("users WHERE deleted_at IS NULL"),
            number("proposals"),
            number("votes"),
            jobs_today,
        ))
        .value_from(self.read_long())
        .await?;
        Ok(DeploymentFigures { organizations, clients, people, proposals, votes, jobs_today })
    }

    async fn load(&self) -> Result<DatabaseLoad> {
        type First = (i64, Option<OffsetDateTime>);
        const JOBS: &str = "jobs WHERE status = 'pending'";
        const DELIVERIES: &str = "webhook_deliveries WHERE status = 'pending'";
        let queue = |(number, first)| QueueFigures { number, first };
        let (jobs, deliveries, tasks, database_bytes): (First, First, First, i64) = diesel::select((
            (number(JOBS), first("created_at", JOBS, "created_at")),
            (number(DELIVERIES), first("created_at", DELIVERIES, "created_at")),
            (number("tasks"), first("due_at", "tasks", "due_at")),
            sql::<BigInt>(DATABASE_BYTES),
        ))
        .value_from(self.read_long())
        .await?;
        Ok(DatabaseLoad {
            jobs: queue(jobs),
            deliveries: queue(deliveries),
            tasks: queue(tasks),
            database_bytes,
        })
    }

    async fn oldest_waiting(&self) -> Result<OldestWaiting> {
        let task = |kind: &str| {
            first("due_at", &format!("tasks WHERE kind = '{kind}' AND due_at IS NOT NULL"), "due_at")
        };
        let due =
            "webhook_registrations WHERE due_at IS NOT NULL AND disabled_at IS NULL AND paused_at IS NULL";
        let (tasks, others, database_bytes): (Times, Times, i64) = diesel::select((
            (task(SendMail::KIND), task(SendInvitation::KIND), task(CheckHost::KIND)),
            (
                first("created_at", "jobs WHERE status = 'pending'", "created_at"),
                first("occurred_at", "outbox WHERE position IS NULL", "id"),
                first("due_at", due, "due_at"),
            ),
            sql::<BigInt>(DATABASE_BYTES),
        ))
        .value_from(self.read())
        .await?;
        let ((mail, invitation, host_check), (job, event, delivery)) = (tasks, others);
        let mail = [mail, invitation].into_iter().flatten().min();
        Ok(OldestWaiting { job, mail, host_check, event, delivery, database_bytes })
    }

    async fn organization_figures(
        &self,
        ids: &[OrganizationId],
    ) -> Result<Vec<(OrganizationId, OrganizationFigures)>> {
        let ids: Vec<i64> = ids.iter().map(|id| id.0).collect();
        let rows: Vec<(i64, i64, i64, i64, i64)> = organizations::table
            .filter(columns::any_of(organizations::id.nullable(), &ids))
            .select((
                organizations::id,
                counted("spaces", ""),
                counted("components", " AND components.deleted_at IS NULL"),
                counted("users", " AND users.deleted_at IS NULL"),
                counted("api_clients", " AND api_clients.deleted_at IS NULL"),
            ))
            .rows_from(self.read())
            .await?;
        let figures = |(id, spaces, components, users, clients)| {
            (OrganizationId(id), OrganizationFigures { spaces, components, users, clients })
        };
        Ok(rows.into_iter().map(figures).collect())
    }
}
