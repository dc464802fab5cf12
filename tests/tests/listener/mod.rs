//! The listeners: limits of connections and bodies, refused heads, proxies in front, and the figures for operators.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod acme;
mod acme_server;
mod admission;
mod heads;
mod idle;
mod operations;
mod proxies;
mod tls;
mod upgrades;
