//! Surveys.

use crate::columns::{self, columns};
use crate::engine::Conn;
use crate::records::records;
use crate::schema::surveys;
use crate::session::{LoadModelsExt, Session, borrowed_connection};
use async_trait::async_trait;
use civitas_kernel::{ComponentId, OrganizationId, Result, SurveyId};
use civitas_surveys::{Survey, SurveyStore};
use diesel::prelude::*;
use std::collections::HashMap;
use time::OffsetDateTime;

columns! {
    /// A survey as its row stores it.
    surveys as Survey;
    id SurveyId;
    fields {
        component as component_id: ComponentId,
        starts_at: Option<OffsetDateTime>,
        ends_at: Option<OffsetDateTime>,
        deleted_at: Option<OffsetDateTime>,
        created_at: OffsetDateTime,
        updated_at: OffsetDateTime,
    }
}

records! { scoped surveys: SurveyId => Survey; }

#[async_trait]
impl SurveyStore for Session {}

/// These surveys, by id.
pub(super) async fn load_by_ids(
    connection: &mut Conn,
    organization: OrganizationId,
    ids: &[i64],
) -> Result<HashMap<i64, Survey>> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let these = rows_of(organization).filter(columns::any_of(surveys::id.nullable(), ids));
    let found: Vec<(SurveyId, Survey)> = these.models_from::<Row, _>(borrowed_connection(connection)).await?;
    Ok(found.into_iter().map(|(id, survey)| (id.0, survey)).collect())
}
