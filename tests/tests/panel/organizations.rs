use civitas_kernel::OrganizationId;
use civitas_organizations::{Organization, OrganizationQuery};
use civitas_tests::panel::{Form, PanelClient};
use civitas_tests::{CITIES, Client, Service};

const LIST: &str = "/system/organizations";

async fn stored(service: &Service, id: i64) -> Organization {
    service.store.organizations().find(OrganizationId(id)).await.unwrap().unwrap()
}

async fn settings(panel: &PanelClient, id: i64) -> Form {
    panel.edit(&format!("{LIST}/{id}")).await
}

async fn events(service: &Service, id: i64) -> Vec<&'static str> {
    let events = service.store.outbox().page_after(OrganizationId(id), None, 100).await.unwrap();
    events.iter().map(|event| event.name.as_str()).collect()
}

#[tokio::test]
async fn an_organization_is_created_and_answers_under_its_host() {
    for (service, panel) in super::panels().await {
        let form = panel.get(&format!("{LIST}/new")).await.is(200).form(LIST);
        let form = form
            .set("organization[name][en]", "Lakeside")
            .set("organization[host]", "Lakeside.test")
            .set("organization[secondary_hosts]", "www.lakeside.test\n\n  lake.test ");
        let sent = panel.send(&form).await.is(302);
        let page = panel.follow(&sent).await.is(200).shows("Lakeside is created.").shows("lakeside.test");
        let id: i64 = page.path.rsplit('/').next().unwrap().parse().unwrap();
        let created = stored(&service, id).await;
        assert_eq!(created.host, "lakeside.test");
        assert_eq!(created.secondary_hosts, ["www.lakeside.test", "lake.test"]);
        assert!(created.features.enabled && created.features.proposals_enabled);
        assert_eq!(created.max_attachment_bytes, 10_485_760);
        assert_eq!(events(&service, id).await, ["system.organizations.created"]);
        service.at("lakeside.test").get("/spaces/search").await.is(401);
        panel.get("/system/organizations?q=lakes").await.is(200).shows("Lakeside").lacks("Riverton</a>");
        // It stays in the navigation.
        panel.get("/system").await.is(200).shows("Lakeside");
    }
}

#[tokio::test]
async fn a_refused_organization_keeps_what_was_typed() {
    for (service, panel) in super::panels().await {
        let count = async || {
            let request = civitas_kernel::PageRequest::new(1, 100);
            service
                .store
                .organizations()
                .list(&OrganizationQuery::ByName(None), request)
                .await
                .unwrap()
                .items
                .len()
        };
        let before = count().await;
        let form = panel.get(&format!("{LIST}/new")).await.is(200).form(LIST);
        let form = form
            .set("organization[name][en]", "Lakeside")
            .set("organization[description][en]", "By the \"lake\"\n<b>second</b> line")
            .set("organization[host]", "lakeside.test")
            .set("organization[comments_max_length]", "750")
            .set("organization[time_zone]", "Europe/Madrid")
            .set("organization[users_registration_mode]", "existing")
            .tick("organization[badges_enabled]", "1", false)
            .tick("organization[available_locales][]", "es", false);
        for (field, value) in [
            ("organization[host]", ""),
            ("organization[host]", "not a host"),
            ("organization[host]", "city.test"),
            ("organization[host]", "www.city.test"),
            ("organization[name][en]", ""),
            ("organization[name][en]", "Riverton"),
            ("organization[reference_prefix]", ""),
            ("organization[comments_max_length]", "many"),
            ("organization[max_attachment_bytes]", "0"),
            ("organization[secondary_hosts]", "not a host"),
        ] {
            let sent = form.clone().set(field, value);
            let refused = panel.send(&sent).await;
            assert_eq!(refused.status, 422, "{field} = {value:?}");
            let again = refused.form(LIST);
            for name in sent.typed_fields().iter().map(String::as_str).chain([
                "organization[time_zone]",
                "organization[users_registration_mode]",
                "organization[badges_enabled]",
                "organization[available_locales][]",
            ]) {
                assert_eq!(again.values(name), sent.values(name), "{name} after {field} = {value:?}");
            }
            assert!(!refused.attributes("a", "href").is_empty());
            assert_eq!(count().await, before, "{field} = {value:?}");
        }
        for (field, value) in [
            ("organization[default_locale]", "xx"),
            ("organization[time_zone]", "Nowhere/Else"),
            ("organization[users_registration_mode]", "x"),
        ] {
            panel.send(&form.clone().replace(field, value)).await.is(422);
        }
        assert_eq!(count().await, before);
        panel.send(&form).await.is(302);
    }
}

#[tokio::test]
async fn a_new_host_waits_with_its_dns_records_until_it_is_proven() {
    let settings = [("loadbalancer_ips", "192.0.2.1, 2001:db8::1")];
    for service in Service::on_both_engines_with(CITIES, &settings).await {
        let panel = service.administrator().await;
        let city = service.id("organization", "city");
        let page = panel.get(&format!("{LIST}/{city}/edit")).await.is(200);
        let page = page.shows("city.test A 192.0.2.1").shows("city.test AAAA 2001:db8::1");
        let form = page.form(&format!("{LIST}/{city}")).set("organization[host]", "New.City.Test");
        let sent = panel.send(&form).await.leads_to(&format!("{LIST}/{city}/edit"));
        let waiting = panel.follow(&sent).await.is(200).shows("Settings saved.");
        let waiting = waiting.shows("new.city.test is waiting to replace city.test");
        let waiting = waiting.shows("new.city.test A 192.0.2.1").shows("new.city.test AAAA 2001:db8::1");
        let now = stored(&service, city).await;
        assert_eq!(
            (now.host.as_str(), now.unconfirmed_host.as_deref()),
            ("city.test", Some("new.city.test"))
        );
        assert_eq!(events(&service, city).await, ["system.organizations.updated"]);
        panel.get("/system").await.is(200).shows("1 new host is not confirmed");
        // The current host cancels the change.
        let cancel = waiting.form(&format!("{LIST}/{city}")).set("organization[host]", "city.test");
        panel.send(&cancel).await.is(302);
        assert_eq!(stored(&service, city).await.unconfirmed_host, None);
    }
}

#[tokio::test]
async fn secondary_hosts_of_an_administrator_answer_at_once_and_those_of_a_client_wait() {
    let checked = [("loadbalancer_ips", "192.0.2.1")];
    let waiting = r#"{"type": "organization", "ref": "city", "secondary_hosts": ["a.test", "b.test"], "unconfirmed_secondary_hosts": ["b.test"]}"#;
    for service in Service::on_both_engines_with(&format!("{CITIES}{waiting}\n"), &checked).await {
        let panel = service.administrator().await;
        let city = service.id("organization", "city");
        let status = async |host: &str| service.at(host).get("/jobs").await.status.as_u16();
        panel.get("/system").await.is(200).shows("1 new host is not confirmed");
        panel.get(&format!("{LIST}/{city}/edit")).await.is(200).shows("point here: b.test.");
        let typed = async |hosts: &str| {
            let form = settings(&panel, city).await;
            panel.send(&form.set("organization[secondary_hosts]", hosts)).await
        };
        for hosts in ["a.test\nlocalhost", "a.test\n127.0.0.1", "www.town.test"] {
            typed(hosts).await.is(422);
        }
        typed("a.test\nb.test\nc.test").await.is(302);
        assert_eq!((status("c.test").await, status("b.test").await), (301, 404), "b.test still waits");
        typed("a.test").await.is(302);
        typed("a.test\nb.test").await.is(302);
        assert_eq!(status("b.test").await, 301, "it was entered again");
        panel.get("/system").await.is(200).lacks("not confirmed");
    }
}

#[tokio::test]
async fn settings_are_saved_together_or_not_at_all() {
    for (service, panel) in super::panels().await {
        let city = service.id("organization", "city");
        let before = stored(&service, city).await;
        let form = settings(&panel, city).await;
        let edited = form
            .clone()
            .set("organization[name][en]", "Riverton upon Lake")
            .set("organization[external_domain_allowlist]", "App.Example\nother.example")
            .set("organization[max_attachment_bytes]", "2048")
            .tick("organization[send_welcome_notification]", "1", !before.send_welcome_notification);
        panel.send(&edited.clone().set("organization[max_attachment_bytes]", "x")).await.is(422);
        assert_eq!(stored(&service, city).await, before);
        panel.send(&edited).await.is(302);
        let after = stored(&service, city).await;
        assert_eq!(after.name.title(civitas_kernel::Locale::EN), Some("Riverton upon Lake"));
        assert_eq!(after.external_domain_allowlist, ["app.example", "other.example"]);
        assert_eq!(after.max_attachment_bytes, 2048);
        assert_ne!(after.send_welcome_notification, before.send_welcome_notification);
        assert_eq!((&after.host, after.features), (&before.host, before.features));
        // The form that was open before the change does not overwrite it.
        let late = settings(&panel, city).await.replace("revision", &form.values("revision")[0]);
        panel.send(&late.set("organization[name][en]", "Late")).await.is(422).shows("Somebody else");
        assert_eq!(stored(&service, city).await, after);
        // Nothing is changed by a form without changes.
        panel.send(&settings(&panel, city).await).await.is(302);
        assert_eq!(stored(&service, city).await, after);
    }
}

/// The status of a request to a module.
async fn answers(client: &Client, path: &str, status: u16) {
    client.get(path).await.is(status);
}

#[tokio::test]
async fn switches_answer_501_and_the_modules_keep_their_values_while_the_master_is_off() {
    for (service, panel) in super::panels().await {
        let city = service.id("organization", "city");
        let path = format!("{LIST}/{city}");
        let tab = format!("{path}/edit?tab=api");
        let form = async || panel.get(&tab).await.is(200).form(&path);
        let field = |member: &str| format!("organization[features][{member}]");
        let page = panel.get(&tab).await.is(200).shows("Rest API enabled").shows("Feature modules");
        assert_eq!(page.attributes("input", "type").iter().filter(|kind| *kind == "checkbox").count(), 10);
        let machine = service.machine().await;
        answers(&machine, "/blogs", 200).await;
        let sent = form().await.tick(&field("blogs_enabled"), "1", false);
        panel.send(&sent).await.leads_to(&tab);
        answers(&machine, "/blogs", 501).await;
        answers(&machine, "/proposals", 200).await;

        // A browser without scripts sends the boxes all the same.
        let off = form().await.tick(&field("enabled"), "1", false).tick(&field("blogs_enabled"), "1", true);
        panel.send(&off.tick(&field("proposals_enabled"), "1", false)).await.is(302);
        answers(&machine, "/proposals", 501).await;
        answers(&machine, "/spaces/search", 501).await;
        let features = stored(&service, city).await.features;
        assert!(!features.enabled && !features.blogs_enabled && features.proposals_enabled);
        // One with scripts sends the master alone.
        let on = Form::to(&path)
            .with("authenticity_token", &panel.token().await)
            .with("_method", "put")
            .with("revision", &form().await.values("revision").concat())
            .with(&field("enabled"), "1");
        panel.send(&on).await.leads_to(&tab);
        answers(&machine, "/proposals", 200).await;
        answers(&machine, "/blogs", 501).await;
        service.at("town.test").get("/blogs").await.is(401);
    }
}

#[tokio::test]
async fn an_organization_is_deleted_with_its_name_alone() {
    for (service, panel) in super::panels().await {
        let town = service.id_in("town", "organization", "town");
        let path = format!("{LIST}/{town}");
        let ask = panel.get(&format!("{path}/delete")).await.is(200).shows("Delete Milltown?");
        panel.send(&ask.form(&path).set("confirm", "milltown")).await.is(422);
        panel.act("DELETE", &path, &[]).await.is(422);
        service.at("town.test").get("/blogs").await.is(401);
        let again = panel.get(&format!("{path}/delete")).await.form(&path).set("confirm", "Milltown");
        let sent = panel.send(&again).await.leads_to(LIST);
        panel.follow(&sent).await.is(200).shows("Milltown is deleted.");
        panel.get(&path).await.is(404);
        service.at("town.test").get("/blogs").await.is(404);
        panel.get("/system/audit_log").await.is(200).shows("Organization deleted").shows("Milltown");
    }
}
