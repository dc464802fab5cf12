//! New primary and secondary hosts, checked with a name server of the test (contract 03 §1.3, §1.5).

use civitas_archive::ExportOptions;
use civitas_kernel::{OrganizationId, clock};
use civitas_tests::NameServer;
use civitas_tests::service::{BASE, CITIES, Client, SYSTEM_CLIENTS, Service};
use reqwest::Method;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

async fn services(names: &NameServer, loadbalancers: &str) -> Vec<Service> {
    let server = names.address.to_string();
    let settings = [("dns_server", server.as_str()), ("loadbalancer_ips", loadbalancers)];
    Service::on_both_engines_with(&format!("{CITIES}{SYSTEM_CLIENTS}"), &settings).await
}

/// Makes the next checks due now, which else come a minute after the last ones.
async fn hurry(service: &Service) {
    let sql =
        "UPDATE tasks SET due_at = '2026-01-01 00:00:00+00:00' WHERE kind = 'host_check' AND NOT claimed";
    service.database.execute(sql).await;
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
        hurry(service).await;
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

const CLAIM: &str = "Secondary hosts has already been taken";

/// The health of the interface under a host.
async fn is_healthy(service: &Service, host: &str) -> bool {
    let path = format!("{BASE}/health");
    service.at(host).raw(Method::GET, &path, &[], None).await.status == 200
}

/// Whether a host redirects; otherwise it is unknown.
async fn redirects(service: &Service, host: &str) -> bool {
    match service.at(host).raw(Method::GET, &format!("{BASE}/jobs"), &[], None).await.status.as_u16() {
        301 => true,
        404 => false,
        other => panic!("{host}: {other}"),
    }
}

/// The city's client claims hosts of the town, of the machine, and one before the town has it.
#[tokio::test]
async fn a_client_takes_no_host_without_proof_and_its_claim_ends_with_the_checks() {
    let names = NameServer::start().await;
    names.name("own.city.test", "192.0.2.1");
    let services = services(&names, "192.0.2.1").await;
    let early = "early.town.test";
    for service in &services {
        let (city, town) =
            (service.id("organization", "city"), service.id_in("town", "organization", "town"));
        let system = service.anonymous().of_system("city_system").await;
        let wide = service.at("town.test").of_system("whole_deployment").await;
        let path = format!("/organizations/{city}/sync");
        let claim =
            async |hosts: &[&str]| system.put(&path, &json!({"data": {"secondary_hosts": hosts}})).await;
        for host in ["localhost", "127.0.0.1", "::1"] {
            claim(&[host]).await.refuses(400, "Secondary hosts is invalid");
            assert!(is_healthy(service, "localhost").await && is_healthy(service, "127.0.0.1").await);
        }
        claim(&["www.town.test"]).await.refuses(400, CLAIM);
        let moving = json!({"data": {"host": "www.town.test"}});
        system.put(&path, &moving).await.refuses(400, "Unconfirmed host has already been taken");
        let all = ["www.city.test", "own.city.test", early];
        let claimed = claim(&all).await.is(200);
        assert_eq!(claimed.data()["attributes"]["secondary_hosts"], json!(all));
        assert!(redirects(service, "www.city.test").await, "what was there stays");
        assert!(!redirects(service, early).await && is_healthy(service, early).await);
        let link = json!({"data": {"redirect_url": format!("https://{early}/")}});
        let mary = service.user("maryadmin").await;
        mary.post("/me/magic_links", &link).await.refuses(422, "Host is not allowed for this organization");
        let wanted = json!({"data": {"host": early}});
        let town = format!("/organizations/{town}/sync");
        wide.put(&town, &wanted).await.refuses(400, "Unconfirmed host has already been taken");
    }
    let started = Instant::now();
    for service in &services {
        let (city, town) =
            (service.id("organization", "city"), service.id_in("town", "organization", "town"));
        let wide = service.at("town.test").of_system("whole_deployment").await;
        let system = service.anonymous().of_system("city_system").await;
        let path = format!("/organizations/{town}/sync");
        while wide.put(&path, &json!({"data": {"host": early}})).await.status != 200 {
            assert!(started.elapsed() < Duration::from_secs(60), "the claim never ended");
            let length = 100 + started.elapsed().as_millis();
            let again = json!({"data": {"secondary_hosts": ["www.city.test", "own.city.test", early],
                "comments_max_length": u64::try_from(length).unwrap()}});
            system.put(&format!("/organizations/{city}/sync"), &again).await.is(200);
            hurry(service).await;
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        assert!(redirects(service, "own.city.test").await, "the check has found it");
        let kept = service.store.organizations().find(OrganizationId(city)).await.unwrap().unwrap();
        assert_eq!(kept.secondary_hosts, ["www.city.test", "own.city.test"], "{:?}", service.engine);
    }
    names.name(early, "192.0.2.1");
    for service in &services {
        moved(service, service.id_in("town", "organization", "town"), early).await;
        service.at(early).get("/spaces/search").await.is(401);
    }
}

#[tokio::test]
async fn where_every_host_is_accepted_a_secondary_one_answers_after_a_moment_and_http_has_local_ones() {
    let settings = [("loadbalancer_ips", ""), ("public_scheme", "http")];
    for service in Service::on_both_engines_with(&format!("{CITIES}{SYSTEM_CLIENTS}"), &settings).await {
        let path = format!("/organizations/{}/sync", service.id("organization", "city"));
        let system = service.anonymous().of_system("city_system").await;
        let hosts = json!({"data": {"secondary_hosts": ["localhost", "anything.test"]}});
        system.put(&path, &hosts).await.is(200);
        let started = Instant::now();
        while !(redirects(&service, "localhost").await && redirects(&service, "anything.test").await) {
            assert!(started.elapsed() < Duration::from_secs(20), "they never answered");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

/// An archive whose organization `city` has these members.
fn with_members(archive: &str, members: &Value) -> String {
    let changed = archive.lines().map(|line| {
        let mut record: Value = serde_json::from_str(line).unwrap();
        if record["type"] == "organization" && record["host"] == "city.test" {
            record.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        }
        format!("{record}\n")
    });
    changed.collect()
}

#[tokio::test]
async fn an_organization_answers_as_before_after_its_export_and_import() {
    let names = NameServer::start().await;
    let server = names.address.to_string();
    let settings = [("dns_server", server.as_str()), ("loadbalancer_ips", "192.0.2.1")];
    let hosts = json!({"secondary_hosts": ["127.0.0.1", "a.test", "b.test"], "unconfirmed_secondary_hosts": ["b.test"]});
    let mut source = with_members(CITIES, &hosts);
    for _ in 0..2 {
        let mut exported = String::new();
        for service in Service::on_both_engines_with(&source, &settings).await {
            for (host, is_known) in [("127.0.0.1", true), ("a.test", true), ("b.test", false)] {
                assert_eq!(redirects(&service, host).await, is_known, "{:?}: {host}", service.engine);
            }
            exported =
                service.export(&ExportOptions { with_secrets: true, ..ExportOptions::default() }).await;
            assert!(exported.contains(r#""unconfirmed_secondary_hosts":["b.test"]"#), "{exported}");
        }
        source = exported;
    }
    // An operator confirms it.
    let entered = with_members(&source, &json!({"unconfirmed_secondary_hosts": null}));
    for service in Service::on_both_engines_with(&entered, &settings).await {
        assert!(redirects(&service, "b.test").await);
    }
}
