//! All webhook registrations of the deployment, with their health.

use super::deliveries::admin;
use crate::admin_request::AdminRequest;
use crate::list::{List, PER_PAGE};
use crate::notice::Notice;
use crate::pages::clients::webhooks::{registration_from_path, state, tab_path};
use crate::parts::{Cell, Choice, EmptyState, RowAction, Table};
use crate::reply::Reply;
use civitas_kernel::{Error, EventName, RegistrationId, Result};
use civitas_webhooks::{RegistrationFilter, RegistrationReport, RegistrationState};

const LIST: &str = "/system/webhook_registrations";
const STATES: [(&str, RegistrationState); 3] = [
    ("active", RegistrationState::Active),
    ("paused", RegistrationState::Paused),
    ("disabled", RegistrationState::Disabled),
];

pub(crate) async fn list(req: &AdminRequest) -> Result<Reply> {
    let mut list = List::new(req, "registrations", LIST);
    let text = list.search("registrations-search");
    let states = STATES.map(|(name, _)| Choice::new(name, req.tr(&format!("registrations-{name}"))));
    let state = list.select("state", "column-state", states);
    let state = STATES.iter().find(|(name, _)| Some(*name) == state).map(|(_, state)| *state);
    let filter = RegistrationFilter { state, text, ..RegistrationFilter::default() };
    let request = req.query.page(PER_PAGE);
    let page = admin(req).registrations(&filter, request).await?;
    let columns = req.columns(
        "registration-address column-state delivery-delivered:num delivery-pending:num delivery-dead:num column-acts",
    );
    let empty = EmptyState::new("No webhook registrations found.".to_owned(), "");
    let rows = page.items.iter().map(|report| row(req, report));
    let table = Table::new(req.tr("registrations-caption"), columns).rows(rows).empty(empty);
    let links = list.page_links(request, &page).label(req.tr("registrations-pages"));
    list.reply(req.head("nav-registrations"), &table, &links).await
}

fn row(req: &AdminRequest, report: &RegistrationReport) -> Vec<Cell> {
    let RegistrationReport { id, registration, client_uid, figures } = report;
    let is_sending = registration.paused_at.is_none() && registration.health.disabled_at.is_none();
    let post = |name: &str, key: &str| {
        let action = format!("{LIST}/{id}/{name}");
        RowAction::post(action, req.tr(key), registration.url.clone(), req.token())
    };
    let actions = if is_sending {
        vec![post("test", "registration-test"), post("pause", "registration-pause")]
    } else {
        vec![post("enable", "registration-enable")]
    };
    let deliveries = format!("/system/webhook_deliveries?registration={id}");
    vec![
        Cell::link(&tab_path(registration.client), &registration.url, client_uid),
        state(req, registration),
        Cell::link(&format!("{deliveries}&status=delivered"), &req.number(figures.delivered), ""),
        Cell::link(&format!("{deliveries}&status=pending"), &req.number(figures.pending), ""),
        Cell::link(&format!("{deliveries}&status=dead"), &req.number(figures.dead), ""),
        Cell::actions(&actions),
    ]
}

pub(crate) async fn enable(req: &AdminRequest) -> Result<Reply> {
    let id = RegistrationId(req.path_id("id")?);
    let edited = req.in_transaction(async |tx| req.webhooks(tx).resume(id).await).await?;
    let notice = Notice::success(req.tr("registration-enabled"));
    req.redirect(tab_path(edited.client), notice.text(edited.url)).await
}

pub(crate) async fn pause(req: &AdminRequest) -> Result<Reply> {
    let id = RegistrationId(req.path_id("id")?);
    let edited = req.in_transaction(async |tx| req.webhooks(tx).pause(id).await).await?;
    let notice = Notice::success(req.tr("registration-is-paused"));
    req.redirect(tab_path(edited.client), notice.text(edited.url)).await
}

/// Sends an example of the first event of the registration.
pub(crate) async fn test(req: &AdminRequest) -> Result<Reply> {
    let (id, registration) = registration_from_path(req).await?;
    let name = registration.subscriptions.first().copied().unwrap_or(EventName::ProposalCreation);
    let origin = match registration.organization {
        Some(organization) => {
            req.store().organizations().tenant(organization).await?.map(|tenant| tenant.host)
        }
        None => None,
    };
    let origin = req.panel.settings.site.origin(origin.as_deref().unwrap_or("localhost"));
    let body = (req.panel.services.webhook_example)(name, &origin).ok_or(Error::NotFound)?;
    let tested = req.in_transaction(async |tx| req.webhooks(tx).test(id, name, body.clone()).await).await;
    match tested {
        Ok(delivery) => {
            let to = format!("/system/webhook_deliveries/{}", delivery.0);
            req.redirect(to, Notice::success(req.tr("registration-tested")).text(registration.url)).await
        }
        Err(Error::Rejected(_)) => {
            req.redirect(tab_path(registration.client), Notice::failure(req.tr("registration-no-test"))).await
        }
        Err(error) => Err(error),
    }
}
