//! The rows of files.

use super::attachment_visibility::shown_to_all;
use crate::columns::{self, columns};
use crate::engine::Conn;
use crate::records::records;
use crate::schema::{attachments, files};
use crate::session::{ExecuteExt, LoadModelsExt, LoadRowsExt, Session, borrowed_connection};
use async_trait::async_trait;
use civitas_attachments::{ContentError, FileRegistry, FileState, NO_ORGANIZATION_YET, StoredFile};
use civitas_kernel::{FileId, OrganizationId, Result};
use diesel::dsl::{exists, sql};
use diesel::prelude::*;
use diesel::sql_types::Bool;
use time::OffsetDateTime;

columns! {
    /// A file as its row stores it.
    files as StoredFile;
    id FileId;
    fields {
        key: String,
        object: String,
        filename: String,
        content_type: String,
        fault: Option<ContentError>,
        byte_size: i64,
        sha256: String,
        thumbnail_bytes: Option<i64>,
        state: FileState,
        created_at: OffsetDateTime,
    }
}

records! { scoped files: FileId => StoredFile; }

/// Files by the ids that a read of attachments names.
pub(super) async fn load_by_ids(
    connection: &mut Conn,
    organization: OrganizationId,
    ids: &[i64],
) -> Result<Vec<(FileId, StoredFile)>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    rows_of(organization)
        .filter(columns::any_of(files::id.nullable(), ids))
        .models_from::<Row, _>(borrowed_connection(connection))
        .await
}

#[async_trait]
impl FileRegistry for Session {
    async fn find_served(&self, organization: OrganizationId, key: &str) -> Result<Option<StoredFile>> {
        let connection = &mut *self.read().await?;
        let row: Option<Row> = rows_of(organization)
            .filter(files::key.eq(key))
            .filter(files::state.eq(FileState::Stored.as_str()))
            .select(columns::all_columns::<Row>())
            .first_from(borrowed_connection(connection))
            .await?;
        let Some(row) = row else { return Ok(None) };
        let attachment = attachments::table
            .filter(attachments::file_id.eq(row.id))
            .filter(attachments::organization_id.eq(organization.0))
            .filter(shown_to_all());
        let is_attached: bool =
            diesel::select(exists(attachment)).value_from(borrowed_connection(connection)).await?;
        Ok(is_attached.then(|| row.into_model()))
    }

    async fn removed(&self, pending_since: OffsetDateTime, limit: i64) -> Result<Vec<(FileId, StoredFile)>> {
        // The condition of the partial index, exactly.
        let unused = || sql::<Bool>("files.state <> 'stored'");
        let abandoned = || {
            files::table
                .filter(unused())
                .filter(files::created_at.lt(pending_since))
                .filter(files::state.eq(FileState::Pending.as_str()))
        };
        // Most calls find none, and do not wait for the write lock.
        let is_any: bool = diesel::select(exists(abandoned())).value_from(self.read()).await?;
        if is_any {
            diesel::update(abandoned())
                .set(files::state.eq(FileState::Removed.as_str()))
                .run_on(self.write())
                .await?;
        }
        files::table
            .filter(unused())
            .filter(files::state.eq(FileState::Removed.as_str()))
            .order((files::created_at, files::id))
            .limit(limit)
            .models_from::<Row, _>(self.read())
            .await
    }

    async fn adopt(&self, organization: OrganizationId, id: FileId, now: OffsetDateTime) -> Result<bool> {
        let pending = rows_of(NO_ORGANIZATION_YET)
            .filter(files::id.eq(id.0))
            .filter(files::state.eq(FileState::Pending.as_str()));
        diesel::update(pending)
            .set((
                files::organization_id.eq(organization.0),
                files::state.eq(FileState::Stored.as_str()),
                files::created_at.eq(now),
            ))
            .any_on(self.write())
            .await
    }

    async fn forget(&self, ids: &[FileId]) -> Result<()> {
        let ids: Vec<i64> = ids.iter().map(|id| id.0).collect();
        let removed = files::table
            .filter(columns::any_of(files::id.nullable(), &ids))
            .filter(files::state.eq(FileState::Removed.as_str()));
        diesel::delete(removed).run_on(self.write()).await?;
        Ok(())
    }

    async fn find_many(
        &self,
        organization: OrganizationId,
        ids: &[FileId],
    ) -> Result<Vec<(FileId, StoredFile)>> {
        let ids: Vec<i64> = ids.iter().map(|id| id.0).collect();
        load_by_ids(&mut *self.read().await?, organization, &ids).await
    }

    async fn stored_after(&self, after: Option<FileId>, limit: i64) -> Result<Vec<(FileId, StoredFile)>> {
        files::table
            .filter(files::id.gt(after.map_or(i64::MIN, |id| id.0)))
            .filter(files::state.eq(FileState::Stored.as_str()))
            .order(files::id)
            .limit(limit)
            .models_from::<Row, _>(self.read())
            .await
    }

    async fn known_objects(&self, names: &[String]) -> Result<Vec<String>> {
        files::table.filter(files::object.eq_any(names)).select(files::object).rows_from(self.read()).await
    }
}
