//! The report of a run (sheet 13 §8).

use crate::codes::StopsAndLosses;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fmt;

/// The rows of one type in one organization: `source` = `written` + the sum of `dropped`.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
pub struct RowCounts {
    /// The rows of the source.
    pub source: u64,
    /// The records written.
    pub written: u64,
    /// Rows left out, by code; `parent`: with a row above them.
    pub dropped: BTreeMap<String, u64>,
}

impl RowCounts {
    /// Whether each row was written or left out.
    pub(crate) fn is_complete(&self) -> bool {
        self.source == self.written + self.dropped.values().sum::<u64>()
    }
}

/// What was read, written and lost.
#[derive(Debug, Serialize)]
pub struct ExtractionReport {
    /// `{"decidim", "module", "migrations", "newest_migration", "environment"}`
    pub source: Value,
    /// The time of the snapshot.
    pub snapshot_at: Value,
    /// By host and type. Records without an organization, and rows whose organization is not known, are under `""`.
    pub organizations: BTreeMap<String, BTreeMap<String, RowCounts>>,
    /// By code: `{"count", "examples"}`.
    pub codes: Map<String, Value>,
    /// The rows of every table that is only counted.
    pub tables: BTreeMap<String, i64>,
    /// `{"count", "bytes", "refused"}`
    pub files: Value,
    #[serde(skip)]
    losses: Vec<(String, u64, &'static str)>,
}

impl ExtractionReport {
    pub(crate) fn new(
        source: Value,
        organizations: BTreeMap<String, BTreeMap<String, RowCounts>>,
        codes: &StopsAndLosses,
        tables: BTreeMap<String, i64>,
    ) -> Self {
        let found = codes.ordered().map(|(code, _, found)| (code.to_owned(), json!(found))).collect();
        let losses =
            codes.ordered().map(|(code, meaning, found)| (code.to_owned(), found.count, meaning)).collect();
        Self {
            snapshot_at: source.get("snapshot_at").cloned().unwrap_or_default(),
            source,
            organizations,
            codes: found,
            tables,
            files: Value::Null,
            losses,
        }
    }

    /// The records written, by type, of all organizations.
    pub fn written_by_type(&self) -> BTreeMap<&str, u64> {
        let mut written = BTreeMap::new();
        for (kind, counts) in self.organizations.values().flatten() {
            *written.entry(kind.as_str()).or_default() += counts.written;
        }
        written
    }
}

/// A table for people.
impl fmt::Display for ExtractionReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (host, types) in &self.organizations {
            writeln!(f, "{}", if host.is_empty() { "(no organization)" } else { host })?;
            writeln!(f, "  {:<24}{:>10}{:>10}{:>10}", "type", "source", "written", "dropped")?;
            for (kind, counts) in types {
                let dropped: u64 = counts.dropped.values().sum();
                writeln!(f, "  {kind:<24}{:>10}{:>10}{dropped:>10}", counts.source, counts.written)?;
            }
        }
        for (code, count, meaning) in &self.losses {
            writeln!(f, "{code:<16}{count:>8}  {meaning}")?;
        }
        let (tables, rows) = (self.tables.len(), self.tables.values().sum::<i64>());
        write!(f, "Not imported: {tables} other tables with {rows} rows")
    }
}
