//! The forms of attachments: new ones, their texts, their deletion (contract 07 B.5, B.7).

use super::attachments::{
    address, below, list_of, list_path, opened, parent_of, record_name, size, source, title, token,
    type_name,
};
use super::content::line;
use super::proposal_form::typed;
use crate::error;
use crate::notice::Notice;
use crate::parts::{
    Act, Card, Choice, Confirm, Field, Form, Html, KeyValues, Problem, Section, Texts,
};
use crate::reply::Reply;
use crate::upload::{FILE, SentFile};
use crate::visit::Visit;
use civitas_application::Ports;
use civitas_attachments::{
    Attachment, AttachmentAdmin, AttachmentEdit, AttachmentPorts, Grouping, NewAttachment, NewContent, Parent,
    ParentKind, ReceiveOutcome, SentText, StoredFile, sanitize_and_shorten,
};
use civitas_audit::{Action, Record};
use civitas_kernel::records::find_for_update;
use civitas_kernel::{
    AttachmentId, CollectionId, Error, FieldError, FileId, OrganizationId, Result, Translated,
};
use civitas_organizations::Organization;

const LINK: &str = "attachment[link]";
const TITLE: &str = "attachment[title]";
const DESCRIPTION: &str = "attachment[description]";
const WEIGHT: &str = "attachment[weight]";
const COLLECTION: &str = "attachment[collection]";
/// The most collections that a form lists.
const MOST_COLLECTIONS: i64 = 100;

/// The organization of the path, and the record of the form.
struct Place {
    id: OrganizationId,
    home: Organization,
    parent: Parent,
    /// The name of the record.
    name: String,
}

impl Place {
    async fn of(visit: &Visit, id: OrganizationId, home: Organization, parent: Parent) -> Result<Self> {
        let titles = visit.panel.store().parents().titles(id, &[parent]).await?;
        let title = titles.into_iter().next().map(|(_, title)| title);
        let title = title.ok_or(Error::NotFound)?;
        let name = record_name(visit, &home, parent, &title);
        Ok(Self { id, home, parent, name })
    }

    /// The record that the address or the form names; the organization without one.
    async fn of_new(visit: &mut Visit) -> Result<Self> {
        let (id, home) = opened(visit).await?;
        let named = visit.form.get("parent").or_else(|| visit.query.get("parent"));
        let parent = match named {
            Some(named) => parent_of(named).ok_or(Error::NotFound)?,
            None => id.into(),
        };
        Self::of(visit, id, home, parent).await
    }

    fn admin<'a>(&self, ports: &'a dyn Ports, visit: &Visit) -> AttachmentAdmin<'a> {
        let ports = AttachmentPorts {
            store: ports.attachments(),
            collections: ports.collections(),
            files: ports.files(),
            uploads: ports.uploads(),
            parents: ports.parents(),
        };
        let default_locale = self.home.default_locale;
        AttachmentAdmin { ports, organization: self.id, default_locale, now: visit.now }
    }
}

/// An attachment of the path with its record.
struct Own {
    place: Place,
    id: AttachmentId,
    attachment: Attachment,
    file: Option<StoredFile>,
}

impl Own {
    async fn of_path(visit: &mut Visit) -> Result<Self> {
        let (organization, home) = opened(visit).await?;
        let (visit, id) = (&*visit, AttachmentId(visit.id("aid")?));
        let store = visit.panel.store();
        let found = store.attachments().find(organization, id).await?;
        let attachment = found.filter(|found| found.parent.kind != ParentKind::Answer);
        let attachment = attachment.ok_or(Error::NotFound)?;
        let files: Vec<FileId> = attachment.file.into_iter().collect();
        let file = if files.is_empty() { Vec::new() } else { store.files().find_many(organization, &files).await? };
        let file = file.into_iter().next().map(|(_, file)| file);
        let place = Place::of(visit, organization, home, attachment.parent).await?;
        Ok(Self { place, id, attachment, file })
    }

    fn path(&self) -> String {
        format!("{}/{}", list_path(self.place.id), self.id)
    }

    fn title(&self, visit: &Visit) -> String {
        title(visit, &self.attachment, self.file.as_ref())
    }

    fn revision(attachment: &Attachment) -> String {
        attachment.updated_at.unix_timestamp_nanos().to_string()
    }
}

/// The entry of the audit trail of an attachment.
fn record(visit: &Visit, action: Action, place: &Place, id: AttachmentId, name: &str) -> Record {
    visit.record(action).of(Some(place.id)).on("attachment", &id.to_string(), name)
}

/// The fields of texts, weight and collection. `stored` is what they show when nothing was typed.
async fn members(
    visit: &Visit,
    place: &Place,
    stored: &Attachment,
    problems: &[Problem],
) -> Result<Vec<Section>> {
    let (words, locales) = (&visit.words, &visit.panel.settings.site.locales);
    let title = typed(visit, TITLE, locales, &stored.title);
    let description = typed(visit, DESCRIPTION, locales, &stored.description);
    let texts = Texts::new("texts", visit.say("texts"), locales, place.home.default_locale)
        .text(TITLE, visit.say("column-title"), "", &title, 1)
        .text(DESCRIPTION, visit.say("description"), "", &description, 3);
    let weight = visit.form.get(WEIGHT).map_or_else(|| stored.weight.to_string(), str::to_owned);
    let weight = Field::number(WEIGHT, visit.say("attachment-weight"), weight)
        .hint(visit.say("attachment-weight-hint"))
        .check(problems);
    let mut order = Section::new("order", visit.say("attachment-order")).field(weight.html(words));
    if place.parent.kind.has_collections() {
        let collections = visit.panel.store().collections();
        let known = collections.of_parent(place.id, place.parent, MOST_COLLECTIONS).await?;
        if !known.is_empty() {
            let chosen = stored.collection.map(|id| id.to_string()).unwrap_or_default();
            let chosen = visit.form.get(COLLECTION).map_or(chosen, str::to_owned);
            let named = known.iter().map(|(id, collection)| {
                let name = collection.name.title(words.locale).unwrap_or_default();
                Choice::new(id.to_string(), format!("{name} ({id})"))
            });
            let choices = std::iter::once(Choice::new("", visit.say("none"))).chain(named).collect();
            let field = Field::select(COLLECTION, visit.say("attachment-collection"), chosen, choices);
            order = order.field(field.check(problems).html(words));
        }
    }
    let texts = Section::new("attachment", visit.say("texts")).field(texts.html(words, problems));
    Ok(vec![texts, order])
}

/// What was typed. Members that were not sent stay as they are.
fn edit_of(visit: &Visit, stored: &Attachment) -> AttachmentEdit {
    let locales = &visit.panel.settings.site.locales;
    let text = |name: &str, stored: &Translated| {
        let is_sent = visit.form.has(&format!("{name}["));
        is_sent.then(|| SentText::Each(typed(visit, name, locales, stored)))
    };
    let mut edit = AttachmentEdit {
        title: text(TITLE, &stored.title),
        description: text(DESCRIPTION, &stored.description),
        ..AttachmentEdit::default()
    };
    if let Some(weight) = visit.form.get(WEIGHT) {
        match weight.trim() {
            "" => edit.weight = Some(0),
            weight => match weight.parse() {
                Ok(weight) => edit.weight = Some(weight),
                Err(_) => {
                    edit.errors.push(FieldError::new("weight", "not_a_number", "Weight is not a number"));
                }
            },
        }
    }
    if let Some(collection) = visit.form.get(COLLECTION) {
        let id = match collection {
            "" => None,
            // An unknown one is refused as one of another record is.
            collection => Some(CollectionId(collection.parse().unwrap_or_default())),
        };
        edit.collection = Some(Grouping { id });
    }
    edit
}

/// The problems of a refused attachment, beside their fields.
fn refusal(visit: &Visit, place: &Place, fault: Error) -> Result<Vec<Problem>> {
    if fault.details().is_empty() {
        return error::problems(&visit.words, fault, |_| String::new());
    }
    let main = place.home.default_locale;
    let problem = |fault: &FieldError| {
        let field = match fault.field.as_ref() {
            "file" | "signed_id" => FILE.to_owned(),
            "link" => LINK.to_owned(),
            "title" => format!("{TITLE}[{main}]"),
            "description" => format!("{DESCRIPTION}[{main}]"),
            "weight" => WEIGHT.to_owned(),
            _ => COLLECTION.to_owned(),
        };
        let text = match (fault.field.as_ref(), fault.code.as_ref()) {
            ("file", "blank") => visit.say("problem-file-blank"),
            ("file", "too_large") => {
                let most = size(visit, place.home.max_attachment_bytes);
                visit.tell("problem-file-large", &[("size", most.into())])
            }
            ("file", "extension_not_allowed") => {
                let names = place.parent.kind.allow_list().extensions().join(", ");
                visit.tell("problem-file-extension", &[("names", names.into())])
            }
            ("file", "image_too_big") => visit.say("problem-file-image"),
            ("file", _) => visit.say("problem-file-content"),
            ("link", "invalid") => visit.say("problem-link"),
            (_, "blank") => visit.say("problem-blank"),
            (_, "not_a_number") => visit.say("problem-number"),
            (_, "inclusion") => visit.say("problem-inclusion"),
            _ => format!("{}.", fault.description.trim_end_matches('.')),
        };
        Problem::new(field, text)
    };
    Ok(fault.details().iter().map(problem).collect())
}

pub(crate) async fn new(visit: &mut Visit) -> Result<Reply> {
    let place = Place::of_new(visit).await?;
    show_new(visit, &place, Vec::new()).await
}

async fn show_new(visit: &Visit, place: &Place, problems: Vec<Problem>) -> Result<Reply> {
    let words = &visit.words;
    let names = place.parent.kind.allow_list().extensions().join(", ");
    let most = size(visit, place.home.max_attachment_bytes);
    let file = Field::file(FILE, visit.say("attachment-file"))
        .hint(visit.tell("attachment-file-hint", &[("size", most.into()), ("names", names.into())]))
        .check(&problems);
    let link = Field::url(LINK, visit.say("attachment-link"), visit.form.get(LINK).unwrap_or_default())
        .hint(visit.say("attachment-link-hint"))
        .optional()
        .check(&problems);
    let blank = Attachment::of_link(place.parent, None, visit.now);
    let source = Section::new("source", visit.say("attachment-source"))
        .hint(visit.say("attachment-source-hint"))
        .field(file.html(words))
        .field(link.html(words));
    let mut form = Form::new(words, list_path(place.id), visit.token(), "attachment-create")
        .with_file()
        .hidden("parent", token(place.parent))
        .section(source)
        .cancel(list_of(place.id, place.parent));
    for section in members(visit, place, &blank, &problems).await? {
        form = form.section(section);
    }
    let title = visit.tell("attachment-new-of", &[("name", place.name.as_str().into())]);
    let head = below(visit, place.id, &place.home, title).here(visit.say("attachment-new"));
    visit.form_page(head, form.html(), problems).await
}

pub(crate) async fn create(visit: &mut Visit) -> Result<Reply> {
    let file = visit.file.take();
    let place = Place::of_new(visit).await?;
    let visit = &*visit;
    let edit = edit_of(visit, &Attachment::of_link(place.parent, None, visit.now));
    let (link, has_file) = (visit.form.text(LINK), file.is_some());
    if has_file && !link.is_empty() {
        let problem = Problem::new(LINK, visit.say("problem-file-and-link"));
        return show_new(visit, &place, vec![problem]).await;
    }
    let new = NewAttachment { parent: place.parent, content: NewContent::Missing, edit };
    let created = match file {
        Some(file) => create_file(visit, &place, new, file).await,
        None if link.is_empty() => store(visit, &place, new).await,
        None => store(visit, &place, NewAttachment { content: NewContent::Link(link.to_owned()), ..new }).await,
    };
    match created {
        Ok(name) => {
            let notice = Notice::good(visit.tell("attachment-created", &[("name", name.into())]));
            visit.redirect(list_of(place.id, place.parent), notice).await
        }
        Err(fault) => {
            let mut problems = refusal(visit, &place, fault)?;
            if has_file && !problems.iter().any(|problem| problem.field == FILE) {
                problems.push(Problem::new(FILE, visit.say("problem-file-again")));
            }
            show_new(visit, &place, problems).await
        }
    }
}

/// Stores the bytes of a file, and attaches it. A file that is refused is given up.
async fn create_file(
    visit: &Visit,
    place: &Place,
    new: NewAttachment,
    SentFile { name, outcome }: SentFile,
) -> Result<String> {
    let received = match outcome {
        ReceiveOutcome::TooLong => {
            let limit = place.home.max_attachment_bytes;
            return store(visit, place, NewAttachment { content: NewContent::TooLarge { limit }, ..new }).await;
        }
        ReceiveOutcome::Complete(received) if received.content.byte_size == 0 => {
            return store(visit, place, new).await;
        }
        ReceiveOutcome::Complete(received) => received,
    };
    let files = &visit.panel.services.files;
    let inspected = files.inspect(received).await?;
    let (name, prefix) = (sanitize_and_shorten(&name), &place.home.reference_prefix);
    let registered = files.register(place.id, prefix, name, inspected, visit.now).await?;
    let id = registered.id;
    let attached = async {
        let new = NewAttachment { content: NewContent::Stored(id), ..new };
        place.admin(visit.panel.store(), visit).check(new.clone()).await?;
        files.put(registered).await?;
        store(visit, place, new).await
    };
    let attached = attached.await;
    if attached.is_err() {
        files.discard(place.id, id, visit.now).await;
    }
    attached
}

/// Attaches it, with an entry in the audit trail. Returns its title.
async fn store(visit: &Visit, place: &Place, new: NewAttachment) -> Result<String> {
    visit
        .change(async |tx| {
            let created = place.admin(tx, visit).attach(new.clone()).await?;
            let (attachment, file) = (&created.attachment, created.file.as_ref());
            let name = title(visit, attachment, file);
            let field = if file.is_some() { "file" } else { "link" };
            let record = record(visit, Action::AttachmentCreated, place, created.id, &name)
                .changed("attached_to", None, Some(&token(place.parent)))
                .changed(field, None, Some(&source(attachment, file)));
            tx.audit().append(&record, visit.now).await?;
            Ok(name)
        })
        .await
}

pub(crate) async fn edit(visit: &mut Visit) -> Result<Reply> {
    let own = Own::of_path(visit).await?;
    show_edit(visit, &own, Vec::new()).await
}

async fn show_edit(visit: &Visit, own: &Own, problems: Vec<Problem>) -> Result<Reply> {
    let (place, attachment, file) = (&own.place, &own.attachment, own.file.as_ref());
    let name = own.title(visit);
    let mut form = Form::new(&visit.words, own.path(), visit.token(), "attachment-save")
        .method("put")
        .hidden("revision", Own::revision(attachment))
        .cancel(list_of(place.id, place.parent));
    for section in members(visit, place, attachment, &problems).await? {
        form = form.section(section);
    }
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
    let head = below(visit, place.id, &place.home, name)
        .lede(visit.say("attachment-edit-lede"))
        .act(delete);
    visit.form_page(head, Html::join([form.html(), facts]), problems).await
}

pub(crate) async fn update(visit: &mut Visit) -> Result<Reply> {
    let own = Own::of_path(visit).await?;
    let (visit, place) = (&*visit, &own.place);
    let saved = visit
        .change(async |tx| {
            let before = find_for_update::<Attachment>(tx.attachments(), place.id, own.id).await?;
            let seen = visit.form.text("revision");
            if !seen.is_empty() && seen != Own::revision(&before) {
                return Err(Error::rejected(visit.say("problem-changed-meanwhile")));
            }
            let admin = place.admin(tx, visit);
            let change = admin.update(own.id, edit_of(visit, &before)).await?;
            let name = title(visit, &change.after, own.file.as_ref());
            if change.is_empty() {
                return Ok(name);
            }
            let record = record(visit, Action::AttachmentUpdated, place, own.id, &name);
            let record = changes(&change.before, &change.after)
                .into_iter()
                .fold(record, |record, (field, old, new)| record.changed(field, Some(&old), Some(&new)));
            tx.audit().append(&record, visit.now).await?;
            Ok(name)
        })
        .await;
    match saved {
        Ok(name) => {
            let notice = Notice::good(visit.tell("attachment-saved", &[("name", name.into())]));
            visit.redirect(list_of(place.id, place.parent), notice).await
        }
        Err(fault) => {
            let problems = refusal(visit, place, fault)?;
            show_edit(visit, &own, problems).await
        }
    }
}

/// What differs, for the audit trail.
fn changes(before: &Attachment, after: &Attachment) -> Vec<(&'static str, String, String)> {
    let collection = |of: &Attachment| of.collection.map(|id| id.to_string()).unwrap_or_default();
    let mut list = vec![
        ("title", line(&before.title), line(&after.title)),
        ("description", line(&before.description), line(&after.description)),
        ("weight", before.weight.to_string(), after.weight.to_string()),
        ("collection", collection(before), collection(after)),
    ];
    list.retain(|(_, old, new)| old != new);
    list
}

pub(crate) async fn ask(visit: &mut Visit) -> Result<Reply> {
    let own = Own::of_path(visit).await?;
    let (visit, place) = (&*visit, &own.place);
    let effect = match &own.file {
        Some(file) => visit.tell(
            "attachment-delete-file",
            &[("name", file.filename.as_str().into()), ("size", size(visit, file.byte_size).into())],
        ),
        None => visit.say("attachment-delete-link"),
    };
    let confirm = Confirm {
        words: &visit.words,
        action: own.path(),
        method: "delete",
        token: visit.token(),
        effects: vec![visit.say("attachment-delete-effect"), effect],
        stays: visit.tell("attachment-delete-stays", &[("name", place.name.as_str().into())]),
        name: String::new(),
        name_label: String::new(),
        button: visit.say("attachment-delete-button"),
        cancel: list_of(place.id, place.parent),
    };
    let name = own.title(visit);
    let title = visit.tell("delete-title", &[("name", name.as_str().into())]);
    let head = below(visit, place.id, &place.home, title)
        .crumb(name, format!("{}/edit", own.path()))
        .here(visit.say("delete"));
    visit.page(head, confirm.html(&[])).await
}

pub(crate) async fn delete(visit: &mut Visit) -> Result<Reply> {
    let own = Own::of_path(visit).await?;
    let (visit, place) = (&*visit, &own.place);
    let name = own.title(visit);
    visit
        .change(async |tx| {
            let attachment = place.admin(tx, visit).remove(own.id).await?;
            let field = if own.file.is_some() { "file" } else { "link" };
            let record = record(visit, Action::AttachmentDeleted, place, own.id, &name)
                .changed("attached_to", Some(&token(place.parent)), None)
                .changed(field, Some(&source(&attachment, own.file.as_ref())), None);
            tx.audit().append(&record, visit.now).await.map(drop)
        })
        .await?;
    let notice = Notice::good(visit.tell("attachment-deleted", &[("name", name.into())]));
    visit.redirect(list_of(place.id, place.parent), notice).await
}
