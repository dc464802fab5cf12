//! The kinds of connection pools, and the settings of a session that each kind needs.

use super::tls::ConnectionPurpose;
use crate::pools::StatementLimits;
use std::time::Duration;

/// What the connections of a pool are used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PoolKind {
    /// Reads of requests.
    Read,
    /// Searches of requests, and other reads that may take long.
    Search,
    /// Writes of requests.
    Write,
    /// Reads of background work.
    BackgroundRead,
    /// Writes of background work.
    BackgroundWrite,
}

impl PoolKind {
    /// All kinds.
    pub(crate) const ALL: [Self; 5] =
        [Self::Read, Self::Search, Self::Write, Self::BackgroundRead, Self::BackgroundWrite];

    /// Its name in the report of `doctor`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Read => "reads of requests",
            Self::Search => "searches",
            Self::Write => "writes of requests",
            Self::BackgroundRead => "reads of background work",
            Self::BackgroundWrite => "writes of background work",
        }
    }

    pub(super) fn purpose(self) -> ConnectionPurpose {
        match self {
            Self::Read | Self::Search | Self::BackgroundRead => ConnectionPurpose::Reading,
            Self::Write | Self::BackgroundWrite => ConnectionPurpose::Writing,
        }
    }

    /// The time limits of a statement, and of its wait for a lock.
    pub(super) fn limits(self, limits: &StatementLimits) -> (Duration, Duration) {
        match self {
            Self::Read | Self::Search | Self::BackgroundRead => (limits.read, limits.read * 4 / 5),
            Self::Write => (limits.write, limits.lock),
            Self::BackgroundWrite => (limits.write, limits.write * 4 / 5),
        }
    }

    /// The values of the settings `plan_cache_mode` and `enable_seqscan`. Plans are kept with their statements, also those that
    /// were made while a table was empty: then PostgreSQL would read the table as a whole, and go on to do so while it grows.
    /// Only searches may do that.
    fn planning(self, is_pooled: bool) -> (&'static str, &'static str) {
        match self {
            // A statement is planned once for each connection, for any values: to plan it again costs as much as to run it.
            // Only for statements whose plan for any values is good; `tests/tests/storage/plans` has such plans.
            Self::Read | Self::Write => ("force_generic_plan", "off"),
            // PostgreSQL decides whether a plan for the values of each use is better.
            Self::BackgroundRead | Self::BackgroundWrite => ("auto", "off"),
            // The same, and tables may be read as a whole. A pooler shares prepared statements and their kept plans between all
            // kinds: there a search keeps no plan, because the other kinds would use it.
            Self::Search => (if is_pooled { "force_custom_plan" } else { "auto" }, "on"),
        }
    }

    /// The settings of its sessions; times in milliseconds, as in `pg_settings`. Statements and their waits for locks have
    /// time limits; none is compiled (`jit`), which would take longer than to run it. Its transactions end if the client stalls.
    pub(crate) fn settings(self, limits: &StatementLimits, is_pooled: bool) -> [(&'static str, String); 7] {
        let (limit, lock) = self.limits(limits);
        let (plan_cache_mode, enable_seqscan) = self.planning(is_pooled);
        [
            ("statement_timeout", limit.as_millis().to_string()),
            ("lock_timeout", lock.as_millis().to_string()),
            ("idle_in_transaction_session_timeout", "60000".to_owned()),
            ("plan_cache_mode", plan_cache_mode.to_owned()),
            ("enable_seqscan", enable_seqscan.to_owned()),
            ("jit", "off".to_owned()),
            ("TimeZone", "UTC".to_owned()),
        ]
    }

    /// The statements that set them: for a session, or with a transaction pooler those that begin each transaction.
    pub(super) fn statements(self, limits: &StatementLimits, is_pooled: bool) -> String {
        let (begin, set) = if is_pooled {
            ("BEGIN ISOLATION LEVEL READ COMMITTED", "SET LOCAL")
        } else {
            ("SET default_transaction_isolation = 'read committed'", "SET")
        };
        let settings = self.settings(limits, is_pooled);
        settings
            .iter()
            .fold(begin.to_owned(), |text, (name, value)| format!("{text}; {set} {name} = '{value}'"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn behind_a_pooler_each_transaction_begins_with_all_settings() {
        let limits = StatementLimits::default();
        for kind in PoolKind::ALL {
            let text = kind.statements(&limits, true);
            assert!(
                text.starts_with("BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL statement_timeout = '"),
                "{text}"
            );
            for (name, value) in kind.settings(&limits, true) {
                assert!(text.contains(&format!("; SET LOCAL {name} = '{value}'")), "{text}");
            }
            let text = kind.statements(&limits, false);
            assert!(!text.contains("BEGIN") && !text.contains("LOCAL"), "{text}");
        }
    }
}
