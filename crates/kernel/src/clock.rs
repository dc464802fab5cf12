//! The clock. All other code gets the time as a value (`ctx.now`), so that tests need no clock.

use time::OffsetDateTime;

/// The current time in UTC, in whole microseconds, which both engines can store without loss.
#[expect(clippy::disallowed_methods, reason = "this is the clock")]
pub fn now() -> OffsetDateTime {
    to_microseconds(OffsetDateTime::now_utc())
}

/// Truncates to microseconds.
pub fn to_microseconds(at: OffsetDateTime) -> OffsetDateTime {
    at.replace_nanosecond(at.nanosecond() / 1_000 * 1_000).unwrap_or(at)
}
