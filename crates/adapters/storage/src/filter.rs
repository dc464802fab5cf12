//! Translates filter conditions (contract 01 §6) to SQL, for every table and both engines.

use crate::columns::{self, Expr};
use crate::engine::{dialect, sql};
use civitas_kernel::filter::{Comparison, FilterCondition};
use civitas_kernel::text::{fold_case, nfc};
use civitas_kernel::{Error, Locale, Locales, Result};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Nullable, SingleValue, Text};
use time::OffsetDateTime;

// `title ->> 'en'`: the text of a member, null without it. The syntax is the same on both engines.
diesel::infix_operator!(Member, " ->> ", Nullable<Text>);
// Diesel's operators are not nullable, and `.nullable()` on a boxed expression would restrict it to single tables.
diesel::postfix_operator!(Null, " IS NULL", Nullable<Bool>);
diesel::postfix_operator!(NotNull, " IS NOT NULL", Nullable<Bool>);

#[diesel::declare_sql_function]
extern "SQL" {
    /// The text, or another one for null.
    #[sql_name = "coalesce"]
    fn or(x: Nullable<Text>, y: Text) -> Nullable<Text>;
}

/// The pattern of the texts that contain this one, for [`like`].
pub(crate) fn containing(text: &str) -> String {
    format!("%{}%", literal(text))
}

/// `LIKE` in any case, in every script. In the pattern `%` and `_` are wildcards, `\` escapes. The composed form of the text
/// is compared; with a pattern in ASCII without `_` the text as it is stored, which costs less.
pub(crate) fn like<QS: 'static>(on: Expr<QS, Text>, pattern: &str) -> columns::Condition<QS> {
    let has_one_form = pattern.is_ascii() && !pattern.replace(r"\\", "").replace(r"\_", "").contains('_');
    let on = if has_one_form { on } else { Box::new(dialect::nfc(on)) };
    dialect::like(on, &closed(&fold_case(&nfc(pattern))))
}

/// The operand of a condition, over the tables `QS`.
pub(crate) enum FilterColumn<QS> {
    /// A whole number.
    Integer(Expr<QS, BigInt>),
    /// A time.
    Time(Expr<QS, sql::Moment>),
    /// A text.
    Text(Expr<QS, Text>),
    /// A text of ASCII characters only, which has one form: also its searchable one, in lower case.
    Ascii(Expr<QS, Text>),
    /// A text in several languages: the text of each, and the languages of the deployment.
    Translated(Box<dyn Fn(Locale) -> Expr<QS, Text>>, Locales),
}

/// A text in several languages, by its column and the languages of the deployment.
macro_rules! translated {
    ($column:expr, $locales:expr) => {
        $crate::filter::FilterColumn::Translated(
            Box::new(|locale| {
                let key = diesel::IntoSql::into_sql::<diesel::sql_types::Text>(locale.to_string());
                Box::new($crate::filter::Member::new($column, key))
            }),
            $locales.clone(),
        )
    };
}
pub(crate) use translated;

/// Translates a condition on a column to SQL.
///
/// # Errors
/// `Internal` when a domain crate declares a field with another type than its column.
pub(crate) fn column_condition<QS: 'static>(
    column: FilterColumn<QS>,
    condition: &FilterCondition,
) -> Result<columns::Condition<QS>> {
    Ok(match (column, condition) {
        (FilterColumn::Integer(number), FilterCondition::Integer(is)) => integer(number, is),
        (FilterColumn::Time(time), FilterCondition::Time(is)) => moment(time, is),
        (FilterColumn::Time(_), _) => return Err(mistyped()),
        (FilterColumn::Integer(number), like) => pattern(Box::new(number.cast::<Nullable<Text>>()), like)?,
        (FilterColumn::Text(text), FilterCondition::Text(is)) => composed(text, is),
        (FilterColumn::Ascii(text), FilterCondition::Text(is)) => string(text, is),
        (FilterColumn::Text(text) | FilterColumn::Ascii(text), like) => pattern(text, like)?,
        (FilterColumn::Translated(text, locales), FilterCondition::Text(is)) => {
            in_some_language(&*text, &locales, is)
        }
        (FilterColumn::Translated(text, locales), like) => {
            any(locales.iter().map(|locale| pattern(text(locale), like)).collect::<Result<_>>()?)
        }
    })
}

/// Whether a text has this part, in any case.
///
/// # Errors
/// As [`column_condition`].
pub(crate) fn contains<QS: 'static>(column: FilterColumn<QS>, part: &str) -> Result<columns::Condition<QS>> {
    column_condition(column, &FilterCondition::Contains(part.to_owned()))
}

macro_rules! comparisons {
    ($($(#[$doc:meta])* $name:ident: $rust:ty => $sql:ty, blank: $blank:ident;)*) => {$(
        $(#[$doc])*
        fn $name<QS: 'static>(on: Expr<QS, $sql>, is: &Comparison<$rust>) -> columns::Condition<QS> {
            match is.clone() {
                Comparison::Eq(value) => Box::new(on.eq(value)),
                Comparison::NotEq(value) => Box::new(on.ne(value)),
                Comparison::In(values) => Box::new(on.eq_any(values)),
                Comparison::NotIn(values) => Box::new(on.ne_all(values)),
                Comparison::Lt(value) => Box::new(on.lt(value)),
                Comparison::AtMost(value) => Box::new(on.le(value)),
                Comparison::Gt(value) => Box::new(on.gt(value)),
                Comparison::AtLeast(value) => Box::new(on.ge(value)),
                Comparison::Blank(is) => $blank(on, is),
            }
        }
    )*};
}

comparisons! {
    /// Compares a number. Null satisfies only `Blank(true)`.
    integer: i64 => BigInt, blank: missing;
    /// Compares a time. Null satisfies only `Blank(true)`.
    moment: OffsetDateTime => sql::Moment, blank: missing;
    /// Compares a text. Null satisfies only `Blank(true)`.
    string: String => Text, blank: empty;
}

/// Compares the composed form of a text. A value in ASCII has one form: the text as it is stored is compared, by an index.
fn composed<QS: 'static>(on: Expr<QS, Text>, is: &Comparison<String>) -> columns::Condition<QS> {
    let values = match is {
        Comparison::Eq(value)
        | Comparison::NotEq(value)
        | Comparison::Lt(value)
        | Comparison::AtMost(value)
        | Comparison::Gt(value)
        | Comparison::AtLeast(value) => std::slice::from_ref(value),
        Comparison::In(values) | Comparison::NotIn(values) => values,
        Comparison::Blank(_) => &[],
    };
    let on = if values.iter().all(|value| value.is_ascii()) { on } else { Box::new(dialect::nfc(on)) };
    string(on, is)
}

fn missing<QS: 'static, ST: SingleValue + 'static>(on: Expr<QS, ST>, is: bool) -> columns::Condition<QS> {
    if is { Box::new(Null::new(on)) } else { Box::new(NotNull::new(on)) }
}

fn empty<QS: 'static>(on: Expr<QS, Text>, is: bool) -> columns::Condition<QS> {
    let text = or(on, "");
    if is { Box::new(text.eq("")) } else { Box::new(text.ne("")) }
}

fn pattern<QS: 'static>(on: Expr<QS, Text>, condition: &FilterCondition) -> Result<columns::Condition<QS>> {
    Ok(match condition {
        FilterCondition::Start(start) => like(on, &format!("{}%", literal(start))),
        FilterCondition::Matches(pattern) => like(on, pattern),
        FilterCondition::Contains(part) | FilterCondition::Words(part) => like(on, &containing(part)),
        FilterCondition::Integer(_) | FilterCondition::Time(_) | FilterCondition::Text(_) => {
            return Err(mistyped());
        }
    })
}

fn mistyped() -> Error {
    Error::internal("a filter compares a column with a value of another type")
}

/// A positive condition holds when some translation satisfies it; a negative one when there is a translation and all
/// satisfy it; blank means that all translations are empty or missing.
fn in_some_language<QS: 'static>(
    text: &dyn Fn(Locale) -> Expr<QS, Text>,
    locales: &Locales,
    is: &Comparison<String>,
) -> columns::Condition<QS> {
    let each = |is: &dyn Fn(Expr<QS, Text>) -> columns::Condition<QS>| {
        locales.iter().map(|locale| is(text(locale))).collect::<Vec<_>>()
    };
    match is {
        Comparison::NotEq(_) | Comparison::NotIn(_) => {
            let unequal = locales.iter().map(|locale| -> columns::Condition<QS> {
                Box::new(Null::new(text(locale)).or(composed(text(locale), is)))
            });
            let some: columns::Condition<QS> = any(each(&|on| Box::new(NotNull::new(on))));
            Box::new(some.and(all(unequal.collect())))
        }
        Comparison::Blank(true) => all(each(&|on| empty(on, true))),
        _ => any(each(&|on| composed(on, is))),
    }
}

fn any<QS: 'static>(conditions: Vec<columns::Condition<QS>>) -> columns::Condition<QS> {
    let none: columns::Condition<QS> = Box::new(false.into_sql::<Nullable<Bool>>());
    conditions.into_iter().fold(none, |some, next| Box::new(some.or(next)))
}

fn all<QS: 'static>(conditions: Vec<columns::Condition<QS>>) -> columns::Condition<QS> {
    let none: columns::Condition<QS> = Box::new(true.into_sql::<Nullable<Bool>>());
    conditions.into_iter().fold(none, |every, next| Box::new(every.and(next)))
}

/// Escapes the wildcards of a text.
pub(crate) fn literal(text: &str) -> String {
    text.replace('\\', r"\\").replace('%', r"\%").replace('_', r"\_")
}

/// A pattern that does not end with an incomplete escape, which PostgreSQL refuses: a last `\` is taken literally.
pub(crate) fn closed(pattern: &str) -> String {
    let escapes = pattern.chars().rev().take_while(|c| *c == '\\').count();
    if escapes % 2 == 1 { format!(r"{pattern}\") } else { pattern.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_literal_is_a_wildcard() {
        assert_eq!(literal(r"50%_\"), r"50\%\_\\");
    }

    #[test]
    fn a_last_backslash_that_escapes_nothing_is_itself() {
        assert_eq!(closed(r"a\"), r"a\\");
        assert_eq!(closed(r"a\\"), r"a\\");
        assert_eq!(closed(r"a\%"), r"a\%");
    }
}
