//! The report of an import.

use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// The largest number of records whose ids are all listed (contract 10 §1).
const MAX_REFS: usize = 10_000;

/// The types whose ids are always listed.
const ALWAYS_LISTED: [&str; 3] = ["organization", "space", "component"];

/// The number of records by type.
type Counts = BTreeMap<&'static str, u64>;

/// Values by type and ref.
type ByRef<T> = BTreeMap<&'static str, BTreeMap<String, T>>;

/// The report of an import: the JSON object `civitas import` prints.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct ImportReport {
    /// New rows, by type.
    pub created: Counts,
    /// Changed rows, by type.
    pub updated: Counts,
    /// Existing rows without a change, by type.
    pub unchanged: Counts,
    /// Generated secrets, by type and ref. They are not available later.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub secrets: ByRef<String>,
    /// Numbers of the rows, by ref of the organization, type and ref. An organization is listed under its own ref,
    /// a record without organization under the empty ref. With more than 10,000 records, only organizations,
    /// spaces and components are listed, unless the options say otherwise.
    pub refs: BTreeMap<String, ByRef<i64>>,
    #[serde(skip)]
    records: usize,
    /// Lists all records, however many they are.
    #[serde(skip)]
    lists_all: bool,
}

/// The effect of one record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RecordOutcome {
    /// A new row.
    Created,
    /// A changed row.
    Updated,
    /// An existing row without a change.
    Unchanged,
}

impl ImportReport {
    /// An empty report.
    pub(super) fn new(lists_all: bool) -> Self {
        Self { lists_all, ..Self::default() }
    }

    /// The report as JSON.
    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// An error unless there are as many records of each type.
    pub(super) fn check_numbers(&self, expected: &BTreeMap<&str, u64>) -> Result<(), String> {
        for (kind, number) in expected {
            let counts = [&self.created, &self.updated, &self.unchanged];
            let stored: u64 = counts.iter().filter_map(|counts| counts.get(*kind)).sum();
            if stored != *number {
                return Err(format!("{kind}: {number} records written, but {stored} stored"));
            }
        }
        Ok(())
    }

    /// Whether no row was added or changed.
    pub(super) fn is_unchanged(&self) -> bool {
        self.created.is_empty() && self.updated.is_empty()
    }

    pub(super) fn count(&mut self, kind: &'static str, outcome: RecordOutcome) {
        let counts = match outcome {
            RecordOutcome::Created => &mut self.created,
            RecordOutcome::Updated => &mut self.updated,
            RecordOutcome::Unchanged => &mut self.unchanged,
        };
        *counts.entry(kind).or_default() += 1;
    }

    pub(super) fn add_id(&mut self, organization: &str, kind: &'static str, reference: &str, number: i64) {
        self.records += 1;
        if self.records == MAX_REFS + 1 && !self.lists_all {
            self.refs.values_mut().for_each(|types| types.retain(|kind, _| ALWAYS_LISTED.contains(kind)));
            self.refs.retain(|_, types| !types.is_empty());
        }
        if self.lists_all || self.records <= MAX_REFS || ALWAYS_LISTED.contains(&kind) {
            let types = self.refs.entry(organization.to_owned()).or_default();
            types.entry(kind).or_default().insert(reference.to_owned(), number);
        }
    }

    pub(super) fn add_secret(&mut self, kind: &'static str, reference: &str, secret: &str) {
        self.secrets.entry(kind).or_default().insert(reference.to_owned(), secret.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn secrets_are_mentioned_only_when_there_are_some() {
        let mut report = ImportReport::default();
        report.count("user", RecordOutcome::Created);
        report.add_id("city", "user", "nora", 17);
        let json = json!({
            "created": {"user": 1}, "updated": {}, "unchanged": {}, "refs": {"city": {"user": {"nora": 17}}}
        });
        assert_eq!(report.to_json(), json);
        report.add_secret("api_client", "app", "key_x");
        assert_eq!(report.to_json()["secrets"], json!({"api_client": {"app": "key_x"}}));
    }

    #[test]
    fn a_long_report_names_landmarks_only() {
        let mut report = ImportReport::default();
        report.add_id("city", "organization", "city", 1);
        for i in 0..10_000 {
            report.add_id("city", "user", &format!("u{i}"), i);
        }
        report.add_id("city", "component", "ideas", 5);
        let json = json!({"city": {"organization": {"city": 1}, "component": {"ideas": 5}}});
        assert_eq!(report.to_json()["refs"], json);
        report = ImportReport::new(true);
        (0..20_000).for_each(|i| report.add_id("city", "user", &format!("u{i}"), i));
        assert_eq!(report.refs["city"]["user"].len(), 20_000);
    }
}
