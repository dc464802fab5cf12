//! The webhook registrations of a client (contract 04 §2, 09 B).

use super::api_client::{self, LIST, OpenedClient};
use super::permissions::ability_key;
use crate::admin_request::AdminRequest;
use crate::error;
use crate::notice::Notice;
use crate::parts::{
    Badge, Cell, Choice, ChoiceGroup, EmptyState, Field, FormErrors, Head, Html, RowAction, Table, render,
};
use crate::reply::Reply;
use crate::translator::Translator;
use askama::Template;
use civitas_kernel::{ClientId, Error, FieldError, PageRequest, RegistrationId, Result};
use civitas_webhooks::{
    NewRegistration, ReceiverRights, Registration, RegistrationChecks, RegistrationHealth, RegistrationOwner,
    RegistrationRules, SentRegistration,
};
use serde_json::Value;

const CLIENT_FIELD: &str = "webhook_registration_form[api_client_id]";
const URL_FIELD: &str = "webhook_registration_form[url]";
const SUBSCRIPTIONS: &str = "webhook_registration_form[subscriptions][]";

#[derive(Template)]
#[template(path = "pages/client_webhooks.html")]
struct Webhooks<'a> {
    translator: &'a Translator,
    table: Html,
    id: i64,
    token: String,
    url: Html,
    events: Option<Html>,
}

/// The address of the tab.
pub(crate) fn tab_path(client: ClientId) -> String {
    format!("{LIST}/{client}/edit?tab=webhooks")
}

/// The tab. `sent`: what a refused form had.
pub(crate) async fn edit_page(
    req: &AdminRequest,
    found: &OpenedClient,
    sent: Option<(&str, &[String])>,
    problems: FormErrors,
) -> Result<Reply> {
    let request = PageRequest::new(1, PageRequest::MAX_LENGTH);
    let page = req.store().registrations().list(found.id, &[], request).await?;
    let rights = ReceiverRights { scopes: found.client.scopes, permissions: found.client.permissions };
    let columns =
        req.columns("registration-address registration-events column-state column-created:low column-acts");
    let rows = page.items.iter().map(|(id, registration)| row(req, *id, registration, rights));
    let empty = EmptyState::new("No webhook registrations found.".to_owned(), "");
    let caption = req.tr_with("registrations-of", "name", found.client.name.as_str());
    let table = Table::new(caption, columns).rows(rows).empty(empty);
    let (url, ticked) = sent.unwrap_or(("", &[]));
    let granted = found.client.permissions.iter().filter(|one| one.is_event() && rights.may_receive(*one));
    let choices: Vec<Choice> = granted
        .map(|event| Choice::new(event.as_str(), req.tr(&ability_key(event))).hint(event.as_str()))
        .collect();
    let has_events = !choices.is_empty();
    let events =
        ChoiceGroup::checkboxes(SUBSCRIPTIONS, req.tr("registration-events"), choices, ticked.to_vec())
            .hint(req.tr("registration-events-hint"))
            .check(&problems);
    let webhooks = Webhooks {
        translator: &req.translator,
        table: table.html(),
        id: found.id.0,
        token: req.token(),
        url: Field::url(URL_FIELD, req.tr("registration-address"), url)
            .hint(req.tr("registration-address-hint"))
            .placeholder("https://")
            .required()
            .check(&problems)
            .html(&req.translator),
        events: has_events.then(|| events.html(&req.translator)),
    };
    req.form_page(found.tab_head(req, "webhooks"), render(&webhooks), problems).await
}

fn row(
    req: &AdminRequest,
    id: RegistrationId,
    registration: &Registration,
    rights: ReceiverRights,
) -> Vec<Cell> {
    let events = registration.subscriptions.iter().map(|event| match event.as_str() {
        name if rights.may_receive(*event) => name.to_owned(),
        name => format!("{name} ({})", req.tr("not-granted")),
    });
    let events: Vec<String> = events.collect();
    let (path, row_name) = (format!("/system/webhook_registrations/{id}"), &registration.url);
    let deliveries = format!("/system/webhook_deliveries?registration={id}");
    let (action, key) = if registration.paused_at.is_some() || registration.health.disabled_at.is_some() {
        ("enable", "registration-enable")
    } else {
        ("test", "registration-test")
    };
    let actions = [
        RowAction::link(deliveries, req.tr("nav-deliveries"), row_name),
        RowAction::post(format!("{path}/{action}"), req.tr(key), row_name, req.token()),
        RowAction::link(format!("{path}/delete"), req.tr("delete-link"), row_name),
    ];
    vec![
        Cell::mono("", &registration.url),
        Cell::names(&events),
        state(req, registration),
        Cell::text(&req.date(registration.created_at)),
        Cell::actions(&actions),
    ]
}

/// The state of a registration, and why it is so.
pub(crate) fn state(req: &AdminRequest, registration: &Registration) -> Cell {
    let RegistrationHealth { failures, failing_since, disabled_at, .. } = registration.health;
    let why = |key, at| req.tr_args(key, &[("date", req.date(at).into()), ("count", failures.into())]);
    let (badge, why) = if let Some(at) = disabled_at {
        (Badge::bad(req.tr("registration-disabled")), why("registration-disabled-why", at))
    } else if let Some(at) = registration.paused_at {
        (Badge::warn(req.tr("registration-paused")), why("since", at))
    } else if let Some(at) = failing_since {
        (Badge::warn(req.tr("registration-failing")), why("registration-failing-why", at))
    } else {
        return Cell::badge(&Badge::good(req.tr("registration-delivering")));
    };
    Cell::badge_with_subtext(&badge, &why)
}

/// Registers an address. The rules are those of the interface.
pub(crate) async fn create(req: &AdminRequest) -> Result<Reply> {
    let id: i64 = req.form.text(CLIENT_FIELD).parse().map_err(|_| Error::NotFound)?;
    let found = api_client::find_client(req, id).await?;
    let (url, events) = (req.form.text(URL_FIELD).to_owned(), req.form.values(SUBSCRIPTIONS));
    match register(req, &found, &url, &events).await {
        Ok(secret) => {
            let notice = Notice::success("Webhook registration created successfully")
                .shown_once(req.tr("registration-address"), url)
                .shown_once(req.tr("registration-secret"), secret);
            req.redirect(tab_path(found.id), notice).await
        }
        Err(error) => {
            // The sentences are those of the interface (contract 04 §2).
            let field =
                |field_error: &FieldError| format!("webhook_registration_form[{}]", field_error.field);
            let text = |field_error: &FieldError| Some(field_error.description.clone());
            let problems = error::form_errors_with_texts(&req.translator, error, field, text)?;
            edit_page(req, &found, Some((&url, &events)), problems).await
        }
    }
}

/// Returns the key of signatures.
async fn register(req: &AdminRequest, found: &OpenedClient, url: &str, events: &[String]) -> Result<String> {
    let services = &req.panel.services;
    let checks = RegistrationChecks {
        store: req.store().registrations(),
        rules: RegistrationRules { policy: &services.webhook_policy, resolver: &*services.webhook_resolver },
        cipher: &*services.webhook_cipher,
    };
    let owner = RegistrationOwner {
        client: found.id,
        organization: found.client.organization,
        rights: ReceiverRights { scopes: found.client.scopes, permissions: found.client.permissions },
    };
    let sent = SentRegistration {
        url: Some(Value::from(url)),
        subscriptions: Some(events.iter().map(String::as_str).collect::<Vec<_>>().into()),
    };
    // Names are resolved before the transaction.
    let NewRegistration { registration, secret } = checks.new_of(owner, &sent, req.now).await?;
    req.in_transaction(async |tx| req.webhooks(tx).create(&registration).await).await?;
    Ok(secret.expose().to_owned())
}

/// The registration of the path, and its client.
pub(crate) async fn registration_from_path(req: &AdminRequest) -> Result<(RegistrationId, Registration)> {
    let id = RegistrationId(req.path_id("id")?);
    let found = req.store().registrations().find_unrestricted(id).await?;
    Ok((id, found.ok_or(Error::NotFound)?))
}

pub(crate) async fn confirm_delete(req: &AdminRequest) -> Result<Reply> {
    let (id, registration) = registration_from_path(req).await?;
    let confirm = req
        .confirmation(
            format!("/system/webhook_registrations/{id}"),
            req.tr("registration-delete-button"),
            tab_path(registration.client),
        )
        .delete()
        .effects([req.tr("registration-delete-effect"), req.tr("registration-delete-log")])
        .stays(req.tr("registration-delete-stays"));
    let head = Head::new(req.tr("registration-delete-title"))
        .crumb(req.tr("nav-api-clients"), LIST)
        .crumb(req.tr("client-tab-webhooks"), tab_path(registration.client))
        .lede(registration.url.clone());
    req.page(head, confirm.html(&[])).await
}

pub(crate) async fn delete(req: &AdminRequest) -> Result<Reply> {
    let id = RegistrationId(req.path_id("id")?);
    let removed = req.in_transaction(async |tx| req.webhooks(tx).remove(id).await).await?;
    let notice = Notice::success(req.tr("registration-deleted")).text(removed.url);
    req.redirect(tab_path(removed.client), notice).await
}
