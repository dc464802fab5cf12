//! The clock of the database, by which all nodes agree on leases.

use crate::engine::dialect::DATABASE_TIME;
use crate::engine::{Conn, sql as sql_types};
use crate::failure::DieselResultExt;
use civitas_kernel::Result;
use diesel::dsl::sql;
use diesel_async::RunQueryDsl;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use time::{Duration, OffsetDateTime};

/// The clock of the process.
pub(crate) type ProcessClock = fn() -> OffsetDateTime;

/// How long a measured difference is used.
const MEASURE_EVERY: std::time::Duration = std::time::Duration::from_secs(10);
/// A smaller difference is none: leases have many seconds, and a measurement takes some milliseconds.
const TOLERANCE: Duration = Duration::seconds(1);

/// The difference between the clocks of the database and of the process.
pub(crate) struct DatabaseClock {
    process: ProcessClock,
    /// The difference, and when it was measured; `None` before the first measurement.
    measured: Mutex<Option<(Duration, Instant)>>,
}

impl DatabaseClock {
    /// Nothing is measured yet.
    pub(crate) fn new(process: ProcessClock) -> Self {
        Self { process, measured: Mutex::new(None) }
    }

    /// Whether the difference must be measured. Never where the clock of the database is that of the process.
    pub(crate) fn is_outdated(&self) -> bool {
        DATABASE_TIME.is_some() && self.measured().is_none_or(|(_, at)| at.elapsed() >= MEASURE_EVERY)
    }

    /// Measures the difference.
    pub(crate) async fn measure(&self, connection: &mut Conn) -> Result<()> {
        let Some(time) = DATABASE_TIME else { return Ok(()) };
        let before = (self.process)();
        let database: OffsetDateTime =
            diesel::select(sql::<sql_types::Moment>(time)).get_result(connection).await.map_db_error()?;
        let after = (self.process)();
        let difference: Duration = database - (before + (after - before) / 2);
        let difference = if difference.abs() < TOLERANCE { Duration::ZERO } else { difference };
        let now = Some((difference, Instant::now()));
        let last = std::mem::replace(&mut *self.measured.lock().unwrap_or_else(PoisonError::into_inner), now);
        if difference != last.map(|(difference, _)| difference).unwrap_or_default() && !difference.is_zero() {
            tracing::warn!(%difference, "the clock of this machine differs from that of the database");
        }
        Ok(())
    }

    /// What to add to a time of the process.
    pub(crate) fn offset(&self) -> Duration {
        self.measured().map(|(difference, _)| difference).unwrap_or_default()
    }

    fn measured(&self) -> Option<(Duration, Instant)> {
        *self.measured.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
