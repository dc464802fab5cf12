//! Pages, budgets, results and debates.

use crate::columns::{self, EnumColumn, columns};
use crate::failure::Stored;
use crate::records::records;
use crate::schema::{components, entries};
use crate::session::Session;
use async_trait::async_trait;
use civitas_kernel::{ComponentId, EntryId, OrganizationId, Result, Translated};
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

records! { entries: EntryId => Entry; }

#[async_trait]
impl EntryStore for Session {
    async fn page_of_kind_after(
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
