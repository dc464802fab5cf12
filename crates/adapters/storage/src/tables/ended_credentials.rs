//! Tokens, links and sessions whose time is over.

use crate::columns;
use crate::failure::Stored;
use crate::old_rows::remove_oldest;
use crate::schema::{access_tokens, confirmations, magic_links, sessions};
use crate::session::Session;
use async_trait::async_trait;
use civitas_accounts::EndedCredentials;
use civitas_kernel::Result;
use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use time::OffsetDateTime;

#[async_trait]
impl EndedCredentials for Session {
    async fn remove_before(&self, before: OffsetDateTime, limit: i64) -> Result<u64> {
        let mut removed = remove_oldest!(
            self,
            access_tokens::table,
            access_tokens::table.filter(access_tokens::expires_at.lt(before)),
            order access_tokens::expires_at,
            key access_tokens::id => i64,
            among |ids: Vec<i64>| columns::any_of(access_tokens::id.nullable(), &ids),
            limit limit
        );
        removed += remove_oldest!(
            self,
            magic_links::table,
            magic_links::table.filter(magic_links::expires_at.lt(before)),
            order magic_links::expires_at,
            key magic_links::id => i64,
            among |ids: Vec<i64>| columns::any_of(magic_links::id.nullable(), &ids),
            limit limit
        );
        removed += remove_oldest!(
            self,
            confirmations::table,
            confirmations::table.filter(confirmations::expires_at.lt(before)),
            order confirmations::expires_at,
            key confirmations::digest => String,
            among |digests: Vec<String>| confirmations::digest.eq_any(digests),
            limit limit
        );
        removed += remove_oldest!(
            self,
            sessions::table,
            sessions::table.filter(sessions::expires_at.lt(before)),
            order sessions::expires_at,
            key sessions::digest => String,
            among |digests: Vec<String>| sessions::digest.eq_any(digests),
            limit limit
        );
        Ok(removed)
    }
}
