//! `/jobs` (contract 09 part A).

use crate::answers;
use crate::document::{OperationDoc, ParameterType};
use crate::error::ErrorDetail;
use crate::receipt::JobLinks;
use crate::reply::Reply;
use crate::request::Request;
use crate::route::{HandlerResult, RequiredAccess, Routes};
use crate::shapes::{JobStatusName, iso_milliseconds};
use actix_web::http::{Method, StatusCode};
use civitas_application::SiteSettings;
use civitas_jobs::{self as jobs, JOB_FIELDS, JobAnswer, JobOwner, JobStatus, Jobs, LIST_JOBS};
use civitas_kernel::{Error, FieldError, JobId, Result};
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;
use uuid::Uuid;

/// A job, without its result.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = rest_full_api_job_summary, title = "API job summary")]
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

/// A job, with its result.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = rest_full_api_job_detail, title = "API job")]
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
    /// The error text of the synchronous endpoint.
    #[schema(required)]
    error_message: Option<String>,
    /// The invalid members.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<ErrorDetail>, required = false)]
    error_details: Vec<FieldError>,
    /// The answer of the synchronous endpoint.
    #[schema(value_type = Value, nullable, required)]
    data: Option<Box<RawValue>>,
    /// The same.
    #[schema(value_type = Value, nullable, required)]
    return_value: Option<Box<RawValue>>,
    links: JobLinks,
}

pub(crate) fn routes(routes: &mut Routes) {
    let doc = OperationDoc::without_envelope::<JobDetail>("Shows a job: to know its id is to be allowed to");
    routes.add_route("getJob", Method::GET, "/jobs/{id}", RequiredAccess::Open, doc, show_one);
    let doc = OperationDoc::new(
        "Lists the jobs of the caller's client and user",
        "rest_full_api_jobs_index_response",
    );
    let doc = doc
        .with_schema::<JobSummary>()
        .with_list_parameters()
        .with_filters(JOB_FIELDS)
        .with_parameter("filter[command_key]", ParameterType::Text);
    let doc = doc.with_parameter("filter[status]", ParameterType::Word(JobStatus::NAMES));
    routes.read("listJobs", "/jobs", LIST_JOBS, doc, index);
    let doc = OperationDoc::without_json("Removes a job", StatusCode::NO_CONTENT);
    routes.add_route(
        "deleteJob",
        Method::DELETE,
        "/jobs/{id}",
        RequiredAccess::Needs(LIST_JOBS),
        doc,
        remove,
    );
}

async fn show_one(request: Request) -> HandlerResult {
    let jobs = Jobs { store: request.ports().jobs() };
    let job = jobs.find(request.tenant.id, job_id(&request)?).await?;
    let changed_at = job.summary.updated_at;
    let writer = job.owner_of_ended();
    let detail = detail(request.backend.commands.site(), &request.tenant.host, job)?;
    let reply = Reply::for_public_read(&request, &detail, changed_at)?;
    Ok(request.backend.with_position(reply, writer).await)
}

async fn index(request: Request) -> HandlerResult {
    let jobs = Jobs { store: request.ports().jobs() };
    let page = jobs.list(request.ctx()?, &request.filter()?, request.page()?).await?;
    let site = request.backend.commands.site();
    let view = |job| summary(site, &request.tenant.host, job);
    let reply = answers::page_reply(&request, &["jobs"], page, false, |job| job.updated_at, view).await?;
    // Some may have ended.
    Ok(request.backend.with_position(reply, Some(JobOwner::of_caller(request.ctx()?))).await)
}

async fn remove(request: Request) -> HandlerResult {
    let (ctx, id, commands) = (request.ctx()?, job_id(&request)?, &request.backend.commands);
    let removed = commands.committer().in_transaction(&**commands.store(), request.now, async |tx| {
        Jobs { store: tx.jobs() }.remove(ctx, id).await?;
        tx.list_changes().touch_list(request.tenant.id, "jobs", request.now).await?;
        let reply = Reply::empty(StatusCode::NO_CONTENT);
        request.store_reply(tx, &reply).await?;
        Ok(reply)
    });
    Ok(removed.await?)
}

/// A UUID in its usual form, in any case.
pub(crate) fn job_id(request: &Request) -> Result<JobId> {
    let text = request.segment("id");
    let id = if text.len() == 36 { Uuid::try_parse(text).ok() } else { None };
    id.map(JobId).ok_or(Error::NotFound)
}

fn summary(site: &SiteSettings, host: &str, job: jobs::JobSummary) -> JobSummary {
    JobSummary {
        id: job.id.to_string(),
        status: job.status.as_str(),
        command_key: job.command_key,
        created_at: iso_milliseconds(job.created_at),
        updated_at: iso_milliseconds(job.updated_at),
        links: JobLinks::new(site, host, job.id),
    }
}

/// A job with its result, of the organization at this host.
pub(crate) fn detail(site: &SiteSettings, host: &str, job: JobAnswer) -> Result<JobDetail> {
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
