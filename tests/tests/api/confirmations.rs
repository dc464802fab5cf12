//! Registration, confirmation and welcome, with the mails they send (contract 02 §2.4).

use civitas_accounts::{Confirmation, Secret};
use civitas_application::SiteSettings;
use civitas_archive::{ImportOptions, import};
use civitas_kernel::clock;
use civitas_tests::import_options;
use civitas_tests::mail_server::{MailServer, Received};
use civitas_tests::service::{Answer, CITIES, Client, Service};
use reqwest::Method;
use serde_json::{Value, json};
use time::Duration;

/// Servers that hand their mails to this box. `city.test` welcomes new users, `town.test` does not.
async fn services(mails_received: &MailServer) -> Vec<Service> {
    let welcoming = "\"ref\": \"city\", \"send_welcome_notification\": true";
    let archive = CITIES.replacen("\"ref\": \"city\"", welcoming, 1);
    let settings = [("smtp_url", mails_received.url("")), ("mail_from", "no-reply@civitas.test".to_owned())];
    let settings: Vec<(&str, &str)> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
    Service::on_both_engines_with(&archive, &settings).await
}

/// Asks for a token of a new user with this `meta`.
async fn register(service: &Service, organization: &str, username: &str, meta: Value) -> Answer {
    let mut all = json!({"register_on_missing": true});
    all.as_object_mut().unwrap().extend(meta.as_object().unwrap().clone());
    let body = json!({"grant_type": "password", "auth_type": "impersonate", "username": username,
        "scope": "oauth", "meta": all, "client_id": format!("id_{organization}_full"),
        "client_secret": format!("key_{organization}_full")});
    service.at(&format!("{organization}.test")).post("/oauth/token", &body).await
}

async fn open(client: &Client, method: Method, path: &str) -> Answer {
    client.raw(method, path, &[], None).await
}

/// The path of the link in a mail, which must lead to this host.
fn path_of<'a>(mail: &'a Received, host: &str) -> &'a str {
    mail.link().strip_prefix(&format!("https://{host}")).unwrap()
}

async fn events(service: &Service, name: &str) -> usize {
    let organization = service.store.organizations().find_by_host("city.test").await.unwrap().unwrap();
    let events = service.store.outbox().page_after(organization, None, 1000).await.unwrap();
    events.iter().filter(|event| event.name.as_str() == name).count()
}

async fn is_confirmed(service: &Service, host: &str, nickname: &str) -> bool {
    let organization = service.store.organizations().find_by_host(host).await.unwrap().unwrap();
    let found = service.store.users().find_by_nickname(organization, nickname).await.unwrap();
    found.unwrap().1.confirmed_at.is_some()
}

#[tokio::test]
async fn a_new_user_confirms_the_address_once_and_is_welcomed() {
    let mails_received = MailServer::open().await;
    for service in services(&mails_received).await {
        let address = format!("ida@{:?}.example", service.engine).to_lowercase();
        register(&service, "city", "idaidaida", json!({"email": address, "name": "Ida"})).await.is(200);
        let mail = mails_received.wait_for(&address, 1).await.remove(0);
        assert_eq!(mail.header("From"), "Riverton <no-reply@civitas.test>");
        assert_eq!(mail.header("Subject"), "Confirm your e-mail address for Riverton");
        assert!(mail.text.contains("Hello Ida,"), "{}", mail.text);
        assert!(!is_confirmed(&service, "city.test", "idaidaida").await);
        let path = path_of(&mail, "city.test");
        assert!(path.starts_with("/confirmation/") && path.len() > 14 + 22, "{path}");

        let visitor = service.anonymous();
        let before = events(&service, "user.updated").await;
        open(&visitor, Method::HEAD, path).await.is(200);
        open(&service.at("town.test"), Method::GET, path).await.refuses(404, "Resource not found");
        open(&visitor, Method::POST, path).await.refuses(404, "Route not found");
        assert!(!is_confirmed(&service, "city.test", "idaidaida").await, "nothing was opened yet");

        let page = open(&visitor, Method::GET, path).await.is(200);
        assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
        assert_eq!(page.header("cache-control"), "no-store");
        assert!(page.text.contains("Your e-mail address is confirmed"), "{}", page.text);
        assert!(is_confirmed(&service, "city.test", "idaidaida").await);
        assert_eq!(events(&service, "user.updated").await, before, "a confirmation is nobody's news");

        open(&visitor, Method::GET, path).await.refuses(404, "Resource not found");
        open(&visitor, Method::HEAD, path).await.is(404);
        let welcome = mails_received.wait_for(&address, 2).await.remove(1);
        assert_eq!(welcome.header("Subject"), "Welcome to Riverton");
        assert_eq!(welcome.link(), "https://city.test/");
        service.stop().await;
        assert_eq!(mails_received.mails_to(&address).len(), 2, "and no more");
    }
}

#[tokio::test]
async fn who_needs_no_confirmation_gets_no_link_and_is_welcomed_where_that_is_done() {
    let mails_received = MailServer::open().await;
    for service in services(&mails_received).await {
        let [city, town, asked] = ["city", "town", "asked"]
            .map(|name| format!("{name}@{:?}.example", service.engine).to_lowercase());
        let meta = |address: &str| json!({"email": address, "skip_confirmation_on_register": true});
        register(&service, "city", "skipskip", meta(&city)).await.is(200);
        register(&service, "town", "skipskip", meta(&town)).await.is(200);
        register(&service, "town", "askaskask", json!({"email": asked})).await.is(200);
        assert!(is_confirmed(&service, "town.test", "skipskip").await);
        let mails = mails_received.wait_for(&city, 1).await;
        assert_eq!(mails[0].header("Subject"), "Welcome to Riverton");
        let confirmation = mails_received.wait_for(&asked, 1).await.remove(0);
        let page = open(&service.at("town.test"), Method::GET, path_of(&confirmation, "town.test")).await;
        page.is(200);
        service.stop().await;
        let counts = [&city, &town, &asked].map(|address| mails_received.mails_to(address).len());
        assert_eq!(counts, [1, 0, 1], "the town welcomes nobody");
    }
}

#[tokio::test]
async fn a_mail_is_written_in_the_language_of_its_reader() {
    let mails_received = MailServer::open().await;
    let archive = CITIES.replacen("\"default_locale\": \"en\"", "\"default_locale\": \"fr\"", 1);
    let (url, from) = (mails_received.url(""), "no-reply@civitas.test");
    for service in Service::on_both_engines_with(&archive, &[("smtp_url", &url), ("mail_from", from)]).await {
        let address = format!("lea@{:?}.example", service.engine).to_lowercase();
        register(&service, "city", "lealealea", json!({"email": address})).await.is(200);
        let mail = mails_received.wait_for(&address, 1).await.remove(0);
        assert_eq!(mail.header("From"), "Riverville <no-reply@civitas.test>");
        assert!(mail.text.starts_with("Bonjour lealealea,"), "{}", mail.text);
        let page = open(&service.anonymous(), Method::GET, path_of(&mail, "city.test")).await.is(200);
        assert!(page.text.contains("<html lang=\"fr\">"), "{}", page.text);
    }
}

#[tokio::test]
async fn nobody_is_written_to_at_example_org_nor_after_a_registration_that_failed() {
    let mails_received = MailServer::open().await;
    for service in services(&mails_received).await {
        let address = format!("uma@{:?}.example", service.engine).to_lowercase();
        register(&service, "city", "nobodyknows", json!({})).await.is(200);
        register(&service, "city", "short", json!({"email": "never@city.example"})).await.is(400);
        let mail = json!({"email": "x@mail.example.org", "skip_confirmation_on_register": true});
        register(&service, "city", "someoneelse", mail).await.is(200);
        // Found again, a user is not written to again.
        for _ in 0..2 {
            register(&service, "city", "umaumauma", json!({"email": address})).await.is(200);
        }
        mails_received.wait_for(&address, 1).await;
        service.stop().await;
        for nobody in ["nobodyknows@example.org", "never@city.example", "x@mail.example.org"] {
            assert!(mails_received.mails_to(nobody).is_empty(), "{nobody}");
        }
        assert_eq!(mails_received.mails_to(&address).len(), 1);
    }
}

#[tokio::test]
async fn a_link_that_is_unknown_or_three_days_old_is_not_found() {
    for service in Service::on_both_engines().await {
        let organization = service.store.organizations().find_by_host("city.test").await.unwrap().unwrap();
        let user = civitas_kernel::UserId(service.id("user", "victor_b"));
        let now = clock::now();
        let visitor = service.anonymous();
        let tokens = [Duration::ZERO, Duration::days(3) - Duration::minutes(1), Duration::days(3)];
        let mut paths = Vec::new();
        for age in tokens {
            let (link, token) = Confirmation::begin(user, now - age);
            service
                .store
                .confirmations()
                .add(organization, &link, link.expires_at - Duration::days(3))
                .await
                .unwrap();
            paths.push(format!("/confirmation/{}", token.expose()));
        }
        open(&visitor, Method::GET, &paths[2]).await.is(404);
        let unknown = format!("/confirmation/{}", Secret::alphanumeric().expose());
        for path in [
            unknown.as_str(),
            "/confirmation/",
            "/confirmation/%00",
            "/confirmation/%FF",
            "/confirmation/a/b",
        ] {
            open(&visitor, Method::GET, path).await.is(404);
        }
        open(&service.at("nowhere.test"), Method::GET, &paths[1]).await.is(404);
        let moved = open(&service.at("www.city.test"), Method::GET, &paths[1]).await.is(301);
        assert!(moved.header("location").ends_with(&format!("city.test{}", paths[1])), "{:?}", moved.headers);
        open(&visitor, Method::GET, &paths[1]).await.is(200);
        open(&visitor, Method::GET, &paths[0]).await.is(404);
    }
}

#[tokio::test]
async fn opened_many_times_at_once_a_link_confirms_once() {
    for service in Service::on_both_engines().await {
        let organization = service.store.organizations().find_by_host("city.test").await.unwrap().unwrap();
        let user = civitas_kernel::UserId(service.id("user", "victor_b"));
        let (link, token) = Confirmation::begin(user, clock::now());
        service.store.confirmations().add(organization, &link, clock::now()).await.unwrap();
        let path = format!("/confirmation/{}", token.expose());
        let visits = (0..20).map(|_| {
            let (visitor, path) = (service.anonymous(), path.clone());
            tokio::spawn(async move { open(&visitor, Method::GET, &path).await.status.as_u16() })
        });
        let mut statuses = Vec::new();
        for visit in visits.collect::<Vec<_>>() {
            statuses.push(visit.await.unwrap());
        }
        assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1, "{statuses:?}");
        assert!(statuses.iter().all(|status| [200, 404].contains(status)), "{statuses:?}");
    }
}

#[tokio::test]
async fn a_mail_the_server_does_not_take_now_waits_and_one_it_never_takes_is_given_up() {
    let mails_received = MailServer::open().await;
    for service in services(&mails_received).await {
        let address = format!("ola@{:?}.example", service.engine).to_lowercase();
        for (username, answer, left) in
            [("olaolaola", "451 4.7.1 later", 1), ("evaevaeva", "550 5.1.1 nobody", 0)]
        {
            mails_received.refuse(answer);
            let meta = json!({"email": format!("{username}.{address}")});
            register(&service, "city", username, meta).await.is(200);
            mails_received.wait_until_refused().await;
            // The worker writes down how it ended.
            let someday = clock::now() + Duration::hours(1);
            let mut waiting = Vec::new();
            for _ in 0..100 {
                waiting = service.store.tasks().claim(&["mail"], someday, someday, 9).await.unwrap();
                if waiting.len() == left && waiting.iter().all(|task| task.attempt >= 2) {
                    break;
                }
                tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            }
            assert_eq!(waiting.len(), left, "{answer}");
            for task in waiting {
                assert!(service.store.tasks().end(&task).await.unwrap());
            }
        }
    }
}

#[tokio::test]
async fn an_invitation_of_an_archive_is_sent_when_the_import_is_not_quiet() {
    let mails_received = MailServer::open().await;
    for service in services(&mails_received).await {
        let engine = format!("{:?}", service.engine).to_lowercase();
        let invitation = |reference: &str, email: &str| {
            json!({"type": "role", "ref": reference, "organization": "city", "user": null, "email": email,
                "kind": "space_moderator", "space": "streets", "invited_at": "2026-03-01T09:00:00Z"})
        };
        let import = async |record: Value, is_quiet: bool| {
            let committer = civitas_api::event_committer(SiteSettings::default());
            let committer = (!is_quiet).then_some(&committer);
            let options = ImportOptions { committer, ..import_options(clock::now()) };
            let archive = record.to_string();
            let passwords = civitas_tokens::Argon2Passwords::new();
            import(&*service.store, &passwords, archive.as_bytes(), options, &mut |_| {}).await.unwrap();
        };
        import(invitation("quiet", &format!("quiet@{engine}.example")), true).await;
        let address = format!("loud@{engine}.example");
        import(invitation("loud", &address), false).await;
        let mail = mails_received.wait_for(&address, 1).await.remove(0);
        assert_eq!(mail.header("Subject"), "You are invited to Riverton");
        let space = service.id("space", "streets");
        assert_eq!(mail.link(), format!("https://city.test/public/participatory_processes/{space}"));
        assert!(mails_received.wait_for(&format!("quiet@{engine}.example"), 0).await.is_empty());
    }
}
