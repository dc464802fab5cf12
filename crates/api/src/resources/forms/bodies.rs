//! Members of bodies (contract 08 §4.4, §5, §6.1).

use crate::shapes::read_translated;
use crate::typed_body::check_keys;
use civitas_kernel::{Error, Locales, Result, Translated, integer};
use serde::Deserialize;
use serde_json::{Number, Value};

const NO_TEXTS: &str = "title, description, tos and body must be objects of texts by language";

/// A text by language.
#[derive(Deserialize)]
#[serde(try_from = "Value")]
pub(super) struct Texts(Translated);

impl TryFrom<Value> for Texts {
    type Error = &'static str;

    fn try_from(sent: Value) -> Result<Self, &'static str> {
        let texts = (!sent.is_null()).then(|| read_translated(&sent)).flatten();
        texts.map(Self).ok_or(NO_TEXTS)
    }
}

impl Texts {
    /// The texts, if each is in a language of the deployment.
    ///
    /// # Errors
    /// `Rejected` for another language.
    pub(super) fn in_one_of(self, locales: &Locales) -> Result<Translated> {
        let is_known = self.0.iter().all(|(locale, _)| locales.has(locale));
        if is_known { Ok(self.0) } else { Err(Error::rejected(NO_TEXTS)) }
    }
}

/// A text by language, or null.
#[derive(Deserialize)]
#[serde(try_from = "Value")]
pub(super) struct TextsOrNull(Option<Texts>);

impl TryFrom<Value> for TextsOrNull {
    type Error = &'static str;

    fn try_from(sent: Value) -> Result<Self, &'static str> {
        Ok(Self(if sent.is_null() { None } else { Some(sent.try_into()?) }))
    }
}

impl TextsOrNull {
    /// As [`Texts::in_one_of`].
    pub(super) fn in_one_of(self, locales: &Locales) -> Result<Option<Translated>> {
        self.0.map(|texts| texts.in_one_of(locales)).transpose()
    }
}

/// A boolean; forms send it as text.
#[derive(Deserialize)]
#[serde(try_from = "Value")]
pub(super) struct Flag(pub(super) bool);

impl TryFrom<Value> for Flag {
    type Error = &'static str;

    fn try_from(sent: Value) -> Result<Self, &'static str> {
        flag(&sent).map(Self).ok_or("mandatory must be a boolean")
    }
}

/// A boolean, or its text in a form.
pub(super) fn flag(sent: &Value) -> Option<bool> {
    match sent {
        Value::Bool(flag) => Some(*flag),
        Value::String(text) => match text.as_str() {
            "true" | "1" => Some(true),
            "false" | "0" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

/// A limit: an integer, or null for none.
#[derive(Deserialize)]
#[serde(try_from = "Value")]
pub(super) struct Limit(pub(super) Option<i64>);

impl TryFrom<Value> for Limit {
    type Error = &'static str;

    fn try_from(sent: Value) -> Result<Self, &'static str> {
        if sent.is_null() {
            return Ok(Self(None));
        }
        integer(&sent)
            .map(|number| Self(Some(number)))
            .ok_or("max_choices and max_characters must be integers")
    }
}

/// An id as text or integer. 0, which no record has, for anything else.
pub(super) fn id(sent: &Value) -> i64 {
    integer(sent).unwrap_or(0)
}

fn is_whole(number: &Number) -> bool {
    number.as_f64().is_some_and(|number| number.fract() == 0.0)
}

/// The id in `relationships.questionnaire.data` of a closed body; `None` without it.
///
/// # Errors
/// `Unknown key: ..`, `relationships.questionnaire.data.type must be questionnaires`.
pub(super) fn questionnaire_in(relationships: Option<&Value>) -> Result<Option<i64>> {
    let missing = || Error::rejected("relationships.questionnaire required");
    let mut path = "data.relationships.".to_owned();
    let mut object = match relationships {
        None | Some(Value::Null) => return Ok(None),
        Some(sent) => sent.as_object().ok_or_else(missing)?,
    };
    for name in ["questionnaire", "data"] {
        check_keys(object, &path, |key| key == name)?;
        path = format!("{path}{name}.");
        object = match object.get(name) {
            None | Some(Value::Null) => return Ok(None),
            Some(inner) => inner.as_object().ok_or_else(missing)?,
        };
    }
    check_keys(object, &path, |key| matches!(key, "type" | "id"))?;
    let (Some(kind), Some(sent)) = (object.get("type"), object.get("id")) else { return Ok(None) };
    if kind != "questionnaires" {
        return Err(Error::rejected(format!("{path}type must be questionnaires")));
    }
    match sent {
        Value::String(text) if !text.is_empty() => Ok(Some(id(sent))),
        Value::Number(number) if is_whole(number) => Ok(Some(id(sent))),
        _ => Err(missing()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_relationship_names_a_questionnaire_and_nothing_else() {
        let read = |relationships: Value| {
            questionnaire_in(Some(&relationships)).map_err(|error| error.description().into_owned())
        };
        let of = |data: Value| json!({"questionnaire": {"data": data}});
        assert_eq!(read(of(json!({"type": "questionnaires", "id": "40"}))), Ok(Some(40)));
        assert_eq!(read(of(json!({"type": "questionnaires", "id": 40}))), Ok(Some(40)));
        assert_eq!(read(of(json!({"type": "questionnaires", "id": 40.0}))), Ok(Some(40)));
        // Text or number of no questionnaire.
        assert_eq!(read(of(json!({"type": "questionnaires", "id": "x"}))), Ok(Some(0)));
        assert_eq!(read(of(json!({"type": "questionnaires", "id": 1e30}))), Ok(Some(0)));
        assert_eq!(read(of(json!({"type": "questionnaires"}))), Ok(None));
        assert_eq!(read(json!({})), Ok(None));
        let unknown = "Unknown key: data.relationships.questionnaire.data.x".to_owned();
        assert_eq!(read(of(json!({"x": 1}))), Err(unknown));
        assert!(read(json!([])).is_err());
        for id in [json!(""), json!(null), json!(true), json!({}), json!(["40"]), json!(2.5), json!(2.5e-42)]
        {
            let missing = Err("relationships.questionnaire required".to_owned());
            assert_eq!(read(of(json!({"type": "questionnaires", "id": id}))), missing, "{id}");
        }
    }
}
