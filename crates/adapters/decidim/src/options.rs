//! Options of an extraction (sheet 13 §1).

use civitas_attachments::FileStore;
use civitas_kernel::Locales;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// Options of an extraction.
#[derive(Debug)]
pub struct ExtractOptions {
    /// The locales of the deployment.
    pub locales: Locales,
    /// Only the organizations with these hosts; empty: all.
    pub organizations: BTreeSet<String>,
    /// Locales of the source that become others: `ca` -> `es`.
    pub locale_map: BTreeMap<String, String>,
    /// Time zones of the source that become others.
    pub time_zone_map: BTreeMap<String, String>,
    /// The stores of the bytes of attachments, by `service_name` of the blobs.
    pub files: BTreeMap<String, SourceFiles>,
    /// Services whose files are left out.
    pub without_files: BTreeSet<String>,
    /// The directory that the bytes of attachments are copied to. The archive names them relative to the directory's parent.
    /// `None`: the archive has them as `data`.
    pub files_directory: Option<PathBuf>,
    /// The accepted losses.
    pub accepted: AcceptedLosses,
    /// Whether module jobs may be pending.
    pub allow_pending_jobs: bool,
    /// Accepts hosts of one label, as `ImportOptions::single_label_hosts` does.
    pub single_label_hosts: bool,
    /// Ends after the first pass.
    pub plan_only: bool,
}

/// Losses that do not stop the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AcceptedLosses {
    /// All of them.
    All,
    /// Those of these codes.
    Codes(BTreeSet<String>),
}

impl AcceptedLosses {
    pub(crate) fn has(&self, code: &str) -> bool {
        match self {
            Self::All => true,
            Self::Codes(codes) => codes.contains(code),
        }
    }
}

/// A store of files of the source.
#[derive(Clone)]
pub struct SourceFiles {
    /// The store. Nothing is written to it.
    pub store: Arc<dyn FileStore>,
    /// Whether the name of a file is `<key 1-2>/<key 3-4>/<key>` (a disk service), not `<key>`.
    pub nested: bool,
}

impl fmt::Debug for SourceFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SourceFiles").field("nested", &self.nested).finish_non_exhaustive()
    }
}
