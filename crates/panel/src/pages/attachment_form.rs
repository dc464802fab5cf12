//! The form of a new attachment, and the fields of all forms of attachments (contract 07 B.5).

use super::attachments::{below, list_of, list_path, parent_of, record_name, size, source, title, token};
use super::content::{in_its_zone, typed};
use crate::error;
use crate::parts::{Choice, Field, Form, Problem, Section, Texts};
use crate::records::FormView;
use crate::reply::Reply;
use crate::upload::{FILE, SentFile};
use crate::visit::Visit;
use civitas_application::Ports;
use civitas_attachments::{
    Attachment, AttachmentAdmin, AttachmentEdit, AttachmentPorts, Grouping, NewAttachment, NewContent,
    Parent, ReceiveOutcome, SentText, sanitize_and_shorten,
};
use civitas_audit::{Action, Record};
use civitas_kernel::{AttachmentId, CollectionId, Error, FieldError, OrganizationId, Result, Translated};
use civitas_organizations::Organization;

const LINK: &str = "attachment[link]";
const TITLE: &str = "attachment[title]";
const DESCRIPTION: &str = "attachment[description]";
const WEIGHT: &str = "attachment[weight]";
const COLLECTION: &str = "attachment[collection]";
/// The most collections that a form lists.
const MOST_COLLECTIONS: i64 = 100;

/// The organization of the path, and the record of the form.
pub(super) struct AttachedTo {
    pub(super) id: OrganizationId,
    pub(super) home: Organization,
    pub(super) parent: Parent,
    /// The name of the record.
    pub(super) name: String,
}

impl AttachedTo {
    pub(super) async fn of(
        visit: &Visit,
        id: OrganizationId,
        home: Organization,
        parent: Parent,
    ) -> Result<Self> {
        let titles = visit.panel.store().parents().titles(id, &[parent]).await?;
        let title = titles.into_iter().next().map(|(_, title)| title);
        let title = title.ok_or(Error::NotFound)?;
        let name = record_name(visit, &home, parent, &title);
        Ok(Self { id, home, parent, name })
    }

    /// The record that the address or the form names; the organization without one.
    async fn of_new(visit: &mut Visit) -> Result<Self> {
        let (id, home) = in_its_zone(visit).await?;
        let named = visit.form.get("parent").or_else(|| visit.query.get("parent"));
        let parent = match named {
            Some(named) => parent_of(named).ok_or(Error::NotFound)?,
            None => id.into(),
        };
        Self::of(visit, id, home, parent).await
    }

    pub(super) fn admin<'a>(&self, ports: &'a dyn Ports, visit: &Visit) -> AttachmentAdmin<'a> {
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

/// The entry of the audit trail of an attachment.
pub(super) fn record(visit: &Visit, action: Action, to: &AttachedTo, id: AttachmentId, name: &str) -> Record {
    visit.record(action).of(Some(to.id)).on("attachment", &id.to_string(), name)
}

/// The fields of texts, weight and collection. `stored` is what they show when nothing was typed.
pub(super) async fn members(
    visit: &Visit,
    place: &AttachedTo,
    stored: &Attachment,
    problems: &[Problem],
) -> Result<Vec<Section>> {
    let (words, locales) = (&visit.words, &visit.panel.settings.site.locales);
    let title = typed(visit, TITLE, locales, &stored.title);
    let description = typed(visit, DESCRIPTION, locales, &stored.description);
    let texts = Texts::new("texts", visit.say("texts"), locales, place.home.default_locale)
        .text(TITLE, visit.say("column-title"), "", &title, 1)
        .text(DESCRIPTION, visit.say("description"), "", &description, 3);
    let view = FormView { visit, home: &place.home, name: "attachment", locales, problems, is_new: false };
    let weight = view.number("weight", "attachment-weight", stored.weight);
    let weight = weight.hint(visit.say("attachment-weight-hint"));
    let mut order = view.section("order", "attachment-order").field(view.html(weight));
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
            let field = view.select("collection", "attachment-collection", &chosen, choices);
            order = order.field(view.html(field));
        }
    }
    let texts = view.section("attachment", "texts").field(texts.html(words, problems));
    Ok(vec![texts, order])
}

/// What was typed. Members that were not sent stay as they are.
pub(super) fn edit_of(visit: &Visit, stored: &Attachment) -> AttachmentEdit {
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
    match visit.form.get(WEIGHT).map(str::trim) {
        None => {}
        Some("") => edit.weight = Some(0),
        Some(weight) => match weight.parse() {
            Ok(weight) => edit.weight = Some(weight),
            Err(_) => edit.errors.push(FieldError::new("weight", "not_a_number", "Weight is not a number")),
        },
    }
    if let Some(sent) = visit.form.get(COLLECTION) {
        // An unknown one is refused as one of another record is.
        let id = (!sent.is_empty()).then(|| CollectionId(sent.parse().unwrap_or_default()));
        edit.collection = Some(Grouping { id });
    }
    edit
}

/// The problems of a refused attachment, beside their fields.
pub(super) fn refusal(visit: &Visit, place: &AttachedTo, fault: Error) -> Result<Vec<Problem>> {
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
            "revision" => String::new(),
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
            (_, "not_a_number") => visit.say("problem-number"),
            _ => error::sentence(&visit.words, fault),
        };
        Problem::new(field, text)
    };
    Ok(fault.details().iter().map(problem).collect())
}

pub(crate) async fn new(visit: &mut Visit) -> Result<Reply> {
    let place = AttachedTo::of_new(visit).await?;
    show_new(visit, &place, Vec::new()).await
}

async fn show_new(visit: &Visit, place: &AttachedTo, problems: Vec<Problem>) -> Result<Reply> {
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
    let form = Form::new(words, list_path(place.id), visit.token(), "attachment-create")
        .with_file()
        .hidden("parent", token(place.parent))
        .section(source)
        .cancel(list_of(place.id, place.parent));
    let form = members(visit, place, &blank, &problems).await?.into_iter().fold(form, Form::section);
    let title = visit.tell("attachment-new-of", &[("name", place.name.as_str().into())]);
    let head = below(visit, place.id, &place.home, title).here(visit.say("attachment-new"));
    visit.form_page(head, form.html(), problems).await
}

pub(crate) async fn create(visit: &mut Visit) -> Result<Reply> {
    let file = visit.file.take();
    let place = AttachedTo::of_new(visit).await?;
    let visit = &*visit;
    let edit = edit_of(visit, &Attachment::of_link(place.parent, None, visit.now));
    let (link, has_file) = (visit.form.text(LINK), file.is_some());
    if has_file && !link.is_empty() {
        let problem = Problem::new(LINK, visit.say("problem-file-and-link"));
        return show_new(visit, &place, vec![problem]).await;
    }
    let content = if link.is_empty() { NewContent::Missing } else { NewContent::Link(link.to_owned()) };
    let new = NewAttachment { parent: place.parent, content, edit };
    let created = match file {
        Some(file) => create_file(visit, &place, new, file).await,
        None => store(visit, &place, new).await,
    };
    match created {
        Ok(name) => {
            let to = list_of(place.id, place.parent);
            visit.done("attachment-created", &[("name", name.into())], to).await
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
    place: &AttachedTo,
    new: NewAttachment,
    SentFile { name, outcome }: SentFile,
) -> Result<String> {
    let received = match outcome {
        ReceiveOutcome::TooLong => {
            let content = NewContent::TooLarge { limit: place.home.max_attachment_bytes };
            return store(visit, place, NewAttachment { content, ..new }).await;
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
async fn store(visit: &Visit, place: &AttachedTo, new: NewAttachment) -> Result<String> {
    visit
        .change(async |tx| {
            let created = place.admin(tx, visit).attach(new.clone()).await?;
            let (attachment, file) = (&created.attachment, created.file.as_ref());
            let name = title(visit, attachment, file);
            let field = if file.is_some() { "file" } else { "link" };
            let entry = record(visit, Action::AttachmentCreated, place, created.id, &name)
                .changed("attached_to", None, Some(&token(place.parent)))
                .changed(field, None, Some(&source(attachment, file)));
            visit.append(tx, &entry).await?;
            Ok(name)
        })
        .await
}
