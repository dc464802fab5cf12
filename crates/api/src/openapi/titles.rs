//! The titles of schemas, unchanged for clients that were generated from earlier documents.

use serde_json::{Value, json};

/// Titles that do not follow from the name.
const TITLES: &[(&str, &str)] = &[
    ("accountability_component", "Accountability component"),
    ("blog_component", "Blogs component"),
    ("blog_post_create_payload", "Blog post create payload"),
    ("budget_component", "Budget component"),
    ("component_relationship_identifier", "Component relationship identifier"),
    ("creation_date", "Creation date"),
    ("debate_component", "Debates component"),
    ("edition_date", "Last Update Date"),
    ("error", "API error payload"),
    ("get_action_link", "GET Action URL"),
    ("health", "Health Status"),
    ("introspect_data", "Introspection Response"),
    ("locale", "Current locale"),
    ("meeting_component", "Meeting component"),
    ("oauth_grant_param", "oauth_grant_param"),
    ("oauth_token_response", "OAuth token response"),
    ("other_component", "Generic Component"),
    ("organization_extended_data", "Organization extended data"),
    ("password_grant_impersonate", "Impersonation"),
    ("password_grant_login", "Login"),
    ("post_action_link", "Action URL"),
    ("question_create_body", "question_create_body"),
    ("questionnaire_answers_create_body", "Questionnaire answers submission payload"),
    ("questionnaire_update_body", "Questionnaire metadata update payload"),
    ("resource_extended_data", "Resource extended data"),
    ("resource_link", "Resource URL"),
    ("resource_manifest", "Resource Type"),
    ("resource_relationship_identifier", "Resource relationship identifier"),
    ("rest_full_api_job_accepted", "HTTP 202 async job envelope"),
    ("rest_full_api_job_detail", "API job"),
    ("rest_full_api_job_links", "API job hypermedia controls"),
    ("rest_full_api_job_summary", "API job summary"),
    ("rest_full_api_jobs_index_response", "API jobs index payload"),
    ("survey_component", "Survey component"),
    ("translated_prop", "Translated data"),
    ("vote_proposal", "Vote proposal"),
    ("vote_proposal_create_body", "vote_proposal_create_body"),
    ("WebhookDeliveryEnvelope", "Webhook delivery envelope"),
    ("wh_draft_proposal_creation", "Webhook draft_proposal_creation.succeeded"),
    ("wh_draft_proposal_update", "Webhook draft_proposal_update.succeeded"),
    ("wh_meeting_upcoming", "Webhook meetings.upcoming_reminder.succeeded"),
    ("wh_pp_step", "Webhook participatory_process.step_activated.succeeded"),
    ("wh_proposal_creation", "Webhook proposal_creation.succeeded"),
    ("wh_proposal_state_change", "Webhook proposal_state_change.succeeded"),
    ("wh_proposal_update", "Webhook proposal_update.succeeded"),
    ("wh_system_organizations_created", "Webhook system.organizations.created"),
    ("wh_system_organizations_deleted", "Webhook system.organizations.deleted"),
    ("wh_system_organizations_updated", "Webhook system.organizations.updated"),
    ("wh_user_created", "Webhook user.created"),
    ("wh_user_updated", "Webhook user.updated"),
];

/// Sets the title of a schema: the listed one, else its name in words.
pub(super) fn entitle(name: &str, schema: &mut Value) {
    let known = TITLES.iter().find(|(known, _)| *known == name).map(|(_, title)| (*title).to_owned());
    if let Some(members) = schema.as_object_mut() {
        members.entry("title").or_insert_with(|| json!(known.unwrap_or_else(|| in_words(name))));
    }
}

/// `draft_proposal_item_response` is "Draft Proposal Item Response".
fn in_words(name: &str) -> String {
    let capital = |word: &str| {
        let mut letters = word.chars();
        letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
    };
    name.split('_').map(capital).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_known_or_made_of_the_name_and_never_written_over() {
        let title = |name: &str, mut schema: Value| {
            entitle(name, &mut schema);
            schema["title"].clone()
        };
        assert_eq!(title("edition_date", json!({})), "Last Update Date");
        assert_eq!(title("draft_proposal_item_response", json!({})), "Draft Proposal Item Response");
        assert_eq!(title("space", json!({"title": "Place"})), "Place");
    }
}
