//! `/webhook_registrations` (contract 09 B).
//!
//! Create and update check before their transaction: the host of the callback address is resolved.

use crate::answers;
use crate::document::OperationDoc;
use crate::reply::{Document, Reply};
use crate::request::Request;
use crate::route::{HandlerResult, RequiredAccess, Routes};
use crate::shapes::{CreationDate, EditionDate, RegistrationType};
use crate::typed_body::{RawBody, read_at};
use actix_web::http::{Method, StatusCode};
use civitas_application::audit::client_actor;
use civitas_event_delivery::WebhookChanges;
use civitas_kernel::extended_data::is_blank;
use civitas_kernel::{Error, RegistrationId, Result};
use civitas_webhooks::{
    DESTROY_WEBHOOKS, NewRegistration, READ_WEBHOOKS, REGISTRATION_FIELDS, Registration, RegistrationChecks,
    RegistrationRules, Registrations, SentRegistration, SigningSecret, WRITE_WEBHOOKS,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

const LIST: &str = "webhook_registrations";

/// An address that receives events.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = webhook_registration)]
struct RegistrationView {
    id: String,
    r#type: RegistrationType,
    attributes: RegistrationAttributes,
}

/// The attributes of a registration.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = webhook_registration_attributes)]
struct RegistrationAttributes {
    /// The callback address, `http` or `https`.
    #[schema(format = "uri")]
    url: String,
    /// The names of the events.
    subscriptions: Vec<&'static str>,
    /// The key of signatures: 64 lowercase hexadecimal digits. Only in the answer that creates the registration.
    #[serde(skip_serializing_if = "Option::is_none")]
    signing_secret: Option<String>,
    created_at: CreationDate,
    updated_at: EditionDate,
}

/// The callback address and the events of a registration. Both are required, and replace the former ones.
#[derive(Deserialize, ToSchema)]
#[schema(as = webhook_registration_create_body, examples(json!({"data": {"attributes": {
    "url": "https://hooks.client.example/civic",
    "subscriptions": ["proposal_creation.succeeded", "user.created"]}}})))]
#[serde(deny_unknown_fields)]
struct RegistrationBody {
    #[schema(inline, value_type = RegistrationData, required)]
    data: Option<Value>,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct RegistrationData {
    /// Ignored.
    #[serde(rename = "type")]
    #[schema(value_type = Option<String>)]
    _kind: Option<Value>,
    #[schema(value_type = AttributesToWrite, required)]
    attributes: Option<Value>,
}

/// The callback address and the events of a registration.
#[derive(Deserialize, ToSchema)]
#[schema(as = webhook_registration_create_attributes)]
#[serde(deny_unknown_fields)]
struct AttributesToWrite {
    /// Absolute, `http` or `https`, with a public host, without user information, fragment and segments of dots.
    #[schema(value_type = String, format = "uri", max_length = 2048)]
    url: Option<Value>,
    /// The names of events the client holds the permission for.
    #[schema(value_type = Vec<String>, min_items = 1)]
    subscriptions: Option<Value>,
}

pub(crate) fn routes(routes: &mut Routes) {
    let list = OperationDoc::page::<RegistrationView>("Lists the webhook registrations of the client")
        .with_list_parameters();
    let list = list.with_filters(REGISTRATION_FIELDS);
    routes.read("listWebhookRegistrations", "/webhook_registrations", READ_WEBHOOKS, list, index);
    let doc = OperationDoc::item::<RegistrationView>("Registers an address for events")
        .with_status_created()
        .with_no_store();
    let doc = doc.with_body::<RegistrationBody>();
    let write = RequiredAccess::Needs(WRITE_WEBHOOKS);
    routes.add_route("createWebhookRegistration", Method::POST, "/webhook_registrations", write, doc, create);
    let path = "/webhook_registrations/{id}";
    let doc = OperationDoc::item::<RegistrationView>("Shows a webhook registration");
    routes.read("showWebhookRegistration", path, READ_WEBHOOKS, doc, show_one);
    let doc = OperationDoc::item::<RegistrationView>(
        "Replaces the address and the events of a webhook registration",
    );
    let doc = doc.with_body::<RegistrationBody>();
    routes.add_route("", Method::PATCH, path, write, doc.clone(), update);
    routes.add_route("updateWebhookRegistration", Method::PUT, path, write, doc, update);
    let doc = OperationDoc::without_json(
        "Deletes a webhook registration with its deliveries",
        StatusCode::NO_CONTENT,
    );
    let required_access = RequiredAccess::Needs(DESTROY_WEBHOOKS);
    routes.add_route("deleteWebhookRegistration", Method::DELETE, path, required_access, doc, destroy);
}

async fn index(request: Request) -> HandlerResult {
    let registrations = Registrations { store: request.ports().registrations() };
    let page = registrations.list(request.ctx()?, &request.filter()?, request.page()?).await?;
    let view = |(id, registration): (RegistrationId, Registration)| view(id, &registration, None);
    answers::page_reply(&request, &[LIST], page, false, |(_, registration)| registration.updated_at, view)
        .await
}

async fn show_one(request: Request) -> HandlerResult {
    let id = RegistrationId(request.id()?);
    let registrations = Registrations { store: request.ports().registrations() };
    let found = registrations.find(request.ctx()?, id).await?;
    answers::record_reply(&request, &[], found.updated_at, view(id, &found, None)).await
}

async fn create(request: Request) -> HandlerResult {
    let sent = sent(&request)?;
    let NewRegistration { registration, secret } =
        checks(&request).new_of_caller(request.ctx()?, &sent).await?;
    let created = change(&request, async |changes| {
        let data = view(changes.create(&registration).await?, &registration, Some(&secret));
        Ok(Reply::json(StatusCode::CREATED, &Document { data })?.with_header("Cache-Control", "no-store"))
    });
    created.await
}

async fn update(request: Request) -> HandlerResult {
    let (ctx, id) = (request.ctx()?, RegistrationId(request.id()?));
    let sent = sent(&request)?;
    let checked = checks(&request).update(ctx, id, &sent).await?;
    let client = ctx.caller.client;
    let updated = change(&request, async |changes| {
        let updated = changes.update(client, id, &checked).await?;
        Reply::json(StatusCode::OK, &Document { data: view(id, &updated, None) })
    });
    updated.await
}

async fn destroy(request: Request) -> HandlerResult {
    let (ctx, id) = (request.ctx()?, RegistrationId(request.id()?));
    checks(&request).destroy(ctx, id).await?;
    let removal = change(&request, async |changes| {
        changes.remove(id).await?;
        changes.tx.list_changes().touch_list(ctx.organization, LIST, changes.now).await?;
        Ok(Reply::empty(StatusCode::NO_CONTENT))
    });
    removal.await
}

fn checks(request: &Request) -> RegistrationChecks<'_> {
    let webhooks = &request.backend.services.webhooks;
    RegistrationChecks {
        store: request.ports().registrations(),
        rules: RegistrationRules { policy: &webhooks.policy, resolver: &*webhooks.resolver },
        cipher: &*webhooks.cipher,
    }
}

/// Runs a change of the client in a transaction, with its answer.
async fn change(request: &Request, work: impl AsyncFn(WebhookChanges<'_>) -> Result<Reply>) -> HandlerResult {
    let (ctx, commands) = (request.ctx()?, &request.backend.commands);
    let changed = commands.committer().in_transaction(&**commands.store(), request.now, async |tx| {
        let actor = client_actor(ctx);
        let changes = WebhookChanges { tx, organization: None, actor, from: None, now: request.now };
        let reply = work(changes).await?;
        request.store_reply(tx, &reply).await?;
        Ok(reply)
    });
    Ok(changed.await?)
}

/// Reads the body. The values of the attributes are checked by the use case.
///
/// # Errors
/// `MissingParameter` where `data` or `attributes` is absent or empty; `Rejected` for an unknown member.
fn sent(request: &Request) -> Result<SentRegistration> {
    let RegistrationBody { data } = RawBody::new(&request.body, true).read()?;
    let data = data.filter(|data| !is_blank(data)).ok_or_else(|| Error::missing("data"))?;
    let RegistrationData { attributes, .. } = read_at("data", Some(&data))?;
    let attributes = attributes.filter(|sent| !is_blank(sent));
    let attributes = attributes.ok_or_else(|| Error::missing("attributes"))?;
    let AttributesToWrite { url, subscriptions } = read_at("data.attributes", Some(&attributes))?;
    Ok(SentRegistration { url, subscriptions })
}

/// A registration; with its secret if it was just created.
fn view(id: RegistrationId, from: &Registration, secret: Option<&SigningSecret>) -> RegistrationView {
    RegistrationView {
        id: id.to_string(),
        r#type: RegistrationType,
        attributes: RegistrationAttributes {
            url: from.url.clone(),
            subscriptions: from.subscriptions.iter().map(|event| event.as_str()).collect(),
            signing_secret: secret.map(|secret| secret.expose().to_owned()),
            created_at: CreationDate(from.created_at),
            updated_at: EditionDate(from.updated_at),
        },
    }
}
