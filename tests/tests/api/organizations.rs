use civitas_tests::service::{Answer, CITIES, Client, SYSTEM_CLIENTS, Service};
use reqwest::Method;
use serde_json::{Value, json};

async fn services() -> Vec<Service> {
    Service::on_both_engines_with(&format!("{CITIES}{SYSTEM_CLIENTS}"), &[]).await
}

async fn bound(service: &Service) -> Client {
    service.anonymous().of_system("city_system").await
}

async fn wide(service: &Service) -> Client {
    service.anonymous().of_system("whole_deployment").await
}

/// `field code` of each fault.
fn faults(answer: &Answer) -> Vec<String> {
    assert_eq!((answer.status.as_u16(), &answer.body["error"]), (400, &json!("400: Bad request")));
    let details = answer.body["error_details"].as_array().unwrap();
    details.iter().map(|d| format!("{} {}", d["field"], d["code"]).replace('"', "")).collect()
}

#[tokio::test]
async fn an_organization_has_the_shape_of_the_contract() {
    for service in services().await {
        let (client, city) = (bound(&service).await, service.id("organization", "city"));
        let shown = client.get(&format!("/organizations/{city}?locales[]=fr")).await.is(200);
        let expected = json!({
            "id": city.to_string(), "type": "organization",
            "attributes": {
                "name": {"fr": "Riverville"}, "description": {}, "reference_prefix": "ORG", "host": "city.test",
                "secondary_hosts": ["www.city.test"], "available_locales": ["en", "fr"], "default_locale": "en",
                "send_welcome_notification": false, "users_registration_mode": "enabled",
                "force_users_to_authenticate_before_access_organization": false, "badges_enabled": false,
                "enable_participatory_space_filters": false, "enable_machine_translations": false,
                "user_groups_enabled": false, "time_zone": "UTC", "comments_max_length": 1000,
                "rich_text_editor_in_public_views": false, "created_at": "2026-01-05T09:00:00Z",
                "updated_at": shown.data()["attributes"]["updated_at"], "extended_data": {}
            },
            "meta": {"locales": ["fr"]}
        });
        assert_eq!(shown.data(), &expected);
        let all = client.get(&format!("/organizations/{city}")).await.is(200);
        assert_eq!(all.data()["meta"]["locales"], json!(["en", "fr", "es"]));
        client.get(&format!("/organizations/{city}?locales[]=xx")).await.is(400);
        let seen = [("if-none-match", shown.header("etag"))];
        let path = format!("/organizations/{city}?locales[]=fr");
        client.send(Method::GET, &path, &seen, None).await.is(304);
    }
}

#[tokio::test]
async fn a_client_reaches_its_own_organization_or_all_of_them() {
    for service in services().await {
        let (city, town) =
            (service.id("organization", "city"), service.id_in("town", "organization", "town"));
        let bound = bound(&service).await;
        assert_eq!(bound.get("/organizations").await.is(200).ids(), [city]);
        let missing = bound.get("/organizations/987654").await.refuses(404, "Resource not found");
        let foreign = bound.get(&format!("/organizations/{town}")).await.refuses(404, "Resource not found");
        assert_eq!(foreign.text, missing.text);
        let body = json!({"data": {"badges_enabled": true}});
        for path in [format!("/organizations/{town}"), format!("/organizations/{town}/sync")] {
            bound.put(&path, &body).await.refuses(404, "Resource not found");
        }
        let wide = wide(&service).await;
        assert_eq!(wide.get("/organizations").await.is(200).ids(), [city, town]);
        assert_eq!(wide.get("/organizations?per_page=1&page=2").await.is(200).ids(), [town]);
        let changed = wide.put(&format!("/organizations/{town}/sync"), &body).await.is(200);
        assert_eq!(changed.data()["attributes"]["badges_enabled"], json!(true));
        wide.get("/organizations/abc").await.refuses(404, "Resource not found");
    }
}

#[tokio::test]
async fn an_update_changes_what_was_sent_and_nothing_else() {
    for service in services().await {
        let (client, city) = (bound(&service).await, service.id("organization", "city"));
        let path = format!("/organizations/{city}/sync");
        let before = client.get(&format!("/organizations/{city}")).await.is(200);
        let sent = json!({"data": {"name": {"en": "Rivertown"}, "time_zone": "Europe/Zurich", "id": 7,
            "created_at": "2020-01-01T00:00:00Z", "extended_data": {"x": 1}, "colour": "red"}});
        let after = client.put(&path, &sent).await.is(200);
        let mut expected = before.data().clone();
        expected["attributes"]["name"]["en"] = json!("Rivertown");
        expected["attributes"]["time_zone"] = json!("Europe/Zurich");
        expected["attributes"]["updated_at"] = after.data()["attributes"]["updated_at"].clone();
        assert_eq!(after.data(), &expected);
        assert_ne!(after.data()["attributes"]["updated_at"], before.data()["attributes"]["updated_at"]);
        let again = client.put(&path, &sent).await.is(200);
        assert_eq!(again.body, after.body, "what changes nothing moves nothing");
        let shown = client.get(&format!("/organizations/{city}")).await.is(200);
        assert_ne!(shown.header("etag"), before.header("etag"));
    }
}

#[tokio::test]
async fn a_job_and_a_patch_do_what_the_put_does() {
    for service in services().await {
        let (client, city) = (bound(&service).await, service.id("organization", "city"));
        let path = format!("/organizations/{city}");
        let accepted = client.put(&path, &json!({"data": {"comments_max_length": 7}})).await.is(202);
        let done = client.finished(&accepted).await;
        assert_eq!(
            (&done["command_key"], &done["status"]),
            (&json!("organizations#update"), &json!("completed"))
        );
        assert_eq!(done["data"]["data"]["attributes"]["comments_max_length"], json!(7));
        let body = json!({"data": {"comments_max_length": 8}});
        let accepted = client.send(Method::PATCH, &path, &[], Some(&body)).await.is(202);
        assert_eq!(client.finished(&accepted).await["status"], json!("completed"));
        let refused = client.put(&path, &json!({"data": {"comments_max_length": 0}})).await.is(202);
        let failed = client.finished(&refused).await;
        assert_eq!(failed["error_details"][0]["code"], json!("greater_than"));
        let missing = "param is missing or the value is empty or invalid: data";
        for (body, sentence) in [
            (json!({}), missing),
            (json!({"data": {}}), missing),
            (json!({"data": null}), missing),
            (json!({"data": "x"}), missing),
            (json!({"data": []}), missing),
        ] {
            client.put(&path, &body).await.refuses(400, sentence);
            client.put(&format!("{path}/sync"), &body).await.refuses(400, sentence);
        }
        let there = client.send(Method::PATCH, &format!("{path}/sync"), &[], Some(&body)).await.is(404);
        assert_eq!(there.body["error"], json!("404: Route not found"));
    }
}

#[tokio::test]
async fn one_fault_keeps_everything_out_and_all_are_reported() {
    for service in services().await {
        let (client, city) = (bound(&service).await, service.id("organization", "city"));
        let path = format!("/organizations/{city}/sync");
        let before = client.get(&format!("/organizations/{city}")).await.is(200).body;
        let sent = json!({"data": {"badges_enabled": true, "time_zone": "europe/zurich", "name": {"fr": "MILLTOWN"},
            "host": "town.test", "secondary_hosts": ["town.test"], "default_locale": "es"}});
        let refused = client.put(&path, &sent).await;
        let expected = [
            "name taken",
            "host taken",
            "secondary_hosts taken",
            "default_locale inclusion",
            "time_zone inclusion",
        ];
        assert_eq!(faults(&refused), expected);
        assert_eq!(refused.body["error_details"][0]["description"], "Name fr has already been taken");
        let host = &refused.body["error_details"][1]["description"];
        assert_eq!(host, "Unconfirmed host has already been taken");
        assert_eq!(client.get(&format!("/organizations/{city}")).await.is(200).body, before);
    }
}

#[tokio::test]
async fn a_name_is_taken_in_every_form_and_case() {
    for service in services().await {
        let client = wide(&service).await;
        let path = |name: &str| format!("/organizations/{}/sync", service.id_in(name, "organization", name));
        let names = json!({"data": {"name": {"fr": "Éauville", "es": "ΒΟΡΡΆΣ"}}});
        client.put(&path("town"), &names).await.is(200);
        for name in ["éauville", "E\u{301}auville", "e\u{301}AUVILLE", "βορράς", "Βορράσ"] {
            let refused = client.put(&path("city"), &json!({"data": {"name": {"fr": name}}})).await;
            assert_eq!(faults(&refused), ["name taken"], "{name}");
        }
        client.put(&path("city"), &json!({"data": {"name": {"fr": "Eauville"}}})).await.is(200);
    }
}

#[tokio::test]
async fn a_new_host_waits_until_it_is_cancelled_or_replaced() {
    for service in services().await {
        let (client, city) = (wide(&service).await, service.id("organization", "city"));
        let path = format!("/organizations/{city}");
        let put = async |host: Value| {
            let body = json!({"data": {"host": host}});
            client.put(&format!("{path}/sync"), &body).await.is(200).data().clone()
        };
        let waiting = put(json!("NEW.example.test")).await;
        assert_eq!(
            (&waiting["attributes"]["host"], &waiting["meta"]["unconfirmed_host"]),
            (&json!("city.test"), &json!("new.example.test"))
        );
        assert_eq!(waiting["attributes"]["extended_data"]["unconfirmed_host"], json!("new.example.test"));
        service.at("new.example.test").get("/spaces/search").await.is(404);
        let town = service.id_in("town", "organization", "town");
        let same = json!({"data": {"host": "new.example.test"}});
        let refused = client.put(&format!("/organizations/{town}/sync"), &same).await;
        assert_eq!(faults(&refused), ["host taken"]);
        assert_eq!(
            put(json!("newer.example.test")).await["meta"]["unconfirmed_host"],
            json!("newer.example.test")
        );
        client.put(&format!("/organizations/{town}/sync"), &same).await.is(200);
        assert!(put(json!("city.test")).await["meta"].get("unconfirmed_host").is_none());
        put(json!("newer.example.test")).await;
        let cancel = json!({"object_path": "unconfirmed_host", "data": null});
        client.put(&format!("{path}/extended_data/sync"), &cancel).await.is(200);
        assert!(client.get(&path).await.is(200).data()["meta"].get("unconfirmed_host").is_none());
        let promoted = put(json!("www.city.test")).await;
        assert_eq!(promoted["attributes"]["secondary_hosts"], json!(["www.city.test"]));
        service.at("www.city.test").get("/spaces/search").await.is(301);
    }
}

#[tokio::test]
async fn extended_data_is_shown_to_those_who_may_read_it() {
    let reader = r#"{"type": "api_client", "ref": "reader", "organization": "city", "client_id": "id_city_reader", "client_secret": "key_city_reader", "name": "Reader", "scopes": ["system"], "permissions": ["system.organizations.read"]}"#;
    for service in Service::on_both_engines_with(&format!("{CITIES}{SYSTEM_CLIENTS}{reader}\n"), &[]).await {
        let path = format!("/organizations/{}", service.id("organization", "city"));
        let (full, reader) = (bound(&service).await, service.anonymous().of_system("city_reader").await);
        let body = json!({"data": {"colour": "red"}});
        full.put(&format!("{path}/extended_data/sync"), &body).await.is(200);
        let shown = full.get(&path).await.is(200);
        assert_eq!(shown.data()["attributes"]["extended_data"], json!({"colour": "red"}));
        assert_eq!(reader.get(&path).await.is(200).data()["attributes"]["extended_data"], json!({}));
    }
}

#[tokio::test]
async fn an_update_has_one_event_with_the_organization_as_it_is_now() {
    for service in services().await {
        let (client, city) = (bound(&service).await, service.id("organization", "city"));
        let path = format!("/organizations/{city}");
        let quiet = json!({"object_path": "k", "data": 1});
        client.put(&format!("{path}/extended_data/sync"), &quiet).await.is(200);
        let body = json!({"data": {"comments_max_length": 7}});
        client.put(&format!("{path}/sync"), &body).await.is(200);
        client.put(&format!("{path}/sync"), &body).await.is(200);
        let id = civitas_kernel::OrganizationId(city);
        let told = service.store.outbox().page_after(id, None, 10).await.unwrap();
        let [event] = told.as_slice() else { panic!("one event, not {}", told.len()) };
        assert_eq!(event.name.as_str(), "system.organizations.updated");
        let payload: Value = serde_json::from_str(&event.payload).unwrap();
        let attributes = &payload["data"]["attributes"];
        assert_eq!(
            (&attributes["comments_max_length"], &attributes["extended_data"]),
            (&json!(7), &json!({}))
        );
    }
}
