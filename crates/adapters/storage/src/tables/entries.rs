//! Pages, budgets, results and debates.

use crate::columns::{EnumColumn, columns};
use crate::records::numbered_records;
use crate::schema::entries;
use crate::session::{LoadModelsExt, Session};
use async_trait::async_trait;
use civitas_kernel::{ComponentId, OrganizationId, Result, Translated};
use civitas_spaces::{Entry, EntryKind, EntryRef, EntryStore};
use diesel::prelude::*;
use time::OffsetDateTime;

columns! {
    /// An entry as its row stores it.
    entries as Entry;
    read_only { kind: EnumColumn<EntryKind>, id: i64 }
    fields {
        component as component_id: ComponentId,
        title: Translated,
        hidden_at: Option<OffsetDateTime>,
        deleted_at: Option<OffsetDateTime>,
        created_at: OffsetDateTime,
        updated_at: OffsetDateTime,
    }
    read_with { kind: EntryKind }
}

impl From<Row> for (EntryRef, Entry) {
    fn from(row: Row) -> Self {
        let id = EntryRef { kind: row.kind.0, id: row.id };
        (id, row.into_model(id.kind))
    }
}

numbered_records! { scoped entries: EntryRef by kind: EntryKind => Entry; }

#[async_trait]
impl EntryStore for Session {
    async fn page_of_kind_after(
        &self,
        organization: OrganizationId,
        kind: EntryKind,
        after: Option<i64>,
        limit: i64,
    ) -> Result<Vec<(EntryRef, Entry)>> {
        of(organization)
            .filter(entries::kind.eq(EnumColumn(kind)))
            .filter(entries::id.gt(after.unwrap_or(i64::MIN)))
            .order(entries::id)
            .limit(limit)
            .models_from::<Row, _>(self.read())
            .await
    }
}
