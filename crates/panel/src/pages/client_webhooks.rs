//! The webhook registrations of a client (contract 04 §2, 09 B).

use super::client::{self, ClientPage, LIST};
use super::client_permissions::ability_key;
use crate::error;
use crate::notice::Notice;
use crate::parts::{
    Badge, Cell, Choice, Column, Empty, Field, Group, Head, Html, Problem, RowAct, Table, render,
};
use crate::reply::Reply;
use crate::visit::Visit;
use crate::words::Words;
use askama::Template;
use civitas_kernel::{Error, PageRequest, RegistrationId, Result};
use civitas_webhooks::{
    Health, NewRegistration, ReceiverRights, Registration, RegistrationChecks, RegistrationOwner,
    RegistrationRules, SentRegistration,
};
use serde_json::Value;

const CLIENT: &str = "webhook_registration_form[api_client_id]";
const URL: &str = "webhook_registration_form[url]";
const SUBSCRIPTIONS: &str = "webhook_registration_form[subscriptions][]";

#[derive(Template)]
#[template(path = "pages/client_webhooks.html")]
struct Webhooks<'a> {
    words: &'a Words,
    table: Html,
    id: i64,
    token: String,
    url: Html,
    events: Option<Html>,
}

/// The address of the tab.
fn tab(client: i64) -> String {
    format!("{LIST}/{client}/edit?tab=webhooks")
}

/// The tab. `sent`: what a refused form had.
pub(crate) async fn show(
    visit: &Visit,
    found: &ClientPage,
    sent: Option<(&str, &[String])>,
    problems: Vec<Problem>,
) -> Result<Reply> {
    let request = PageRequest::of(1, PageRequest::MAX_LENGTH);
    let page = visit.panel.store().registrations().list(found.id, &[], request).await?;
    let rights = ReceiverRights { scopes: found.client.scopes, permissions: found.client.permissions };
    let columns = vec![
        Column::new(visit.say("registration-address")),
        Column::new(visit.say("registration-events")),
        Column::new(visit.say("column-state")),
        Column::new(visit.say("column-created")).low(),
        Column::acts(visit.say("column-acts")),
    ];
    let rows = page.items.iter().map(|(id, registration)| row(visit, *id, registration, rights));
    let empty = Empty { title: "No webhook registrations found.".to_owned(), ..Empty::default() };
    let caption = visit.tell("registrations-of", &[("name", found.client.name.as_str().into())]);
    let table = Table::new(caption, columns).rows(rows).empty(empty);
    let (url, ticked) = sent.unwrap_or(("", &[]));
    let granted = found.client.permissions.iter().filter(|one| one.is_event() && rights.may_receive(*one));
    let choices: Vec<Choice> = granted
        .map(|event| Choice::new(event.as_str(), visit.say(&ability_key(event))).hint(event.as_str()))
        .collect();
    let has_events = !choices.is_empty();
    let events = Group::ticks(SUBSCRIPTIONS, visit.say("registration-events"), choices, ticked.to_vec())
        .hint(visit.say("registration-events-hint"))
        .check(&problems);
    let webhooks = Webhooks {
        words: &visit.words,
        table: table.html(),
        id: found.id.0,
        token: visit.token(),
        url: Field::url(URL, visit.say("registration-address"), url)
            .hint(visit.say("registration-address-hint"))
            .placeholder("https://")
            .required()
            .check(&problems)
            .html(&visit.words),
        events: has_events.then(|| events.html(&visit.words)),
    };
    visit.form_page(client::head(visit, found, "webhooks"), render(&webhooks), problems).await
}

fn row(visit: &Visit, id: RegistrationId, registration: &Registration, rights: ReceiverRights) -> Vec<Cell> {
    let events = registration.subscriptions.iter().map(|event| match event.as_str() {
        name if rights.may_receive(*event) => name.to_owned(),
        name => format!("{name} ({})", visit.say("not-granted")),
    });
    let events: Vec<String> = events.collect();
    let (path, of) = (format!("/system/webhook_registrations/{id}"), &registration.url);
    let deliveries = format!("/system/webhook_deliveries?registration={id}");
    let (act, key) = if registration.paused_at.is_some() || registration.health.disabled_at.is_some() {
        ("enable", "registration-enable")
    } else {
        ("test", "registration-test")
    };
    let acts = [
        RowAct::link(deliveries, visit.say("nav-deliveries"), of),
        RowAct::post(format!("{path}/{act}"), visit.say(key), of, visit.token()),
        RowAct::link(format!("{path}/delete"), visit.say("delete-link"), of),
    ];
    vec![
        Cell::mono("", &registration.url),
        Cell::names(&events),
        state(visit, registration),
        Cell::text(&visit.date(registration.created_at)),
        Cell::acts(&acts),
    ]
}

/// The state of a registration, and why it is so.
pub(crate) fn state(visit: &Visit, registration: &Registration) -> Cell {
    let Health { failures, failing_since, disabled_at, .. } = registration.health;
    let why = |key, at| visit.tell(key, &[("date", visit.date(at).into()), ("count", failures.into())]);
    let (badge, why) = if let Some(at) = disabled_at {
        (Badge::bad(visit.say("registration-disabled")), why("registration-disabled-why", at))
    } else if let Some(at) = registration.paused_at {
        (Badge::warn(visit.say("registration-paused")), why("since", at))
    } else if let Some(at) = failing_since {
        (Badge::warn(visit.say("registration-failing")), why("registration-failing-why", at))
    } else {
        return Cell::badge(&Badge::good(visit.say("registration-delivering")));
    };
    Cell::badge_with_sub(&badge, &why)
}

/// Registers an address. The rules are those of the interface.
pub(crate) async fn create(visit: &Visit) -> Result<Reply> {
    let id: i64 = visit.form.text(CLIENT).parse().map_err(|_| Error::NotFound)?;
    let found = client::client(visit, id).await?;
    let (url, events) = (visit.form.text(URL).to_owned(), visit.form.all(SUBSCRIPTIONS));
    match register(visit, &found, &url, &events).await {
        Ok(secret) => {
            let notice = Notice::good("Webhook registration created successfully")
                .once(visit.say("registration-address"), url)
                .once(visit.say("registration-secret"), secret);
            visit.redirect(tab(id), notice).await
        }
        Err(fault) => {
            let problems = problems(visit, fault)?;
            show(visit, &found, Some((&url, &events)), problems).await
        }
    }
}

/// What is wrong, in the words of the interface (contract 04 §2).
fn problems(visit: &Visit, fault: Error) -> Result<Vec<Problem>> {
    let field = |field: &str| format!("webhook_registration_form[{field}]");
    match fault {
        Error::Invalid { fields, .. } => Ok(fields
            .iter()
            .map(|fault| Problem::new(field(&fault.field), fault.description.clone()))
            .collect()),
        other => error::problems(&visit.words, other, |fault| field(&fault.field)),
    }
}

/// Returns the key of signatures.
async fn register(visit: &Visit, found: &ClientPage, url: &str, events: &[String]) -> Result<String> {
    let services = &visit.panel.services;
    let checks = RegistrationChecks {
        store: visit.panel.store().registrations(),
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
    let NewRegistration { registration, secret } = checks.new_of(owner, &sent, visit.now).await?;
    visit.change(async |tx| visit.webhooks(tx).create(&registration).await).await?;
    Ok(secret.expose().to_owned())
}

/// The registration of the path, and its client.
pub(crate) async fn registration(visit: &Visit) -> Result<(RegistrationId, Registration)> {
    let id = RegistrationId(visit.id("id")?);
    let found = visit.panel.store().registrations().find_any(id).await?;
    Ok((id, found.ok_or(Error::NotFound)?))
}

pub(crate) async fn ask(visit: &Visit) -> Result<Reply> {
    let (id, registration) = registration(visit).await?;
    let confirm = visit
        .confirm(
            format!("/system/webhook_registrations/{id}"),
            visit.say("registration-delete-button"),
            tab(registration.client.0),
        )
        .delete()
        .effects([visit.say("registration-delete-effect"), visit.say("registration-delete-log")])
        .stays(visit.say("registration-delete-stays"));
    let head = Head::new(visit.say("registration-delete-title"))
        .crumb(visit.say("nav-api-clients"), LIST)
        .crumb(visit.say("client-tab-webhooks"), tab(registration.client.0))
        .lede(registration.url.clone());
    visit.page(head, confirm.html(&[])).await
}

pub(crate) async fn delete(visit: &Visit) -> Result<Reply> {
    let id = RegistrationId(visit.id("id")?);
    let removed = visit.change(async |tx| visit.webhooks(tx).remove(id).await).await?;
    let notice = Notice::good(visit.say("registration-deleted")).text(removed.url);
    visit.redirect(tab(removed.client.0), notice).await
}
