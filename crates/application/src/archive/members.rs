//! What a record says of the members of an entity: absent keeps, null clears, a value sets.

use super::failure::Fault;
use civitas_kernel::{Field, clock};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use time::format_description::well_known::{Iso8601, Rfc3339};
use time::{OffsetDateTime, UtcOffset};

/// A point in time as archives write it: ISO 8601 with an offset, years 0 to 9999, kept in UTC and whole
/// microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Moment(pub(super) OffsetDateTime);

impl From<Moment> for OffsetDateTime {
    fn from(moment: Moment) -> Self {
        moment.0
    }
}

impl<'de> Deserialize<'de> for Moment {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let at = OffsetDateTime::parse(&text, &Iso8601::PARSING).ok();
        let at = at
            .and_then(|at| at.checked_to_offset(UtcOffset::UTC))
            .filter(|at| (0..=9999).contains(&at.year()));
        at.map(|at| Self(clock::to_microseconds(at)))
            .ok_or_else(|| de::Error::custom(format!("{text:?} is not a time in ISO 8601")))
    }
}

impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0.format(&Rfc3339).map_err(serde::ser::Error::custom)?)
    }
}

/// The value of a member a new record must have.
pub(super) fn need<T: Clone>(name: &str, said: &Field<T>) -> Result<T, Fault> {
    said.as_value().cloned().ok_or_else(|| Fault::from(format!("{name} is required")))
}

/// A member that always has a value.
pub(super) fn set<T: Into<U>, U>(name: &str, said: Field<T>, place: &mut U) -> Result<(), Fault> {
    match said {
        Field::Absent => Ok(()),
        Field::Null => Err(Fault::from(format!("{name} can not be null"))),
        Field::Value(value) => {
            *place = value.into();
            Ok(())
        }
    }
}

/// A member that may be missing.
pub(super) fn maybe<T: Into<U>, U>(said: Field<T>, place: &mut Option<U>) {
    match said {
        Field::Absent => {}
        Field::Null => *place = None,
        Field::Value(value) => *place = Some(value.into()),
    }
}

/// A member that is never missing but may be empty: a text in no language, a list, an object.
pub(super) fn fill<T: Default>(said: Field<T>, place: &mut T) {
    match said {
        Field::Absent => {}
        Field::Null => *place = T::default(),
        Field::Value(value) => *place = value,
    }
}

/// A member that is fixed when the record is made: it may be said again, and must then be the same.
pub(super) fn fixed<T: PartialEq>(name: &str, said: &Field<T>, kept: &T) -> Result<(), Fault> {
    match said {
        Field::Absent => Ok(()),
        Field::Value(value) if value == kept => Ok(()),
        _ => Err(Fault::from(format!("{name} can not change"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::macros::datetime;

    fn moment(text: &str) -> Result<OffsetDateTime, String> {
        serde_json::from_value::<Moment>(text.into()).map(|m| m.0).map_err(|e| e.to_string())
    }

    #[test]
    fn times_are_kept_in_utc_and_whole_microseconds() {
        let at = datetime!(2026-01-01 10:00:00.123456 UTC);
        assert_eq!(moment("2026-01-01T12:00:00.123456789+02:00").unwrap(), at);
        assert_eq!(serde_json::to_value(Moment(at)).unwrap(), "2026-01-01T10:00:00.123456Z");
        assert_eq!(moment("2026-01-01T10:00Z").unwrap(), datetime!(2026-01-01 10:00 UTC));
    }

    #[test]
    fn what_is_no_time_is_named() {
        assert_eq!(moment("yesterday").unwrap_err(), r#""yesterday" is not a time in ISO 8601"#);
        assert!(moment("2026-01-01").is_err());
        assert!(moment("2026-01-01T10:00:00").is_err(), "an offset is needed");
        assert!(moment("+012026-01-01T10:00:00Z").is_err());
    }

    #[test]
    fn null_clears_what_may_be_empty_and_nothing_else() {
        let mut name = "Ada".to_owned();
        assert!(set("name", Field::<String>::Null, &mut name).is_err());
        assert!(set("name", Field::<String>::Absent, &mut name).is_ok());
        assert_eq!(name, "Ada");
        let mut about = Some("x".to_owned());
        maybe(Field::<String>::Null, &mut about);
        assert_eq!(about, None);
    }
}
