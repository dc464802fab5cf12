//! An object in a list.

/// An object in a list.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct StoredObject {
    /// Its name.
    pub name: String,
    /// Its length in bytes.
    pub byte_size: u64,
}
