//! Accounts of the system panel. They belong to no organization.

use crate::columns::{Condition, columns};
use crate::engine::{Db, dialect};
use crate::filter::{containing, like};
use crate::schema::administrators;
use crate::session::{ExecuteExt, LoadModelsExt, LoadRowsExt, Session};
use async_trait::async_trait;
use civitas_accounts::administrators::{SecondFactor, SignInSources};
use civitas_accounts::{Administrator, AdministratorStore, PanelTheme, normal_email};
use civitas_kernel::{AdministratorId, Error, Locale, OrganizationId, Page, PageRequest, Result};
use diesel::prelude::*;
use time::OffsetDateTime;

columns! {
    /// An account of the panel as its row stores it.
    administrators as Administrator;
    id AdministratorId;
    fields {
        email: String,
        password as password_hash: Option<String>,
        sources as sign_in_sources: SignInSources,
        locale: Option<Locale>,
        theme: PanelTheme,
        second_factor: Option<SecondFactor>,
        organization as organization_id: Option<OrganizationId>,
        created_at: OffsetDateTime,
        updated_at: OffsetDateTime,
        last_sign_in_at: Option<OffsetDateTime>,
    }
}

#[async_trait]
impl AdministratorStore for Session {
    async fn find(&self, id: AdministratorId) -> Result<Option<Administrator>> {
        administrators::table.find(id.0).model_from::<Row, _>(self.read()).await
    }

    async fn find_by_email(&self, email: &str) -> Result<Option<(AdministratorId, Administrator)>> {
        administrators::table.filter(administrators::email.eq(email)).model_from::<Row, _>(self.read()).await
    }

    async fn find_for_update(&self, id: AdministratorId) -> Result<Option<Administrator>> {
        let row = dialect::for_update!(administrators::table.find(id.0));
        row.model_from::<Row, _>(self.for_update()).await
    }

    async fn add(&self, administrator: &Administrator) -> Result<AdministratorId> {
        let assigned = self.take_assigned_id("administrators").map(|id| administrators::id.eq(id));
        let id: Option<i64> = diesel::insert_into(administrators::table)
            .values((assigned, Changeset::new(administrator)))
            .on_conflict_do_nothing()
            .returning(administrators::id)
            .row_from(self.write())
            .await?;
        id.map(AdministratorId).ok_or_else(Administrator::key_taken_error)
    }

    async fn save(&self, id: AdministratorId, administrator: &Administrator) -> Result<()> {
        diesel::update(administrators::table.find(id.0))
            .set(Changeset::new(administrator))
            .save_on(self.write(), Administrator::key_taken_error)
            .await
    }

    async fn remove(&self, id: AdministratorId) -> Result<()> {
        let atomic = self.transaction().await?;
        // Removals are one after the other: each locks the first account before it looks for another one.
        let first = administrators::table.order(administrators::id).limit(1).select(administrators::id);
        let locked: Option<i64> = dialect::for_update!(first).row_from(atomic.connection()).await?;
        // Without a row it was removed meanwhile, and the next one is the first.
        locked.ok_or_else(|| Error::Conflict("the first administrator was removed meanwhile".into()))?;
        let other: Option<i64> = administrators::table
            .filter(administrators::id.ne(id.0))
            .select(administrators::id)
            .first_from(atomic.connection())
            .await?;
        other.ok_or_else(Administrator::last_administrator_error)?;
        diesel::delete(administrators::table.find(id.0)).change_on(atomic.connection()).await?;
        atomic.commit().await
    }

    async fn list(
        &self,
        search: Option<&str>,
        page: PageRequest,
    ) -> Result<Page<(AdministratorId, Administrator)>> {
        let mut rows = administrators::table.into_boxed::<Db>();
        if let Some(text) = search {
            let has: Condition<administrators::table> =
                like(Box::new(administrators::email.nullable()), &containing(&normal_email(text)));
            rows = rows.filter(has);
        }
        rows.order(administrators::email).page_from::<Row, _>(page, self.read()).await
    }

    async fn count(&self) -> Result<i64> {
        administrators::table.count().value_from(self.read()).await
    }

    async fn page_after(
        &self,
        after: Option<AdministratorId>,
        limit: i64,
    ) -> Result<Vec<(AdministratorId, Administrator)>> {
        administrators::table
            .filter(administrators::id.gt(after.map_or(i64::MIN, |id| id.0)))
            .order(administrators::id)
            .limit(limit)
            .models_from::<Row, _>(self.read())
            .await
    }
}
