//! All webhook registrations of the deployment, with their health.

use super::client_webhooks::{registration, state};
use super::deliveries::admin;
use super::log::Log;
use crate::notice::Notice;
use crate::parts::{Cell, Choice, Column, Empty, RowAct, Table};
use crate::records::PER_PAGE;
use crate::reply::Reply;
use crate::visit::Visit;
use civitas_kernel::{Error, EventName, RegistrationId, Result};
use civitas_webhooks::{Registration, RegistrationFilter, RegistrationReport, RegistrationState};

const LIST: &str = "/system/webhook_registrations";
const STATES: [(&str, RegistrationState); 3] = [
    ("active", RegistrationState::Active),
    ("paused", RegistrationState::Paused),
    ("disabled", RegistrationState::Disabled),
];

pub(crate) async fn list(visit: &Visit) -> Result<Reply> {
    let mut log = Log::new(visit, LIST, "registrations");
    let text = log.filters.text("registrations-search");
    let states = STATES.map(|(name, _)| Choice::new(name, visit.say(&format!("registrations-{name}"))));
    let state = log.select("state", "column-state", states);
    let state = STATES.iter().find(|(name, _)| Some(*name) == state).map(|(_, state)| *state);
    let filter = RegistrationFilter { state, text, ..RegistrationFilter::default() };
    let request = visit.query.page(PER_PAGE);
    let page = admin(visit).registrations(&filter, request).await?;
    let number = |key: &str| Column::new(visit.say(key)).num();
    let mut columns = visit.columns(&["registration-address", "column-state"]);
    columns.extend(["delivery-delivered", "delivery-pending", "delivery-dead"].map(number));
    columns.push(Column::acts(visit.say("column-acts")));
    let empty = Empty { title: "No webhook registrations found.".to_owned(), ..Empty::default() };
    let rows = page.items.iter().map(|report| row(visit, report));
    let table = Table::new(visit.say("registrations-caption"), columns).rows(rows).empty(empty);
    let pages = visit.named_pages(LIST, visit.say("registrations-pages"), request, page.has_more).html();
    log.found = visit.shown(page.items.len());
    log.show(&table, pages).await
}

fn row(visit: &Visit, report: &RegistrationReport) -> Vec<Cell> {
    let RegistrationReport { id, registration, client_uid, figures } = report;
    let is_sending = registration.paused_at.is_none() && registration.health.disabled_at.is_none();
    let post = |act: &str, key: &str| {
        let action = format!("{LIST}/{id}/{act}");
        RowAct::post(action, visit.say(key), registration.url.clone(), visit.token())
    };
    let acts = if is_sending {
        vec![post("test", "registration-test"), post("pause", "registration-pause")]
    } else {
        vec![post("enable", "registration-enable")]
    };
    let deliveries = format!("/system/webhook_deliveries?registration={id}");
    vec![
        Cell::link(&back(registration), &registration.url, client_uid),
        state(visit, registration),
        Cell::link(&format!("{deliveries}&status=delivered"), &visit.number(figures.delivered), ""),
        Cell::link(&format!("{deliveries}&status=pending"), &visit.number(figures.pending), ""),
        Cell::link(&format!("{deliveries}&status=dead"), &visit.number(figures.dead), ""),
        Cell::acts(&acts),
    ]
}

/// The tab of the client, where an act leads back to.
fn back(registration: &Registration) -> String {
    format!("/system/api_clients/{}/edit?tab=webhooks", registration.client)
}

pub(crate) async fn enable(visit: &Visit) -> Result<Reply> {
    let id = RegistrationId(visit.id("id")?);
    let edited = visit.change(async |tx| visit.webhooks(tx).resume(id).await).await?;
    let notice = Notice::good(visit.say("registration-enabled"));
    visit.redirect(back(&edited), notice.text(edited.url)).await
}

pub(crate) async fn pause(visit: &Visit) -> Result<Reply> {
    let id = RegistrationId(visit.id("id")?);
    let edited = visit.change(async |tx| visit.webhooks(tx).pause(id).await).await?;
    let notice = Notice::good(visit.say("registration-is-paused"));
    visit.redirect(back(&edited), notice.text(edited.url)).await
}

/// Sends an example of the first event of the registration.
pub(crate) async fn test(visit: &Visit) -> Result<Reply> {
    let (id, registration) = registration(visit).await?;
    let name = registration.subscriptions.first().copied().unwrap_or(EventName::ProposalCreation);
    let origin = match registration.organization {
        Some(organization) => {
            visit.panel.store().organizations().tenant(organization).await?.map(|tenant| tenant.host)
        }
        None => None,
    };
    let origin = visit.panel.settings.site.origin(origin.as_deref().unwrap_or("localhost"));
    let body = (visit.panel.services.webhook_example)(name, &origin).ok_or(Error::NotFound)?;
    let tested = visit.change(async |tx| visit.webhooks(tx).test(id, name, body.clone()).await).await;
    match tested {
        Ok(delivery) => {
            let to = format!("/system/webhook_deliveries/{}", delivery.0);
            visit.redirect(to, Notice::good(visit.say("registration-tested")).text(registration.url)).await
        }
        Err(Error::Rejected(_)) => {
            visit.redirect(back(&registration), Notice::bad(visit.say("registration-no-test"))).await
        }
        Err(error) => Err(error),
    }
}
