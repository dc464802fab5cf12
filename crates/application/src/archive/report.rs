//! What an import did.

use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// With more records than this a report names only the ids others need to find their way (contract 10 §1).
const MOST_REFS: usize = 10_000;

/// The types a long report still names.
const LANDMARKS: [&str; 3] = ["organization", "space", "component"];

/// By type, how many.
type Counts = BTreeMap<&'static str, u64>;

/// By type and ref.
type ByRef<T> = BTreeMap<&'static str, BTreeMap<String, T>>;

/// What an import did: the JSON object `civitas import` prints.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Report {
    /// Rows that are new, by type.
    pub created: Counts,
    /// Rows that were there and have changed, by type.
    pub updated: Counts,
    /// Rows that were there and say the same, by type.
    pub unchanged: Counts,
    /// Secrets that were generated, by type and ref. They can not be read again.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub secrets: ByRef<String>,
    /// The numbers of the rows, by the ref of the organization, type and ref. An organization stands under its
    /// own ref, a record without organization under the empty one. Of more than 10,000 records only
    /// organizations, spaces and components.
    pub refs: BTreeMap<String, ByRef<i64>>,
    #[serde(skip)]
    records: usize,
}

/// What became of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// A new row.
    Created,
    /// A row that has changed.
    Updated,
    /// A row that says the same as before.
    Unchanged,
}

impl Report {
    /// The report as JSON.
    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    pub(super) fn count(&mut self, kind: &'static str, outcome: Outcome) {
        let counts = match outcome {
            Outcome::Created => &mut self.created,
            Outcome::Updated => &mut self.updated,
            Outcome::Unchanged => &mut self.unchanged,
        };
        *counts.entry(kind).or_default() += 1;
    }

    pub(super) fn name(&mut self, organization: &str, kind: &'static str, reference: &str, number: i64) {
        self.records += 1;
        if self.records == MOST_REFS + 1 {
            self.refs.values_mut().for_each(|types| types.retain(|kind, _| LANDMARKS.contains(kind)));
            self.refs.retain(|_, types| !types.is_empty());
        }
        if self.records <= MOST_REFS || LANDMARKS.contains(&kind) {
            let types = self.refs.entry(organization.to_owned()).or_default();
            types.entry(kind).or_default().insert(reference.to_owned(), number);
        }
    }

    pub(super) fn reveal(&mut self, kind: &'static str, reference: &str, secret: &str) {
        self.secrets.entry(kind).or_default().insert(reference.to_owned(), secret.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn secrets_are_mentioned_only_when_there_are_some() {
        let mut report = Report::default();
        report.count("user", Outcome::Created);
        report.name("city", "user", "nora", 17);
        let json = json!({
            "created": {"user": 1}, "updated": {}, "unchanged": {}, "refs": {"city": {"user": {"nora": 17}}}
        });
        assert_eq!(report.to_json(), json);
        report.reveal("api_client", "app", "key_x");
        assert_eq!(report.to_json()["secrets"], json!({"api_client": {"app": "key_x"}}));
    }

    #[test]
    fn a_long_report_names_landmarks_only() {
        let mut report = Report::default();
        report.name("city", "organization", "city", 1);
        for i in 0..10_000 {
            report.name("city", "user", &format!("u{i}"), i);
        }
        report.name("city", "component", "ideas", 5);
        let json = json!({"city": {"organization": {"city": 1}, "component": {"ideas": 5}}});
        assert_eq!(report.to_json()["refs"], json);
    }
}
