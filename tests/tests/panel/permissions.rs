use super::clients::{Created, create};
use civitas_kernel::Ability;
use civitas_tests::Service;
use civitas_tests::panel::{Form, PanelClient};

const FORM: &str = "/system/api_permissions";
const PERMISSIONS: &str = "system_api_client[permissions][]";

async fn form(panel: &PanelClient, client: &Created) -> Form {
    panel.get(&format!("{}/edit", client.path)).await.is(200).form(FORM)
}

/// The permissions that are stored, in the order of the alphabet.
async fn held(service: &Service, client: &Created) -> Vec<&'static str> {
    let found = service.store.clients().find_by_uid(&client.uid).await.unwrap().unwrap().1;
    let mut names: Vec<&str> = found.permissions.iter().map(Ability::as_str).collect();
    names.sort_unstable();
    names
}

#[tokio::test]
async fn the_form_replaces_all_permissions_and_an_empty_one_removes_them() {
    for (service, panel) in super::panels().await {
        let client = create(&service, &panel, &["proposals", "webhooks"]).await;
        assert_eq!(held(&service, &client).await, [""; 0]);
        let first = form(&panel, &client).await;
        let first = ["proposals.read", "proposal_creation.succeeded", "oauth.impersonate"]
            .iter()
            .fold(first, |form, ability| form.tick(PERMISSIONS, ability, true));
        let sent = panel.send(&first).await.leads_to(&format!("{}/edit", client.path));
        panel.follow(&sent).await.is(200).shows("Permissions saved.");
        let expected = ["oauth.impersonate", "proposal_creation.succeeded", "proposals.read"];
        assert_eq!(held(&service, &client).await, expected);

        let second = form(&panel, &client).await;
        let mut ticked = second.values(PERMISSIONS);
        ticked.sort_unstable();
        assert_eq!(ticked, expected);
        let second = second
            .tick(PERMISSIONS, "proposals.read", false)
            .tick(PERMISSIONS, "oauth.impersonate", false)
            .tick(PERMISSIONS, "webhooks.read", true);
        panel.send(&second).await.is(302);
        assert_eq!(held(&service, &client).await, ["proposal_creation.succeeded", "webhooks.read"]);

        let third = form(&panel, &client).await.without(PERMISSIONS);
        panel.send(&third).await.is(302);
        assert_eq!(held(&service, &client).await, [""; 0]);
    }
}

#[tokio::test]
async fn a_string_that_is_no_permission_of_the_client_is_422_and_changes_nothing() {
    for (service, panel) in super::panels().await {
        let client = create(&service, &panel, &["proposals"]).await;
        let good = form(&panel, &client).await.tick(PERMISSIONS, "proposals.read", true);
        panel.send(&good).await.is(302);
        for foreign in ["blogs.read", "everything", "proposals", "proposals.read ", "user.created", "*", "'"]
        {
            let sent = form(&panel, &client).await;
            let sent = sent.tick(PERMISSIONS, "proposals.vote", true).with(PERMISSIONS, foreign);
            let refused = panel.send(&sent).await.is(422);
            // What was ticked is kept.
            let again = refused.form(FORM);
            assert!(again.values(PERMISSIONS).contains(&"proposals.vote".to_owned()), "{foreign}");
            assert_eq!(held(&service, &client).await, ["proposals.read"], "{foreign}");
        }
    }
}

#[tokio::test]
async fn sign_in_of_people_is_offered_to_every_client_and_the_rest_by_its_scopes() {
    for (service, panel) in super::panels().await {
        let bare = create(&service, &panel, &[]).await;
        let offered = form(&panel, &bare).await.boxes(PERMISSIONS);
        for expected in ["oauth.impersonate", "oauth.login", "public.space.read"] {
            assert!(offered.contains(&expected.to_owned()), "{offered:?}");
        }
        assert!(!offered.iter().any(|name| name.starts_with("proposals")), "{offered:?}");
        for scope in ["roles", "attachments", "webhooks"] {
            let client = create(&service, &panel, &[scope]).await;
            let read = format!("{scope}.read");
            assert!(form(&panel, &client).await.has_box(PERMISSIONS, &read), "{scope}");
        }
    }
}

#[tokio::test]
async fn an_unknown_client_is_404() {
    for (_service, panel) in super::panels().await {
        let field = "system_api_client[api_client_id]";
        for id in ["999999", "0", "-1", "x", "", "9223372036854775808"] {
            panel.act("POST", FORM, &[(field, id), (PERMISSIONS, "oauth.login")]).await.is(404);
        }
        panel.act("POST", FORM, &[]).await.is(404);
    }
}

#[tokio::test]
async fn scopes_name_and_organization_of_a_client_cannot_be_edited() {
    for (service, panel) in super::panels().await {
        let client = create(&service, &panel, &["proposals"]).await;
        let town = service.id_in("town", "organization", "town").to_string();
        let sent = form(&panel, &client)
            .await
            .with("system_api_client[scopes][]", "system")
            .with("system_api_client[name]", "Other")
            .with("system_api_client[organization_id]", &town);
        panel.send(&sent).await.is(302);
        let found = service.store.clients().find_by_uid(&client.uid).await.unwrap().unwrap().1;
        assert_eq!(
            (found.scopes.to_string(), found.name.as_str()),
            ("public proposals".into(), "Participation app")
        );
        assert_eq!(found.organization.unwrap().0, service.id("organization", "city"));
        panel.act("PUT", &client.path, &[("system_api_client[name]", "Other")]).await.is(404);
    }
}

#[tokio::test]
async fn what_is_granted_applies_to_tokens_already_issued() {
    for (service, panel) in super::panels().await {
        let client = create(&service, &panel, &["proposals"]).await;
        let asked = client.credentials(&client.secret, "public proposals");
        let holder = service.anonymous().with_token(&asked).await;
        holder.get("/proposals").await.is(403);
        let granted = form(&panel, &client).await.tick(PERMISSIONS, "proposals.read", true);
        panel.send(&granted).await.is(302);
        holder.get("/proposals").await.is(200);
        let removed = form(&panel, &client).await.tick(PERMISSIONS, "proposals.read", false);
        panel.send(&removed).await.is(302);
        holder.get("/proposals").await.is(403);
    }
}
