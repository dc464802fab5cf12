//! API clients. They belong to the deployment, not to an organization: see the port.

use crate::columns::{self, columns};
use crate::engine::Db;
use crate::failure::{Stored, changed};
use crate::schema::api_clients;
use crate::session::Session;
use async_trait::async_trait;
use civitas_accounts::{ApiClient, ClientStore, Digest};
use civitas_kernel::{Abilities, ClientId, Error, OrganizationId, Result, Scopes};
use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use time::OffsetDateTime;

columns! {
    /// An API client as its row stores it.
    api_clients as ApiClient;
    id ClientId;
    fields {
        uid: String,
        secret as secret_digest: Digest,
        name: String,
        organization as organization_id: Option<OrganizationId>,
        scopes: Scopes,
        permissions: Abilities,
        created_at: OffsetDateTime,
        updated_at: OffsetDateTime,
    }
}

#[async_trait]
impl ClientStore for Session {
    async fn find(&self, id: ClientId) -> Result<Option<ApiClient>> {
        let row: Option<Row> = api_clients::table
            .find(id.0)
            .select(columns::of::<Row>())
            .first(&mut *self.read().await?)
            .await
            .optional()
            .stored()?;
        Ok(row.map(|row| <(ClientId, ApiClient)>::from(row).1))
    }

    async fn find_by_uid(&self, uid: &str) -> Result<Option<(ClientId, ApiClient)>> {
        let row: Option<Row> = api_clients::table
            .filter(api_clients::uid.eq(uid))
            .select(columns::of::<Row>())
            .first(&mut *self.read().await?)
            .await
            .optional()
            .stored()?;
        Ok(row.map(Into::into))
    }

    async fn add(&self, client: &ApiClient) -> Result<ClientId> {
        let id: Option<i64> = diesel::insert_into(api_clients::table)
            .values(Changeset::of(client))
            .on_conflict_do_nothing()
            .returning(api_clients::id)
            .get_result(&mut *self.write().await?)
            .await
            .optional()
            .stored()?;
        id.map(ClientId).ok_or_else(|| Error::Conflict("the public name is taken".into()))
    }

    async fn save(&self, id: ClientId, client: &ApiClient) -> Result<()> {
        diesel::update(api_clients::table.find(id.0))
            .set(Changeset::of(client))
            .execute(&mut *self.write().await?)
            .await
            .stored()
            .and_then(changed)
    }

    async fn remove(&self, id: ClientId) -> Result<()> {
        diesel::delete(api_clients::table.find(id.0))
            .execute(&mut *self.write().await?)
            .await
            .stored()
            .map(drop)
    }

    async fn page_after(
        &self,
        organization: Option<OrganizationId>,
        after: Option<ClientId>,
        limit: i64,
    ) -> Result<Vec<(ClientId, ApiClient)>> {
        let mut clients = api_clients::table.select(columns::of::<Row>()).into_boxed::<Db>();
        if let Some(organization) = organization {
            clients = clients.filter(api_clients::organization_id.eq(organization.0));
        }
        let rows: Vec<Row> = clients
            .filter(api_clients::id.gt(after.map_or(i64::MIN, |id| id.0)))
            .order(api_clients::id)
            .limit(limit)
            .load(&mut *self.read().await?)
            .await
            .stored()?;
        Ok(rows.into_iter().map(Into::into).collect())
    }
}
