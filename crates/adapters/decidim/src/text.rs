//! Translated text (sheet 13 §3.2).

use civitas_kernel::Locales;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

const MACHINE: &str = "machine_translations";
/// Links to files that only the old installation serves.
const INLINE: &str = "/rails/active_storage/";

/// The languages that texts are read in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Languages<'a> {
    /// Those of the deployment.
    pub(crate) locales: &'a Locales,
    /// Locales of the source that become others.
    pub(crate) map: &'a BTreeMap<String, String>,
    /// The default locale of the organization, mapped.
    pub(crate) default: &'a str,
}

/// A text, and what was lost of it: codes, with the locale where there is one.
#[derive(Debug, Default)]
pub(crate) struct MappedText {
    pub(crate) value: Map<String, Value>,
    pub(crate) losses: BTreeSet<(&'static str, String)>,
}

impl MappedText {
    fn add_loss(&mut self, code: &'static str) {
        self.losses.insert((code, String::new()));
    }
}

impl Languages<'_> {
    /// The locale of the deployment that a locale of the source becomes, if there is one. The exact one is preferred.
    pub(crate) fn locale(&self, locale: &str) -> Option<String> {
        let mapped = self.map.get(locale).map_or(locale, String::as_str);
        self.locales.find(mapped).map(|found| found.as_str().to_owned())
    }

    /// A text of content, which may be empty.
    pub(crate) fn content(&self, value: &Value) -> MappedText {
        let mut text = self.read(&parsed(value));
        let is_lost = |(code, _): &(&str, String)| ["W-LOCALE", "W-MACHINE"].contains(code);
        if text.value.is_empty() && text.losses.iter().any(is_lost) {
            text.add_loss("W-NOTEXT");
        }
        text
    }

    /// A text that must not be empty: the name of a part of the structure. If it is, it becomes the machine translation in
    /// one of our locales, else any text in any locale, else `instead`.
    pub(crate) fn name(&self, value: &Value, instead: &str) -> MappedText {
        let value = parsed(value);
        let mut text = self.read(&value);
        if text.value.is_empty() {
            text.add_loss("W-NOTEXT");
            let machine = value.get(MACHINE).and_then(Value::as_object);
            let mut translated = MappedText::default();
            self.keep(machine.into_iter().flatten(), &mut translated);
            text.value = translated.value;
            if text.value.is_empty() {
                let texts = value.as_object().into_iter().flatten().chain(machine.into_iter().flatten());
                let mut texts = texts.filter_map(|(_, text)| text.as_str());
                let any = texts.find(|text| !text.trim().is_empty()).unwrap_or(instead);
                text.value.insert(self.default.to_owned(), any.into());
            }
        }
        text
    }

    fn read(&self, value: &Value) -> MappedText {
        let mut text = MappedText::default();
        match value {
            Value::Object(texts) => {
                if texts.get(MACHINE).and_then(Value::as_object).is_some_and(|texts| !texts.is_empty()) {
                    text.add_loss("W-MACHINE");
                }
                self.keep(texts, &mut text);
            }
            Value::Null => {}
            Value::String(plain) if plain.trim().is_empty() => {}
            Value::String(plain) => {
                text.add_loss("W-JSON");
                text.value.insert(self.default.to_owned(), plain.clone().into());
            }
            _ => text.add_loss("W-JSON"),
        }
        if text.value.values().filter_map(Value::as_str).any(|text| text.contains(INLINE)) {
            text.add_loss("W-INLINE");
        }
        text
    }

    /// Keeps the texts in the locales of the deployment.
    fn keep<'v>(&self, texts: impl IntoIterator<Item = (&'v String, &'v Value)>, kept: &mut MappedText) {
        for (locale, text) in texts.into_iter().filter(|(locale, _)| *locale != MACHINE) {
            match (text, self.locale(locale)) {
                (Value::Null, _) => {}
                (Value::String(text), _) if text.trim().is_empty() => {}
                (Value::String(_), None) => {
                    kept.losses.insert(("W-LOCALE", locale.clone()));
                }
                // A mapped locale does not replace the text of the locale itself.
                (Value::String(_), Some(ours)) if ours != *locale && kept.value.contains_key(&ours) => {}
                (Value::String(_), Some(ours)) => {
                    kept.value.insert(ours, text.clone());
                }
                _ => kept.add_loss("W-JSON"),
            }
        }
    }
}

/// A JSON text that has an object is that object.
fn parsed(value: &Value) -> Value {
    let inner = value.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
    inner.filter(Value::is_object).unwrap_or_else(|| value.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(value: &Value, name: Option<&str>) -> (Value, Vec<&'static str>) {
        let (locales, map) = (Locales::standard(), [("ca".to_owned(), "es".to_owned())].into());
        let languages = Languages { locales: &locales, map: &map, default: "en" };
        let text = name.map_or_else(|| languages.content(value), |name| languages.name(value, name));
        (text.value.into(), text.losses.into_iter().map(|(code, _)| code).collect())
    }

    #[test]
    fn objects_keep_the_locales_of_the_deployment() {
        assert_eq!(
            read(&json!({"en": "A", "de": "B", "fr": " ", "es": null}), None),
            (json!({"en": "A"}), vec!["W-LOCALE"])
        );
        assert_eq!(read(&json!({"ca": "C"}), None), (json!({"es": "C"}), vec![]));
        assert_eq!(
            read(&json!({"ca": "C", "es": "E"}), None),
            (json!({"es": "E"}), vec![]),
            "the exact key wins"
        );
        assert_eq!(read(&json!({"en": 5}), None), (json!({}), vec!["W-JSON"]));
    }

    #[test]
    fn texts_that_are_no_objects_are_read_as_far_as_they_can() {
        assert_eq!(read(&json!("{\"en\": \"A\"}"), None), (json!({"en": "A"}), vec![]));
        assert_eq!(read(&json!("Plain words"), None), (json!({"en": "Plain words"}), vec!["W-JSON"]));
        assert_eq!(read(&Value::Null, None), (json!({}), vec![]));
        assert_eq!(read(&json!([1]), None), (json!({}), vec!["W-JSON"]));
        assert_eq!(read(&json!({"en": "<img src=\"/rails/active_storage/x\">"}), None).1, ["W-INLINE"]);
    }

    #[test]
    fn machine_translations_are_no_text_but_a_name_needs_one() {
        let machine = json!({"machine_translations": {"fr": "Machine", "de": "Maschine"}});
        assert_eq!(read(&machine, None), (json!({}), vec!["W-MACHINE", "W-NOTEXT"]));
        assert_eq!(read(&machine, Some("#1")), (json!({"fr": "Machine"}), vec!["W-MACHINE", "W-NOTEXT"]));
        assert_eq!(
            read(&json!({"de": "Nur"}), Some("#1")),
            (json!({"en": "Nur"}), vec!["W-LOCALE", "W-NOTEXT"])
        );
        assert_eq!(read(&Value::Null, Some("#1")), (json!({"en": "#1"}), vec!["W-NOTEXT"]));
    }
}
