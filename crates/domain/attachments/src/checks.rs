//! The checks of all writes of attachments: of the interface and of administrators.

use crate::attachment::foreign_collection_error;
use crate::commands::{AttachFile, AttachmentEdit, AttachmentSource, WRITE_ATTACHMENTS};
use crate::reading::reader;
use crate::staging::set_state;
use crate::{
    Attachment, AttachmentDetail, AttachmentParent, AttachmentStore, CollectionStore, FileRegistry,
    FileState, ParentKind, ParentLookup, SignedId, StoredFile, UploadContext, UploadStore,
};
use civitas_kernel::records::{Change, Records, find_for_update};
use civitas_kernel::{
    AttachmentId, Ctx, Error, FieldError, FileId, Locale, OrganizationId, Result, UploadId, Wording,
};
use time::OffsetDateTime;

/// The order in which errors are reported; other members follow.
const ORDER: [&str; 5] = ["file", "signed_id", "link", "title", "description"];

/// The ports that writes of attachments need.
#[derive(Clone, Copy)]
pub struct AttachmentPorts<'a> {
    /// The store of attachments.
    pub store: &'a dyn AttachmentStore,
    /// The store of collections.
    pub collections: &'a dyn CollectionStore,
    /// The rows of files.
    pub files: &'a dyn FileRegistry,
    /// The store of uploads.
    pub uploads: &'a dyn UploadStore,
    /// Reads the records that files are attached to.
    pub parents: &'a dyn ParentLookup,
}

/// The file of a new attachment, and the upload it comes from.
pub(crate) struct NewAttachmentFile {
    id: FileId,
    file: StoredFile,
    upload: Option<UploadId>,
}

/// Organization, default language and time of a write.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WriteContext {
    pub(crate) organization: OrganizationId,
    pub(crate) default_locale: Locale,
    pub(crate) now: OffsetDateTime,
}

impl WriteContext {
    pub(crate) fn new(ctx: &Ctx) -> Self {
        Self { organization: ctx.organization, default_locale: ctx.default_locale, now: ctx.now }
    }
}

impl AttachmentPorts<'_> {
    /// The attachment that a command creates, and the upload that it uses up, after all checks. The file is locked in a
    /// transaction.
    pub(crate) async fn check_new(
        &self,
        ctx: &Ctx,
        command: AttachFile,
        is_locked: bool,
    ) -> Result<(Attachment, NewAttachmentFile)> {
        ctx.require(&WRITE_ATTACHMENTS)?;
        let AttachFile { parent, source, edit } = command;
        let sees = parent.kind != ParentKind::Answer && self.parents.can_see(reader(ctx), parent).await?;
        if !sees {
            return Err(Error::NotFound);
        }
        if edit.title.is_none() && !edit.errors.iter().any(|error| error.field == "title") {
            return Err(Error::missing("title"));
        }
        if edit.description.is_none() && !edit.errors.iter().any(|error| error.field == "description") {
            return Err(Error::missing("description"));
        }
        let found = self.file_of(ctx, source, is_locked).await?;
        self.check_file(WriteContext::new(ctx), parent, found, edit).await
    }

    /// The attachment of a file with the other members, after all checks.
    pub(crate) async fn check_file(
        &self,
        context: WriteContext,
        parent: AttachmentParent,
        found: std::result::Result<NewAttachmentFile, FieldError>,
        edit: AttachmentEdit,
    ) -> Result<(Attachment, NewAttachmentFile)> {
        let (found, error) = match found {
            Ok(found) => {
                let error = parent.kind.allow_list().refusal(&found.file);
                (Some(found), error)
            }
            Err(error) => (None, Some(error)),
        };
        let mut attachment = match &found {
            Some(found) => Attachment::from_file(parent, found.id, &found.file, context.now),
            None => Attachment::from_link(parent, None, context.now),
        };
        self.edit(context, &mut attachment, edit, error).await?;
        // Without a file there was an error.
        Ok((attachment, found.ok_or(Error::NotFound)?))
    }

    /// Applies an edit, and reports all that is wrong with the result, in the order of the members.
    pub(crate) async fn edit(
        &self,
        context: WriteContext,
        attachment: &mut Attachment,
        mut edit: AttachmentEdit,
        source_error: Option<FieldError>,
    ) -> Result<()> {
        let mut errors: Vec<FieldError> = source_error.into_iter().collect();
        let unread = std::mem::take(&mut edit.errors);
        let is_moved = edit.collection.is_some();
        let is_given = [("title", edit.title.is_some()), ("description", edit.description.is_some())];
        edit.apply(attachment, context.default_locale);
        // Texts that stay are not checked: an imported attachment may have none.
        let is_new = |error: &FieldError| is_given.contains(&(error.field.as_ref(), true));
        errors.extend(attachment.text_errors(context.default_locale).into_iter().filter(is_new));
        errors.extend(unread);
        if let Some(id) = attachment.collection.filter(|_| is_moved)
            && !(attachment.parent.kind.has_collections()
                && self.collections.is_of(context.organization, id, attachment.parent).await?)
        {
            errors.push(foreign_collection_error());
        }
        errors
            .sort_by_key(|error| ORDER.iter().position(|field| *field == error.field).unwrap_or(ORDER.len()));
        Error::unless_valid(Wording::InvalidRequest, errors)
    }

    /// Stores an attachment and the state of its file, which an upload is removed for.
    pub(crate) async fn add(
        &self,
        organization: OrganizationId,
        attachment: Attachment,
        found: NewAttachmentFile,
    ) -> Result<AttachmentDetail> {
        let NewAttachmentFile { id: file_id, mut file, upload } = found;
        let id = self.store.add(organization, &attachment).await?;
        set_state(self.files, organization, file_id, FileState::Stored).await?;
        file.state = FileState::Stored;
        if let Some(upload) = upload {
            self.uploads.remove(organization, upload).await?;
        }
        Ok(AttachmentDetail { id, attachment, file: Some(file) })
    }

    /// Locks an attachment, checks an edit and stores what differs.
    pub(crate) async fn change(
        &self,
        context: WriteContext,
        id: AttachmentId,
        edit: AttachmentEdit,
    ) -> Result<Change<Attachment>> {
        let before = find_for_update(self.store, context.organization, id).await?;
        let mut after = before.clone();
        self.edit(context, &mut after, edit, None).await?;
        let change = Change::from_edit(before, context.now, |attachment| *attachment = after);
        if !change.is_empty() {
            self.store.save(context.organization, id, &change).await?;
        }
        Ok(change)
    }

    /// The file of a new attachment, or what is wrong with it.
    async fn file_of(
        &self,
        ctx: &Ctx,
        source: AttachmentSource,
        is_locked: bool,
    ) -> Result<std::result::Result<NewAttachmentFile, FieldError>> {
        let organization = ctx.organization;
        match source {
            AttachmentSource::Missing => Ok(Err(FieldError::blank("file", "File"))),
            AttachmentSource::TooLarge { limit } => Ok(Err(file_too_large_error(limit))),
            AttachmentSource::Stored(id) => self.find_stored_file(organization, id, None).await,
            AttachmentSource::Uploaded(signed) => {
                let sender = UploadContext { organization, client: ctx.caller.client, now: ctx.now };
                match find_uploaded(self.uploads, sender, &signed, is_locked).await? {
                    Ok((upload, id)) => self.find_stored_file(organization, id, Some(upload)).await,
                    Err(error) => Ok(Err(error)),
                }
            }
        }
    }

    /// A file that has a row and is not removed.
    pub(crate) async fn find_stored_file(
        &self,
        organization: OrganizationId,
        id: FileId,
        upload: Option<UploadId>,
    ) -> Result<std::result::Result<NewAttachmentFile, FieldError>> {
        let file = Records::find(self.files, organization, id).await?;
        let file = file.filter(|file| file.state != FileState::Removed);
        Ok(file.map(|file| NewAttachmentFile { id, file, upload }).ok_or_else(dead_signed_id))
    }

    /// The checks of a new attachment on the pool, before its bytes are stored.
    ///
    /// # Errors
    /// Those of the command.
    pub async fn precheck_new(&self, ctx: &Ctx, command: AttachFile) -> Result<()> {
        self.check_new(ctx, command, false).await.map(drop)
    }
}

/// The upload and the file of a signed id, if the caller may attach it now; else what is wrong. `is_locked`: locks the
/// upload until the transaction ends, so that only one caller uses it.
pub(crate) async fn find_uploaded(
    uploads: &dyn UploadStore,
    sender: UploadContext,
    signed: &str,
    is_locked: bool,
) -> Result<std::result::Result<(UploadId, FileId), FieldError>> {
    let Some(signed) = SignedId::parse(signed) else { return Ok(Err(dead_signed_id())) };
    let upload = if is_locked {
        uploads.find_for_update(sender.organization, signed.id).await?
    } else {
        uploads.find(sender.organization, signed.id).await?
    };
    let upload = upload.filter(|upload| {
        signed.matches(upload) && upload.client == sender.client && upload.is_attachable(sender.now)
    });
    let not_uploaded = || FieldError::new("signed_id", "not_uploaded", "File has not been uploaded");
    Ok(match upload {
        None => Err(dead_signed_id()),
        Some(upload) => upload.file.map(|file| (signed.id, file)).ok_or_else(not_uploaded),
    })
}

/// The error of a signed id that is forged, expired, foreign or used.
fn dead_signed_id() -> FieldError {
    FieldError::new("signed_id", "invalid", "signed_id is invalid or expired")
}

pub(crate) fn file_too_large_error(limit: i64) -> FieldError {
    const MEBIBYTE: i64 = 1024 * 1024;
    let size =
        if limit % MEBIBYTE == 0 { format!("{} MB", limit / MEBIBYTE) } else { format!("{limit} bytes") };
    FieldError::new("file", "too_large", format!("File must be at most {size}"))
}
