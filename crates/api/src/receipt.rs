//! The receipt of an asynchronous write (contract 09 A.2).

use crate::links::{LinkMeta, ResourceLink};
use crate::request::Request;
use crate::shapes::Pending;
use civitas_application::SiteSettings;
use civitas_kernel::JobId;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use utoipa::openapi::ObjectBuilder;
use utoipa::openapi::schema::SchemaType;

/// The receipt of an asynchronous write.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = rest_full_api_job_accepted, title = "HTTP 202 async job envelope")]
pub(crate) struct JobReceipt {
    /// The job.
    #[schema(format = "uuid")]
    job_id: String,
    /// Always `pending` here.
    status: Pending,
    /// Always null here.
    #[schema(schema_with = null)]
    data: Value,
    /// Always null here.
    #[schema(schema_with = null)]
    return_value: Value,
    /// The address of the job.
    poll_url: String,
    links: JobLinks,
}

/// Null, without a type as in the published document: generators of clients have no type of null alone.
fn null() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(SchemaType::AnyValue)
}

impl JobReceipt {
    /// The receipt of a job that was just stored.
    pub(crate) fn new(request: &Request, id: JobId) -> Self {
        let links = JobLinks::new(request.backend.commands.site(), &request.tenant.host, id);
        Self {
            job_id: id.to_string(),
            status: Pending,
            data: Value::Null,
            return_value: Value::Null,
            poll_url: links.this.href.clone(),
            links,
        }
    }
}

/// The address of a job.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = rest_full_api_job_links, title = "API job hypermedia controls")]
pub(crate) struct JobLinks {
    #[serde(rename = "self")]
    this: ResourceLink,
}

impl JobLinks {
    /// The links of a job of the organization at this host.
    pub(crate) fn new(site: &SiteSettings, host: &str, id: JobId) -> Self {
        let href = format!("{}/jobs/{id}", site.base(host));
        Self { this: ResourceLink::new(href, "API job status", LinkMeta::default()) }
    }
}
