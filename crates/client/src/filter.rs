//! Values of filters (contract 01 §6).

use time::{Date, OffsetDateTime, UtcOffset};

/// The value of a filter: a text, an integer, a boolean, a time, a date (its first moment in the time zone of the
/// organization), or a list of at most 100 of them.
#[derive(Debug, Clone)]
pub struct FilterValue {
    pub(crate) texts: Vec<String>,
    pub(crate) is_list: bool,
}

impl FilterValue {
    fn one(text: String) -> Self {
        Self { texts: vec![text], is_list: false }
    }

    fn list<T: Into<FilterValue>>(values: impl IntoIterator<Item = T>) -> Self {
        let values = values.into_iter().map(Into::<FilterValue>::into);
        Self { texts: values.flat_map(|value| value.texts).collect(), is_list: true }
    }
}

/// Values whose texts are those of `Display`.
macro_rules! displayed {
    ($($kind:ty),+) => {
        $(impl From<$kind> for FilterValue {
            fn from(value: $kind) -> Self {
                Self::one(value.to_string())
            }
        })+
    };
}

displayed!(&str, bool, i32, i64, u32, u64, Date);

impl From<String> for FilterValue {
    fn from(value: String) -> Self {
        Self::one(value)
    }
}

impl From<OffsetDateTime> for FilterValue {
    fn from(value: OffsetDateTime) -> Self {
        let utc = value.checked_to_offset(UtcOffset::UTC).unwrap_or(value);
        let (hour, minute, second, nanosecond) = utc.to_hms_nano();
        Self::one(format!("{}T{hour:02}:{minute:02}:{second:02}.{nanosecond:09}Z", utc.date()))
    }
}

impl<T: Into<FilterValue>> From<Vec<T>> for FilterValue {
    fn from(values: Vec<T>) -> Self {
        Self::list(values)
    }
}

impl<T: Into<FilterValue>, const N: usize> From<[T; N]> for FilterValue {
    fn from(values: [T; N]) -> Self {
        Self::list(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::Month;

    fn texts(value: impl Into<FilterValue>) -> Vec<String> {
        let value: FilterValue = value.into();
        value.texts
    }

    #[test]
    fn values_are_texts_that_the_interface_reads() {
        let day = Date::from_calendar_date(2026, Month::February, 3).unwrap();
        let time = day.with_hms_nano(0, 30, 5, 7_000).unwrap();
        let in_paris = time.assume_offset(UtcOffset::from_hms(1, 0, 0).unwrap());
        assert_eq!(texts(in_paris), ["2026-02-02T23:30:05.000007000Z"]);
        assert_eq!(texts(day), ["2026-02-03"]);
        assert_eq!(texts(true), ["true"]);
        assert_eq!(texts([7, 8]), ["7", "8"]);
        assert_eq!(texts(vec!["a", "b"]), ["a", "b"]);
    }
}
