//! `archive`: the record that may be the first one. It says where the archive comes from, and above which ids new records
//! are (contract 13 §3.1).

use super::error::RecordError;
use super::lines::LongTexts;
use super::members::Timestamp;
use super::record::{ArchiveRecord, MAX_ID, RecordHead};
use civitas_application::Ports;
use civitas_kernel::Locales;
use serde::Deserialize;
use std::collections::BTreeMap;

/// The members of the first record. `source` and `snapshot_at` are for people.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct FirstRecord {
    format: Option<i64>,
    #[serde(rename = "source")]
    _source: Option<String>,
    #[serde(rename = "snapshot_at")]
    _snapshot_at: Option<Timestamp>,
    /// The highest ids of the source, by id space ([`IdSpaces`](civitas_application::IdSpaces)).
    id_floor: BTreeMap<String, i64>,
}

impl FirstRecord {
    /// The format that this version reads.
    const FORMAT: i64 = 1;

    /// Reads and checks the record. `is_first`: whether it is the first one of the archive.
    pub(super) fn read(
        head: &RecordHead,
        record: &ArchiveRecord,
        locales: &Locales,
        is_first: bool,
    ) -> Result<Self, RecordError> {
        if !is_first {
            return Err("must be the first record".into());
        }
        if head.organization.is_some() {
            return Err("has no organization".into());
        }
        let fields: Self = record.fields(locales, &LongTexts::default())?;
        match fields.format {
            None => return Err("format is required".into()),
            Some(Self::FORMAT) => {}
            Some(other) => return Err(format!("format {other} is not known").into()),
        }
        match fields.id_floor.iter().find(|(_, floor)| !(0..=MAX_ID).contains(*floor)) {
            Some((space, _)) => {
                Err(RecordError::from(format!("id_floor: {space} must be from 0 to {MAX_ID}")))
            }
            None => Ok(fields),
        }
    }

    /// Sets the id spaces past the ids of the source.
    pub(super) async fn raise(&self, ports: &dyn Ports) -> Result<(), RecordError> {
        for (space, floor) in &self.id_floor {
            ports.id_spaces().raise(space, *floor).await?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::record;
    use super::*;

    fn reason(line: &str, is_first: bool) -> Option<String> {
        let (head, members) = record::read(line).unwrap();
        let record = ArchiveRecord { organization: None, existing_id: None, members };
        let read = FirstRecord::read(&head, &record, &Locales::standard(), is_first);
        read.err().map(|error| error.at_line(1, None).to_string())
    }

    #[test]
    fn the_first_record_has_a_known_format_and_floors() {
        let whole = r#"{"type": "archive", "format": 1, "source": "decidim 0.32", "snapshot_at": "2026-03-01T09:30:00Z",
            "id_floor": {"proposal": 1234, "page": 0}}"#;
        assert_eq!(reason(whole, true), None);
        assert_eq!(reason(whole, false).unwrap(), "line 1: must be the first record");
        for (members, expected) in [
            ("", "format is required"),
            (r#", "format": 2"#, "format 2 is not known"),
            (r#", "format": 1, "organization": "city""#, "has no organization"),
            (
                r#", "format": 1, "id_floor": {"page": -1}"#,
                "id_floor: page must be from 0 to 9007199254740991",
            ),
            (r#", "format": 1, "floor": {}"#, "unknown member \"floor\""),
        ] {
            let line = format!(r#"{{"type": "archive"{members}}}"#);
            assert_eq!(reason(&line, true).unwrap(), format!("line 1: {expected}"), "{line}");
        }
    }
}
