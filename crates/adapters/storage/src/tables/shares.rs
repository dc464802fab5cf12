//! What clients and organizations store, summed up from indexes alone.

use super::jobs::IS_WAITING;
use crate::columns::cached_by_text;
use crate::engine::Db;
use crate::engine::sql::Moment;
use crate::session::{LoadRowsExt, Session};
use async_trait::async_trait;
use civitas_application::{ShareStore, SharedResource, StoredUse};
use civitas_attachments::UPLOAD_WINDOW;
use civitas_kernel::{ClientId, OrganizationId, Result, clock};
use diesel::query_builder::{AstPass, QueryFragment};
use diesel::result::QueryResult;
use diesel::sql_types::{BigInt, Nullable};
use time::{Duration, OffsetDateTime};

/// The rows of an organization that count for a share, `|organization|`, `|client|` and `|since|` being values: a job for a
/// day, and until it has ended; an upload with a file, or whose file may arrive.
fn rows(share: SharedResource) -> &'static str {
    match share {
        SharedResource::UnattachedFiles => {
            "SELECT api_client_id, byte_size AS used FROM uploads WHERE organization_id = |organization| \
             AND (file_id IS NOT NULL OR created_at > |since|)"
        }
        // The range of turns as for the turn of a new job.
        SharedResource::Jobs => {
            "SELECT api_client_id, bytes AS used FROM jobs \
             WHERE organization_id = |organization| AND created_at > |since| \
             UNION ALL SELECT api_client_id, bytes FROM jobs \
             WHERE organization_id = |organization| AND created_at <= |since| AND turn >= 0 AND |waiting|"
        }
        SharedResource::IdempotentAnswers => {
            "SELECT api_client_id, bytes AS used FROM idempotency_keys WHERE organization_id = |organization|"
        }
        // Those of a client of the whole deployment have no organization.
        _ => {
            "SELECT api_client_id, 1 AS used FROM webhook_registrations WHERE organization_id = |organization| \
             UNION ALL SELECT api_client_id, 1 FROM webhook_registrations \
             WHERE organization_id IS NULL AND api_client_id = |client|"
        }
    }
}

/// A statement whose rows have two numbers.
struct ShareSums {
    text: String,
    /// `None`: that of the row of the outer statement.
    organization: Option<i64>,
    client: Option<i64>,
    since: OffsetDateTime,
}

impl ShareSums {
    fn new(share: SharedResource, text: &str) -> Self {
        let window = if share == SharedResource::Jobs { Duration::DAY } else { UPLOAD_WINDOW };
        let (text, since) = (text.replace("|rows|", rows(share)), clock::now() - window);
        Self { text, organization: None, client: None, since }
    }
}

cached_by_text! { [] ShareSums: (BigInt, BigInt) }

impl QueryFragment<Db> for ShareSums {
    fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, Db>) -> QueryResult<()> {
        for part in self.text.split('|') {
            match (part, &self.organization) {
                ("organization", Some(id)) => pass.push_bind_param::<BigInt, _>(id)?,
                ("organization", None) => pass.push_sql("organizations.id"),
                ("client", _) => pass.push_bind_param::<Nullable<BigInt>, _>(&self.client)?,
                ("since", _) => pass.push_bind_param::<Moment, _>(&self.since)?,
                ("waiting", _) => pass.push_sql(IS_WAITING),
                (text, _) => pass.push_sql(text),
            }
        }
        Ok(())
    }
}

#[async_trait]
impl ShareStore for Session {
    async fn count_stored(
        &self,
        share: SharedResource,
        organization: OrganizationId,
        client: Option<ClientId>,
    ) -> Result<StoredUse> {
        const OF_ONE_ORGANIZATION: &str = "SELECT CAST(coalesce(sum(CASE WHEN api_client_id = |client| THEN used END), 0) AS BIGINT), \
                           CAST(coalesce(sum(used), 0) AS BIGINT) FROM (|rows|) AS stored";
        let sums = ShareSums {
            client: client.map(|id| id.0),
            organization: Some(organization.0),
            ..ShareSums::new(share, OF_ONE_ORGANIZATION)
        };
        let (client, tenant): (i64, i64) = sums.value_from(self.read_long()).await?;
        Ok(StoredUse { client: client.unsigned_abs(), tenant: tenant.unsigned_abs() })
    }

    async fn count_stored_by_tenant(
        &self,
        share: SharedResource,
        limit: i64,
    ) -> Result<Vec<(OrganizationId, u64)>> {
        let each = format!(
            "SELECT organizations.id, (SELECT CAST(coalesce(sum(used), 0) AS BIGINT) FROM (|rows|) AS stored) AS used \
             FROM organizations WHERE deleted_at IS NULL ORDER BY used DESC, organizations.id LIMIT {limit}"
        );
        let sums = ShareSums::new(share, &each);
        let found: Vec<(i64, i64)> = sums.rows_from(self.read_long()).await?;
        let used = found.into_iter().filter(|(_, used)| *used > 0);
        Ok(used.map(|(id, used)| (OrganizationId(id), used.unsigned_abs())).collect())
    }
}
