//! The form of a new attachment, and the fields of all forms of attachments (contract 07 B.5).

use super::attachments::{
    file_name_or_link, head_below_list, list_of, list_path, parent_of, parent_token, record_name, size_text,
    title,
};
use super::shared::{open_organization_in_zone, typed_texts};
use crate::admin_request::AdminRequest;
use crate::error;
use crate::parts::{Choice, Field, Form, FormError, FormErrors, Section, Texts};
use crate::records::FormView;
use crate::reply::Reply;
use crate::upload::{FILE, SentFile};
use civitas_application::Ports;
use civitas_attachments::{
    Attachment, AttachmentAdmin, AttachmentEdit, AttachmentPorts, Grouping, NewAttachment, NewContent,
    Parent, ReceiveOutcome, SentText, sanitize_and_shorten,
};
use civitas_audit::{Action, NewAuditEntry};
use civitas_kernel::{AttachmentId, CollectionId, Error, FieldError, OrganizationId, Result, Translated};
use civitas_organizations::Organization;

const LINK: &str = "attachment[link]";
const TITLE: &str = "attachment[title]";
const DESCRIPTION: &str = "attachment[description]";
const WEIGHT: &str = "attachment[weight]";
const COLLECTION: &str = "attachment[collection]";
/// The most collections that a form lists.
const MAX_COLLECTIONS: i64 = 100;

/// The organization of the path, and the record of the form.
pub(super) struct AttachedTo {
    pub(super) id: OrganizationId,
    pub(super) organization: Organization,
    pub(super) parent: Parent,
    /// The name of the record.
    pub(super) name: String,
}

impl AttachedTo {
    pub(super) async fn of(
        req: &AdminRequest,
        id: OrganizationId,
        organization: Organization,
        parent: Parent,
    ) -> Result<Self> {
        let titles = req.panel.store().parents().titles(id, &[parent]).await?;
        let title = titles.into_iter().next().map(|(_, title)| title);
        let title = title.ok_or(Error::NotFound)?;
        let name = record_name(req, &organization, parent, &title);
        Ok(Self { id, organization, parent, name })
    }

    /// The record that the address or the form names; the organization without one.
    async fn of_new(req: &AdminRequest) -> Result<Self> {
        let (id, organization) = open_organization_in_zone(req).await?;
        let named = req.form.get("parent").or_else(|| req.query.get("parent"));
        let parent = match named {
            Some(named) => parent_of(named).ok_or(Error::NotFound)?,
            None => id.into(),
        };
        Self::of(req, id, organization, parent).await
    }

    pub(super) fn admin<'a>(&self, ports: &'a dyn Ports, req: &AdminRequest) -> AttachmentAdmin<'a> {
        let ports = AttachmentPorts {
            store: ports.attachments(),
            collections: ports.collections(),
            files: ports.files(),
            uploads: ports.uploads(),
            parents: ports.parents(),
        };
        let default_locale = self.organization.default_locale;
        AttachmentAdmin { ports, organization: self.id, default_locale, now: req.now }
    }
}

/// The entry of the audit trail of an attachment.
pub(super) fn audit_entry(
    req: &AdminRequest,
    action: Action,
    to: &AttachedTo,
    id: AttachmentId,
    name: &str,
) -> NewAuditEntry {
    req.audit_entry(action).of(Some(to.id)).on("attachment", &id.to_string(), name)
}

/// The fields of texts, weight and collection. `stored` is what they show when nothing was typed.
pub(super) async fn members(
    req: &AdminRequest,
    place: &AttachedTo,
    stored: &Attachment,
    problems: &[FormError],
) -> Result<Vec<Section>> {
    let (translator, locales) = (&req.translator, &req.panel.settings.site.locales);
    let title = typed_texts(req, TITLE, locales, &stored.title);
    let description = typed_texts(req, DESCRIPTION, locales, &stored.description);
    let texts = Texts::new("texts", req.tr("texts"), locales, place.organization.default_locale)
        .text(TITLE, req.tr("column-title"), "", &title, 1)
        .text(DESCRIPTION, req.tr("description"), "", &description, 3);
    let view = FormView {
        req,
        organization: &place.organization,
        name: "attachment",
        locales,
        problems,
        is_new: false,
    };
    let weight = view.number("weight", "attachment-weight", stored.weight);
    let weight = weight.hint(req.tr("attachment-weight-hint"));
    let mut order = view.section("order", "attachment-order").field(view.html(weight));
    if place.parent.kind.has_collections() {
        let collections = req.panel.store().collections();
        let known = collections.of_parent(place.id, place.parent, MAX_COLLECTIONS).await?;
        if !known.is_empty() {
            let chosen = stored.collection.map(|id| id.to_string()).unwrap_or_default();
            let chosen = req.form.get(COLLECTION).map_or(chosen, str::to_owned);
            let named = known.iter().map(|(id, collection)| {
                let name = collection.name.title(translator.locale).unwrap_or_default();
                Choice::new(id.to_string(), format!("{name} ({id})"))
            });
            let choices = std::iter::once(Choice::new("", req.tr("none"))).chain(named).collect();
            let field = view.select("collection", "attachment-collection", &chosen, choices);
            order = order.field(view.html(field));
        }
    }
    let texts = view.section("attachment", "texts").field(texts.html(translator, problems));
    Ok(vec![texts, order])
}

/// What was typed. Members that were not sent stay as they are.
pub(super) fn edit_of(req: &AdminRequest, stored: &Attachment) -> AttachmentEdit {
    let locales = &req.panel.settings.site.locales;
    let text = |name: &str, stored: &Translated| {
        let is_sent = req.form.has_prefix(&format!("{name}["));
        is_sent.then(|| SentText::Each(typed_texts(req, name, locales, stored)))
    };
    let mut edit = AttachmentEdit {
        title: text(TITLE, &stored.title),
        description: text(DESCRIPTION, &stored.description),
        ..AttachmentEdit::default()
    };
    match req.form.get(WEIGHT).map(str::trim) {
        None => {}
        Some("") => edit.weight = Some(0),
        Some(weight) => match weight.parse() {
            Ok(weight) => edit.weight = Some(weight),
            Err(_) => edit.errors.push(FieldError::new("weight", "not_a_number", "Weight is not a number")),
        },
    }
    if let Some(sent) = req.form.get(COLLECTION) {
        // An unknown one is refused as one of another record is.
        let id = (!sent.is_empty()).then(|| CollectionId(sent.parse().unwrap_or_default()));
        edit.collection = Some(Grouping { id });
    }
    edit
}

/// The problems of a refused attachment, beside their fields.
pub(super) fn form_errors(req: &AdminRequest, place: &AttachedTo, error: Error) -> Result<FormErrors> {
    if error.details().is_empty() {
        return error::form_errors(&req.translator, error, |_| String::new());
    }
    let main = place.organization.default_locale;
    let problem = |field_error: &FieldError| {
        let field = match field_error.field.as_ref() {
            "file" | "signed_id" => FILE.to_owned(),
            "link" => LINK.to_owned(),
            "title" => format!("{TITLE}[{main}]"),
            "description" => format!("{DESCRIPTION}[{main}]"),
            "weight" => WEIGHT.to_owned(),
            "revision" => String::new(),
            _ => COLLECTION.to_owned(),
        };
        let text = match (field_error.field.as_ref(), field_error.code.as_ref()) {
            ("file", "blank") => req.tr("problem-file-blank"),
            ("file", "too_large") => {
                let most = size_text(req, place.organization.max_attachment_bytes);
                req.tr_with("problem-file-large", "size", most)
            }
            ("file", "extension_not_allowed") => {
                let names = place.parent.kind.allow_list().extensions().join(", ");
                req.tr_with("problem-file-extension", "names", names)
            }
            ("file", "image_too_big") => req.tr("problem-file-image"),
            ("file", _) => req.tr("problem-file-content"),
            ("link", "invalid") => req.tr("problem-link"),
            (_, "not_a_number") => req.tr("problem-number"),
            _ => error::sentence(&req.translator, field_error),
        };
        FormError::new(field, text)
    };
    Ok(error.details().iter().map(problem).collect())
}

pub(crate) async fn new(req: &AdminRequest) -> Result<Reply> {
    let place = AttachedTo::of_new(req).await?;
    show_new(req, &place, Vec::new()).await
}

async fn show_new(req: &AdminRequest, place: &AttachedTo, problems: FormErrors) -> Result<Reply> {
    let translator = &req.translator;
    let names = place.parent.kind.allow_list().extensions().join(", ");
    let most = size_text(req, place.organization.max_attachment_bytes);
    let file = Field::file(FILE, req.tr("attachment-file"))
        .hint(req.tr_args("attachment-file-hint", &[("size", most.into()), ("names", names.into())]))
        .check(&problems);
    let link = Field::url(LINK, req.tr("attachment-link"), req.form.get(LINK).unwrap_or_default())
        .hint(req.tr("attachment-link-hint"))
        .optional()
        .check(&problems);
    let blank = Attachment::of_link(place.parent, None, req.now);
    let source = Section::new("source", req.tr("attachment-source"))
        .hint(req.tr("attachment-source-hint"))
        .field(file.html(translator))
        .field(link.html(translator));
    let form = Form::new(translator, list_path(place.id), req.token(), "attachment-create")
        .with_file()
        .hidden("parent", parent_token(place.parent))
        .section(source)
        .cancel(list_of(place.id, place.parent));
    let form = members(req, place, &blank, &problems).await?.into_iter().fold(form, Form::section);
    let title = req.tr_with("attachment-new-of", "name", place.name.as_str());
    let head = head_below_list(req, place.id, &place.organization, title).current(req.tr("attachment-new"));
    req.form_page(head, form.html(), problems).await
}

pub(crate) async fn create(req: &AdminRequest) -> Result<Reply> {
    let file = req.file.take();
    let place = AttachedTo::of_new(req).await?;
    let edit = edit_of(req, &Attachment::of_link(place.parent, None, req.now));
    let (link, has_file) = (req.form.text(LINK), file.is_some());
    if has_file && !link.is_empty() {
        let problem = FormError::new(LINK, req.tr("problem-file-and-link"));
        return show_new(req, &place, vec![problem]).await;
    }
    let content = if link.is_empty() { NewContent::Missing } else { NewContent::Link(link.to_owned()) };
    let new = NewAttachment { parent: place.parent, content, edit };
    let created = match file {
        Some(file) => create_file(req, &place, new, file).await,
        None => store(req, &place, new).await,
    };
    match created {
        Ok(name) => {
            let to = list_of(place.id, place.parent);
            req.done("attachment-created", &[("name", name.into())], to).await
        }
        Err(error) => {
            let mut problems = form_errors(req, &place, error)?;
            if has_file && !problems.iter().any(|problem| problem.field == FILE) {
                problems.push(FormError::new(FILE, req.tr("problem-file-again")));
            }
            show_new(req, &place, problems).await
        }
    }
}

/// Stores the bytes of a file, and attaches it. A file that is refused is given up.
async fn create_file(
    req: &AdminRequest,
    place: &AttachedTo,
    new: NewAttachment,
    SentFile { name, outcome }: SentFile,
) -> Result<String> {
    let received = match outcome {
        ReceiveOutcome::TooLong => {
            let content = NewContent::TooLarge { limit: place.organization.max_attachment_bytes };
            return store(req, place, NewAttachment { content, ..new }).await;
        }
        ReceiveOutcome::Complete(received) if received.content.byte_size == 0 => {
            return store(req, place, new).await;
        }
        ReceiveOutcome::Complete(received) => received,
    };
    let files = &req.panel.services.files;
    let inspected = files.inspect(received).await?;
    let (name, prefix) = (sanitize_and_shorten(&name), &place.organization.reference_prefix);
    let registered = files.register(place.id, prefix, name, inspected, req.now).await?;
    let id = registered.id;
    let attached = async {
        let new = NewAttachment { content: NewContent::Stored(id), ..new };
        place.admin(req.panel.store(), req).check(new.clone()).await?;
        files.put(registered).await?;
        store(req, place, new).await
    };
    let attached = attached.await;
    if attached.is_err() {
        files.discard(place.id, id, req.now).await;
    }
    attached
}

/// Attaches it, with an entry in the audit trail. Returns its title.
async fn store(req: &AdminRequest, place: &AttachedTo, new: NewAttachment) -> Result<String> {
    req.change(async |tx| {
        let created = place.admin(tx, req).attach(new.clone()).await?;
        let (attachment, file) = (&created.attachment, created.file.as_ref());
        let name = title(req, attachment, file);
        let field = if file.is_some() { "file" } else { "link" };
        let entry = audit_entry(req, Action::AttachmentCreated, place, created.id, &name)
            .changed("attached_to", None, Some(&parent_token(place.parent)))
            .changed(field, None, Some(&file_name_or_link(attachment, file)));
        req.append_audit_entry(tx, &entry).await?;
        Ok(name)
    })
    .await
}
