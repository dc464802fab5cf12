//! Announced uploads.

use crate::columns::{self, columns};
use crate::failure::{Stored, changed};
use crate::old_rows::remove_oldest;
use crate::records::records;
use crate::schema::uploads;
use crate::scoped::scoped;
use crate::session::Session;
use async_trait::async_trait;
use civitas_attachments::{Upload, UploadStore};
use civitas_kernel::{ClientId, FileId, OrganizationId, Result, UploadId};
use diesel::prelude::*;
use diesel_async::RunQueryDsl;
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

scoped! { uploads }

records! { uploads: UploadId => Upload; }

#[async_trait]
impl UploadStore for Session {
    async fn remove(&self, organization: OrganizationId, id: UploadId) -> Result<()> {
        diesel::delete(of(organization).filter(uploads::id.eq(id.0)))
            .execute(&mut *self.write().await?)
            .await
            .stored()
            .and_then(changed)
    }

    async fn remove_announced_before(&self, before: OffsetDateTime, limit: i64) -> Result<i64> {
        let removed = remove_oldest!(
            self,
            uploads::table,
            uploads::table.filter(uploads::created_at.lt(before)),
            order uploads::created_at,
            key uploads::id => i64,
            among |ids: Vec<i64>| columns::any_of(uploads::id.nullable(), &ids),
            limit limit
        );
        Ok(i64::try_from(removed).unwrap_or(limit))
    }
}
