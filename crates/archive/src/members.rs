//! Members of a record: how each changes an entity. An absent member keeps the value, null clears it.

use super::error::RecordError;
use civitas_kernel::{PatchField, clock};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use time::format_description::well_known::{Iso8601, Rfc3339};
use time::{OffsetDateTime, UtcOffset};

/// A time in an archive: ISO 8601 with an offset, years 0 to 9999; stored in UTC and whole microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Timestamp(pub(super) OffsetDateTime);

impl From<Timestamp> for OffsetDateTime {
    fn from(moment: Timestamp) -> Self {
        moment.0
    }
}

impl From<OffsetDateTime> for Timestamp {
    fn from(at: OffsetDateTime) -> Self {
        Self(at)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
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

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0.format(&Rfc3339).map_err(serde::ser::Error::custom)?)
    }
}

/// The value of a member that a new record must have.
pub(super) fn required<T: Clone>(name: &str, field: &PatchField<T>) -> Result<T, RecordError> {
    field.as_value().cloned().ok_or_else(|| RecordError::from(format!("{name} is required")))
}

/// Sets a member that must not be null.
pub(super) fn set<T: Into<U>, U>(
    name: &str,
    field: PatchField<T>,
    target: &mut U,
) -> Result<(), RecordError> {
    match field {
        PatchField::Absent => Ok(()),
        PatchField::Null => Err(RecordError::from(format!("{name} cannot be null"))),
        PatchField::Value(value) => {
            *target = value.into();
            Ok(())
        }
    }
}

/// Sets a member that may be null.
pub(super) fn set_optional<T: Into<U>, U>(field: PatchField<T>, target: &mut Option<U>) {
    match field {
        PatchField::Absent => {}
        PatchField::Null => *target = None,
        PatchField::Value(value) => *target = Some(value.into()),
    }
}

/// Sets a member that null makes empty: a text in no language, a list, an object.
pub(super) fn set_or_default<T: Default>(field: PatchField<T>, target: &mut T) {
    match field {
        PatchField::Absent => {}
        PatchField::Null => *target = T::default(),
        PatchField::Value(value) => *target = value,
    }
}

/// Checks a member that cannot change after creation.
pub(super) fn check_fixed<T: PartialEq>(
    name: &str,
    field: &PatchField<T>,
    current: &T,
) -> Result<(), RecordError> {
    match field {
        PatchField::Absent => Ok(()),
        PatchField::Value(value) if value == current => Ok(()),
        _ => Err(RecordError::from(format!("{name} cannot change"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::macros::datetime;

    fn moment(text: &str) -> Result<OffsetDateTime, String> {
        serde_json::from_value::<Timestamp>(text.into()).map(|m| m.0).map_err(|e| e.to_string())
    }

    #[test]
    fn times_are_kept_in_utc_and_whole_microseconds() {
        let at = datetime!(2026-01-01 10:00:00.123456 UTC);
        assert_eq!(moment("2026-01-01T12:00:00.123456789+02:00").unwrap(), at);
        assert_eq!(serde_json::to_value(Timestamp(at)).unwrap(), "2026-01-01T10:00:00.123456Z");
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
        assert!(set("name", PatchField::<String>::Null, &mut name).is_err());
        assert!(set("name", PatchField::<String>::Absent, &mut name).is_ok());
        assert_eq!(name, "Ada");
        let mut about = Some("x".to_owned());
        set_optional(PatchField::<String>::Null, &mut about);
        assert_eq!(about, None);
    }
}
