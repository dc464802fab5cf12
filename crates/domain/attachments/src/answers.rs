//! Files of answers to questionnaires (contract 08 §6.3).

use crate::checks::find_uploaded;
use crate::staging::set_state;
use crate::{
    AllowList, Attachment, AttachmentParent, AttachmentStore, FileRegistry, FileState, ParentKind,
    StoredFile, UploadStore,
};
use civitas_kernel::records::Records;
use civitas_kernel::{AttachmentId, ClientId, Error, FileId, Locale, OrganizationId, Result, UploadId};
use time::OffsetDateTime;

/// The client that attaches files, and when.
#[derive(Debug, Clone, Copy)]
pub struct UploadContext {
    /// The organization.
    pub organization: OrganizationId,
    /// The client, which must have requested the uploads.
    pub client: ClientId,
    /// The time.
    pub now: OffsetDateTime,
}

/// Attaches uploaded files to answers. The caller has checked permission.
pub struct AnswerUploads<'a> {
    /// The store of attachments.
    pub store: &'a dyn AttachmentStore,
    /// The rows of files.
    pub files: &'a dyn FileRegistry,
    /// The store of uploads.
    pub uploads: &'a dyn UploadStore,
}

impl AnswerUploads<'_> {
    /// The file of a signed id, if participants may attach it.
    async fn find(
        &self,
        sender: UploadContext,
        signed: &str,
        is_locked: bool,
    ) -> Result<Option<(UploadId, FileId, StoredFile)>> {
        let found = find_uploaded(self.uploads, sender, signed, is_locked).await?;
        let Ok((upload, id)) = found else { return Ok(None) };
        let file = Records::find(self.files, sender.organization, id).await?;
        let file = file
            .filter(|file| file.state == FileState::Stored && AllowList::Participant.refusal(file).is_none());
        Ok(file.map(|file| (upload, id, file)))
    }

    /// Whether a signed id can be attached to an answer.
    pub async fn is_usable(&self, sender: UploadContext, signed: &str) -> Result<bool> {
        Ok(self.find(sender, signed, false).await?.is_some())
    }

    /// Attaches a file to an answer and uses its upload up. Its title is its name, in this language. Requires a
    /// transaction.
    ///
    /// # Errors
    /// `Rejected` when the signed id cannot be used.
    pub async fn attach(
        &self,
        sender: UploadContext,
        answer: i64,
        locale: Locale,
        signed: &str,
    ) -> Result<AttachmentId> {
        let found = self.find(sender, signed, true).await?;
        let (upload, id, file) = found.ok_or_else(|| Error::rejected("signed_id is invalid or expired"))?;
        let parent = AttachmentParent { kind: ParentKind::Answer, id: answer };
        let attached = self.attach_file(sender, parent, locale, id, &file).await?;
        self.uploads.remove(sender.organization, upload).await?;
        Ok(attached)
    }

    /// Attaches a stored or pending file to a record; its title is its name, in this language.
    ///
    /// # Errors
    /// `NotFound` when the file was removed.
    pub async fn attach_file(
        &self,
        sender: UploadContext,
        parent: AttachmentParent,
        locale: Locale,
        id: FileId,
        file: &StoredFile,
    ) -> Result<AttachmentId> {
        let attachment = Attachment {
            title: [(locale, file.filename.clone())].into(),
            ..Attachment::from_file(parent, id, file, sender.now)
        };
        let attached = self.store.add(sender.organization, &attachment).await?;
        set_state(self.files, sender.organization, id, FileState::Stored).await?;
        Ok(attached)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MockAttachmentStore, MockFileRegistry, MockUploadStore, SignedId, Upload};
    use time::macros::datetime;

    const NOW: OffsetDateTime = datetime!(2026-03-01 09:30 UTC);
    const SENDER: UploadContext =
        UploadContext { organization: OrganizationId(1), client: ClientId(1), now: NOW };

    fn uploads(digest: String) -> MockUploadStore {
        let upload = Upload {
            client: ClientId(1),
            digest,
            filename: "note.txt".to_owned(),
            content_type: String::new(),
            byte_size: 1,
            checksum: String::new(),
            file: Some(FileId(3)),
            created_at: NOW,
        };
        let mut uploads = MockUploadStore::new();
        let locked = upload.clone();
        uploads.expect_find().returning(move |_, _| Ok(Some(upload.clone())));
        uploads.expect_find_for_update().returning(move |_, _| Ok(Some(locked.clone())));
        uploads
    }

    fn files(content_type: &'static str) -> MockFileRegistry {
        let file = move || StoredFile {
            content_type: content_type.to_owned(),
            ..StoredFile::for_test(NOW, FileState::Stored)
        };
        let mut files = MockFileRegistry::new();
        files.expect_find().returning(move |_, _| Ok(Some(file())));
        files.expect_find_for_update().returning(move |_, _| Ok(Some(file())));
        files
    }

    #[tokio::test]
    async fn a_file_for_administrators_is_no_answer() {
        let (secret, digest) = SignedId::new_secret();
        let signed = SignedId::new(UploadId(7), secret).expose();
        for (content_type, expected) in [("text/plain", true), ("text/html", false)] {
            let (store, files, uploads) =
                (MockAttachmentStore::new(), files(content_type), uploads(digest.clone()));
            let answers = AnswerUploads { store: &store, files: &files, uploads: &uploads };
            assert_eq!(answers.is_usable(SENDER, &signed).await.unwrap(), expected, "{content_type}");
            assert!(!answers.is_usable(SENDER, "x").await.unwrap());
        }
    }

    #[tokio::test]
    async fn an_attached_file_has_its_name_as_title_and_its_upload_is_used_up() {
        let (secret, digest) = SignedId::new_secret();
        let signed = SignedId::new(UploadId(7), secret).expose();
        let (mut store, files, mut uploads) =
            (MockAttachmentStore::new(), files("text/plain"), uploads(digest));
        uploads.expect_remove().once().returning(|_, _| Ok(()));
        store
            .expect_add()
            .once()
            .withf(|_, attachment| {
                attachment.title.get(Locale::FR) == Some("note.txt")
                    && attachment.parent == AttachmentParent { kind: ParentKind::Answer, id: 514 }
            })
            .returning(|_, _| Ok(AttachmentId(9)));
        let answers = AnswerUploads { store: &store, files: &files, uploads: &uploads };
        assert_eq!(answers.attach(SENDER, 514, Locale::FR, &signed).await.unwrap(), AttachmentId(9));
    }
}
