//! The deployment's languages, and text in several of them (contract 01 §5).

use crate::Error;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// A language of the deployment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Locale {
    /// English.
    En,
    /// French.
    Fr,
    /// Spanish.
    Es,
}

impl Locale {
    /// All of them, in the deployment's order.
    pub const ALL: [Self; 3] = [Self::En, Self::Fr, Self::Es];

    /// `en`, `fr` or `es`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Fr => "fr",
            Self::Es => "es",
        }
    }

    /// The locale of exactly that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|l| l.as_str() == name)
    }
}

impl fmt::Display for Locale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A set of locales, always in the deployment's order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "Vec<Locale>", into = "Vec<Locale>")]
pub struct Locales(u8);

impl Locales {
    /// Every locale of the deployment.
    pub const ALL: Self = Self(0b111);

    /// Reads what a caller asked for; nothing asked means all of them.
    ///
    /// # Errors
    /// `Not allowed locales: xx, yy`, naming each value that is none of ours, in the order given.
    pub fn read<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Option<Self>, Error> {
        let mut set = 0;
        let mut strange = Vec::new();
        for name in names {
            match Locale::parse(name) {
                Some(locale) => set |= 1 << locale as u8,
                None => strange.push(name),
            }
        }
        if strange.is_empty() {
            return Ok((set != 0).then_some(Self(set)));
        }
        Err(Error::rejected(format!("Not allowed locales: {}", strange.join(", "))))
    }

    /// Whether the set has this one.
    pub fn has(self, locale: Locale) -> bool {
        self.0 & (1 << locale as u8) != 0
    }

    /// The members, in the deployment's order.
    pub fn iter(self) -> impl Iterator<Item = Locale> {
        Locale::ALL.into_iter().filter(move |l| self.has(*l))
    }
}

impl FromIterator<Locale> for Locales {
    fn from_iter<I: IntoIterator<Item = Locale>>(locales: I) -> Self {
        Self(locales.into_iter().fold(0, |set, locale| set | (1 << locale as u8)))
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

impl Default for Locales {
    fn default() -> Self {
        Self::ALL
    }
}

/// `en,fr`
impl FromStr for Locales {
    type Err = Error;

    fn from_str(list: &str) -> Result<Self, Error> {
        Ok(Self::read(list.split(','))?.unwrap_or_default())
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

    /// Takes one language away.
    pub fn remove(&mut self, locale: Locale) -> Option<String> {
        self.0.remove(&locale)
    }

    /// The languages and their texts, in the deployment's order.
    pub fn iter(&self) -> impl Iterator<Item = (Locale, &str)> {
        self.0.iter().map(|(locale, text)| (*locale, text.as_str()))
    }

    /// Whether there is no text in any language, not even an empty one.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The part a caller asked to see. No language falls back to another.
    #[must_use]
    pub fn only(&self, locales: &Locales) -> Self {
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
    fn every_strange_locale_is_named_in_the_order_given() {
        let refused = Locales::read(["EN", "fr", "", "xx"]).unwrap_err();
        assert_eq!(refused.description(), "Not allowed locales: EN, , xx");
    }

    #[test]
    fn the_order_of_the_question_does_not_matter() {
        assert_eq!("fr,en".parse::<Locales>().unwrap(), "en,fr".parse().unwrap());
    }

    #[test]
    fn a_title_falls_back_to_any_text_but_an_attribute_does_not() {
        let title: Translated = [(Locale::En, String::new()), (Locale::Es, "Ideas".to_owned())].into();
        assert_eq!(title.title(Locale::En), Some("Ideas"));
        assert_eq!(title.only(&"fr".parse().unwrap()), Translated::default());
    }
}
