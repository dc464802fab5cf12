//! The texts of refused changes.

/// An active step is deleted.
pub const STEP_IS_ACTIVE: &str = "the active step cannot be deleted";
/// The position of a step is negative.
pub const STEP_POSITION: &str = "position must be 0 or more";
