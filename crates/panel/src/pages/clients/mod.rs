//! API clients.

pub(crate) mod api_client;
mod api_client_form;
mod api_clients;
mod permissions;
pub(crate) mod webhooks;

use super::Route;

/// API clients, with their permissions and webhooks.
pub(super) fn routes() -> Vec<Route> {
    routes![
        "/system":
        "/api_clients" => GET api_clients::list, POST api_client_form::create;
        "/api_clients/new" => GET api_client_form::new;
        "/api_clients/{id}" => GET api_clients::show, DELETE api_clients::revoke;
        "/api_clients/{id}/edit" => GET api_clients::edit;
        "/api_clients/{id}/rotate_secret" => GET api_clients::confirm_rotate, POST api_clients::rotate;
        "/api_clients/{id}/revoke" => GET api_clients::confirm_revoke;
        "/api_permissions" => POST permissions::replace;
        "/webhook_registrations" => POST webhooks::create;
        "/webhook_registrations/{id}/delete" => GET webhooks::confirm_delete;
        "/webhook_registrations/{id}" => DELETE webhooks::delete;
    ]
}
