//! `/attachments` (contract 07 part B).

mod body;

use self::body::{attachment_members, edit, new_attachment, update_members};
use crate::answers;
use crate::document::{MEDIA_TYPE, OperationDoc, ParameterType};
use crate::error::ApiError;
use crate::links::{base, origin};
use crate::reply::{Document, Reply};
use crate::request::Request;
use crate::route::{
    Handler, HandlerResult, RequiredAccess, Routes, UnreadBodies, WriteOperations, WriteRoute, delete,
};
use crate::served_files::address_of;
use crate::shapes::{AttachmentType, CreationDate, EditionDate, TranslatedProp};
use crate::typed_body::{NoBody, RawBody};
use crate::unread_body::{UnreadBody, UploadForm};
use actix_web::http::header::{CONTENT_TYPE, HeaderMap};
use actix_web::http::{Method, StatusCode};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use civitas_application::{NewFile, Ports, RenderContext, SharedResource};
use civitas_attachments::{
    ATTACHMENT_FIELDS, AttachFile, AttachmentDetail, AttachmentPorts, AttachmentSource, Attachments,
    DestroyAttachment, READ_ATTACHMENTS, ReceiveOutcome, ReceivedBody, StageUpload, StagedUpload,
    UpdateAttachment, UploadHeaders, UploadRequest, UploadWrites, sanitize_and_shorten, wrong_length_error,
};
use civitas_kernel::{AnswerLanguages, AttachmentId, Error, Result};
use civitas_organizations::Tenant;
use serde::Serialize;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

/// The lists whose removals change `Last-Modified` of a list of attachments.
const LISTS: &[&str] = &["attachments", "proposals", "meetings", "posts", "components", "spaces", "roles"];
/// The pattern of an MD5 in base64, which has 16 bytes and padding.
const CHECKSUM: &str = "^[A-Za-z0-9+/]{21}[AQgw]==$";

/// A file or a link attached to a record.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = attachment)]
pub(crate) struct AttachmentView {
    id: String,
    r#type: AttachmentType,
    attributes: AttachmentAttributes,
}

/// The content of an attachment.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = attachment_attributes)]
struct AttachmentAttributes {
    title: TranslatedProp,
    description: TranslatedProp,
    /// Lists are sorted by it, ascending.
    weight: i64,
    #[schema(required)]
    attachment_collection_id: Option<i64>,
    /// `image`, `document` or `link`.
    file_type: &'static str,
    /// The media type that was detected in the bytes.
    #[schema(required)]
    content_type: Option<String>,
    /// The address of the file, or the link itself.
    #[schema(required)]
    url: Option<String>,
    /// The address of a smaller copy; only images have one.
    #[schema(required)]
    thumbnail_url: Option<String>,
    attached_to: AttachedTo,
    created_at: CreationDate,
    updated_at: EditionDate,
}

/// The record of an attachment.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = attachment_attached_to)]
struct AttachedTo {
    /// Its class name.
    r#type: std::borrow::Cow<'static, str>,
    id: i64,
}

/// An announced upload.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = attachment_direct_upload_response)]
struct UploadView {
    /// The right to send the bytes to `{base}/attachments/direct_upload/{signed_id}`, and to attach the file once.
    signed_id: String,
    filename: String,
    content_type: String,
    byte_size: i64,
}

pub(crate) fn routes(routes: &mut Routes) {
    let list = OperationDoc::page::<AttachmentView>("Lists the attachments")
        .with_list_parameters()
        .with_filters(ATTACHMENT_FIELDS);
    routes.read("listAttachments", "/attachments", READ_ATTACHMENTS, list.at_replicas(), index);
    let show = OperationDoc::item::<AttachmentView>("Shows an attachment");
    routes.read("showAttachment", "/attachments/{id}", READ_ATTACHMENTS, show.at_replicas(), show_one);
    let create = OperationDoc::item::<AttachmentView>("Attaches a file to a record")
        .with_status_created()
        .with_failure(404)
        .with_failure(413);
    routes.write_form::<AttachFile, _>(
        "createAttachment",
        "/attachments",
        create.with_named_body("attachment_create_body"),
        (|ports, _| Box::new(attachment_ports(ports)), result),
        attach,
    );
    upload_routes(routes);
    for (ids, method) in [(["updateAttachment", ""], Method::PUT), (["", ""], Method::PATCH)] {
        routes.write_without_job(&WriteRoute {
            operations: WriteOperations { ids, method, path: "/attachments/{id}" },
            read: |request, _: RawBody<'_, NoBody>| {
                let id = AttachmentId(request.id()?);
                Ok(UpdateAttachment { id, edit: edit(request, update_members(&request.body, id)?) })
            },
            use_case: |ports, _| Box::new(attachment_ports(ports)),
            view: result,
            doc: OperationDoc::item::<AttachmentView>("Changes the members of an attachment")
                .with_named_body("attachment_update_body"),
        });
    }
    routes.write_without_job(&WriteRoute {
        operations: delete(["deleteAttachment", ""], "/attachments/{id}"),
        read: |request, _: RawBody<'_, NoBody>| Ok(DestroyAttachment { id: AttachmentId(request.id()?) }),
        use_case: |ports, _| Box::new(attachment_ports(ports)),
        view: |_, ()| Value::Null,
        doc: OperationDoc::without_json("Deletes an attachment and its file", StatusCode::NO_CONTENT),
    });
}

/// Uploads in two steps: announced, then sent.
fn upload_routes(routes: &mut Routes) {
    let staging = OperationDoc::without_envelope::<UploadView>("Announces an upload")
        .with_status_created()
        .with_location();
    let staging = staging
        .with_note("`filename`, `byte_size` and `checksum` are required, in the body or in the query.");
    let staging = staging
        .with_parameter("filename", ParameterType::Filled)
        .with_parameter("byte_size", ParameterType::Length);
    let staging = staging
        .with_parameter("checksum", ParameterType::Pattern(CHECKSUM))
        .with_parameter("content_type", ParameterType::Pattern(MEDIA_TYPE));
    routes.write_form::<StageUpload, _>(
        "attachmentsDirectUpload",
        "/attachments/direct_upload",
        staging.with_named_body("attachment_direct_upload_body").with_optional_body(),
        (|ports, _| Box::new(uploads(ports)), |_, staged| json!(staged_view(staged))),
        stage,
    );
    let upload = OperationDoc::without_json("Receives the bytes of an upload", StatusCode::NO_CONTENT)
        .with_failure(404)
        .with_failure(413);
    routes.add_with_handler(
        "uploadAttachmentBytes",
        Method::PUT,
        "/attachments/direct_upload/{signed_id}",
        RequiredAccess::Open,
        upload.with_failure(422).with_note("The signed id gives the right; a token is ignored."),
        Handler::reading(UnreadBodies::All, receive),
    );
}

fn attachment_ports(ports: &dyn Ports) -> AttachmentPorts<'_> {
    AttachmentPorts {
        store: ports.attachments(),
        collections: ports.collections(),
        files: ports.files(),
        uploads: ports.uploads(),
        parents: ports.parents(),
    }
}

fn uploads(ports: &dyn Ports) -> UploadWrites<'_> {
    UploadWrites { uploads: ports.uploads(), files: ports.files() }
}

async fn index(request: Request) -> HandlerResult {
    let context = request.render_context()?;
    let attachments = Attachments { store: request.ports().attachments() };
    let page = attachments.list(context.ctx, &request.filter()?, request.page()?).await?;
    let changed_at = |found: &AttachmentDetail| found.attachment.updated_at;
    answers::page_reply(&request, LISTS, page, false, changed_at, |found| view(&context, found)).await
}

async fn show_one(request: Request) -> HandlerResult {
    let context = request.render_context()?;
    let attachments = Attachments { store: request.ports().attachments() };
    let found = attachments.find(context.ctx, AttachmentId(request.id()?)).await?;
    answers::record_reply(&request, LISTS, found.attachment.updated_at, view(&context, found)).await
}

/// Attaches a file that the form has, or one that was uploaded before.
async fn attach(request: Request, body: Option<UnreadBody>) -> HandlerResult {
    let Some(body) = body else {
        let members = attachment_members(&request.body)?;
        let source = match members.get("signed_id") {
            Some(Value::String(signed)) => AttachmentSource::Uploaded(signed.clone()),
            None | Some(Value::Null) => AttachmentSource::Missing,
            Some(_) => AttachmentSource::Uploaded(String::new()),
        };
        return created(&request, new_attachment(&request, members, source)?).await;
    };
    let limit = request.tenant.max_attachment_bytes;
    let files = &request.backend.files;
    let UploadForm { members, file } = body.read_form(files, limit.unsigned_abs()).await?;
    if let Some(stored) = request.stored_reply(&content_of(&members, file.as_ref())).await? {
        return Ok(stored);
    }
    let received = match file {
        None => None,
        Some((_, ReceiveOutcome::TooLong)) => {
            return created(
                &request,
                new_attachment(&request, &members, AttachmentSource::TooLarge { limit })?,
            )
            .await;
        }
        Some((name, ReceiveOutcome::Complete(received))) => Some((name, received)),
    };
    let Some((name, received)) = received.filter(|(_, received)| received.content.byte_size > 0) else {
        return created(&request, new_attachment(&request, &members, AttachmentSource::Missing)?).await;
    };
    let command = new_attachment(&request, &members, AttachmentSource::Missing)?;
    let new = register(&request, sanitize_and_shorten(&name), received).await?;
    let (organization, id) = (request.tenant.id, new.id);
    let attached = async {
        let command = AttachFile { source: AttachmentSource::Stored(id), ..command };
        attachment_ports(request.ports()).precheck_new(request.ctx()?, command.clone()).await?;
        files.put(new).await?;
        let _permit = request.take_permit(SharedResource::Writes).await?;
        created(&request, command).await
    };
    let answer = attached.await;
    if answer.is_err() {
        files.discard(organization, id, request.now).await;
    }
    answer
}

/// The content of a form as one text, which does not depend on the boundaries of its parts.
fn content_of(members: &Map<String, Value>, file: Option<&(String, ReceiveOutcome)>) -> String {
    let file = file.map(|(name, outcome)| match outcome {
        ReceiveOutcome::Complete(received) => (name, Some((received.md5, received.content.byte_size))),
        ReceiveOutcome::TooLong => (name, None),
    });
    format!("{} {file:?}", Value::Object(members.clone()))
}

async fn created(request: &Request, command: AttachFile) -> HandlerResult {
    let reply = |document: &Value| Reply::json(StatusCode::CREATED, document);
    request.execute(&AnswerLanguages::default(), command, reply).await
}

/// Requests an upload; the answer has its address in a header.
async fn stage(request: Request, body: Option<UnreadBody>) -> HandlerResult {
    if body.is_some() {
        return Err(ApiError::UnsupportedMediaType);
    }
    let text = |name: &'static str| match request.body.get(name) {
        None => Ok(request.query.get(name).map(str::to_owned)),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(Value::Number(number)) if name == "byte_size" => Ok(Some(number.to_string())),
        Some(Value::Null) => Ok(None),
        Some(_) => Err(Error::rejected(format!("{name} is invalid"))),
    };
    let required =
        |name: &'static str| text(name)?.filter(|text| !text.is_empty()).ok_or_else(|| Error::missing(name));
    let (filename, byte_size, checksum) =
        (required("filename")?, required("byte_size")?, required("checksum")?);
    let content_type = text("content_type")?;
    let upload_request = UploadRequest {
        filename: &filename,
        content_type: content_type.as_deref(),
        byte_size: byte_size.parse().ok(),
        checksum: &checksum,
    };
    let command = StageUpload::new(upload_request, request.tenant.max_attachment_bytes)?;
    request.check_stored(SharedResource::UnattachedFiles, command.byte_size()).await?;
    let reply = |document: &Value| {
        let signed = document["signed_id"].as_str().unwrap_or_default();
        let path = format_args!("/attachments/direct_upload/{signed}");
        let address = base(&request.render_context()?, path);
        let reply = Reply::json(StatusCode::CREATED, document)?;
        Ok(reply.with_header("Location", address).with_header("Cache-Control", "no-store"))
    };
    request.execute(&AnswerLanguages::default(), command, reply).await
}

fn staged_view(staged: StagedUpload) -> UploadView {
    UploadView {
        signed_id: staged.signed.expose(),
        filename: staged.upload.filename,
        content_type: staged.upload.content_type,
        byte_size: staged.upload.byte_size,
    }
}

async fn receive(request: Request, body: Option<UnreadBody>) -> HandlerResult {
    let body = body.ok_or(ApiError::Malformed)?;
    let (organization, files) = (request.tenant.id, &request.backend.files);
    let open = uploads(request.ports());
    let (id, upload) = open.find_open(organization, request.segment("signed_id"), request.now).await?;
    let length = body.length();
    if length.is_some_and(|length| length > request.tenant.max_attachment_bytes.unsigned_abs()) {
        return Err(ApiError::TooLarge);
    }
    let (content_type, md5) =
        (header(&body.headers, CONTENT_TYPE.as_str()), header(&body.headers, "content-md5"));
    upload.check_head(UploadHeaders { length, content_type, md5 })?;
    let limit = upload.byte_size.unsigned_abs();
    let ReceiveOutcome::Complete(received) = body.receive(files, limit).await? else {
        return Err(wrong_length_error().into());
    };
    upload.check_bytes(received.content.byte_size, &STANDARD.encode(received.md5))?;
    let new = register(&request, upload.filename, received).await?;
    let _permit = request.take_permit(SharedResource::Writes).await?;
    files.complete_upload(organization, id, new, request.now).await?;
    Ok(Reply::empty(StatusCode::NO_CONTENT))
}

/// Inspects received bytes, and stores the row of their file.
async fn register(request: &Request, name: String, received: ReceivedBody) -> Result<NewFile, ApiError> {
    let files = &request.backend.files;
    let permit = request.take_permit(SharedResource::Images).await?;
    let inspected = files.inspect(received).await?;
    drop(permit);
    let _permit = request.take_permit(SharedResource::Writes).await?;
    let Tenant { id, reference_prefix, .. } = &request.tenant;
    Ok(files.register(*id, reference_prefix, name, inspected, request.now).await?)
}

fn header<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name).map(|value| value.to_str().unwrap_or("?"))
}

/// An attachment as the result of a command.
fn result(context: &RenderContext<'_>, found: AttachmentDetail) -> Value {
    json!(Document { data: view(context, found) })
}

fn view(context: &RenderContext<'_>, found: AttachmentDetail) -> AttachmentView {
    let AttachmentDetail { id, attachment, file } = found;
    let address = |is_thumbnail| {
        file.as_ref().map(|file| origin(context, format_args!("{}", address_of(file, is_thumbnail))))
    };
    let thumbnail_url =
        if file.as_ref().is_some_and(|file| file.thumbnail_bytes.is_some()) { address(true) } else { None };
    let url = attachment.link.clone().or_else(|| address(false));
    let r#type = context.site.class_names.to_wire(attachment.parent.kind.as_str());
    AttachmentView {
        id: id.to_string(),
        r#type: AttachmentType,
        attributes: AttachmentAttributes {
            title: TranslatedProp(attachment.title),
            description: TranslatedProp(attachment.description),
            weight: attachment.weight,
            attachment_collection_id: attachment.collection.map(|id| id.0),
            file_type: attachment.file_type.as_str(),
            url,
            thumbnail_url,
            content_type: Some(file.map_or_else(|| "text/uri-list".to_owned(), |file| file.content_type)),
            attached_to: AttachedTo { r#type, id: attachment.parent.id },
            created_at: CreationDate(attachment.created_at),
            updated_at: EditionDate(attachment.updated_at),
        },
    }
}
