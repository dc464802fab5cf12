//! Organizations: list, overview, creation, settings, deletion (contract 04 §2, §3).

use super::organization::{LIST, find_from_path, name, open_organization};
use super::{organization_api, organization_form};
use crate::admin_request::AdminRequest;
use crate::error;
use crate::list::{List, PER_PAGE};
use crate::parts::{
    Badge, Cell, Confirmation, FormError, FormErrors, Head, PageAction, RowAction, Table, render,
};
use crate::reply::Reply;
use crate::translator::Translator;
use askama::Template;
use civitas_application::remove_organization;
use civitas_audit::Action;
use civitas_kernel::{Locale, OrganizationId, Result, Translated};
use civitas_organizations::{Organization, OrganizationFigures, OrganizationQuery};
use std::collections::HashMap;

pub(crate) async fn list(req: &AdminRequest) -> Result<Reply> {
    let store = req.store();
    let (request, mut list) = (req.query.page(PER_PAGE), List::new(req, "organizations", LIST));
    let text = list.search("organizations-search");
    // The field alone shows the search.
    list.chips.clear();
    let page = store.organizations().list(&OrganizationQuery::ByName(text), request).await?;
    let ids: Vec<OrganizationId> = page.items.iter().map(|(id, _)| *id).collect();
    let figures: HashMap<OrganizationId, OrganizationFigures> =
        store.operations().organization_figures(&ids).await?.into_iter().collect();
    let rows = page.items.iter().map(|(id, organization)| {
        let counts = figures.get(id).copied().unwrap_or_default();
        let (title, path) = (name(req, organization), format!("{LIST}/{id}"));
        let languages = organization.available_locales.iter().map(|locale| locale.to_string());
        let edit = RowAction::link(format!("{path}/edit"), req.tr("nav-settings"), title.clone());
        vec![
            Cell::link(&path, &title, &organization.host),
            Cell::text(&languages.collect::<Vec<_>>().join(", ")),
            Cell::text(&req.count_text(counts.users, OrganizationFigures::MAX_COUNT)),
            Cell::text(&req.count_text(counts.clients, OrganizationFigures::MAX_COUNT)),
            state(req, organization),
            Cell::text(&req.date(organization.updated_at)),
            Cell::actions(&[edit]),
        ]
    });
    let columns = req.columns(
        "column-name column-languages:low column-people:num nav-api-clients:num:low column-state \
         column-changed column-acts",
    );
    let new = (format!("{LIST}/new"), req.tr("organization-new"));
    let table = Table::new(req.tr("organizations-caption"), columns).rows(rows);
    let links = list.page_links(request, &page).label(req.tr("organizations-pages"));
    list.reply_with_new(req.head("nav-organizations"), table, &links, new).await
}

fn state(req: &AdminRequest, organization: &Organization) -> Cell {
    if organization.unconfirmed_host.is_some() {
        Cell::badge(&Badge::warn(req.tr("organization-host-pending")))
    } else if !organization.features.enabled {
        Cell::badge(&Badge::warn(req.tr("organization-api-off")))
    } else {
        Cell::muted(&req.tr("organization-fine"))
    }
}

/// The figures of one organization.
async fn figures(req: &AdminRequest, id: OrganizationId) -> Result<OrganizationFigures> {
    let found = req.store().operations().organization_figures(&[id]).await?;
    Ok(found.into_iter().next().map(|(_, figures)| figures).unwrap_or_default())
}

#[derive(Template)]
#[template(path = "pages/organization.html")]
struct Overview<'a> {
    translator: &'a Translator,
    id: i64,
    organization: &'a Organization,
    /// Value and label.
    figures: Vec<(String, String)>,
    origin: String,
    created: String,
}

pub(crate) async fn overview(req: &AdminRequest) -> Result<Reply> {
    let (id, organization) = open_organization(req).await?;
    let counts = figures(req, id).await?;
    let figure = |value: i64, key: &str| (req.count_text(value, OrganizationFigures::MAX_COUNT), req.tr(key));
    let overview = Overview {
        translator: &req.translator,
        id: id.0,
        organization: &organization,
        figures: vec![
            figure(counts.spaces, "figure-spaces"),
            figure(counts.components, "figure-components"),
            figure(counts.users, "column-people"),
            figure(counts.clients, "nav-api-clients"),
        ],
        origin: req.panel.settings.site.origin(&organization.host),
        created: req.time(organization.created_at),
    };
    let head = Head::new(name(req, &organization))
        .crumb(req.tr("nav-start"), "/system")
        .crumb(req.tr("nav-organizations"), LIST)
        .action(PageAction::link(format!("{LIST}/{id}/edit"), req.tr("nav-settings")))
        .action(PageAction::link(
            format!("/system/api_clients?organization={id}"),
            req.tr("nav-api-clients"),
        ));
    req.page(head, render(&overview)).await
}

pub(crate) async fn edit(req: &AdminRequest) -> Result<Reply> {
    let (id, organization) = open_organization(req).await?;
    if req.query.get("tab") == Some("api") {
        return organization_api::edit_page(req, id, &organization, Vec::new()).await;
    }
    organization_form::edit_page(req, id, &organization, Vec::new()).await
}

/// A new organization as the form shows it first.
fn blank(req: &AdminRequest) -> Organization {
    let locales = req.panel.settings.site.locales.clone();
    let main = if locales.has(req.translator.locale) {
        req.translator.locale
    } else {
        locales.iter().next().unwrap_or(Locale::EN)
    };
    let mut organization = Organization::new(String::new(), Translated::default(), main, req.now);
    organization.available_locales = locales;
    organization
}

pub(crate) async fn new(req: &AdminRequest) -> Result<Reply> {
    organization_form::new_page(req, &blank(req), Vec::new()).await
}

pub(crate) async fn create(req: &AdminRequest) -> Result<Reply> {
    let (mut organization, mut problems) = organization_form::read_form(req, blank(req));
    req.form.text("organization[host]").clone_into(&mut organization.host);
    if organization.host.trim().is_empty() {
        problems.push(FormError::new("organization[host]", req.tr("problem-blank")));
    }
    if !problems.is_empty() {
        return organization_form::new_page(req, &organization, problems).await;
    }
    let created = req.change_with_audit(
        async |tx| {
            let (mut new, admin) = (organization.clone(), organization_form::admin(req, tx));
            admin.check_entered(None, &[], &new.secondary_hosts).await?;
            let id = admin.create(&mut new, req.now).await?;
            Ok((id, new))
        },
        |(id, new)| {
            let entry = req.audit_entry(Action::OrganizationCreated).in_organization(*id);
            Some(entry.with_object("organization", &id.to_string(), &name(req, new)))
        },
    );
    match created.await {
        Ok((id, _)) => {
            req.set_navigation_organization(id).await?;
            let values = [("name", name(req, &organization).into())];
            req.redirect_done("organization-created", &values, format!("{LIST}/{id}")).await
        }
        Err(error) => {
            let problems = error::form_errors(&req.translator, error, organization_form::field_name)?;
            organization_form::new_page(req, &organization, problems).await
        }
    }
}

pub(crate) async fn confirm_delete(req: &AdminRequest) -> Result<Reply> {
    let (id, organization) = find_from_path(req).await?;
    delete_page(req, id, &organization, Vec::new()).await
}

async fn delete_page(
    req: &AdminRequest,
    id: OrganizationId,
    organization: &Organization,
    problems: FormErrors,
) -> Result<Reply> {
    let counts = figures(req, id).await?;
    let (title, path) = (name(req, organization), format!("{LIST}/{id}"));
    let confirm = req
        .confirmation(path.clone(), req.tr("organization-delete-button"), format!("{path}/edit"))
        .delete()
        .effects([
            req.tr_count("organization-delete-spaces", counts.spaces),
            req.tr_count("organization-delete-people", counts.users),
            req.tr_count("organization-delete-clients", counts.clients),
            req.tr_with("organization-delete-host", "host", organization.host.as_str()),
        ])
        .stays(req.tr("organization-delete-stays"))
        .name(title.clone(), req.tr("organization-delete-name"));
    let head = Head::new(req.tr_with("delete-title", "name", title.as_str()))
        .crumb(req.tr("nav-organizations"), LIST)
        .crumb(&title, path)
        .current(req.tr("delete"));
    req.form_page(head, confirm.html(&problems), problems).await
}

pub(crate) async fn delete(req: &AdminRequest) -> Result<Reply> {
    let (id, organization) = find_from_path(req).await?;
    let title = name(req, &organization);
    if let Err(problems) = Confirmation::check_name(&req.translator, &req.form, &title) {
        return delete_page(req, id, &organization, problems).await;
    }
    let committer = &req.panel.services.committer;
    req.change_with_audit(
        async |tx| remove_organization(tx, committer, id, req.now).await,
        // The trail of the organization is deleted with it; this entry is one of the deployment.
        |()| {
            Some(req.audit_entry(Action::OrganizationDeleted).with_object(
                "organization",
                &id.to_string(),
                &title,
            ))
        },
    )
    .await?;
    req.redirect_done("organization-deleted", &[("name", title.as_str().into())], LIST).await
}
