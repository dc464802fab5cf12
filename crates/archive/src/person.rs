//! The person of an export of one person.

use civitas_attachments::AttachmentParent;
use civitas_kernel::UserId;
use std::collections::HashSet;

/// The person whose records are exported.
pub(super) struct ExportedPerson {
    /// The account.
    pub(super) id: UserId,
    /// The e-mail address of the account.
    pub(super) email: String,
    /// The exported records that the person wrote. Their attachments are exported too.
    pub(super) written: HashSet<AttachmentParent>,
}

impl ExportedPerson {
    pub(super) fn new(id: UserId, email: String) -> Self {
        Self { id, email, written: HashSet::new() }
    }

    /// Adds a record to those that the person wrote if the person is an author. Returns whether the person is one.
    pub(super) fn add_if_author(&mut self, record: impl Into<AttachmentParent>, is_author: bool) -> bool {
        if is_author {
            self.written.insert(record.into());
        }
        is_author
    }
}
