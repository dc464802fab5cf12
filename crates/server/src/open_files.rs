//! How many files the process may have open at once; connections are files.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the soft limit to the hard one. The soft limit is low for programs that use `select`; this one does not.
pub fn raise_limit() {
    let limit = getrlimit(Resource::Nofile);
    // A system that refuses it leaves the limit as it is, and `civitas doctor` tells it.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

/// The soft and the hard limit; `u64::MAX`: none.
pub(crate) fn limits() -> (u64, u64) {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    (current.unwrap_or(u64::MAX), maximum.unwrap_or(u64::MAX))
}
