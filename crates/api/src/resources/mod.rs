//! Resources, one file each: routes, commands, bodies, views.

pub(crate) mod attachments;
pub(crate) mod blogs;
pub(crate) mod components;
pub(crate) mod drafts;
pub(crate) mod event_stream;
pub(crate) mod events;
pub(crate) mod extended_data;
pub(crate) mod forms;
pub(crate) mod job_stream;
pub(crate) mod jobs;
pub(crate) mod magic_links;
pub(crate) mod meetings;
pub(crate) mod oauth;
pub(crate) mod organizations;
pub(crate) mod proposals;
pub(crate) mod roles;
pub(crate) mod spaces;
pub(crate) mod users;
pub(crate) mod votes;
pub(crate) mod webhook_events;
pub(crate) mod webhook_registrations;

use crate::route::{Routes, UseCaseLimits};

/// The routes and commands of all resources.
pub(crate) fn all_routes(limits: UseCaseLimits) -> Routes {
    let mut all = Routes::new(limits);
    for add in [
        oauth::routes,
        organizations::routes,
        users::routes,
        roles::routes,
        magic_links::routes,
        spaces::routes,
        components::routes,
        proposals::routes,
        drafts::routes,
        votes::routes,
        meetings::routes,
        blogs::routes,
        attachments::routes,
        forms::routes,
        extended_data::routes,
        jobs::routes,
        webhook_registrations::routes,
        webhook_events::routes,
        event_stream::routes,
        job_stream::routes,
    ] {
        add(&mut all);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_mounted_command_has_a_handler_and_each_handler_is_mounted() {
        let all = all_routes(UseCaseLimits::default());
        let mounted: BTreeSet<_> = all.list.iter().filter_map(|route| route.command).collect();
        assert_eq!(mounted, all.registry.names().collect());
        assert!(mounted.len() > 15, "{mounted:?}");
    }

    #[test]
    fn no_two_routes_have_the_same_method_and_path() {
        let all = all_routes(UseCaseLimits::default()).list;
        let distinct: BTreeSet<_> = all.iter().map(|route| (route.method.as_str(), &route.path)).collect();
        assert_eq!(distinct.len(), all.len());
    }
}
