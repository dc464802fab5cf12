//! All webhook registrations of the deployment, with their health.

use super::client_webhooks::{registration, state};
use super::deliveries::admin;
use crate::notice::Notice;
use crate::parts::{Cell, Choice, Column, Empty, Head, Html, RowAct, Table};
use crate::reply::Reply;
use crate::visit::Visit;
use civitas_kernel::{Error, EventName, RegistrationId, Result};
use civitas_webhooks::{Registration, RegistrationFilter, RegistrationReport, RegistrationState};

const LIST: &str = "/system/webhook_registrations";
const PER_PAGE: i64 = 25;

fn read_state(name: &str) -> Option<RegistrationState> {
    match name {
        "active" => Some(RegistrationState::Active),
        "paused" => Some(RegistrationState::Paused),
        "disabled" => Some(RegistrationState::Disabled),
        _ => None,
    }
}

pub(crate) async fn list(visit: &mut Visit) -> Result<Reply> {
    let visit = &*visit;
    let request = visit.query.page(PER_PAGE);
    let filter = RegistrationFilter {
        state: visit.query.get("state").and_then(read_state),
        text: visit.query.get("q").map(str::to_owned),
        ..RegistrationFilter::default()
    };
    let page = admin(visit).registrations(&filter, request).await?;
    let columns = vec![
        Column::new(visit.say("registration-address")),
        Column::new(visit.say("column-state")),
        Column::new(visit.say("delivery-delivered")).num(),
        Column::new(visit.say("delivery-pending")).num(),
        Column::new(visit.say("delivery-dead")).num(),
        Column::acts(visit.say("column-acts")),
    ];
    let empty = Empty { title: "No webhook registrations found.".to_owned(), ..Empty::default() };
    let rows = page.items.iter().map(|report| row(visit, report));
    let table = Table::new(visit.say("registrations-caption"), columns).rows(rows).empty(empty);
    let pages = visit.named_pages(LIST, visit.say("registrations-pages"), request, page.has_more).html();
    let found = (visit.shown(page.items.len()), visit.chips(LIST, &["q", "state"]));
    let results = visit.results(LIST, found, &table, pages);
    let head = Head::new(visit.say("nav-registrations"))
        .crumb(visit.say("nav-start"), "/system")
        .lede(visit.say("registrations-lede"));
    visit.page(head, Html::join([filters(visit), results])).await
}

fn filters(visit: &Visit) -> Html {
    let states = ["active", "paused", "disabled"]
        .map(|name| Choice::new(name, visit.say(&format!("registrations-{name}"))));
    visit
        .filters(visit.say("registrations-filter"))
        .search(visit.say("registrations-search"))
        .select("state", visit.say("column-state"), states)
        .html()
}

fn row(visit: &Visit, report: &RegistrationReport) -> Vec<Cell> {
    let RegistrationReport { id, registration, client_uid, figures } = report;
    let path = format!("{LIST}/{id}");
    let is_sending = registration.paused_at.is_none() && registration.health.disabled_at.is_none();
    let post = |act: &str, key: &str| {
        RowAct::post(format!("{path}/{act}"), visit.say(key), registration.url.clone(), visit.token())
    };
    let acts = if is_sending {
        vec![post("test", "registration-test"), post("pause", "registration-pause")]
    } else {
        vec![post("enable", "registration-enable")]
    };
    let deliveries = format!("/system/webhook_deliveries?registration={id}");
    vec![
        Cell::link(
            &format!("/system/api_clients/{}/edit?tab=webhooks", registration.client),
            &registration.url,
            client_uid,
        ),
        state(visit, registration),
        Cell::link(&format!("{deliveries}&status=delivered"), &visit.number(figures.delivered), ""),
        Cell::link(&format!("{deliveries}&status=pending"), &visit.number(figures.pending), ""),
        Cell::link(&format!("{deliveries}&status=dead"), &visit.number(figures.dead), ""),
        Cell::acts(&acts),
    ]
}

/// Where an act leads back to: the tab of the client.
fn back(registration: &Registration) -> String {
    format!("/system/api_clients/{}/edit?tab=webhooks", registration.client)
}

pub(crate) async fn enable(visit: &mut Visit) -> Result<Reply> {
    let visit = &*visit;
    let id = RegistrationId(visit.id("id")?);
    let edited = visit.change(async |tx| visit.webhooks(tx).resume(id).await).await?;
    visit
        .redirect(back(&edited), Notice::good(visit.say("registration-enabled")).text(edited.url.clone()))
        .await
}

pub(crate) async fn pause(visit: &mut Visit) -> Result<Reply> {
    let visit = &*visit;
    let id = RegistrationId(visit.id("id")?);
    let edited = visit.change(async |tx| visit.webhooks(tx).pause(id).await).await?;
    visit
        .redirect(back(&edited), Notice::good(visit.say("registration-is-paused")).text(edited.url.clone()))
        .await
}

/// Sends an example of the first event of the registration.
pub(crate) async fn test(visit: &mut Visit) -> Result<Reply> {
    let visit = &*visit;
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
