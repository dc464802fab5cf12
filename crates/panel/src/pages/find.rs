//! Finds one record by an exact identifier: an e-mail address, host, client id, the id of a job or of a delivery.

use crate::error;
use crate::parts::{Field, Html, render};
use crate::reply::Reply;
use crate::visit::Visit;
use crate::words::Words;
use actix_web::http::StatusCode;
use askama::Template;
use civitas_accounts::normal_email;
use civitas_application::JobAdmin;
use civitas_kernel::{Error, JobId, Result};
use civitas_webhooks::DeliveryId;
use uuid::Uuid;

#[derive(Template)]
#[template(path = "pages/find.html")]
struct NothingFound<'a> {
    words: &'a Words,
    field: Html,
}

pub(crate) async fn show(visit: &Visit) -> Result<Reply> {
    let text = visit.query.get("q").unwrap_or_default();
    if let Some(path) = find(visit, text).await? {
        return Ok(Reply::redirect(path));
    }
    let head = visit.head("find-none").lede(visit.say("find-none-lede"));
    let field = Field::search("q", visit.say("find"), text).hint(visit.say("find-hint"));
    let body = NothingFound { words: &visit.words, field: field.html(&visit.words) };
    let status = if text.is_empty() { StatusCode::OK } else { error::status(&Error::NotFound) };
    visit.render(status, head, render(&body), Vec::new()).await
}

/// The page of the one record with this identifier.
async fn find(visit: &Visit, text: &str) -> Result<Option<String>> {
    let store = visit.panel.store();
    if let Ok(id) = Uuid::parse_str(text) {
        if (JobAdmin { store }).job(JobId(id)).await.is_ok() {
            return Ok(Some(format!("/system/jobs/{id}")));
        }
        let delivery = store.delivery_log().find(None, DeliveryId(id)).await?;
        return Ok(delivery.map(|_| format!("/system/webhook_deliveries/{id}")));
    }
    if let Some((id, _)) = store.clients().find_by_uid(text).await? {
        return Ok(Some(format!("/system/api_clients/{id}")));
    }
    if let Some((id, _)) = store.administrators().find_by_email(&normal_email(text)).await? {
        return Ok(Some(format!("/system/admins/{id}/edit")));
    }
    let organization = store.organizations().find_by_host(&text.to_lowercase()).await?;
    Ok(organization.map(|id| format!("/system/organizations/{id}")))
}
