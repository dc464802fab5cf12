//! The first and the last time that the database can hold, in zones that cannot write them.

use civitas_tests::Service;
use civitas_tests::panel::sample_pages;
use civitas_tests::service::CITIES;
use serde_json::{Value, json};

/// The cities in this zone, with this time in place of each of theirs; with a post, a meeting and a survey.
fn cities(at: &str, zone: &str) -> String {
    let texts = json!({"en": "End"});
    let more = [
        json!({"type": "post", "ref": "end", "component": "news", "title": texts, "body": texts}),
        json!({"type": "meeting", "ref": "end", "component": "meetings", "title": texts, "end_time": "",
            "start_time": "", "withdrawn_at": "", "hidden_at": ""}),
        json!({"type": "survey", "ref": "end", "component": "surveys", "starts_at": "", "ends_at": ""}),
        json!({"type": "questionnaire", "ref": "end", "survey": "end", "title": texts}),
        json!({"type": "step", "ref": "end", "space": "streets", "title": texts, "position": 2,
            "starts_at": "", "ends_at": ""}),
    ];
    let more = more.into_iter().map(|mut record| {
        let is_step = record["type"] == "step";
        let members = record.as_object_mut().unwrap();
        members.insert("organization".to_owned(), json!("city"));
        if !is_step {
            members.extend(["created_at", "updated_at"].map(|name| (name.to_owned(), json!(""))));
        }
        if ["post", "meeting"].contains(&members["type"].as_str().unwrap()) {
            members.insert("published_at".to_owned(), json!(""));
        }
        record
    });
    let records = CITIES.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()).chain(more);
    let records = records.map(|mut record| {
        let is_city = record["type"] == "organization";
        let members = record.as_object_mut().unwrap();
        for (name, value) in members.iter_mut().filter(|(_, value)| value.is_string()) {
            if name.ends_with("_at") || name.ends_with("_time") {
                *value = json!(at);
            }
        }
        if is_city {
            members.insert("time_zone".to_owned(), json!(zone));
        }
        format!("{record}\n")
    });
    records.collect()
}

#[tokio::test]
async fn every_page_and_list_shows_the_first_and_the_last_time_that_can_be_stored() {
    for (at, zone) in
        [("9999-12-31T23:59:59Z", "Pacific/Auckland"), ("0000-01-01T00:00:00Z", "Pacific/Honolulu")]
    {
        for service in Service::on_both_engines_with(&cities(at, zone), &[]).await {
            let panel = service.administrator().await;
            let city = super::city(&service);
            let own = |kind: &str| service.id(kind, "end");
            let step = format!(
                "spaces/participatory_processes/{}/steps/{}",
                service.id("space", "streets"),
                own("step")
            );
            for page in [
                format!("posts/{}/edit", own("post")),
                format!("meetings/{}/edit", own("meeting")),
                format!("meetings/{}/registrations", own("meeting")),
                format!("surveys/{}/edit", own("questionnaire")),
                format!("surveys/{}", own("questionnaire")),
                format!("{step}/edit"),
            ] {
                panel.get(&format!("{city}/{page}")).await.is(200);
            }
            for page in sample_pages(&service, &panel).await {
                panel.get(&page.path).await.is(200);
            }
            // The same minute keeps the time.
            let path = format!("{city}/posts/{}", own("post"));
            let form = panel.edit(&path).await;
            panel.send(&form.set("post[title][en]", "Later")).await.is(302);

            let machine = service.machine().await;
            for list in [
                "/blogs",
                "/meetings",
                "/proposals",
                "/spaces/search",
                "/components/search",
                "/questionnaires",
            ] {
                machine.get(list).await.is(200);
            }
            let id = service.id("proposal", "p1");
            machine.get(&format!("/proposals/{id}")).await.is(200);
        }
    }
}

#[tokio::test]
async fn the_log_of_jobs_begins_at_no_time_that_the_database_cannot_hold() {
    for service in Service::on_both_engines().await {
        let panel = service.administrator().await;
        for microseconds in ["-300000000000000000", "253402300800000000", "9223372036854775807"] {
            let place = format!("{microseconds}.018d3f2e-0000-7000-8000-000000000000");
            for name in ["older", "newer"] {
                panel.get(&format!("/system/jobs?{name}={place}")).await.is(200);
            }
        }
    }
}

#[tokio::test]
async fn the_pages_of_an_organization_are_in_its_zone() {
    for service in
        Service::on_both_engines_with(&cities("2027-01-10T11:30:00Z", "Pacific/Auckland"), &[]).await
    {
        let panel = service.administrator().await;
        let list = format!("{}/proposals", super::city(&service));
        panel.get(&list).await.is(200).shows("11 Jan 2027");
        let proposal = format!("{list}/{}", service.id("proposal", "p1"));
        panel.get(&proposal).await.is(200).shows("11 Jan 2027, 00:30");
        let space = service.id("space", "streets");
        let step = service.id("step", "end");
        let step = format!("{}/spaces/participatory_processes/{space}/steps/{step}", super::city(&service));
        assert_eq!(panel.edit(&step).await.values("step[starts_at]"), ["2027-01-11T00:30"]);
        let person = format!("{}/users/{}", super::city(&service), service.id("user", "norablum"));
        assert!(panel.get(&person).await.is(200).text.contains("Pacific/Auckland"));
    }
}
