//! `/questionnaires` (contract 08 §4).

use super::bodies::{Texts, id as read_id};
use super::shapes::{FormsLink, LocaleMeta, texts};
use super::{LISTS, service};
use crate::answers;
use crate::document::{OperationDoc, ParameterType};
use crate::reply::Document;
use crate::request::Request;
use crate::route::{HandlerResult, Routes, WriteRoute, put};
use crate::shapes::{EditionDate, QuestionnairesType, TranslatedProp};
use crate::typed_body::{ClosedDataBody, RawBody, read_at};
use civitas_application::RenderContext;
use civitas_kernel::filter::FieldKind;
use civitas_kernel::{Error, QuestionnaireId, Result};
use civitas_surveys::{
    Form, Projection, QUESTIONNAIRE_FIELDS, QuestionnaireDetail, READ_QUESTIONNAIRES, Schema,
    UpdateQuestionnaire,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

/// A questionnaire as a JSON Forms form.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = questionnaire)]
pub(crate) struct QuestionnaireView {
    id: String,
    r#type: QuestionnairesType,
    attributes: QuestionnaireAttributes,
    meta: QuestionnaireMeta,
    links: QuestionnaireLinks,
}

/// The content of a questionnaire, in one language.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = questionnaire_attributes)]
struct QuestionnaireAttributes {
    #[schema(required)]
    title: Option<String>,
    /// HTML.
    #[schema(required)]
    description: Option<String>,
    /// The JSON schema of the answers: one member for each question, by its id.
    #[schema(value_type = Object)]
    schema: Schema,
    /// The layout.
    #[schema(value_type = Object)]
    ui: Value,
    updated_at: EditionDate,
}

/// The language of the texts, and how to submit.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = questionnaire_meta)]
struct QuestionnaireMeta {
    locale: String,
    requested_locale: String,
    #[schema(required)]
    fallback_from: Option<String>,
    submission: SubmissionPolicy,
}

/// How to submit answers.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = forms_submission_policy_meta)]
struct SubmissionPolicy {
    /// Whether a response may have no respondent.
    allows_anonymous: bool,
    /// Advice for clients: send the address of the respondent.
    requires_participant_ip: bool,
}

/// The links of a questionnaire.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = questionnaire_links)]
struct QuestionnaireLinks {
    #[serde(rename = "self")]
    this: FormsLink,
    submit: FormsLink,
    submit_sync: FormsLink,
    questions: FormsLink,
}

/// The new texts of a questionnaire. An absent member keeps its value; a given one replaces all languages.
#[derive(Deserialize, ToSchema)]
#[schema(as = questionnaire_update_body, title = "Questionnaire metadata update payload",
    examples(json!({"data": {"type": "questionnaires", "id": "40",
    "attributes": {"title": {"en": "Mobility 2026"}, "tos": {"en": "<p>Terms</p>"}}}})))]
#[serde(deny_unknown_fields)]
struct QuestionnaireToUpdate {
    #[serde(rename = "type")]
    _kind: QuestionnairesType,
    /// Must be that of the path.
    #[schema(value_type = String)]
    id: Value,
    #[schema(inline, value_type = AttributesToUpdate)]
    attributes: Value,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct AttributesToUpdate {
    #[schema(value_type = Option<TranslatedProp>)]
    title: Option<Texts>,
    #[schema(value_type = Option<TranslatedProp>)]
    description: Option<Texts>,
    #[schema(value_type = Option<TranslatedProp>)]
    tos: Option<Texts>,
}

pub(super) fn routes(routes: &mut Routes) {
    let list = OperationDoc::page::<QuestionnaireView>("Lists the questionnaires")
        .with_list_parameters()
        .with_locale();
    let list = list.with_filters(QUESTIONNAIRE_FIELDS);
    let bare = QUESTIONNAIRE_FIELDS.iter().filter(|field| field.kind != FieldKind::Time);
    let list = bare.fold(list, |doc, field| {
        let holds = if let FieldKind::Enum(words) = field.kind {
            ParameterType::Word(words)
        } else {
            ParameterType::Integer
        };
        doc.with_parameter(&format!("filter[{}]", field.name), holds)
    });
    routes.read("listQuestionnaires", "/questionnaires", READ_QUESTIONNAIRES, list.at_replicas(), index);
    let show = OperationDoc::item::<QuestionnaireView>("Shows a questionnaire").at_replicas().with_locale();
    routes.read("getQuestionnaire", "/questionnaires/{id}", READ_QUESTIONNAIRES, show, show_one);
    routes.write_or_patch(&WriteRoute {
        operations: put(["updateQuestionnaireAsync", "updateQuestionnaire"], "/questionnaires/{id}"),
        read: update,
        use_case: |ports, _| Box::new(service(ports)),
        view: |context, (found, form)| json!(Document { data: view(context, &found, &form) }),
        doc: OperationDoc::item::<QuestionnaireView>("Changes the texts of a questionnaire").with_locale(),
    });
}

fn update(
    request: &Request,
    sent: RawBody<'_, ClosedDataBody<QuestionnaireToUpdate>>,
) -> Result<UpdateQuestionnaire> {
    let id = QuestionnaireId(request.id()?);
    let QuestionnaireToUpdate { id: sent_id, attributes, .. } = sent.read()?.data;
    if read_id(&sent_id) != id.0 {
        return Err(Error::rejected("data.id does not match"));
    }
    let AttributesToUpdate { title, description, tos } = read_at("data.attributes", Some(&attributes))?;
    let locales = request.backend.locales();
    let [title, description, tos] =
        [title, description, tos].map(|texts| texts.map(|texts| texts.in_one_of(locales)).transpose());
    Ok(UpdateQuestionnaire { id, title: title?, description: description?, tos: tos? })
}

async fn index(request: Request) -> HandlerResult {
    let context = request.localized_context()?;
    let filter = request.filter()?;
    let page = service(request.ports()).list(context.ctx, &filter, request.page()?).await?;
    let changed_at = |(found, _): &(QuestionnaireDetail, Form)| found.changed_at();
    let view = |(found, form): (QuestionnaireDetail, Form)| view(&context, &found, &form);
    Ok(answers::page_reply(&request, LISTS, page, false, changed_at, view).await?.localized())
}

async fn show_one(request: Request) -> HandlerResult {
    let context = request.localized_context()?;
    let id = QuestionnaireId(request.id()?);
    let (found, form) = service(request.ports()).find(context.ctx, id).await?;
    let view = view(&context, &found, &form);
    Ok(answers::record_reply(&request, LISTS, found.changed_at(), view).await?.localized())
}

fn view(context: &RenderContext<'_>, found: &QuestionnaireDetail, form: &Form) -> QuestionnaireView {
    let QuestionnaireDetail { id, questionnaire, .. } = found;
    let languages = texts(context);
    let text = |text| languages.text(text).map(str::to_owned);
    let Projection { schema, ui } = form.project(languages);
    let LocaleMeta { locale, requested_locale, fallback_from } = LocaleMeta::new(context);
    let allows_anonymous = questionnaire.allows_anonymous();
    let submission = SubmissionPolicy { allows_anonymous, requires_participant_ip: allows_anonymous };
    let questions = format_args!("/questions?filter%5Bquestionnaire_id%5D={id}");
    QuestionnaireView {
        id: id.to_string(),
        r#type: QuestionnairesType,
        attributes: QuestionnaireAttributes {
            title: text(&questionnaire.title),
            description: text(&questionnaire.description),
            schema,
            ui,
            updated_at: EditionDate(questionnaire.updated_at),
        },
        meta: QuestionnaireMeta { locale, requested_locale, fallback_from, submission },
        links: QuestionnaireLinks {
            this: FormsLink::get(context, format_args!("/questionnaires/{id}"), "Questionnaire", "self"),
            submit: FormsLink::post(context, "/answers", "Submit answers", "submit", Some(*id)),
            submit_sync: FormsLink::post(
                context,
                "/answers/sync",
                "Submit answers inline",
                "submit_sync",
                None,
            ),
            questions: FormsLink::get(context, questions, "Questions", "questions"),
        },
    }
}
