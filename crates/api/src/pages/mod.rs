//! Pages for people, kept in the binary.

/// The documentation page: reads the document and can call the interface.
pub(crate) fn docs() -> String {
    include_str!("docs.html").to_owned()
}
