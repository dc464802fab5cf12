//! Sessions of the system panel, and the forms that were submitted in them.

use super::administrators::Row as AdministratorRow;
use crate::columns::{self, columns};
use crate::engine::{dialect, sql};
use crate::schema::{administrators, panel_sessions, panel_used_forms};
use crate::session::{ExecuteExt, LoadRowsExt, Session};
use async_trait::async_trait;
use civitas_accounts::{Administrator, Digest, PanelSession, PanelSessionStore};
use civitas_kernel::{AdministratorId, Result};
use diesel::prelude::*;
use diesel::sql_types::Text;
use time::OffsetDateTime;

/// The most expired sessions that one sign-in removes.
const REMOVED_AT_ONCE: i64 = 100;

columns! {
    /// A session as its row stores it.
    panel_sessions as PanelSession;
    fields {
        administrator as administrator_id: AdministratorId,
        digest: Digest,
        notice: Option<String>,
        created_at: OffsetDateTime,
        last_seen_at: OffsetDateTime,
        expires_at: OffsetDateTime,
        confirmed_at: Option<OffsetDateTime>,
    }
}

#[async_trait]
impl PanelSessionStore for Session {
    async fn add(&self, session: &PanelSession) -> Result<()> {
        let atomic = self.transaction().await?;
        let expired: Vec<String> = panel_sessions::table
            .filter(panel_sessions::expires_at.le(session.created_at))
            .order(panel_sessions::expires_at)
            .limit(REMOVED_AT_ONCE)
            .select(panel_sessions::digest)
            .rows_from(atomic.connection())
            .await?;
        if !expired.is_empty() {
            diesel::delete(panel_sessions::table.filter(panel_sessions::digest.eq_any(expired)))
                .run_on(atomic.connection())
                .await?;
        }
        diesel::insert_into(panel_sessions::table)
            .values(Changeset::new(session))
            .run_on(atomic.connection())
            .await?;
        atomic.commit().await
    }

    async fn find(
        &self,
        digest: &Digest,
        now: OffsetDateTime,
    ) -> Result<Option<(AdministratorId, Administrator, PanelSession)>> {
        let found: Option<(AdministratorRow, Row)> = panel_sessions::table
            .inner_join(administrators::table)
            .filter(panel_sessions::digest.eq(digest.as_str()))
            .filter(panel_sessions::expires_at.gt(now))
            .select((columns::all_columns::<AdministratorRow>(), columns::all_columns::<Row>()))
            .first_from(self.read())
            .await?;
        Ok(found.map(|(administrator, session)| {
            let (id, administrator) = administrator.into();
            (id, administrator, session.into())
        }))
    }

    async fn touch(&self, digest: &Digest, now: OffsetDateTime, expires_at: OffsetDateTime) -> Result<()> {
        diesel::update(panel_sessions::table.find(digest.as_str()))
            .filter(panel_sessions::expires_at.gt(now))
            .set((panel_sessions::last_seen_at.eq(now), panel_sessions::expires_at.eq(expires_at)))
            .done_on(self.write())
            .await
    }

    async fn confirm(&self, digest: &Digest, now: OffsetDateTime) -> Result<()> {
        diesel::update(panel_sessions::table.find(digest.as_str()))
            .set(panel_sessions::confirmed_at.eq(now))
            .done_on(self.write())
            .await
    }

    async fn set_notice(&self, digest: &Digest, notice: Option<&str>) -> Result<()> {
        diesel::update(panel_sessions::table.find(digest.as_str()))
            .set(panel_sessions::notice.eq(notice))
            .done_on(self.write())
            .await
    }

    async fn take_notice(&self, digest: &Digest) -> Result<Option<String>> {
        let atomic = self.transaction().await?;
        let row = panel_sessions::table.find(digest.as_str()).select(panel_sessions::notice);
        let notice: Option<Option<String>> =
            dialect::for_update!(row).first_from(atomic.connection()).await?;
        let Some(notice) = notice.flatten() else { return Ok(None) };
        diesel::update(panel_sessions::table.find(digest.as_str()))
            .set(panel_sessions::notice.eq(None::<String>))
            .run_on(atomic.connection())
            .await?;
        atomic.commit().await?;
        Ok(Some(notice))
    }

    async fn remove(&self, digest: &Digest) -> Result<()> {
        diesel::delete(panel_sessions::table.find(digest.as_str())).done_on(self.write()).await
    }

    async fn remove_all_of(&self, administrator: AdministratorId, except: Option<&Digest>) -> Result<()> {
        // No digest is the empty text.
        let kept = except.map_or("", Digest::as_str);
        let own = panel_sessions::table
            .filter(panel_sessions::administrator_id.eq(administrator.0))
            .filter(panel_sessions::digest.ne(kept));
        diesel::delete(own).done_on(self.write()).await
    }

    async fn use_form(&self, digest: &Digest, nonce: &str, now: OffsetDateTime) -> Result<bool> {
        let session = panel_sessions::table.filter(panel_sessions::digest.eq(digest.as_str())).select((
            panel_sessions::digest,
            nonce.into_sql::<Text>(),
            now.into_sql::<sql::Moment>(),
        ));
        // The lock waits for a transaction that removes the session: without it the foreign key fails.
        diesel::insert_into(panel_used_forms::table)
            .values(dialect::for_update!(session))
            .into_columns((
                panel_used_forms::session_digest,
                panel_used_forms::nonce,
                panel_used_forms::used_at,
            ))
            .on_conflict_do_nothing()
            .any_on(self.write())
            .await
    }

    async fn forget_form(&self, digest: &Digest, nonce: &str) -> Result<()> {
        diesel::delete(panel_used_forms::table.find((digest.as_str(), nonce))).done_on(self.write()).await
    }
}
