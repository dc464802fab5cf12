//! Files attached to records: uploads, classification, metadata (contract 07 part B).
//!
//! The bytes of a file are in a [`FileStore`], its row in a [`FileRegistry`]. The row is added before the bytes are
//! stored and deleted after they are deleted, so that no object is without a row. An [`Attachment`] or an [`Upload`]
//! refers to a stored file; a file to which nothing refers any more is marked as removed, and deleted later.
//!
//! ```
//! use civitas_attachments::{AllowList, ParentKind};
//!
//! let kind = ParentKind::from_name("proposals").expect("a short name of a kind");
//! assert_eq!(kind.as_str(), "Platform::Proposals::Proposal");
//! assert!(kind.allow_list().has_extension_of("plan.PDF"));
//! assert!(!AllowList::Admin.has_extension_of("plan.svg"));
//! ```

mod admin;
mod allow_list;
mod answers;
mod attachment;
mod checks;
mod checksum;
mod commands;
#[cfg(feature = "conformance")]
pub mod conformance;
mod content;
mod file;
mod filename;
mod parent;
mod ports;
mod reading;
mod staging;
mod upload;
mod writing;

pub use admin::{AttachmentAdministration, AttachmentContent, NewAttachment};
pub use allow_list::AllowList;
pub use answers::{AnswerUploads, UploadContext};
pub use attachment::{Attachment, AttachmentDetail, Collection, FileType, is_web_address};
pub use checks::AttachmentPorts;
pub use checksum::Checksum;
pub use commands::{
    AttachFile, AttachmentEdit, AttachmentSource, CollectionChoice, DESTROY_ATTACHMENTS, DestroyAttachment,
    SentText, UpdateAttachment, WRITE_ATTACHMENTS,
};
pub use content::{
    ByteStream, ContentError, FileContent, FileInspection, FileIntake, FileStore, ImageBytes, MAX_IMAGE_SIDE,
    ReceiveOutcome, ReceivedBody, StoredObject, THUMBNAIL_HEIGHT,
};
#[cfg(any(test, feature = "mocks"))]
pub use content::{MockFileIntake, MockFileStore};
pub use file::{FileState, NO_ORGANIZATION_YET, PENDING_FILE_LIFETIME, StoredFile};
pub use filename::{MAX_FILENAME_BYTES, sanitize, sanitize_and_shorten};
pub use parent::{AttachmentParent, PARENT_NAMES, ParentKind, creatable_parent_names};
pub use ports::*;
pub use reading::{Attachments, READ_ATTACHMENTS, reader};
pub use staging::{
    StageUpload, StagedUpload, UploadHeaders, UploadRequest, UploadWrites, wrong_length_error,
};
pub use upload::{ATTACH_WINDOW, SignedId, UPLOAD_WINDOW, Upload};
