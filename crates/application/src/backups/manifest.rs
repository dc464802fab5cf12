//! The manifest of a backup: what it consists of.

use crate::file_transfer::FileDigest;
use civitas_kernel::{Error, Result, random_key};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use time::format_description::FormatItem;
use time::macros::format_description;
use time::{OffsetDateTime, PrimitiveDateTime};

/// The time in a name, in UTC.
const MOMENT: &[FormatItem<'_>] = format_description!("[year][month][day]T[hour][minute][second]Z");
/// The length of the time in a name.
const MOMENT_LENGTH: usize = 16;

/// The name of a backup: `20261123T023000Z-8f1c22d0`. Names in ascending order are backups by their time.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BackupName(String);

impl BackupName {
    /// A new name.
    ///
    /// # Errors
    /// `Internal` for a year after 9999.
    pub fn new(at: OffsetDateTime) -> Result<Self> {
        let moment = at.to_offset(time::UtcOffset::UTC).format(MOMENT).map_err(Error::internal)?;
        let random = random_key();
        Ok(Self(format!("{moment}-{}", &random[..8])))
    }

    /// The name with this text; `None` if it is not the name of a backup.
    pub fn parse(text: &str) -> Option<Self> {
        let name = Self(text.to_owned());
        let (moment, random) = text.split_once('-')?;
        let is_name = moment.len() == MOMENT_LENGTH
            && name.begun_at().is_some()
            && random.len() == 8
            && random.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_name.then_some(name)
    }

    /// When the backup was begun.
    pub fn begun_at(&self) -> Option<OffsetDateTime> {
        let moment = self.0.get(..MOMENT_LENGTH)?;
        PrimitiveDateTime::parse(moment, MOMENT).ok().map(PrimitiveDateTime::assume_utc)
    }

    /// The object of one of its parts.
    pub(super) fn object(&self, part: &str) -> String {
        format!("backups/{}/{part}", self.0)
    }
}

impl fmt::Display for BackupName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The number of rows of each table.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RowCounts(pub BTreeMap<String, u64>);

impl RowCounts {
    /// The number of rows of all tables.
    pub fn total(&self) -> u64 {
        self.0.values().sum()
    }

    /// Checks that a database to which these rows were restored has them.
    ///
    /// # Errors
    /// `Internal` with a sentence about the first difference.
    pub fn check(&self, restored: &Self) -> Result<()> {
        let count = |rows: &Self, table: &str| rows.0.get(table).map_or("no".to_owned(), ToString::to_string);
        let mut tables = self.0.keys().chain(restored.0.keys());
        let Some(table) = tables.find(|table| self.0.get(*table) != restored.0.get(*table)) else {
            return Ok(());
        };
        let (found, copied) = (count(restored, table), count(self, table));
        Err(Error::internal(format!(
            "the restored database differs: the table {table} has {found} rows instead of {copied}"
        )))
    }
}

/// How it was checked that a copy of a database can be restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RestoreCheckMethod {
    /// It was restored into a temporary database, which had all rows.
    Restored,
    /// It was read to its end; no database could be created for it.
    Read,
}

/// A complete backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BackupManifest {
    /// The version of the format: 2.
    pub format: u32,
    /// The version of the program that made it.
    pub civitas: String,
    /// Its name.
    pub name: BackupName,
    /// The time to which the database is restored.
    #[serde(with = "time::serde::rfc3339")]
    pub taken_at: OffsetDateTime,
    /// The engine of the database.
    pub engine: String,
    /// The copy of the database.
    pub database: FileDigest,
    /// The rows of its tables.
    pub rows: RowCounts,
    /// How the copy was checked.
    pub proof: RestoreCheckMethod,
    /// The list of the files of attachments.
    pub list: FileDigest,
    /// Their number; a thumbnail is a file of its own.
    pub files: u64,
    /// Files that the deployment should have had and did not have, or had with other bytes.
    pub missing_files: u64,
}

impl BackupManifest {
    /// The version of the format that this build writes and reads.
    pub(super) const FORMAT: u32 = 2;

    /// Reads a manifest.
    ///
    /// # Errors
    /// `Internal` with a sentence for the operator when it is damaged, or of another format.
    pub fn read(bytes: &[u8]) -> Result<Self> {
        #[derive(Deserialize)]
        struct Head {
            format: u32,
            #[serde(default)]
            civitas: String,
            /// Of format 1: the age recipients of an encrypted backup.
            #[serde(default)]
            recipients: Vec<String>,
        }
        let damaged = |error| Error::internal(format!("the manifest is damaged: {error}"));
        let Head { format, civitas, recipients } = serde_json::from_slice(bytes).map_err(damaged)?;
        if format == Self::FORMAT {
            return serde_json::from_slice(bytes).map_err(damaged);
        }
        let what = match recipients.join(", ") {
            _ if format > Self::FORMAT => format!(": install civitas {civitas} or newer"),
            none if none.is_empty() => {
                format!(
                    ": restore it with the civitas {civitas} that made it, then run `civitas migrate` with this one"
                )
            }
            all => format!(
                " without encryption; it is encrypted to {all}: restore it with the civitas {civitas} that made it and \
                 its flag --identity FILE, then run `civitas migrate` with this one"
            ),
        };
        Err(Error::internal(format!(
            "the backup has format {format}, and this civitas reads format {}{what}",
            Self::FORMAT
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::macros::datetime;

    #[test]
    fn a_name_has_its_time_and_names_follow_it() {
        let early = BackupName::new(datetime!(2026-11-23 02:30:00 UTC)).unwrap();
        let late = BackupName::new(datetime!(2026-11-23 04:00:01 +1)).unwrap();
        assert!(early.to_string().starts_with("20261123T023000Z-"));
        assert_eq!(late.begun_at(), Some(datetime!(2026-11-23 03:00:01 UTC)));
        assert!(early < late);
        assert_eq!(BackupName::parse(&early.to_string()), Some(early));
    }

    #[test]
    fn other_names_are_not_of_backups() {
        for text in
            ["", "x", "20261123T023000Z", "20261123T023000Z-", "20261323T023000Z-8f1c22d0", "../x-8f1c22d0"]
        {
            assert_eq!(BackupName::parse(text), None, "{text}");
        }
    }

    #[test]
    fn another_format_is_refused_with_what_to_do_before_its_members_are_read() {
        let refusal =
            |text: &str| BackupManifest::read(text.as_bytes()).unwrap_err().cause().unwrap().to_string();
        for (manifest, parts) in [
            (
                r#"{"format": 3, "civitas": "9.0.0", "anything": []}"#,
                ["has format 3", "install civitas 9.0.0 or newer"],
            ),
            (
                r#"{"format": 1, "civitas": "0.1.0", "recipients": []}"#,
                ["2: restore it with", "civitas 0.1.0 that made it"],
            ),
            (
                r#"{"format": 1, "civitas": "0.1.0", "recipients": ["age1x", "age1y"]}"#,
                ["is encrypted to age1x, age1y", "--identity FILE"],
            ),
        ] {
            let refused = refusal(manifest);
            assert!(parts.iter().all(|part| refused.contains(part)), "{refused}");
        }
        for damaged in [r#"{"format": 2}"#, "\0"] {
            assert!(refusal(damaged).contains("is damaged"));
        }
    }

    #[test]
    fn each_difference_of_rows_is_named() {
        let rows = |tables: &[(&str, u64)]| {
            RowCounts(tables.iter().map(|(name, rows)| ((*name).to_owned(), *rows)).collect())
        };
        let copied = rows(&[("posts", 3), ("users", 2)]);
        assert_eq!(copied.total(), 5);
        copied.check(&copied).unwrap();
        for (restored, part) in [
            (rows(&[("posts", 3)]), "users has no rows instead of 2"),
            (rows(&[("posts", 1), ("users", 2)]), "posts has 1 rows instead of 3"),
            (rows(&[("posts", 3), ("users", 2), ("votes", 0)]), "votes has 0 rows instead of no"),
        ] {
            let difference = copied.check(&restored).unwrap_err().cause().unwrap().to_string();
            assert!(difference.contains(part), "{difference}");
        }
    }
}
