//! API clients: list, details, rotation of the secret, revocation (contract 04 §2).

use super::client::{ClientPage, LIST, admin, client, fault, head, organizations, token_command};
use super::{client_permissions, client_webhooks};
use crate::notice::Notice;
use crate::parts::{
    Act, Badge, Cell, Choice, Column, Confirm, Empty, Field, Html, Problem, RowAct, Table, render,
};
use crate::records::ListFilters;
use crate::reply::Reply;
use crate::visit::Visit;
use crate::words::Words;
use askama::Template;
use civitas_accounts::{ApiClient, ClientFilter, ClientUsage};
use civitas_audit::Action;
use civitas_kernel::{ClientId, OrganizationId, Result};
use std::collections::HashMap;

/// Rows on a page of the list.
const PER_PAGE: i64 = 15;

pub(crate) async fn list(visit: &Visit) -> Result<Reply> {
    let store = visit.panel.store();
    let filter = ClientFilter {
        organization: visit.query.number("organization").map(OrganizationId),
        search: visit.query.get("q").map(str::to_owned),
    };
    let request = visit.query.page(PER_PAGE);
    let page = store.clients().list(&filter, request).await?;
    let ids: Vec<ClientId> = page.items.iter().map(|(id, _)| *id).collect();
    let usage: HashMap<ClientId, ClientUsage> =
        store.clients().usage(&ids, visit.now).await?.into_iter().collect();
    let organizations = organizations(visit).await?;
    let names: HashMap<i64, &str> = organizations.iter().map(|(id, name)| (id.0, name.as_str())).collect();
    let rows = page.items.iter().map(|(id, client)| row(visit, *id, client, usage.get(id), &names));
    let columns = vec![
        Column::new(visit.say("column-name")),
        Column::new(visit.say("client-id")),
        Column::new(visit.say("client-scopes")).num().low(),
        Column::new(visit.say("client-tab-webhooks")),
        Column::new(visit.say("client-last-token")).low(),
        Column::new(visit.say("column-created")),
        Column::acts(visit.say("column-acts")),
    ];
    let empty = Empty {
        title: visit.say("clients-none"),
        text: visit.say("clients-lede"),
        act: Some((format!("{LIST}/new"), visit.say("client-new"))),
    };
    let table = Table::new(visit.say("clients-caption"), columns).rows(rows).empty(empty);
    let mut filters = ListFilters::new(visit, LIST);
    let text = visit.query.get("q").map(|text| format!("{}: {text}", visit.say("search")));
    let search = Field::search("q", visit.say("search"), visit.query.shown("q"));
    filters.field(
        &search.placeholder(visit.say("clients-search")),
        text.map(|text| visit.chip(LIST, "q", text)),
    );
    let all = std::iter::once(Choice::new("", visit.say("all")));
    let choices = all.chain(organizations.iter().map(|(id, name)| Choice::new(id.to_string(), name)));
    let chosen = visit.query.shown("organization");
    filters.field(&Field::select("organization", visit.say("organization"), chosen, choices.collect()), None);
    let pages = visit.named_pages(LIST, visit.say("clients-pages"), request, page.has_more).html();
    let chips = std::mem::take(&mut filters.chips);
    let results = visit.results(LIST, (visit.shown(page.items.len()), chips), &table, pages);
    let head = visit
        .head("nav-api-clients")
        .lede(visit.say("clients-lede"))
        .act(Act::primary(format!("{LIST}/new"), visit.say("client-new")));
    visit.page(head, Html::join([filters.html("clients-filter"), results])).await
}

fn row(
    visit: &Visit,
    id: ClientId,
    client: &ApiClient,
    usage: Option<&ClientUsage>,
    names: &HashMap<i64, &str>,
) -> Vec<Cell> {
    let path = format!("{LIST}/{id}");
    let organization = match client.organization {
        Some(id) => (*names.get(&id.0).unwrap_or(&"")).to_owned(),
        None => visit.say("all-organizations"),
    };
    let registrations = usage.map_or(0, |usage| usage.registrations);
    let webhooks = if registrations == 0 {
        Cell::soft(&visit.say("none"))
    } else {
        Cell::badge(&Badge::good(visit.number(registrations)))
    };
    let last = usage.and_then(|usage| usage.last_token_at);
    let act = |href: String, key: &str| RowAct::link(href, visit.say(key), client.name.clone());
    vec![
        Cell::link(&path, &client.name, &organization),
        Cell::mono(&path, &client.uid),
        Cell::num(&visit.number(i64::try_from(client.scopes.iter().count()).unwrap_or_default())),
        webhooks,
        last.map_or_else(|| Cell::soft(&visit.say("never")), |at| Cell::text(&visit.date(at))),
        Cell::text(&visit.date(client.created_at)),
        Cell::acts(&[act(format!("{path}/edit"), "edit"), act(format!("{path}/revoke"), "client-revoke")]),
    ]
}

#[derive(Template)]
#[template(path = "pages/client.html")]
struct Details<'a> {
    words: &'a Words,
    client: &'a ApiClient,
    path: String,
    organization: Option<(String, String, String)>,
    permissions: String,
    created: String,
    last_token: String,
    valid_tokens: String,
    command: String,
}

/// How many abilities and events a client holds.
fn held(visit: &Visit, client: &ApiClient) -> String {
    let events = client.permissions.iter().filter(|ability| ability.is_event()).count();
    let abilities = client.permissions.iter().count() - events;
    let number = |count: usize| i64::try_from(count).unwrap_or_default();
    visit.tell("client-held", &[("abilities", number(abilities).into()), ("events", number(events).into())])
}

async fn usage(visit: &Visit, id: ClientId) -> Result<ClientUsage> {
    let usage = visit.panel.store().clients().usage(&[id], visit.now).await?;
    Ok(usage.into_iter().next().map(|(_, usage)| usage).unwrap_or_default())
}

pub(crate) async fn show(visit: &Visit) -> Result<Reply> {
    let found = client(visit, visit.id("id")?).await?;
    let usage = usage(visit, found.id).await?;
    let locale = visit.words.locale;
    let organization = found.tenant.as_ref().map(|tenant| {
        let href = format!("/system/organizations/{}/edit", tenant.id);
        (href, tenant.name.title(locale).unwrap_or(&tenant.host).to_owned(), tenant.host.clone())
    });
    let details = Details {
        words: &visit.words,
        client: &found.client,
        path: found.path(),
        organization,
        permissions: held(visit, &found.client),
        created: visit.time(found.client.created_at),
        last_token: usage.last_token_at.map_or_else(|| visit.say("never"), |at| visit.time(at)),
        valid_tokens: visit.number(usage.valid_tokens),
        command: token_command(visit, &found, "\"$CIVITAS_SECRET\""),
    };
    visit.page(head(visit, &found, "details"), render(&details)).await
}

/// The tab with permissions, or with webhooks.
pub(crate) async fn edit(visit: &Visit) -> Result<Reply> {
    let found = client(visit, visit.id("id")?).await?;
    if visit.query.get("tab") == Some("webhooks") {
        return client_webhooks::show(visit, &found, None, Vec::new()).await;
    }
    client_permissions::show(visit, &found, None, Vec::new()).await
}

pub(crate) async fn ask_rotate(visit: &Visit) -> Result<Reply> {
    let found = client(visit, visit.id("id")?).await?;
    let usage = usage(visit, found.id).await?;
    let path = found.path();
    let confirm = visit
        .confirm(format!("{path}/rotate_secret"), visit.say("rotate-button"), path)
        .effects([visit.say("rotate-effect")])
        .stays(visit.words.count("rotate-stays", usage.valid_tokens));
    visit.page(found.asks(visit, "rotate-title", "rotate-here"), confirm.html(&[])).await
}

pub(crate) async fn rotate(visit: &Visit) -> Result<Reply> {
    let found = client(visit, visit.id("id")?).await?;
    let uid = found.client.uid.as_str();
    let secret = visit
        .change(async |tx| {
            let secret = admin(tx).rotate_secret(uid, visit.now).await.map_err(fault)?;
            visit.append(tx, &found.record(visit, Action::ApiClientSecretRotated)).await?;
            Ok(secret)
        })
        .await?;
    let notice = Notice::good(visit.say("rotate-done"))
        .once(visit.say("client-id"), uid)
        .once(visit.say("client-secret"), secret.expose())
        .command(token_command(visit, &found, secret.expose()));
    visit.redirect(format!("{}/edit", found.path()), notice).await
}

pub(crate) async fn ask_revoke(visit: &Visit) -> Result<Reply> {
    let found = client(visit, visit.id("id")?).await?;
    revoke_page(visit, &found, Vec::new()).await
}

async fn revoke_page(visit: &Visit, found: &ClientPage, problems: Vec<Problem>) -> Result<Reply> {
    let usage = usage(visit, found.id).await?;
    let path = found.path();
    let confirm = visit
        .confirm(path.clone(), visit.say("revoke-button"), path)
        .delete()
        .effects([
            visit.words.count("revoke-tokens", usage.valid_tokens),
            visit.tell("revoke-permissions", &[("held", held(visit, &found.client).into())]),
            visit.words.count("revoke-registrations", usage.registrations),
        ])
        .stays(visit.say("revoke-stays"))
        .name(found.client.name.clone(), visit.say("revoke-name"));
    let body = confirm.html(&problems);
    visit.form_page(found.asks(visit, "revoke-title", "client-revoke"), body, problems).await
}

/// Revokes a client. The page that asks sends the name; a form without the field comes from a program that asked
/// already.
pub(crate) async fn revoke(visit: &Visit) -> Result<Reply> {
    let found = client(visit, visit.id("id")?).await?;
    if let Some(typed) = visit.form.get("confirm")
        && !Confirm::is_typed(&found.client.name, typed)
    {
        let problem = Problem::new("confirm", visit.say("problem-name-typed"));
        return revoke_page(visit, &found, vec![problem]).await;
    }
    visit
        .change(async |tx| {
            admin(tx).delete(&found.client.uid).await.map_err(fault)?;
            visit.append(tx, &found.record(visit, Action::ApiClientRevoked)).await
        })
        .await?;
    visit.redirect(LIST, Notice::good("Client Revoked").text(found.client.name.clone())).await
}
