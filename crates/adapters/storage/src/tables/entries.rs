//! Pages, budgets, results and debates.

use crate::columns::{self, EnumColumn, columns};
use crate::failure::{Stored, changed};
use crate::schema::{components, entries};
use crate::session::Session;
use async_trait::async_trait;
use civitas_kernel::{ComponentId, EntryId, Error, OrganizationId, Result, Translated};
use civitas_spaces::{Entry, EntryKind, EntryStore};
use diesel::dsl::{Eq, Filter};
use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use time::OffsetDateTime;

columns! {
    /// An entry as its row stores it.
    entries as Entry;
    id EntryId;
    fields {
        component as component_id: ComponentId,
        title: Translated,
        hidden_at: Option<OffsetDateTime>,
        deleted_at: Option<OffsetDateTime>,
        created_at: OffsetDateTime,
        updated_at: OffsetDateTime,
    }
}

type Scoped = Filter<entries::table, Eq<entries::organization_id, i64>>;

/// The entries of one organization; the only access to the table.
fn of(organization: OrganizationId) -> Scoped {
    entries::table.filter(entries::organization_id.eq(organization.0))
}

#[async_trait]
impl EntryStore for Session {
    async fn find(&self, organization: OrganizationId, id: EntryId) -> Result<Option<Entry>> {
        let row: Option<Row> = of(organization)
            .filter(entries::id.eq(id.0))
            .select(columns::of::<Row>())
            .first(&mut *self.read().await?)
            .await
            .optional()
            .stored()?;
        Ok(row.map(|row| <(EntryId, Entry)>::from(row).1))
    }

    async fn add(&self, organization: OrganizationId, entry: &Entry) -> Result<EntryId> {
        let id: i64 = diesel::insert_into(entries::table)
            .values((entries::organization_id.eq(organization.0), Changeset::of(entry)))
            .returning(entries::id)
            .get_result(&mut *self.write().await?)
            .await
            .stored()?;
        Ok(EntryId(id))
    }

    async fn save(&self, organization: OrganizationId, id: EntryId, entry: &Entry) -> Result<()> {
        let atomic = self.atomic().await?;
        let row = of(organization).filter(entries::id.eq(id.0));
        let before: Row = row
            .select(columns::of::<Row>())
            .first(&mut *atomic.connection().await?)
            .await
            .optional()
            .stored()?
            .ok_or(Error::NotFound)?;
        diesel::update(row)
            .set(Changeset::of(entry))
            .execute(&mut *atomic.connection().await?)
            .await
            .stored()
            .and_then(changed)?;
        let (_, before) = before.into();
        if before.is_shown() && !entry.is_shown() {
            atomic.touch_list(organization, "entries").await?;
        }
        atomic.commit().await
    }

    async fn page_after(
        &self,
        organization: OrganizationId,
        kind: EntryKind,
        after: Option<EntryId>,
        limit: i64,
    ) -> Result<Vec<(EntryId, Entry)>> {
        let rows: Vec<Row> = of(organization)
            .inner_join(components::table)
            .filter(components::manifest.eq(EnumColumn(kind.manifest())))
            .filter(entries::id.gt(after.map_or(i64::MIN, |id| id.0)))
            .order(entries::id)
            .limit(limit)
            .select(columns::of::<Row>())
            .load(&mut *self.read().await?)
            .await
            .stored()?;
        Ok(rows.into_iter().map(Into::into).collect())
    }
}
