//! Tasks and their leases. A claimed task is due again when its lease expires.

use crate::columns::{JsonColumn, UuidColumn};
use crate::engine::{Db, dialect};
use crate::failure::Stored;
use crate::schema::tasks;
use crate::session::{Session, Work};
use async_trait::async_trait;
use civitas_kernel::{
    LogPage, LogRequest, LogStart, NewTask, OrganizationId, Result, TaskId, TaskQueue, sortable_id,
};
use civitas_tasks::{Task, TaskFilter, TaskLog, TaskStore, WaitingTask};
use diesel::dsl::{exists, not, sql};
use diesel::prelude::*;
use diesel::sql_types::Bool;
use diesel_async::RunQueryDsl;
use serde_json::Value;
use std::time::Duration;
use time::OffsetDateTime;

#[derive(Queryable, Selectable)]
#[diesel(table_name = tasks, check_for_backend(Db))]
struct Row {
    id: UuidColumn,
    organization_id: i64,
    kind: String,
    payload: JsonColumn<Value>,
    attempts: i64,
}

impl From<Row> for Task {
    fn from(row: Row) -> Self {
        Self {
            id: TaskId(row.id.0),
            organization: OrganizationId(row.organization_id),
            kind: row.kind,
            payload: row.payload.0,
            attempt: row.attempts,
        }
    }
}

#[async_trait]
impl TaskQueue for Session {
    async fn add(&self, task: &NewTask) -> Result<()> {
        // A task that replaces another one has a new id: the worker of the old one has lost its lease.
        let fresh = (
            tasks::id.eq(UuidColumn(sortable_id())),
            tasks::payload.eq(JsonColumn(&task.payload)),
            tasks::attempts.eq(0),
            tasks::claimed.eq(false),
            tasks::due_at.eq(task.due_at),
        );
        let place = (
            tasks::organization_id.eq(task.organization.0),
            tasks::kind.eq(task.kind),
            tasks::subject.eq(task.subject.as_deref()),
        );
        diesel::insert_into(tasks::table)
            .values((place, fresh))
            .on_conflict((tasks::organization_id, tasks::kind, tasks::subject))
            .do_update()
            .set(fresh)
            .execute(&mut *self.write().await?)
            .await
            .stored()?;
        self.notify(Work::Tasks);
        Ok(())
    }

    async fn withdraw(
        &self,
        organization: OrganizationId,
        kind: &'static str,
        subject: &str,
    ) -> Result<bool> {
        let removed = diesel::delete(tasks::table)
            .filter(tasks::organization_id.eq(organization.0))
            .filter(tasks::kind.eq(kind))
            .filter(tasks::subject.eq(subject))
            .execute(&mut *self.write().await?)
            .await
            .stored()?;
        Ok(removed > 0)
    }
}

#[async_trait]
impl TaskStore for Session {
    async fn claim(
        &self,
        kinds: &[&'static str],
        now: OffsetDateTime,
        until: OffsetDateTime,
        limit: i64,
    ) -> Result<Vec<Task>> {
        let due = || tasks::table.filter(tasks::kind.eq_any(kinds)).filter(tasks::due_at.le(now));
        // Reads first: mostly there is nothing to do, and then it need not wait for the writer.
        let any: bool = diesel::select(exists(due())).get_result(&mut *self.read().await?).await.stored()?;
        if !any {
            return Ok(Vec::new());
        }
        let atomic = self.atomic().await?;
        let oldest = due().order((tasks::due_at, tasks::id)).limit(limit).select(tasks::id);
        let oldest: Vec<UuidColumn> =
            dialect::skip_locked!(oldest).load(&mut *atomic.connection().await?).await.stored()?;
        let mut claimed: Vec<Row> = diesel::update(tasks::table.filter(tasks::id.eq_any(&oldest)))
            .set((tasks::attempts.eq(tasks::attempts + 1), tasks::due_at.eq(until), tasks::claimed.eq(true)))
            .returning(Row::as_returning())
            .get_results(&mut *atomic.connection().await?)
            .await
            .stored()?;
        atomic.commit().await?;
        claimed.sort_by_key(|row| oldest.iter().position(|id| *id == row.id));
        Ok(claimed.into_iter().map(Into::into).collect())
    }

    async fn take_over(&self, now: OffsetDateTime) -> Result<u64> {
        let claimed = diesel::update(tasks::table.filter(tasks::claimed))
            .set((tasks::due_at.eq(now), tasks::claimed.eq(false)))
            .execute(&mut *self.write().await?)
            .await
            .stored()?;
        Ok(claimed as u64)
    }

    async fn postpone(&self, task: &Task, due: OffsetDateTime) -> Result<bool> {
        let postponed = diesel::update(tasks::table.find(UuidColumn(task.id.0)))
            .filter(tasks::attempts.eq(task.attempt))
            .set((tasks::due_at.eq(due), tasks::claimed.eq(false)))
            .execute(&mut *self.write().await?)
            .await
            .stored()?;
        Ok(postponed > 0)
    }

    async fn end(&self, task: &Task) -> Result<bool> {
        let ended = diesel::delete(tasks::table.find(UuidColumn(task.id.0)))
            .filter(tasks::attempts.eq(task.attempt))
            .execute(&mut *self.write().await?)
            .await
            .stored()?;
        Ok(ended > 0)
    }

    async fn wait(&self, at_most: Duration) {
        self.listen(Work::Tasks, at_most).await;
    }
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = tasks, check_for_backend(Db))]
struct WaitingRow {
    id: UuidColumn,
    organization_id: i64,
    kind: String,
    subject: Option<String>,
    attempts: i64,
    claimed: bool,
    due_at: OffsetDateTime,
}

impl From<WaitingRow> for WaitingTask {
    fn from(row: WaitingRow) -> Self {
        Self {
            id: TaskId(row.id.0),
            organization: OrganizationId(row.organization_id),
            kind: row.kind,
            subject: row.subject,
            attempts: row.attempts,
            is_claimed: row.claimed,
            due_at: row.due_at,
        }
    }
}

/// The condition of the index `tasks_retried`.
const RETRIED: &str = "attempts > 0";

#[async_trait]
impl TaskLog for Session {
    async fn page(&self, filter: &TaskFilter, page: LogRequest<TaskId>) -> Result<LogPage<WaitingTask>> {
        let mut waiting = tasks::table
            .filter(tasks::kind.eq_any(filter.kinds))
            .select(WaitingRow::as_select())
            .limit(page.fetch())
            .into_boxed::<Db>();
        if filter.is_retried {
            waiting = waiting.filter(sql::<Bool>(RETRIED)).filter(not(tasks::claimed));
        }
        waiting = match page.start {
            LogStart::Newest => waiting,
            LogStart::OlderThan(_, id) => waiting.filter(tasks::id.lt(UuidColumn(id.0))),
            LogStart::NewerThan(_, id) => waiting.filter(tasks::id.gt(UuidColumn(id.0))),
        };
        waiting = if page.is_ascending() {
            waiting.order(tasks::id.asc())
        } else {
            waiting.order(tasks::id.desc())
        };
        let rows: Vec<WaitingRow> = waiting.load(&mut *self.read_long().await?).await.stored()?;
        Ok(LogPage::cut(rows, &page).map(Into::into))
    }

    async fn bring_forward(&self, kinds: &[&'static str], now: OffsetDateTime, limit: i64) -> Result<u64> {
        let atomic = self.atomic().await?;
        let later = || {
            tasks::table
                .filter(sql::<Bool>(RETRIED))
                .filter(tasks::kind.eq_any(kinds))
                .filter(not(tasks::claimed))
                .filter(tasks::due_at.gt(now))
        };
        let first = later().order(tasks::id).limit(limit).select(tasks::id);
        let first: Vec<UuidColumn> =
            dialect::skip_locked!(first).load(&mut *atomic.connection().await?).await.stored()?;
        let moved = diesel::update(later().filter(tasks::id.eq_any(&first)))
            .set(tasks::due_at.eq(now))
            .execute(&mut *atomic.connection().await?)
            .await
            .stored()?;
        atomic.commit().await?;
        self.notify(Work::Tasks);
        Ok(moved as u64)
    }
}
