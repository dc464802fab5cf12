//! Pages, budgets, results and debates.

use crate::columns::{EnumColumn, columns};
use crate::records::numbered_records;
use crate::schema::entries;
use crate::session::{LoadModelsExt, Session};
use async_trait::async_trait;
use civitas_kernel::{ComponentId, OrganizationId, Result, Translated};
use civitas_spaces::{ComponentEntry, ComponentEntryKind, ComponentEntryRef, ComponentEntryStore};
use diesel::prelude::*;
use time::OffsetDateTime;

columns! {
    /// An entry as its row stores it.
    entries as ComponentEntry;
    read_only { kind: EnumColumn<ComponentEntryKind>, id: i64 }
    fields {
        component as component_id: ComponentId,
        title: Translated,
        hidden_at: Option<OffsetDateTime>,
        deleted_at: Option<OffsetDateTime>,
        created_at: OffsetDateTime,
        updated_at: OffsetDateTime,
    }
    read_with { kind: ComponentEntryKind }
}

impl From<Row> for (ComponentEntryRef, ComponentEntry) {
    fn from(row: Row) -> Self {
        let id = ComponentEntryRef { kind: row.kind.0, id: row.id };
        (id, row.into_model(id.kind))
    }
}

numbered_records! { scoped entries: ComponentEntryRef by kind as kind: ComponentEntryKind => ComponentEntry; }

#[async_trait]
impl ComponentEntryStore for Session {
    async fn page_of_kind_after(
        &self,
        organization: OrganizationId,
        kind: ComponentEntryKind,
        after: Option<i64>,
        limit: i64,
    ) -> Result<Vec<(ComponentEntryRef, ComponentEntry)>> {
        rows_of(organization)
            .filter(entries::kind.eq(EnumColumn(kind)))
            .filter(entries::id.gt(after.unwrap_or(i64::MIN)))
            .order(entries::id)
            .limit(limit)
            .models_from::<Row, _>(self.read())
            .await
    }
}
