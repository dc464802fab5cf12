//! The groups of operations, by their path. Generated clients have a class for each (contract 12).

use utoipa::openapi::path::Operation;
use utoipa::openapi::{Paths, Tag};

/// The group of the service routes.
pub(super) const SERVICE: &str = "Service";

/// The group of the deliveries of events. It differs from that of the operations: generators make one class of a group.
pub(super) const EVENTS: &str = "Webhook Events";

/// The groups in the order of the document, with their descriptions.
const TAGS: [(&str, &str); 17] = [
    ("OAuth", "Every other call needs a bearer token from here."),
    ("Organizations", "The tenants: one host, one organization."),
    ("Organizations Extended Data", "What clients attach to an organization."),
    ("Users", "The people of an organization, and their sign-in links."),
    ("Roles", "Who administers what."),
    ("Spaces", "Processes, assemblies, conferences and initiatives: where participation happens."),
    (
        "Components",
        "What a space offers: proposals, meetings, blogs and others, with their settings in force.",
    ),
    ("Proposals", "What people propose, and votes on it."),
    ("Draft Proposals", "Proposals of their authors alone, until they are published."),
    ("Meetings", "Where and when people meet."),
    ("Blogs", "Posts of a space."),
    ("Attachments", "Files that belong to records."),
    ("Forms", "Questionnaires, their questions, and what people answer."),
    ("Jobs", "The record of an asynchronous write."),
    ("Webhooks", "Where events are sent."),
    (EVENTS, "What is sent to registered addresses."),
    (SERVICE, "The service itself."),
];

/// The group of a path.
pub(super) fn name(path: &str) -> &'static str {
    match path.split('/').nth(1).unwrap_or_default() {
        "oauth" => "OAuth",
        "organizations" if path.contains("/extended_data") => "Organizations Extended Data",
        "organizations" => "Organizations",
        "users" | "me" => "Users",
        "roles" => "Roles",
        "spaces" => "Spaces",
        "components" => "Components",
        "proposals" | "vote_proposals" => "Proposals",
        "draft_proposals" => "Draft Proposals",
        "meetings" => "Meetings",
        "blogs" => "Blogs",
        "attachments" => "Attachments",
        "questionnaires"
        | "questions"
        | "answer_options"
        | "answers"
        | "submission_requests"
        | "questionnaire_responses" => "Forms",
        "jobs" => "Jobs",
        "webhook_registrations" | "webhook_events" | "events" => "Webhooks",
        _ => SERVICE,
    }
}

/// The groups these paths have.
pub(super) fn of(paths: &[&Paths]) -> Vec<Tag> {
    let operations: Vec<_> = paths.iter().flat_map(|paths| operations_of(paths)).collect();
    let used = |tag: &str| operations.iter().any(|o| o.tags.iter().flatten().any(|t| t == tag));
    let tag = |(name, says)| {
        let mut tag = Tag::new(name);
        tag.description = Some(says);
        tag
    };
    TAGS.into_iter().filter(|(name, _)| used(name)).map(|(n, s)| (n, s.to_owned())).map(tag).collect()
}

/// The operations of a document, in order.
fn operations_of(paths: &Paths) -> impl Iterator<Item = &Operation> {
    paths.paths.values().flat_map(|item| [&item.get, &item.put, &item.post, &item.delete]).flatten()
}
