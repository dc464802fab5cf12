//! Hostile input: no panic, no 5xx, no answer without the shape of an error, no work that grows faster than its input,
//! no memory beyond a multiple of it.
//!
//! Each target runs for `CIVITAS_FUZZ_SECONDS`. A failure prints its smallest case and the seed; `CIVITAS_FUZZ_SEED`
//! with that number runs it first.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod archive;
mod bodies;
mod budget;
mod files;
mod filters;
mod generate;
mod growth;
mod operations;
mod pure;
mod targets;
mod wire;
