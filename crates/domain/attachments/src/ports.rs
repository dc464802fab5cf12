//! Ports: the rows of files, uploads, attachments and collections.

use crate::{
    Attachment, AttachmentDetail, AttachmentParent, Collection, FileType, PARENT_NAMES, ParentKind,
    StoredFile, Upload,
};
use async_trait::async_trait;
use civitas_kernel::filter::FieldKind;
use civitas_kernel::records::Records;
use civitas_kernel::{
    AttachmentId, CollectionId, FileId, OrganizationId, Page, PageRequest, ReadContext, Result, Translated,
    UploadId, filter_fields, store,
};
use time::OffsetDateTime;

filter_fields! {
    /// The fields for filters of attachments (contract 07 B.4, 01 §6.2).
    pub enum AttachmentField = ATTACHMENT_FIELDS, AttachmentFilter {
        /// The class name of the record.
        ParentKind: "attached_to_type", FieldKind::Enum(PARENT_NAMES);
        /// The number of the record.
        ParentId: "attached_to_id", FieldKind::Integer;
        Collection: "attachment_collection_id", FieldKind::Integer;
        /// `image`, `document` or `link`.
        FileType: "file_type", FieldKind::Enum(FileType::NAMES);
        Id: "id", FieldKind::Integer;
        /// The title, in any language.
        Title: "title", FieldKind::Text;
        CreatedAt: "created_at", FieldKind::Time;
        UpdatedAt: "updated_at", FieldKind::Time;
    }
}

/// The number of attachments whose files' names and links are searched: the newest of the organization. Titles have an index.
pub const MAX_SEARCHED_ATTACHMENTS: i64 = 10_000;

/// What an administrator searches attachments for. Visibility does not matter: those of all records are found, of
/// deleted ones too. Files of answers to questionnaires are not found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AttachmentSearch {
    /// Those of this record.
    pub parent: Option<AttachmentParent>,
    /// Those of records of this kind.
    pub kind: Option<ParentKind>,
    /// Those of this type.
    pub file_type: Option<FileType>,
    /// A part of the title in any language, without regard to case and accents, or in any case of the name of the file or of
    /// the link, which are searched in the newest [`MAX_SEARCHED_ATTACHMENTS`] attachments.
    pub text: Option<String>,
    /// The oldest first instead of the newest.
    pub oldest_first: bool,
}

/// The reader of attachments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttachmentReader {
    /// The organization and the viewer.
    pub read_context: ReadContext,
    /// Whether files of answers to questionnaires are visible.
    pub reads_answers: bool,
    /// The time, on which the visibility of blog posts depends.
    pub now: OffsetDateTime,
}

store! {
    /// The rows of files.
    pub trait FileRegistry: Records<StoredFile> {
        /// The stored file with this key, if an attachment whose record is neither deleted nor hidden refers to it.
        async fn find_served(&self, organization: OrganizationId, key: &str) -> Result<Option<StoredFile>>;
        /// Marks files that were added before `pending_since` and are still pending as removed. Returns removed files
        /// of all organizations, at most `limit`, the oldest first.
        async fn removed(&self, pending_since: OffsetDateTime, limit: i64) -> Result<Vec<(FileId, StoredFile)>>;
        /// Makes a pending file, whose row has no organization ([`NO_ORGANIZATION_YET`](crate::NO_ORGANIZATION_YET)), a stored one of this
        /// organization, added at `now`. Whether it was still pending.
        async fn adopt(&self, organization: OrganizationId, id: FileId, now: OffsetDateTime) -> Result<bool>;
        /// Deletes the rows of these removed files.
        async fn forget(&self, ids: &[FileId]) -> Result<()>;
        /// Those files of an organization that exist.
        async fn find_many(&self, organization: OrganizationId, ids: &[FileId]) -> Result<Vec<(FileId, StoredFile)>>;
        /// The stored files of all organizations after `after` in ascending order of id, at most `limit`.
        async fn stored_after(&self, after: Option<FileId>, limit: i64) -> Result<Vec<(FileId, StoredFile)>>;
        /// Which of these names of objects have a row.
        async fn known_objects(&self, names: &[String]) -> Result<Vec<String>>;
    }
}

store! {
    /// The rows of requested uploads.
    pub trait UploadStore: Records<Upload> {
        /// Removes an upload. Its file is marked as removed, unless an attachment refers to it.
        async fn remove(&self, organization: OrganizationId, id: UploadId) -> Result<()>;
        /// Removes uploads of all organizations that were requested before this time, at most `limit`. Returns how
        /// many.
        async fn remove_requested_before(&self, before: OffsetDateTime, limit: i64) -> Result<i64>;
    }
}

store! {
    /// The store of attachments. Visible means: the reader sees the record (contract 07 B.4).
    pub trait AttachmentStore: Records<Attachment> {
        /// The visible attachments that satisfy all filters, by weight and id.
        async fn list(&self, reader: AttachmentReader, filters: &[AttachmentFilter], page: PageRequest)
        -> Result<Page<AttachmentDetail>>;
        /// The attachment, if it is visible.
        async fn find_visible(&self, reader: AttachmentReader, id: AttachmentId) -> Result<Option<AttachmentDetail>>;
        /// The attachments of a search by id, the newest first; those of one record by weight and id. For
        /// administrators.
        async fn search(&self, organization: OrganizationId, search: &AttachmentSearch, page: PageRequest)
        -> Result<Page<AttachmentDetail>>;
        /// The attachments of other records than answers after `after` in ascending order of id, at most `limit`; for
        /// export.
        async fn page_of_records_after(&self, organization: OrganizationId, after: Option<AttachmentId>, limit: i64)
        -> Result<Vec<(AttachmentId, Attachment)>>;
        /// Removes the files of these answers to questionnaires.
        async fn remove_of_answers(&self, organization: OrganizationId, answers: &[i64]) -> Result<()>;
        /// Removes an attachment. Its file is marked as removed.
        async fn remove(&self, organization: OrganizationId, id: AttachmentId) -> Result<()>;
    }
}

store! {
    /// The store of collections.
    pub trait CollectionStore: Records<Collection> {
        /// Whether the collection belongs to this record.
        async fn is_of(&self, organization: OrganizationId, id: CollectionId, parent: AttachmentParent) -> Result<bool>;
        /// The collections of this record by weight and id, at most `limit`.
        async fn list_of_parent(&self, organization: OrganizationId, parent: AttachmentParent, limit: i64)
        -> Result<Vec<(CollectionId, Collection)>>;
    }
}

/// Reads the records that files are attached to.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait ParentLookup: Send + Sync {
    /// Whether the reader sees this record. Answers to questionnaires are never visible here.
    async fn can_see(&self, reader: AttachmentReader, parent: AttachmentParent) -> Result<bool>;
    /// The titles of those of these records that the organization has, visible or not; deleted ones and answers are left
    /// out. The title of the organization itself is empty.
    async fn titles(
        &self,
        organization: OrganizationId,
        parents: &[AttachmentParent],
    ) -> Result<Vec<(AttachmentParent, Translated)>>;
}
