//! The fields of a record, described once: what the audit trail says of a change, and which texts are blank or too long.
//!
//! ```
//! use civitas_kernel::limits::MAX_LINE_CHARS;
//! use civitas_kernel::records::{RecordFields, Entity, RecordField};
//! use civitas_kernel::{Locale, PostId, Translated};
//! use time::OffsetDateTime;
//!
//! #[derive(Debug, Clone, PartialEq, Default)]
//! struct Note {
//!     title: Translated,
//!     due: Option<OffsetDateTime>,
//! }
//!
//! impl Entity for Note {
//!     type Id = PostId;
//! }
//!
//! type Field = RecordField<Note>;
//!
//! impl RecordFields for Note {
//!     const NAME: &'static str = "note";
//!     const FIELDS: &'static [Field] = &[
//!         Field::texts("title", MAX_LINE_CHARS, |note| &note.title).required(),
//!         Field::time("due", |note| note.due),
//!     ];
//! }
//!
//! let new = Note::default();
//! assert_eq!(new.field_errors(None, Locale::EN)[0].description, "Title cannot be blank");
//! let named = Note { title: [(Locale::EN, "Trees".to_owned())].into(), ..Note::default() };
//! assert_eq!(named.differences(&new), [("title", String::new(), "en: Trees".to_owned())]);
//! ```

use super::Entity;
use crate::limits::text_error;
use crate::text::sentence_case;
use crate::{FieldError, Locale, Translated};
use std::collections::BTreeSet;
use time::OffsetDateTime;

/// A field of a record.
pub struct RecordField<E: 'static> {
    /// Its name in forms and in the audit trail: `start_time`.
    name: &'static str,
    value: Value<E>,
    /// Whether its text must be there in the default language.
    is_required: bool,
}

/// How a field is read, by the kind of its value.
enum Value<E: 'static> {
    /// A text in several languages, of at most so many characters in each.
    Texts(usize, fn(&E) -> &Translated),
    Time(fn(&E) -> Option<OffsetDateTime>),
    /// Any other value, as text.
    Text(fn(&E) -> String),
    /// The ids of other records.
    Ids(fn(&E) -> BTreeSet<String>),
}

impl<E: 'static> RecordField<E> {
    const fn new(name: &'static str, value: Value<E>) -> Self {
        Self { name, value, is_required: false }
    }

    /// A text in several languages, of at most `max` characters in each.
    pub const fn texts(name: &'static str, max: usize, get: fn(&E) -> &Translated) -> Self {
        Self::new(name, Value::Texts(max, get))
    }

    /// A time.
    pub const fn time(name: &'static str, get: fn(&E) -> Option<OffsetDateTime>) -> Self {
        Self::new(name, Value::Time(get))
    }

    /// Any other value, as text: a number, a choice, a line; empty where it is absent.
    pub const fn text(name: &'static str, get: fn(&E) -> String) -> Self {
        Self::new(name, Value::Text(get))
    }

    /// The ids of other records. A change names only those that are added or removed.
    pub const fn ids(name: &'static str, get: fn(&E) -> BTreeSet<String>) -> Self {
        Self::new(name, Value::Ids(get))
    }

    /// Its text must be there in the default language.
    #[must_use]
    pub const fn required(mut self) -> Self {
        self.is_required = true;
        self
    }

    /// Its values before and after a change, as text.
    fn change(&self, before: &E, after: &E) -> (&'static str, String, String) {
        let both = |text: &dyn Fn(&E) -> String| (self.name, text(before), text(after));
        match self.value {
            Value::Texts(_, get) => both(&|record| {
                let texts = get(record).iter().map(|(locale, text)| format!("{locale}: {text}"));
                texts.collect::<Vec<_>>().join("; ")
            }),
            Value::Time(get) => both(&|record| get(record).map(|at| at.to_string()).unwrap_or_default()),
            Value::Text(get) => both(&get),
            Value::Ids(get) => {
                let (old, new) = (get(before), get(after));
                let difference = |one: &BTreeSet<String>, other: &BTreeSet<String>| {
                    one.difference(other).cloned().collect::<Vec<_>>().join(", ")
                };
                (self.name, difference(&old, &new), difference(&new, &old))
            }
        }
    }

    /// The error of a text that differs from that of `before`: blank in the language where it is required, or too long.
    fn error(&self, before: Option<&E>, after: &E, locale: Locale) -> Option<FieldError> {
        let Value::Texts(max, get) = self.value else { return None };
        let text = get(after);
        if before.is_some_and(|before| get(before) == text) {
            return None;
        }
        let required_in = self.is_required.then_some(locale);
        text_error(self.name, &sentence_case(self.name), text, max, required_in)
    }
}

/// A record whose fields are described.
pub trait RecordFields: Entity {
    /// The name of one: `meeting`.
    const NAME: &'static str;
    /// Its fields, in the order of errors and of the audit trail.
    const FIELDS: &'static [RecordField<Self>];

    /// Its texts in several languages.
    fn texts(&self) -> Vec<&Translated> {
        let texts = Self::FIELDS.iter().filter_map(|field| match field.value {
            Value::Texts(_, get) => Some(get(self)),
            _ => None,
        });
        texts.collect()
    }

    /// The fields that differ from the state `before`, with both values as text.
    fn differences(&self, before: &Self) -> Vec<(&'static str, String, String)> {
        let changes = Self::FIELDS.iter().map(|field| field.change(before, self));
        changes.filter(|(_, old, new)| old != new).collect()
    }

    /// The texts that are blank or too long, of those that differ from the state `before`, or all of a new record: an
    /// imported one may have other texts. `locale` is the language in which required texts must be there.
    fn field_errors(&self, before: Option<&Self>, locale: Locale) -> Vec<FieldError> {
        Self::FIELDS.iter().filter_map(|field| field.error(before, self, locale)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PostId;

    #[derive(Debug, Clone, PartialEq, Default)]
    struct Group {
        main_name: Translated,
        members: BTreeSet<String>,
    }

    impl Entity for Group {
        type Id = PostId;
    }

    type Field = RecordField<Group>;

    impl RecordFields for Group {
        const NAME: &'static str = "group";
        const FIELDS: &'static [Field] = &[
            Field::texts("main_name", 3, |group| &group.main_name).required(),
            Field::ids("members", |group| group.members.clone()),
        ];
    }

    fn group(name: &str, members: [&str; 2]) -> Group {
        let main_name = [(Locale::EN, name.to_owned())].into();
        Group { main_name, members: members.map(str::to_owned).into() }
    }

    #[test]
    fn a_change_of_ids_names_those_that_are_added_or_removed() {
        let differences = group("A", ["1", "2"]).differences(&group("A", ["2", "3"]));
        assert_eq!(differences, [("members", "3".to_owned(), "1".to_owned())]);
    }

    #[test]
    fn only_a_text_that_changes_is_refused() {
        let (short, long) = (group("A", ["1", "2"]), group("Long", ["1", "2"]));
        let errors = long.field_errors(Some(&short), Locale::EN);
        assert_eq!(errors[0].description, "Main name is too long (maximum is 3 characters)");
        assert!(long.field_errors(Some(&long), Locale::EN).is_empty());
        assert_eq!(short.field_errors(None, Locale::FR)[0].code, "blank");
    }
}
