//! Tasks and their leases. A claimed task is due again when its lease expires.

use crate::columns::{JsonColumn, UuidColumn};
use crate::engine::{Db, dialect};
use crate::failure::Stored;
use crate::schema::tasks;
use crate::session::{Session, Work};
use async_trait::async_trait;
use civitas_kernel::{NewTask, OrganizationId, Result, TaskId, TaskQueue, sortable_id};
use civitas_tasks::{Task, TaskStore};
use diesel::dsl::exists;
use diesel::prelude::*;
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
