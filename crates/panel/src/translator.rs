//! The texts of the panel in the languages of the service. A test compares the catalogues with each other and with the
//! sources.

use crate::format;
use civitas_kernel::Locale;
use fluent_bundle::concurrent::FluentBundle;
use fluent_bundle::{FluentArgs, FluentResource, FluentValue};
use std::sync::LazyLock;
use unic_langid::LanguageIdentifier;

type Bundle = FluentBundle<FluentResource>;

/// A language with its catalogues, those of this folder.
macro_rules! catalogues {
    ($locale:expr, $folder:literal) => {
        (
            $locale,
            catalogues!($folder: "general", "system", "operations", "content", "surveys", "files", "publications"),
        )
    };
    ($folder:literal: $($name:literal),+) => {
        [$(include_str!(concat!("../words/", $folder, "/", $name, ".ftl"))),+]
    };
}

const SOURCES: [(Locale, [&str; 7]); 3] =
    [catalogues!(Locale::EN, "en"), catalogues!(Locale::FR, "fr"), catalogues!(Locale::ES, "es")];

static BUNDLES: LazyLock<Vec<(Locale, Bundle)>> =
    LazyLock::new(|| SOURCES.iter().map(|(locale, sources)| (*locale, bundle(*locale, sources))).collect());

/// Translates keys into the texts of one language.
#[derive(Clone, Copy)]
pub(crate) struct Translator {
    pub(crate) locale: Locale,
    bundle: &'static Bundle,
}

impl Translator {
    /// The texts in this language; English where it has none.
    pub(crate) fn for_locale(locale: Locale) -> Self {
        let found = BUNDLES.iter().find(|(known, _)| *known == locale).unwrap_or(&BUNDLES[0]);
        Self { locale: found.0, bundle: &found.1 }
    }

    /// A text.
    pub(crate) fn tr(&self, key: &str) -> String {
        self.tr_args(key, &[])
    }

    /// A text with one value in it.
    pub(crate) fn tr_with(&self, key: &str, name: &'static str, value: impl Into<Value>) -> String {
        self.tr_args(key, &[(name, value.into())])
    }

    /// A text with values in it; `{key}` where there is none.
    pub(crate) fn tr_args(&self, key: &str, values: &[(&'static str, Value)]) -> String {
        let Some(pattern) = self.bundle.get_message(key).and_then(|message| message.value()) else {
            tracing::error!(key, "the panel has no such text");
            return format!("{{{key}}}");
        };
        let args: FluentArgs<'_> = values.iter().map(|(name, value)| (*name, value.fluent())).collect();
        let mut faults = Vec::new();
        let text = self.bundle.format_pattern(pattern, Some(&args), &mut faults);
        if !faults.is_empty() {
            tracing::error!(key, ?faults, "a text of the panel lacks a value");
        }
        text.into_owned()
    }

    /// A number of rows that were counted up to `limit`: `10,000`, or from `limit` on `More than 10,000`.
    pub(crate) fn count_text(&self, count: i64, limit: i64) -> String {
        if count < limit {
            format::number(self.locale, count)
        } else {
            self.tr_with("more-than", "number", limit - 1)
        }
    }

    /// A text with a number, which decides its plural.
    pub(crate) fn tr_count(&self, key: &str, number: impl Into<Value>) -> String {
        self.tr_with(key, "count", number)
    }
}

/// A value in a text.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    Text(String),
    Number(i64),
}

impl Value {
    #[expect(clippy::cast_precision_loss, reason = "numbers of a page are far below 2^53")]
    fn fluent(&self) -> FluentValue<'_> {
        match self {
            Self::Text(text) => FluentValue::from(text.as_str()),
            Self::Number(number) => FluentValue::from(*number as f64),
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<usize> for Value {
    fn from(number: usize) -> Self {
        Self::Number(format::saturating_i64(number))
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

fn bundle(locale: Locale, sources: &[&str]) -> Bundle {
    let language: LanguageIdentifier = locale.as_str().parse().unwrap_or_default();
    let mut bundle = Bundle::new_concurrent(vec![language]);
    // Marks of the direction of text are not needed in these languages, and would be copied with the text.
    bundle.set_use_isolating(false);
    bundle.set_formatter(Some(match locale {
        Locale::FR => |value, _| format_number(Locale::FR, value),
        Locale::ES => |value, _| format_number(Locale::ES, value),
        _ => |value, _| format_number(Locale::EN, value),
    }));
    for source in sources {
        let resource = FluentResource::try_new((*source).to_owned()).unwrap_or_else(|(resource, faults)| {
            tracing::error!(%locale, ?faults, "a catalogue of texts has errors");
            resource
        });
        bundle.add_resource_overriding(resource);
    }
    bundle
}

/// A number with grouped digits.
#[expect(clippy::cast_possible_truncation, reason = "the number was made of an integer")]
fn format_number(locale: Locale, value: &FluentValue<'_>) -> Option<String> {
    match value {
        FluentValue::Number(number) => Some(format::number(locale, number.value as i64)),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
