//! The listeners: limits of connections and bodies, refused heads, and the figures for operators.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod admission;
mod heads;
mod idle;
mod operations;
mod tls;
mod upgrades;
