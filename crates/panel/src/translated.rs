//! Texts in several languages: on a page, in a form, in the audit trail.

use crate::admin_request::AdminRequest;
use civitas_kernel::{Locale, Locales, Translated};
use civitas_organizations::Organization;

/// A title in the language of the page.
pub(crate) fn title(req: &AdminRequest, title: &Translated) -> String {
    title.title(req.translator.locale).map_or_else(|| req.tr("untitled"), str::to_owned)
}

/// The texts of all languages in one line, for the audit trail.
pub(crate) fn audit_text(text: &Translated) -> String {
    text.iter().map(|(locale, text)| format!("{locale}: {text}")).collect::<Vec<_>>().join("; ")
}

/// A text with what was typed in these languages; those of other languages stay, and so does a text that is sent as it
/// is stored. A form changes the ends of lines only.
pub(crate) fn typed_texts(
    req: &AdminRequest,
    name: &str,
    locales: &Locales,
    stored: &Translated,
) -> Translated {
    let mut text = stored.clone();
    for locale in locales.iter() {
        let Some(typed) = req.form.get(&format!("{name}[{locale}]")) else { continue };
        if stored.get(locale).is_some_and(|old| old.replace("\r\n", "\n") == typed) {
            continue;
        }
        if typed.trim().is_empty() {
            text.remove(locale);
        } else {
            text.set(locale, typed.to_owned());
        }
    }
    text
}

/// The languages of a form: those of the organization, and those the texts have.
pub(crate) fn form_languages(organization: &Organization, texts: &[&Translated]) -> Locales {
    let used = texts.iter().flat_map(|text| text.iter().map(|(locale, _)| locale));
    let mut all: Vec<Locale> = organization.available_locales.iter().collect();
    for locale in used {
        if !all.contains(&locale) {
            all.push(locale);
        }
    }
    all.into_iter().collect()
}
