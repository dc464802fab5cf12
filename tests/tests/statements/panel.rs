//! The pages of the administration panel.

use super::{alone, is_data, sweeps_have_ended, taken};
use civitas_tests::Service;
use civitas_tests::panel::sample_pages;

/// No page may send more.
const MAX: usize = 12;
/// How often a page is read while it sends more statements than is pinned. Workers search their tables at the same time; the
/// smallest number is that of the page.
const READINGS: usize = 20;

/// Each page with the most statements it sends on an engine, when an organization was opened before.
const PAGES: &[(&str, usize)] = &[
    ("account", 2),
    ("account-confirmation", 2),
    ("admins", 3),
    ("admins-id-delete", 3),
    ("admins-id-edit", 3),
    ("admins-new", 2),
    ("api-clients", 6),
    ("api-clients-id", 5),
    ("api-clients-id-edit", 4),
    ("api-clients-id-edit-tab-webhooks", 5),
    ("api-clients-id-revoke", 5),
    ("api-clients-id-rotate-secret", 5),
    ("api-clients-new", 4),
    ("audit-log", 5),
    ("find", 5),
    ("jobs", 7),
    ("jobs-uuid", 6),
    ("jobs-uuid-delete", 5),
    ("mails", 5),
    ("organizations", 5),
    ("organizations-id", 4),
    ("organizations-id-attachments", 9),
    ("organizations-id-attachments-aid-delete", 6),
    ("organizations-id-attachments-aid-edit", 7),
    ("organizations-id-attachments-new", 5),
    ("organizations-id-components-cid-delete", 6),
    ("organizations-id-components-cid-edit", 6),
    ("organizations-id-components-cid-extended-data", 7),
    ("organizations-id-components-cid-move", 6),
    ("organizations-id-components-cid-states", 6),
    ("organizations-id-components-cid-states-new", 5),
    ("organizations-id-components-cid-states-state-edit", 6),
    ("organizations-id-components-new", 5),
    ("organizations-id-delete", 4),
    ("organizations-id-edit", 3),
    ("organizations-id-edit-tab-api", 3),
    ("organizations-id-extended-data", 4),
    ("organizations-id-meetings", 8),
    ("organizations-id-meetings-mid-delete", 6),
    ("organizations-id-meetings-mid-edit", 6),
    ("organizations-id-meetings-mid-registrations", 8),
    ("organizations-id-meetings-mid-withdraw", 6),
    ("organizations-id-meetings-new", 5),
    ("organizations-id-posts", 8),
    ("organizations-id-posts-bid-delete", 5),
    ("organizations-id-posts-bid-edit", 5),
    ("organizations-id-posts-new", 5),
    ("organizations-id-proposals", 10),
    ("organizations-id-proposals-pid", 10),
    ("organizations-id-proposals-pid-attachments", 7),
    ("organizations-id-proposals-pid-edit", 5),
    ("organizations-id-proposals-pid-extended-data", 8),
    ("organizations-id-proposals-pid-votes", 8),
    ("organizations-id-proposals-pid-withdraw", 5),
    ("organizations-id-spaces", 6),
    ("organizations-id-spaces-manifest-sid", 7),
    ("organizations-id-spaces-manifest-sid-attachments", 6),
    ("organizations-id-spaces-manifest-sid-edit", 4),
    ("organizations-id-spaces-manifest-sid-extended-data", 6),
    ("organizations-id-spaces-manifest-sid-roles", 7),
    ("organizations-id-spaces-manifest-sid-roles-new", 5),
    ("organizations-id-spaces-manifest-sid-roles-role-delete", 7),
    ("organizations-id-spaces-manifest-sid-steps-new", 5),
    ("organizations-id-spaces-manifest-sid-steps-step-activate", 8),
    ("organizations-id-spaces-manifest-sid-steps-step-delete", 6),
    ("organizations-id-spaces-manifest-sid-steps-step-edit", 5),
    ("organizations-id-spaces-new", 3),
    ("organizations-id-surveys", 8),
    ("organizations-id-surveys-new", 6),
    ("organizations-id-surveys-vid", 10),
    ("organizations-id-surveys-vid-edit", 6),
    ("organizations-id-surveys-vid-preview", 9),
    ("organizations-id-surveys-vid-questions-qid-delete", 10),
    ("organizations-id-surveys-vid-responses", 8),
    ("organizations-id-surveys-vid-responses-rid", 9),
    ("organizations-id-surveys-vid-responses-rid-delete", 6),
    ("organizations-id-users", 5),
    ("organizations-id-users-new", 3),
    ("organizations-id-users-uid", 8),
    ("organizations-id-users-uid-delete", 4),
    ("organizations-id-users-uid-edit", 4),
    ("organizations-id-users-uid-extended-data", 5),
    ("organizations-id-users-uid-roles-new", 6),
    ("organizations-id-users-uid-roles-role-delete", 6),
    ("organizations-new", 2),
    ("shares", 8),
    ("start", 12),
    ("storage", 12),
    ("webhook-deliveries", 4),
    ("webhook-deliveries-replay", 3),
    ("webhook-deliveries-uuid", 5),
    ("webhook-registrations", 5),
    ("webhook-registrations-id-delete", 3),
];

#[tokio::test]
async fn a_page_of_the_panel_sends_at_most_twelve_statements() {
    let _alone = alone().await;
    let services = Service::on_both_engines().await;
    sweeps_have_ended().await;
    for service in services {
        let panel = service.administrator().await;
        let mut counted = Vec::new();
        for page in sample_pages(&service, &panel).await {
            let pinned = PAGES.iter().find(|(name, _)| *name == page.name).map_or(0, |(_, number)| *number);
            let mut fewest: Option<Vec<String>> = None;
            for _ in 0..READINGS {
                taken();
                panel.get(&page.path).await.is(200);
                let own: Vec<String> = taken().into_iter().filter(|text| is_data(text)).collect();
                if fewest.as_ref().is_none_or(|fewest| own.len() < fewest.len()) {
                    fewest = Some(own);
                }
                if fewest.as_ref().is_some_and(|fewest| fewest.len() <= pinned) {
                    break;
                }
            }
            let own = fewest.unwrap_or_default();
            assert!(own.len() <= MAX, "{:?} {}\n{}", service.engine, page.path, own.join("\n"));
            counted.push((page.name, own.len()));
        }
        counted.sort();
        let counted: Vec<_> = counted.iter().map(|(name, number)| (name.as_str(), *number)).collect();
        let names =
            |pages: &[(&str, usize)]| pages.iter().map(|(name, _)| (*name).to_owned()).collect::<Vec<_>>();
        assert_eq!(names(&counted), names(PAGES), "{:?}", service.engine);
        // One engine may need fewer.
        let more: Vec<_> = counted.iter().zip(PAGES).filter(|(own, pinned)| own.1 > pinned.1).collect();
        assert!(more.is_empty(), "{:?}: {more:?}", service.engine);
    }
}
