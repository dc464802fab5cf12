//! Time zones of organizations.

use time::{Date, OffsetDateTime, PrimitiveDateTime, Time, UtcOffset};
use time_tz::{Offset, PrimitiveDateTimeExt, TimeZone as _, Tz, timezones};

/// A time zone. The default is UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeZone(&'static Tz);

impl Default for TimeZone {
    fn default() -> Self {
        Self(timezones::db::UTC)
    }
}

impl TimeZone {
    /// The zone of this name.
    pub fn find(name: &str) -> Option<Self> {
        timezones::get_by_name(name).map(Self)
    }

    /// The zone of this name; UTC if there is none.
    pub fn from_name(name: &str) -> Self {
        Self::find(name).unwrap_or_default()
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.0.name()
    }

    /// Its distance from UTC at a time.
    pub fn offset_at(self, at: OffsetDateTime) -> UtcOffset {
        self.0.get_offset_utc(&at).to_utc()
    }

    /// The moment of a local time. In the hour that is repeated in autumn the first one is meant; in the one that is left
    /// out in spring, the next. `None` outside of the years that can be written.
    pub fn moment(self, local: PrimitiveDateTime) -> Option<OffsetDateTime> {
        local.assume_timezone(self.0).take_first().or_else(|| {
            let next = local.checked_add(time::Duration::HOUR)?;
            next.assume_timezone(self.0).take_first()
        })
    }

    /// The first moment of a day.
    pub fn first_moment(self, day: Date) -> Option<OffsetDateTime> {
        self.moment(PrimitiveDateTime::new(day, Time::MIDNIGHT))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::macros::{date, datetime};

    #[test]
    fn a_day_begins_at_the_midnight_of_its_zone() {
        let first = |name: &str, day| TimeZone::from_name(name).first_moment(day).unwrap();
        assert_eq!(first("Europe/Paris", date!(2025 - 07 - 01)), datetime!(2025-06-30 22:00 UTC));
        assert_eq!(first("no such zone", date!(2025 - 07 - 01)), datetime!(2025-07-01 00:00 UTC));
        // Clocks went from 0:00 to 1:00 on this day.
        assert_eq!(first("America/Santiago", date!(2025 - 09 - 07)), datetime!(2025-09-07 04:00 UTC));
    }
}
