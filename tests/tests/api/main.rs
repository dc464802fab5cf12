//! The interface over HTTP, on both engines. One file a resource; every JSON answer is validated against the
//! OpenAPI document by the harness.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod attachments;
mod blogs;
mod cached;
mod components;
mod concurrency;
mod confirmations;
mod drafts;
mod edges;
mod events_stream;
mod extended_data;
mod forms;
mod hosts;
mod jobs;
mod limits;
mod locales;
mod login_locks;
mod magic_links;
mod meetings;
mod organizations;
mod proposals;
mod rate_limits;
mod rights;
mod roles;
mod spaces;
mod tenancy;
mod three_tenants;
mod tokens;
mod users;
mod validators;
mod votes;
mod webhook_registrations;
