//! `/answer_options` (contract 08 §5.4).

use super::bodies::{Texts, id as read_id};
use super::service;
use super::shapes::{LocaleMeta, LocalizedDocument, QUESTION, list};
use crate::document::OperationDoc;
use crate::request::Request;
use crate::route::{HandlerResult, Routes, WriteRoute, delete, post, put};
use crate::shapes::{AnswerOptionsType, QuestionsType, TranslatedProp, number_or_text};
use crate::typed_body::{ClosedDataBody, NoBody, RawBody, read_at};
use actix_web::http::StatusCode;
use civitas_application::RenderContext;
use civitas_kernel::{AnswerOptionId, Error, Result, Translated};
use civitas_surveys::{
    AnswerOption, AnswerOptionDetail, CreateAnswerOption, DestroyAnswerOption, FORM_FIELDS, MANAGE_QUESTIONS,
    UpdateAnswerOption,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

/// An answer option.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = answer_option)]
pub(crate) struct OptionView {
    id: String,
    r#type: AnswerOptionsType,
    attributes: OptionAttributes,
    relationships: OptionRelationships,
}

/// The content of an answer option.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = answer_option_attributes)]
struct OptionAttributes {
    body: TranslatedProp,
}

/// The question of an option.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = answer_option_relationships)]
struct OptionRelationships {
    question: ToQuestionRelationship,
}

/// A relationship to a question.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = to_question)]
struct ToQuestionRelationship {
    data: QuestionIdentifier,
}

/// A question, by id and type.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = question_relationship_identifier)]
struct QuestionIdentifier {
    id: String,
    r#type: QuestionsType,
}

/// The text of an option to add. It needs a text in the organization's default language.
#[derive(Deserialize, ToSchema)]
#[schema(as = answer_option_create_body, examples(json!({"data": {"type": "answer_options",
    "attributes": {"body": {"en": "Tram"}}}})))]
#[serde(deny_unknown_fields)]
struct OptionToCreate {
    #[serde(rename = "type")]
    _kind: Option<AnswerOptionsType>,
    #[schema(inline, value_type = AttributesToWrite)]
    attributes: Value,
}

/// The new text of an option. It needs a text in the organization's default language.
#[derive(Deserialize, ToSchema)]
#[schema(as = answer_option_body, examples(json!({"data": {"type": "answer_options",
    "attributes": {"body": {"en": "Tram"}}}})))]
#[serde(deny_unknown_fields)]
struct OptionToUpdate {
    #[serde(rename = "type")]
    _kind: Option<AnswerOptionsType>,
    /// Optional; must be that of the path.
    #[schema(schema_with = number_or_text, required = false)]
    id: Option<Value>,
    #[schema(inline, value_type = AttributesToWrite)]
    attributes: Value,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct AttributesToWrite {
    #[schema(value_type = TranslatedProp)]
    body: Texts,
}

pub(super) fn routes(routes: &mut Routes) {
    let doc = OperationDoc::page::<OptionView>("Lists the options of a question")
        .with_list_parameters()
        .with_locale();
    let doc = doc.with_filters(FORM_FIELDS);
    routes.read("listAnswerOptions", "/answer_options", MANAGE_QUESTIONS, QUESTION.describe(doc), index);
    let doc =
        OperationDoc::item::<OptionView>("Adds an option to a question").with_locale().with_status_created();
    routes.write(&WriteRoute {
        operations: post(["createAnswerOptionAsync", "createAnswerOption"], "/answer_options"),
        read: |request, sent: RawBody<'_, ClosedDataBody<OptionToCreate>>| {
            let question = QUESTION.id(request)?;
            let OptionToCreate { attributes, .. } = sent.read()?.data;
            Ok(CreateAnswerOption { question, body: body(request, &attributes)? })
        },
        use_case: |ports, _| Box::new(service(ports)),
        view: result,
        doc: QUESTION.describe(doc),
    });
    routes.write_or_patch(&WriteRoute {
        operations: put(["updateAnswerOptionAsync", "updateAnswerOption"], "/answer_options/{id}"),
        read: |request, sent: RawBody<'_, ClosedDataBody<OptionToUpdate>>| {
            let id = AnswerOptionId(request.id()?);
            let OptionToUpdate { id: sent_id, attributes, .. } = sent.read()?.data;
            if sent_id.is_some_and(|sent| read_id(&sent) != id.0) {
                return Err(Error::rejected("data.id does not match"));
            }
            Ok(UpdateAnswerOption { id, body: body(request, &attributes)? })
        },
        use_case: |ports, _| Box::new(service(ports)),
        view: result,
        doc: OperationDoc::item::<OptionView>("Changes an option").with_locale(),
    });
    routes.write(&WriteRoute {
        operations: delete(["deleteAnswerOptionAsync", "deleteAnswerOption"], "/answer_options/{id}"),
        read: |request, _: RawBody<'_, NoBody>| Ok(DestroyAnswerOption { id: AnswerOptionId(request.id()?) }),
        use_case: |ports, _| Box::new(service(ports)),
        view: |_, ()| Value::Null,
        doc: OperationDoc::without_json("Deletes an option", StatusCode::NO_CONTENT),
    });
}

/// The text in the attributes of an option.
fn body(request: &Request, attributes: &Value) -> Result<Translated> {
    let AttributesToWrite { body } = read_at("data.attributes", Some(attributes))?;
    body.in_one_of(request.backend.locales())
}

async fn index(request: Request) -> HandlerResult {
    let context = request.localized_context()?;
    let (question, filter) = QUESTION.id_and_filters(&request)?;
    let found = service(request.ports()).options(context.ctx, question, &filter, request.page()?).await?;
    list(&request, &context, found.page, found.changed_at, |(id, option)| view(id, option)).await
}

/// An option as the result of a command.
fn result(context: &RenderContext<'_>, AnswerOptionDetail { id, option }: AnswerOptionDetail) -> Value {
    json!(LocalizedDocument { data: view(id, option), meta: LocaleMeta::new(context) })
}

fn view(id: AnswerOptionId, option: AnswerOption) -> OptionView {
    let data = QuestionIdentifier { id: option.question.to_string(), r#type: QuestionsType };
    OptionView {
        id: id.to_string(),
        r#type: AnswerOptionsType,
        attributes: OptionAttributes { body: TranslatedProp(option.body) },
        relationships: OptionRelationships { question: ToQuestionRelationship { data } },
    }
}
