//! Progress of an import.

/// What an import does with the lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportPass {
    /// Checks them and hashes passwords, without a transaction.
    Check,
    /// Writes their records, in one transaction.
    Write,
}

/// Progress of an import, which reads its archive twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImportProgress {
    /// The pass.
    pub pass: ImportPass,
    /// Lines read in this pass, blank ones included.
    pub lines: u64,
    /// Bytes read in this pass.
    pub bytes: u64,
}
