//! API clients: list, details, rotation of the secret, revocation (contract 04 §2).

use super::api_client::{
    LIST, OpenedClient, admin, client_admin_error, find_client, organization_name, organizations,
    token_command,
};
use super::{permissions, webhooks};
use crate::admin_request::AdminRequest;
use crate::format::saturating_i64;
use crate::list::List;
use crate::notice::Notice;
use crate::parts::{
    Badge, Cell, Choice, Confirmation, EmptyState, Field, FormErrors, PageAction, RowAction, Table, render,
};
use crate::reply::Reply;
use crate::translator::Translator;
use askama::Template;
use civitas_accounts::{ApiClient, ClientFilter, ClientUsage};
use civitas_audit::Action;
use civitas_kernel::{ClientId, OrganizationId, Result};
use std::collections::HashMap;

/// Rows on a page of the list.
const PER_PAGE: i64 = 15;

pub(crate) async fn list(req: &AdminRequest) -> Result<Reply> {
    let store = req.store();
    let filter = ClientFilter {
        organization: req.query.number("organization").map(OrganizationId),
        search: req.query.get("q").map(str::to_owned),
    };
    let request = req.query.page(PER_PAGE);
    let page = store.clients().list(&filter, request).await?;
    let ids: Vec<ClientId> = page.items.iter().map(|(id, _)| *id).collect();
    let usage: HashMap<ClientId, ClientUsage> =
        store.clients().usage(&ids, req.now).await?.into_iter().collect();
    let organizations = organizations(req, filter.organization).await?;
    let rows = page.items.iter().map(|(id, client)| row(req, *id, client, usage.get(id), &organizations));
    let columns = req.columns(
        "column-name client-id client-scopes:num:low client-tab-webhooks client-last-token:low column-created \
         column-acts",
    );
    let new = (format!("{LIST}/new"), req.tr("client-new"));
    let empty = EmptyState::new(req.tr("clients-none"), req.tr("clients-lede")).with_new(new.clone());
    let table = Table::new(req.tr("clients-caption"), columns).rows(rows).empty(empty);
    let mut list = List::new(req, "clients", LIST);
    let chip = req.query.get("q").map(|text| list.chip("q", format!("{}: {text}", req.tr("search"))));
    let search = Field::search("q", req.tr("search"), req.query.field_value("q"));
    list.field_with_chip(&search.placeholder(req.tr("clients-search")), chip);
    let all = std::iter::once(Choice::new("", req.tr("all")));
    let choices = all.chain(organizations.iter().map(|(id, name)| Choice::new(id.to_string(), name)));
    let chosen = req.query.field_value("organization");
    let field = Field::select("organization", req.tr("organization"), chosen, choices.collect());
    list.field_with_chip(&field, None);
    let links = list.page_links(request, &page).label(req.tr("clients-pages"));
    let head = req.head("nav-api-clients").action(PageAction::primary(new.0, new.1));
    list.reply(head, &table, &links).await
}

fn row(
    req: &AdminRequest,
    id: ClientId,
    client: &ApiClient,
    usage: Option<&ClientUsage>,
    organizations: &[(OrganizationId, String)],
) -> Vec<Cell> {
    let path = format!("{LIST}/{id}");
    let organization = match client.organization {
        Some(id) => organization_name(req, organizations, id),
        None => req.tr("all-organizations"),
    };
    let registrations = usage.map_or(0, |usage| usage.registrations);
    let webhooks = if registrations == 0 {
        Cell::muted(&req.tr("none"))
    } else {
        Cell::badge(&Badge::good(req.number(registrations)))
    };
    let last = usage.and_then(|usage| usage.last_token_at);
    let link = |href: String, key: &str| RowAction::link(href, req.tr(key), client.name.clone());
    vec![
        Cell::link(&path, &client.name, &organization),
        Cell::mono(&path, &client.uid),
        Cell::text(&req.number(saturating_i64(client.scopes.iter().count()))),
        webhooks,
        last.map_or_else(|| Cell::muted(&req.tr("never")), |at| Cell::text(&req.date(at))),
        Cell::text(&req.date(client.created_at)),
        Cell::actions(&[
            link(format!("{path}/edit"), "edit"),
            link(format!("{path}/revoke"), "client-revoke"),
        ]),
    ]
}

#[derive(Template)]
#[template(path = "pages/client.html")]
struct Details<'a> {
    translator: &'a Translator,
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
fn permission_counts(req: &AdminRequest, client: &ApiClient) -> String {
    let events = client.permissions.iter().filter(|ability| ability.is_event()).count();
    let abilities = client.permissions.iter().count() - events;
    req.tr_args("client-held", &[("abilities", abilities.into()), ("events", events.into())])
}

async fn usage(req: &AdminRequest, id: ClientId) -> Result<ClientUsage> {
    let usage = req.store().clients().usage(&[id], req.now).await?;
    Ok(usage.into_iter().next().map(|(_, usage)| usage).unwrap_or_default())
}

pub(crate) async fn show(req: &AdminRequest) -> Result<Reply> {
    let found = find_client(req, req.path_id("id")?).await?;
    let usage = usage(req, found.id).await?;
    let locale = req.translator.locale;
    let organization = found.tenant.as_ref().map(|tenant| {
        let href = format!("/system/organizations/{}/edit", tenant.id);
        (href, tenant.name.title(locale).unwrap_or(&tenant.host).to_owned(), tenant.host.clone())
    });
    let details = Details {
        translator: &req.translator,
        client: &found.client,
        path: found.path(),
        organization,
        permissions: permission_counts(req, &found.client),
        created: req.time(found.client.created_at),
        last_token: usage.last_token_at.map_or_else(|| req.tr("never"), |at| req.time(at)),
        valid_tokens: req.number(usage.valid_tokens),
        command: token_command(req, &found, "\"$CIVITAS_SECRET\""),
    };
    req.page(found.tab_head(req, "details"), render(&details)).await
}

/// The tab with permissions, or with webhooks.
pub(crate) async fn edit(req: &AdminRequest) -> Result<Reply> {
    let found = find_client(req, req.path_id("id")?).await?;
    if req.query.get("tab") == Some("webhooks") {
        return webhooks::edit_page(req, &found, None, Vec::new()).await;
    }
    permissions::edit_page(req, &found, None, Vec::new()).await
}

pub(crate) async fn confirm_rotate(req: &AdminRequest) -> Result<Reply> {
    let found = find_client(req, req.path_id("id")?).await?;
    let usage = usage(req, found.id).await?;
    let path = found.path();
    let confirm = req
        .confirmation(format!("{path}/rotate_secret"), req.tr("rotate-button"), path)
        .effects([req.tr("rotate-effect")])
        .stays(req.tr_count("rotate-stays", usage.valid_tokens));
    req.page(found.subpage_head(req, "rotate-title").current(req.tr("rotate-here")), confirm.html(&[])).await
}

pub(crate) async fn rotate(req: &AdminRequest) -> Result<Reply> {
    let found = find_client(req, req.path_id("id")?).await?;
    let uid = found.client.uid.as_str();
    let secret = req
        .change_with_audit(
            async |tx| admin(tx).rotate_secret(uid, req.now).await.map_err(client_admin_error),
            |_| Some(found.audit_entry(req, Action::ApiClientSecretRotated)),
        )
        .await?;
    let notice = Notice::success(req.tr("rotate-done"))
        .shown_once(req.tr("client-id"), uid)
        .shown_once(req.tr("client-secret"), secret.expose())
        .command(token_command(req, &found, secret.expose()));
    req.redirect(format!("{}/edit", found.path()), notice).await
}

pub(crate) async fn confirm_revoke(req: &AdminRequest) -> Result<Reply> {
    let found = find_client(req, req.path_id("id")?).await?;
    revoke_page(req, &found, Vec::new()).await
}

async fn revoke_page(req: &AdminRequest, found: &OpenedClient, problems: FormErrors) -> Result<Reply> {
    let usage = usage(req, found.id).await?;
    let path = found.path();
    let confirm = req
        .confirmation(path.clone(), req.tr("revoke-button"), path)
        .delete()
        .effects([
            req.tr_count("revoke-tokens", usage.valid_tokens),
            req.tr_with("revoke-permissions", "held", permission_counts(req, &found.client)),
            req.tr_count("revoke-registrations", usage.registrations),
        ])
        .stays(req.tr("revoke-stays"))
        .name(found.client.name.clone(), req.tr("revoke-name"));
    req.form_page(
        found.subpage_head(req, "revoke-title").current(req.tr("client-revoke")),
        confirm.html(&problems),
        problems,
    )
    .await
}

/// Revokes a client. The confirmation page sends the name; a form without the field comes from a program that asked
/// already.
pub(crate) async fn revoke(req: &AdminRequest) -> Result<Reply> {
    let found = find_client(req, req.path_id("id")?).await?;
    if req.form.get(Confirmation::NAME_FIELD).is_some()
        && let Err(problems) = Confirmation::check_name(&req.translator, &req.form, &found.client.name)
    {
        return revoke_page(req, &found, problems).await;
    }
    req.change_with_audit(
        async |tx| admin(tx).delete(&found.client.uid).await.map_err(client_admin_error),
        |()| Some(found.audit_entry(req, Action::ApiClientRevoked)),
    )
    .await?;
    req.redirect(LIST, Notice::success("Client Revoked").text(found.client.name.clone())).await
}
