//! The content of organizations.

mod attachment;
mod attachment_form;
pub(crate) mod attachments;
mod component_form;
mod component_order;
mod component_settings;
mod component_states;
mod components;
mod extended_data;
mod meeting_registrations;
mod meetings;
pub(crate) mod opened_space;
pub(crate) mod organization;
mod organization_api;
mod organization_form;
mod organization_sections;
mod organizations;
mod posts;
mod proposal;
mod proposal_form;
mod proposal_votes;
pub(crate) mod proposals;
mod space;
mod space_form;
mod spaces;
mod step_activation;
mod steps;

use super::Route;
use crate::records::{actions, form, rows};
use civitas_blogs::Post;
use civitas_meetings::Meeting;

/// The routes of the area.
pub(super) fn routes() -> Vec<Route> {
    [organization_routes(), space_routes(), record_routes(), attachment_routes()]
        .into_iter()
        .flatten()
        .collect()
}

/// Organizations and their components.
fn organization_routes() -> Vec<Route> {
    routes![
        "/system/organizations":
        "" => GET organizations::list, POST organizations::create;
        "/new" => GET organizations::new;
        "/{id}" => GET organizations::overview, PUT organization_form::update, DELETE organizations::delete;
        "/{id}/edit" => GET organizations::edit;
        "/{id}/delete" => GET organizations::confirm_delete;
        "/{id}/components/new" => GET component_form::new;
        "/{id}/components" => POST component_form::create;
        "/{id}/components/{cid}/edit" => GET component_form::edit;
        "/{id}/components/{cid}" => PUT component_form::update, DELETE components::delete;
        "/{id}/components/{cid}/publish" => POST components::perform;
        "/{id}/components/{cid}/unpublish" => POST components::perform;
        "/{id}/components/{cid}/delete" => GET components::confirm_delete;
        "/{id}/components/{cid}/move" => GET component_order::show, POST component_order::reorder;
        "/{id}/components/{cid}/states" => GET component_states::list, POST component_states::create;
        "/{id}/components/{cid}/states/new" => GET component_states::new;
        "/{id}/components/{cid}/states/{state}/edit" => GET component_states::edit;
        "/{id}/components/{cid}/states/{state}" => PUT component_states::update;
    ]
}

/// The spaces of an organization and their steps.
fn space_routes() -> Vec<Route> {
    routes![
        "/system/organizations/{id}/spaces":
        "" => GET spaces::list, POST spaces::create;
        "/new" => GET spaces::new;
        "/{manifest}/{sid}" => GET space::show, PUT space::update;
        "/{manifest}/{sid}/edit" => GET space::edit;
        "/{manifest}/{sid}/publish" => POST space::perform;
        "/{manifest}/{sid}/unpublish" => POST space::perform;
        "/{manifest}/{sid}/steps/new" => GET steps::new;
        "/{manifest}/{sid}/steps" => POST steps::create;
        "/{manifest}/{sid}/steps/{step}/edit" => GET steps::edit;
        "/{manifest}/{sid}/steps/{step}" => PUT steps::update, DELETE steps::delete;
        "/{manifest}/{sid}/steps/{step}/activate" => GET step_activation::confirm, POST step_activation::activate;
        "/{manifest}/{sid}/steps/{step}/delete" => GET steps::confirm_delete;
    ]
}

/// The records of components: meetings, posts, proposals.
fn record_routes() -> Vec<Route> {
    routes![
        "/system/organizations/{id}":
        "/proposals" => GET proposals::list;
        "/proposals/{pid}" => GET proposal::show, PUT proposal_form::update;
        "/proposals/{pid}/edit" => GET proposal_form::edit;
        "/proposals/{pid}/answer" => PUT proposal::answer;
        "/proposals/{pid}/hide" => POST proposal::perform;
        "/proposals/{pid}/show" => POST proposal::perform;
        "/proposals/{pid}/publish" => POST proposal::perform;
        "/proposals/{pid}/withdraw" => GET proposal::confirm, POST proposal::perform;
        "/meetings" => GET rows::list::<Meeting>, POST form::create::<Meeting>;
        "/meetings/new" => GET form::new::<Meeting>;
        "/meetings/{mid}/edit" => GET form::edit::<Meeting>;
        "/meetings/{mid}" => PUT form::update::<Meeting>, DELETE actions::delete::<Meeting>;
        "/meetings/{mid}/publish" => POST form::perform::<Meeting>;
        "/meetings/{mid}/unpublish" => POST form::perform::<Meeting>;
        "/meetings/{mid}/hide" => POST form::perform::<Meeting>;
        "/meetings/{mid}/show" => POST form::perform::<Meeting>;
        "/meetings/{mid}/withdraw" => GET actions::confirm::<Meeting>, POST form::perform::<Meeting>;
        "/meetings/{mid}/delete" => GET actions::confirm::<Meeting>;
        "/meetings/{mid}/registrations" => GET meeting_registrations::list, POST meeting_registrations::add;
        "/meetings/{mid}/registrations/{uid}" => DELETE meeting_registrations::remove;
        "/posts" => GET rows::list::<Post>, POST form::create::<Post>;
        "/posts/new" => GET form::new::<Post>;
        "/posts/{bid}/edit" => GET form::edit::<Post>;
        "/posts/{bid}" => PUT form::update::<Post>, DELETE actions::delete::<Post>;
        "/posts/{bid}/publish" => POST form::perform::<Post>;
        "/posts/{bid}/unpublish" => POST form::perform::<Post>;
        "/posts/{bid}/hide" => POST form::perform::<Post>;
        "/posts/{bid}/show" => POST form::perform::<Post>;
        "/posts/{bid}/delete" => GET actions::confirm::<Post>;
        "/proposals/{pid}/votes" => GET proposal_votes::list;
    ]
}

/// Attachments and extended data.
fn attachment_routes() -> Vec<Route> {
    routes![
        "/system/organizations/{id}":
        "/attachments" => GET attachments::list, POST attachment_form::create;
        "/attachments/new" => GET attachment_form::new;
        "/attachments/{aid}/edit" => GET attachment::edit;
        "/attachments/{aid}" => PUT attachment::update, DELETE attachment::delete;
        "/attachments/{aid}/delete" => GET attachment::confirm_delete;
        "/spaces/{manifest}/{sid}/attachments" => GET attachments::list_of_space;
        "/proposals/{pid}/attachments" => GET attachments::list_of_proposal;
        "/extended_data" => GET extended_data::show, PUT extended_data::update;
        "/users/{uid}/extended_data" => GET extended_data::show, PUT extended_data::update;
        "/spaces/{manifest}/{sid}/extended_data" => GET extended_data::show, PUT extended_data::update;
        "/components/{cid}/extended_data" => GET extended_data::show, PUT extended_data::update;
        "/proposals/{pid}/extended_data" => GET extended_data::show, PUT extended_data::update;
    ]
}
