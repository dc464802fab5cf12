//! The commands of attachments, and what they carry (contract 07 B.5, B.7).

use crate::{Attachment, AttachmentDetail, AttachmentParent};
use civitas_kernel::{
    Ability, Access, AttachmentId, CollectionId, FieldError, FileId, Locale, Scope, Translated, commands,
    set_given,
};
use serde::{Deserialize, Serialize};

/// The rights to create and change attachments, and to upload files.
pub const WRITE_ATTACHMENTS: Access = Access::either(Scope::Attachments, &[Ability::AttachmentsWrite]);
/// The rights to delete attachments.
pub const DESTROY_ATTACHMENTS: Access = Access::either(Scope::Attachments, &[Ability::AttachmentsDestroy]);

/// The file of a new attachment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum AttachmentSource {
    /// None was sent, or it is empty.
    Missing,
    /// It has more than this number of bytes.
    TooLarge {
        /// The most bytes of a file.
        limit: i64,
    },
    /// A file that the same request sent, whose bytes are stored.
    Stored(FileId),
    /// A file that was uploaded before, by its signed id.
    Uploaded(String),
}

/// A text as it was sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum SentText {
    /// One text, in the default language.
    Default(String),
    /// The texts of all languages.
    Each(Translated),
}

impl SentText {
    /// Replaces a text: all languages, or only the default one.
    fn apply(self, text: &mut Translated, locale: Locale) {
        match self {
            Self::Default(sent) => text.set(locale, sent),
            Self::Each(sent) => *text = sent,
        }
    }
}

/// The members of an attachment that can be changed. An absent member keeps its value.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct AttachmentEdit {
    /// The title.
    pub title: Option<SentText>,
    /// The description.
    pub description: Option<SentText>,
    /// The weight.
    pub weight: Option<i64>,
    /// The collection.
    pub collection: Option<CollectionChoice>,
    /// What was wrong with members before they could be read.
    pub errors: Vec<FieldError>,
}

/// The collection of an attachment; `None` for none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CollectionChoice {
    /// The collection.
    pub id: Option<CollectionId>,
}

impl AttachmentEdit {
    pub(crate) fn apply(self, attachment: &mut Attachment, locale: Locale) {
        if let Some(title) = self.title {
            title.apply(&mut attachment.title, locale);
        }
        if let Some(description) = self.description {
            description.apply(&mut attachment.description, locale);
        }
        set_given(&mut attachment.weight, self.weight);
        set_given(&mut attachment.collection, self.collection.map(|grouping| grouping.id));
    }
}

/// Attaches a file to a record.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AttachFile {
    /// The record.
    pub parent: AttachmentParent,
    /// The file.
    pub source: AttachmentSource,
    /// The other members.
    pub edit: AttachmentEdit,
}

/// Changes an attachment; its file stays.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct UpdateAttachment {
    /// The attachment.
    pub id: AttachmentId,
    /// The members.
    pub edit: AttachmentEdit,
}

/// Deletes an attachment.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DestroyAttachment {
    /// The attachment.
    pub id: AttachmentId,
}

commands! {
    AttachFile: "attachments#create", WRITE_ATTACHMENTS => AttachmentDetail;
    UpdateAttachment: "attachments#update", WRITE_ATTACHMENTS => AttachmentDetail;
    DestroyAttachment: "attachments#destroy", DESTROY_ATTACHMENTS => ();
}
