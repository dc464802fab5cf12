//! Steps of participatory processes.

use crate::columns::{self, EnumColumn, columns};
use crate::failure::{Stored, changed};
use crate::schema::{spaces, steps};
use crate::session::{Atomic, Session, lock_row};
use async_trait::async_trait;
use civitas_kernel::{
    Error, Event, EventName, OrganizationId, Result, SpaceManifest, SpaceRef, StepId, Subject, Translated,
    clock,
};
use civitas_spaces::{Step, StepStore};
use diesel::dsl::{Eq, Filter};
use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use time::OffsetDateTime;

columns! {
    /// A step as its row stores it.
    steps as Step;
    id StepId;
    fields {
        title: Translated,
        position: i64,
        active: bool,
        starts_at: Option<OffsetDateTime>,
        ends_at: Option<OffsetDateTime>,
    }
    nested {
        space: SpaceRef { manifest as space_manifest: SpaceManifest, id as space_id: i64 },
    }
    write_with { updated_at: OffsetDateTime }
}

type Scoped = Filter<steps::table, Eq<steps::organization_id, i64>>;

/// The steps of one organization; the only access to the table.
fn of(organization: OrganizationId) -> Scoped {
    steps::table.filter(steps::organization_id.eq(organization.0))
}

/// Makes the other steps of the process inactive when this one is active: of a process at most one is. The process
/// is held, so that of two activations at once the later one counts.
async fn give_way(
    atomic: &Atomic<'_>,
    organization: OrganizationId,
    own: Option<StepId>,
    step: &Step,
    now: OffsetDateTime,
) -> Result<()> {
    if !step.active {
        return Ok(());
    }
    let process = spaces::table
        .filter(spaces::organization_id.eq(organization.0))
        .filter(spaces::manifest.eq(EnumColumn(step.space.manifest)))
        .filter(spaces::id.eq(step.space.id))
        .select(spaces::id);
    if !lock_row!(atomic, process) {
        return Err(Error::NotFound);
    }
    let others = of(organization)
        .filter(steps::space_manifest.eq(EnumColumn(step.space.manifest)))
        .filter(steps::space_id.eq(step.space.id))
        .filter(steps::active)
        .filter(steps::id.ne(own.map_or(0, |id| id.0)));
    diesel::update(others)
        .set((steps::active.eq(false), steps::updated_at.eq(now)))
        .execute(&mut *atomic.connection().await?)
        .await
        .stored()
        .map(drop)
}

fn events(space: SpaceRef, names: &[EventName]) -> impl Iterator<Item = Event> {
    names.iter().map(move |name| Event { name: *name, subject: Subject::Space(space) })
}

#[async_trait]
impl StepStore for Session {
    async fn find(&self, organization: OrganizationId, id: StepId) -> Result<Option<Step>> {
        let row: Option<Row> = of(organization)
            .filter(steps::id.eq(id.0))
            .select(columns::of::<Row>())
            .first(&mut *self.read().await?)
            .await
            .optional()
            .stored()?;
        Ok(row.map(|row| <(StepId, Step)>::from(row).1))
    }

    async fn find_for_update(&self, organization: OrganizationId, id: StepId) -> Result<Option<Step>> {
        let row = of(organization).filter(steps::id.eq(id.0)).select(steps::id);
        if lock_row!(self, row) { StepStore::find(self, organization, id).await } else { Ok(None) }
    }

    async fn active(&self, organization: OrganizationId, space: SpaceRef) -> Result<Option<(StepId, Step)>> {
        let row: Option<Row> = of(organization)
            .filter(steps::space_manifest.eq(EnumColumn(space.manifest)))
            .filter(steps::space_id.eq(space.id))
            .filter(steps::active)
            .select(columns::of::<Row>())
            .first(&mut *self.read().await?)
            .await
            .optional()
            .stored()?;
        Ok(row.map(Into::into))
    }

    async fn add(&self, organization: OrganizationId, step: &Step, announce: &[EventName]) -> Result<StepId> {
        self.check_recordable(announce)?;
        let now = clock::now();
        let atomic = self.atomic().await?;
        give_way(&atomic, organization, None, step, now).await?;
        let id: i64 = diesel::insert_into(steps::table)
            .values((steps::organization_id.eq(organization.0), Changeset::of(step, now)))
            .returning(steps::id)
            .get_result(&mut *atomic.connection().await?)
            .await
            .stored()?;
        atomic.commit().await?;
        self.record_events(organization, events(step.space, announce))?;
        Ok(StepId(id))
    }

    async fn save(
        &self,
        organization: OrganizationId,
        id: StepId,
        step: &Step,
        announce: &[EventName],
    ) -> Result<()> {
        self.check_recordable(announce)?;
        let now = clock::now();
        let atomic = self.atomic().await?;
        give_way(&atomic, organization, Some(id), step, now).await?;
        diesel::update(of(organization).filter(steps::id.eq(id.0)))
            .set(Changeset::of(step, now))
            .execute(&mut *atomic.connection().await?)
            .await
            .stored()
            .and_then(changed)?;
        atomic.commit().await?;
        self.record_events(organization, events(step.space, announce))
    }

    async fn page_after(
        &self,
        organization: OrganizationId,
        after: Option<StepId>,
        limit: i64,
    ) -> Result<Vec<(StepId, Step)>> {
        let rows: Vec<Row> = of(organization)
            .filter(steps::id.gt(after.map_or(i64::MIN, |id| id.0)))
            .order(steps::id)
            .limit(limit)
            .select(columns::of::<Row>())
            .load(&mut *self.read().await?)
            .await
            .stored()?;
        Ok(rows.into_iter().map(Into::into).collect())
    }
}
