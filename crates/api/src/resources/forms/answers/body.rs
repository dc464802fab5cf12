//! The body of a submission (contract 08 §6.1). Only its top level is closed.

use super::super::bodies::{flag, id as read_id};
use crate::request::Request;
use crate::shapes::schema_from_json;
use crate::typed_body::RawBody;
use civitas_kernel::{Error, QuestionnaireId, Result, UserId};
use civitas_surveys::SubmitAnswers;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::net::IpAddr;
use utoipa::ToSchema;
use utoipa::openapi::{RefOr, Schema};

/// Answers to a questionnaire.
#[derive(Deserialize, ToSchema)]
#[schema(as = questionnaire_answers_create_body, title = "Questionnaire answers submission payload", examples(json!({
    "meta": {"locale": "en", "anonymous": true, "client_ip": "203.0.113.42"},
    "data": {"type": "questionnaire_response",
        "attributes": {"answers": {"201": "By bike", "203": "202", "204": ["206", "208"]}},
        "relationships": {"questionnaire": {"data": {"type": "questionnaires", "id": "40"}}}}})))]
#[serde(deny_unknown_fields)]
pub(super) struct AnswersToCreate {
    #[schema(schema_with = meta, required)]
    meta: Option<Value>,
    #[schema(schema_with = data, required)]
    data: Option<Value>,
}

/// How the answers are submitted.
fn meta() -> RefOr<Schema> {
    schema_from_json(json!({
        "description": "How the answers are submitted.",
        "type": "object",
        "properties": {
            "locale": {"description": "The language of the answer.", "type": "string"},
            "anonymous": {"description": "Whether the response has no respondent.", "type": "boolean"},
            "client_ip": {
                "description": "The address of the respondent, of which a digest is stored.", "type": "string",
            },
        },
    }))
}

/// The answers, with their questionnaire.
fn data() -> RefOr<Schema> {
    let object =
        |required: &[&str], members| json!({"type": "object", "required": required, "properties": members});
    let says = "The answers by question id, as the schema of the questionnaire describes them.";
    let answers = json!({"answers": {"description": says, "type": "object"}});
    let name = json!({"$ref": "#/components/schemas/questionnaires_type"});
    let questionnaire = object(&["id"], json!({"type": name, "id": {"type": "string"}}));
    let relationships = json!({
        "questionnaire": object(&["data"], json!({"data": questionnaire})),
        "user": {"description": "The respondent, for service tokens.", "type": "object"},
    });
    let members = json!({
        "type": {"$ref": "#/components/schemas/questionnaire_response_type"},
        "attributes": object(&["answers"], answers),
        "relationships": object(&["questionnaire"], relationships),
    });
    schema_from_json(object(&["type", "attributes", "relationships"], members))
}

/// The options in `meta`.
struct Options {
    anonymous: bool,
    client_ip: Option<IpAddr>,
}

pub(super) fn submit(_: &Request, sent: RawBody<'_, AnswersToCreate>) -> Result<SubmitAnswers> {
    let AnswersToCreate { meta, data } = sent.read()?;
    let Some(Value::Object(meta)) = &meta else { return Err(Error::rejected("meta required")) };
    let Options { anonymous, client_ip } = options(meta)?;
    let Some(Value::Object(data)) = data else { return Err(Error::rejected("data required")) };
    let data = Value::Object(data);
    if data["type"] != "questionnaire_response" {
        return Err(Error::rejected("data.type must be questionnaire_response"));
    }
    let answers = match &data["attributes"]["answers"] {
        Value::Object(answers) => answers.clone(),
        Value::Null => return Err(Error::missing("answers")),
        _ => return Err(Error::rejected("answers must be an object")),
    };
    let named = |name: &str| match &data["relationships"][name]["data"]["id"] {
        Value::String(text) if text.is_empty() => None,
        id @ (Value::String(_) | Value::Number(_)) => Some(read_id(id)),
        _ => None,
    };
    let questionnaire =
        named("questionnaire").ok_or_else(|| Error::rejected("relationships.questionnaire required"))?;
    Ok(SubmitAnswers {
        questionnaire: QuestionnaireId(questionnaire),
        answers,
        anonymous,
        user: named("user").map(UserId),
        client_ip,
    })
}

fn options(meta: &Map<String, Value>) -> Result<Options> {
    if !matches!(meta.get("locale"), None | Some(Value::Null | Value::String(_))) {
        return Err(Error::rejected("locale must be a string"));
    }
    let anonymous = match meta.get("anonymous") {
        None | Some(Value::Null) => false,
        Some(sent) => flag(sent).ok_or_else(|| Error::rejected("anonymous must be a boolean"))?,
    };
    let client_ip = match meta.get("client_ip") {
        None | Some(Value::Null) => None,
        Some(sent) => {
            let address = sent.as_str().and_then(|text| text.parse().ok());
            Some(address.ok_or_else(|| Error::rejected("client_ip is invalid"))?)
        }
    };
    Ok(Options { anonymous, client_ip })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn other_members_of_the_top_level_are_refused() {
        let read = |body: Value| {
            let read = RawBody::<AnswersToCreate>::new(&body, true).read();
            read.map(drop).map_err(|error| error.description().into_owned())
        };
        assert_eq!(read(json!({"x": 1})), Err("Unknown key: x".to_owned()));
        assert_eq!(read(json!({"meta": {"x": 1}, "data": {"x": 1}})), Ok(()));
    }

    #[test]
    fn an_address_is_one_of_either_version() {
        let read = |meta: Value| {
            let options = options(meta.as_object().unwrap());
            options
                .map(|options| options.client_ip.is_some())
                .map_err(|error| error.description().into_owned())
        };
        assert_eq!(read(json!({"client_ip": "203.0.113.42"})), Ok(true));
        assert_eq!(read(json!({"client_ip": "2001:db8::1"})), Ok(true));
        assert_eq!(read(json!({})), Ok(false));
        for bad in [json!(""), json!("203.0.113"), json!(7)] {
            assert_eq!(read(json!({"client_ip": bad})), Err("client_ip is invalid".to_owned()));
        }
    }
}
