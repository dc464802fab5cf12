//! When backups are made.

use std::fmt;
use std::str::FromStr;
use time::{Duration, OffsetDateTime, Time};

/// A time of day in UTC, in minutes: `02:30`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TimeOfDay(Time);

impl FromStr for TimeOfDay {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (hour, minute) = text.split_once(':').ok_or(())?;
        let number = |text: &str| match text.len() {
            2 => text.parse::<u8>().map_err(drop),
            _ => Err(()),
        };
        Time::from_hms(number(hour)?, number(minute)?, 0).map(Self).map_err(drop)
    }
}

impl fmt::Display for TimeOfDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}", self.0.hour(), self.0.minute())
    }
}

/// Whether a backup is due: none was begun since the last of these times. `newest`: when the newest complete backup was
/// begun.
pub fn is_due(times: &[TimeOfDay], newest: Option<OffsetDateTime>, now: OffsetDateTime) -> bool {
    let now = now.to_offset(time::UtcOffset::UTC);
    let today = |at: &TimeOfDay| now.replace_time(at.0);
    let last = times.iter().map(today).map(|at| if at > now { at - Duration::DAY } else { at }).max();
    last.is_some_and(|last| newest.is_none_or(|newest| newest < last))
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::macros::datetime;

    #[test]
    fn a_time_of_day_has_two_digits_each() {
        assert_eq!("02:30".parse::<TimeOfDay>().unwrap().to_string(), "02:30");
        for text in ["", "2:30", "24:00", "12:60", "12", "12:3", "-1:00", "12:30:00", "ab:cd"] {
            assert!(text.parse::<TimeOfDay>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_backup_is_due_once_after_each_time() {
        let times = ["02:30".parse().unwrap(), "14:30".parse().unwrap()];
        let now = datetime!(2026-11-23 14:30:05 UTC);
        assert!(is_due(&times, None, now));
        assert!(is_due(&times, Some(datetime!(2026-11-23 02:30:01 UTC)), now));
        assert!(!is_due(&times, Some(datetime!(2026-11-23 14:30:00 UTC)), now));
        assert!(!is_due(
            &times,
            Some(datetime!(2026-11-22 14:31:00 UTC)),
            datetime!(2026-11-23 02:29:59 UTC)
        ));
        assert!(is_due(&times, Some(datetime!(2026-11-22 14:31:00 UTC)), datetime!(2026-11-23 03:30:00 +1)));
    }

    #[test]
    fn without_times_no_backup_is_due() {
        assert!(!is_due(&[], None, datetime!(2026-11-23 14:30:05 UTC)));
    }
}
