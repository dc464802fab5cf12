//! Steps of participatory processes.

use crate::columns::{self, EnumColumn, columns};
use crate::engine::Conn;
use crate::failure::{Stored, changed};
use crate::records::records;
use crate::schema::steps;
use crate::scoped::scoped;
use crate::session::Session;
use async_trait::async_trait;
use civitas_kernel::{OrganizationId, Result, SpaceManifest, SpaceRef, StepId, Translated, clock};
use civitas_spaces::{Step, StepStore};
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

scoped! { steps }

/// The columns to write. The time of the change is that of the write: a step does not have one.
async fn changeset<'a>(_: &mut Conn, _: OrganizationId, step: &'a Step) -> Result<Changeset<'a>> {
    Ok(Changeset::of(step, clock::now()))
}

records! {
    steps: StepId => Step;
    changeset changeset;
}

#[async_trait]
impl StepStore for Session {
    async fn active(&self, organization: OrganizationId, space: SpaceRef) -> Result<Option<(StepId, Step)>> {
        let row: Option<Row> = of(organization)
            .filter(steps::space_manifest.eq(EnumColumn(space.manifest)))
            .filter(steps::space_id.eq(space.id))
            .filter(steps::active)
            .select(columns::of::<Row>())
            .first(&mut *self.read().await?)
            .await
            .found()?;
        Ok(row.map(Into::into))
    }

    async fn of_process(
        &self,
        organization: OrganizationId,
        space: SpaceRef,
        limit: i64,
    ) -> Result<Vec<(StepId, Step)>> {
        let rows: Vec<Row> = of(organization)
            .filter(steps::space_manifest.eq(EnumColumn(space.manifest)))
            .filter(steps::space_id.eq(space.id))
            .order((steps::position, steps::id))
            .limit(limit)
            .select(columns::of::<Row>())
            .load(&mut *self.read().await?)
            .await
            .stored()?;
        Ok(rows.into_iter().map(Into::into).collect())
    }

    async fn active_of(
        &self,
        organization: OrganizationId,
        spaces: &[SpaceRef],
    ) -> Result<Vec<(StepId, Step)>> {
        // Only processes have steps.
        let with_steps = SpaceManifest::ParticipatoryProcesses;
        let ids: Vec<i64> = spaces.iter().filter(|s| s.manifest == with_steps).map(|s| s.id).collect();
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let rows: Vec<Row> = steps::table
            .filter(columns::equals_unindexed(steps::organization_id.nullable(), organization.0))
            .filter(steps::space_manifest.eq(EnumColumn(with_steps)))
            .filter(columns::any_of(steps::space_id.nullable(), &ids))
            .filter(steps::active)
            .select(columns::of::<Row>())
            .load(&mut *self.read().await?)
            .await
            .stored()?;
        Ok(rows.into_iter().map(Into::into).collect())
    }

    async fn remove(&self, organization: OrganizationId, id: StepId) -> Result<()> {
        diesel::delete(of(organization).filter(steps::id.eq(id.0)))
            .execute(&mut *self.write().await?)
            .await
            .stored()
            .and_then(changed)
    }
}
