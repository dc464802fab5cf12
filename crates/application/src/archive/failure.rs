//! Why an import ended early.

use civitas_kernel::Error;
use std::fmt;

/// The first bad line of an archive. Nothing of the file was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineError {
    /// Counts from 1.
    pub line: u64,
    /// Type and ref of the record, where the line told them.
    pub record: Option<(String, String)>,
    /// What is wrong with it.
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

/// Why an import ended early. Nothing of the file was kept.
#[derive(Debug)]
pub enum ImportError {
    /// A line is wrong.
    Line(LineError),
    /// The database failed. The line it happened at; 0 where no line was read.
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

/// Why one record could not be kept.
#[derive(Debug)]
pub(super) enum Fault {
    /// The author of the file can mend it.
    Record(String),
    /// The author can not.
    Store(Error),
}

impl Fault {
    /// At this line, in this record if it is known.
    pub(super) fn at(self, line: u64, record: Option<(String, String)>) -> ImportError {
        match self {
            Self::Record(reason) => ImportError::Line(LineError { line, record, reason }),
            Self::Store(error) => ImportError::Store(line, error),
        }
    }
}

impl From<String> for Fault {
    fn from(reason: String) -> Self {
        Self::Record(reason)
    }
}

impl From<&str> for Fault {
    fn from(reason: &str) -> Self {
        Self::Record(reason.to_owned())
    }
}

/// What a rule or a store refuses is the file's fault; everything else is not.
impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        match error {
            Error::Rejected(_) | Error::Invalid { .. } => Self::Record(error.description().into_owned()),
            other => Self::Store(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_error_names_line_record_and_reason() {
        let record = ("proposal".to_owned(), "bike-lanes".to_owned());
        let known = Fault::from("component \"ideas\" is not known").at(12, Some(record));
        assert_eq!(known.to_string(), r#"line 12: proposal "bike-lanes": component "ideas" is not known"#);
        let unknown = Fault::from("is not an object").at(1, None);
        assert_eq!(unknown.to_string(), "line 1: is not an object");
    }

    #[test]
    fn what_a_rule_refuses_is_the_files_fault_and_a_broken_database_is_not() {
        assert!(matches!(Fault::from(Error::rejected("taken")), Fault::Record(reason) if reason == "taken"));
        let broken = Fault::from(Error::internal("disk full")).at(3, None);
        assert_eq!(broken.to_string(), "line 3: Internal Server Error (disk full)");
    }
}
