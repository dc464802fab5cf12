//! Administration of attachments. The caller checks permission. Attachments of answers to questionnaires belong to
//! their responses, and cannot be administered.

use crate::attachment::link_error;
use crate::checks::{NewAttachmentFile, WriteContext, file_too_large_error};
use crate::{Attachment, AttachmentDetail, AttachmentEdit, AttachmentParent, AttachmentPorts, ParentKind};
use civitas_kernel::records::{Change, find_for_update};
use civitas_kernel::{AttachmentId, Error, FieldError, FileId, Locale, OrganizationId, Result};
use time::OffsetDateTime;

/// What is attached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttachmentContent {
    /// Nothing was given, or an empty file.
    Missing,
    /// A file with more than this number of bytes.
    TooLarge {
        /// The most bytes of a file.
        limit: i64,
    },
    /// A registered file.
    Stored(FileId),
    /// The address of a link.
    Link(String),
}

/// An attachment to create.
#[derive(Debug, Clone)]
pub struct NewAttachment {
    /// The record, visible or not.
    pub parent: AttachmentParent,
    /// What is attached.
    pub content: AttachmentContent,
    /// The other members.
    pub edit: AttachmentEdit,
}

/// Attaches files and links to the records of an organization, changes and deletes attachments, by the rules of the
/// commands (contract 07 B.5, B.7).
#[derive(Clone, Copy)]
pub struct AttachmentAdministration<'a> {
    /// The ports; in a transaction for writes.
    pub ports: AttachmentPorts<'a>,
    /// The organization.
    pub organization: OrganizationId,
    /// Its default language, in which title and description are required.
    pub default_locale: Locale,
    /// The time of the write.
    pub now: OffsetDateTime,
}

impl AttachmentAdministration<'_> {
    fn context(&self) -> WriteContext {
        WriteContext { organization: self.organization, default_locale: self.default_locale, now: self.now }
    }

    /// The checks of a new attachment, before its bytes are stored.
    ///
    /// # Errors
    /// Those of [`Self::attach`].
    pub async fn check(&self, new: NewAttachment) -> Result<()> {
        self.prepare(new).await.map(drop)
    }

    /// Creates an attachment.
    ///
    /// # Errors
    /// `NotFound` when the organization has no such record; `Invalid` for wrong members.
    pub async fn attach(&self, new: NewAttachment) -> Result<AttachmentDetail> {
        match self.prepare(new).await? {
            (attachment, Some(found)) => self.ports.add(self.organization, attachment, found).await,
            (attachment, None) => {
                let id = self.ports.store.add(self.organization, &attachment).await?;
                Ok(AttachmentDetail { id, attachment, file: None })
            }
        }
    }

    /// The attachment and its file; a link has none.
    async fn prepare(&self, new: NewAttachment) -> Result<(Attachment, Option<NewAttachmentFile>)> {
        let NewAttachment { parent, content, edit } = new;
        if self.ports.parents.titles(self.organization, &[parent]).await?.is_empty() {
            return Err(Error::NotFound);
        }
        let found: std::result::Result<NewAttachmentFile, FieldError> = match content {
            AttachmentContent::Link(link) => return self.link(parent, link, edit).await,
            AttachmentContent::Missing => Err(FieldError::blank("file", "File")),
            AttachmentContent::TooLarge { limit } => Err(file_too_large_error(limit)),
            AttachmentContent::Stored(id) => self.ports.find_stored_file(self.organization, id, None).await?,
        };
        let (attachment, found) = self.ports.check_file(self.context(), parent, found, edit).await?;
        Ok((attachment, Some(found)))
    }

    async fn link(
        &self,
        parent: AttachmentParent,
        link: String,
        edit: AttachmentEdit,
    ) -> Result<(Attachment, Option<NewAttachmentFile>)> {
        let error = link_error(&link);
        let mut attachment = Attachment::from_link(parent, Some(link), self.now);
        self.ports.edit(self.context(), &mut attachment, edit, error).await?;
        Ok((attachment, None))
    }

    /// Changes the members of an attachment; its file or link stays.
    ///
    /// # Errors
    /// `NotFound`; `Invalid` for wrong members.
    pub async fn update(&self, id: AttachmentId, edit: AttachmentEdit) -> Result<Change<Attachment>> {
        self.find(id).await?;
        self.ports.change(self.context(), id, edit).await
    }

    /// Deletes an attachment and returns it; its file is deleted later.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn remove(&self, id: AttachmentId) -> Result<Attachment> {
        let attachment = self.find(id).await?;
        self.ports.store.remove(self.organization, id).await?;
        Ok(attachment)
    }

    async fn find(&self, id: AttachmentId) -> Result<Attachment> {
        let found = find_for_update::<Attachment>(self.ports.store, self.organization, id).await?;
        if found.parent.kind == ParentKind::Answer { Err(Error::NotFound) } else { Ok(found) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        FileState, MockAttachmentStore, MockCollectionStore, MockFileRegistry, MockParentLookup,
        MockUploadStore, SentText, StoredFile,
    };
    use civitas_kernel::{ProposalId, Translated};
    use time::macros::datetime;

    const NOW: OffsetDateTime = datetime!(2026-03-01 09:30 UTC);
    const CITY: OrganizationId = OrganizationId(1);

    struct Mocks {
        store: MockAttachmentStore,
        collections: MockCollectionStore,
        files: MockFileRegistry,
        uploads: MockUploadStore,
        parents: MockParentLookup,
    }

    /// The proposal 904 exists; the file 1 is registered.
    fn mocks() -> Mocks {
        let mut parents = MockParentLookup::new();
        parents.expect_titles().returning(|_, asked| {
            let own = asked.iter().filter(|parent| parent.id == 904);
            Ok(own.map(|parent| (*parent, Translated::default())).collect())
        });
        let mut files = MockFileRegistry::new();
        files.expect_find().returning(|_, _| Ok(Some(StoredFile::for_test(NOW, FileState::Pending))));
        let file = |_, _| Ok(Some(StoredFile::for_test(NOW, FileState::Pending)));
        files.expect_find_for_update().returning(file);
        Mocks {
            store: MockAttachmentStore::new(),
            collections: MockCollectionStore::new(),
            files,
            uploads: MockUploadStore::new(),
            parents,
        }
    }

    fn admin(mocks: &Mocks) -> AttachmentAdministration<'_> {
        let ports = AttachmentPorts {
            store: &mocks.store,
            collections: &mocks.collections,
            files: &mocks.files,
            uploads: &mocks.uploads,
            parents: &mocks.parents,
        };
        AttachmentAdministration { ports, organization: CITY, default_locale: Locale::EN, now: NOW }
    }

    fn new(content: AttachmentContent) -> NewAttachment {
        let text = |text: &str| Some(SentText::Each([(Locale::EN, text.to_owned())].into()));
        let edit =
            AttachmentEdit { title: text("Plan"), description: text("1:500"), ..AttachmentEdit::default() };
        NewAttachment { parent: ProposalId(904).into(), content, edit }
    }

    fn codes(outcome: Result<()>) -> Vec<String> {
        let error = outcome.unwrap_err();
        error.details().iter().map(|error| format!("{} {}", error.field, error.code)).collect()
    }

    #[tokio::test]
    async fn a_file_is_attached_to_a_record_that_exists() {
        let mut mocks = mocks();
        mocks.store.expect_add().once().returning(|_, attachment| {
            assert_eq!((attachment.file, attachment.title.get(Locale::EN)), (Some(FileId(1)), Some("Plan")));
            Ok(AttachmentId(5))
        });
        mocks.files.expect_save().once().returning(|_, id, change| {
            assert_eq!((id, change.after.state), (FileId(1), FileState::Stored));
            Ok(())
        });
        let attached = admin(&mocks).attach(new(AttachmentContent::Stored(FileId(1)))).await.unwrap();
        assert_eq!((attached.id, attached.attachment.created_at), (AttachmentId(5), NOW));
        let elsewhere =
            NewAttachment { parent: ProposalId(905).into(), ..new(AttachmentContent::Stored(FileId(1))) };
        assert!(matches!(admin(&mocks).attach(elsewhere).await, Err(Error::NotFound)));
    }

    #[tokio::test]
    async fn a_link_is_an_address_of_the_web() {
        let mut mocks = mocks();
        mocks.store.expect_add().once().returning(|_, attachment| {
            assert_eq!(attachment.link.as_deref(), Some("https://maps.example/1"));
            assert_eq!((attachment.file, attachment.file_type), (None, crate::FileType::Link));
            Ok(AttachmentId(5))
        });
        let link = |link: &str| new(AttachmentContent::Link(link.to_owned()));
        admin(&mocks).attach(link("https://maps.example/1")).await.unwrap();
        for wrong in ["", "maps.example", "javascript:alert(1)", "ftp://maps.example/1", "https://"] {
            assert_eq!(codes(admin(&mocks).check(link(wrong)).await), ["link invalid"], "{wrong}");
        }
        let long = format!("https://maps.example/{}", "x".repeat(2_048));
        assert_eq!(codes(admin(&mocks).check(link(&long)).await), ["link too_long"]);
    }

    #[tokio::test]
    async fn what_is_wrong_is_what_the_command_says() {
        let mocks = mocks();
        assert_eq!(codes(admin(&mocks).check(new(AttachmentContent::Missing)).await), ["file blank"]);
        let large = new(AttachmentContent::TooLarge { limit: 1024 * 1024 });
        assert_eq!(codes(admin(&mocks).check(large).await), ["file too_large"]);
        let mut blank = new(AttachmentContent::Stored(FileId(1)));
        blank.edit.title = Some(SentText::Each(Translated::default()));
        assert_eq!(codes(admin(&mocks).check(blank).await), ["title blank"]);
    }

    #[tokio::test]
    async fn an_unchanged_attachment_is_not_saved_and_one_of_an_answer_is_not_found() {
        let mut mocks = mocks();
        mocks.store.expect_find_for_update().returning(|_, id| {
            let kind = if id == AttachmentId(5) { ParentKind::Proposal } else { ParentKind::Answer };
            let link = Some("https://maps.example/1".to_owned());
            Ok(Some(Attachment::from_link(AttachmentParent { kind, id: 904 }, link, NOW)))
        });
        let edit = || AttachmentEdit { weight: Some(0), ..AttachmentEdit::default() };
        assert!(admin(&mocks).update(AttachmentId(5), edit()).await.unwrap().is_empty());
        assert!(matches!(admin(&mocks).update(AttachmentId(6), edit()).await, Err(Error::NotFound)));
        assert!(matches!(admin(&mocks).remove(AttachmentId(6)).await, Err(Error::NotFound)));
        mocks.store.expect_remove().once().returning(|_, _| Ok(()));
        assert_eq!(admin(&mocks).remove(AttachmentId(5)).await.unwrap().parent.id, 904);
    }
}
