//! Whether the schema of a database is the one this build needs.

/// The state of the schema of a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SchemaState {
    /// It is the one this build needs.
    Current,
    /// These migrations, by name and in their order, are still to be applied.
    Older(Vec<String>),
    /// These versions were applied by a newer build.
    Newer(Vec<String>),
    /// A build before version 0.1.0 made it, whose migrations no later build has: see [`BEFORE_FIRST_RELEASE`].
    BeforeFirstRelease,
}

/// Why such a database is not migrated, and what to do.
pub const BEFORE_FIRST_RELEASE: &str = "the database was made by a civitas before version 0.1.0 and cannot be upgraded: \
    write an archive with that civitas (`civitas export --with-secrets`), and import it with this one into a new database";

impl SchemaState {
    /// Why a server cannot use it, and what to do; `None` if it can.
    pub fn refusal(&self) -> Option<String> {
        match self {
            Self::Current => None,
            Self::Older(names) => {
                Some(format!("the database lacks migrations ({}): run `civitas migrate`", names.join(", ")))
            }
            Self::Newer(versions) => Some(format!(
                "the database was migrated by a newer civitas ({}): install that version, or restore a backup",
                versions.join(", ")
            )),
            Self::BeforeFirstRelease => Some(BEFORE_FIRST_RELEASE.to_owned()),
        }
    }

    /// Whether `civitas migrate` makes it the one this build needs.
    pub fn can_be_migrated(&self) -> bool {
        matches!(self, Self::Current | Self::Older(_))
    }
}
