//! API clients. They belong to the deployment, not to an organization: see the port.

use super::removals::mark_clients;
use crate::columns::{self, Condition, columns};
use crate::engine::sql::Moment;
use crate::engine::{Db, dialect};
use crate::filter::{containing, like, literal};
use crate::optional::filter_some;
use crate::schema::{access_tokens, api_clients};
use crate::session::{ExecuteExt, LoadModelsExt, LoadRowsExt, Session};
use async_trait::async_trait;
use civitas_accounts::{ApiClient, ClientFilter, ClientStore, ClientUsage, Digest};
use civitas_kernel::{Abilities, ClientId, Error, OrganizationId, Page, PageRequest, Result, Scopes, clock};
use diesel::dsl::{Filter, IsNull, sql};
use diesel::prelude::*;
use diesel::sql_types::BigInt;
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

type ExistingClients = Filter<api_clients::table, IsNull<api_clients::deleted_at>>;

/// The clients that were not removed; the only way to read the table.
pub(super) fn existing_clients() -> ExistingClients {
    api_clients::table.filter(api_clients::deleted_at.is_null())
}

#[async_trait]
impl ClientStore for Session {
    async fn find(&self, id: ClientId) -> Result<Option<ApiClient>> {
        existing_clients().filter(api_clients::id.eq(id.0)).model_from::<Row, _>(self.read()).await
    }

    async fn find_by_uid(&self, uid: &str) -> Result<Option<(ClientId, ApiClient)>> {
        existing_clients().filter(api_clients::uid.eq(uid)).model_from::<Row, _>(self.read()).await
    }

    async fn find_by_uid_for_update(&self, uid: &str) -> Result<Option<(ClientId, ApiClient)>> {
        let row = dialect::for_update!(existing_clients().filter(api_clients::uid.eq(uid)));
        row.model_from::<Row, _>(self.for_update()).await
    }

    async fn list(&self, filter: &ClientFilter, page: PageRequest) -> Result<Page<(ClientId, ApiClient)>> {
        let mut clients = existing_clients().into_boxed::<Db>();
        filter_some!(clients; filter.organization => |organization| api_clients::organization_id.eq(organization.0));
        if let Some(text) = &filter.search {
            let uid: Condition<api_clients::table> =
                like(Box::new(api_clients::uid.nullable()), &format!("{}%", literal(text)));
            let name: Condition<api_clients::table> =
                like(Box::new(api_clients::name.nullable()), &containing(text));
            clients = clients.filter(uid.or(name));
        }
        clients
            .order((api_clients::created_at.desc(), api_clients::id.desc()))
            .page_from::<Row, _>(page, self.read())
            .await
    }

    async fn usage(&self, ids: &[ClientId], now: OffsetDateTime) -> Result<Vec<(ClientId, ClientUsage)>> {
        let ids: Vec<i64> = ids.iter().map(|id| id.0).collect();
        let up_to = format!(" LIMIT {}) AS counted)", ClientUsage::MAX_COUNT);
        let valid = sql::<BigInt>(
            "(SELECT count(*) FROM (SELECT 1 FROM access_tokens WHERE access_tokens.api_client_id = api_clients.id \
             AND access_tokens.revoked_at IS NULL AND access_tokens.expires_at > ",
        )
        .bind::<Moment, _>(now)
        .sql(&up_to);
        let registrations = sql::<BigInt>(
            "(SELECT count(*) FROM (SELECT 1 FROM webhook_registrations \
             WHERE webhook_registrations.api_client_id = api_clients.id",
        )
        .sql(&up_to);
        let last = access_tokens::table
            .filter(access_tokens::api_client_id.eq(api_clients::id))
            .order(access_tokens::issued_at.desc())
            .limit(1)
            .select(access_tokens::issued_at)
            .single_value();
        let rows: Vec<(i64, i64, i64, Option<OffsetDateTime>)> = api_clients::table
            .filter(columns::any_of(api_clients::id.nullable(), &ids))
            .select((api_clients::id, valid, registrations, last))
            .rows_from(self.read())
            .await?;
        let usage = |(id, valid_tokens, registrations, last_token_at)| {
            (ClientId(id), ClientUsage { valid_tokens, registrations, last_token_at })
        };
        Ok(rows.into_iter().map(usage).collect())
    }

    async fn add(&self, client: &ApiClient) -> Result<ClientId> {
        let assigned = self.take_assigned_id("api_clients").map(|id| api_clients::id.eq(id));
        let id: Option<i64> = diesel::insert_into(api_clients::table)
            .values((assigned, Changeset::new(client)))
            .on_conflict_do_nothing()
            .returning(api_clients::id)
            .row_from(self.write())
            .await?;
        id.map(ClientId).ok_or_else(|| Error::Conflict("the public name is taken".into()))
    }

    async fn save(&self, id: ClientId, client: &ApiClient) -> Result<()> {
        diesel::update(existing_clients().filter(api_clients::id.eq(id.0)))
            .set(Changeset::new(client))
            .change_on(self.write())
            .await
    }

    async fn remove(&self, id: ClientId) -> Result<()> {
        let atomic = self.transaction().await?;
        mark_clients(&atomic, vec![id.0], clock::now()).await?;
        atomic.commit().await
    }

    async fn page_after(
        &self,
        organization: Option<OrganizationId>,
        after: Option<ClientId>,
        limit: i64,
    ) -> Result<Vec<(ClientId, ApiClient)>> {
        let mut clients = existing_clients().into_boxed::<Db>();
        filter_some!(clients; organization => |organization| api_clients::organization_id.eq(organization.0));
        clients
            .filter(api_clients::id.gt(after.map_or(i64::MIN, |id| id.0)))
            .order(api_clients::id)
            .limit(limit)
            .models_from::<Row, _>(self.read())
            .await
    }
}
