//! The bodies of questions: three variants of attributes, chosen by `question_type` (contract 08 §5.2).

use super::super::bodies::{Flag, Limit, Texts, TextsOrNull, id as read_id, questionnaire_in};
use crate::request::Request;
use crate::shapes::{QuestionsType, TranslatedProp, TypesToCreate, number_or_text, schema_from_json};
use crate::typed_body::{ClosedDataBody, RawBody, check_keys, read_at};
use civitas_kernel::{Error, FieldError, QuestionId, QuestionnaireId, Result, Wording};
use civitas_surveys::{CreateQuestion, NullableValue, QuestionType, UpdateQuestion};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// A question to add. The body needs a text in the organization's default language.
#[derive(Deserialize, ToSchema)]
#[schema(as = question_create_body, title = "question_create_body", examples(json!({"data": {"type": "questions",
    "attributes": {"position": 4, "mandatory": false, "question_type": "multiple_option",
        "body": {"en": "Which lines?"}, "description": {"en": "Pick up to 3"}, "max_choices": 3},
    "relationships": {"questionnaire": {"data": {"type": "questionnaires", "id": "40"}}}}})))]
#[serde(deny_unknown_fields)]
pub(super) struct QuestionToCreate {
    #[serde(rename = "type")]
    _kind: QuestionsType,
    #[schema(schema_with = attributes)]
    attributes: Value,
    #[schema(schema_with = relationships, required)]
    relationships: Option<Value>,
}

/// The attributes of a question; one type has each limit.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct AttributesToCreate {
    #[schema(minimum = 0)]
    position: i64,
    #[schema(value_type = bool)]
    mandatory: Flag,
    #[serde(rename = "question_type")]
    _question_type: Value,
    #[schema(value_type = TranslatedProp)]
    body: Texts,
    #[schema(value_type = TranslatedProp, nullable, required = false)]
    description: Option<TextsOrNull>,
    #[schema(value_type = i64, minimum = 1, nullable, required = false)]
    max_choices: Option<Limit>,
    #[schema(value_type = i64, minimum = 0, nullable, required = false)]
    max_characters: Option<Limit>,
}

/// The member with the limit of answers to questions of this type.
fn limit_of(kind: QuestionType) -> Option<&'static str> {
    match kind {
        QuestionType::LongAnswer => Some("max_characters"),
        kind => kind.has_options().then_some("max_choices"),
    }
}

/// The types with this limit that can be created here.
fn types_with(limit: Option<&str>) -> Vec<&'static str> {
    let types = QuestionType::ALL.into_iter().filter(|kind| !kind.is_presentation());
    types.filter(|kind| limit_of(*kind) == limit).map(QuestionType::as_str).collect()
}

/// A variant of the attributes for each limit.
fn attributes() -> RefOr<Schema> {
    let variant = |limit: Option<&str>, says: [&str; 3]| {
        let mut members = json!(AttributesToCreate::schema());
        members["description"] = json!(says[1]);
        let properties = members["properties"].as_object_mut().into_iter();
        properties.for_each(|all| all.retain(|name, _| !name.starts_with("max_") || Some(&**name) == limit));
        members["properties"]["question_type"] =
            json!({"type": "string", "enum": types_with(limit), "description": says[2]});
        json!({"allOf": [members, {"type": "object", "description": says[0]}]})
    };
    let choice =
        ["With options.", "Attributes of questions with options.", "The types of questions with options."];
    let long = ["A long text.", "Attributes of long answers.", "The type of long answers."];
    let plain = [
        "Without limits.",
        "Attributes of short answers and files.",
        "The types of questions without limits.",
    ];
    schema_from_json(json!({"description": "The attributes of the variants.", "oneOf": [
        variant(Some("max_choices"), choice), variant(Some("max_characters"), long), variant(None, plain)]}))
}

/// `relationships` of a question: its questionnaire, whose id is not an empty text.
fn relationships() -> RefOr<Schema> {
    let name = json!({"$ref": "#/components/schemas/questionnaires_type"});
    let id = json!({"type": ["string", "integer"], "minLength": 1});
    let data = json!({"type": "object", "additionalProperties": false, "required": ["type", "id"],
        "properties": {"type": name, "id": id}});
    let questionnaire = json!({"type": "object", "additionalProperties": false, "required": ["data"],
        "properties": {"data": data}});
    schema_from_json(json!({"type": "object", "additionalProperties": false, "required": ["questionnaire"],
        "properties": {"questionnaire": questionnaire}}))
}

/// The same where no member is required; it must name the questionnaire of the question.
fn relationships_repeated() -> RefOr<Schema> {
    let mut all = json!(relationships());
    for object in ["", "/properties/questionnaire"] {
        all.pointer_mut(object).and_then(Value::as_object_mut).map(|members| members.remove("required"));
    }
    all["description"] = json!("Optional; must name the questionnaire of the question.");
    schema_from_json(all)
}

/// The new attributes of a question. An absent member keeps its value.
#[derive(Deserialize, ToSchema)]
#[schema(as = question_update_body, examples(json!({"data": {"attributes": {"position": 2}}})))]
#[serde(deny_unknown_fields)]
pub(super) struct QuestionToUpdate {
    #[serde(rename = "type")]
    _kind: Option<QuestionsType>,
    /// Optional; must be that of the path.
    #[schema(schema_with = number_or_text, required = false)]
    id: Option<Value>,
    #[schema(inline, value_type = AttributesToUpdate)]
    attributes: Value,
    #[schema(schema_with = relationships_repeated, required = false)]
    relationships: Option<Value>,
}

#[derive(Deserialize, ToSchema)]
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
    sent: RawBody<'_, ClosedDataBody<QuestionToCreate>>,
) -> Result<CreateQuestion> {
    let QuestionToCreate { attributes, relationships, .. } = sent.read()?.data;
    let kind = match attributes.get("question_type") {
        None => return Err(Error::missing("question_type")),
        Some(sent) => question_type(sent)?,
    };
    let questionnaire = questionnaire_in(relationships.as_ref())?
        .ok_or_else(|| Error::rejected("relationships.questionnaire required"))?;
    if let Some(object) = attributes.as_object() {
        let names = ["position", "mandatory", "question_type", "body", "description"];
        let names: Vec<&str> = names.into_iter().chain(limit_of(kind)).collect();
        check_keys(object, "data.attributes.", |name| names.contains(&name))?;
    }
    let AttributesToCreate { position, mandatory, body, description, max_choices, max_characters, .. } =
        read_at("data.attributes", Some(&attributes))?;
    let locales = request.backend.locales();
    Ok(CreateQuestion {
        questionnaire: QuestionnaireId(questionnaire),
        position,
        mandatory: mandatory.0,
        kind,
        body: body.in_one_of(locales)?,
        description: description.map(|texts| texts.in_one_of(locales)).transpose()?.flatten(),
        max_choices: max_choices.and_then(|limit| limit.0),
        max_characters: max_characters.and_then(|limit| limit.0),
    })
}

pub(super) fn update(
    request: &Request,
    sent: RawBody<'_, ClosedDataBody<QuestionToUpdate>>,
) -> Result<UpdateQuestion> {
    let id = QuestionId(request.id()?);
    let QuestionToUpdate { id: sent_id, attributes, relationships, .. } = sent.read()?.data;
    if sent_id.is_some_and(|sent| read_id(&sent) != id.0) {
        return Err(Error::rejected("data.id does not match"));
    }
    let attributes: AttributesToUpdate = read_at("data.attributes", Some(&attributes))?;
    let locales = request.backend.locales();
    let description = attributes.description.map(|texts| texts.in_one_of(locales)).transpose()?;
    let limit = |limit: Option<Limit>| limit.map(|limit| NullableValue { value: limit.0 });
    Ok(UpdateQuestion {
        id,
        questionnaire: questionnaire_in(relationships.as_ref())?.map(QuestionnaireId),
        position: attributes.position,
        mandatory: attributes.mandatory.map(|flag| flag.0),
        kind: attributes.question_type.as_ref().map(question_type).transpose()?,
        body: attributes.body.map(|texts| texts.in_one_of(locales)).transpose()?,
        description: description.map(|value| NullableValue { value }),
        max_choices: limit(attributes.max_choices),
        max_characters: limit(attributes.max_characters),
    })
}
