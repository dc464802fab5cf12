//! The bodies of questions: three variants of attributes, chosen by `question_type` (contract 08 §5.2).

use super::super::bodies::{Flag, Limit, Texts, TextsOrNull, id as read_id, questionnaire_in};
use super::super::shapes::QuestionsType;
use crate::openapi::build::number_or_text;
use crate::request::Request;
use crate::shapes::TranslatedProp;
use crate::typed_body::{ClosedData, Sent, bodies, read_at};
use civitas_kernel::{Error, FieldError, QuestionId, QuestionnaireId, Result, Wording};
use civitas_surveys::{CreateQuestion, QuestionType, Replacement, UpdateQuestion};
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;
use utoipa::openapi::ObjectBuilder;
use validator::Validate;

/// A question to add. The body needs a text in the organization's default language.
#[derive(Deserialize, Validate, ToSchema)]
#[schema(as = question_create_body, examples(json!({"data": {"type": "questions",
    "attributes": {"position": 4, "mandatory": false, "question_type": "multiple_option",
        "body": {"en": "Which lines?"}, "description": {"en": "Pick up to 3"}, "max_choices": 3},
    "relationships": {"questionnaire": {"data": {"type": "questionnaires", "id": "40"}}}}})))]
#[serde(deny_unknown_fields)]
pub(super) struct QuestionToCreate {
    #[serde(rename = "type")]
    #[schema(value_type = QuestionsType)]
    _kind: QuestionsType,
    #[schema(inline, value_type = AnyAttributes)]
    attributes: Value,
    #[schema(inline, value_type = RelationshipsToCreate, required)]
    relationships: Option<Value>,
}

/// The attributes of the variants.
#[derive(ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "names the variants of the document")]
enum AnyAttributes {
    /// With options.
    Choice(#[schema(inline)] ChoiceAttributes),
    /// A long text.
    LongText(#[schema(inline)] LongTextAttributes),
    /// Without limits.
    Plain(#[schema(inline)] PlainAttributes),
}

#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "names the members of the document")]
struct RelationshipsToCreate {
    #[schema(inline)]
    questionnaire: QuestionnaireToName,
}

#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "names the members of the document")]
struct QuestionnaireToName {
    #[schema(inline)]
    data: QuestionnaireNamed,
}

#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "names the members of the document")]
struct QuestionnaireNamed {
    #[serde(rename = "type")]
    kind: super::super::shapes::QuestionnairesType,
    #[schema(schema_with = questionnaire_id)]
    id: Value,
}

/// The id of a questionnaire; an empty text is none.
fn questionnaire_id() -> ObjectBuilder {
    number_or_text().min_length(Some(1))
}

/// Optional; must name the questionnaire of the question.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "names the members of the document")]
struct RelationshipsToUpdate {
    #[schema(inline)]
    questionnaire: Option<QuestionnaireRepeated>,
}

#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "names the members of the document")]
struct QuestionnaireRepeated {
    #[schema(inline)]
    data: Option<QuestionnaireNamed>,
}

/// The types of questions with options.
#[derive(ToSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "names the words of the document")]
enum ChoiceTypes {
    SingleOption,
    MultipleOption,
    Sorting,
    MatrixSingle,
    MatrixMultiple,
}

/// The type of long answers.
#[derive(ToSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "names the words of the document")]
enum LongTextTypes {
    LongAnswer,
}

/// The types of questions without limits.
#[derive(ToSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "names the words of the document")]
enum PlainTypes {
    ShortAnswer,
    Files,
}

/// A type that a question may change to.
#[derive(ToSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "names the words of the document")]
enum TypesToCreate {
    ShortAnswer,
    LongAnswer,
    SingleOption,
    MultipleOption,
    Sorting,
    Files,
    MatrixSingle,
    MatrixMultiple,
}

macro_rules! attributes {
    ($($(#[doc = $doc:literal])* $name:ident of $types:ident { $($limit:ident from $least:tt)? })+) => {$(
        $(#[doc = $doc])*
        #[derive(Deserialize, Validate, ToSchema)]
        #[serde(deny_unknown_fields)]
        struct $name {
            #[schema(minimum = 0)]
            position: i64,
            #[schema(value_type = bool)]
            mandatory: Flag,
            #[serde(rename = "question_type")]
            #[schema(inline, value_type = $types)]
            _question_type: Value,
            #[schema(value_type = TranslatedProp)]
            body: Texts,
            #[schema(value_type = TranslatedProp, nullable, required = false)]
            description: Option<TextsOrNull>,
            $(
                #[schema(value_type = i64, minimum = $least, nullable, required = false)]
                $limit: Option<Limit>,
            )?
        }
    )+};
}

attributes! {
    /// Attributes of questions with options.
    ChoiceAttributes of ChoiceTypes { max_choices from 1 }
    /// Attributes of long answers.
    LongTextAttributes of LongTextTypes { max_characters from 0 }
    /// Attributes of short answers and files.
    PlainAttributes of PlainTypes {}
}

/// The new attributes of a question. An absent member keeps its value.
#[derive(Deserialize, Validate, ToSchema)]
#[schema(as = question_update_body, examples(json!({"data": {"attributes": {"position": 2}}})))]
#[serde(deny_unknown_fields)]
pub(super) struct QuestionToUpdate {
    #[serde(rename = "type")]
    #[schema(value_type = Option<QuestionsType>)]
    _kind: Option<QuestionsType>,
    /// Optional; must be that of the path.
    #[schema(schema_with = number_or_text, required = false)]
    id: Option<Value>,
    #[schema(inline, value_type = AttributesToUpdate)]
    attributes: Value,
    #[schema(inline, value_type = Option<RelationshipsToUpdate>)]
    relationships: Option<Value>,
}

#[derive(Deserialize, Validate, ToSchema)]
#[serde(deny_unknown_fields)]
struct AttributesToUpdate {
    #[schema(minimum = 0)]
    position: Option<i64>,
    #[schema(value_type = Option<bool>)]
    mandatory: Option<Flag>,
    #[schema(inline, value_type = Option<TypesToCreate>)]
    question_type: Option<Value>,
    #[schema(value_type = Option<TranslatedProp>)]
    body: Option<Texts>,
    #[schema(value_type = TranslatedProp, nullable, required = false)]
    description: Option<TextsOrNull>,
    /// For types with options.
    #[schema(value_type = i64, minimum = 1, nullable, required = false)]
    max_choices: Option<Limit>,
    /// For long answers.
    #[schema(value_type = i64, minimum = 0, nullable, required = false)]
    max_characters: Option<Limit>,
}

bodies!(
    QuestionToCreate,
    ChoiceAttributes,
    LongTextAttributes,
    PlainAttributes,
    QuestionToUpdate,
    AttributesToUpdate
);

/// A type that can be created here.
///
/// # Errors
/// `Invalid` with `inclusion` for another one.
fn question_type(sent: &Value) -> Result<QuestionType> {
    let kind = sent.as_str().and_then(QuestionType::parse).filter(|kind| !kind.is_presentation());
    kind.ok_or_else(|| {
        let text = "question_type is not included in the list";
        let fields = vec![FieldError::new("question_type", "inclusion", text)];
        Error::Invalid { wording: Wording::InvalidRequest, fields }
    })
}

pub(super) fn create(
    request: &Request,
    sent: Sent<'_, ClosedData<QuestionToCreate>>,
) -> Result<CreateQuestion> {
    let QuestionToCreate { attributes, relationships, .. } = sent.read()?.data;
    let kind = match attributes.get("question_type") {
        None => return Err(Error::missing("question_type")),
        Some(sent) => question_type(sent)?,
    };
    let questionnaire = questionnaire_in(relationships.as_ref())?
        .ok_or_else(|| Error::rejected("relationships.questionnaire required"))?;
    let (path, sent) = ("data.attributes", Some(&attributes));
    let (position, mandatory, body, description, max_choices, max_characters);
    if kind.has_options() {
        let read: ChoiceAttributes = read_at(path, sent)?;
        (position, mandatory, body, description) =
            (read.position, read.mandatory, read.body, read.description);
        (max_choices, max_characters) = (read.max_choices.and_then(|limit| limit.0), None);
    } else if kind == QuestionType::LongAnswer {
        let read: LongTextAttributes = read_at(path, sent)?;
        (position, mandatory, body, description) =
            (read.position, read.mandatory, read.body, read.description);
        (max_choices, max_characters) = (None, read.max_characters.and_then(|limit| limit.0));
    } else {
        let read: PlainAttributes = read_at(path, sent)?;
        (position, mandatory, body, description) =
            (read.position, read.mandatory, read.body, read.description);
        (max_choices, max_characters) = (None, None);
    }
    let locales = request.backend.locales();
    Ok(CreateQuestion {
        questionnaire: QuestionnaireId(questionnaire),
        position,
        mandatory: mandatory.0,
        kind,
        body: body.in_one_of(locales)?,
        description: description.map(|texts| texts.in_one_of(locales)).transpose()?.flatten(),
        max_choices,
        max_characters,
    })
}

pub(super) fn update(
    request: &Request,
    sent: Sent<'_, ClosedData<QuestionToUpdate>>,
) -> Result<UpdateQuestion> {
    let id = QuestionId(request.id()?);
    let QuestionToUpdate { id: sent_id, attributes, relationships, .. } = sent.read()?.data;
    if sent_id.is_some_and(|sent| read_id(&sent) != id.0) {
        return Err(Error::rejected("data.id does not match"));
    }
    let attributes: AttributesToUpdate = read_at("data.attributes", Some(&attributes))?;
    let locales = request.backend.locales();
    let description = attributes.description.map(|texts| texts.in_one_of(locales)).transpose()?;
    let limit = |limit: Option<Limit>| limit.map(|limit| Replacement { value: limit.0 });
    Ok(UpdateQuestion {
        id,
        questionnaire: questionnaire_in(relationships.as_ref())?.map(QuestionnaireId),
        position: attributes.position,
        mandatory: attributes.mandatory.map(|flag| flag.0),
        kind: attributes.question_type.as_ref().map(question_type).transpose()?,
        body: attributes.body.map(|texts| texts.in_one_of(locales)).transpose()?,
        description: description.map(|value| Replacement { value }),
        max_choices: limit(attributes.max_choices),
        max_characters: limit(attributes.max_characters),
    })
}
