//! The administration panel over HTTP, without scripts (contract 04 §1 to §3), on both engines.

#![expect(clippy::unwrap_used, reason = "a test ends at what it did not expect")]

mod administrators;
mod attachments;
mod audit;
mod clients;
mod erasure;
mod inputs;
mod key_changes;
mod login_locks;
mod lost_updates;
mod meetings;
mod operations;
mod organizations;
mod permissions;
mod posts;
mod rate_limits;
mod routes;
mod second_factor;
mod sign_in;
mod sign_in_sources;
mod space_pages;
mod survey_questions;
mod surveys;
mod times;
mod tokens;
mod two_administrators;
mod webhooks;

use civitas_tests::Service;
use civitas_tests::panel::PanelClient;

/// A server on each engine, with an administrator who is signed in.
async fn panels() -> Vec<(Service, PanelClient)> {
    let mut panels = Vec::new();
    for service in Service::on_both_engines().await {
        let panel = service.administrator().await;
        panels.push((service, panel));
    }
    panels
}
