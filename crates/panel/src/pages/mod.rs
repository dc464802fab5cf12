//! The pages, by their routes.

mod account;
mod admins;
mod attachment;
mod attachment_form;
mod attachments;
mod audit;
mod client;
mod client_permissions;
mod client_webhooks;
mod clients;
mod component_form;
mod component_order;
mod component_settings;
mod component_states;
mod components;
pub(crate) mod confirmation;
pub(crate) mod content;
mod deliveries;
mod extended_data;
mod find;
mod jobs;
mod log;
mod mails;
mod meetings;
mod new_client;
mod opened_question;
pub(crate) mod organization;
mod organization_api;
mod organization_form;
mod organization_sections;
mod organizations;
mod people;
mod person;
mod person_form;
mod posts;
mod proposal;
mod proposal_form;
mod proposal_votes;
mod proposals;
mod registered;
mod registrations;
mod roles;
pub(crate) mod setup;
mod shares;
pub(crate) mod sign_in;
mod space;
mod space_form;
mod spaces;
mod start;
mod step_activation;
mod steps;
mod storage;
mod survey;
mod survey_answers;
mod survey_conditions;
mod survey_export;
mod survey_form;
mod survey_home;
mod survey_parts;
mod survey_preview;
mod survey_question;
mod survey_question_form;
mod survey_responses;
mod surveys;

use crate::records::{acts, form, list};
use crate::reply::Reply;
use crate::visit::Visit;
use actix_web::http::Method;
use civitas_blogs::Post;
use civitas_kernel::Result;
use civitas_meetings::Meeting;
use futures_util::future::LocalBoxFuture;

/// Answers a request of an administrator.
pub(crate) type Handler = for<'a> fn(&'a mut Visit) -> LocalBoxFuture<'a, Result<Reply>>;

/// A page or an act.
pub(crate) struct Route {
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    pub(crate) handler: Handler,
}

macro_rules! routes {
    ($($method:ident $path:literal => $handler:path),+ $(,)?) => {
        vec![$(Route {
            method: Method::$method,
            path: $path,
            handler: |visit| Box::pin($handler(visit)),
        }),+]
    };
}

/// All routes for administrators. PUT and DELETE arrive as POST with `_method`.
pub(crate) fn routes() -> Vec<Route> {
    let all = [
        deployment(),
        routes_of_spaces(),
        people_and_proposals(),
        surveys_and_responses(),
        attachments_and_data(),
        meetings_and_posts(),
    ];
    all.into_iter().flatten().collect()
}

/// The questionnaires of an organization, with questions and responses.
fn surveys_and_responses() -> Vec<Route> {
    routes![
        GET "/system/organizations/{id}/surveys" => surveys::list,
        GET "/system/organizations/{id}/surveys/new" => surveys::new,
        POST "/system/organizations/{id}/surveys" => surveys::create,
        GET "/system/organizations/{id}/surveys/{vid}" => survey::show,
        PUT "/system/organizations/{id}/surveys/{vid}" => survey_form::update,
        GET "/system/organizations/{id}/surveys/{vid}/edit" => survey_form::edit,
        GET "/system/organizations/{id}/surveys/{vid}/preview" => survey_preview::show,
        POST "/system/organizations/{id}/surveys/{vid}/questions" => survey_question::create,
        PUT "/system/organizations/{id}/surveys/{vid}/questions/{qid}" => survey_question::update,
        POST "/system/organizations/{id}/surveys/{vid}/questions/{qid}/move" => survey::shift,
        GET "/system/organizations/{id}/surveys/{vid}/questions/{qid}/delete" => survey::ask_delete,
        DELETE "/system/organizations/{id}/surveys/{vid}/questions/{qid}" => survey::delete,
        GET "/system/organizations/{id}/surveys/{vid}/responses" => survey_responses::list,
        GET "/system/organizations/{id}/surveys/{vid}/responses/{rid}" => survey_responses::show,
        GET "/system/organizations/{id}/surveys/{vid}/responses/{rid}/delete" => survey_responses::ask,
        DELETE "/system/organizations/{id}/surveys/{vid}/responses/{rid}" => survey_responses::delete,
        POST "/system/organizations/{id}/surveys/{vid}/responses/export/{format}" => survey_export::export,
    ]
}

/// The people and proposals of an organization.
fn people_and_proposals() -> Vec<Route> {
    routes![
        GET "/system/organizations/{id}/users" => people::list,
        GET "/system/organizations/{id}/users/new" => person_form::new,
        POST "/system/organizations/{id}/users" => person_form::create,
        GET "/system/organizations/{id}/users/{uid}" => person::show,
        GET "/system/organizations/{id}/users/{uid}/edit" => person_form::edit,
        PUT "/system/organizations/{id}/users/{uid}" => person_form::update,
        POST "/system/organizations/{id}/users/{uid}/block" => person::act,
        POST "/system/organizations/{id}/users/{uid}/unblock" => person::act,
        POST "/system/organizations/{id}/users/{uid}/lock" => person::act,
        POST "/system/organizations/{id}/users/{uid}/unlock" => person::act,
        POST "/system/organizations/{id}/users/{uid}/confirm" => person::confirm,
        GET "/system/organizations/{id}/users/{uid}/delete" => person::ask,
        DELETE "/system/organizations/{id}/users/{uid}" => person::delete,
        GET "/system/organizations/{id}/users/{uid}/roles/new" => roles::new,
        POST "/system/organizations/{id}/users/{uid}/roles" => roles::give,
        GET "/system/organizations/{id}/users/{uid}/roles/{role}/delete" => roles::ask,
        DELETE "/system/organizations/{id}/users/{uid}/roles/{role}" => roles::take,
        GET "/system/organizations/{id}/proposals" => proposals::list,
        GET "/system/organizations/{id}/proposals/{pid}" => proposal::show,
        GET "/system/organizations/{id}/proposals/{pid}/edit" => proposal_form::edit,
        PUT "/system/organizations/{id}/proposals/{pid}" => proposal_form::update,
        PUT "/system/organizations/{id}/proposals/{pid}/answer" => proposal::answer,
        POST "/system/organizations/{id}/proposals/{pid}/hide" => proposal::act,
        POST "/system/organizations/{id}/proposals/{pid}/show" => proposal::act,
        POST "/system/organizations/{id}/proposals/{pid}/publish" => proposal::act,
        GET "/system/organizations/{id}/proposals/{pid}/withdraw" => proposal::ask_withdraw,
        POST "/system/organizations/{id}/proposals/{pid}/withdraw" => proposal::act,
    ]
}

/// The start page, administrators, organizations, clients and operations.
fn deployment() -> Vec<Route> {
    routes![
        GET "/system" => start::show,
        GET "/system/account" => account::show,
        POST "/system/account/preferences" => account::save_preferences,
        GET "/system/account/confirmation" => confirmation::show,
        POST "/system/account/confirmation" => confirmation::confirm,
        POST "/system/account/password" => account::save_password,
        POST "/system/account/second_factor" => account::begin_second_factor,
        POST "/system/account/second_factor/confirm" => account::confirm_second_factor,
        DELETE "/system/account/second_factor" => account::end_second_factor,
        DELETE "/system/admins/sign_out" => account::sign_out,
        GET "/system/admins" => admins::list,
        GET "/system/admins/new" => admins::new,
        POST "/system/admins" => admins::create,
        GET "/system/admins/{id}/edit" => admins::edit,
        PUT "/system/admins/{id}" => admins::update,
        POST "/system/admins/{id}/unlock" => admins::unlock,
        GET "/system/admins/{id}/delete" => admins::ask,
        DELETE "/system/admins/{id}" => admins::delete,
        GET "/system/organizations" => organizations::list,
        GET "/system/organizations/new" => organizations::new,
        POST "/system/organizations" => organizations::create,
        GET "/system/organizations/{id}" => organizations::overview,
        GET "/system/organizations/{id}/edit" => organizations::edit,
        PUT "/system/organizations/{id}" => organizations::update,
        GET "/system/organizations/{id}/delete" => organizations::ask,
        DELETE "/system/organizations/{id}" => organizations::delete,
        GET "/system/api_clients" => clients::list,
        GET "/system/api_clients/new" => new_client::new,
        POST "/system/api_clients" => new_client::create,
        GET "/system/api_clients/{id}" => clients::show,
        GET "/system/api_clients/{id}/edit" => clients::edit,
        GET "/system/api_clients/{id}/rotate_secret" => clients::ask_rotate,
        POST "/system/api_clients/{id}/rotate_secret" => clients::rotate,
        GET "/system/api_clients/{id}/revoke" => clients::ask_revoke,
        DELETE "/system/api_clients/{id}" => clients::revoke,
        POST "/system/api_permissions" => client_permissions::replace,
        POST "/system/webhook_registrations" => client_webhooks::create,
        GET "/system/webhook_registrations/{id}/delete" => client_webhooks::ask,
        DELETE "/system/webhook_registrations/{id}" => client_webhooks::delete,
        GET "/system/find" => find::show,
        GET "/system/webhook_registrations" => registrations::list,
        POST "/system/webhook_registrations/{id}/test" => registrations::test,
        POST "/system/webhook_registrations/{id}/enable" => registrations::enable,
        POST "/system/webhook_registrations/{id}/pause" => registrations::pause,
        GET "/system/webhook_deliveries" => deliveries::list,
        GET "/system/webhook_deliveries/replay" => deliveries::ask_replays,
        POST "/system/webhook_deliveries/replay" => deliveries::replay_chosen,
        GET "/system/webhook_deliveries/{uuid}" => deliveries::show,
        POST "/system/webhook_deliveries/{uuid}/replay" => deliveries::replay,
        GET "/system/jobs" => jobs::list,
        GET "/system/jobs/{uuid}" => jobs::show,
        GET "/system/jobs/{uuid}/delete" => jobs::ask,
        DELETE "/system/jobs/{uuid}" => jobs::delete,
        GET "/system/mails" => mails::list,
        POST "/system/mails/retry" => mails::retry,
        GET "/system/audit_log" => audit::list,
        GET "/system/storage" => storage::show,
        GET "/system/shares" => shares::show,
    ]
}

/// Meetings and posts of an organization.
fn meetings_and_posts() -> Vec<Route> {
    routes![
        GET "/system/organizations/{id}/meetings" => list::show::<Meeting>,
        GET "/system/organizations/{id}/meetings/new" => form::new::<Meeting>,
        POST "/system/organizations/{id}/meetings" => form::create::<Meeting>,
        GET "/system/organizations/{id}/meetings/{mid}/edit" => form::edit::<Meeting>,
        PUT "/system/organizations/{id}/meetings/{mid}" => form::update::<Meeting>,
        POST "/system/organizations/{id}/meetings/{mid}/publish" => form::act::<Meeting>,
        POST "/system/organizations/{id}/meetings/{mid}/unpublish" => form::act::<Meeting>,
        POST "/system/organizations/{id}/meetings/{mid}/hide" => form::act::<Meeting>,
        POST "/system/organizations/{id}/meetings/{mid}/show" => form::act::<Meeting>,
        GET "/system/organizations/{id}/meetings/{mid}/withdraw" => acts::ask::<Meeting>,
        POST "/system/organizations/{id}/meetings/{mid}/withdraw" => form::act::<Meeting>,
        GET "/system/organizations/{id}/meetings/{mid}/delete" => acts::ask::<Meeting>,
        DELETE "/system/organizations/{id}/meetings/{mid}" => acts::delete::<Meeting>,
        GET "/system/organizations/{id}/meetings/{mid}/registrations" => registered::list,
        POST "/system/organizations/{id}/meetings/{mid}/registrations" => registered::add,
        DELETE "/system/organizations/{id}/meetings/{mid}/registrations/{uid}" => registered::remove,
        GET "/system/organizations/{id}/posts" => list::show::<Post>,
        GET "/system/organizations/{id}/posts/new" => form::new::<Post>,
        POST "/system/organizations/{id}/posts" => form::create::<Post>,
        GET "/system/organizations/{id}/posts/{bid}/edit" => form::edit::<Post>,
        PUT "/system/organizations/{id}/posts/{bid}" => form::update::<Post>,
        POST "/system/organizations/{id}/posts/{bid}/publish" => form::act::<Post>,
        POST "/system/organizations/{id}/posts/{bid}/unpublish" => form::act::<Post>,
        GET "/system/organizations/{id}/posts/{bid}/delete" => acts::ask::<Post>,
        DELETE "/system/organizations/{id}/posts/{bid}" => acts::delete::<Post>,
    ]
}

/// Spaces of an organization, with their steps and components.
fn routes_of_spaces() -> Vec<Route> {
    routes![
        GET "/system/organizations/{id}/spaces" => spaces::list,
        GET "/system/organizations/{id}/spaces/new" => spaces::new,
        POST "/system/organizations/{id}/spaces" => spaces::create,
        GET "/system/organizations/{id}/spaces/{manifest}/{sid}" => space::show,
        GET "/system/organizations/{id}/spaces/{manifest}/{sid}/edit" => space::edit,
        PUT "/system/organizations/{id}/spaces/{manifest}/{sid}" => space::update,
        POST "/system/organizations/{id}/spaces/{manifest}/{sid}/publish" => space::set_published,
        POST "/system/organizations/{id}/spaces/{manifest}/{sid}/unpublish" => space::set_published,
        GET "/system/organizations/{id}/spaces/{manifest}/{sid}/steps/new" => steps::new,
        POST "/system/organizations/{id}/spaces/{manifest}/{sid}/steps" => steps::create,
        GET "/system/organizations/{id}/spaces/{manifest}/{sid}/steps/{step}/edit" => steps::edit,
        PUT "/system/organizations/{id}/spaces/{manifest}/{sid}/steps/{step}" => steps::update,
        GET "/system/organizations/{id}/spaces/{manifest}/{sid}/steps/{step}/activate" => step_activation::ask,
        POST "/system/organizations/{id}/spaces/{manifest}/{sid}/steps/{step}/activate" => step_activation::activate,
        GET "/system/organizations/{id}/spaces/{manifest}/{sid}/steps/{step}/delete" => steps::ask_delete,
        DELETE "/system/organizations/{id}/spaces/{manifest}/{sid}/steps/{step}" => steps::delete,
        GET "/system/organizations/{id}/components/new" => component_form::new,
        POST "/system/organizations/{id}/components" => component_form::create,
        GET "/system/organizations/{id}/components/{cid}/edit" => component_form::edit,
        PUT "/system/organizations/{id}/components/{cid}" => component_form::update,
        POST "/system/organizations/{id}/components/{cid}/publish" => components::publish,
        POST "/system/organizations/{id}/components/{cid}/unpublish" => components::publish,
        GET "/system/organizations/{id}/components/{cid}/delete" => components::ask,
        DELETE "/system/organizations/{id}/components/{cid}" => components::delete,
    ]
}

/// Attachments and extended data, roles of a space, the order of components, votes.
fn attachments_and_data() -> Vec<Route> {
    routes![
        GET "/system/organizations/{id}/attachments" => attachments::list,
        GET "/system/organizations/{id}/attachments/new" => attachment_form::new,
        POST "/system/organizations/{id}/attachments" => attachment_form::create,
        GET "/system/organizations/{id}/attachments/{aid}/edit" => attachment::edit,
        PUT "/system/organizations/{id}/attachments/{aid}" => attachment::update,
        GET "/system/organizations/{id}/attachments/{aid}/delete" => attachment::ask,
        DELETE "/system/organizations/{id}/attachments/{aid}" => attachment::delete,
        GET "/system/organizations/{id}/spaces/{manifest}/{sid}/attachments" => attachments::of_space,
        GET "/system/organizations/{id}/proposals/{pid}/attachments" => attachments::of_proposal,
        GET "/system/organizations/{id}/extended_data" => extended_data::show,
        PUT "/system/organizations/{id}/extended_data" => extended_data::save,
        GET "/system/organizations/{id}/users/{uid}/extended_data" => extended_data::show,
        PUT "/system/organizations/{id}/users/{uid}/extended_data" => extended_data::save,
        GET "/system/organizations/{id}/spaces/{manifest}/{sid}/extended_data" => extended_data::show,
        PUT "/system/organizations/{id}/spaces/{manifest}/{sid}/extended_data" => extended_data::save,
        GET "/system/organizations/{id}/components/{cid}/extended_data" => extended_data::show,
        PUT "/system/organizations/{id}/components/{cid}/extended_data" => extended_data::save,
        GET "/system/organizations/{id}/proposals/{pid}/extended_data" => extended_data::show,
        PUT "/system/organizations/{id}/proposals/{pid}/extended_data" => extended_data::save,
        GET "/system/organizations/{id}/spaces/{manifest}/{sid}/roles" => roles::list,
        GET "/system/organizations/{id}/spaces/{manifest}/{sid}/roles/new" => roles::new,
        POST "/system/organizations/{id}/spaces/{manifest}/{sid}/roles" => roles::give,
        GET "/system/organizations/{id}/spaces/{manifest}/{sid}/roles/{role}/delete" => roles::ask,
        DELETE "/system/organizations/{id}/spaces/{manifest}/{sid}/roles/{role}" => roles::take,
        GET "/system/organizations/{id}/components/{cid}/move" => component_order::show,
        POST "/system/organizations/{id}/components/{cid}/move" => component_order::shift,
        GET "/system/organizations/{id}/components/{cid}/states" => component_states::list,
        GET "/system/organizations/{id}/components/{cid}/states/new" => component_states::new,
        POST "/system/organizations/{id}/components/{cid}/states" => component_states::create,
        GET "/system/organizations/{id}/components/{cid}/states/{state}/edit" => component_states::edit,
        PUT "/system/organizations/{id}/components/{cid}/states/{state}" => component_states::update,
        GET "/system/organizations/{id}/proposals/{pid}/votes" => proposal_votes::list,
    ]
}
