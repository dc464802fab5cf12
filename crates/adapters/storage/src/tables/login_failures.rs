//! Failed logins, by organization, name and client.

use crate::columns::any_of;
use crate::engine::sql::Moment;
use crate::old_rows::remove_oldest;
use crate::schema::{api_clients, login_failures, login_failures::dsl};
use crate::scoped::scoped;
use crate::session::{ExecuteExt, LoadRowsExt, Session};
use async_trait::async_trait;
use civitas_accounts::Digest;
use civitas_accounts::login_failures::{
    FAILURES_THAT_LOCK, FailedLogins, LOGIN_FAILURE_WINDOW, LoginFailureStore, LoginKey, LoginLock,
};
use civitas_kernel::{OrganizationId, Result};
use diesel::dsl::case_when;
use diesel::prelude::*;
use diesel::sql_types::Nullable;
use time::OffsetDateTime;

scoped! { login_failures }

#[async_trait]
impl LoginFailureStore for Session {
    async fn find(&self, key: &LoginKey) -> Result<Option<FailedLogins>> {
        let found: Option<(i64, Option<OffsetDateTime>)> = rows_of(key.organization)
            .filter(dsl::name_digest.eq(key.name.as_str()))
            .filter(dsl::api_client_id.eq(key.client.0))
            .select((dsl::failures, dsl::locked_until))
            .first_from(self.read())
            .await?;
        Ok(found.map(|(failures, locked_until)| FailedLogins { failures, locked_until }))
    }

    async fn count(
        &self,
        key: &LoginKey,
        locked_until: OffsetDateTime,
        now: OffsetDateTime,
    ) -> Result<FailedLogins> {
        let moment = |at: Option<OffsetDateTime>| at.into_sql::<Nullable<Moment>>();
        let has_ended = dsl::locked_until.is_not_null().and(dsl::locked_until.assume_not_null().le(now));
        let locks = dsl::locked_until.is_null().and((dsl::failures + 1).ge(FAILURES_THAT_LOCK));
        let (failures, until) = diesel::insert_into(login_failures::table)
            .values((
                dsl::organization_id.eq(key.organization.0),
                dsl::api_client_id.eq(key.client.0),
                dsl::name_digest.eq(key.name.as_str()),
                dsl::failures.eq(1),
                dsl::failed_at.eq(now),
            ))
            .on_conflict((dsl::organization_id, dsl::name_digest, dsl::api_client_id))
            .do_update()
            .set((
                dsl::failures.eq(case_when(has_ended, 1i64.into_sql::<diesel::sql_types::BigInt>())
                    .otherwise(dsl::failures + 1)),
                dsl::locked_until.eq(case_when(has_ended, moment(None))
                    .when(locks, moment(Some(locked_until)))
                    .otherwise(dsl::locked_until)),
                dsl::failed_at.eq(now),
            ))
            .returning((dsl::failures, dsl::locked_until))
            .value_from(self.write())
            .await?;
        Ok(FailedLogins { failures, locked_until: until })
    }

    async fn reset(&self, key: &LoginKey, now: OffsetDateTime) -> Result<()> {
        let own = rows_of(key.organization)
            .filter(dsl::name_digest.eq(key.name.as_str()))
            .filter(dsl::api_client_id.eq(key.client.0));
        let open = own.filter(dsl::locked_until.is_null().or(dsl::locked_until.assume_not_null().le(now)));
        diesel::delete(open).done_on(self.write()).await
    }

    async fn locks(
        &self,
        organization: OrganizationId,
        name: &Digest,
        now: OffsetDateTime,
    ) -> Result<Vec<LoginLock>> {
        let rows: Vec<(String, String, OffsetDateTime)> = login_failures::table
            .inner_join(api_clients::table)
            .filter(dsl::organization_id.eq(organization.0))
            .filter(dsl::name_digest.eq(name.as_str()))
            .filter(dsl::locked_until.gt(now))
            .order(api_clients::uid)
            .select((api_clients::uid, api_clients::name, dsl::locked_until.assume_not_null()))
            .rows_from(self.read())
            .await?;
        let lock = |(client_uid, client_name, until)| LoginLock { client_uid, client_name, until };
        Ok(rows.into_iter().map(lock).collect())
    }

    async fn clear_lock(
        &self,
        organization: OrganizationId,
        name: &Digest,
        now: OffsetDateTime,
    ) -> Result<bool> {
        let own = rows_of(organization).filter(dsl::name_digest.eq(name.as_str()));
        let removed: Vec<Option<OffsetDateTime>> =
            diesel::delete(own).returning(dsl::locked_until).rows_from(self.write()).await?;
        Ok(removed.into_iter().flatten().any(|until| until > now))
    }

    async fn remove_unneeded(&self, now: OffsetDateTime, most: i64, limit: i64) -> Result<u64> {
        let removed = remove_oldest!(
            self,
            login_failures by id,
            login_failures::table
                .filter(dsl::failed_at.lt(now - LOGIN_FAILURE_WINDOW))
                .filter(dsl::locked_until.is_null().or(dsl::locked_until.assume_not_null().le(now))),
            order dsl::failed_at,
            limit
        );
        let beyond: Vec<i64> = login_failures::table
            .order((dsl::failures.desc(), dsl::failed_at.desc()))
            .offset(most)
            .limit(limit)
            .select(dsl::id)
            .rows_from(self.read())
            .await?;
        if beyond.is_empty() {
            return Ok(removed);
        }
        let beyond = login_failures::table.filter(any_of(dsl::id.nullable(), &beyond));
        let cut = diesel::delete(beyond).run_on(self.write()).await?;
        Ok(removed + cut)
    }
}
