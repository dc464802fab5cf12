//! `/questions` (contract 08 §5).

mod body;

use self::body::{QuestionToCreate, QuestionToUpdate, create, update};
use super::shapes::{LocaleMeta, LocalizedDocument, QUESTIONNAIRE, QuestionnaireRelationship, list};
use super::{LISTS, service};
use crate::answers::last_modified;
use crate::document::OperationDoc;
use crate::reply::Reply;
use crate::request::Request;
use crate::route::{HandlerResult, Routes, WriteRoute, delete, post, put};
use crate::shapes::{QuestionTypeName, QuestionsType, TranslatedProp};
use crate::typed_body::{ClosedDataBody, NoBody, RawBody};
use actix_web::http::StatusCode;
use civitas_application::RenderContext;
use civitas_kernel::QuestionId;
use civitas_surveys::{
    DestroyQuestion, FORM_FIELDS, MANAGE_QUESTIONS, Question, QuestionDetail, QuestionType,
};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

/// A question.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = question)]
pub(crate) struct QuestionView {
    id: String,
    r#type: QuestionsType,
    attributes: QuestionAttributes,
    relationships: QuestionnaireRelationship,
}

/// The content of a question.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = question_attributes)]
struct QuestionAttributes {
    position: i64,
    mandatory: bool,
    body: TranslatedProp,
    #[schema(required)]
    description: Option<TranslatedProp>,
    /// The most options of an answer, or of each row.
    #[schema(required)]
    max_choices: Option<i64>,
    /// The most characters of an answer; 0 for no limit.
    max_characters: i64,
    #[schema(value_type = QuestionTypeName)]
    question_type: QuestionType,
}

pub(super) fn routes(routes: &mut Routes) {
    let doc = OperationDoc::page::<QuestionView>("Lists the questions of a questionnaire")
        .with_list_parameters()
        .with_locale();
    let doc = doc.with_filters(FORM_FIELDS);
    routes.read("listQuestions", "/questions", MANAGE_QUESTIONS, QUESTIONNAIRE.describe(doc), index);
    let doc = OperationDoc::item::<QuestionView>("Shows a question").with_locale();
    routes.read("getQuestion", "/questions/{id}", MANAGE_QUESTIONS, doc, show_one);
    routes.write::<ClosedDataBody<QuestionToCreate>, _>(&WriteRoute {
        operations: post(["createQuestionsAsync", "createQuestions"], "/questions"),
        read: create,
        use_case: |ports, _| Box::new(service(ports)),
        view: result,
        doc: OperationDoc::item::<QuestionView>("Adds a question to a questionnaire")
            .with_locale()
            .with_status_created()
            .with_failure(404),
    });
    routes.write_or_patch::<ClosedDataBody<QuestionToUpdate>, _>(&WriteRoute {
        operations: put(["updateQuestionAsync", "updateQuestion"], "/questions/{id}"),
        read: update,
        use_case: |ports, _| Box::new(service(ports)),
        view: result,
        doc: OperationDoc::item::<QuestionView>("Changes a question").with_locale().with_failure(422),
    });
    routes.write(&WriteRoute {
        operations: delete(["deleteQuestionAsync", "deleteQuestion"], "/questions/{id}"),
        read: |request, _: RawBody<'_, NoBody>| Ok(DestroyQuestion { id: QuestionId(request.id()?) }),
        use_case: |ports, _| Box::new(service(ports)),
        view: |_, ()| Value::Null,
        doc: OperationDoc::without_json(
            "Deletes a question with its options and answers",
            StatusCode::NO_CONTENT,
        ),
    });
}

async fn index(request: Request) -> HandlerResult {
    let context = request.localized_context()?;
    let (questionnaire, filter) = QUESTIONNAIRE.id_and_filters(&request)?;
    let found =
        service(request.ports()).questions(context.ctx, questionnaire, &filter, request.page()?).await?;
    list(&request, &context, found.page, found.changed_at, |(id, question)| view(id, question)).await
}

async fn show_one(request: Request) -> HandlerResult {
    let context = request.localized_context()?;
    let id = QuestionId(request.id()?);
    let (question, changed_at) = service(request.ports()).question(context.ctx, id).await?;
    let changed_at = last_modified(&request, LISTS, [changed_at].into_iter()).await?;
    let document = LocalizedDocument { data: view(id, question), meta: LocaleMeta::new(&context) };
    Ok(Reply::for_read(&request, &document, changed_at)?.localized())
}

/// A question as the result of a command.
fn result(context: &RenderContext<'_>, QuestionDetail { id, question }: QuestionDetail) -> Value {
    json!(LocalizedDocument { data: view(id, question), meta: LocaleMeta::new(context) })
}

fn view(id: QuestionId, question: Question) -> QuestionView {
    QuestionView {
        id: id.to_string(),
        r#type: QuestionsType,
        relationships: QuestionnaireRelationship::new(question.questionnaire),
        attributes: QuestionAttributes {
            position: question.position,
            mandatory: question.mandatory,
            body: TranslatedProp(question.body),
            description: question.description.map(TranslatedProp),
            max_choices: question.max_choices,
            max_characters: question.max_characters,
            question_type: question.kind,
        },
    }
}
