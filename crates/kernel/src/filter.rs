//! The grammar of `filter[<field>_<predicate>]` (contract 01 §6), for all lists. A domain crate declares its fields;
//! [`read_filters`] parses the filters of the caller into typed conditions; a store translates those to SQL.
//!
//! ```
//! use civitas_kernel::filter::{
//!     Comparison, FieldKind, Filter, FilterCondition, FilterField, RawFilter, RawValue, read_filters,
//! };
//!
//! #[derive(Debug, Clone, Copy, PartialEq)]
//! enum By { Id }
//! const FIELDS: &[FilterField<By>] = &[FilterField::new("id", FieldKind::Integer, By::Id)];
//!
//! let raw = RawFilter::new(vec![("id_gt".into(), RawValue::One("9".into()))]);
//! let condition = FilterCondition::Integer(Comparison::Gt(9));
//! assert_eq!(read_filters(FIELDS, &raw)?, [Filter { field: By::Id, condition }]);
//! # Ok::<(), civitas_kernel::Error>(())
//! ```

use crate::text::{nfc, searchable};
use crate::{Error, LocationFilter, Order, Result, TimeZone};
use time::format_description::BorrowedFormatItem;
use time::format_description::well_known::{Iso8601, Rfc3339};
use time::macros::format_description;
use time::{Date, OffsetDateTime, UtcOffset};

/// The filters of the caller.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RawFilter {
    /// Keys and values, in the order given. Keys without the brackets: `title_start`.
    pub values: Vec<(String, RawValue)>,
    /// The zone in which a date begins.
    pub time_zone: TimeZone,
}

impl RawFilter {
    /// These filters; dates begin in UTC.
    pub fn new(values: Vec<(String, RawValue)>) -> Self {
        Self { values, ..Self::default() }
    }

    /// Whether some key has this prefix. `extended_data` requires an ability even with an empty value.
    pub fn mentions(&self, prefix: &str) -> bool {
        self.values.iter().any(|(key, _)| key.starts_with(prefix))
    }

    /// Checks that there are not more filters than one request may have.
    ///
    /// # Errors
    /// `Too many filters (maximum is 50)`.
    pub fn check_count(&self) -> Result<()> {
        if self.values.len() <= MAX_FILTERS {
            return Ok(());
        }
        Err(Error::rejected(format!("Too many filters (maximum is {MAX_FILTERS})")))
    }
}

/// One value of a filter, or the list of a `[]` key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RawValue {
    /// `filter[x]=v`
    One(String),
    /// `filter[x][]=v&filter[x][]=w`
    Many(Vec<String>),
}

/// A field a list can be filtered by. `F` is the crate's own name for it.
#[derive(Debug, Clone, Copy)]
pub struct FilterField<F: 'static> {
    /// The name on the wire.
    pub name: &'static str,
    /// Its kind.
    pub kind: FieldKind,
    /// The crate's own name for it.
    pub field: F,
}

impl<F> FilterField<F> {
    /// A field.
    pub const fn new(name: &'static str, kind: FieldKind, field: F) -> Self {
        Self { name, kind, field }
    }
}

/// Declares the fields of a list, their constant and the filter by one of them. A field has names on the wire, which are
/// in its documentation, and a kind.
///
/// ```
/// use civitas_kernel::filter::FieldKind;
///
/// civitas_kernel::filter_fields! {
///     /// The fields for filters of notes.
///     pub enum NoteField = NOTE_FIELDS, NoteFilter {
///         /// The author; null for an anonymous one.
///         Author: "author_id" | "creator_id", FieldKind::Integer;
///     }
/// }
///
/// assert_eq!((NOTE_FIELDS[1].name, NOTE_FIELDS[1].field), ("creator_id", NoteField::Author));
/// ```
#[macro_export]
macro_rules! filter_fields {
    (
        $(#[$about:meta])*
        pub enum $FilterField:ident = $FIELDS:ident, $Filter:ident {
            $($(#[$doc:meta])* $field:ident: $($name:literal)|+, $kind:expr;)+
        }
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $FilterField {
            $($(#[$doc])* $(#[doc = concat!("`", $name, "`")])+ $field,)+
        }

        #[doc = concat!("A condition on a [`", stringify!($FilterField), "`].")]
        pub type $Filter = $crate::filter::Filter<$FilterField>;

        #[doc = concat!("Each [`", stringify!($FilterField), "`] with its names and its kind.")]
        pub const $FIELDS: &[$crate::filter::FilterField<$FilterField>] =
            &[$($($crate::filter::FilterField::new($name, $kind, $FilterField::$field),)+)+];
    };
}

/// The kind of a field, which determines its predicates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldKind {
    /// Text: equality, membership, `start`, `matches`, `blank`, `present`, `cont`, `i_cont`.
    Text,
    /// Text of which only the searchable form is compared: the predicates of [`FieldKind::Text`]. Values are in this
    /// form.
    SearchText,
    /// Text out of a closed list, checked on equality and membership.
    Enum(&'static [&'static str]),
    /// A whole number: equality, membership, `lt`, `lteq`, `gt`, `gteq`, `blank`, `present`.
    Integer,
    /// A whole number that can also be compared as text: all of the above.
    IntegerText,
    /// A time, or a date, which means its first moment: the predicates of [`FieldKind::Integer`].
    Time,
    /// `cont` only: the text of the extended data.
    ExtendedData,
}

impl FieldKind {
    /// The predicates of this kind, as the document lists them.
    pub fn predicates(self) -> &'static [&'static str] {
        match self {
            Self::Text | Self::SearchText | Self::Enum(_) => {
                &["eq", "not_eq", "in", "not_in", "start", "matches", "blank", "present", "cont", "i_cont"]
            }
            Self::Integer | Self::Time => {
                &["eq", "not_eq", "in", "not_in", "lt", "lteq", "gt", "gteq", "blank", "present"]
            }
            Self::IntegerText => &[
                "eq", "not_eq", "in", "not_in", "lt", "lteq", "gt", "gteq", "start", "matches", "blank",
                "present",
            ],
            Self::ExtendedData => &["cont"],
        }
    }
}

/// A condition on one field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter<F> {
    /// The field.
    pub field: F,
    /// The condition.
    pub condition: FilterCondition,
}

/// The query of a list with an order of its own. `F`: its fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListQuery<F> {
    /// The part of the organization.
    pub within: LocationFilter,
    /// All must hold.
    pub filters: Vec<Filter<F>>,
    /// The order.
    pub order: Order,
}

impl<F> Default for ListQuery<F> {
    fn default() -> Self {
        Self { within: LocationFilter::default(), filters: Vec::new(), order: Order::default() }
    }
}

/// A condition, by the type it compares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FilterCondition {
    /// Compares numbers.
    Integer(Comparison<i64>),
    /// Compares times.
    Time(Comparison<OffsetDateTime>),
    /// Compares texts, case-sensitively. Its values are composed (NFC).
    Text(Comparison<String>),
    /// Begins with this text, case-insensitively; without wildcards.
    Start(String),
    /// A LIKE pattern, in any case: `%` and `_` are wildcards, `\` escapes.
    Matches(String),
    /// Contains this part, case-insensitively, in its canonical form; without wildcards.
    Contains(String),
    /// The searchable form contains this part, which is searchable and not empty; without wildcards.
    Words(String),
}

impl FilterCondition {
    /// Contains these words, as a person writes them; `None` if every text contains them.
    pub fn words(text: &str) -> Option<Self> {
        let words = searchable(text);
        (!words.is_empty()).then_some(Self::Words(words))
    }

    /// Whether null satisfies it.
    pub fn holds_for_null(&self) -> bool {
        let blank = [
            Self::Integer(Comparison::Blank(true)),
            Self::Time(Comparison::Blank(true)),
            Self::Text(Comparison::Blank(true)),
        ];
        blank.contains(self)
    }
}

/// A comparison. For null only `Blank(true)` holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Comparison<T> {
    /// Equal.
    Eq(T),
    /// Not equal, and not null.
    NotEq(T),
    /// One of these.
    In(Vec<T>),
    /// None of these, and not null.
    NotIn(Vec<T>),
    /// Smaller.
    Lt(T),
    /// Smaller, or equal.
    AtMost(T),
    /// Larger.
    Gt(T),
    /// Larger, or equal.
    AtLeast(T),
    /// `true`: null or empty; `false`: the opposite.
    Blank(bool),
}

impl<T> Comparison<T> {
    /// The values that a field is equal to, or that it is not.
    pub fn equated_mut(&mut self) -> &mut [T] {
        match self {
            Self::Eq(value) | Self::NotEq(value) => std::slice::from_mut(value),
            Self::In(values) | Self::NotIn(values) => values,
            Self::Lt(_) | Self::AtMost(_) | Self::Gt(_) | Self::AtLeast(_) | Self::Blank(_) => &mut [],
        }
    }
}

/// The most values one list may have.
const MAX_VALUES: usize = 100;
/// The most filters one request may have.
pub const MAX_FILTERS: usize = 50;
/// The longest value of a filter, in bytes.
const MAX_VALUE_BYTES: usize = 1024;

/// Parses the filters of the caller by the fields of a list. Filters with an empty value are left out.
///
/// # Errors
/// `Too many filters (maximum is 50)`, `Unknown filter: <key>`, `Invalid value for filter <key>` (also for a value
/// longer than 1,024 bytes).
///
/// Source: contract 01 §6.
pub fn read_filters<F: Copy>(fields: &'static [FilterField<F>], raw: &RawFilter) -> Result<Vec<Filter<F>>> {
    raw.check_count()?;
    let mut filters = Vec::new();
    for (key, value) in &raw.values {
        let (field, predicate) =
            split(fields, key).ok_or_else(|| Error::rejected(format!("Unknown filter: {key}")))?;
        if let Some(condition) = condition((field.kind, raw.time_zone), predicate, key, value)? {
            filters.push(Filter { field: field.field, condition });
        }
    }
    Ok(filters)
}

/// Splits a key into field and predicate: the longest predicate that leaves a known field and is allowed for its kind.
fn split<'k, F>(
    fields: &'static [FilterField<F>],
    key: &'k str,
) -> Option<(&'static FilterField<F>, &'k str)> {
    let known = |name: &str| fields.iter().find(|f| f.name == name);
    if let Some(field) = known(key) {
        return (field.kind != FieldKind::ExtendedData).then_some((field, "eq"));
    }
    let cuts = key.match_indices('_').map(|(at, _)| (&key[..at], &key[at + 1..]));
    // Left to right: the longest suffix first, so `not_in` comes before `in`.
    cuts.filter_map(|(name, predicate)| known(name).map(|f| (f, predicate)))
        .find(|(field, predicate)| field.kind.predicates().contains(predicate))
}

fn condition(
    (kind, zone): (FieldKind, TimeZone),
    predicate: &str,
    key: &str,
    value: &RawValue,
) -> Result<Option<FilterCondition>> {
    let invalid = || Error::rejected(format!("Invalid value for filter {key}"));
    let values = match value {
        RawValue::One(one) => std::slice::from_ref(one),
        RawValue::Many(many) => many.as_slice(),
    };
    if values.iter().any(|value| value.len() > MAX_VALUE_BYTES) {
        return Err(invalid());
    }
    if matches!(predicate, "in" | "not_in") {
        let values: Vec<&str> = values.iter().map(String::as_str).filter(|v| !v.is_empty()).collect();
        if values.len() > MAX_VALUES {
            return Err(invalid());
        }
        return if values.is_empty() {
            Ok(None)
        } else {
            many((kind, zone), predicate, &values).map(Some).ok_or_else(invalid)
        };
    }
    match value {
        RawValue::Many(_) => Err(invalid()),
        RawValue::One(one) if one.is_empty() => Ok(None),
        RawValue::One(one) if predicate.ends_with("cont") => Ok(part(kind, one)),
        RawValue::One(one) => single((kind, zone), predicate, one).map(Some).ok_or_else(invalid),
    }
}

/// The condition that a text contains a part. Everything contains a part without characters.
fn part(kind: FieldKind, value: &str) -> Option<FilterCondition> {
    if kind == FieldKind::ExtendedData {
        let canonical = crate::extended_data::canonical_needle(value);
        return (!value.trim().is_empty()).then_some(FilterCondition::Contains(canonical));
    }
    FilterCondition::words(value)
}

/// The texts, in the form in which texts of this kind are compared.
fn text(kind: FieldKind, value: &str) -> String {
    if kind == FieldKind::SearchText { searchable(value) } else { nfc(value).into_owned() }
}

/// The time of a text of ISO 8601 with its distance from UTC, or the first moment of a date.
fn time(zone: TimeZone, value: &str) -> Option<OffsetDateTime> {
    const DATE: &[BorrowedFormatItem<'_>] = format_description!("[year]-[month]-[day]");
    let read = match Date::parse(value, DATE) {
        Ok(day) => zone.first_moment(day),
        Err(_) => OffsetDateTime::parse(value, &Rfc3339)
            .or_else(|_| OffsetDateTime::parse(value, &Iso8601::PARSING))
            .ok(),
    };
    // Engines store years of four digits.
    let read = read?.checked_to_offset(UtcOffset::UTC)?;
    (1..=9998).contains(&read.year()).then_some(read)
}

fn many((kind, zone): (FieldKind, TimeZone), predicate: &str, values: &[&str]) -> Option<FilterCondition> {
    fn is<T>(predicate: &str, values: Vec<T>) -> Comparison<T> {
        if predicate == "in" { Comparison::In(values) } else { Comparison::NotIn(values) }
    }
    match kind {
        FieldKind::Integer | FieldKind::IntegerText => {
            let numbers: Option<Vec<i64>> = values.iter().map(|v| v.parse().ok()).collect();
            Some(FilterCondition::Integer(is(predicate, numbers?)))
        }
        FieldKind::Time => {
            let times: Option<Vec<_>> = values.iter().map(|v| time(zone, v)).collect();
            Some(FilterCondition::Time(is(predicate, times?)))
        }
        FieldKind::Enum(words) if !values.iter().all(|v| words.contains(v)) => None,
        _ => Some(FilterCondition::Text(is(predicate, values.iter().map(|v| text(kind, v)).collect()))),
    }
}

fn single((kind, zone): (FieldKind, TimeZone), predicate: &str, value: &str) -> Option<FilterCondition> {
    let boolean = || match value {
        "true" | "1" => Some(true),
        "false" | "0" => Some(false),
        _ => None,
    };
    let blank = || Some(boolean()? == (predicate == "blank"));
    Some(match (kind, predicate) {
        (_, "start") => FilterCondition::Start(text(kind, value)),
        (_, "matches") => FilterCondition::Matches(text(kind, value)),
        (FieldKind::Integer | FieldKind::IntegerText, _) => {
            FilterCondition::Integer(compared(predicate, || value.parse().ok(), blank)?)
        }
        (FieldKind::Time, _) => FilterCondition::Time(compared(predicate, || time(zone, value), blank)?),
        (FieldKind::Enum(words), "eq" | "not_eq") if !words.contains(&value) => return None,
        _ => FilterCondition::Text(compared(predicate, || Some(text(kind, value)), blank)?),
    })
}

/// The comparison of a predicate with one value.
fn compared<T>(
    predicate: &str,
    value: impl FnOnce() -> Option<T>,
    blank: impl FnOnce() -> Option<bool>,
) -> Option<Comparison<T>> {
    Some(match predicate {
        "eq" => Comparison::Eq(value()?),
        "not_eq" => Comparison::NotEq(value()?),
        "lt" => Comparison::Lt(value()?),
        "lteq" => Comparison::AtMost(value()?),
        "gt" => Comparison::Gt(value()?),
        "gteq" => Comparison::AtLeast(value()?),
        _ => Comparison::Blank(blank()?),
    })
}

#[cfg(test)]
mod tests;
