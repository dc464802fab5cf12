//! API clients. They are the deployment's, not an organization's: see the port.

use crate::columns;
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

#[derive(Queryable, Selectable)]
#[diesel(table_name = api_clients, check_for_backend(Db))]
pub(super) struct Row {
    id: i64,
    uid: String,
    secret_digest: String,
    name: String,
    organization_id: Option<i64>,
    scopes: String,
    permissions: String,
    created_at: OffsetDateTime,
    updated_at: OffsetDateTime,
}

impl From<Row> for (ClientId, ApiClient) {
    fn from(row: Row) -> Self {
        let client = ApiClient {
            uid: row.uid,
            secret: Digest::kept(row.secret_digest),
            name: row.name,
            organization: row.organization_id.map(OrganizationId),
            scopes: Scopes::read(&row.scopes),
            permissions: Abilities::read(&row.permissions),
            created_at: row.created_at,
            updated_at: row.updated_at,
        };
        (ClientId(row.id), client)
    }
}

#[derive(Insertable, AsChangeset)]
#[diesel(table_name = api_clients, treat_none_as_null = true, treat_none_as_default_value = false)]
struct Written<'a> {
    uid: &'a str,
    secret_digest: &'a str,
    name: &'a str,
    organization_id: Option<i64>,
    scopes: String,
    permissions: String,
    created_at: OffsetDateTime,
    updated_at: OffsetDateTime,
}

impl<'a> From<&'a ApiClient> for Written<'a> {
    fn from(client: &'a ApiClient) -> Self {
        Self {
            uid: &client.uid,
            secret_digest: client.secret.as_str(),
            name: &client.name,
            organization_id: client.organization.map(|id| id.0),
            scopes: client.scopes.to_string(),
            permissions: client.permissions.to_string(),
            created_at: client.created_at,
            updated_at: client.updated_at,
        }
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
            .values(Written::from(client))
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
            .set(Written::from(client))
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

    async fn after(
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
