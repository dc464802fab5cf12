//! `/answers` and `/questionnaire_responses` (contract 08 §6, §7).

mod body;

use self::body::{AnswersToCreate, submit};
use super::shapes::{FormsLink, LocaleMeta, QUESTIONNAIRE, QuestionnaireRelationship, list};
use super::submissions::{SubmissionAccepted, accepted};
use super::{LISTS, service};
use crate::answers;
use crate::document::OperationDoc;
use crate::error::ApiError;
use crate::reply::Document;
use crate::request::Request;
use crate::route::{EndpointAnswers, HandlerResult, RequiredAccess, Routes, WriteRoute, delete, post};
use crate::shapes::{AnswersType, CreationDate, RespondentType, ResponseType};
use crate::typed_body::{NoBody, RawBody};
use actix_web::http::{Method, StatusCode};
use civitas_application::RenderContext;
use civitas_kernel::AnswerId;
use civitas_surveys::{ANSWER_FIELDS, AnswerDetail, DestroyResponse, READ_ANSWERS, ResponseDetail};
use serde::Serialize;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

/// The answers of one submission.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = questionnaire_response)]
pub(crate) struct ResponseView {
    id: String,
    r#type: ResponseType,
    attributes: ResponseAttributes,
    relationships: QuestionnaireRelationship,
    links: ResponseLinks,
    meta: ResponseMeta,
}

/// The content of a response.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = questionnaire_response_attributes)]
struct ResponseAttributes {
    /// The answers by question id; null for a displayed question without an answer.
    #[schema(value_type = Object)]
    answers: Map<String, Value>,
    /// A digest of the respondent's address.
    #[schema(required)]
    client_ip: Option<String>,
}

/// The links of a response.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = questionnaire_response_links)]
struct ResponseLinks {
    #[serde(rename = "self")]
    this: FormsLink,
}

/// Who submitted a response, and when.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = questionnaire_response_meta)]
struct ResponseMeta {
    locale: String,
    requested_locale: String,
    #[schema(required)]
    fallback_from: Option<String>,
    /// Null for an anonymous response.
    #[schema(required)]
    user: Option<RespondentIdentifier>,
    created_at: CreationDate,
}

/// A respondent, by id and type.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = respondent_identifier)]
struct RespondentIdentifier {
    id: String,
    r#type: RespondentType,
}

/// An answer to one question.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = answer)]
pub(crate) struct AnswerView {
    id: String,
    r#type: AnswersType,
    attributes: AnswerAttributes,
    relationships: QuestionnaireRelationship,
}

/// The content of an answer.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = answer_attributes)]
struct AnswerAttributes {
    /// The text; null for choices.
    #[schema(required)]
    body: Option<String>,
    question_id: String,
    /// The text, the chosen options, or the ids of attachments; null when unanswered.
    #[schema(value_type = Value, nullable, required)]
    value: Value,
}

pub(super) fn routes(routes: &mut Routes) {
    let doc = OperationDoc::page::<AnswerView>("Lists the answers to a questionnaire")
        .with_list_parameters()
        .with_locale();
    let doc = doc.with_filters(ANSWER_FIELDS);
    routes.read("listAnswers", "/answers", READ_ANSWERS, QUESTIONNAIRE.describe(doc), index);
    let doc = OperationDoc::item::<ResponseView>("Submits answers to a questionnaire")
        .with_locale()
        .with_status_created()
        .with_location();
    let submission = WriteRoute::<AnswersToCreate, _> {
        operations: post(["createAnswersAsync", "createAnswers"], "/answers"),
        read: submit,
        use_case: |ports, _| Box::new(service(ports)),
        view: result,
        doc: doc.with_failure(404).with_failure(422),
    };
    routes.write_with_endpoints(
        &submission,
        &EndpointAnswers {
            accepted,
            describe_accepted: |doc| doc.with_accepted_answer::<SubmissionAccepted>(),
            job_view: Some(|_, response| json!({"questionnaire_response_id": response.id.0})),
        },
    );
    let path = "/questionnaire_responses/{id}";
    let doc = OperationDoc::item::<ResponseView>("Shows a response").with_locale();
    routes.read("getQuestionnaireResponse", path, READ_ANSWERS, doc, show_one);
    routes.write(&WriteRoute {
        operations: delete(["deleteQuestionnaireResponseAsync", "deleteQuestionnaireResponse"], path),
        read: |request, _: RawBody<'_, NoBody>| Ok(DestroyResponse { id: AnswerId(request.id()?) }),
        use_case: |ports, _| Box::new(service(ports)),
        view: |_, ()| Value::Null,
        doc: OperationDoc::without_json("Deletes a response with all its answers", StatusCode::NO_CONTENT),
    });
    let doc = OperationDoc::without_json("Responses cannot be changed", StatusCode::METHOD_NOT_ALLOWED);
    routes.add_route("", Method::PUT, path, RequiredAccess::Open, doc, async |_| {
        Err(ApiError::MethodNotAllowed("GET, HEAD, DELETE"))
    });
}

async fn index(request: Request) -> HandlerResult {
    let context = request.localized_context()?;
    let (questionnaire, filter) = QUESTIONNAIRE.id_and_filters(&request)?;
    let found =
        service(request.ports()).answers(context.ctx, questionnaire, &filter, request.page()?).await?;
    let newest = found.page.items.iter().map(|answer| answer.created_at).chain([found.changed_at]).max();
    let changed_at = newest.unwrap_or(found.changed_at);
    list(&request, &context, found.page, changed_at, answer).await
}

async fn show_one(request: Request) -> HandlerResult {
    let context = request.localized_context()?;
    let found = service(request.ports()).response(context.ctx, AnswerId(request.id()?)).await?;
    let changed_at = found.changed_at;
    Ok(answers::record_reply(&request, LISTS, changed_at, view(&context, found)).await?.localized())
}

/// A response as the result of a command.
fn result(context: &RenderContext<'_>, response: ResponseDetail) -> Value {
    json!(Document { data: view(context, response) })
}

fn view(context: &RenderContext<'_>, ResponseDetail { id, response, .. }: ResponseDetail) -> ResponseView {
    let LocaleMeta { locale, requested_locale, fallback_from } = LocaleMeta::new(context);
    let answers = response.answers.iter().map(|row| (row.question.to_string(), row.read_back()));
    let user =
        response.user.map(|user| RespondentIdentifier { id: user.to_string(), r#type: RespondentType });
    let path = format_args!("/questionnaire_responses/{id}");
    ResponseView {
        id: id.to_string(),
        r#type: ResponseType,
        attributes: ResponseAttributes { answers: answers.collect(), client_ip: response.client_ip },
        relationships: QuestionnaireRelationship::new(response.questionnaire),
        links: ResponseLinks { this: FormsLink::get(context, path, "Questionnaire response", "self") },
        meta: ResponseMeta {
            locale,
            requested_locale,
            fallback_from,
            user,
            created_at: CreationDate(response.created_at),
        },
    }
}

fn answer(found: AnswerDetail) -> AnswerView {
    let value = found.row.read_back();
    AnswerView {
        id: found.id.to_string(),
        r#type: AnswersType,
        relationships: QuestionnaireRelationship::new(found.questionnaire),
        attributes: AnswerAttributes {
            body: found.row.body,
            question_id: found.row.question.to_string(),
            value,
        },
    }
}
