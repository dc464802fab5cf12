//! `attachment`: a file or a link of a record.

use super::attachment_collection::{AttachedTo, check_same_parent};
use super::{
    ExportedPerson, Import, ImportResult, OrganizationRecordKind, RecordKind, Rows, StoredRecord, Timestamp,
    members, required,
};
use super::{OrganizationId, PAGE, Ports, Result, Translated, async_trait};
use crate::files::{FileRequest, FileSource};
use civitas_attachments::{Attachment, FileState, FileType, StoredFile, is_web_address};
use civitas_kernel::records::{Change, Records};
use civitas_kernel::{AttachmentId, CollectionId, Error, FileId};
use std::collections::HashMap;

pub(super) struct AttachmentRecordType {
    /// The files of the exported page.
    files: HashMap<FileId, StoredFile>,
}

members! { AttachmentRecordType, "attachment", OrganizationId, AttachmentFields, |kind, attachment: Attachment| {
    attached_to: resolved(AttachedTo, check_parent, with(AttachedTo::from_parent(attachment.parent))),
    title: required(Translated),
    description: filled(Translated),
    weight: required(i64),
    collection: resolved(String, set_collection, with_optional(attachment.collection.map(|id| id.to_string()))),
    link: optional(String),
    data: input(String),
    path: input(String),
    filename: resolved(String, set_file, with_optional(kind.file(attachment).map(|file| &file.filename))),
    content_type: output(String, with_optional(kind.file(attachment).map(|file| &file.content_type))),
    created_at: required(Timestamp),
    updated_at: required(Timestamp),
}}

impl AttachmentRecordType {
    pub(super) fn new() -> Self {
        Self { files: HashMap::new() }
    }

    fn file(&self, attachment: &Attachment) -> Option<&StoredFile> {
        self.files.get(&attachment.file?)
    }
}

async fn check_parent(
    import: &mut Import<'_, '_, AttachmentRecordType>,
    fields: &mut AttachmentFields,
    attachment: &mut Attachment,
) -> ImportResult {
    check_same_parent(&mut import.context.refs, import.owner, &fields.attached_to, attachment.parent).await
}

async fn set_collection(
    import: &mut Import<'_, '_, AttachmentRecordType>,
    fields: &mut AttachmentFields,
    attachment: &mut Attachment,
) -> ImportResult {
    let given = import.context.refs.resolve_field::<CollectionId>(import.owner, &fields.collection).await?;
    if let Some(id) = given.as_value()
        && !import.context.ports.collections().is_of(import.owner, *id, attachment.parent).await?
    {
        return Err("collection is not one of the record".into());
    }
    given.apply(&mut attachment.collection);
    Ok(())
}

/// Stores the file of a record, unless it is the one that is stored already.
async fn set_file(
    import: &mut Import<'_, '_, AttachmentRecordType>,
    fields: &mut AttachmentFields,
    attachment: &mut Attachment,
) -> ImportResult {
    let source = FileSource {
        data: std::mem::take(&mut fields.data).value(),
        path: std::mem::take(&mut fields.path).value(),
        filename: std::mem::take(&mut fields.filename).value(),
        ..FileSource::default()
    };
    let is_given = source.data.is_some() || source.path.is_some();
    match (&attachment.link, is_given) {
        (Some(_), true) => return Err("only one of link, data and path is possible".into()),
        (Some(link), false) => return check_link(link, attachment.file),
        (None, false) if attachment.file.is_some() => return Ok(()),
        (None, false) => return Err("one of link, data and path is required".into()),
        (None, true) => {}
    }
    let (ports, of, now) = (import.context.ports, import.owner, import.context.options.now);
    let tenant = ports.organizations().tenant(of).await?.ok_or(Error::NotFound)?;
    let request = FileRequest { source: &source, prefix: &tenant.reference_prefix, now };
    let received = import.context.files.receive(request).await?;
    if let Some(id) = attachment.file {
        let old = ports.files().find(of, id).await?.ok_or(Error::NotFound)?;
        if old.sha256 == received.file.sha256 && old.filename == received.file.filename {
            return Ok(());
        }
        // The former file is deleted by the reaper.
        let removed = StoredFile { state: FileState::Removed, ..old.clone() };
        ports.files().save(of, id, &Change::new(old, removed)).await?;
    }
    let (id, file) = import.context.files.keep(ports, of, request, received).await?;
    attachment.file_type = FileType::from_file(&file);
    attachment.file = Some(id);
    Ok(())
}

/// An address of the web. A file does not become a link.
fn check_link(link: &str, file: Option<FileId>) -> ImportResult {
    match (is_web_address(link), file) {
        (true, None) => Ok(()),
        (true, Some(_)) => Err("a file cannot become a link".into()),
        (false, _) => Err(format!("link: {link:?} is not an http or https address").into()),
    }
}

#[async_trait]
impl OrganizationRecordKind for AttachmentRecordType {
    fn records<'a>(&self, ports: &'a dyn Ports) -> &'a dyn Records<Attachment> {
        ports.attachments()
    }

    /// Also loads the files of the page. Files of answers are exported with their responses.
    async fn page(
        &mut self,
        ports: &dyn Ports,
        of: OrganizationId,
        after: Option<AttachmentId>,
    ) -> Rows<Self> {
        let rows = ports.attachments().page_of_records_after(of, after, PAGE).await?;
        let ids: Vec<FileId> = rows.iter().filter_map(|(_, attachment)| attachment.file).collect();
        self.files = ports.files().find_many(of, &ids).await?.into_iter().collect();
        Ok(rows)
    }
}

#[async_trait]
impl RecordKind for AttachmentRecordType {
    async fn create(
        &self,
        import: &mut Import<'_, '_, Self>,
        fields: &AttachmentFields,
    ) -> ImportResult<Attachment> {
        let parent = required("attached_to", &fields.attached_to)?;
        let parent = parent.resolve(&mut import.context.refs, import.owner).await?;
        let title = required("title", &fields.title)?;
        Ok(Attachment { title, ..Attachment::from_link(parent, None, import.context.options.now) })
    }

    fn data_object(&self, attachment: &Attachment) -> Option<StoredFile> {
        self.file(attachment).cloned()
    }

    fn belongs_to_person(
        &self,
        person: &mut ExportedPerson,
        (_, attachment): &mut StoredRecord<Self>,
    ) -> bool {
        person.written.contains(&attachment.parent)
    }
}
