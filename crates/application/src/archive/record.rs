//! One line of an archive, read.

use super::failure::Fault;
use civitas_kernel::OrganizationId;
use civitas_kernel::limits::{LINE, PROSE, URL, is_longer};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// What every record has.
#[derive(Debug)]
pub(super) struct Head {
    /// The name of its type.
    pub(super) kind: String,
    /// The name its author gave it.
    pub(super) reference: String,
    /// The ref of its organization.
    pub(super) organization: Option<String>,
}

/// A record to be kept.
#[derive(Debug)]
pub(super) struct Record {
    /// The name its author gave it.
    pub(super) reference: String,
    /// Its organization.
    pub(super) organization: Option<OrganizationId>,
    /// The id it was remembered by, when its ref was seen before.
    pub(super) seen: Option<String>,
    /// Everything but type, ref and organization.
    pub(super) members: Map<String, Value>,
}

/// Reads a line: what every record has, and the rest. The head is there even when the rest is wrong, so that the
/// message can name the record.
pub(super) fn read(line: &str) -> Result<(Head, Map<String, Value>), Fault> {
    let value: Value = serde_json::from_str(line).map_err(|e| format!("is not JSON: {e}"))?;
    let Value::Object(mut members) = value else { return Err("is not a JSON object".into()) };
    let mut text = |name: &str| match members.remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if is_longer(&text, LINE) => {
            Err(Fault::from(format!("{name} is too long (maximum is {LINE} characters)")))
        }
        Some(Value::String(text)) if !text.is_empty() && !text.contains('\0') => Ok(Some(text)),
        Some(_) => Err(Fault::from(format!("{name} must be a text"))),
    };
    let kind = text("type")?.ok_or("type is required")?;
    let reference = text("ref")?.ok_or("ref is required")?;
    let organization = text("organization")?;
    Ok((Head { kind, reference, organization }, members))
}

impl Record {
    /// The organization of a record that must have one.
    pub(super) fn home(&self) -> Result<OrganizationId, Fault> {
        self.organization.ok_or_else(|| "organization is required".into())
    }

    /// A record that belongs to no organization says so.
    pub(super) fn homeless(&self) -> Result<(), Fault> {
        if self.organization.is_none() { Ok(()) } else { Err("belongs to no organization".into()) }
    }

    /// The number it was remembered by.
    pub(super) fn seen_as<T>(&self, id: impl FnOnce(i64) -> T) -> Option<T> {
        self.seen.as_deref().and_then(|seen| seen.parse().ok()).map(id)
    }

    /// The members as this type of record has them.
    pub(super) fn members<R: DeserializeOwned>(&self) -> Result<R, Fault> {
        if let Some(name) = self.members.iter().find_map(|(name, value)| has_nul(value).then_some(name)) {
            return Err(format!("{name} must not contain the character U+0000").into());
        }
        for (name, value) in &self.members {
            if let Some(max) = longest_text(name).filter(|max| has_longer_text(value, *max)) {
                return Err(format!("{name} is too long (maximum is {max} characters)").into());
            }
        }
        R::deserialize(&self.members).map_err(|error| self.culprit::<R>(&error))
    }

    /// serde does not name the member a value of a wrong type stands in. No member needs another, so the one
    /// that can not be read alone is the one.
    fn culprit<R: DeserializeOwned>(&self, whole: &serde_json::Error) -> Fault {
        let alone = |(name, value): (&String, &Value)| {
            let single: Map<_, _> = [(name.clone(), value.clone())].into_iter().collect();
            let error = R::deserialize(&single).err()?.to_string();
            Some(if error.starts_with(&format!("unknown field `{name}`")) {
                format!("unknown member {name:?}")
            } else {
                format!("{name}: {error}")
            })
        };
        self.members.iter().find_map(alone).unwrap_or_else(|| whole.to_string()).into()
    }
}

/// PostgreSQL can not keep it.
fn has_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(items) => items.iter().any(has_nul),
        Value::Object(members) => members.iter().any(|(key, value)| key.contains('\0') || has_nul(value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// The longest text a member may hold, in characters; `None` where its size is bounded in another way.
fn longest_text(name: &str) -> Option<usize> {
    match name {
        "extended_data" => None,
        "about"
        | "body"
        | "default_step_settings"
        | "description"
        | "settings"
        | "short_description"
        | "step_settings" => Some(PROSE),
        "personal_url" => Some(URL),
        _ => Some(LINE),
    }
}

fn has_longer_text(value: &Value, max: usize) -> bool {
    match value {
        Value::String(text) => is_longer(text, max),
        Value::Array(items) => items.iter().any(|item| has_longer_text(item, max)),
        Value::Object(members) => members.values().any(|value| has_longer_text(value, max)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use civitas_kernel::{Field, Translated};
    use serde::Deserialize;

    #[derive(Debug, Default, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    struct Sample {
        title: Field<Translated>,
        weight: Field<i64>,
    }

    fn members(json: &str) -> Result<Sample, String> {
        let members = serde_json::from_str(json).unwrap();
        let record = Record { reference: "x".into(), organization: None, seen: None, members };
        record.members().map_err(|fault| fault.at(1, None).to_string())
    }

    #[test]
    fn a_wrong_value_is_named_with_its_member() {
        let read = members(r#"{"weight": 3}"#).unwrap();
        assert_eq!((read.weight, read.title), (Field::Value(3), Field::Absent));
        assert_eq!(
            members(r#"{"title": {"en": "x"}, "weight": "3"}"#).unwrap_err(),
            r#"line 1: weight: invalid type: string "3", expected i64"#
        );
        assert_eq!(
            members(r#"{"title": {"de": "x"}}"#).unwrap_err(),
            "line 1: title: unknown variant `de`, expected one of `en`, `fr`, `es`"
        );
    }

    #[test]
    fn an_unknown_member_is_an_error() {
        assert_eq!(members(r#"{"wieght": 3}"#).unwrap_err(), r#"line 1: unknown member "wieght""#);
    }

    #[test]
    fn the_character_nul_is_refused_wherever_it_hides() {
        let refused = members(r#"{"title": {"en": "a\u0000b"}}"#).unwrap_err();
        assert_eq!(refused, "line 1: title must not contain the character U+0000");
        members(r#"{"title": {"en": "a\\u0000b"}}"#).unwrap();
    }

    #[test]
    fn a_text_of_a_record_has_a_maximum() {
        let refused = members(&format!(r#"{{"title": {{"en": "{}"}}}}"#, "x".repeat(256))).unwrap_err();
        assert_eq!(refused, "line 1: title is too long (maximum is 255 characters)");
        members(&format!(r#"{{"title": {{"en": "{}"}}}}"#, "é".repeat(255))).unwrap();
        let line = format!(r#"{{"type": "user", "ref": "{}"}}"#, "x".repeat(256));
        let refused = read(&line).unwrap_err().at(1, None).to_string();
        assert_eq!(refused, "line 1: ref is too long (maximum is 255 characters)");
    }

    #[test]
    fn a_record_has_type_and_ref() {
        let reason = |line| read(line).unwrap_err().at(1, None).to_string();
        assert_eq!(reason("[]"), "line 1: is not a JSON object");
        assert_eq!(reason(r#"{"ref": "x"}"#), "line 1: type is required");
        assert_eq!(reason(r#"{"type": "user"}"#), "line 1: ref is required");
        assert_eq!(reason(r#"{"type": "user", "ref": 3}"#), "line 1: ref must be a text");
    }
}
