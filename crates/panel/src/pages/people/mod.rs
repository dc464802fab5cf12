//! Accounts: people of organizations, administrators.

mod account;
mod admins;
pub(crate) mod password_confirmation;
mod person;
mod person_form;
pub(crate) mod persons;
mod roles;
pub(crate) mod setup;
pub(crate) mod sign_in;

use super::Route;

/// The routes of the area.
pub(super) fn routes() -> Vec<Route> {
    [user_routes(), admin_routes()].into_iter().flatten().collect()
}

/// The accounts of an organization and their roles.
fn user_routes() -> Vec<Route> {
    routes![
        "/system/organizations/{id}":
        "/users" => GET persons::list, POST person_form::create;
        "/users/new" => GET person_form::new;
        "/users/{uid}" => GET person::show, PUT person_form::update, DELETE person::delete;
        "/users/{uid}/edit" => GET person_form::edit;
        "/users/{uid}/block" => POST person::perform;
        "/users/{uid}/unblock" => POST person::perform;
        "/users/{uid}/lock" => POST person::perform;
        "/users/{uid}/unlock" => POST person::perform;
        "/users/{uid}/confirm" => POST person::confirm;
        "/users/{uid}/delete" => GET person::confirm_delete;
        "/users/{uid}/roles/new" => GET roles::new;
        "/users/{uid}/roles" => POST roles::assign;
        "/users/{uid}/roles/{role}/delete" => GET roles::confirm_delete;
        "/users/{uid}/roles/{role}" => DELETE roles::revoke;
        "/spaces/{manifest}/{sid}/roles" => GET roles::list, POST roles::assign;
        "/spaces/{manifest}/{sid}/roles/new" => GET roles::new;
        "/spaces/{manifest}/{sid}/roles/{role}/delete" => GET roles::confirm_delete;
        "/spaces/{manifest}/{sid}/roles/{role}" => DELETE roles::revoke;
    ]
}

/// Administrators and their own account.
fn admin_routes() -> Vec<Route> {
    routes![
        "/system":
        "/account" => GET account::show;
        "/account/preferences" => POST account::update_preferences;
        "/account/confirmation" => GET password_confirmation::show, POST password_confirmation::confirm;
        "/account/password" => POST account::update_password;
        "/account/second_factor" => POST account::begin_second_factor, DELETE account::end_second_factor;
        "/account/second_factor/confirm" => POST account::confirm_second_factor;
        "/admins/sign_out" => DELETE account::sign_out;
        "/admins" => GET admins::list, POST admins::create;
        "/admins/new" => GET admins::new;
        "/admins/{id}/edit" => GET admins::edit;
        "/admins/{id}" => PUT admins::update, DELETE admins::delete;
        "/admins/{id}/unlock" => POST admins::unlock;
        "/admins/{id}/delete" => GET admins::confirm_delete;
    ]
}
