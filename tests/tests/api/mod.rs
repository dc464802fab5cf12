//! The interface over HTTP, on both engines. One file a resource; every JSON answer is validated against the
//! OpenAPI document by the harness.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod addresses;
mod attachments;
mod blogs;
mod class_names;
mod client_credentials;
mod components;
mod compression;
mod concurrency;
mod confirmations;
mod copy;
mod cors;
mod drafts;
mod edges;
mod events_pull;
mod events_stream;
mod extended_data;
mod filters;
mod form_bodies;
mod forms;
mod hosts;
mod idempotency;
mod integers;
mod jobs;
mod limits;
mod lists;
mod locales;
mod login_locks;
mod long_answers;
mod lookups;
mod magic_links;
mod meetings;
mod metadata;
mod organizations;
mod paths;
mod proposals;
mod rate_limits;
mod read_only;
mod rights;
mod roles;
mod rust_client;
mod searches;
mod spaces;
mod stored_shares;
mod tenancy;
mod three_tenants;
mod tokens;
mod trail;
mod users;
mod validators;
mod votes;
mod webhook_registrations;

/// An archive whose first organization has a switch off.
fn switched_off(archive: &str, switch: &str) -> String {
    let features = format!(r#""default_locale": "en", "features": {{"{switch}": false}}"#);
    archive.replacen(r#""default_locale": "en""#, &features, 1)
}
