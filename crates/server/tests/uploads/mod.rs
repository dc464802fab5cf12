//! Uploads to the real binary: it is killed in the middle of them, and its memory is measured.

#![expect(clippy::unwrap_used, reason = "a test ends at what it did not expect")]

mod crash;
mod memory;
mod platform;
