//! The languages of an answer.

use crate::{Error, Locale, Locales, Result};
use serde::{Deserialize, Serialize};

/// The languages of an answer. A job keeps those of its request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerLanguages {
    /// The languages of texts in several languages, if the caller requested some (contract 01 §5).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locales: Option<Locales>,
    /// The language of texts in one language, for resources that have such texts (contract 08 §3).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<Locale>,
}

/// Chooses the language of texts in one language (contract 08 §3). The first match of: `explicit`, a parameter of the
/// caller; `accepted`, the header `Accept-Language`, in written order, by the whole tag or its base language; `user`,
/// the user's own language; `default`. Case is ignored, `_` and `-` are equal.
///
/// # Errors
/// `Invalid` with the code `invalid_locale` when `explicit` is not in `available`.
pub fn choose_language(
    explicit: Option<&str>,
    accepted: Option<&str>,
    user: Option<Locale>,
    available: &Locales,
    default: Locale,
) -> Result<Locale> {
    if let Some(explicit) = explicit {
        return find(available, explicit)
            .ok_or_else(|| Error::invalid("locale", "invalid_locale", "Locale is not available"));
    }
    let tags = accepted.unwrap_or_default().split(',').map(|tag| tag.split(';').next().unwrap_or(tag).trim());
    let base = |tag: &str| find(available, tag.split(['-', '_']).next().unwrap_or(tag));
    let accepted = tags.into_iter().find_map(|tag| find(available, tag).or_else(|| base(tag)));
    Ok(accepted.or_else(|| user.filter(|locale| available.has(*locale))).unwrap_or(default))
}

fn find(available: &Locales, tag: &str) -> Option<Locale> {
    available.iter().find(|locale| locale.as_str().eq_ignore_ascii_case(&tag.replace('_', "-")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn available() -> Locales {
        "en, fr, pt-BR".parse().unwrap()
    }

    fn chosen(explicit: Option<&str>, accepted: Option<&str>, user: Option<Locale>) -> Result<String> {
        choose_language(explicit, accepted, user, &available(), Locale::EN).map(|locale| locale.to_string())
    }

    #[test]
    fn the_parameter_comes_before_the_header_the_user_and_the_default() {
        assert_eq!(chosen(Some("PT_br"), Some("fr"), Some(Locale::FR)).unwrap(), "pt-BR");
        assert_eq!(chosen(None, Some("fr"), None).unwrap(), "fr");
        assert_eq!(chosen(None, None, Some(Locale::FR)).unwrap(), "fr");
        assert_eq!(chosen(None, None, Some(Locale::ES)).unwrap(), "en", "not one of the organization");
        assert_eq!(chosen(None, None, None).unwrap(), "en");
    }

    #[test]
    fn an_unknown_parameter_is_an_error_and_an_unknown_header_is_not() {
        for unknown in ["de", "", "fr-CH", "pt"] {
            let refused = chosen(Some(unknown), None, None).unwrap_err();
            assert_eq!(refused.details()[0].code, "invalid_locale", "{unknown}");
        }
        assert_eq!(chosen(None, Some("de, *;q=0.1,,"), None).unwrap(), "en");
    }

    #[test]
    fn tags_of_the_header_count_in_written_order_by_their_base_too() {
        assert_eq!(chosen(None, Some("de-CH;q=1, fr-CH;q=0.1, en;q=0.9"), None).unwrap(), "fr");
        assert_eq!(chosen(None, Some("pt-br"), None).unwrap(), "pt-BR");
    }
}
