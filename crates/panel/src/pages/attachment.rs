//! One attachment: its members, its deletion (contract 07 B.7).

use super::attachment_form::{AttachedTo, edit_of, members, record, refusal};
use super::attachments::{address, below, list_of, list_path, size, source, title, token, type_name};
use super::content::{in_its_zone, line, with_changes};
use crate::parts::{Act, Card, Form, Html, KeyValues, Problem};
use crate::reply::Reply;
use crate::visit::Visit;
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
    async fn of_path(visit: &mut Visit) -> Result<Self> {
        let (organization, home) = in_its_zone(visit).await?;
        let (visit, id) = (&*visit, AttachmentId(visit.id("aid")?));
        let store = visit.panel.store();
        let found = store.attachments().find(organization, id).await?;
        let attachment = found.filter(|found| found.parent.kind != ParentKind::Answer);
        let attachment = attachment.ok_or(Error::NotFound)?;
        let file = match attachment.file {
            Some(file) => store.files().find_many(organization, &[file]).await?.into_iter().next(),
            None => None,
        };
        let place = AttachedTo::of(visit, organization, home, attachment.parent).await?;
        Ok(Self { place, id, attachment, file: file.map(|(_, file)| file) })
    }

    fn path(&self) -> String {
        format!("{}/{}", list_path(self.place.id), self.id)
    }

    fn title(&self, visit: &Visit) -> String {
        title(visit, &self.attachment, self.file.as_ref())
    }
}

pub(crate) async fn edit(visit: &mut Visit) -> Result<Reply> {
    let own = OpenedAttachment::of_path(visit).await?;
    show_edit(visit, &own, Vec::new()).await
}

async fn show_edit(visit: &Visit, own: &OpenedAttachment, problems: Vec<Problem>) -> Result<Reply> {
    let (place, attachment, file) = (&own.place, &own.attachment, own.file.as_ref());
    let name = own.title(visit);
    let form = Form::new(&visit.words, own.path(), visit.token(), "attachment-save")
        .method("put")
        .hidden("revision", visit.revision(attachment.revision()))
        .cancel(list_of(place.id, place.parent));
    let sections = members(visit, place, attachment, &problems).await?;
    let form = sections.into_iter().fold(form, Form::section);
    let source = source(attachment, file);
    let source = match address(visit, &place.home, attachment, file) {
        Some(href) => Html::link(&href, &source),
        None => Html::text(&source),
    };
    let mut facts = KeyValues::default()
        .row(visit.say("attachment-source"), source)
        .text(visit.say("attachment-type"), &type_name(visit, attachment.file_type))
        .text(visit.say("attachment-record"), &place.name)
        .text(visit.say("column-created"), &visit.time(attachment.created_at))
        .text(visit.say("column-changed"), &visit.time(attachment.updated_at));
    if let Some(file) = file {
        facts = facts
            .text(visit.say("attachment-size"), &size(visit, file.byte_size))
            .row(visit.say("attachment-media-type"), Html::code(&file.content_type));
    }
    let facts = Card::new("file", visit.say("attachment-source"), facts.html()).html();
    let delete = Act::danger(format!("{}/delete", own.path()), visit.say("delete-link"));
    let head = below(visit, place.id, &place.home, name).lede(visit.say("attachment-edit-lede")).act(delete);
    visit.form_page(head, Html::join([form.html(), facts]), problems).await
}

pub(crate) async fn update(visit: &mut Visit) -> Result<Reply> {
    let own = OpenedAttachment::of_path(visit).await?;
    let (visit, place) = (&*visit, &own.place);
    let saved = visit.change(async |tx| {
        let store = tx.attachments();
        let before =
            find_revision_for_update::<Attachment>(store, place.id, own.id, Some(visit.form_revision()))
                .await?;
        let change = place.admin(tx, visit).update(own.id, edit_of(visit, &before)).await?;
        let name = title(visit, &change.after, own.file.as_ref());
        if !change.is_empty() {
            let entry = record(visit, Action::AttachmentUpdated, place, own.id, &name);
            visit.append(tx, &with_changes(entry, changes(&change.before, &change.after))).await?;
        }
        Ok(name)
    });
    match saved.await {
        Ok(name) => {
            let to = list_of(place.id, place.parent);
            visit.done("attachment-saved", &[("name", name.into())], to).await
        }
        Err(fault) => show_edit(visit, &own, refusal(visit, place, fault)?).await,
    }
}

/// What differs, for the audit trail.
fn changes(before: &Attachment, after: &Attachment) -> Vec<(&'static str, String, String)> {
    let collection = |of: &Attachment| of.collection.map(|id| id.to_string()).unwrap_or_default();
    vec![
        ("title", line(&before.title), line(&after.title)),
        ("description", line(&before.description), line(&after.description)),
        ("weight", before.weight.to_string(), after.weight.to_string()),
        ("collection", collection(before), collection(after)),
    ]
}

pub(crate) async fn ask(visit: &mut Visit) -> Result<Reply> {
    let own = OpenedAttachment::of_path(visit).await?;
    let (visit, place) = (&*visit, &own.place);
    let effect = match &own.file {
        Some(file) => visit.tell(
            "attachment-delete-file",
            &[("name", file.filename.as_str().into()), ("size", size(visit, file.byte_size).into())],
        ),
        None => visit.say("attachment-delete-link"),
    };
    let confirm = visit
        .confirm(own.path(), visit.say("attachment-delete-button"), list_of(place.id, place.parent))
        .delete()
        .effects([visit.say("attachment-delete-effect"), effect])
        .stays(visit.tell("attachment-delete-stays", &[("name", place.name.as_str().into())]));
    let name = own.title(visit);
    let title = visit.tell("delete-title", &[("name", name.as_str().into())]);
    let head = below(visit, place.id, &place.home, title)
        .crumb(name, format!("{}/edit", own.path()))
        .here(visit.say("delete"));
    visit.page(head, confirm.html(&[])).await
}

pub(crate) async fn delete(visit: &mut Visit) -> Result<Reply> {
    let own = OpenedAttachment::of_path(visit).await?;
    let (visit, place) = (&*visit, &own.place);
    let name = own.title(visit);
    visit
        .change(async |tx| {
            let attachment = place.admin(tx, visit).remove(own.id).await?;
            let field = if own.file.is_some() { "file" } else { "link" };
            let entry = record(visit, Action::AttachmentDeleted, place, own.id, &name)
                .changed("attached_to", Some(&token(place.parent)), None)
                .changed(field, Some(&source(&attachment, own.file.as_ref())), None);
            visit.append(tx, &entry).await
        })
        .await?;
    visit.done("attachment-deleted", &[("name", name.into())], list_of(place.id, place.parent)).await
}
