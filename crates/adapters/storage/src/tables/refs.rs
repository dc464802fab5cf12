//! The rows of records that the archive imported, by their refs.

use crate::engine::{Conn, Db, dialect};
use crate::failure::Stored;
use crate::insert::{AT_ONCE, stays_prepared};
use crate::schema::archive_refs::{self, dsl};
use crate::session::{Rows, Run, Session};
use async_trait::async_trait;
use civitas_application::RefStore;
use civitas_kernel::{OrganizationId, Result};
use diesel::prelude::*;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::sql_types::{BigInt, Nullable, Text};
use diesel_async::RunQueryDsl;

/// The most refs that are searched by one statement.
const FOUND_AT_ONCE: usize = 1_000;

/// Records without organization are stored under 0: a primary key has no nulls.
fn key(organization: Option<OrganizationId>) -> i64 {
    organization.map_or(0, |id| id.0)
}

/// A ref and the id of its row.
struct RefRow {
    organization_id: i64,
    kind: String,
    reference: String,
    record_id: String,
}

/// These refs with the ids of their rows. Each is a lookup in the primary key: with `ref = ANY(..)` PostgreSQL compares all
/// refs of the kind with each wanted one, because at the beginning of an import it has no statistics of the table.
struct Wanted {
    organization_id: i64,
    kind: String,
    references: dialect::BoundTexts,
}

impl Query for Wanted {
    type SqlType = (Text, Nullable<Text>);
}

impl QueryId for Wanted {
    type QueryId = Self;
}

impl QueryFragment<Db> for Wanted {
    fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, Db>) -> QueryResult<()> {
        pass.push_sql("SELECT wanted.value, (SELECT record_id FROM archive_refs WHERE organization_id = ");
        pass.push_bind_param::<BigInt, _>(&self.organization_id)?;
        pass.push_sql(" AND kind = ");
        pass.push_bind_param::<Text, _>(&self.kind)?;
        pass.push_sql(" AND ref = wanted.value) FROM ");
        self.references.push_table("wanted", &mut pass)
    }
}

/// Stores refs. Those that are stored get the new ids.
async fn insert(connection: &mut Conn, rows: &[RefRow]) -> Result<()> {
    let parts = rows.chunks(AT_ONCE);
    dialect::for_each_part!(parts, connection, |connection, rows| InsertRefs(rows).execute(connection))
        .stored()
        .map(drop)
}

/// The insert of these refs, at least one. A ref that is stored gets the new id.
struct InsertRefs<'a>(&'a [RefRow]);

impl QueryId for InsertRefs<'_> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl QueryFragment<Db> for InsertRefs<'_> {
    fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, Db>) -> QueryResult<()> {
        if !stays_prepared(self.0.len()) {
            pass.unsafe_to_cache_prepared();
        }
        pass.push_sql("INSERT INTO archive_refs (organization_id, kind, ref, record_id) VALUES ");
        for (place, row) in self.0.iter().enumerate() {
            pass.push_sql(if place == 0 { "(" } else { ", (" });
            pass.push_bind_param::<BigInt, _>(&row.organization_id)?;
            for text in [&row.kind, &row.reference, &row.record_id] {
                pass.push_sql(", ");
                pass.push_bind_param::<Text, _>(text)?;
            }
            pass.push_sql(")");
        }
        pass.push_sql(
            " ON CONFLICT (organization_id, kind, ref) DO UPDATE SET record_id = excluded.record_id",
        );
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
            let wanted = Wanted {
                organization_id: key(organization),
                kind: kind.to_owned(),
                references: dialect::BoundTexts::of(some),
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
            organization_id: key(organization),
            kind: kind.to_owned(),
            reference: (*reference).to_owned(),
            record_id: id.clone(),
        };
        let rows: Vec<RefRow> = ids.iter().map(row).collect();
        let atomic = self.transaction().await?;
        insert(&mut *atomic.connection().await?, &rows).await?;
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
