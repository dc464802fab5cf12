//! `/jobs` (contract 09 part A).

use crate::document::{Doc, Holds};
use crate::error::ErrorDetail;
use crate::links::{LinkMeta, ResourceLink};
use crate::pipeline::Request;
use crate::reply::Reply;
use crate::route::{Answer, Gate, Routes};
use crate::shapes::iso_milliseconds;
use actix_web::http::{Method, StatusCode};
use civitas_application::Site;
use civitas_jobs::{self as jobs, JOB_FIELDS, JobReport, JobStatus, Jobs, LIST_JOBS};
use civitas_kernel::{Error, FieldError, JobId, Result};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use utoipa::ToSchema;
use utoipa::openapi::{ObjectBuilder, Type};
use uuid::Uuid;

/// The receipt of an asynchronous write.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = rest_full_api_job_accepted)]
#[serde(deny_unknown_fields)]
pub(crate) struct Accepted {
    /// The job.
    #[schema(format = "uuid")]
    job_id: String,
    /// Always `pending` here.
    status: Pending,
    /// Always null here.
    #[schema(schema_with = always_null)]
    data: Value,
    /// Always null here.
    #[schema(schema_with = always_null)]
    return_value: Value,
    /// Where to learn how it ended.
    poll_url: String,
    links: JobLinks,
}

fn always_null() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::Null)
}

/// The status of a receipt.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = rest_full_api_job_pending)]
#[serde(rename_all = "lowercase")]
enum Pending {
    /// `pending`
    Pending,
}

/// Where to read a job.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = rest_full_api_job_links)]
#[serde(deny_unknown_fields)]
struct JobLinks {
    #[serde(rename = "self")]
    this: ResourceLink,
}

/// A job, without its result.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = rest_full_api_job_summary)]
#[serde(deny_unknown_fields)]
pub(crate) struct JobSummary {
    #[schema(format = "uuid")]
    id: String,
    #[schema(value_type = JobStatusName)]
    status: &'static str,
    command_key: String,
    #[schema(format = "date-time")]
    created_at: String,
    #[schema(format = "date-time")]
    updated_at: String,
    links: JobLinks,
}

/// Where a job is on its way.
#[derive(ToSchema)]
#[schema(as = rest_full_api_job_status)]
#[serde(rename_all = "lowercase")]
#[expect(dead_code, reason = "names the words of the document")]
pub(crate) enum JobStatusName {
    /// Waits for a worker.
    Pending,
    /// A worker owns it.
    Processing,
    /// Done.
    Completed,
    /// Refused or lost.
    Failed,
}

/// A job, and how it ended.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = rest_full_api_job_detail)]
#[serde(deny_unknown_fields)]
pub(crate) struct JobDetail {
    #[schema(format = "uuid")]
    id: String,
    #[schema(value_type = JobStatusName)]
    status: &'static str,
    command_key: String,
    #[schema(format = "date-time")]
    created_at: String,
    #[schema(format = "date-time")]
    updated_at: String,
    /// The kind of the failure.
    #[schema(required)]
    error_class: Option<String>,
    /// What the inline twin would have said.
    #[schema(required)]
    error_message: Option<String>,
    /// The members that were wrong.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<ErrorDetail>, required = false)]
    error_details: Vec<FieldError>,
    /// What the inline twin would have answered.
    #[schema(value_type = Value, nullable, required)]
    data: Option<Box<RawValue>>,
    /// The same.
    #[schema(value_type = Value, nullable, required)]
    return_value: Option<Box<RawValue>>,
    links: JobLinks,
}

pub(crate) fn routes(routes: &mut Routes) {
    let doc =
        Doc::new("Shows a job: to know its id is to be allowed to", "rest_full_api_job_detail").fails(404);
    routes.on("getJob", Method::GET, "/jobs/{id}", Gate::Open, doc, show_one);
    let doc = Doc::new("Lists the jobs of the caller's client and user", "rest_full_api_jobs_index_response")
        .pages();
    let doc = doc.filters(JOB_FIELDS).with("filter[command_key]", Holds::Text);
    let doc = doc.with("filter[status]", Holds::Word(JobStatus::NAMES)).fails(400);
    routes.read("listJobs", "/jobs", LIST_JOBS, doc, index);
    let doc = Doc::silent("Removes a job", StatusCode::NO_CONTENT).fails(404);
    routes.on("deleteJob", Method::DELETE, "/jobs/{id}", Gate::Needs(LIST_JOBS), doc, remove);
}

async fn show_one(request: Request) -> Answer {
    let jobs = Jobs { store: request.ports().jobs() };
    let job = jobs.find(request.tenant.id, id(&request)?).await?;
    let changed_at = job.summary.updated_at;
    let detail = detail(request.api.commands().site(), &request.tenant.host, job)?;
    Ok(Reply::public_read(&request, &detail, changed_at)?)
}

async fn index(request: Request) -> Answer {
    let jobs = Jobs { store: request.ports().jobs() };
    let page = jobs.list(request.ctx()?, &request.query.filter()?, request.query.page()).await?;
    let changed_at =
        crate::resources::newest(&request, &["jobs"], page.items.iter().map(|j| j.updated_at)).await?;
    let site = request.api.commands().site();
    let page = page.map(|job| summary(site, &request.tenant.host, job));
    Ok(Reply::list(&request, page, false, changed_at)?)
}

async fn remove(request: Request) -> Answer {
    let jobs = Jobs { store: request.ports().jobs() };
    jobs.remove(request.ctx()?, id(&request)?).await?;
    request.ports().list_changes().touch_list(request.tenant.id, "jobs", request.now).await?;
    Ok(Reply::empty(StatusCode::NO_CONTENT))
}

/// A UUID in its usual form, in any case.
fn id(request: &Request) -> Result<JobId> {
    let text = request.segment("id");
    let id = if text.len() == 36 { Uuid::try_parse(text).ok() } else { None };
    id.map(JobId).ok_or(Error::NotFound)
}

/// The receipt of a job that was just kept.
pub(crate) fn accepted(request: &Request, id: JobId) -> Accepted {
    let links = links(request.api.commands().site(), &request.tenant.host, id);
    Accepted {
        job_id: id.to_string(),
        status: Pending::Pending,
        data: Value::Null,
        return_value: Value::Null,
        poll_url: links.this.href.clone(),
        links,
    }
}

fn links(site: &Site, host: &str, id: JobId) -> JobLinks {
    let href = format!("{}/jobs/{id}", site.base(host));
    JobLinks { this: ResourceLink::new(href, "API job status", LinkMeta::default()) }
}

fn summary(site: &Site, host: &str, job: jobs::JobSummary) -> JobSummary {
    JobSummary {
        id: job.id.to_string(),
        status: job.status.as_str(),
        command_key: job.command_key,
        created_at: iso_milliseconds(job.created_at),
        updated_at: iso_milliseconds(job.updated_at),
        links: links(site, host, job.id),
    }
}

fn detail(site: &Site, host: &str, job: JobReport) -> Result<JobDetail> {
    let result = job.result.map(RawValue::from_string).transpose().map_err(Error::internal)?;
    let (class, message, details) = match job.failure {
        Some(failure) => (Some(failure.class.into_owned()), Some(failure.message), failure.details),
        None => (None, None, Vec::new()),
    };
    let JobSummary { id, status, command_key, created_at, updated_at, links } =
        summary(site, host, job.summary);
    Ok(JobDetail {
        id,
        status,
        command_key,
        created_at,
        updated_at,
        error_class: class,
        error_message: message,
        error_details: details,
        data: result.clone(),
        return_value: result,
        links,
    })
}
