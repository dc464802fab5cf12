//! Parses one line of an archive.

use super::error::RecordError;
use super::lines::LongTexts;
use civitas_kernel::extended_data::check_size;
use civitas_kernel::limits::{MAX_EXTENDED_DATA_BYTES, MAX_LINE_CHARS, is_longer, max_member_chars};
use civitas_kernel::{Locales, OrganizationId, read_json};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// The members that all types of records have.
#[derive(Debug, Clone)]
pub(super) struct RecordHead {
    /// `type`: the name of the record type.
    pub(super) kind: String,
    /// `ref`: the name chosen by the author of the file.
    pub(super) reference: String,
    /// `organization`: the ref of the organization.
    pub(super) organization: Option<String>,
    /// `id`: the id that the record has where it comes from. Imports that keep ids give it to the new row.
    pub(super) id: Option<i64>,
}

/// The type of the record that may be the first one.
pub(super) const ARCHIVE: &str = "archive";

/// The largest id: larger ones are not exact in JSON.
pub(super) const MAX_ID: i64 = (1 << 53) - 1;

/// A record to import.
#[derive(Debug)]
pub(super) struct ArchiveRecord {
    /// The organization.
    pub(super) organization: Option<OrganizationId>,
    /// The stored id, if an earlier line or import has the same ref.
    pub(super) existing_id: Option<String>,
    /// All members except `type`, `ref`, `organization` and `id`.
    pub(super) members: Map<String, Value>,
}

/// Parses a line into its head and its other members. The other members are checked later, when errors can name
/// the record.
pub(super) fn read(line: &str) -> Result<(RecordHead, Map<String, Value>), RecordError> {
    let value = read_json(line)
        .map_err(|error| if error.is_data() { error.to_string() } else { format!("is not JSON: {error}") })?;
    let Value::Object(mut members) = value else { return Err("is not a JSON object".into()) };
    let mut text = |name: &str| match members.remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if is_longer(&text, MAX_LINE_CHARS) => {
            Err(RecordError::from(format!("{name} is too long (maximum is {MAX_LINE_CHARS} characters)")))
        }
        Some(Value::String(text)) if !text.is_empty() && !text.contains('\0') => Ok(Some(text)),
        Some(_) => Err(RecordError::from(format!("{name} must be a text"))),
    };
    let kind = text("type")?.ok_or("type is required")?;
    let reference = match text("ref")? {
        Some(reference) => reference,
        None if kind == ARCHIVE => String::new(),
        None => return Err("ref is required".into()),
    };
    let organization = text("organization")?;
    let id = members.remove("id").filter(|id| !id.is_null()).map(|id| checked_id(&id)).transpose();
    let id = id.map_err(|reason| format!("id {reason}"))?;
    Ok((RecordHead { kind, reference, organization, id }, members))
}

/// An id in a record, or what it must be.
pub(super) fn checked_id(value: &Value) -> Result<i64, String> {
    let id = value.as_i64().filter(|id| (1..=MAX_ID).contains(id));
    id.ok_or_else(|| format!("must be an integer from 1 to {MAX_ID}"))
}

impl ArchiveRecord {
    /// The members as the fields of the record type. Checks text lengths, the size of extended data, U+0000 and that all
    /// languages are those of the deployment (`locales`).
    pub(super) fn fields<R: DeserializeOwned>(
        &self,
        locales: &Locales,
        long_texts: &LongTexts,
    ) -> Result<R, RecordError> {
        // Only the bytes of files may be long texts.
        let texts = self.members.iter().filter(|(name, _)| !matches!(name.as_str(), "answers" | "data"));
        let is_long = |text: &str, is_name: bool| !is_name && long_texts.has(text);
        if let Some((name, _)) = texts.into_iter().find(|(_, value)| has_text(value, &is_long)) {
            return Err(format!("{name} is too long").into());
        }
        // PostgreSQL cannot store U+0000.
        let has_nul = |text: &str, is_name: bool| text.contains('\0') && (is_name || !long_texts.has(text));
        if let Some((name, _)) = self.members.iter().find(|(_, value)| has_text(value, &has_nul)) {
            return Err(format!("{name} must not contain the character U+0000").into());
        }
        for (name, value) in &self.members {
            let Some(max) = max_member_chars(name) else { continue };
            if has_text(value, &|text: &str, is_name: bool| !is_name && is_longer(text, max)) {
                return Err(format!("{name} is too long (maximum is {max} characters)").into());
            }
        }
        if let Some(Value::Object(data)) = self.members.get("extended_data") {
            check_size(data, MAX_EXTENDED_DATA_BYTES)?;
        }
        let fields = R::deserialize(&self.members).map_err(|error| self.name_member::<R>(&error))?;
        for (name, value) in &self.members {
            if let Some(unknown) = languages(name, value).find(|text| locales.find(text).is_none()) {
                return Err(format!("{name}: {unknown:?} is not a locale of the deployment").into());
            }
        }
        Ok(fields)
    }

    /// Adds the name of the invalid member to an error of serde: parses each member alone and takes the first that
    /// fails.
    fn name_member<R: DeserializeOwned>(&self, whole: &serde_json::Error) -> RecordError {
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

/// The languages in a member of one of these names: of texts in several languages, or of a list, or one.
fn languages<'a>(name: &str, value: &'a Value) -> Box<dyn Iterator<Item = &'a str> + 'a> {
    match (name, value) {
        ("locale" | "default_locale", Value::String(locale)) => Box::new(std::iter::once(locale.as_str())),
        ("available_locales", Value::Array(locales)) => Box::new(locales.iter().filter_map(Value::as_str)),
        (
            "body" | "description" | "name" | "short_description" | "subtitle" | "title" | "tos" | "value",
            Value::Object(texts),
        ) => Box::new(texts.keys().map(String::as_str)),
        _ => Box::new(std::iter::empty()),
    }
}

/// Whether a value has a text of which this is true, or a member whose name it is true of.
fn has_text(value: &Value, is: &impl Fn(&str, bool) -> bool) -> bool {
    match value {
        Value::String(text) => is(text, false),
        Value::Array(items) => items.iter().any(|item| has_text(item, is)),
        Value::Object(members) => members.iter().any(|(name, value)| is(name, true) || has_text(value, is)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use civitas_kernel::{PatchField, Translated};
    use serde::Deserialize;

    #[derive(Debug, Default, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    struct Sample {
        title: PatchField<Translated>,
        weight: PatchField<i64>,
        extended_data: PatchField<Map<String, Value>>,
    }

    fn members(json: &str) -> Result<Sample, String> {
        let members = serde_json::from_str(json).unwrap();
        let record = ArchiveRecord { organization: None, existing_id: None, members };
        record
            .fields(&Locales::standard(), &LongTexts::default())
            .map_err(|error| error.at_line(1, None).to_string())
    }

    #[test]
    fn a_wrong_value_is_named_with_its_member() {
        let read = members(r#"{"weight": 3}"#).unwrap();
        assert_eq!((read.weight, read.title), (PatchField::Value(3), PatchField::Absent));
        assert_eq!(
            members(r#"{"title": {"en": "x"}, "weight": "3"}"#).unwrap_err(),
            r#"line 1: weight: invalid type: string "3", expected i64"#
        );
        assert_eq!(
            members(r#"{"title": {"de": "x"}}"#).unwrap_err(),
            r#"line 1: title: "de" is not a locale of the deployment"#
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
        let refused = read(&line).unwrap_err().at_line(1, None).to_string();
        assert_eq!(refused, "line 1: ref is too long (maximum is 255 characters)");
    }

    #[test]
    fn extended_data_has_a_maximum() {
        // With the rest of `{"a":"x"}`.
        let longest = "x".repeat(MAX_EXTENDED_DATA_BYTES - 8);
        members(&format!(r#"{{"extended_data": {{"a": "{longest}"}}}}"#)).unwrap();
        let refused = members(&format!(r#"{{"extended_data": {{"a": "{longest}x"}}}}"#)).unwrap_err();
        assert_eq!(refused, "line 1: extended_data exceeds maximum size of 1048576 bytes");
    }

    #[test]
    fn a_record_has_type_and_ref() {
        let reason = |line| read(line).unwrap_err().at_line(1, None).to_string();
        assert_eq!(reason("[]"), "line 1: is not a JSON object");
        assert_eq!(reason(r#"{"ref": "x"}"#), "line 1: type is required");
        assert_eq!(reason(r#"{"type": "user"}"#), "line 1: ref is required");
        assert_eq!(reason(r#"{"type": "user", "ref": 3}"#), "line 1: ref must be a text");
    }

    #[test]
    fn an_id_is_an_integer_that_json_can_hold() {
        let id = |id: &str| {
            let read = read(&format!(r#"{{"type": "user", "ref": "nora", "id": {id}}}"#));
            read.map(|(head, members)| (head.id, members.len()))
                .map_err(|error| error.at_line(1, None).to_string())
        };
        assert_eq!(id("17"), Ok((Some(17), 0)));
        assert_eq!(id("null"), Ok((None, 0)));
        for wrong in ["0", "-1", "1.5", "\"17\"", "9007199254740992"] {
            let reason = "line 1: id must be an integer from 1 to 9007199254740991";
            assert_eq!(id(wrong), Err(reason.to_owned()), "{wrong}");
        }
    }
}
