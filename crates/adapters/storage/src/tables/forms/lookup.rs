//! Users, for questionnaires.

use crate::columns::EnumColumn;
use crate::schema::{components, users};
use crate::session::{LoadRowsExt, Session};
use async_trait::async_trait;
use civitas_blogs::BlogLookup;
use civitas_kernel::{ComponentId, OrganizationId, Result, SpaceRef, UserId};
use civitas_spaces::ComponentKind;
use civitas_surveys::{Respondent, SurveyLookup};
use diesel::dsl::exists;
use diesel::prelude::*;

#[async_trait]
impl SurveyLookup for Session {
    async fn administers(&self, organization: OrganizationId, user: UserId, space: SpaceRef) -> Result<bool> {
        BlogLookup::administers(self, organization, user, space).await
    }

    async fn respondent(&self, organization: OrganizationId, user: UserId) -> Result<Option<Respondent>> {
        let blocked: Option<bool> = users::table
            .filter(users::organization_id.eq(organization.0))
            .filter(users::id.eq(user.0))
            .filter(users::deleted_at.is_null())
            .select(users::blocked_at.is_not_null())
            .first_from(self.read())
            .await?;
        Ok(blocked.map(|blocked| Respondent { blocked }))
    }

    async fn has_surveys(&self, organization: OrganizationId, component: ComponentId) -> Result<bool> {
        let found = components::table
            .filter(components::organization_id.eq(organization.0))
            .filter(components::id.eq(component.0))
            .filter(components::manifest.eq(EnumColumn(ComponentKind::Surveys)))
            .filter(components::deleted_at.is_null());
        diesel::select(exists(found)).value_from(self.read()).await
    }
}
