//! All ports on both engines: the conformance tests of the domain crates, and what only a database can show.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod domains;
mod foundation;

mod components {
    mod list_changes;
    mod order;
    mod resources;
    mod together;
}

mod storage {
    mod audit;
    mod concurrency;
    mod counts;
    mod id_spaces;
    mod idempotency;
    mod leases;
    mod memory;
    mod migrations;
    mod operations;
    mod plans;
    mod poolers;
    mod removals;
    mod schema;
    mod shares;
    mod submissions;
    mod texts;
    mod transactions;
    mod unindexed_texts;
    mod webhooks;
}
