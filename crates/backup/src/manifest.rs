//! The manifest of a backup: what it consists of. It has no content of the deployment and is never encrypted, so that
//! old backups can be removed without a secret.

use civitas_kernel::{Error, Result, random_key};
use serde::{Deserialize, Serialize};
use std::fmt;
use time::format_description::FormatItem;
use time::macros::format_description;
use time::{OffsetDateTime, PrimitiveDateTime};

/// The version of the format that this build writes and reads.
const FORMAT: u32 = 1;
/// The time in a name, in UTC.
const MOMENT: &[FormatItem<'_>] = format_description!("[year][month][day]T[hour][minute][second]Z");
/// The length of the time in a name.
const MOMENT_LENGTH: usize = 16;

/// The name of a backup: `20261123T023000Z-8f1c22d0`. Names in ascending order are backups by their time.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Name(String);

impl Name {
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
    pub fn object(&self, part: &str) -> String {
        format!("backups/{}/{part}", self.0)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The engine of a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Engine {
    /// One file.
    Sqlite,
    /// A server.
    Postgresql,
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sqlite => "SQLite",
            Self::Postgresql => "PostgreSQL",
        })
    }
}

/// An object of a backup, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Its name in the backup.
    pub name: String,
    /// Its length in bytes.
    pub bytes: u64,
    /// SHA-256 of its bytes, in hexadecimal.
    pub sha256: String,
}

/// The files of attachments of a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FilesOf {
    /// The group of objects below `files/`: one for each set of recipients.
    pub group: String,
    /// Their list.
    pub list: Part,
    /// Their number; a thumbnail is a file of its own.
    pub count: u64,
    /// Files that the deployment should have had and did not have, or had with other bytes.
    pub missing: u64,
}

/// A complete backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The version of the format: 1.
    pub format: u32,
    /// The version of the program that made it.
    pub civitas: String,
    /// Its name.
    pub name: Name,
    /// The time to which the database is restored.
    #[serde(with = "time::serde::rfc3339")]
    pub taken_at: OffsetDateTime,
    /// The engine of the database.
    pub engine: Engine,
    /// The versions of the schema that were applied.
    pub schema: Vec<String>,
    /// The age recipients that can decrypt it; empty: it is not encrypted.
    pub recipients: Vec<String>,
    /// The parts of the copy of the database.
    pub database: Vec<Part>,
    /// Rows and checksums of the tables ([`Contents`](crate::Contents)).
    pub contents: Part,
    /// The file of the secret key: only in an encrypted backup, and only if the deployment has that file.
    pub secret_key: Option<Part>,
    /// The files of attachments.
    pub files: FilesOf,
}

impl Manifest {
    /// The version of the format.
    pub const FORMAT: u32 = FORMAT;
    /// The name of its object in the backup.
    pub const OBJECT: &'static str = "manifest.json";

    /// Reads a manifest.
    ///
    /// # Errors
    /// `Internal` with a sentence for the operator when it is damaged, or of a newer format.
    pub fn read(bytes: &[u8]) -> Result<Self> {
        #[derive(Deserialize)]
        struct Head {
            format: u32,
        }
        let damaged = |error| Error::internal(format!("the manifest is damaged: {error}"));
        let head: Head = serde_json::from_slice(bytes).map_err(damaged)?;
        if head.format != FORMAT {
            let found = head.format;
            return Err(Error::internal(format!(
                "the backup has format {found}, and this civitas reads format {FORMAT}"
            )));
        }
        serde_json::from_slice(bytes).map_err(damaged)
    }

    /// As it is stored.
    ///
    /// # Errors
    /// Never in practice.
    pub fn write(&self) -> Result<Vec<u8>> {
        serde_json::to_vec_pretty(self).map_err(Error::internal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::macros::datetime;

    #[test]
    fn a_name_has_its_time_and_names_follow_it() {
        let early = Name::new(datetime!(2026-11-23 02:30:00 UTC)).unwrap();
        let late = Name::new(datetime!(2026-11-23 04:00:01 +1)).unwrap();
        assert!(early.to_string().starts_with("20261123T023000Z-"));
        assert_eq!(late.begun_at(), Some(datetime!(2026-11-23 03:00:01 UTC)));
        assert!(early < late);
        assert_eq!(Name::parse(&early.to_string()), Some(early));
    }

    #[test]
    fn other_names_are_not_of_backups() {
        for text in
            ["", "x", "20261123T023000Z", "20261123T023000Z-", "20261323T023000Z-8f1c22d0", "../x-8f1c22d0"]
        {
            assert_eq!(Name::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_newer_format_is_refused_before_its_members_are_read() {
        let error = Manifest::read(br#"{"format": 2, "anything": []}"#).unwrap_err();
        assert!(error.cause().unwrap().to_string().contains("format 2"));
        assert!(Manifest::read(b"{\"format\": 1}").is_err());
        assert!(Manifest::read(b"\x00").is_err());
    }
}
