//! A new primary host, checked with a name server of the test (contract 03 §1.5).

use civitas_kernel::{OrganizationId, clock};
use civitas_tests::NameServer;
use civitas_tests::service::{CITIES, Client, SYSTEM_CLIENTS, Service};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

async fn services(names: &NameServer, loadbalancers: &str) -> Vec<Service> {
    let server = names.address.to_string();
    let settings = [
        ("dns_server", server.as_str()),
        ("loadbalancer_ips", loadbalancers),
        ("host_check_interval_seconds", "1"),
    ];
    Service::on_both_engines_with(&format!("{CITIES}{SYSTEM_CLIENTS}"), &settings).await
}

async fn ask_for(client: &Client, city: i64, host: &str) -> Value {
    let body = json!({"data": {"host": host}});
    client.put(&format!("/organizations/{city}/sync"), &body).await.is(200).data().clone()
}

/// The organization once its host is this one.
async fn moved(service: &Service, city: i64, host: &str) -> civitas_organizations::Organization {
    let started = Instant::now();
    loop {
        let found = service.store.organizations().find(OrganizationId(city)).await.unwrap().unwrap();
        if found.host == host {
            return found;
        }
        assert!(started.elapsed() < Duration::from_secs(20), "the host never moved: {found:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn a_host_that_is_proven_becomes_the_primary_one_and_tokens_stay_valid() {
    let names = NameServer::start().await;
    names.name("new.example.test", "192.0.2.1");
    names.name("new.example.test", "2001:db8::1");
    names.reverse("192.0.2.2", "new.example.test");
    for service in services(&names, "192.0.2.1, 2001:db8::1, 192.0.2.2").await {
        let city = service.id("organization", "city");
        let system = service.anonymous().of_system("city_system").await;
        let nora = service.user("norablum").await;
        let waiting = ask_for(&system, city, "new.example.test").await;
        assert_eq!(waiting["attributes"]["host"], json!("city.test"));
        let kept = moved(&service, city, "new.example.test").await;
        assert_eq!(kept.unconfirmed_host, None);
        assert_eq!(kept.secondary_hosts, ["www.city.test"], "the old host is not added");
        let there = service.at("new.example.test").bearing(nora.token.as_deref().unwrap());
        let space = there.get("/spaces/search").await.is(200);
        assert!(space.text.contains("https://new.example.test/"), "links follow the host");
        nora.get("/spaces/search").await.is(404);
        let told = service.store.outbox().page_after(OrganizationId(city), None, 10).await.unwrap();
        let names: Vec<_> = told.iter().map(|event| event.name.as_str()).collect();
        assert_eq!(names, ["system.organizations.updated"; 2], "the request, and its confirmation");
        let last: Value = serde_json::from_str(&told[1].payload).unwrap();
        assert_eq!(last["data"]["attributes"]["host"], "new.example.test");
    }
}

#[tokio::test]
async fn a_host_is_checked_again_until_it_leads_here() {
    let names = NameServer::start().await;
    for (service, host) in
        services(&names, "192.0.2.1").await.into_iter().zip(["one.example.test", "two.example.test"])
    {
        let city = service.id("organization", "city");
        let system = service.anonymous().of_system("city_system").await;
        let before = names.asked();
        ask_for(&system, city, host).await;
        let started = Instant::now();
        while names.asked() == before {
            assert!(started.elapsed() < Duration::from_secs(20), "nobody asked");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let found = service.store.organizations().find(OrganizationId(city)).await.unwrap().unwrap();
        assert_eq!((found.host.as_str(), found.unconfirmed_host.as_deref()), ("city.test", Some(host)));
        names.name(host, "192.0.2.1");
        assert!(moved(&service, city, host).await.updated_at <= clock::now());
    }
}

#[tokio::test]
async fn a_pending_host_of_an_archive_is_checked_too() {
    let names = NameServer::start().await;
    names.name("moved.example.test", "192.0.2.1");
    let server = names.address.to_string();
    let settings = [("dns_server", server.as_str()), ("loadbalancer_ips", "192.0.2.1")];
    let pending = r#"{"type": "organization", "ref": "city", "unconfirmed_host": "moved.example.test"}"#;
    for service in Service::on_both_engines_with(&format!("{CITIES}{pending}\n"), &settings).await {
        moved(&service, service.id("organization", "city"), "moved.example.test").await;
    }
}
