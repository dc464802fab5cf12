//! The deployment's languages, and text in several of them (contract 01 §5).

use crate::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// A language, optionally with a region or script: `ca`, `pt-BR`, `zh-Hant`. Compared as it is
/// written; ordered by its text. Which languages a deployment has is decided by [`Locales`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Locale([u8; Self::MAX_LENGTH]);

impl Locale {
    /// The longest text of a locale, in bytes.
    const MAX_LENGTH: usize = 8;
    /// English.
    pub const EN: Self = Self::from_code(*b"en");
    /// French.
    pub const FR: Self = Self::from_code(*b"fr");
    /// Spanish.
    pub const ES: Self = Self::from_code(*b"es");

    /// The languages of the texts of the service itself: mails and pages.
    pub const TRANSLATED_LOCALES: [Self; 3] = [Self::EN, Self::FR, Self::ES];

    const fn from_code([first, second]: [u8; 2]) -> Self {
        Self([first, second, 0, 0, 0, 0, 0, 0])
    }

    /// `en`
    pub fn as_str(&self) -> &str {
        let length = self.0.iter().position(|byte| *byte == 0).unwrap_or(Self::MAX_LENGTH);
        std::str::from_utf8(&self.0[..length]).unwrap_or_default()
    }

    /// The language of a text of the service for a reader of this language: the same, else that of the organization,
    /// else English.
    #[must_use]
    pub fn or_translated_locale(self, organization: Self) -> Self {
        let has = |locale: &Self| Self::TRANSLATED_LOCALES.contains(locale);
        [self, organization].into_iter().find(has).unwrap_or(Self::EN)
    }

    /// The locale of this text; `None` if it does not have the form of a locale.
    pub fn parse(text: &str) -> Option<Self> {
        let (language, rest) =
            text.split_once('-').map_or((text, None), |(language, rest)| (language, Some(rest)));
        let is_language =
            (2..=3).contains(&language.len()) && language.bytes().all(|b| b.is_ascii_alphabetic());
        let is_rest =
            |rest: &str| (2..=4).contains(&rest.len()) && rest.bytes().all(|b| b.is_ascii_alphanumeric());
        if !is_language || !rest.is_none_or(is_rest) {
            return None;
        }
        let mut bytes = [0; Self::MAX_LENGTH];
        bytes[..text.len()].copy_from_slice(text.as_bytes());
        Some(Self(bytes))
    }
}

impl fmt::Display for Locale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Locale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Locale {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Locale {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;

        impl de::Visitor<'_> for Text {
            type Value = Locale;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a locale")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Locale, E> {
                Locale::parse(text).ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
            }
        }

        deserializer.deserialize_str(Text)
    }
}

/// A list of locales without duplicates: those of the deployment (the setting `locales`), or a part of them in the same
/// order.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "Vec<Locale>", into = "Vec<Locale>")]
pub struct Locales(Arc<[Locale]>);

impl Locales {
    /// The most locales of a deployment.
    pub const MAX: usize = 60;

    /// The locales of a deployment without the setting `locales`: `en`, `fr`, `es`.
    pub fn standard() -> Self {
        [Locale::EN, Locale::FR, Locale::ES].into_iter().collect()
    }

    /// The locale of exactly that text, if the list has it.
    pub fn find(&self, text: &str) -> Option<Locale> {
        self.iter().find(|locale| locale.as_str() == text)
    }

    /// The part of the list that a caller requests, in the order of the list. `None` if no text is given.
    ///
    /// # Errors
    /// `Not allowed locales: xx, yy`: each text that is not in the list, in the order given (contract 01 §5).
    pub fn choose<'a>(&self, texts: impl IntoIterator<Item = &'a str>) -> Result<Option<Self>, Error> {
        let (known, unknown): (Vec<&str>, Vec<&str>) =
            texts.into_iter().partition(|text| self.find(text).is_some());
        if !unknown.is_empty() {
            return Err(Error::rejected(format!("Not allowed locales: {}", unknown.join(", "))));
        }
        let is_chosen = |locale: &Locale| known.contains(&locale.as_str());
        Ok((!known.is_empty()).then(|| self.iter().filter(is_chosen).collect()))
    }

    /// Whether the list has this one.
    pub fn has(&self, locale: Locale) -> bool {
        self.0.contains(&locale)
    }

    /// The locales, in order.
    pub fn iter(&self) -> impl Iterator<Item = Locale> + '_ {
        self.0.iter().copied()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<Locale> for Locales {
    fn from_iter<I: IntoIterator<Item = Locale>>(locales: I) -> Self {
        let mut list = Vec::new();
        for locale in locales {
            if !list.contains(&locale) {
                list.push(locale);
            }
        }
        Self(list.into())
    }
}

impl From<Vec<Locale>> for Locales {
    fn from(locales: Vec<Locale>) -> Self {
        locales.into_iter().collect()
    }
}

impl From<Locales> for Vec<Locale> {
    fn from(locales: Locales) -> Self {
        locales.iter().collect()
    }
}

/// `en,fr`
impl fmt::Display for Locales {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, locale) in self.iter().enumerate() {
            write!(f, "{}{locale}", if index == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

/// `en, fr`: 1 to 60 locales, each once.
impl FromStr for Locales {
    type Err = Error;

    fn from_str(list: &str) -> Result<Self, Error> {
        let texts: Vec<&str> = list.split(',').map(str::trim).collect();
        let locales: Option<Self> = texts.iter().map(|text| Locale::parse(text)).collect();
        let fits = |locales: &Self| locales.0.len() == texts.len() && texts.len() <= Self::MAX;
        locales.filter(fits).ok_or_else(|| Error::rejected("not a list of 1 to 60 different locales"))
    }
}

/// Text in several languages. An empty text may be stored; a missing language has no key.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Translated(BTreeMap<Locale, String>);

impl Translated {
    /// The text of one language.
    pub fn get(&self, locale: Locale) -> Option<&str> {
        self.0.get(&locale).map(String::as_str)
    }

    /// Sets the text of one language.
    pub fn set(&mut self, locale: Locale, text: String) {
        self.0.insert(locale, text);
    }

    /// Removes one language.
    pub fn remove(&mut self, locale: Locale) -> Option<String> {
        self.0.remove(&locale)
    }

    /// Whether there is no text in this language but white space.
    pub fn is_blank_in(&self, locale: Locale) -> bool {
        self.get(locale).is_none_or(|text| text.trim().is_empty())
    }

    /// The languages and their texts, ordered by language.
    pub fn iter(&self) -> impl Iterator<Item = (Locale, &str)> {
        self.0.iter().map(|(locale, text)| (*locale, text.as_str()))
    }

    /// Whether there is no text in any language, not even an empty one.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The texts of the requested languages. No language falls back to another.
    #[must_use]
    pub fn in_locales(&self, locales: &Locales) -> Self {
        self.iter().filter(|(l, _)| locales.has(*l)).map(|(l, text)| (l, text.to_owned())).collect()
    }

    /// The text for a title: in `preferred`, else in the first language that has a non-empty one.
    pub fn title(&self, preferred: Locale) -> Option<&str> {
        self.get(preferred).filter(|t| !t.is_empty()).or_else(|| self.first_text().map(|(_, text)| text))
    }

    /// The first language with a non-empty text.
    pub fn first_text(&self) -> Option<(Locale, &str)> {
        self.iter().find(|(_, text)| !text.is_empty())
    }
}

impl FromIterator<(Locale, String)> for Translated {
    fn from_iter<I: IntoIterator<Item = (Locale, String)>>(texts: I) -> Self {
        Self(texts.into_iter().collect())
    }
}

impl<const N: usize> From<[(Locale, String); N]> for Translated {
    fn from(texts: [(Locale, String); N]) -> Self {
        texts.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unknown_locale_is_named_in_the_order_given() {
        let refused = Locales::standard().choose(["EN", "fr", "", "xx"]).unwrap_err();
        assert_eq!(refused.description(), "Not allowed locales: EN, , xx");
    }

    #[test]
    fn a_choice_has_the_order_of_the_deployment() {
        let deployment: Locales = "fr, en, pt-BR".parse().unwrap();
        let chosen = deployment.choose(["pt-BR", "en", "fr", "en"]).unwrap();
        assert_eq!(chosen, Some(deployment.clone()));
        assert_eq!(deployment.choose(["pt-BR", "fr"]).unwrap().unwrap().to_string(), "fr,pt-BR");
        assert_eq!(deployment.choose([]).unwrap(), None);
    }

    #[test]
    fn a_locale_has_two_or_three_letters_and_a_region_or_script() {
        for text in ["en", "ast", "pt-BR", "zh-Hant", "es-419", "zho-Hant"] {
            assert_eq!(Locale::parse(text).unwrap().as_str(), text);
        }
        for text in ["", "e", "engl", "en-", "en_GB", "en-B", "zh-Hant-TW", "e1", "é1", "en-Hant1"] {
            assert_eq!(Locale::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_deployment_has_one_to_sixty_locales_each_once() {
        assert_eq!("ca,pt-BR".parse::<Locales>().unwrap().to_string(), "ca,pt-BR");
        let many = |n: u8| {
            (0..n)
                .map(|i| format!("a{}", char::from(b'a' + i % 26)) + ["", "-AA", "-BB"][usize::from(i / 26)])
        };
        assert!(many(60).collect::<Vec<_>>().join(",").parse::<Locales>().is_ok());
        for bad in ["", "en,en", "en,,fr", "english"] {
            assert!(bad.parse::<Locales>().is_err(), "{bad}");
        }
        assert!(many(61).collect::<Vec<_>>().join(",").parse::<Locales>().is_err());
    }

    #[test]
    fn a_locale_is_a_text_in_json_as_a_value_and_as_a_key() {
        let text: Translated = serde_json::from_str(r#"{"pt-BR":"Olá"}"#).unwrap();
        assert_eq!(serde_json::to_string(&text).unwrap(), r#"{"pt-BR":"Olá"}"#);
        assert!(serde_json::from_str::<Translated>(r#"{"portuguese":"Olá"}"#).is_err());
        let list: Locales = serde_json::from_str(r#"["fr","en"]"#).unwrap();
        assert_eq!(serde_json::to_string(&list).unwrap(), r#"["fr","en"]"#);
    }

    #[test]
    fn a_title_falls_back_to_any_text_but_an_attribute_does_not() {
        let title: Translated = [(Locale::EN, String::new()), (Locale::ES, "Ideas".to_owned())].into();
        assert_eq!(title.title(Locale::EN), Some("Ideas"));
        assert_eq!(title.in_locales(&"fr".parse().unwrap()), Translated::default());
    }
}
