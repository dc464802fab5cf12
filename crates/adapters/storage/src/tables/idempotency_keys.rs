//! Answers to writes that carried an idempotency key.

use crate::old_rows::remove_oldest;
use crate::schema::{idempotency_keys, idempotency_keys::dsl};
use crate::session::{ExecuteExt, LoadRowsExt, Session};
use async_trait::async_trait;
use civitas_accounts::Digest;
use civitas_application::{IdempotencyKey, IdempotencyStore, IdempotentAnswer};
use civitas_kernel::{Error, OrganizationId, Result, UserId};
use diesel::prelude::*;
use time::OffsetDateTime;

#[async_trait]
impl IdempotencyStore for Session {
    async fn find_answer(&self, key: &IdempotencyKey) -> Result<Option<IdempotentAnswer>> {
        let found: Option<(String, i64, String)> = idempotency_keys::table
            .filter(dsl::digest.eq(key.digest.as_str()))
            .filter(dsl::organization_id.eq(key.organization.0))
            .select((dsl::request_digest, dsl::status, dsl::sealed_answer))
            .first_from(self.read())
            .await?;
        let Some((request, status, sealed)) = found else { return Ok(None) };
        let status = u16::try_from(status).map_err(Error::internal)?;
        Ok(Some(IdempotentAnswer { request: Digest::from_stored(request), status, sealed }))
    }

    async fn save_answer(
        &self,
        key: &IdempotencyKey,
        answer: &IdempotentAnswer,
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
            .run_on(self.write())
            .await?;
        if added == 0 { Err(Error::Conflict("the idempotency key has an answer".into())) } else { Ok(()) }
    }

    async fn remove_answers_of_user(&self, organization: OrganizationId, user: UserId) -> Result<u64> {
        let own = idempotency_keys::table
            .filter(dsl::user_id.eq(user.0))
            .filter(dsl::organization_id.eq(organization.0));
        diesel::delete(own).run_on(self.write()).await
    }

    async fn remove_answers_before(&self, before: OffsetDateTime, limit: i64) -> Result<u64> {
        Ok(remove_oldest!(self, idempotency_keys by digest, created_at < before, limit))
    }
}
