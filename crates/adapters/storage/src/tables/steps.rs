//! Steps of participatory processes.

use crate::columns::{self, EnumColumn, columns};
use crate::records::records;
use crate::schema::steps;
use crate::session::{ExecuteExt, LoadModelsExt, Session};
use async_trait::async_trait;
use civitas_kernel::{OrganizationId, Result, SpaceKind, SpaceRef, StepId, Translated};
use civitas_spaces::{Step, StepStore};
use diesel::prelude::*;
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
        updated_at: OffsetDateTime,
    }
    nested {
        space: SpaceRef { kind as space_manifest: SpaceKind, id as space_id: i64 },
    }
}

records! { scoped steps: StepId => Step; }

#[async_trait]
impl StepStore for Session {
    async fn active(&self, organization: OrganizationId, space: SpaceRef) -> Result<Option<(StepId, Step)>> {
        rows_of(organization)
            .filter(steps::space_manifest.eq(EnumColumn(space.kind)))
            .filter(steps::space_id.eq(space.id))
            .filter(steps::active)
            .model_from::<Row, _>(self.read())
            .await
    }

    async fn list_of_process(
        &self,
        organization: OrganizationId,
        space: SpaceRef,
        limit: i64,
    ) -> Result<Vec<(StepId, Step)>> {
        rows_of(organization)
            .filter(steps::space_manifest.eq(EnumColumn(space.kind)))
            .filter(steps::space_id.eq(space.id))
            .order((steps::position, steps::id))
            .limit(limit)
            .models_from::<Row, _>(self.read())
            .await
    }

    async fn active_of(
        &self,
        organization: OrganizationId,
        spaces: &[SpaceRef],
    ) -> Result<Vec<(StepId, Step)>> {
        // Only processes have steps.
        let with_steps = SpaceKind::ParticipatoryProcesses;
        let ids: Vec<i64> = spaces.iter().filter(|s| s.kind == with_steps).map(|s| s.id).collect();
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        steps::table
            .filter(columns::equals_unindexed(steps::organization_id.nullable(), organization.0))
            .filter(steps::space_manifest.eq(EnumColumn(with_steps)))
            .filter(columns::any_of(steps::space_id.nullable(), &ids))
            .filter(steps::active)
            .models_from::<Row, _>(self.read())
            .await
    }

    async fn remove(&self, organization: OrganizationId, id: StepId) -> Result<()> {
        diesel::delete(rows_of(organization).filter(steps::id.eq(id.0))).change_on(self.write()).await
    }
}
