use civitas_tests::service::{CITIES, Client, SYSTEM_CLIENTS, Service};
use serde_json::{Value, json};

const MEETING: &str = r#"{"type": "meeting", "ref": "kickoff", "organization": "city", "component": "meetings", "title": {"en": "Kick-off"}, "start_time": "2026-04-01T17:00:00Z", "published_at": "2026-02-01T10:00:00Z"}"#;

async fn services() -> Vec<Service> {
    Service::on_both_engines_with(&format!("{CITIES}{SYSTEM_CLIENTS}{MEETING}\n"), &[]).await
}

/// Every record that has extended data: who may reach it, and where.
async fn owners(service: &Service) -> Vec<(Client, String)> {
    let (nora, machine) = (service.user("norablum").await, service.machine().await);
    let space = service.id("space", "streets");
    vec![
        (
            service.at("city.test").of_system("city_system").await,
            format!("/organizations/{}", service.id("organization", "city")),
        ),
        (nora.clone(), "/me".to_owned()),
        (machine.clone(), format!("/spaces/participatory_processes/{space}")),
        (nora, format!("/components/{}", service.id("component", "ideas"))),
        (machine.clone(), format!("/proposals/{}", service.id("proposal", "p1"))),
        (machine, format!("/meetings/{}", service.id("meeting", "kickoff"))),
    ]
}

#[tokio::test]
async fn every_record_has_data_of_its_own_that_is_merged_read_and_removed() {
    for service in services().await {
        for (client, record) in owners(&service).await {
            let path = format!("{record}/extended_data");
            let sync = format!("{path}/sync");
            let put = async |at: &str, data: Value| {
                client.put(&sync, &json!({"object_path": at, "data": data})).await.is(200).data().clone()
            };
            assert_eq!(put("data-store.my-app.foo", json!({"id": 12})).await, json!({"id": 12}), "{record}");
            assert_eq!(put("data-store.my-app", json!({"bar": false})).await["bar"], json!(false));
            let foo = client.get(&format!("{path}?object_path=data-store.my-app.foo.id")).await.is(200);
            assert_eq!(foo.body, json!({"data": 12}));
            let nowhere = client.get(&format!("{path}?object_path=no.where")).await.is(200);
            assert_eq!(nowhere.body, json!({"data": {}}));
            let leaf = client.put(&sync, &json!({"object_path": "data-store.my-app", "data": 5})).await;
            leaf.refuses(400, "object_path data-store.my-app is not a leaf key");
            let way = client.put(&sync, &json!({"object_path": "data-store.my-app.bar.x", "data": 5})).await;
            way.refuses(404, "Resource not found");
            assert_eq!(put("data-store.my-app", json!(null)).await, json!({}));
            let all = client.get(&format!("{path}?object_path=.")).await.is(200);
            assert!(all.data().get("data-store").is_none(), "an object emptied goes too: {}", all.text);
        }
    }
}

#[tokio::test]
async fn the_data_of_each_record_has_a_maximum_after_any_number_of_writes() {
    let archive = format!("{CITIES}{SYSTEM_CLIENTS}{MEETING}\n");
    for service in
        Service::on_both_engines_with(&archive, &[("max_extended_data_payload_bytes", "300")]).await
    {
        for (client, record) in owners(&service).await {
            let path = format!("{record}/extended_data");
            let sync = format!("{path}/sync");
            let body = |at: &str, data: Value| json!({"object_path": at, "data": data});
            client.put(&sync, &body("a", json!("x".repeat(180)))).await.is(200);
            let refusal = "extended_data exceeds maximum size of 300 bytes";
            let refused = [
                body("b", json!("x".repeat(180))),
                body(".", json!({"c": {"d": "x".repeat(180)}})),
                body("e.f", json!(["x".repeat(180)])),
                body("a", json!("x".repeat(300))),
            ];
            for more in &refused {
                client.put(&sync, more).await.refuses(400, refusal);
                let job = client.finished(&client.put(&path, more).await.is(202)).await;
                assert_eq!(
                    (&job["status"], &job["error_message"]),
                    (&json!("failed"), &json!(refusal)),
                    "{record}"
                );
            }
            client.put(&sync, &body("a", json!("y".repeat(180)))).await.is(200);
            let data = client.get(&format!("{path}?object_path=a")).await.is(200);
            assert_eq!(*data.data(), json!("y".repeat(180)), "{record}");
        }
    }
}

#[tokio::test]
async fn a_job_writes_what_its_twin_writes() {
    for service in services().await {
        for (client, record) in owners(&service).await {
            let path = format!("{record}/extended_data");
            let body = json!({"object_path": "by.job", "data": {"n": 1}});
            let done = client.finished(&client.put(&path, &body).await.is(202)).await;
            let key = match record.as_str() {
                "/me" => "user_extended_data#update",
                organization if organization.starts_with("/org") => "organization_extended_data#update",
                _ => "resource_extended_data#update",
            };
            assert_eq!((&done["command_key"], &done["status"]), (&json!(key), &json!("completed")));
            assert_eq!(done["data"], json!({"data": {"n": 1}}), "{record}");
            let read = client.get(&format!("{path}?object_path=by.job.n")).await.is(200);
            assert_eq!(read.body, json!({"data": 1}));
        }
    }
}

#[tokio::test]
async fn a_number_is_stored_as_it_was_sent_or_refused() {
    let stored = [
        ("18446744073709551615", "18446744073709551615"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("0.30000000000000004", "0.30000000000000004"),
        ("1e16", "10000000000000000"),
        ("1e22", "1e+22"),
        ("1.7976931348623157e308", "1.7976931348623157e+308"),
        ("4.9406564584124654e-324", "5e-324"),
        ("-0.0", "0"),
    ];
    for service in services().await {
        let nora = service.user("norablum").await;
        let path = "/api/rest_full/v0.3/me/extended_data";
        let put = async |path: &str, number: &str| {
            let body = format!(r#"{{"object_path": "n", "data": {{"x": [{number}]}}}}"#).into_bytes();
            nora.raw(reqwest::Method::PUT, path, &[("content-type", "application/json")], Some(body)).await
        };
        let read = async || nora.get("/me/extended_data?object_path=n").await.is(200).text;
        for (sent, expected) in stored {
            let expected = format!(r#"{{"data":{{"x":[{expected}]}}}}"#);
            assert_eq!(put(&format!("{path}/sync"), sent).await.is(200).text, expected, "{sent}");
            assert_eq!(read().await, expected, "{sent}");
            nora.put("/me/extended_data/sync", &json!({"object_path": "n.y", "data": 1})).await.is(200);
            nora.put("/me/extended_data/sync", &json!({"object_path": "n.y", "data": null})).await.is(200);
            assert_eq!(read().await, expected, "{sent} after another write");
            let job = nora.finished(&put(path, sent).await.is(202)).await;
            assert_eq!(job["status"], "completed");
            assert_eq!(read().await, expected, "{sent} by a job");
        }
        let before = read().await;
        for sent in ["18446744073709551617", "0.12345678901234567", "3.141592653589793238", "1e-400"] {
            for endpoint in [path.to_owned(), format!("{path}/sync")] {
                let text = format!("Number cannot be stored exactly, send it as text: {sent}");
                put(&endpoint, sent).await.refuses(400, &text);
            }
        }
        put(&format!("{path}/sync"), "1e400").await.is(400);
        assert_eq!(read().await, before);
    }
}

#[tokio::test]
async fn path_and_data_are_asked_before_anything_is_accepted() {
    for service in services().await {
        for (client, record) in owners(&service).await {
            let by_default = record == "/me" || record.starts_with("/org");
            let path = format!("{record}/extended_data");
            let missing = "param is missing or the value is empty or invalid: ";
            for endpoint in [path.clone(), format!("{path}/sync")] {
                let nothing = client.put(&endpoint, &json!({"object_path": "a"})).await;
                nothing.refuses(400, &format!("{missing}data"));
                for bad in ["a..b", ".a", "a.", ".."] {
                    let strange = client.put(&endpoint, &json!({"object_path": bad, "data": 1})).await;
                    strange.refuses(400, "Invalid object_path");
                }
                let number = client.put(&endpoint, &json!({"object_path": 7, "data": 1})).await;
                number.refuses(400, "Invalid object_path");
                let nowhere = client.put(&endpoint, &json!({"data": {"x": 1}})).await;
                if by_default {
                    assert!(nowhere.status.is_success(), "{}", nowhere.text);
                } else {
                    nowhere.refuses(400, &format!("{missing}object_path"));
                }
            }
            client.get(&path).await.refuses(400, &format!("{missing}object_path"));
            client
                .get(&format!("{path}?object_path=%20"))
                .await
                .refuses(400, &format!("{missing}object_path"));
            let both =
                client.put(&format!("{path}/sync?object_path=query"), &json!({"data": 1})).await.is(200);
            assert_eq!(both.body, json!({"data": 1}));
            let over = json!({"object_path": "body", "data": 2});
            client.put(&format!("{path}/sync?object_path=query"), &over).await.is(200);
            let read = client.get(&format!("{path}?object_path=.")).await.is(200);
            assert_eq!(
                (&read.data()["query"], &read.data()["body"]),
                (&json!(1), &json!(2)),
                "the body wins"
            );
        }
    }
}

#[tokio::test]
async fn writers_of_different_keys_lose_nothing() {
    for service in services().await {
        for (client, record) in owners(&service).await {
            let path = format!("{record}/extended_data/sync");
            let writes = (0..25).map(|n| {
                let (client, path) = (client.clone(), path.clone());
                tokio::spawn(async move {
                    let body = json!({"object_path": format!("many.key{n}"), "data": n});
                    client.put(&path, &body).await.is(200);
                })
            });
            for write in writes.collect::<Vec<_>>() {
                write.await.unwrap();
            }
            let read = client.get(&format!("{record}/extended_data?object_path=many")).await.is(200);
            assert_eq!(read.data().as_object().unwrap().len(), 25, "{record}: {}", read.text);
        }
    }
}

#[tokio::test]
async fn a_write_moves_the_time_of_the_record_and_its_validator() {
    for service in services().await {
        let nora = service.user("norablum").await;
        let proposal = format!("/proposals/{}", service.id("proposal", "p1"));
        let before = nora.get(&proposal).await.is(200);
        let path = format!("{proposal}/extended_data");
        let data = nora.get(&format!("{path}?object_path=.")).await.is(200);
        let all = format!("{path}?object_path=.");
        let seen = [("if-none-match", data.header("etag"))];
        nora.send(reqwest::Method::GET, &all, &seen, None).await.is(304);
        nora.put(&format!("{path}/sync"), &json!({"object_path": "k", "data": 1})).await.is(200);
        let after = nora.get(&proposal).await.is(200);
        assert_ne!(before.header("etag"), after.header("etag"));
        assert_ne!(
            before.data()["attributes"]["updated_at"],
            after.data()["attributes"]["updated_at"],
            "the proposal was changed"
        );
        assert_eq!(after.data()["attributes"]["extended_data"]["k"], json!(1));
        nora.send(reqwest::Method::GET, &all, &seen, None).await.is(200);
        let found = nora.get("/proposals?filter[extended_data_cont]=%22k%22:1").await.is(200);
        assert_eq!(found.ids(), [service.id("proposal", "p1")], "a search finds what was written");
    }
}

#[tokio::test]
async fn what_can_not_be_seen_has_no_data() {
    for service in services().await {
        let nora = service.user("norablum").await;
        let hidden = [
            format!("/spaces/assemblies/{}", service.id("space", "circle")),
            "/spaces/assemblies/987654".to_owned(),
            format!("/spaces/towns/{}", service.id("space", "streets")),
            format!("/components/{}", service.id("component", "unready")),
            format!("/components/{}", service.id_in("town", "component", "ideas")),
            format!("/proposals/{}", service.id("proposal", "moderated")),
            format!("/proposals/{}", service.id_in("town", "proposal", "p1")),
            "/proposals/987654".to_owned(),
        ];
        for record in hidden {
            let path = format!("{record}/extended_data");
            nora.get(&format!("{path}?object_path=.")).await.refuses(404, "Resource not found");
            let body = json!({"object_path": "k", "data": 1});
            nora.put(&path, &body).await.refuses(404, "Resource not found");
            nora.put(&format!("{path}/sync"), &body).await.refuses(404, "Resource not found");
        }
    }
}

#[tokio::test]
async fn an_organization_is_reached_at_its_own_host_only() {
    for service in services().await {
        let (city, town) =
            (service.id("organization", "city"), service.id_in("town", "organization", "town"));
        let wide_in_town = service.at("town.test").of_system("whole_deployment").await;
        let body = json!({"data": {"k": 1}});
        let own = wide_in_town.put(&format!("/organizations/{town}/extended_data/sync"), &body).await;
        assert_eq!(own.is(200).body, json!({"data": {"k": 1}}));
        for other in [city, 987_654] {
            let path = format!("/organizations/{other}/extended_data");
            wide_in_town.put(&path, &body).await.refuses(403, "Forbidden");
            wide_in_town.put(&format!("{path}/sync"), &body).await.refuses(403, "Forbidden");
            wide_in_town.get(&format!("{path}?object_path=.")).await.refuses(403, "Forbidden");
        }
        let bound = service.at("city.test").of_system("city_system").await;
        let reserved = json!({"data": {"unconfirmed_host": "evil.example"}});
        let path = format!("/organizations/{city}/extended_data/sync");
        bound.put(&path, &reserved).await.refuses(400, "unconfirmed_host is reserved");
        service.machine().await.put(&path, &body).await.refuses(403, "Forbidden");
    }
}

#[tokio::test]
async fn only_a_person_has_data_of_their_own() {
    for service in services().await {
        let machine = service.machine().await;
        machine.get("/me/extended_data?object_path=.").await.refuses(400, "User required");
        machine.put("/me/extended_data", &json!({"data": {"k": 1}})).await.refuses(400, "User required");
        let (nora, luis) = (service.user("norablum").await, service.user("luisortega").await);
        nora.put("/me/extended_data/sync", &json!({"data": {"phone": "+41"}})).await.is(200);
        let read = luis.get("/me/extended_data?object_path=phone").await.is(200);
        assert_eq!(read.body, json!({"data": {}}), "each their own");
    }
}

#[tokio::test]
async fn a_record_has_a_mebibyte_of_extended_data_at_most() {
    for service in Service::on_both_engines().await {
        let nora = service.user("norablum").await;
        let put = async |path: &str| {
            let body = json!({"object_path": path, "data": "x".repeat(600_000)});
            nora.put("/me/extended_data/sync", &body).await
        };
        put("a").await.is(200);
        put("b").await.refuses(400, "extended_data exceeds maximum size of 1048576 bytes");
    }
}

#[tokio::test]
async fn the_size_of_extended_data_is_bounded_where_the_deployment_says_so() {
    let limits = [("max_extended_data_payload_bytes", "40")];
    for service in Service::on_both_engines_with(CITIES, &limits).await {
        let nora = service.user("norablum").await;
        let put = async |text: &str| {
            nora.put("/me/extended_data/sync", &json!({"object_path": "k", "data": text})).await
        };
        put(&"x".repeat(32)).await.is(200);
        put(&"x".repeat(33)).await.refuses(400, "extended_data exceeds maximum size of 40 bytes");
        let kept = nora.get("/me/extended_data?object_path=k").await.is(200);
        assert_eq!(kept.body, json!({"data": "x".repeat(32)}), "nothing was stored");
    }
}
