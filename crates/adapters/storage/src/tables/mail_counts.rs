//! Counts of mails, by organization and subject.

use crate::old_rows::remove_oldest;
use crate::schema::{mail_counts, mail_counts::dsl};
use crate::session::{LoadRowsExt, Session};
use async_trait::async_trait;
use civitas_accounts::Digest;
use civitas_accounts::mail_limits::{MAIL_COUNT_WINDOW, MailCountStore};
use civitas_kernel::{OrganizationId, Result};
use diesel::dsl::case_when;
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use diesel::upsert::excluded;
use time::OffsetDateTime;

#[async_trait]
impl MailCountStore for Session {
    async fn count(
        &self,
        organization: OrganizationId,
        subject: &Digest,
        now: OffsetDateTime,
    ) -> Result<i64> {
        let begin = now - MAIL_COUNT_WINDOW;
        diesel::insert_into(mail_counts::table)
            .values((
                dsl::organization_id.eq(organization.0),
                dsl::subject_digest.eq(subject.as_str()),
                dsl::began_at.eq(now),
                dsl::mails.eq(1),
            ))
            .on_conflict((dsl::subject_digest, dsl::organization_id))
            .do_update()
            .set((
                dsl::mails
                    .eq(case_when(dsl::began_at.le(begin), 1i64.into_sql::<BigInt>())
                        .otherwise(dsl::mails + 1)),
                dsl::began_at
                    .eq(case_when(dsl::began_at.le(begin), excluded(dsl::began_at)).otherwise(dsl::began_at)),
            ))
            .returning(dsl::mails)
            .value_from(self.write())
            .await
    }

    async fn remove_before(&self, before: OffsetDateTime, limit: i64) -> Result<u64> {
        Ok(remove_oldest!(
            self,
            mail_counts by (dsl::organization_id, dsl::subject_digest) => (i64, String),
            // A subject is the digest of an address or client; those of two organizations begin at different times.
            |keys: Vec<(i64, String)>| {
                let digests: Vec<String> = keys.into_iter().map(|(_, digest)| digest).collect();
                dsl::subject_digest.eq_any(digests).and(dsl::began_at.lt(before))
            },
            began_at < before,
            limit
        ))
    }
}
