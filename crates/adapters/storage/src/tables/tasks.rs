//! Tasks and their leases. A claimed task is due again when its lease expires.

use crate::columns::{self, JsonColumn, LenientColumn, UuidColumn};
use crate::engine::{Db, dialect};
use crate::log_pages::log_page;
use crate::prepared::PrepareOnce;
use crate::schema::tasks;
use crate::session::{ExecuteExt, LoadRowsExt, Session, TransactionScope, WorkKind};
use async_trait::async_trait;
use civitas_kernel::{LogPage, LogRequest, NewTask, OrganizationId, Result, TaskId, TaskQueue, sortable_id};
use civitas_tasks::{Task, TaskFilter, TaskLog, TaskStore, WaitingTask};
use diesel::dsl::{exists, not, sql};
use diesel::expression::SqlLiteral;
use diesel::prelude::*;
use diesel::sql_types::Bool;
use serde_json::Value;
use std::time::Duration;
use time::OffsetDateTime;
use uuid::Uuid;

#[derive(Queryable, Selectable)]
#[diesel(table_name = tasks, check_for_backend(Db))]
struct Row {
    id: UuidColumn,
    organization_id: i64,
    kind: String,
    payload: LenientColumn<JsonColumn<Value>>,
    attempts: i64,
}

impl Row {
    /// The task; its id and the cause when its payload cannot be read.
    fn into_task(self) -> Result<Task, (Uuid, String)> {
        let payload = self.payload.0.map_err(|cause| (self.id.0, cause))?;
        Ok(Task {
            id: TaskId(self.id.0),
            organization: OrganizationId(self.organization_id),
            kind: self.kind,
            payload: payload.0,
            attempt: self.attempts,
        })
    }
}

/// Of one of these kinds. They are names of the code, so that they can be part of the text: PostgreSQL then knows how rare a
/// kind is, and takes the index `tasks_due_of_kind` for it.
fn kinds_condition(kinds: &[&'static str]) -> SqlLiteral<Bool> {
    match kinds {
        [] => sql("1 = 0"),
        [kind] => sql(&format!("tasks.kind = '{kind}'")),
        _ => sql(&format!("tasks.kind IN ('{}')", kinds.join("', '"))),
    }
}

impl Session {
    /// The ids of due tasks, the longest due first. Each kind is read by a range of an index: the tasks of other kinds
    /// cost nothing.
    async fn oldest_due(
        &self,
        atomic: &TransactionScope<'_>,
        kinds: &[&'static str],
        now: OffsetDateTime,
        limit: i64,
    ) -> Result<Vec<UuidColumn>> {
        let mut oldest: Vec<(OffsetDateTime, UuidColumn)> = Vec::new();
        for kind in kinds {
            let of_kind = tasks::table
                .filter(kinds_condition(&[*kind]))
                .filter(tasks::due_at.le(now))
                .order((tasks::due_at, tasks::id))
                .limit(limit)
                .select((tasks::due_at, tasks::id));
            let of_kind: Vec<(OffsetDateTime, UuidColumn)> =
                dialect::skip_locked!(of_kind).rows_from(atomic.connection()).await?;
            oldest.extend(of_kind);
        }
        oldest.sort_by_key(|(due_at, id)| (*due_at, id.0));
        oldest.truncate(usize::try_from(limit).unwrap_or_default());
        Ok(oldest.into_iter().map(|(_, id)| id).collect())
    }

    /// Claims once: the tasks, and whether others were given up because they cannot be read.
    async fn claim_tasks(
        &self,
        kinds: &[&'static str],
        now: OffsetDateTime,
        until: OffsetDateTime,
        limit: i64,
    ) -> Result<(Vec<Task>, bool)> {
        let atomic = self.transaction().await?;
        let oldest = self.oldest_due(&atomic, kinds, now, limit).await?;
        let mut rows: Vec<Row> = diesel::update(tasks::table.filter(tasks::id.eq_any(&oldest)))
            .set((tasks::attempts.eq(tasks::attempts + 1), tasks::due_at.eq(until), tasks::claimed.eq(true)))
            .returning(Row::as_returning())
            .rows_from(atomic.connection())
            .await?;
        rows.sort_by_key(|row| oldest.iter().position(|id| *id == row.id));
        let (claimed, broken) = columns::split_readable(rows.into_iter().map(Row::into_task));
        if !broken.is_empty() {
            let these = columns::any_uuid(tasks::id.nullable(), broken.iter().map(|(id, _)| *id));
            diesel::delete(tasks::table.filter(these)).run_on(atomic.connection()).await?;
        }
        atomic.commit().await?;
        for (task, cause) in &broken {
            tracing::error!(%task, cause, "a task is given up: its payload cannot be read");
        }
        Ok((claimed, !broken.is_empty()))
    }
}

#[async_trait]
impl TaskQueue for Session {
    async fn add(&self, task: &NewTask) -> Result<()> {
        let due_at = self.database_time(task.due_at).await?;
        // A task that replaces another one has a new id: the worker of the old one has lost its lease.
        let fresh = (
            tasks::id.eq(UuidColumn(sortable_id())),
            tasks::payload.eq(JsonColumn(&task.payload)),
            tasks::attempts.eq(0),
            tasks::claimed.eq(false),
            tasks::due_at.eq(due_at),
        );
        let key = (
            tasks::organization_id.eq(task.organization.0),
            tasks::kind.eq(task.kind),
            tasks::subject.eq(task.subject.as_deref()),
        );
        diesel::insert_into(tasks::table)
            .values((key, fresh))
            .on_conflict((tasks::organization_id, tasks::kind, tasks::subject))
            .do_update()
            .set(fresh)
            .run_on(self.write())
            .await?;
        self.notify(WorkKind::Tasks);
        Ok(())
    }

    async fn withdraw(
        &self,
        organization: OrganizationId,
        kind: &'static str,
        subject: &str,
    ) -> Result<bool> {
        diesel::delete(tasks::table)
            .filter(tasks::organization_id.eq(organization.0))
            .filter(tasks::kind.eq(kind))
            .filter(tasks::subject.eq(subject))
            .any_on(self.write())
            .await
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
        let (now, until) = (self.database_time(now).await?, self.database_time(until).await?);
        let due = tasks::table.filter(kinds_condition(kinds)).filter(tasks::due_at.le(now));
        // Reads first: mostly there is nothing to do, and then it need not wait for the writer.
        let is_due = diesel::select(exists(due)).prepare_once();
        let any: bool = is_due.value_from(self.read()).await?;
        if !any {
            return Ok(Vec::new());
        }
        loop {
            let (claimed, is_any_broken) = self.claim_tasks(kinds, now, until, limit).await?;
            if !claimed.is_empty() || !is_any_broken {
                return Ok(claimed);
            }
        }
    }

    async fn reclaim_all(&self, now: OffsetDateTime) -> Result<u64> {
        let now = self.database_time(now).await?;
        diesel::update(tasks::table.filter(tasks::claimed))
            .set((tasks::due_at.eq(now), tasks::claimed.eq(false)))
            .run_on(self.write())
            .await
    }

    async fn postpone(&self, task: &Task, due: OffsetDateTime, is_counted: bool) -> Result<bool> {
        let due = self.database_time(due).await?;
        let attempts = task.attempt - i64::from(!is_counted);
        diesel::update(tasks::table.find(UuidColumn(task.id.0)))
            .filter(tasks::attempts.eq(task.attempt))
            .set((tasks::due_at.eq(due), tasks::claimed.eq(false), tasks::attempts.eq(attempts)))
            .any_on(self.write())
            .await
    }

    async fn end(&self, task: &Task) -> Result<bool> {
        diesel::delete(tasks::table.find(UuidColumn(task.id.0)))
            .filter(tasks::attempts.eq(task.attempt))
            .any_on(self.write())
            .await
    }

    async fn wait(&self, at_most: Duration) {
        self.listen(WorkKind::Tasks, at_most).await;
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
const WAS_ATTEMPTED: &str = "attempts > 0";

#[async_trait]
impl TaskLog for Session {
    async fn page(&self, filter: &TaskFilter, page: LogRequest<TaskId>) -> Result<LogPage<WaitingTask>> {
        let mut waiting = tasks::table
            .filter(tasks::kind.eq_any(filter.kinds))
            .select(WaitingRow::as_select())
            .into_boxed::<Db>();
        if filter.is_retried {
            waiting = waiting.filter(sql::<Bool>(WAS_ATTEMPTED)).filter(not(tasks::claimed));
        }
        let waiting = log_page!(waiting, page, [tasks::id], |id| UuidColumn(id.0));
        let rows: Vec<WaitingRow> = waiting.rows_from(self.read_long()).await?;
        Ok(LogPage::from_fetched(rows, &page).map(Into::into))
    }

    async fn bring_forward(&self, kinds: &[&'static str], now: OffsetDateTime, limit: i64) -> Result<u64> {
        let now = self.database_time(now).await?;
        let atomic = self.transaction().await?;
        let later = || {
            tasks::table
                .filter(sql::<Bool>(WAS_ATTEMPTED))
                .filter(tasks::kind.eq_any(kinds))
                .filter(not(tasks::claimed))
                .filter(tasks::due_at.gt(now))
        };
        let first = later().order(tasks::id).limit(limit).select(tasks::id);
        let first: Vec<UuidColumn> = dialect::skip_locked!(first).rows_from(atomic.connection()).await?;
        let moved = diesel::update(later().filter(tasks::id.eq_any(&first)))
            .set(tasks::due_at.eq(now))
            .run_on(atomic.connection())
            .await?;
        atomic.commit().await?;
        self.notify(WorkKind::Tasks);
        Ok(moved)
    }
}
