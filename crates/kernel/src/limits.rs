//! Maximum lengths of stored texts: one for each kind of text, the same on both engines (contract 01 §6,
//! `docs/decisions/0018-one-maximum-for-each-text.md`).
//!
//! ```
//! use civitas_kernel::limits::{MAX_LINE_CHARS, too_long};
//!
//! assert!(too_long("name", "Name", "Riverbend", MAX_LINE_CHARS).is_none());
//! let error = too_long("name", "Name", &"x".repeat(256), MAX_LINE_CHARS).unwrap();
//! assert_eq!(error.description, "Name is too long (maximum is 255 characters)");
//! ```

use crate::{FieldError, Locale, Translated};

/// The longest text of one line, in characters: a name, a title, a nickname, a slug. Four bytes for each fit into an
/// index entry of PostgreSQL, which holds 2,704 bytes.
pub const MAX_LINE_CHARS: usize = 255;
/// The longest text of several lines, in characters: a body, a description.
pub const MAX_PROSE_CHARS: usize = 65_536;
/// The longest address of a page, in characters.
pub const MAX_URL_CHARS: usize = 2_048;
/// The longest list of texts that is stored in one record, in items.
pub const MAX_LIST_ITEMS: usize = 100;

/// The longest extended data of one record, in bytes of compact JSON.
pub const MAX_EXTENDED_DATA_BYTES: usize = 1_048_576;

/// The longest text in a member of a record of an archive, in characters; `None` if another rule limits it (contract 10).
pub fn max_member_chars(name: &str) -> Option<usize> {
    match name {
        // A response has the answers that its questions allow.
        "answers" | "data" | "extended_data" => None,
        "about"
        | "body"
        | "default_step_settings"
        | "description"
        | "matrix_rows"
        | "settings"
        | "short_description"
        | "step_settings"
        | "tos" => Some(MAX_PROSE_CHARS),
        "link" | "path" | "personal_url" | "url" => Some(MAX_URL_CHARS),
        _ => Some(MAX_LINE_CHARS),
    }
}

/// The error of a text that is too long; `None` when it is not. `max` is in characters, `label` is the start of the
/// sentence.
pub fn too_long(field: &'static str, label: &str, text: &str, max: usize) -> Option<FieldError> {
    is_longer(text, max).then(|| error(field, label, max))
}

/// Whether a text has more than `max` characters.
pub fn is_longer(text: &str, max: usize) -> bool {
    text.len() > max && text.chars().nth(max).is_some()
}

/// The error of a text in several languages: one error, however many of the texts are too long.
pub fn translations_too_long(
    field: &'static str,
    label: &str,
    texts: &Translated,
    max: usize,
) -> Option<FieldError> {
    texts.iter().find_map(|(_, text)| too_long(field, label, text, max))
}

/// The error of a text in several languages that is blank in the one where it is required, or too long.
pub fn text_error(
    field: &'static str,
    label: &str,
    text: &Translated,
    max: usize,
    required_in: Option<Locale>,
) -> Option<FieldError> {
    if required_in.is_some_and(|locale| text.is_blank_in(locale)) {
        return Some(FieldError::blank(field, label));
    }
    translations_too_long(field, label, text, max)
}

fn error(field: &'static str, label: &str, max: usize) -> FieldError {
    FieldError::new(field, "too_long", format!("{label} is too long (maximum is {max} characters)"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Locale;

    #[test]
    fn characters_are_counted_and_not_bytes() {
        assert!(too_long("name", "Name", &"é".repeat(255), MAX_LINE_CHARS).is_none());
        assert!(too_long("name", "Name", &"é".repeat(256), MAX_LINE_CHARS).is_some());
    }

    #[test]
    fn a_text_in_several_languages_has_one_error() {
        let long = || "x".repeat(256);
        let texts = Translated::from([(Locale::EN, long()), (Locale::FR, long()), (Locale::ES, "x".into())]);
        let error = translations_too_long("title", "Title", &texts, MAX_LINE_CHARS).unwrap();
        assert_eq!((error.field.as_ref(), error.code.as_ref()), ("title", "too_long"));
    }
}
