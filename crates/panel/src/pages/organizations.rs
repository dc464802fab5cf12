//! Organizations: list, overview, creation, settings, deletion (contract 04 §2, §3).

use super::content::in_its_zone;
use super::organization::{LIST, name, organization};
use super::{organization_api, organization_form};
use crate::error;
use crate::parts::{Act, Badge, Cell, Column, Confirm, Empty, Head, Html, Problem, RowAct, Table, render};
use crate::records::{ListFilters, PER_PAGE};
use crate::reply::Reply;
use crate::visit::Visit;
use crate::words::Words;
use askama::Template;
use civitas_application::remove_organization;
use civitas_audit::Action;
use civitas_kernel::{Locale, OrganizationId, Result, Translated};
use civitas_organizations::{Organization, OrganizationFigures, OrganizationQuery};
use std::collections::HashMap;

pub(crate) async fn list(visit: &Visit) -> Result<Reply> {
    let store = visit.panel.store();
    let (request, mut filters) = (visit.query.page(PER_PAGE), ListFilters::new(visit, LIST));
    let text = filters.text("organizations-search");
    let page = store.organizations().list(&OrganizationQuery::ByName(text), request).await?;
    let ids: Vec<OrganizationId> = page.items.iter().map(|(id, _)| *id).collect();
    let figures: HashMap<OrganizationId, OrganizationFigures> =
        store.operations().organization_figures(&ids).await?.into_iter().collect();
    let rows = page.items.iter().map(|(id, organization)| {
        let own = figures.get(id).copied().unwrap_or_default();
        let (title, path) = (name(visit, organization), format!("{LIST}/{id}"));
        let languages = organization.available_locales.iter().map(|locale| locale.to_string());
        let edit = RowAct::link(format!("{path}/edit"), visit.say("nav-settings"), title.clone());
        vec![
            Cell::link(&path, &title, &organization.host),
            Cell::text(&languages.collect::<Vec<_>>().join(", ")),
            Cell::num(&visit.number(own.users)),
            Cell::num(&visit.number(own.clients)),
            state(visit, organization),
            Cell::text(&visit.date(organization.updated_at)),
            Cell::acts(&[edit]),
        ]
    });
    let columns = vec![
        Column::new(visit.say("column-name")),
        Column::new(visit.say("column-languages")).low(),
        Column::new(visit.say("column-people")).num(),
        Column::new(visit.say("nav-api-clients")).num().low(),
        Column::new(visit.say("column-state")),
        Column::new(visit.say("column-changed")),
        Column::acts(visit.say("column-acts")),
    ];
    let empty = Empty {
        title: visit.say("organizations-none"),
        text: visit.say("organizations-lede"),
        act: Some((format!("{LIST}/new"), visit.say("organization-new"))),
    };
    let table = Table::new(visit.say("organizations-caption"), columns).rows(rows).empty(empty);
    let pages = visit.named_pages(LIST, visit.say("organizations-pages"), request, page.has_more).html();
    let results = visit.results(LIST, (visit.shown(page.items.len()), Vec::new()), &table, pages);
    let head = visit
        .head("nav-organizations")
        .lede(visit.say("organizations-lede"))
        .act(Act::primary(format!("{LIST}/new"), visit.say("organization-new")));
    visit.page(head, Html::join([filters.html("organizations-filter"), results])).await
}

fn state(visit: &Visit, organization: &Organization) -> Cell {
    if organization.unconfirmed_host.is_some() {
        Cell::badge(&Badge::warn(visit.say("organization-host-pending")))
    } else if !organization.features.enabled {
        Cell::badge(&Badge::warn(visit.say("organization-api-off")))
    } else {
        Cell::soft(&visit.say("organization-fine"))
    }
}

/// The figures of one organization.
async fn figures(visit: &Visit, id: OrganizationId) -> Result<OrganizationFigures> {
    let found = visit.panel.store().operations().organization_figures(&[id]).await?;
    Ok(found.into_iter().next().map(|(_, figures)| figures).unwrap_or_default())
}

#[derive(Template)]
#[template(path = "pages/organization.html")]
struct Overview<'a> {
    words: &'a Words,
    id: i64,
    organization: &'a Organization,
    /// Value and label.
    figures: Vec<(String, String)>,
    origin: String,
    created: String,
}

pub(crate) async fn overview(visit: &mut Visit) -> Result<Reply> {
    let (id, organization) = in_its_zone(visit).await?;
    let visit = &*visit;
    let own = figures(visit, id).await?;
    let figure = |value: i64, key: &str| (visit.number(value), visit.say(key));
    let overview = Overview {
        words: &visit.words,
        id: id.0,
        organization: &organization,
        figures: vec![
            figure(own.spaces, "figure-spaces"),
            figure(own.components, "figure-components"),
            figure(own.users, "column-people"),
            figure(own.clients, "nav-api-clients"),
        ],
        origin: visit.panel.settings.site.origin(&organization.host),
        created: visit.time(organization.created_at),
    };
    let head = Head::new(name(visit, &organization))
        .crumb(visit.say("nav-start"), "/system")
        .crumb(visit.say("nav-organizations"), LIST)
        .act(Act::link(format!("{LIST}/{id}/edit"), visit.say("nav-settings")))
        .act(Act::link(format!("/system/api_clients?organization={id}"), visit.say("nav-api-clients")));
    visit.page(head, render(&overview)).await
}

pub(crate) async fn edit(visit: &mut Visit) -> Result<Reply> {
    let (id, organization) = in_its_zone(visit).await?;
    let visit = &*visit;
    if visit.query.get("tab") == Some("api") {
        return organization_api::show(visit, id, &organization, Vec::new()).await;
    }
    organization_form::show(visit, Some(id), &organization, Vec::new()).await
}

/// A new organization as the form shows it first.
fn blank(visit: &Visit) -> Organization {
    let locales = visit.panel.settings.site.locales.clone();
    let main = if locales.has(visit.words.locale) {
        visit.words.locale
    } else {
        locales.iter().next().unwrap_or(Locale::EN)
    };
    let mut organization = Organization::new(String::new(), Translated::default(), main, visit.now);
    organization.available_locales = locales;
    organization
}

pub(crate) async fn new(visit: &Visit) -> Result<Reply> {
    organization_form::show(visit, None, &blank(visit), Vec::new()).await
}

pub(crate) async fn create(visit: &mut Visit) -> Result<Reply> {
    let (mut organization, mut problems) = organization_form::read(visit, blank(visit));
    visit.form.text("organization[host]").clone_into(&mut organization.host);
    if organization.host.trim().is_empty() {
        problems.push(Problem::new("organization[host]", visit.say("problem-blank")));
    }
    if !problems.is_empty() {
        return organization_form::show(visit, None, &organization, problems).await;
    }
    let shared = &*visit;
    let created = shared.change(async |tx| {
        let (mut new, admin) = (organization.clone(), organization_form::admin(shared, tx));
        admin.check_entered(None, &[], &new.secondary_hosts).await?;
        let id = admin.create(&mut new, visit.now).await?;
        let entry = shared.record(Action::OrganizationCreated).of(id);
        shared.append(tx, &entry.on("organization", &id.to_string(), &name(shared, &new))).await?;
        Ok(id)
    });
    match created.await {
        Ok(id) => {
            visit.open_organization(id).await?;
            let values = [("name", name(visit, &organization).into())];
            visit.done("organization-created", &values, format!("{LIST}/{id}")).await
        }
        Err(fault) => {
            let problems = error::problems(&visit.words, fault, organization_form::field_of)?;
            organization_form::show(visit, None, &organization, problems).await
        }
    }
}

/// Saves the settings, or the switches of the tab REST API.
pub(crate) async fn update(visit: &Visit) -> Result<Reply> {
    let (id, organization) = organization(visit).await?;
    organization_form::save(visit, id, &organization).await
}

pub(crate) async fn ask(visit: &Visit) -> Result<Reply> {
    let (id, organization) = organization(visit).await?;
    delete_page(visit, id, &organization, Vec::new()).await
}

async fn delete_page(
    visit: &Visit,
    id: OrganizationId,
    organization: &Organization,
    problems: Vec<Problem>,
) -> Result<Reply> {
    let own = figures(visit, id).await?;
    let title = name(visit, organization);
    let confirm = visit
        .confirm(format!("{LIST}/{id}"), visit.say("organization-delete-button"), format!("{LIST}/{id}/edit"))
        .delete()
        .effects([
            visit.words.count("organization-delete-spaces", own.spaces),
            visit.words.count("organization-delete-people", own.users),
            visit.words.count("organization-delete-clients", own.clients),
            visit.tell("organization-delete-host", &[("host", organization.host.as_str().into())]),
        ])
        .stays(visit.say("organization-delete-stays"))
        .name(title.clone(), visit.say("organization-delete-name"));
    let head = Head::new(visit.tell("delete-title", &[("name", title.as_str().into())]))
        .crumb(visit.say("nav-organizations"), LIST)
        .crumb(&title, format!("{LIST}/{id}"))
        .here(visit.say("delete"));
    let body = confirm.html(&problems);
    visit.form_page(head, body, problems).await
}

pub(crate) async fn delete(visit: &Visit) -> Result<Reply> {
    let (id, organization) = organization(visit).await?;
    let title = name(visit, &organization);
    if !Confirm::is_typed(&title, visit.form.text("confirm")) {
        let problem = Problem::new("confirm", visit.say("problem-name-typed"));
        return delete_page(visit, id, &organization, vec![problem]).await;
    }
    let announcer = &visit.panel.services.announcer;
    visit
        .change(async |tx| {
            remove_organization(tx, announcer, id, visit.now).await?;
            // The trail of the organization went with it; this entry is one of the deployment.
            let entry = visit.record(Action::OrganizationDeleted);
            visit.append(tx, &entry.on("organization", &id.to_string(), &title)).await
        })
        .await?;
    visit.done("organization-deleted", &[("name", title.as_str().into())], LIST).await
}
