//! One attachment: its members, its deletion (contract 07 B.7). It is not saved by [`crate::records::save()`]: its use case
//! takes the members that were sent, because it also serves clients, and checks the collection against the parent.

use super::attachment_form::{OpenedParent, audit_entry, form_errors, member_sections, read_edit};
use super::attachments::{
    attachment_url, file_name_or_link, list_path, list_subpage_head, parent_token, size_text, title,
    type_name,
};
use super::organization::open_organization;
use crate::admin_request::AdminRequest;
use crate::parts::{Card, FormErrors, Html, KeyValues, PageAction};
use crate::records::with_changes;
use crate::reply::Reply;
use crate::translated::audit_text;
use civitas_attachments::{Attachment, ParentKind, StoredFile};
use civitas_audit::Action;
use civitas_kernel::records::{Entity, find_revision_for_update};
use civitas_kernel::{AttachmentId, Error, Result};

/// An attachment of the path with its record.
struct OpenedAttachment {
    record: OpenedParent,
    id: AttachmentId,
    attachment: Attachment,
    file: Option<StoredFile>,
}

impl OpenedAttachment {
    async fn from_path(req: &AdminRequest) -> Result<Self> {
        let (organization_id, organization) = open_organization(req).await?;
        let id = AttachmentId(req.path_id("aid")?);
        let store = req.store();
        let found = store.attachments().find(organization_id, id).await?;
        let attachment = found.filter(|found| found.parent.kind != ParentKind::Answer);
        let attachment = attachment.ok_or(Error::NotFound)?;
        let file = match attachment.file {
            Some(file) => store.files().find_many(organization_id, &[file]).await?.into_iter().next(),
            None => None,
        };
        let record = OpenedParent::load(req, organization_id, organization, attachment.parent).await?;
        Ok(Self { record, id, attachment, file: file.map(|(_, file)| file) })
    }

    fn path(&self) -> String {
        format!("{}/{}", list_path(self.record.organization_id), self.id)
    }

    fn title(&self, req: &AdminRequest) -> String {
        title(req, &self.attachment, self.file.as_ref())
    }
}

pub(crate) async fn edit(req: &AdminRequest) -> Result<Reply> {
    let opened = OpenedAttachment::from_path(req).await?;
    edit_page(req, &opened, Vec::new()).await
}

async fn edit_page(req: &AdminRequest, opened: &OpenedAttachment, problems: FormErrors) -> Result<Reply> {
    let (record, attachment, file) = (&opened.record, &opened.attachment, opened.file.as_ref());
    let name = opened.title(req);
    let form = req
        .build_form(opened.path(), "attachment-save")
        .put(req.revision(attachment.revision()))
        .cancel(record.list_path());
    let form = form.sections(member_sections(req, record, attachment, &problems).await?);
    let source = file_name_or_link(attachment, file);
    let source = match attachment_url(req, &record.organization, attachment, file) {
        Some(href) => Html::link(&href, &source),
        None => Html::text(&source),
    };
    let mut facts = KeyValues::default()
        .row(req.tr("attachment-source"), source)
        .text(req.tr("attachment-type"), &type_name(req, attachment.file_type))
        .text(req.tr("attachment-record"), &record.name)
        .text(req.tr("column-created"), &req.time(attachment.created_at))
        .text(req.tr("column-changed"), &req.time(attachment.updated_at));
    if let Some(file) = file {
        facts = facts
            .text(req.tr("attachment-size"), &size_text(req, file.byte_size))
            .row(req.tr("attachment-media-type"), Html::code(&file.content_type));
    }
    let facts = Card::new("file", req.tr("attachment-source"), facts.html()).html();
    let delete = PageAction::danger(format!("{}/delete", opened.path()), req.tr("delete-link"));
    let head = list_subpage_head(req, record.organization_id, &record.organization, name)
        .lede(req.tr("attachment-edit-lede"))
        .action(delete);
    req.form_page(head, Html::join([form.html(), facts]), problems).await
}

pub(crate) async fn update(req: &AdminRequest) -> Result<Reply> {
    let opened = OpenedAttachment::from_path(req).await?;
    let record = &opened.record;
    let name = |attachment: &Attachment| title(req, attachment, opened.file.as_ref());
    let saved = req.change_with_audit(
        async |tx| {
            let (store, revision) = (tx.attachments(), Some(req.form_revision()));
            let before =
                find_revision_for_update::<Attachment>(store, record.organization_id, opened.id, revision)
                    .await?;
            record.admin(tx, req).update(opened.id, read_edit(req, &before)).await
        },
        |change| {
            let entry = audit_entry(req, Action::AttachmentUpdated, record, opened.id, &name(&change.after));
            (!change.is_empty()).then(|| with_changes(entry, changes(&change.before, &change.after)))
        },
    );
    match saved.await {
        Ok(change) => {
            let name = name(&change.after);
            let to = record.list_path();
            req.redirect_done("attachment-saved", &[("name", name.into())], to).await
        }
        Err(error) => edit_page(req, &opened, form_errors(req, record, error)?).await,
    }
}

/// What differs, for the audit trail.
fn changes(before: &Attachment, after: &Attachment) -> Vec<(&'static str, String, String)> {
    let collection =
        |attachment: &Attachment| attachment.collection.map(|id| id.to_string()).unwrap_or_default();
    vec![
        ("title", audit_text(&before.title), audit_text(&after.title)),
        ("description", audit_text(&before.description), audit_text(&after.description)),
        ("weight", before.weight.to_string(), after.weight.to_string()),
        ("collection", collection(before), collection(after)),
    ]
}

pub(crate) async fn confirm_delete(req: &AdminRequest) -> Result<Reply> {
    let opened = OpenedAttachment::from_path(req).await?;
    let record = &opened.record;
    let effect = match &opened.file {
        Some(file) => req.tr_args(
            "attachment-delete-file",
            &[("name", file.filename.as_str().into()), ("size", size_text(req, file.byte_size).into())],
        ),
        None => req.tr("attachment-delete-link"),
    };
    let confirm = req
        .confirmation(opened.path(), req.tr("attachment-delete-button"), record.list_path())
        .delete()
        .effects([req.tr("attachment-delete-effect"), effect])
        .stays(req.tr_with("attachment-delete-stays", "name", record.name.as_str()));
    let name = opened.title(req);
    let title = req.tr_with("delete-title", "name", name.as_str());
    let head = list_subpage_head(req, record.organization_id, &record.organization, title)
        .crumb(name, format!("{}/edit", opened.path()))
        .current(req.tr("delete"));
    req.page(head, confirm.html(&[])).await
}

pub(crate) async fn delete(req: &AdminRequest) -> Result<Reply> {
    let opened = OpenedAttachment::from_path(req).await?;
    let record = &opened.record;
    let name = opened.title(req);
    req.change_with_audit(
        async |tx| record.admin(tx, req).remove(opened.id).await,
        |attachment| {
            let field = if opened.file.is_some() { "file" } else { "link" };
            let entry = audit_entry(req, Action::AttachmentDeleted, record, opened.id, &name)
                .with_change("attached_to", Some(&parent_token(record.parent)), None)
                .with_change(field, Some(&file_name_or_link(attachment, opened.file.as_ref())), None);
            Some(entry)
        },
    )
    .await?;
    req.redirect_done("attachment-deleted", &[("name", name.into())], record.list_path()).await
}
