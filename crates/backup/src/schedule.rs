//! When backups are made.

use crate::manifest::{Manifest, Name};
use crate::parts::{manifest, names};
use crate::ports::Target;
use civitas_kernel::Result;
use std::fmt;
use std::str::FromStr;
use time::{Duration, OffsetDateTime, Time};

/// A time of day in UTC, in minutes: `02:30`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TimeOfDay(Time);

impl FromStr for TimeOfDay {
    type Err = ();

    fn from_str(text: &str) -> std::result::Result<Self, ()> {
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

/// The times of day at which backups are made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    /// These times; empty: none is made.
    pub times: Vec<TimeOfDay>,
}

impl Schedule {
    /// Whether a backup is due: none was begun since the last of the times. `newest`: when the newest complete backup
    /// was begun.
    pub fn is_due(&self, newest: Option<OffsetDateTime>, now: OffsetDateTime) -> bool {
        let now = now.to_offset(time::UtcOffset::UTC);
        let today = |at: &TimeOfDay| now.replace_time(at.0);
        let last =
            self.times.iter().map(today).map(|at| if at > now { at - Duration::DAY } else { at }).max();
        last.is_some_and(|last| newest.is_none_or(|newest| newest < last))
    }
}

/// A backup of a target, and its manifest if it is complete.
type Found = (Name, Option<Result<Manifest>>);

impl Target<'_> {
    /// All backups, the oldest first.
    ///
    /// # Errors
    /// `Unavailable` when the target does not answer.
    pub async fn list(self) -> Result<Vec<Found>> {
        let names = names(self).await?;
        let mut found: Vec<Found> = names.incomplete.into_iter().map(|name| (name, None)).collect();
        for name in names.complete {
            let manifest = manifest(self, &name).await;
            found.push((name, Some(manifest)));
        }
        found.sort_by(|(a, _), (b, _)| a.cmp(b));
        Ok(found)
    }

    /// When the newest complete backup was begun; `None`: there is none.
    ///
    /// # Errors
    /// `Unavailable` when the target does not answer.
    pub async fn newest(self) -> Result<Option<OffsetDateTime>> {
        Ok(names(self).await?.complete.last().and_then(Name::begun_at))
    }
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
        let schedule = Schedule { times: vec!["02:30".parse().unwrap(), "14:30".parse().unwrap()] };
        let now = datetime!(2026-11-23 14:30:05 UTC);
        assert!(schedule.is_due(None, now));
        assert!(schedule.is_due(Some(datetime!(2026-11-23 02:30:01 UTC)), now));
        assert!(!schedule.is_due(Some(datetime!(2026-11-23 14:30:00 UTC)), now));
        assert!(
            !schedule.is_due(Some(datetime!(2026-11-22 14:31:00 UTC)), datetime!(2026-11-23 02:29:59 UTC))
        );
        assert!(schedule.is_due(Some(datetime!(2026-11-22 14:31:00 UTC)), datetime!(2026-11-23 03:30:00 +1)));
    }

    #[test]
    fn without_times_no_backup_is_due() {
        assert!(!Schedule { times: Vec::new() }.is_due(None, datetime!(2026-11-23 14:30:05 UTC)));
    }
}
