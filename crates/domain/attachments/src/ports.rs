//! Ports: the rows of files, uploads, attachments and collections.

use crate::attachment::FILE_TYPES;
use crate::{Attachment, AttachmentDetail, Collection, PARENT_NAMES, Parent, StoredFile, Upload};
use async_trait::async_trait;
use civitas_kernel::filter::{Field, Filter, Kind};
use civitas_kernel::records::Records;
use civitas_kernel::{
    AttachmentId, CollectionId, FileId, OrganizationId, Page, PageRequest, ReadContext, Result, UploadId,
    store,
};
use time::OffsetDateTime;

/// The fields for filters of attachments (contract 07 B.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttachmentField {
    /// The class name of the record.
    ParentKind,
    /// The number of the record.
    ParentId,
    /// The collection.
    Collection,
    /// `image`, `document` or `link`.
    FileType,
}

/// The fields of the list of attachments.
pub const ATTACHMENT_FIELDS: &[Field<AttachmentField>] = &[
    Field::new("attached_to_type", Kind::Enum(PARENT_NAMES), AttachmentField::ParentKind),
    Field::new("attached_to_id", Kind::Integer, AttachmentField::ParentId),
    Field::new("attachment_collection_id", Kind::Integer, AttachmentField::Collection),
    Field::new("file_type", Kind::Enum(FILE_TYPES), AttachmentField::FileType),
];

/// A condition on a list of attachments. Kinds of records are compared by their class names.
pub type AttachmentFilter = Filter<AttachmentField>;

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
        /// Deletes the rows of these removed files.
        async fn forget(&self, ids: &[FileId]) -> Result<()>;
        /// The stored files of all organizations after `after` in ascending order of id, at most `limit`.
        async fn stored_after(&self, after: Option<FileId>, limit: i64) -> Result<Vec<(FileId, StoredFile)>>;
        /// Which of these names of objects have a row.
        async fn known_objects(&self, names: &[String]) -> Result<Vec<String>>;
    }
}

store! {
    /// The rows of announced uploads.
    pub trait UploadStore: Records<Upload> {
        /// Removes an upload. Its file is marked as removed, unless an attachment refers to it.
        async fn remove(&self, organization: OrganizationId, id: UploadId) -> Result<()>;
        /// Removes uploads of all organizations that were announced before this time, at most `limit`. Returns how
        /// many.
        async fn remove_announced_before(&self, before: OffsetDateTime, limit: i64) -> Result<i64>;
    }
}

store! {
    /// The store of attachments. Visible means: the reader sees the record (contract 07 B.4).
    pub trait AttachmentStore: Records<Attachment> {
        /// The visible attachments that satisfy all filters, by weight and id.
        async fn list(
            &self,
            reader: AttachmentReader,
            filters: &[AttachmentFilter],
            page: PageRequest,
        ) -> Result<Page<AttachmentDetail>>;
        /// The attachment, if it is visible.
        async fn find_visible(&self, reader: AttachmentReader, id: AttachmentId) -> Result<Option<AttachmentDetail>>;
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
        async fn is_of(&self, organization: OrganizationId, id: CollectionId, parent: Parent) -> Result<bool>;
    }
}

/// Reads the records that files are attached to.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait ParentLookup: Send + Sync {
    /// Whether the reader sees this record. Answers to questionnaires are never visible here.
    async fn sees(&self, reader: AttachmentReader, parent: Parent) -> Result<bool>;
}
