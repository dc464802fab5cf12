//! Finds one record by an exact identifier: an e-mail address, host, client id, the id of a job or of a delivery.

use crate::admin_request::AdminRequest;
use crate::error;
use crate::parts::{Field, Html, render};
use crate::reply::Reply;
use crate::translator::Translator;
use actix_web::http::StatusCode;
use askama::Template;
use civitas_accounts::normal_email;
use civitas_kernel::{Error, JobId, Result};
use civitas_webhooks::DeliveryId;
use uuid::Uuid;

#[derive(Template)]
#[template(path = "pages/find.html")]
struct NothingFound<'a> {
    translator: &'a Translator,
    field: Html,
}

pub(crate) async fn show(req: &AdminRequest) -> Result<Reply> {
    let text = req.query.get("q").unwrap_or_default();
    if let Some(path) = find(req, text).await? {
        return Ok(Reply::redirect(path));
    }
    let head = req.head("find-none").lede(req.tr("find-none-lede"));
    let field = Field::search("q", req.tr("find"), text).hint(req.tr("find-hint"));
    let body = NothingFound { translator: &req.translator, field: field.html(&req.translator) };
    let status = if text.is_empty() { StatusCode::OK } else { error::status(&Error::NotFound) };
    req.page_with_status(status, head, render(&body), Vec::new()).await
}

/// The page of the one record with this identifier.
async fn find(req: &AdminRequest, text: &str) -> Result<Option<String>> {
    let store = req.store();
    if let Ok(id) = Uuid::parse_str(text) {
        if matches!(store.job_log().find(JobId(id)).await, Ok(Some(_))) {
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
