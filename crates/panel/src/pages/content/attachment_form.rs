//! The form of a new attachment, and the fields of all forms of attachments (contract 07 B.5).

use super::attachments::{
    file_name_or_link, list_path, list_subpage_head, parent_token, parse_parent, record_list_path,
    record_name, size_text, title,
};
use super::organization::open_organization;
use crate::admin_request::AdminRequest;
use crate::error;
use crate::parts::{Choice, Field, FormError, FormErrors, Section, TranslatedFields};
use crate::records::FormView;
use crate::reply::Reply;
use crate::translated::typed_texts;
use crate::upload::{FILE_FIELD, UploadedFile};
use civitas_application::Ports;
use civitas_attachments::{
    Attachment, AttachmentAdministration, AttachmentContent, AttachmentDetail, AttachmentEdit,
    AttachmentParent, AttachmentPorts, CollectionChoice, NewAttachment, ReceiveOutcome, SentText,
    sanitize_and_shorten,
};
use civitas_audit::{Action, NewAuditEntry};
use civitas_kernel::{AttachmentId, CollectionId, Error, FieldError, OrganizationId, Result, Translated};
use civitas_organizations::Organization;

const LINK_FIELD: &str = "attachment[link]";
const TITLE_FIELD: &str = "attachment[title]";
const DESCRIPTION_FIELD: &str = "attachment[description]";
const WEIGHT_FIELD: &str = "attachment[weight]";
const COLLECTION_FIELD: &str = "attachment[collection]";
/// The most collections that a form lists.
const MAX_COLLECTIONS: i64 = 100;

/// The record that an attachment belongs to, with the organization of the path.
pub(super) struct OpenedParent {
    pub(super) organization_id: OrganizationId,
    pub(super) organization: Organization,
    pub(super) parent: AttachmentParent,
    /// The name of the record.
    pub(super) name: String,
}

impl OpenedParent {
    pub(super) async fn load(
        req: &AdminRequest,
        id: OrganizationId,
        organization: Organization,
        parent: AttachmentParent,
    ) -> Result<Self> {
        let titles = req.store().parents().titles(id, &[parent]).await?;
        let title = titles.into_iter().next().map(|(_, title)| title);
        let title = title.ok_or(Error::NotFound)?;
        let name = record_name(req, &organization, parent, &title);
        Ok(Self { organization_id: id, organization, parent, name })
    }

    /// The record that the address or the form names; the organization without one.
    async fn from_request(req: &AdminRequest) -> Result<Self> {
        let (id, organization) = open_organization(req).await?;
        let named = req.form.get("parent").or_else(|| req.query.get("parent"));
        let parent = match named {
            Some(named) => parse_parent(named).ok_or(Error::NotFound)?,
            None => id.into(),
        };
        Self::load(req, id, organization, parent).await
    }

    /// The path of the list that shows its attachments.
    pub(super) fn list_path(&self) -> String {
        record_list_path(self.organization_id, self.parent)
    }

    pub(super) fn admin<'a>(&self, ports: &'a dyn Ports, req: &AdminRequest) -> AttachmentAdministration<'a> {
        let ports = AttachmentPorts {
            store: ports.attachments(),
            collections: ports.collections(),
            files: ports.files(),
            uploads: ports.uploads(),
            parents: ports.parents(),
        };
        let default_locale = self.organization.default_locale;
        AttachmentAdministration { ports, organization: self.organization_id, default_locale, now: req.now }
    }
}

/// The entry of the audit trail of an attachment.
pub(super) fn audit_entry(
    req: &AdminRequest,
    action: Action,
    record: &OpenedParent,
    id: AttachmentId,
    name: &str,
) -> NewAuditEntry {
    req.audit_entry(action).in_organization(record.organization_id).with_object(
        "attachment",
        &id.to_string(),
        name,
    )
}

/// The fields of texts, weight and collection. `stored` is what they show when nothing was typed.
pub(super) async fn member_sections(
    req: &AdminRequest,
    record: &OpenedParent,
    stored: &Attachment,
    problems: &[FormError],
) -> Result<Vec<Section>> {
    let (translator, locales) = (&req.translator, &req.panel.settings.site.locales);
    let title = typed_texts(req, TITLE_FIELD, locales, &stored.title);
    let description = typed_texts(req, DESCRIPTION_FIELD, locales, &stored.description);
    let texts = TranslatedFields::new("texts", req.tr("texts"), locales, record.organization.default_locale)
        .text(TITLE_FIELD, req.tr("column-title"), "", &title, 1)
        .text(DESCRIPTION_FIELD, req.tr("description"), "", &description, 3);
    let view = FormView {
        req,
        organization: &record.organization,
        name: "attachment",
        locales,
        problems,
        is_new: false,
    };
    let weight = view.number("weight", "attachment-weight", stored.weight);
    let weight = weight.hint(req.tr("attachment-weight-hint"));
    let mut order = view.section("order", "attachment-order").field(view.html(weight));
    if record.parent.kind.has_collections() {
        let collections = req.store().collections();
        let known =
            collections.list_of_parent(record.organization_id, record.parent, MAX_COLLECTIONS).await?;
        if !known.is_empty() {
            let chosen = stored.collection.map(|id| id.to_string()).unwrap_or_default();
            let chosen = req.form.get(COLLECTION_FIELD).map_or(chosen, str::to_owned);
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
pub(super) fn read_edit(req: &AdminRequest, stored: &Attachment) -> AttachmentEdit {
    let locales = &req.panel.settings.site.locales;
    let text = |name: &str, stored: &Translated| {
        let is_sent = req.form.has_prefix(&format!("{name}["));
        is_sent.then(|| SentText::Each(typed_texts(req, name, locales, stored)))
    };
    let mut edit = AttachmentEdit {
        title: text(TITLE_FIELD, &stored.title),
        description: text(DESCRIPTION_FIELD, &stored.description),
        ..AttachmentEdit::default()
    };
    match req.form.get(WEIGHT_FIELD).map(str::trim) {
        None => {}
        Some("") => edit.weight = Some(0),
        Some(weight) => match weight.parse() {
            Ok(weight) => edit.weight = Some(weight),
            Err(_) => edit.errors.push(FieldError::new("weight", "not_a_number", "Weight is not a number")),
        },
    }
    if let Some(sent) = req.form.get(COLLECTION_FIELD) {
        // An unknown one is refused as one of another record is.
        let id = (!sent.is_empty()).then(|| CollectionId(sent.parse().unwrap_or_default()));
        edit.collection = Some(CollectionChoice { id });
    }
    edit
}

/// The problems of a refused attachment, beside their fields.
pub(super) fn form_errors(req: &AdminRequest, record: &OpenedParent, error: Error) -> Result<FormErrors> {
    let main = record.organization.default_locale;
    let field = |field_error: &FieldError| match field_error.field.as_ref() {
        "file" | "signed_id" => FILE_FIELD.to_owned(),
        "link" => LINK_FIELD.to_owned(),
        "title" => format!("{TITLE_FIELD}[{main}]"),
        "description" => format!("{DESCRIPTION_FIELD}[{main}]"),
        "weight" => WEIGHT_FIELD.to_owned(),
        _ => COLLECTION_FIELD.to_owned(),
    };
    let text = |field_error: &FieldError| {
        Some(match (field_error.field.as_ref(), field_error.code.as_ref()) {
            ("file", "blank") => req.tr("problem-file-blank"),
            ("file", "too_large") => {
                let most = size_text(req, record.organization.max_attachment_bytes);
                req.tr_with("problem-file-large", "size", most)
            }
            ("file", "extension_not_allowed") => {
                let names = record.parent.kind.allow_list().extensions().join(", ");
                req.tr_with("problem-file-extension", "names", names)
            }
            ("file", "image_too_big") => req.tr("problem-file-image"),
            ("file", _) => req.tr("problem-file-content"),
            ("link", "invalid") => req.tr("problem-link"),
            (_, "not_a_number") => req.tr("problem-number"),
            _ => return None,
        })
    };
    error::form_errors_with_texts(&req.translator, error, field, text)
}

pub(crate) async fn new(req: &AdminRequest) -> Result<Reply> {
    let record = OpenedParent::from_request(req).await?;
    new_page(req, &record, Vec::new()).await
}

async fn new_page(req: &AdminRequest, record: &OpenedParent, problems: FormErrors) -> Result<Reply> {
    let translator = &req.translator;
    let names = record.parent.kind.allow_list().extensions().join(", ");
    let most = size_text(req, record.organization.max_attachment_bytes);
    let file = Field::file(FILE_FIELD, req.tr("attachment-file"))
        .hint(req.tr_args("attachment-file-hint", &[("size", most.into()), ("names", names.into())]))
        .check(&problems);
    let link =
        Field::url(LINK_FIELD, req.tr("attachment-link"), req.form.get(LINK_FIELD).unwrap_or_default())
            .hint(req.tr("attachment-link-hint"))
            .optional()
            .check(&problems);
    let blank = Attachment::from_link(record.parent, None, req.now);
    let source = Section::new("source", req.tr("attachment-source"))
        .hint(req.tr("attachment-source-hint"))
        .field(file.html(translator))
        .field(link.html(translator));
    let form = req
        .build_form(list_path(record.organization_id), "attachment-create")
        .with_file()
        .hidden("parent", parent_token(record.parent))
        .section(source)
        .cancel(record.list_path());
    let form = form.sections(member_sections(req, record, &blank, &problems).await?);
    let title = req.tr_with("attachment-new-of", "name", record.name.as_str());
    let head = list_subpage_head(req, record.organization_id, &record.organization, title)
        .current(req.tr("attachment-new"));
    req.form_page(head, form.html(), problems).await
}

pub(crate) async fn create(req: &AdminRequest) -> Result<Reply> {
    let file = req.file.take();
    let record = OpenedParent::from_request(req).await?;
    let edit = read_edit(req, &Attachment::from_link(record.parent, None, req.now));
    let (link, has_file) = (req.form.text(LINK_FIELD), file.is_some());
    if has_file && !link.is_empty() {
        let problem = FormError::new(LINK_FIELD, req.tr("problem-file-and-link"));
        return new_page(req, &record, vec![problem]).await;
    }
    let content =
        if link.is_empty() { AttachmentContent::Missing } else { AttachmentContent::Link(link.to_owned()) };
    let new = NewAttachment { parent: record.parent, content, edit };
    let created = match file {
        Some(file) => create_file(req, &record, new, file).await,
        None => attach(req, &record, new).await,
    };
    match created {
        Ok(name) => {
            let to = record.list_path();
            req.redirect_done("attachment-created", &[("name", name.into())], to).await
        }
        Err(error) => {
            let mut problems = form_errors(req, &record, error)?;
            if has_file && !problems.iter().any(|problem| problem.field == FILE_FIELD) {
                problems.push(FormError::new(FILE_FIELD, req.tr("problem-file-again")));
            }
            new_page(req, &record, problems).await
        }
    }
}

/// Stores the bytes of a file, and attaches it. A refused file is discarded.
async fn create_file(
    req: &AdminRequest,
    record: &OpenedParent,
    new: NewAttachment,
    UploadedFile { name, outcome }: UploadedFile,
) -> Result<String> {
    let received = match outcome {
        ReceiveOutcome::TooLong => {
            let content = AttachmentContent::TooLarge { limit: record.organization.max_attachment_bytes };
            return attach(req, record, NewAttachment { content, ..new }).await;
        }
        ReceiveOutcome::Complete(received) if received.content.byte_size == 0 => {
            return attach(req, record, new).await;
        }
        ReceiveOutcome::Complete(received) => received,
    };
    let files = &req.panel.services.files;
    let inspected = files.inspect(received).await?;
    let (name, prefix) = (sanitize_and_shorten(&name), &record.organization.reference_prefix);
    let registered = files.register(record.organization_id, prefix, name, inspected, req.now).await?;
    let id = registered.id;
    let attached = async {
        let new = NewAttachment { content: AttachmentContent::Stored(id), ..new };
        record.admin(req.store(), req).check(new.clone()).await?;
        files.put(registered).await?;
        attach(req, record, new).await
    };
    let attached = attached.await;
    if attached.is_err() {
        files.discard(record.organization_id, id, req.now).await;
    }
    attached
}

/// Attaches it, with an entry in the audit trail. Returns its title.
async fn attach(req: &AdminRequest, record: &OpenedParent, new: NewAttachment) -> Result<String> {
    let created = req.change_with_audit(
        async |tx| record.admin(tx, req).attach(new.clone()).await,
        |created| {
            let (attachment, file) = (&created.attachment, created.file.as_ref());
            let field = if file.is_some() { "file" } else { "link" };
            let name = title(req, attachment, file);
            let entry = audit_entry(req, Action::AttachmentCreated, record, created.id, &name)
                .with_change("attached_to", None, Some(&parent_token(record.parent)))
                .with_change(field, None, Some(&file_name_or_link(attachment, file)));
            Some(entry)
        },
    );
    let AttachmentDetail { attachment, file, .. } = created.await?;
    Ok(title(req, &attachment, file.as_ref()))
}
