//! The rows of records that the archive imported, by their refs.

use crate::columns::cached_by_text;
use crate::engine::{Db, dialect};
use crate::insert::{InsertedRow, insert_rows};
use crate::schema::archive_refs::{self, dsl};
use crate::scoped::organization_key;
use crate::session::{ExecuteExt, LoadRowsExt, Session};
use async_trait::async_trait;
use civitas_application::RefStore;
use civitas_kernel::{OrganizationId, Result};
use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment};
use diesel::sql_types::{BigInt, Nullable, Text};

/// The most refs that are searched by one statement.
const FOUND_AT_ONCE: usize = 1_000;

/// A ref and the id of its row.
struct RefRow {
    organization_id: i64,
    kind: String,
    reference: String,
    record_id: String,
}

/// These refs with the ids of their rows. Each is a lookup in the primary key: with `ref = ANY(..)` PostgreSQL compares all
/// refs of the kind with each wanted one, because at the beginning of an import it has no statistics of the table.
struct RefQuery {
    organization_id: i64,
    kind: String,
    references: dialect::BoundTexts,
}

cached_by_text! { [] RefQuery: (Text, Nullable<Text>) }

impl QueryFragment<Db> for RefQuery {
    fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, Db>) -> QueryResult<()> {
        pass.push_sql("SELECT wanted.value, (SELECT record_id FROM archive_refs WHERE organization_id = ");
        pass.push_bind_param::<BigInt, _>(&self.organization_id)?;
        pass.push_sql(" AND kind = ");
        pass.push_bind_param::<Text, _>(&self.kind)?;
        pass.push_sql(" AND ref = wanted.value) FROM ");
        self.references.push_table("wanted", &mut pass)
    }
}

/// A ref that is stored gets the new id.
impl InsertedRow for RefRow {
    const INSERT_INTO: &'static str =
        "INSERT INTO archive_refs (organization_id, kind, ref, record_id) VALUES ";
    const AFTER_VALUES: &'static str =
        " ON CONFLICT (organization_id, kind, ref) DO UPDATE SET record_id = excluded.record_id";

    fn bind<'b>(&'b self, mut pass: AstPass<'_, 'b, Db>) -> QueryResult<()> {
        pass.push_bind_param::<BigInt, _>(&self.organization_id)?;
        for text in [&self.kind, &self.reference, &self.record_id] {
            pass.push_sql(", ");
            pass.push_bind_param::<Text, _>(text)?;
        }
        Ok(())
    }
}

#[async_trait]
impl RefStore for Session {
    async fn find_many(
        &self,
        organization: Option<OrganizationId>,
        kind: &str,
        references: &[&str],
    ) -> Result<Vec<(String, String)>> {
        let mut found = Vec::with_capacity(references.len());
        for some in references.chunks(FOUND_AT_ONCE) {
            let wanted = RefQuery {
                organization_id: organization_key(organization),
                kind: kind.to_owned(),
                references: dialect::BoundTexts::new(some),
            };
            let rows: Vec<(String, Option<String>)> = wanted.rows_from(self.read()).await?;
            found.extend(rows.into_iter().filter_map(|(reference, id)| Some((reference, id?))));
        }
        Ok(found)
    }

    async fn add_many(
        &self,
        organization: Option<OrganizationId>,
        kind: &str,
        ids: &[(&str, String)],
    ) -> Result<()> {
        let row = |(reference, id): &(&str, String)| RefRow {
            organization_id: organization_key(organization),
            kind: kind.to_owned(),
            reference: (*reference).to_owned(),
            record_id: id.clone(),
        };
        let rows: Vec<RefRow> = ids.iter().map(row).collect();
        let atomic = self.transaction().await?;
        insert_rows(&mut *atomic.connection().await?, &rows).await?;
        atomic.commit().await
    }

    async fn remove(&self, organization: OrganizationId, kind: &str, id: &str) -> Result<()> {
        diesel::delete(archive_refs::table)
            .filter(dsl::organization_id.eq(organization.0))
            .filter(dsl::kind.eq(kind))
            .filter(dsl::record_id.eq(id))
            .done_on(self.write())
            .await
    }
}
