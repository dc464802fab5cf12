//! Access tokens; one statement loads the token with its client and user.

use super::clients;
use crate::columns::{self, EnumColumn, columns};
use crate::engine::Db;
use crate::schema::{access_tokens, api_clients, users};
use crate::session::{ExecuteExt, LoadRowsExt, Session};
use async_trait::async_trait;
use civitas_accounts::{AccessToken, Digest, IdentityUser, TokenIdentity, TokenStore};
use civitas_kernel::{ClientId, Locale, OrganizationId, Result, TokenId, UserId, UserState};
use diesel::prelude::*;
use time::OffsetDateTime;

columns! {
    /// A token as its row stores it.
    access_tokens as AccessToken;
    fields {
        organization as organization_id: OrganizationId,
        client as api_client_id: ClientId,
        user as user_id: Option<UserId>,
        digest: Digest,
        scope: String,
        issued_at: OffsetDateTime,
        expires_at: OffsetDateTime,
        revoked_at: Option<OffsetDateTime>,
    }
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = users, check_for_backend(Db))]
struct UserRow {
    id: i64,
    admin: bool,
    locale: Option<EnumColumn<Locale>>,
    blocked_at: Option<OffsetDateTime>,
    locked_at: Option<OffsetDateTime>,
    deleted_at: Option<OffsetDateTime>,
}

impl From<UserRow> for IdentityUser {
    fn from(row: UserRow) -> Self {
        Self {
            id: UserId(row.id),
            admin: row.admin,
            locale: row.locale.map(|locale| locale.0),
            state: state(row.blocked_at, row.locked_at),
            deleted: row.deleted_at.is_some(),
        }
    }
}

/// [`civitas_accounts::User::state`] of a row.
fn state(blocked_at: Option<OffsetDateTime>, locked_at: Option<OffsetDateTime>) -> UserState {
    match (blocked_at, locked_at) {
        (Some(_), _) => UserState::Blocked,
        (None, Some(_)) => UserState::Locked,
        (None, None) => UserState::Active,
    }
}

diesel::alias!(users as admins: Admins);

impl Session {
    async fn find_identity(
        &self,
        organization: OrganizationId,
        id: TokenId,
    ) -> Result<Option<TokenIdentity>> {
        // The same condition as the index `users_eligible_admins`.
        let first_admin = admins
            .filter(admins.field(users::organization_id).eq(organization.0))
            .filter(admins.field(users::admin))
            .filter(admins.field(users::confirmed_at).is_not_null())
            .filter(admins.field(users::blocked_at).is_null())
            .filter(admins.field(users::deleted_at).is_null())
            .order(admins.field(users::id))
            .limit(1)
            .select(admins.field(users::id))
            .single_value();
        let found: Option<(Row, clients::Row, Option<UserRow>, Option<i64>)> = access_tokens::table
            .inner_join(api_clients::table)
            .left_join(users::table)
            .filter(access_tokens::id.eq(id.0))
            .filter(access_tokens::organization_id.eq(organization.0))
            .filter(api_clients::deleted_at.is_null())
            .select((
                columns::all_columns::<Row>(),
                columns::all_columns::<clients::Row>(),
                columns::all_columns::<Option<UserRow>>(),
                first_admin,
            ))
            .first_from(self.read())
            .await?;
        Ok(found.map(|(token, client, user, first_admin)| TokenIdentity {
            token: token.into(),
            client: client.into(),
            user: user.map(Into::into),
            first_admin: first_admin.map(UserId),
        }))
    }
}

#[async_trait]
impl TokenStore for Session {
    async fn add(&self, token: &AccessToken) -> Result<TokenId> {
        let atomic = self.transaction_of_one().await?;
        let id = diesel::insert_into(access_tokens::table)
            .values(Changeset::new(token))
            .returning(access_tokens::id)
            .value_from(atomic.connection())
            .await?;
        atomic.commit().await?;
        Ok(TokenId(id))
    }

    async fn identify(&self, organization: OrganizationId, id: TokenId) -> Result<Option<TokenIdentity>> {
        let found = self.find_identity(organization, id);
        self.look_up(|lookups| &lookups.identities, (organization.0, id.0), found).await
    }

    async fn revoke(&self, organization: OrganizationId, id: TokenId, at: OffsetDateTime) -> Result<()> {
        diesel::update(access_tokens::table.find(id.0))
            .filter(access_tokens::organization_id.eq(organization.0))
            .filter(access_tokens::revoked_at.is_null())
            .set(access_tokens::revoked_at.eq(at))
            .done_on(self.write())
            .await
    }

    async fn revoke_of_user(
        &self,
        organization: OrganizationId,
        user: UserId,
        at: OffsetDateTime,
    ) -> Result<()> {
        diesel::update(access_tokens::table)
            .filter(access_tokens::user_id.eq(user.0))
            .filter(access_tokens::organization_id.eq(organization.0))
            .filter(access_tokens::revoked_at.is_null())
            .set(access_tokens::revoked_at.eq(at))
            .done_on(self.write())
            .await
    }
}
