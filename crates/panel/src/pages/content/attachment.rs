//! One attachment: its members, its deletion (contract 07 B.7).

use super::attachment_form::{AttachedTo, audit_entry, edit_of, form_errors, members};
use super::attachments::{
    address, file_name_or_link, head_below_list, list_of, list_path, parent_token, size_text, title,
    type_name,
};
use super::shared::{one_line, open_organization_in_zone, with_changes};
use crate::admin_request::AdminRequest;
use crate::parts::{Card, Form, FormErrors, Html, KeyValues, PageAction};
use crate::reply::Reply;
use civitas_attachments::{Attachment, ParentKind, StoredFile};
use civitas_audit::Action;
use civitas_kernel::records::{Entity, find_revision_for_update};
use civitas_kernel::{AttachmentId, Error, Result};

/// An attachment of the path with its record.
struct OpenedAttachment {
    place: AttachedTo,
    id: AttachmentId,
    attachment: Attachment,
    file: Option<StoredFile>,
}

impl OpenedAttachment {
    async fn of_path(req: &AdminRequest) -> Result<Self> {
        let (organization_id, organization) = open_organization_in_zone(req).await?;
        let id = AttachmentId(req.path_id("aid")?);
        let store = req.panel.store();
        let found = store.attachments().find(organization_id, id).await?;
        let attachment = found.filter(|found| found.parent.kind != ParentKind::Answer);
        let attachment = attachment.ok_or(Error::NotFound)?;
        let file = match attachment.file {
            Some(file) => store.files().find_many(organization_id, &[file]).await?.into_iter().next(),
            None => None,
        };
        let place = AttachedTo::of(req, organization_id, organization, attachment.parent).await?;
        Ok(Self { place, id, attachment, file: file.map(|(_, file)| file) })
    }

    fn path(&self) -> String {
        format!("{}/{}", list_path(self.place.id), self.id)
    }

    fn title(&self, req: &AdminRequest) -> String {
        title(req, &self.attachment, self.file.as_ref())
    }
}

pub(crate) async fn edit(req: &AdminRequest) -> Result<Reply> {
    let opened = OpenedAttachment::of_path(req).await?;
    show_edit(req, &opened, Vec::new()).await
}

async fn show_edit(req: &AdminRequest, opened: &OpenedAttachment, problems: FormErrors) -> Result<Reply> {
    let (place, attachment, file) = (&opened.place, &opened.attachment, opened.file.as_ref());
    let name = opened.title(req);
    let form = Form::new(&req.translator, opened.path(), req.token(), "attachment-save")
        .method("put")
        .hidden("revision", req.revision(attachment.revision()))
        .cancel(list_of(place.id, place.parent));
    let sections = members(req, place, attachment, &problems).await?;
    let form = sections.into_iter().fold(form, Form::section);
    let source = file_name_or_link(attachment, file);
    let source = match address(req, &place.organization, attachment, file) {
        Some(href) => Html::link(&href, &source),
        None => Html::text(&source),
    };
    let mut facts = KeyValues::default()
        .row(req.tr("attachment-source"), source)
        .text(req.tr("attachment-type"), &type_name(req, attachment.file_type))
        .text(req.tr("attachment-record"), &place.name)
        .text(req.tr("column-created"), &req.time(attachment.created_at))
        .text(req.tr("column-changed"), &req.time(attachment.updated_at));
    if let Some(file) = file {
        facts = facts
            .text(req.tr("attachment-size"), &size_text(req, file.byte_size))
            .row(req.tr("attachment-media-type"), Html::code(&file.content_type));
    }
    let facts = Card::new("file", req.tr("attachment-source"), facts.html()).html();
    let delete = PageAction::danger(format!("{}/delete", opened.path()), req.tr("delete-link"));
    let head = head_below_list(req, place.id, &place.organization, name)
        .lede(req.tr("attachment-edit-lede"))
        .action(delete);
    req.form_page(head, Html::join([form.html(), facts]), problems).await
}

pub(crate) async fn update(req: &AdminRequest) -> Result<Reply> {
    let opened = OpenedAttachment::of_path(req).await?;
    let place = &opened.place;
    let saved = req.change(async |tx| {
        let store = tx.attachments();
        let before =
            find_revision_for_update::<Attachment>(store, place.id, opened.id, Some(req.form_revision()))
                .await?;
        let change = place.admin(tx, req).update(opened.id, edit_of(req, &before)).await?;
        let name = title(req, &change.after, opened.file.as_ref());
        if !change.is_empty() {
            let entry = audit_entry(req, Action::AttachmentUpdated, place, opened.id, &name);
            req.append_audit_entry(tx, &with_changes(entry, changes(&change.before, &change.after))).await?;
        }
        Ok(name)
    });
    match saved.await {
        Ok(name) => {
            let to = list_of(place.id, place.parent);
            req.done("attachment-saved", &[("name", name.into())], to).await
        }
        Err(error) => show_edit(req, &opened, form_errors(req, place, error)?).await,
    }
}

/// What differs, for the audit trail.
fn changes(before: &Attachment, after: &Attachment) -> Vec<(&'static str, String, String)> {
    let collection = |of: &Attachment| of.collection.map(|id| id.to_string()).unwrap_or_default();
    vec![
        ("title", one_line(&before.title), one_line(&after.title)),
        ("description", one_line(&before.description), one_line(&after.description)),
        ("weight", before.weight.to_string(), after.weight.to_string()),
        ("collection", collection(before), collection(after)),
    ]
}

pub(crate) async fn confirm_delete(req: &AdminRequest) -> Result<Reply> {
    let opened = OpenedAttachment::of_path(req).await?;
    let place = &opened.place;
    let effect = match &opened.file {
        Some(file) => req.tr_args(
            "attachment-delete-file",
            &[("name", file.filename.as_str().into()), ("size", size_text(req, file.byte_size).into())],
        ),
        None => req.tr("attachment-delete-link"),
    };
    let confirm = req
        .confirm(opened.path(), req.tr("attachment-delete-button"), list_of(place.id, place.parent))
        .delete()
        .effects([req.tr("attachment-delete-effect"), effect])
        .stays(req.tr_with("attachment-delete-stays", "name", place.name.as_str()));
    let name = opened.title(req);
    let title = req.tr_with("delete-title", "name", name.as_str());
    let head = head_below_list(req, place.id, &place.organization, title)
        .crumb(name, format!("{}/edit", opened.path()))
        .current(req.tr("delete"));
    req.page(head, confirm.html(&[])).await
}

pub(crate) async fn delete(req: &AdminRequest) -> Result<Reply> {
    let opened = OpenedAttachment::of_path(req).await?;
    let place = &opened.place;
    let name = opened.title(req);
    req.change(async |tx| {
        let attachment = place.admin(tx, req).remove(opened.id).await?;
        let field = if opened.file.is_some() { "file" } else { "link" };
        let entry = audit_entry(req, Action::AttachmentDeleted, place, opened.id, &name)
            .changed("attached_to", Some(&parent_token(place.parent)), None)
            .changed(field, Some(&file_name_or_link(&attachment, opened.file.as_ref())), None);
        req.append_audit_entry(tx, &entry).await
    })
    .await?;
    req.done("attachment-deleted", &[("name", name.into())], list_of(place.id, place.parent)).await
}
