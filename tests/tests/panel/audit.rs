use super::clients::create;
use civitas_audit::{Action, Actor, AuditEntry, AuditFilter};
use civitas_kernel::PageRequest;
use civitas_tests::Service;
use civitas_tests::panel::{EMAIL, PASSWORD, PanelClient};

/// The entries of all trails, the newest first.
pub async fn trail(service: &Service) -> Vec<AuditEntry> {
    let request = PageRequest::new(1, PageRequest::MAX_LENGTH);
    service.store.audit().list(&AuditFilter::default(), request).await.unwrap().items
}

/// Sends the only form of this action on a page.
async fn send(panel: &PanelClient, page: &str, action: &str) {
    let form = panel.get(page).await.is(200).form(action);
    panel.send(&form).await.is(302);
}

/// Each act of contract 04 §1 once. Returns the secrets that were shown or typed.
async fn acts(service: &Service, panel: &PanelClient) -> Vec<String> {
    let client = create(service, panel, &["proposals", "webhooks"]).await;
    let mut secrets = vec![client.secret.clone(), PASSWORD.to_owned()];
    let edit = format!("{}/edit", client.path);
    let form = panel.get(&edit).await.is(200).form("/system/api_permissions");
    let form = form.tick("system_api_client[permissions][]", "proposal_creation.succeeded", true);
    panel.send(&form).await.is(302);
    let rotate = format!("{}/rotate_secret", client.path);
    let form = panel.get(&rotate).await.is(200).form(&rotate);
    let rotated = panel.send(&form).await.is(302);
    secrets.push(panel.follow(&rotated).await.is(200).secrets().pop().unwrap());

    let tab = format!("{edit}?tab=webhooks");
    let form = panel.get(&tab).await.is(200).form("/system/webhook_registrations");
    let form = form.set("webhook_registration_form[url]", "https://hooks.client.example/civic").tick(
        "webhook_registration_form[subscriptions][]",
        "proposal_creation.succeeded",
        true,
    );
    let made = panel.send(&form).await.is(302);
    let made = panel.follow(&made).await.is(200);
    secrets.push(made.secrets().pop().unwrap());
    let ask = made.attributes("a", "href").into_iter().find(|href| href.ends_with("/delete")).unwrap();
    let registration = ask.strip_suffix("/delete").unwrap().to_owned();
    for act in ["test", "pause", "enable"] {
        panel.act("POST", &format!("{registration}/{act}"), &[]).await.is(302);
    }
    send(panel, &ask, &registration).await;
    panel.act("DELETE", &client.path, &[]).await.is(302);

    let form = panel.get("/system/organizations/new").await.is(200).form("/system/organizations");
    let form = form.set("organization[name][en]", "Lakeside").set("organization[host]", "lakeside.test");
    let lakeside = panel.send(&form).await.is(302).header("location").to_owned();
    let form = panel.get(&format!("{lakeside}/edit?tab=api")).await.is(200).form(&lakeside);
    panel.send(&form.tick("organization[features][enabled]", "1", false)).await.is(302);
    panel.act("DELETE", &lakeside, &[("confirm", "Lakeside")]).await.is(302);

    let typed = "a password of another one";
    secrets.push(typed.to_owned());
    let form = panel.get("/system/admins/new").await.is(200).form("/system/admins");
    let form = form.set("admin[email]", "omar@riverton.example").set("admin[password]", typed);
    panel.send(&form).await.is(302);
    let omar = service.store.administrators().find_by_email("omar@riverton.example").await.unwrap();
    let omar = format!("/system/admins/{}", omar.unwrap().0);
    let form = panel.edit(&omar).await;
    let form = form.set("admin[email]", "zoe@riverton.example").set("admin[password]", "one more password");
    panel.send(&form).await.is(302);
    secrets.push("one more password".to_owned());
    panel.act("POST", &format!("{omar}/unlock"), &[]).await.is(302);
    panel.act("DELETE", &omar, &[]).await.is(302);
    panel.act("DELETE", "/system/admins/sign_out", &[]).await.is(302);
    panel.sign_in(EMAIL, "a wrong password").await.is(422);
    secrets.push("a wrong password".to_owned());
    panel.sign_in(EMAIL, PASSWORD).await.is(302);
    secrets
}

#[tokio::test]
async fn each_act_has_an_entry_with_its_actor_and_no_secret() {
    for (service, panel) in super::panels().await {
        let secrets = acts(&service, &panel).await;
        let entries = trail(&service).await;
        let own = service.store.administrators().find_by_email(EMAIL).await.unwrap().unwrap().0;
        for action in [
            Action::ApiClientCreated,
            Action::ApiClientPermissionsReplaced,
            Action::ApiClientSecretRotated,
            Action::ApiClientRevoked,
            Action::WebhookRegistrationCreated,
            Action::WebhookRegistrationTested,
            Action::WebhookRegistrationPaused,
            Action::WebhookRegistrationResumed,
            Action::WebhookRegistrationDeleted,
            Action::OrganizationCreated,
            Action::OrganizationUpdated,
            Action::OrganizationDeleted,
            Action::AdministratorCreated,
            Action::AdministratorUpdated,
            Action::AdministratorPasswordChanged,
            Action::AdministratorUnlocked,
            Action::AdministratorDeleted,
            Action::SignInSucceeded,
            Action::SignOut,
        ] {
            let found: Vec<_> = entries.iter().filter(|entry| entry.action == action).collect();
            // The trail of an organization goes with it.
            let is_of_lakeside = [Action::OrganizationCreated, Action::OrganizationUpdated].contains(&action);
            assert!(is_of_lakeside || !found.is_empty(), "{action} has no entry");
            for entry in found {
                let is_own = matches!(&entry.actor, Actor::Administrator { id, email }
                    if *id == own.0 && email == EMAIL);
                assert!(is_own, "{entry:?}");
                assert_eq!(entry.from.as_deref(), Some("127.0.0.1"), "{action}");
            }
        }
        let refused = entries.iter().find(|entry| entry.action == Action::SignInRefused).unwrap();
        assert!(matches!(refused.actor, Actor::Anonymous), "{refused:?}");

        let stored = format!("{entries:?}");
        let mut pages = Vec::new();
        for page in 1..=3 {
            pages.push(panel.get(&format!("/system/audit_log?page={page}")).await.is(200).text);
        }
        for secret in secrets {
            assert!(!stored.contains(&secret), "{secret} in {stored}");
            assert!(pages.iter().all(|page| !page.contains(&secret)), "{secret}");
        }
    }
}

#[tokio::test]
async fn the_entries_of_an_organization_have_what_was_changed() {
    for (service, panel) in super::panels().await {
        let city = service.id("organization", "city");
        let path = format!("/system/organizations/{city}");
        let form = panel.edit(&path).await;
        panel.send(&form.set("organization[max_attachment_bytes]", "4096")).await.is(302);
        let form = panel.get(&format!("{path}/edit?tab=api")).await.is(200).form(&path);
        panel.send(&form.tick("organization[features][blogs_enabled]", "1", false)).await.is(302);
        let entries = trail(&service).await;
        let updated: Vec<_> =
            entries.iter().filter(|entry| entry.action == Action::OrganizationUpdated).collect();
        let changes: Vec<_> = updated.iter().flat_map(|entry| &entry.changes).collect();
        let seen: Vec<_> = changes
            .iter()
            .map(|change| (change.field.as_str(), change.before.as_deref(), change.after.as_deref()))
            .collect();
        assert_eq!(
            seen,
            [
                ("blogs_enabled", Some("true"), Some("false")),
                ("max_attachment_bytes", Some("10485760"), Some("4096"))
            ]
        );
        let page = panel.get(&format!("/system/audit_log?organization={city}")).await.is(200);
        page.shows("max_attachment_bytes: 10485760 → 4096").shows("Riverton").shows(EMAIL);
        panel.get("/system/audit_log?organization=deployment").await.is(200).lacks("max_attachment_bytes");
        let signed = panel.get("/system/audit_log?action=sign_in.succeeded&q=ines").await.is(200);
        signed.shows("Signed in").lacks("max_attachment_bytes");
    }
}

#[tokio::test]
async fn what_was_refused_has_no_entry() {
    for (service, panel) in super::panels().await {
        let before = trail(&service).await.len();
        panel.act("POST", "/system/api_clients", &[]).await.is(422);
        panel.act("POST", "/system/organizations", &[]).await.is(422);
        panel.act("POST", "/system/admins", &[]).await.is(422);
        panel.act("DELETE", "/system/api_clients/999999", &[]).await.is(404);
        assert_eq!(trail(&service).await.len(), before);
    }
}
