//! Errors of import and export.

use civitas_kernel::Error;
use std::{fmt, io};

/// The first invalid line of an archive. Nothing of the file is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineError {
    /// The number of the line, from 1.
    pub line: u64,
    /// Type and ref of the record, if the line has both.
    pub record: Option<(String, String)>,
    /// What is wrong.
    pub reason: String,
}

/// `line 12: proposal "bike-lanes": component "ideas" is not known`
impl fmt::Display for LineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: ", self.line)?;
        if let Some((kind, reference)) = &self.record {
            write!(f, "{kind} {reference:?}: ")?;
        }
        f.write_str(&self.reason)
    }
}

/// Why an import failed. Nothing of the file is stored.
#[derive(Debug)]
pub enum ImportError {
    /// A line is invalid.
    Line(LineError),
    /// The database failed while this line was imported; 0 before the first line.
    Store(u64, Error),
}

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(error) => error.fmt(f),
            Self::Store(0, error) => error.fmt(f),
            Self::Store(line, error) => write!(f, "line {line}: {error}"),
        }
    }
}

impl std::error::Error for ImportError {}

/// Why one record cannot be imported.
#[derive(Debug)]
pub(super) enum RecordError {
    /// The record is invalid.
    Invalid(String),
    /// The database failed.
    Store(Error),
}

impl RecordError {
    /// Adds the line, and the record if it is known.
    pub(super) fn at_line(self, line: u64, record: Option<(String, String)>) -> ImportError {
        match self {
            Self::Invalid(reason) => ImportError::Line(LineError { line, record, reason }),
            Self::Store(error) => ImportError::Store(line, error),
        }
    }
}

impl From<String> for RecordError {
    fn from(reason: String) -> Self {
        Self::Invalid(reason)
    }
}

impl From<&str> for RecordError {
    fn from(reason: &str) -> Self {
        Self::Invalid(reason.to_owned())
    }
}

/// `Rejected` and `Invalid` mean that the record is invalid; all other errors are failures of the database.
impl From<Error> for RecordError {
    fn from(error: Error) -> Self {
        match error {
            Error::Rejected(_) | Error::Invalid { .. } => Self::Invalid(error.description().into_owned()),
            other => Self::Store(other),
        }
    }
}

/// Why an export failed. What is already written is not a valid archive.
#[derive(Debug)]
pub enum ExportError {
    /// No organization has this primary host.
    UnknownHost(String),
    /// The database failed.
    Store(Error),
    /// The output could not be written.
    Write(io::Error),
}

impl fmt::Display for ExportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownHost(host) => write!(f, "no organization has the host {host}"),
            Self::Store(error) => error.fmt(f),
            Self::Write(error) => write!(f, "the archive could not be written: {error}"),
        }
    }
}

impl std::error::Error for ExportError {}

impl From<Error> for ExportError {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_error_names_line_record_and_reason() {
        let record = ("proposal".to_owned(), "bike-lanes".to_owned());
        let known = RecordError::from("component \"ideas\" is not known").at_line(12, Some(record));
        assert_eq!(known.to_string(), r#"line 12: proposal "bike-lanes": component "ideas" is not known"#);
        let unknown = RecordError::from("is not an object").at_line(1, None);
        assert_eq!(unknown.to_string(), "line 1: is not an object");
    }

    #[test]
    fn what_a_rule_refuses_is_the_files_fault_and_a_broken_database_is_not() {
        assert!(
            matches!(RecordError::from(Error::rejected("taken")), RecordError::Invalid(reason) if reason == "taken")
        );
        let broken = RecordError::from(Error::internal("disk full")).at_line(3, None);
        assert_eq!(broken.to_string(), "line 3: Internal Server Error (disk full)");
    }
}
