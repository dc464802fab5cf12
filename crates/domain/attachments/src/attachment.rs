//! Attachments, their collections, and the rules of their members (contract 07 B.1, B.5).

use crate::{AttachmentParent, StoredFile};
use civitas_kernel::limits::{MAX_LINE_CHARS, MAX_PROSE_CHARS, MAX_URL_CHARS, text_error, too_long};
use civitas_kernel::records::{Entity, SearchTexts};
use civitas_kernel::{AttachmentId, CollectionId, FieldError, FileId, Locale, Translated};
use time::OffsetDateTime;
use url::Url;

civitas_kernel::named_enum! {
    /// What an attachment is (contract 07 B.2).
    pub enum FileType {
        /// A file whose bytes are an image.
        Image = "image",
        /// Any other file.
        Document = "document",
        /// An address instead of a file.
        Link = "link",
    }
}

impl FileType {
    /// The type of a file.
    pub fn from_file(file: &StoredFile) -> Self {
        if file.is_image() { Self::Image } else { Self::Document }
    }
}

/// An attachment: exactly one of `file` and `link` is given.
#[derive(Debug, Clone, PartialEq)]
pub struct Attachment {
    /// The record it is attached to.
    pub parent: AttachmentParent,
    /// Its title.
    pub title: Translated,
    /// Its description.
    pub description: Translated,
    /// Lists are sorted by it, ascending.
    pub weight: i64,
    /// A collection of the same record.
    pub collection: Option<CollectionId>,
    /// What it is.
    pub file_type: FileType,
    /// The file.
    pub file: Option<FileId>,
    /// The address of a link.
    pub link: Option<String>,
    /// When it was created.
    pub created_at: OffsetDateTime,
    /// When it was last changed.
    pub updated_at: OffsetDateTime,
}

impl Attachment {
    /// A file, without texts.
    pub fn from_file(parent: AttachmentParent, id: FileId, file: &StoredFile, now: OffsetDateTime) -> Self {
        Self { file: Some(id), file_type: FileType::from_file(file), ..Self::from_link(parent, None, now) }
    }

    /// A link, without texts.
    pub fn from_link(parent: AttachmentParent, link: Option<String>, now: OffsetDateTime) -> Self {
        Self {
            parent,
            title: Translated::default(),
            description: Translated::default(),
            weight: 0,
            collection: None,
            file_type: FileType::Link,
            file: None,
            link,
            created_at: now,
            updated_at: now,
        }
    }

    /// What is wrong with its texts: title before description. Both are required in `locale`, the default one of the
    /// organization.
    pub fn text_errors(&self, locale: Locale) -> Vec<FieldError> {
        let locale = Some(locale);
        let errors = [
            text_error("title", "Title", &self.title, MAX_LINE_CHARS, locale),
            text_error("description", "Description", &self.description, MAX_PROSE_CHARS, locale),
        ];
        errors.into_iter().flatten().collect()
    }
}

impl Entity for Attachment {
    type Id = AttachmentId;

    civitas_kernel::time_fields!(updated_at);

    fn search_texts(&self) -> Option<SearchTexts> {
        Some(SearchTexts::new(&self.title, None))
    }
}

/// A named group of attachments of one record.
#[derive(Debug, Clone, PartialEq)]
pub struct Collection {
    /// The record.
    pub parent: AttachmentParent,
    /// Its name.
    pub name: Translated,
    /// Collections are sorted by it, ascending.
    pub weight: i64,
}

impl Entity for Collection {
    type Id = CollectionId;
}

/// An attachment as a caller reads it.
#[derive(Debug, Clone, PartialEq)]
pub struct AttachmentDetail {
    /// Its id.
    pub id: AttachmentId,
    /// The attachment.
    pub attachment: Attachment,
    /// Its file; `None` for a link.
    pub file: Option<StoredFile>,
}

/// Whether the address of a link is one of the web: `http` or `https`.
pub fn is_web_address(link: &str) -> bool {
    Url::parse(link).is_ok_and(|url| matches!(url.scheme(), "http" | "https"))
}

/// What is wrong with the address of a new link: it is one of the web, and not too long.
pub(crate) fn link_error(link: &str) -> Option<FieldError> {
    if is_web_address(link) {
        too_long("link", "Link", link, MAX_URL_CHARS)
    } else {
        Some(FieldError::new("link", "invalid", "Link is not an http or https address"))
    }
}

/// The error of a collection that is not one of the record.
pub(crate) fn foreign_collection_error() -> FieldError {
    let text = "Attachment collection is not included in the list";
    FieldError::new("attachment_collection_id", "inclusion", text)
}
