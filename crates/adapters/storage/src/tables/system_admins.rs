//! Accounts of the system panel.

use crate::failure::Stored;
use crate::schema::system_admins::{self, dsl};
use crate::session::Session;
use async_trait::async_trait;
use civitas_accounts::SystemAdminStore;
use civitas_kernel::Result;
use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use time::OffsetDateTime;

#[async_trait]
impl SystemAdminStore for Session {
    async fn find(&self, email: &str) -> Result<Option<(i64, Option<String>)>> {
        system_admins::table
            .filter(dsl::email.eq(email))
            .select((dsl::id, dsl::password_hash))
            .first(&mut *self.read().await?)
            .await
            .optional()
            .stored()
    }

    async fn put(&self, email: &str, password_hash: Option<&str>, now: OffsetDateTime) -> Result<i64> {
        diesel::insert_into(system_admins::table)
            .values((
                dsl::email.eq(email),
                dsl::password_hash.eq(password_hash),
                dsl::created_at.eq(now),
                dsl::updated_at.eq(now),
            ))
            .on_conflict(dsl::email)
            .do_update()
            .set((dsl::password_hash.eq(password_hash), dsl::updated_at.eq(now)))
            .returning(dsl::id)
            .get_result(&mut *self.write().await?)
            .await
            .stored()
    }

    async fn page_after(&self, after: Option<i64>, limit: i64) -> Result<Vec<(i64, String, Option<String>)>> {
        system_admins::table
            .filter(dsl::id.gt(after.unwrap_or(i64::MIN)))
            .order(dsl::id)
            .limit(limit)
            .select((dsl::id, dsl::email, dsl::password_hash))
            .load(&mut *self.read().await?)
            .await
            .stored()
    }
}
