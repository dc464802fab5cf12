//! The row of a file. It exists before the bytes are stored and until they are deleted, so that every object in the
//! store has a row.

use crate::{ContentError, FileInspection};
use civitas_kernel::records::Entity;
use civitas_kernel::text::hexadecimal;
use civitas_kernel::{FileId, OrganizationId, random_key};
use serde::{Deserialize, Serialize};
use time::{Duration, OffsetDateTime};

/// The most time between the row of a file and the end of the transaction that uses it. Then the file is deleted.
pub const PENDING_FILE_LIFETIME: Duration = Duration::hours(1);

/// The organization of the row of a file whose organization may not exist yet. No organization has this number.
pub const NO_ORGANIZATION_YET: OrganizationId = OrganizationId(0);

civitas_kernel::named_enum! {
    /// What is known of the bytes of a file.
    #[derive(Serialize, Deserialize)]
    pub enum FileState {
        /// They are being stored; nothing refers to the file yet.
        Pending = "pending",
        /// They are stored; an attachment or an upload refers to the file.
        Stored = "stored",
        /// They are to be deleted; nothing refers to the file any more.
        Removed = "removed",
    }
}

/// A file in the store.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredFile {
    /// Its name in addresses: random, so that only a client that has the address can read the file.
    pub key: String,
    /// Its name in the store.
    pub object: String,
    /// Its name for people.
    pub filename: String,
    /// The media type that was detected in its bytes.
    pub content_type: String,
    /// Why it cannot be attached anywhere.
    pub fault: Option<ContentError>,
    /// The length of its bytes.
    pub byte_size: i64,
    /// SHA-256 of its bytes, in hexadecimal.
    pub sha256: String,
    /// The length of its thumbnail in bytes; `None` without one.
    pub thumbnail_bytes: Option<i64>,
    /// What is known of the bytes.
    pub state: FileState,
    /// When its row was added.
    pub created_at: OffsetDateTime,
}

impl StoredFile {
    /// A file whose bytes are not stored yet. `prefix` is the `reference_prefix` of the organization, with which the
    /// name in the store begins (contract 07 B.8).
    pub fn new(prefix: &str, filename: String, inspected: &FileInspection, now: OffsetDateTime) -> Self {
        let key = random_key();
        let prefix: String =
            prefix.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-')).take(64).collect();
        let object = if prefix.is_empty() { key.clone() } else { format!("{prefix}/{key}") };
        let length = |bytes| i64::try_from(bytes).unwrap_or(i64::MAX);
        Self {
            key,
            object,
            filename,
            content_type: inspected.content_type.clone(),
            fault: inspected.fault,
            byte_size: length(inspected.content.byte_size),
            sha256: hexadecimal(&inspected.sha256),
            thumbnail_bytes: inspected.thumbnail.as_ref().map(|thumbnail| length(thumbnail.byte_size)),
            state: FileState::Pending,
            created_at: now,
        }
    }

    /// The name of its thumbnail in the store.
    pub fn thumbnail_object(&self) -> String {
        format!("{}.thumbnail", self.object)
    }

    /// Whether browsers may show it in a page of their own; other files are only downloaded.
    pub fn is_shown_inline(&self) -> bool {
        self.is_image() || self.content_type == "application/pdf"
    }

    /// Whether its bytes are an image.
    pub fn is_image(&self) -> bool {
        self.content_type.starts_with("image/")
    }

    /// A text file of one byte.
    #[cfg(any(test, feature = "mocks", feature = "conformance"))]
    pub fn for_test(created_at: OffsetDateTime, state: FileState) -> Self {
        let key = random_key();
        Self {
            object: format!("TEST/{key}"),
            key,
            filename: "note.txt".to_owned(),
            content_type: "text/plain".to_owned(),
            fault: None,
            byte_size: 1,
            sha256: "00".repeat(32),
            thumbnail_bytes: None,
            state,
            created_at,
        }
    }
}

impl Entity for StoredFile {
    type Id = FileId;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FileContent;
    use time::macros::datetime;

    fn inspected() -> FileInspection {
        let file = std::fs::File::open("/dev/null").unwrap();
        FileInspection {
            content: FileContent { file, byte_size: 12 },
            sha256: [0xab; 32],
            content_type: "text/plain".to_owned(),
            fault: None,
            thumbnail: None,
        }
    }

    #[test]
    fn the_name_in_the_store_begins_with_the_prefix_and_has_nothing_of_the_filename() {
        let now = datetime!(2026-03-01 09:30 UTC);
        for (prefix, begin) in [("CITY", "CITY/"), ("a/../b c", "abc/"), ("Ünï_-9", "n_-9/"), ("", "")] {
            let file = StoredFile::new(prefix, "../x.txt".to_owned(), &inspected(), now);
            assert_eq!(file.object, format!("{begin}{}", file.key));
            assert!(file.key.len() == 64 && file.key.bytes().all(|b| b.is_ascii_hexdigit()));
            assert_eq!((file.byte_size, file.sha256.as_str()), (12, "ab".repeat(32).as_str()));
        }
    }
}
