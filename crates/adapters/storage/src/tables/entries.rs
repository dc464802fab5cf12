//! Pages, budgets, results and debates.

use crate::columns::{self, Document, Name};
use crate::engine::Db;
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

#[derive(Queryable, Selectable)]
#[diesel(table_name = entries, check_for_backend(Db))]
struct Row {
    id: i64,
    component_id: i64,
    title: Document<Translated>,
    hidden_at: Option<OffsetDateTime>,
    deleted_at: Option<OffsetDateTime>,
    created_at: OffsetDateTime,
    updated_at: OffsetDateTime,
}

impl From<Row> for (EntryId, Entry) {
    fn from(row: Row) -> Self {
        let entry = Entry {
            component: ComponentId(row.component_id),
            title: row.title.0,
            hidden_at: row.hidden_at,
            deleted_at: row.deleted_at,
            created_at: row.created_at,
            updated_at: row.updated_at,
        };
        (EntryId(row.id), entry)
    }
}

#[derive(Insertable, AsChangeset)]
#[diesel(table_name = entries, treat_none_as_null = true, treat_none_as_default_value = false)]
struct Written<'a> {
    component_id: i64,
    title: Document<&'a Translated>,
    hidden_at: Option<OffsetDateTime>,
    deleted_at: Option<OffsetDateTime>,
    created_at: OffsetDateTime,
    updated_at: OffsetDateTime,
}

impl<'a> From<&'a Entry> for Written<'a> {
    fn from(entry: &'a Entry) -> Self {
        Self {
            component_id: entry.component.0,
            title: Document(&entry.title),
            hidden_at: entry.hidden_at,
            deleted_at: entry.deleted_at,
            created_at: entry.created_at,
            updated_at: entry.updated_at,
        }
    }
}

type Scoped = Filter<entries::table, Eq<entries::organization_id, i64>>;

/// The entries of one organization; the only door to the table.
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
            .values((entries::organization_id.eq(organization.0), Written::from(entry)))
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
            .set(Written::from(entry))
            .execute(&mut *atomic.connection().await?)
            .await
            .stored()
            .and_then(changed)?;
        let (_, before) = before.into();
        if before.is_shown() && !entry.is_shown() {
            atomic.note(organization, "entries").await?;
        }
        atomic.commit().await
    }

    async fn after(
        &self,
        organization: OrganizationId,
        kind: EntryKind,
        after: Option<EntryId>,
        limit: i64,
    ) -> Result<Vec<(EntryId, Entry)>> {
        let rows: Vec<Row> = of(organization)
            .inner_join(components::table)
            .filter(components::manifest.eq(Name(kind.manifest())))
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
