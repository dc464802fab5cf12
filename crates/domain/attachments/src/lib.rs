//! Files attached to records: uploads, classification, metadata (contract 07 part B).

mod content;

pub use content::{
    ByteStream, Content, ContentFault, FileIntake, FileStore, Inspected, MAX_IMAGE_SIDE, Received, Reception,
    THUMBNAIL_HEIGHT,
};
#[cfg(any(test, feature = "mocks"))]
pub use content::{MockFileIntake, MockFileStore};
