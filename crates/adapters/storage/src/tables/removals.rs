//! Deletes the rows of removed organizations and API clients in small batches.

use crate::engine::dialect::some_rows;
use crate::failure::Stored;
use crate::schema::{api_clients, organizations};
use crate::session::Session;
use async_trait::async_trait;
use civitas_application::Removals;
use civitas_kernel::Result;
use diesel::dsl::sql_query;
use diesel::prelude::*;
use diesel_async::RunQueryDsl;

/// The tables with an organization, children before parents: a deleted row has few or no rows that cascade.
const OF_ORGANIZATION: [&str; 32] = [
    "webhook_deliveries",
    "webhook_registrations",
    "uploads",
    "access_tokens",
    "jobs",
    "tasks",
    "confirmations",
    "magic_links",
    "sessions",
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
    "proposal_states",
    "entries",
    "roles",
    "steps",
    "components",
    "spaces",
    "users",
    "api_clients",
    "archive_refs",
    "list_changes",
];

/// The tables where each deleted row reads another table as a whole, because a foreign key has no index: the column is
/// `votes.component_id`. One row is deleted at a time.
const ONE_AT_A_TIME: [&str; 1] = ["components"];

/// Deletes at most `limit` rows.
fn delete(table: &str, condition: &str, limit: i64) -> String {
    format!("DELETE FROM {table} WHERE {}", some_rows(table, condition, limit))
}

/// The statements for an organization, in their order. Ids are numbers, so that they can be part of the text.
fn of_organization(id: i64, limit: i64) -> Vec<String> {
    let registered = format!("meeting_id IN (SELECT id FROM meetings WHERE organization_id = {id})");
    let own = format!("organization_id = {id}");
    let tables = OF_ORGANIZATION
        .iter()
        .map(|table| delete(table, &own, if ONE_AT_A_TIME.contains(table) { 1 } else { limit }));
    let last = format!("DELETE FROM organizations WHERE id = {id}");
    std::iter::once(delete("meeting_registrations", &registered, limit)).chain(tables).chain([last]).collect()
}

/// The statements for an API client, in their order.
fn of_client(id: i64, limit: i64) -> Vec<String> {
    let own = format!("api_client_id = {id}");
    let delivered =
        format!("registration_id IN (SELECT id FROM webhook_registrations WHERE api_client_id = {id})");
    vec![
        delete("webhook_deliveries", &delivered, limit),
        delete("webhook_registrations", &own, limit),
        delete("uploads", &own, limit),
        delete("access_tokens", &own, limit),
        format!("UPDATE proposals SET api_client_id = NULL WHERE {}", some_rows("proposals", &own, limit)),
        format!("DELETE FROM api_clients WHERE id = {id}"),
    ]
}

impl Session {
    /// Executes the statements until one has an effect; how many rows it changed.
    async fn first_effect(&self, statements: Vec<String>) -> Result<u64> {
        for statement in statements {
            let rows = sql_query(statement).execute(&mut *self.write().await?).await.stored()?;
            if rows > 0 {
                return Ok(rows as u64);
            }
        }
        Ok(0)
    }
}

#[async_trait]
impl Removals for Session {
    async fn remove_rows(&self, limit: i64) -> Result<u64> {
        // Most calls find nothing, and do not wait for the write lock.
        let organization: Option<i64> = organizations::table
            .filter(organizations::deleted_at.is_not_null())
            .order(organizations::id)
            .select(organizations::id)
            .first(&mut *self.read().await?)
            .await
            .optional()
            .stored()?;
        if let Some(id) = organization {
            return self.first_effect(of_organization(id, limit)).await;
        }
        let client: Option<i64> = api_clients::table
            .filter(api_clients::deleted_at.is_not_null())
            .order(api_clients::id)
            .select(api_clients::id)
            .first(&mut *self.read().await?)
            .await
            .optional()
            .stored()?;
        match client {
            Some(id) => self.first_effect(of_client(id, limit)).await,
            None => Ok(0),
        }
    }
}
