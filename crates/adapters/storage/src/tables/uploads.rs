//! Requested uploads.

use crate::columns::columns;
use crate::old_rows::remove_oldest;
use crate::records::records;
use crate::schema::uploads;
use crate::session::{ExecuteExt, Session};
use async_trait::async_trait;
use civitas_attachments::{Upload, UploadStore};
use civitas_kernel::{ClientId, FileId, OrganizationId, Result, UploadId};
use diesel::prelude::*;
use time::OffsetDateTime;

columns! {
    /// An upload as its row stores it.
    uploads as Upload;
    id UploadId;
    fields {
        client as api_client_id: ClientId,
        digest: String,
        filename: String,
        content_type: String,
        byte_size: i64,
        checksum: String,
        file as file_id: Option<FileId>,
        created_at: OffsetDateTime,
    }
}

records! { scoped uploads: UploadId => Upload; }

#[async_trait]
impl UploadStore for Session {
    async fn remove(&self, organization: OrganizationId, id: UploadId) -> Result<()> {
        diesel::delete(rows_of(organization).filter(uploads::id.eq(id.0))).change_on(self.write()).await
    }

    async fn remove_requested_before(&self, before: OffsetDateTime, limit: i64) -> Result<i64> {
        let removed = remove_oldest!(self, uploads by id, created_at < before, limit);
        Ok(i64::try_from(removed).unwrap_or(limit))
    }
}
