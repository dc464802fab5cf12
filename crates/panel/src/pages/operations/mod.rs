//! The operation of the deployment.

mod audit;
mod deliveries;
mod find;
mod jobs;
mod mails;
mod registrations;
mod shares;
mod start;
mod storage;

use super::Route;

/// The start page, logs and the state of the deployment.
pub(super) fn routes() -> Vec<Route> {
    routes![
        "/system":
        "" => GET start::show;
        "/find" => GET find::show;
        "/webhook_registrations" => GET registrations::list;
        "/webhook_registrations/{id}/test" => POST registrations::test;
        "/webhook_registrations/{id}/enable" => POST registrations::enable;
        "/webhook_registrations/{id}/pause" => POST registrations::pause;
        "/webhook_deliveries" => GET deliveries::list;
        "/webhook_deliveries/replay" => GET deliveries::confirm_replays, POST deliveries::replay_chosen;
        "/webhook_deliveries/{uuid}" => GET deliveries::show;
        "/webhook_deliveries/{uuid}/replay" => POST deliveries::replay;
        "/jobs" => GET jobs::list;
        "/jobs/{uuid}" => GET jobs::show, DELETE jobs::delete;
        "/jobs/{uuid}/delete" => GET jobs::confirm_delete;
        "/mails" => GET mails::list;
        "/mails/retry" => POST mails::retry;
        "/audit_log" => GET audit::list;
        "/storage" => GET storage::show;
        "/shares" => GET shares::show;
    ]
}
