use super::clients::{Created, create};
use civitas_tests::Service;
use civitas_tests::panel::{Form, PanelClient};

const FORM: &str = "/system/webhook_registrations";
const CLIENT: &str = "webhook_registration_form[api_client_id]";
const URL: &str = "webhook_registration_form[url]";
const EVENTS: &str = "webhook_registration_form[subscriptions][]";
const PERMISSIONS: &str = "system_api_client[permissions][]";
const ADDRESS: &str = "https://hooks.client.example/civic?x=1";

/// A client with these event permissions.
async fn receiver(service: &Service, panel: &PanelClient, events: &[&str]) -> Created {
    let client = create(service, panel, &["proposals", "webhooks"]).await;
    grant(panel, &client, events).await;
    client
}

async fn grant(panel: &PanelClient, client: &Created, events: &[&str]) {
    let form = panel.get(&format!("{}/edit", client.path)).await.is(200).form("/system/api_permissions");
    let form = form.without(PERMISSIONS);
    let form = events.iter().fold(form, |form, event| form.with(PERMISSIONS, event));
    panel.send(&form).await.is(302);
}

async fn form(panel: &PanelClient, client: &Created) -> Form {
    panel.get(&format!("{}/edit?tab=webhooks", client.path)).await.is(200).form(FORM)
}

#[tokio::test]
async fn a_registration_is_made_with_a_secret_that_is_shown_once_and_deleted() {
    for (service, panel) in super::panels().await {
        let events = ["proposal_creation.succeeded", "proposal_update.succeeded"];
        let client = receiver(&service, &panel, &events).await;
        let tab = format!("{}/edit?tab=webhooks", client.path);
        let empty = panel.get(&tab).await.is(200).shows("No webhook registrations found.");
        assert_eq!(empty.form(FORM).boxes(EVENTS), events, "those that are granted");
        let filled = empty.form(FORM).set(URL, ADDRESS).tick(EVENTS, events[0], true);
        let sent = panel.send(&filled).await.leads_to(&tab);
        let made = panel.follow(&sent).await.is(200).shows("Webhook registration created successfully");
        let [address, secret]: [String; 2] = made.secrets().try_into().unwrap();
        assert_eq!(address, ADDRESS);
        assert!(secret.len() == 64 && secret.bytes().all(|byte| byte.is_ascii_hexdigit()), "{secret}");
        panel.get(&tab).await.is(200).shows(ADDRESS).shows(events[0]).lacks(&secret);
        assert_eq!(panel.times_seen(&secret), 1);

        let ask = made.attributes("a", "href").into_iter().find(|href| href.ends_with("/delete")).unwrap();
        let path = ask.strip_suffix("/delete").unwrap().to_owned();
        let form = panel.get(&ask).await.is(200).form(&path);
        let sent = panel.send(&form).await.leads_to(&tab);
        panel.follow(&sent).await.is(200).shows("No webhook registrations found.");
        panel.get(&ask).await.is(404);
        panel.act("DELETE", &path, &[]).await.is(404);
    }
}

#[tokio::test]
async fn what_the_interface_refuses_is_refused_with_the_same_texts() {
    for (service, panel) in super::panels().await {
        let event = "proposal_creation.succeeded";
        let client = receiver(&service, &panel, &[event]).await;
        let good = form(&panel, &client).await.set(URL, ADDRESS).tick(EVENTS, event, true);
        panel.send(&good).await.is(302);
        let cases = [
            ("", event, "Url cannot be blank"),
            ("ftp://hooks.client.example/", event, "Url must be a valid HTTP or HTTPS URL"),
            ("not an address", event, "Url must be a valid HTTP or HTTPS URL"),
            ("http://127.0.0.1/", event, "Url is not allowed"),
            ("http://169.254.169.254/latest", event, "Url is not allowed"),
            (ADDRESS, event, "Url has already been taken"),
            ("https://hooks.client.example/other", "", "Subscriptions cannot be blank"),
            (
                "https://hooks.client.example/other",
                "user.created",
                "Subscription to user.created is not allowed",
            ),
            ("https://hooks.client.example/other", "nothing", "Subscription to nothing is not allowed"),
        ];
        for (url, event, problem) in cases {
            let sent = form(&panel, &client).await.set(URL, url).with(EVENTS, event);
            let refused = panel.send(&sent).await.is(422).shows(problem);
            assert_eq!(refused.form(FORM).values(URL), [url], "{problem}");
            let beside = refused.attributes("p", "id");
            let wanted = if problem.starts_with("Url") { "url-problem" } else { "subscriptions-problem" };
            assert!(beside.iter().any(|id| id.ends_with(wanted)), "{problem}: {beside:?}");
            assert_eq!(refused.secrets(), [""; 0]);
        }
        let id = client.id.parse().unwrap();
        let request = civitas_kernel::PageRequest::new(1, 100);
        let stored =
            service.store.registrations().list(civitas_kernel::ClientId(id), &[], request).await.unwrap();
        assert_eq!(stored.items.len(), 1);
        let unknown = form(&panel, &client).await.replace(CLIENT, "999999");
        panel.send(&unknown).await.is(404);
    }
}

#[tokio::test]
async fn a_registration_stays_when_its_event_is_taken_from_the_client() {
    for (service, panel) in super::panels().await {
        let event = "proposal_creation.succeeded";
        let client = receiver(&service, &panel, &[event]).await;
        let sent = form(&panel, &client).await.set(URL, ADDRESS).tick(EVENTS, event, true);
        panel.send(&sent).await.is(302);
        grant(&panel, &client, &[]).await;
        let tab = panel.get(&format!("{}/edit?tab=webhooks", client.path)).await.is(200);
        let tab = tab.shows(ADDRESS).shows("not granted any more, not delivered");
        assert!(!tab.forms().iter().any(|form| form.action == FORM), "no event can be chosen");
    }
}

#[tokio::test]
async fn a_registration_is_tested_paused_and_enabled_and_its_deliveries_are_sent_again() {
    for (service, panel) in super::panels().await {
        let event = "proposal_creation.succeeded";
        let client = receiver(&service, &panel, &[event]).await;
        let sent = form(&panel, &client).await.set(URL, ADDRESS).tick(EVENTS, event, true);
        panel.send(&sent).await.is(302);
        let list = panel.get("/system/webhook_registrations").await.is(200);
        let acts = list.forms().into_iter().map(|form| form.action).collect::<Vec<_>>();
        let test = acts.iter().find(|action| action.ends_with("/test")).unwrap().clone();
        let path = test.strip_suffix("/test").unwrap();
        let sent = panel.send(&list.form(&test)).await.is(302);
        let delivery = sent.header("location").to_owned();
        assert!(delivery.starts_with("/system/webhook_deliveries/"), "{delivery}");
        panel.follow(&sent).await.is(200).shows(event);
        panel.get("/system/webhook_deliveries").await.is(200).shows(ADDRESS);

        let pause = format!("{path}/pause");
        panel.send(&list.form(&pause)).await.is(302);
        let paused = panel.get("/system/webhook_registrations?state=paused").await.is(200).shows(ADDRESS);
        panel.act("POST", &test, &[]).await.is(302);
        assert!(!paused.forms().iter().any(|form| form.action == test), "a paused one sends nothing");
        panel.send(&paused.form(&format!("{path}/enable"))).await.is(302);
        let paused = panel.get("/system/webhook_registrations?state=paused").await.is(200);
        paused.shows("No webhook registrations found.");
        panel.act("POST", &format!("{delivery}/replay"), &[]).await.leads_to(&delivery);
    }
}
