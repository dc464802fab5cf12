//! Answers to writes that carried an idempotency key.

use crate::failure::Stored;
use crate::old_rows::remove_oldest;
use crate::schema::{idempotency_keys, idempotency_keys::dsl};
use crate::session::Session;
use async_trait::async_trait;
use civitas_accounts::Digest;
use civitas_application::{IdempotencyKey, IdempotencyStore, KeptAnswer};
use civitas_kernel::{Error, OrganizationId, Result, UserId};
use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use time::OffsetDateTime;

#[async_trait]
impl IdempotencyStore for Session {
    async fn find_answer(&self, key: &IdempotencyKey) -> Result<Option<KeptAnswer>> {
        let found: Option<(String, i64, String)> = idempotency_keys::table
            .filter(dsl::digest.eq(key.digest.as_str()))
            .filter(dsl::organization_id.eq(key.organization.0))
            .select((dsl::request_digest, dsl::status, dsl::sealed_answer))
            .first(&mut *self.read().await?)
            .await
            .found()?;
        let Some((request, status, sealed)) = found else { return Ok(None) };
        let status = u16::try_from(status).map_err(Error::internal)?;
        Ok(Some(KeptAnswer { request: Digest::kept(request), status, sealed }))
    }

    async fn keep_answer(
        &self,
        key: &IdempotencyKey,
        answer: &KeptAnswer,
        now: OffsetDateTime,
    ) -> Result<()> {
        let added = diesel::insert_into(idempotency_keys::table)
            .values((
                dsl::digest.eq(key.digest.as_str()),
                dsl::organization_id.eq(key.organization.0),
                dsl::api_client_id.eq(key.client.0),
                dsl::user_id.eq(key.user.map(|user| user.0)),
                dsl::request_digest.eq(answer.request.as_str()),
                dsl::status.eq(i64::from(answer.status)),
                dsl::sealed_answer.eq(&answer.sealed),
                dsl::created_at.eq(now),
                dsl::bytes.eq(i64::try_from(answer.sealed.len()).unwrap_or(i64::MAX)),
            ))
            .on_conflict_do_nothing()
            .execute(&mut *self.write().await?)
            .await
            .stored()?;
        if added == 0 { Err(Error::Conflict("the idempotency key has an answer".into())) } else { Ok(()) }
    }

    async fn remove_answers_of_user(&self, organization: OrganizationId, user: UserId) -> Result<u64> {
        let own = idempotency_keys::table
            .filter(dsl::user_id.eq(user.0))
            .filter(dsl::organization_id.eq(organization.0));
        let removed = diesel::delete(own).execute(&mut *self.write().await?).await.stored()?;
        Ok(removed as u64)
    }

    async fn remove_answers_before(&self, before: OffsetDateTime, limit: i64) -> Result<u64> {
        Ok(remove_oldest!(
            self,
            idempotency_keys::table,
            idempotency_keys::table.filter(dsl::created_at.lt(before)),
            order dsl::created_at,
            key dsl::digest => String,
            among |digests: Vec<String>| dsl::digest.eq_any(digests),
            limit limit
        ))
    }
}
