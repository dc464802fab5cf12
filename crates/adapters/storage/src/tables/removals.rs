//! Removes organizations and API clients: marks them, so that nobody finds them, and deletes their rows in small batches.

use crate::engine::dialect::some_rows;
use crate::schema::{
    administrators, api_clients, archive_refs, organization_hosts, organization_names, organizations,
    webhook_registrations as registrations,
};
use crate::session::{ExecuteExt, LoadRowsExt, Session, TransactionScope};
use async_trait::async_trait;
use civitas_application::RemovalStore;
use civitas_kernel::{OrganizationId, Result, clock, sortable_id};
use diesel::dsl::sql_query;
use diesel::prelude::*;
use time::OffsetDateTime;

/// The tables with an organization, children before parents: a deleted row has few or no rows that cascade.
const OF_ORGANIZATION: [&str; 37] = [
    "webhook_deliveries",
    "webhook_registrations",
    "uploads",
    "access_tokens",
    "jobs",
    "tasks",
    "confirmations",
    "magic_links",
    "sessions",
    "login_failures",
    "mail_counts",
    "idempotency_keys",
    "votes",
    "attachments",
    "attachment_collections",
    "answers",
    "responses",
    "display_conditions",
    "answer_options",
    "questions",
    "questionnaires",
    "surveys",
    "meetings",
    "posts",
    "proposals",
    "proposal_counts",
    "proposal_states",
    "entries",
    "record_counts",
    "roles",
    "steps",
    "components",
    "spaces",
    "users",
    "api_clients",
    "archive_refs",
    "list_changes",
];

/// Deletes at most `limit` rows.
fn delete(table: &str, condition: &str, limit: i64) -> String {
    format!("DELETE FROM {table} WHERE {}", some_rows(table, condition, limit))
}

/// The statements for an organization, in their order. Ids are numbers, so that they can be part of the text.
fn organization_conditions(id: i64, limit: i64) -> Vec<String> {
    let registered = format!("meeting_id IN (SELECT id FROM meetings WHERE organization_id = {id})");
    let own = format!("organization_id = {id}");
    let tables = OF_ORGANIZATION.iter().map(|table| delete(table, &own, limit));
    let last = format!("DELETE FROM organizations WHERE id = {id}");
    std::iter::once(delete("meeting_registrations", &registered, limit)).chain(tables).chain([last]).collect()
}

/// The statements for an API client, in their order.
fn client_conditions(id: i64, limit: i64) -> Vec<String> {
    let own = format!("api_client_id = {id}");
    let delivered =
        format!("registration_id IN (SELECT id FROM webhook_registrations WHERE api_client_id = {id})");
    vec![
        delete("webhook_deliveries", &delivered, limit),
        delete("webhook_registrations", &own, limit),
        delete("uploads", &own, limit),
        delete("access_tokens", &own, limit),
        delete("login_failures", &own, limit),
        delete("idempotency_keys", &own, limit),
        format!("UPDATE proposals SET api_client_id = NULL WHERE {}", some_rows("proposals", &own, limit)),
        format!("DELETE FROM api_clients WHERE id = {id}"),
    ]
}

/// Marks an organization and its clients as removed. Its hosts and names are free.
///
/// # Errors
/// `NotFound` when there is no such organization.
async fn mark_organization(
    atomic: &TransactionScope<'_>,
    id: OrganizationId,
    now: OffsetDateTime,
) -> Result<()> {
    diesel::update(organizations::table.find(id.0).filter(organizations::deleted_at.is_null()))
        .set(organizations::deleted_at.eq(now))
        .change_on(atomic.connection())
        .await?;
    let hosts = organization_hosts::table.filter(organization_hosts::organization_id.eq(id.0));
    diesel::delete(hosts).run_on(atomic.connection()).await?;
    let names = organization_names::table.filter(organization_names::organization_id.eq(id.0));
    diesel::delete(names).run_on(atomic.connection()).await?;
    // An archive must not find it by its ref either: what it adds to it would be deleted.
    let refs = archive_refs::table
        .filter(archive_refs::organization_id.eq(0))
        .filter(archive_refs::kind.eq("organization"))
        .filter(archive_refs::record_id.eq(id.0.to_string()));
    diesel::delete(refs).run_on(atomic.connection()).await?;
    diesel::update(administrators::table.filter(administrators::organization_id.eq(id.0)))
        .set(administrators::organization_id.eq(None::<i64>))
        .run_on(atomic.connection())
        .await?;
    let clients: Vec<i64> = api_clients::table
        .filter(api_clients::organization_id.eq(id.0))
        .filter(api_clients::deleted_at.is_null())
        .select(api_clients::id)
        .rows_from(atomic.connection())
        .await?;
    mark_clients(atomic, clients, now).await
}

/// Marks clients as removed. Their public names are free, and nothing is delivered to them.
pub(super) async fn mark_clients(
    atomic: &TransactionScope<'_>,
    clients: Vec<i64>,
    now: OffsetDateTime,
) -> Result<()> {
    for id in clients {
        diesel::update(api_clients::table.find(id).filter(api_clients::deleted_at.is_null()))
            .set((
                api_clients::deleted_at.eq(now),
                api_clients::uid.eq(format!("removed/{}", sortable_id())),
                api_clients::secret_digest.eq(""),
            ))
            .run_on(atomic.connection())
            .await?;
        diesel::update(registrations::table.filter(registrations::api_client_id.eq(id)))
            .set((
                registrations::due_at.eq(None::<OffsetDateTime>),
                registrations::worker.eq(None::<&str>),
                registrations::leased_until.eq(None::<OffsetDateTime>),
            ))
            .run_on(atomic.connection())
            .await?;
    }
    Ok(())
}

impl Session {
    /// Executes the statements until one has an effect; how many rows it changed.
    async fn first_effect(&self, statements: Vec<String>) -> Result<u64> {
        for statement in statements {
            let rows = sql_query(statement).run_on(self.write()).await?;
            if rows > 0 {
                return Ok(rows);
            }
        }
        Ok(0)
    }
}

#[async_trait]
impl RemovalStore for Session {
    async fn remove_organization(&self, id: OrganizationId) -> Result<()> {
        let atomic = self.transaction().await?;
        mark_organization(&atomic, id, clock::now()).await?;
        atomic.commit().await
    }

    async fn remove_rows(&self, limit: i64) -> Result<u64> {
        // Most calls find nothing, and do not wait for the write lock.
        let organization: Option<i64> = organizations::table
            .filter(organizations::deleted_at.is_not_null())
            .order(organizations::id)
            .select(organizations::id)
            .first_from(self.read())
            .await?;
        if let Some(id) = organization {
            return self.first_effect(organization_conditions(id, limit)).await;
        }
        let client: Option<i64> = api_clients::table
            .filter(api_clients::deleted_at.is_not_null())
            .order(api_clients::id)
            .select(api_clients::id)
            .first_from(self.read())
            .await?;
        match client {
            Some(id) => self.first_effect(client_conditions(id, limit)).await,
            None => Ok(0),
        }
    }
}
