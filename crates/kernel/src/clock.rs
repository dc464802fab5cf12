//! The clock. All other code gets the time as a value (`ctx.now`), so that tests need no clock.

use time::OffsetDateTime;

/// Now, in UTC, in whole microseconds: what both engines can store without loss.
#[expect(clippy::disallowed_methods, reason = "this is the clock")]
pub fn now() -> OffsetDateTime {
    to_microseconds(OffsetDateTime::now_utc())
}

/// Cuts what is finer than a microsecond.
pub fn to_microseconds(at: OffsetDateTime) -> OffsetDateTime {
    at.replace_nanosecond(at.nanosecond() / 1_000 * 1_000).unwrap_or(at)
}
