//! The listeners: limits of connections and bodies, and the figures for operators.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod admission;
mod operations;
mod tls;
