use civitas_archive::ExportOptions;
use civitas_audit::AuditFilter;
use civitas_kernel::PageRequest;
use civitas_tests::Service;
use civitas_tests::panel::{EMAIL, Form, PASSWORD, PanelClient, sample_pages};
use reqwest::Method;

/// What forms change: the archive, the administrators, the audit trail.
async fn state(service: &Service) -> (String, i64, usize) {
    let archive = service.export(&ExportOptions::default()).await;
    // The first line has the time of the export.
    let archive = archive.split_once('\n').unwrap().1.to_owned();
    let administrators = service.store.administrators().count().await.unwrap();
    let request = PageRequest::new(1, PageRequest::MAX_LENGTH);
    let entries = service.store.audit().list(&AuditFilter::default(), request).await.unwrap();
    (archive, administrators, entries.items.len())
}

/// All forms that change something, of all pages.
async fn forms(service: &Service, panel: &PanelClient) -> Vec<Form> {
    let mut forms = Vec::new();
    for page in sample_pages(service, panel).await {
        let shown = panel.get(&page.path).await.is(200);
        forms.extend(shown.forms().into_iter().filter(|form| form.method == "post"));
    }
    forms
}

#[tokio::test]
async fn a_form_without_its_token_or_with_another_one_is_403_and_changes_nothing() {
    for (service, panel) in super::panels().await {
        let forms = forms(&service, &panel).await;
        service.add_administrator("omar@riverton.example", PASSWORD).await;
        let other = service.visitor();
        other.sign_in("omar@riverton.example", PASSWORD).await.is(302);
        let foreign = other.token().await;
        let before = state(&service).await;
        let mut actions: Vec<&str> = forms.iter().map(|form| form.action.as_str()).collect();
        actions.sort_unstable();
        actions.dedup();
        assert!(actions.len() >= 17, "{actions:?}");
        for action in actions {
            let form = forms.iter().find(|form| form.action == action).unwrap();
            let own = form.token().unwrap();
            let cut = &own[..own.len() - 1];
            let (_, signature) = own.split_once('.').unwrap();
            let edited = format!("{}.{signature}", "a".repeat(16));
            for token in ["", "x", ".", cut, &edited, &foreign] {
                let sent = form.clone().replace("authenticity_token", token);
                panel.send(&sent).await.is(403).shows("This form is too old");
            }
            panel.send(&form.clone().without("authenticity_token")).await.is(403);
            for site in ["cross-site", "same-site"] {
                let headers =
                    [("sec-fetch-site", site), ("content-type", "application/x-www-form-urlencoded")];
                let body = Some(form.body().into_bytes());
                panel.request(Method::POST, action, &headers, body).await.is(403);
            }
        }
        assert_eq!(state(&service).await, before);
        panel.get("/system").await.is(200);
    }
}

#[tokio::test]
async fn a_form_sent_twice_makes_one_record() {
    for (service, panel) in super::panels().await {
        let count = async || service.store.administrators().count().await.unwrap();
        let form = panel.get("/system/admins/new").await.form("/system/admins");
        let form = form.set("admin[email]", "omar@riverton.example").set("admin[password]", PASSWORD);
        panel.send(&form).await.leads_to("/system/admins");
        panel.send(&form).await.is(403).shows("it was sent already");
        assert_eq!(count().await, 2);

        let form = panel.get("/system/api_clients/new").await.form("/system/api_clients");
        let city = service.id("organization", "city").to_string();
        let form =
            form.set("system_api_client[name]", "Twice").set("system_api_client[organization_id]", &city);
        let (first, second) = tokio::join!(panel.send(&form), panel.send(&form));
        let mut statuses = [first.status, second.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [302, 403]);
        let list = panel.get("/system/api_clients?q=Twice").await.is(200);
        assert_eq!(list.attributes("tr", "role").len(), 2, "the head and one client");
    }
}

#[tokio::test]
async fn a_form_that_was_refused_can_be_corrected_and_sent_again() {
    for (service, panel) in super::panels().await {
        let form = panel.get("/system/admins/new").await.form("/system/admins");
        let short = form.set("admin[email]", "omar@riverton.example").set("admin[password]", "short");
        let refused = panel.send(&short).await.is(422);
        let again = refused.form("/system/admins");
        assert_ne!(again.token(), short.token());
        panel.send(&again.set("admin[password]", PASSWORD)).await.is(302);
        // With the form of the page before the refusal, too: nothing was changed by it.
        let back = short.set("admin[email]", "zoe@riverton.example").set("admin[password]", PASSWORD);
        panel.send(&back).await.is(302);
        assert_eq!(service.store.administrators().count().await.unwrap(), 3);
    }
}

#[tokio::test]
async fn a_token_ends_with_its_session() {
    for (service, panel) in super::panels().await {
        let form = panel.get("/system/admins/new").await.form("/system/admins");
        let form = form.set("admin[email]", "omar@riverton.example").set("admin[password]", PASSWORD);
        let again = service.visitor();
        again.sign_in(EMAIL, PASSWORD).await.is(302);
        again.send(&form).await.is(403);
        panel.send(&form).await.is(302);
    }
}
