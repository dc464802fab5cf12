//! Fields for texts in several languages, in groups with one switch of language. Browsers without support for it show all
//! languages.

use super::field::field_id;
use super::html::render;
use super::{FormError, Html};
use crate::translator::Translator;
use askama::Template;
use civitas_kernel::{Locale, Locales, Translated};

/// A text of the group.
#[derive(Debug, Clone)]
struct Text {
    /// The name of the field without the language.
    name: String,
    label: String,
    hint: String,
    values: Translated,
    /// Lines; 1: an input.
    rows: u8,
}

/// A group of texts, all in the same languages.
#[derive(Debug, Clone)]
pub(crate) struct TranslatedFields {
    id: String,
    legend: String,
    /// The main language first.
    locales: Vec<Locale>,
    list: Vec<Text>,
}

/// A language of the switch.
struct Language {
    locale: Locale,
    name: String,
    state: String,
    has_problem: bool,
}

/// A field of one text in one language.
struct Input<'a> {
    locale: Locale,
    id: String,
    name: String,
    label: &'a str,
    hint: &'a str,
    language: String,
    value: &'a str,
    rows: u8,
    problem: Option<String>,
}

#[derive(Template)]
#[template(path = "parts/texts.html")]
struct TranslatedFieldsView<'a> {
    translator: &'a Translator,
    id: &'a str,
    legend: &'a str,
    languages: Vec<Language>,
    inputs: Vec<Input<'a>>,
    /// The language shown; `all` when several have problems.
    shown: String,
}

impl TranslatedFields {
    /// A group for these languages, of which `main` comes first.
    pub(crate) fn new(id: &str, legend: impl Into<String>, locales: &Locales, main: Locale) -> Self {
        let others = locales.iter().filter(|locale| *locale != main);
        let locales = std::iter::once(main).chain(others).collect();
        Self { id: id.to_owned(), legend: legend.into(), locales, list: Vec::new() }
    }

    /// Adds a text: the name of its field, its label, and what it says in each language.
    pub(crate) fn text(
        mut self,
        name: &str,
        label: impl Into<String>,
        hint: impl Into<String>,
        value: &Translated,
        rows: u8,
    ) -> Self {
        let (name, label, hint) = (name.to_owned(), label.into(), hint.into());
        self.list.push(Text { name, label, hint, values: value.clone(), rows });
        self
    }

    pub(crate) fn html(&self, translator: &Translator, problems: &[FormError]) -> Html {
        let inputs: Vec<Input<'_>> =
            self.locales.iter().flat_map(|locale| self.inputs_in(*locale, translator, problems)).collect();
        let languages: Vec<Language> = self
            .locales
            .iter()
            .enumerate()
            .map(|(position, locale)| language(*locale, position == 0, &inputs, translator))
            .collect();
        let mut wrong = languages.iter().filter(|language| language.has_problem);
        let shown = match (wrong.next(), wrong.next()) {
            (Some(_), Some(_)) => "all".to_owned(),
            (Some(one), None) => one.locale.to_string(),
            _ => self.locales.first().map(ToString::to_string).unwrap_or_default(),
        };
        let Self { id, legend, .. } = self;
        render(&TranslatedFieldsView { translator, id, legend, languages, inputs, shown })
    }

    fn inputs_in(&self, locale: Locale, translator: &Translator, problems: &[FormError]) -> Vec<Input<'_>> {
        let language = translator.tr_with("text-in", "language", language_name(translator, locale));
        let inputs = self.list.iter().map(|text| {
            let Text { name, label, hint, values, rows } = text;
            let (name, value) = (format!("{name}[{locale}]"), values.get(locale).unwrap_or_default());
            let (id, problem) = (field_id(&name), FormError::text_for(problems, &name));
            let (rows, language) = (*rows, language.clone());
            Input { locale, id, name, label, hint, language, value, rows, problem }
        });
        inputs.collect()
    }
}

fn language(locale: Locale, is_main: bool, inputs: &[Input<'_>], translator: &Translator) -> Language {
    let of_language: Vec<_> = inputs.iter().filter(|input| input.locale == locale).collect();
    let problems = of_language.iter().filter(|input| input.problem.is_some()).count();
    let empty = of_language.iter().filter(|input| input.value.trim().is_empty()).count();
    let state = if problems > 0 {
        translator.tr_count("text-problems", problems)
    } else if empty == of_language.len() {
        translator.tr("text-empty")
    } else if empty > 0 {
        translator.tr_args("text-partly-empty", &[("empty", empty.into()), ("all", of_language.len().into())])
    } else if is_main {
        translator.tr("text-main")
    } else {
        String::new()
    };
    Language { locale, name: language_name(translator, locale), state, has_problem: problems > 0 }
}

/// The name of a language; its code where the panel has no name for it.
pub(crate) fn language_name(translator: &Translator, locale: Locale) -> String {
    match locale {
        Locale::EN => translator.tr("language-en"),
        Locale::FR => translator.tr("language-fr"),
        Locale::ES => translator.tr("language-es"),
        other => other.to_string(),
    }
}
