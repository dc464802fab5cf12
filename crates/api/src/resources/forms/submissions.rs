//! `/submission_requests`: the state of an asynchronous submission (contract 08 §6.6).

use super::shapes::FormsLink;
use crate::answers;
use crate::document::OperationDoc;
use crate::error::ErrorDetail;
use crate::reply::Reply;
use crate::request::Request;
use crate::resources::jobs::job_id;
use crate::route::{HandlerResult, Routes};
use crate::shapes::{JobStatusName, SubmissionType};
use actix_web::http::StatusCode;
use civitas_application::RenderContext;
use civitas_jobs::{JobAnswer, JobStatus, Jobs};
use civitas_kernel::{Command, Error, FieldError, JobId, Result};
use civitas_surveys::{READ_SUBMISSIONS, SubmitAnswers};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// When to ask again, in seconds.
const RETRY_AFTER: &str = "2";

/// The state of an asynchronous submission.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = submission_request)]
pub(crate) struct SubmissionView {
    /// The job.
    #[schema(format = "uuid")]
    id: String,
    r#type: SubmissionType,
    attributes: SubmissionAttributes,
    meta: SubmissionMeta,
    links: SubmissionLinks,
}

/// How far a submission is.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = submission_request_attributes)]
struct SubmissionAttributes {
    #[schema(value_type = JobStatusName)]
    status: &'static str,
    /// The invalid answers of a failed submission.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<ErrorDetail>>)]
    errors: Option<Vec<FieldError>>,
    /// The error text of a failed submission.
    #[serde(skip_serializing_if = "Option::is_none")]
    error_description: Option<String>,
}

/// How far a submission is.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = submission_request_meta)]
struct SubmissionMeta {
    #[schema(value_type = JobStatusName)]
    status: &'static str,
}

/// The links of a submission.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = submission_request_links)]
struct SubmissionLinks {
    #[serde(rename = "self")]
    this: FormsLink,
    /// The response, once there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<FormsLink>,
}

/// The receipt of an asynchronous submission.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = submission_request_accepted_response)]
pub(crate) struct SubmissionAccepted {
    /// The job.
    #[schema(format = "uuid")]
    job_id: String,
    data: SubmissionView,
}

pub(super) fn routes(routes: &mut Routes) {
    let doc = OperationDoc::item::<SubmissionView>("Shows the state of an asynchronous submission");
    let path = "/submission_requests/{id}";
    routes.read("getSubmissionRequest", path, READ_SUBMISSIONS, doc, show_one);
}

/// The receipt of a submission that was just stored.
pub(super) fn accepted(request: &Request, id: JobId) -> Result<Reply> {
    let data = view(&request.localized_context()?, id, JobStatus::Pending);
    let location = data.links.this.href().to_owned();
    let reply = Reply::json(StatusCode::ACCEPTED, &SubmissionAccepted { job_id: id.to_string(), data })?;
    Ok(reply.with_header("Location", location).with_header("Retry-After", RETRY_AFTER))
}

async fn show_one(request: Request) -> HandlerResult {
    let context = request.localized_context()?;
    context.ctx.require(&READ_SUBMISSIONS)?;
    let jobs = Jobs { store: request.ports().jobs() };
    let answer = jobs.find(context.ctx.organization, job_id(&request)?).await?;
    if answer.summary.command_key != SubmitAnswers::KEY {
        return Err(Error::NotFound.into());
    }
    let writer = answer.owner_of_ended();
    let (status, changed_at) = (answer.summary.status, answer.summary.updated_at);
    let reply =
        answers::record_reply(&request, &[], changed_at, completed(&context, answer)).await?.localized();
    let reply = request.backend.with_position(reply, writer).await;
    let is_running = matches!(status, JobStatus::Pending | JobStatus::Processing);
    Ok(if is_running { reply.with_header("Retry-After", RETRY_AFTER) } else { reply })
}

/// The state with its result or error.
fn completed(context: &RenderContext<'_>, answer: JobAnswer) -> SubmissionView {
    let mut view = view(context, answer.summary.id, answer.summary.status);
    if let Some(failure) = answer.failure {
        view.attributes.errors = Some(failure.details);
        view.attributes.error_description = Some(failure.message);
    }
    let result: Option<Value> = answer.result.and_then(|text| serde_json::from_str(&text).ok());
    let response = result.and_then(|result| result["questionnaire_response_id"].as_i64());
    view.links.result = response.map(|id| {
        let path = format_args!("/questionnaire_responses/{id}");
        FormsLink::get(context, path, "Questionnaire response", "result")
    });
    view
}

fn view(context: &RenderContext<'_>, id: JobId, status: JobStatus) -> SubmissionView {
    let path = format_args!("/submission_requests/{id}");
    let status = status.as_str();
    SubmissionView {
        id: id.to_string(),
        r#type: SubmissionType,
        attributes: SubmissionAttributes { status, errors: None, error_description: None },
        meta: SubmissionMeta { status },
        links: SubmissionLinks {
            this: FormsLink::get(context, path, "Submission request", "self"),
            result: None,
        },
    }
}
