use super::{ASSEMBLY, ORGANIZATION, PROCESS, admin_id, body, create, id, named, path};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE;
use civitas_tests::service::{Answer, Service};
use serde_json::{Value, json};

/// The detail of a refusal: status, label, sentence, code and field.
fn refusal(answer: &Answer) -> (u16, &str, &str, &str, &str) {
    let detail = &answer.body["error_details"][0];
    let text = |value: &'static str| answer.body[value].as_str().unwrap_or_default();
    (
        answer.status.as_u16(),
        text("error"),
        text("error_description"),
        detail["code"].as_str().unwrap_or_default(),
        detail["field"].as_str().unwrap_or_default(),
    )
}

#[tokio::test]
async fn missing_and_mistyped_members_are_the_first_errors_at_both_endpoints() {
    for service in Service::on_both_engines().await {
        let machine = service.machine().await;
        let missing = "param is missing or the value is empty or invalid";
        let whole = body(ASSEMBLY, 1, 1, "space_moderator");
        let without = |names: &[&str]| {
            let mut body = whole.clone();
            for name in names {
                body["data"]["attributes"][name] = Value::Null;
            }
            body
        };
        let with = |name: &str, value: Value| {
            let mut body = whole.clone();
            body["data"]["attributes"][name] = value;
            body
        };
        for (body, sentence) in [
            (json!({}), format!("{missing}: data")),
            (json!({"data": null}), format!("{missing}: data")),
            (json!({"data": 1}), "data must be an object".to_owned()),
            (json!({"data": {}}), format!("{missing}: attributes")),
            (json!({"data": {"attributes": []}}), "attributes must be an object".to_owned()),
            (json!({"data": {"attributes": {}}}), format!("{missing}: resource_type")),
            (without(&["resource_id", "user_id", "type"]), format!("{missing}: resource_id")),
            (without(&["user_id", "type"]), format!("{missing}: user_id")),
            (without(&["type"]), format!("{missing}: type")),
            (with("type", json!("")), format!("{missing}: type")),
            (with("resource_id", json!("x")), "resource_id must be an integer".to_owned()),
            (with("resource_id", json!(1.5)), "resource_id must be an integer".to_owned()),
            (with("user_id", json!("99999999999999999999")), "user_id must be an integer".to_owned()),
            (with("user_id", json!([1])), "user_id must be an integer".to_owned()),
            (with("type", json!(1)), "type must be a string".to_owned()),
        ] {
            for endpoint in ["/roles", "/roles/sync"] {
                machine.post(endpoint, &body).await.refuses(400, &sentence);
            }
        }
        let label = machine.post("/roles/sync", &json!({})).await.is(400);
        assert_eq!(label.body["error"], "400: Required parameter missing");
        let mary = admin_id(service.id("organization", "city"), service.id("user", "maryadmin"));
        for (body, name) in [
            (json!({}), "data"),
            (json!({"data": {"attributes": null}}), "attributes"),
            (json!({"data": {"attributes": {"type": null}}}), "type"),
        ] {
            for endpoint in [path(&mary), format!("{}/sync", path(&mary)), path("unknown")] {
                machine.put(&endpoint, &body).await.refuses(400, &format!("{missing}: {name}"));
            }
        }
    }
}

#[tokio::test]
async fn a_creation_is_refused_in_the_order_of_the_table() {
    for service in Service::on_both_engines().await {
        let machine = service.machine().await;
        let city = service.id("organization", "city");
        let (council, nora) = (service.id("space", "council"), service.id("user", "norablum"));
        let unprocessable = "422: Unprocessable entity";
        let unsupported = |name: &str| format!("Unsupported resource_type for space role: {name}");
        let admin = "general_admin requires resource_type Platform::Organization".to_owned();
        let foreign = "Resource must belong to current organization".to_owned();
        for (body, sentence, code, field) in [
            (body("x", 0, 0, "mayor"), "Invalid role type: mayor".to_owned(), "inclusion", "type"),
            (body(ASSEMBLY, 0, 0, "general_admin"), admin, "invalid", "resource_type"),
            (body(ORGANIZATION, city + 1, 0, "general_admin"), foreign.clone(), "invalid", "resource_id"),
            (body(ORGANIZATION, city + 1, 0, "space_moderator"), foreign, "invalid", "resource_id"),
            (
                body(ORGANIZATION, city, 0, "space_moderator"),
                unsupported(ORGANIZATION),
                "inclusion",
                "resource_type",
            ),
            (
                body("Platform::Initiative", service.id("space", "petition"), nora, "space_moderator"),
                unsupported("Platform::Initiative"),
                "inclusion",
                "resource_type",
            ),
            (
                body("assemblies", council, nora, "space_valuator"),
                unsupported("assemblies"),
                "inclusion",
                "resource_type",
            ),
        ] {
            let answer = create(&machine, &body).await;
            assert_eq!(refusal(&answer), (422, unprocessable, sentence.as_str(), code, field));
        }
        let digits = json!({"data": {"attributes": {"resource_type": ASSEMBLY,
            "resource_id": council.to_string(), "user_id": nora.to_string(), "type": "space_moderator"}}});
        create(&machine, &digits).await.is(201);
        let taken = create(&machine, &digits).await;
        let sentence = "Type has already been taken";
        assert_eq!(refusal(&taken), (400, "400: Invalid request", sentence, "taken", "type"));
        for space in ["hidden", "streets"] {
            create(&machine, &body(PROCESS, service.id("space", space), nora, "space_valuator"))
                .await
                .is(201);
        }
        create(&machine, &body(ASSEMBLY, service.id("space", "circle"), nora, "space_private_member"))
            .await
            .is(201);
    }
}

#[tokio::test]
async fn spaces_people_and_roles_of_another_organization_are_like_missing_ones() {
    for service in Service::on_both_engines().await {
        let machine = service.machine().await;
        let (here, there) = (service.id("space", "streets"), service.id_in("town", "space", "streets"));
        let (nora, foreigner) = (service.id("user", "norablum"), service.id_in("town", "user", "norablum"));
        let missing = create(&machine, &body(PROCESS, 999_999, nora, "space_moderator")).await.is(404);
        for (space, user, role_type) in [
            (there, nora, "space_moderator"),
            (here, foreigner, "space_moderator"),
            (here, 999_999, "space_valuator"),
            (-1, nora, "space_moderator"),
        ] {
            let answer = create(&machine, &body(PROCESS, space, user, role_type)).await.is(404);
            assert_eq!(answer.text, missing.text);
        }
        let city = service.id("organization", "city");
        create(&machine, &body(ORGANIZATION, city, foreigner, "general_admin")).await.is(404);

        let town = service.id_in("town", "organization", "town");
        let ids = [
            admin_id(town, service.id_in("town", "user", "maryadmin")),
            admin_id(city, service.id_in("town", "user", "maryadmin")),
            named(&format!(
                r#"{{"resource_type":"Platform::Assembly","resource_id":{},"user_id":{},"invited_at":null,"type":"space_private_member"}}"#,
                service.id_in("town", "space", "circle"),
                service.id_in("town", "user", "member_one"),
            )),
        ];
        let own = service.user_through("town", "full", "norablum").await;
        own.get(&path(&ids[0])).await.is(200);
        own.get(&path(&ids[2])).await.is(200);
        let unknown = machine.get(&path("bm9uZQ")).await.refuses(404, "Resource not found").text;
        let change = json!({"data": {"attributes": {"type": "space_valuator"}}});
        for id in ids {
            assert_eq!(machine.get(&path(&id)).await.is(404).text, unknown);
            for endpoint in [path(&id), format!("{}/sync", path(&id))] {
                assert_eq!(machine.put(&endpoint, &change).await.is(404).text, unknown);
                assert_eq!(machine.delete(&endpoint).await.is(404).text, unknown);
            }
        }
        own.get(&path(&admin_id(town, service.id_in("town", "user", "maryadmin")))).await.is(200);
    }
}

#[tokio::test]
async fn an_id_is_read_with_patience_and_never_by_halves() {
    for service in Service::on_both_engines().await {
        let machine = service.machine().await;
        let (city, mary) = (service.id("organization", "city"), service.id("user", "maryadmin"));
        let text = format!(
            r#"{{"resource_type":"Platform::Organization","resource_id":{city},"user_id":{mary},"invited_at":null,"type":"general_admin"}}"#
        );
        let exact = machine.get(&path(&named(&text))).await.is(200);
        let shuffled = format!(
            r#"{{ "type": "general_admin", "colour": {{}}, "user_id": {mary}, "invited_at": null, "resource_id": {city}, "resource_type": "Platform::Organization"}}"#
        );
        for tolerated in [
            URL_SAFE.encode(&text),
            format!("{}==", named(&text)),
            URL_SAFE.encode(&shuffled),
            named(&shuffled),
        ] {
            assert_eq!(machine.get(&path(&tolerated)).await.is(200).data(), exact.data(), "{tolerated}");
        }
        let encoded = format!("{}%3D", named(&text));
        machine.get(&path(&encoded)).await.is(200);
        let (user, resource) = (format!("\"user_id\":{mary}"), format!("\"resource_id\":{city}"));
        for (part, other) in [
            (user.as_str(), format!("\"user_id\":\"{mary}\"")),
            (&user, format!("\"user_id\":{mary}.0")),
            (&user, "\"user_id\":null".to_owned()),
            (&user, "\"user\":1".to_owned()),
            (&resource, format!("\"resource_id\":\"{city}\"")),
            (&resource, "\"resource_id\":true".to_owned()),
            ("\"invited_at\":null", "\"invited_at\":\"2026-01-05T09:00:00Z\"".to_owned()),
            ("\"invited_at\":null,", String::new()),
            ("general_admin", "space_moderator".to_owned()),
            (ORGANIZATION, PROCESS.to_owned()),
            ("{", "[".to_owned()),
        ] {
            let wrong = named(&text.replace(part, &other));
            machine.get(&path(&wrong)).await.refuses(404, "Resource not found");
        }
        for wrong in ["1", "0", "-1", "x", "%00", "%F0%9F%92%A9", &"A".repeat(4000), &named(&"[".repeat(900))]
        {
            machine.get(&path(wrong)).await.refuses(404, "Resource not found");
        }
    }
}

#[tokio::test]
async fn a_change_is_refused_in_the_order_of_the_table() {
    for service in Service::on_both_engines().await {
        let machine = service.machine().await;
        let (city, mary) = (service.id("organization", "city"), service.id("user", "maryadmin"));
        let (council, nora) = (service.id("space", "council"), service.id("user", "norablum"));
        let moderator =
            id(&create(&machine, &body(ASSEMBLY, council, nora, "space_moderator")).await.is(201));
        create(&machine, &body(ASSEMBLY, council, nora, "space_valuator")).await.is(201);
        let change = async |id: &str, attributes: Value| {
            let body = json!({"data": {"attributes": attributes}});
            machine.put(&format!("{}/sync", path(id)), &body).await
        };
        let unprocessable = "422: Unprocessable entity";
        let fixed = "Resource and user of a role can not change";
        let exchanged = "general_admin can not be exchanged with a space role";
        let admin = admin_id(city, mary);
        for (id, attributes, sentence, code, field) in [
            (
                &moderator,
                json!({"type": "mayor", "user_id": mary}),
                "Invalid role type: mayor",
                "inclusion",
                "type",
            ),
            (
                &moderator,
                json!({"type": "general_admin", "resource_type": PROCESS, "user_id": mary}),
                fixed,
                "invalid",
                "resource_type",
            ),
            (
                &moderator,
                json!({"type": "general_admin", "resource_id": council + 1, "user_id": mary}),
                fixed,
                "invalid",
                "resource_id",
            ),
            (&moderator, json!({"type": "general_admin", "user_id": mary}), fixed, "invalid", "user_id"),
            (&moderator, json!({"type": "general_admin"}), exchanged, "invalid", "type"),
            (&admin, json!({"type": "space_valuator", "user_id": nora}), fixed, "invalid", "user_id"),
            (&admin, json!({"type": "space_valuator"}), exchanged, "invalid", "type"),
        ] {
            let answer = change(id, attributes).await;
            assert_eq!(refusal(&answer), (422, unprocessable, sentence, code, field));
        }
        let taken = change(&moderator, json!({"type": "space_valuator"})).await;
        let sentence = "Type has already been taken";
        assert_eq!(refusal(&taken), (400, "400: Invalid request", sentence, "taken", "type"));
        let before = machine.get(&path(&moderator)).await.is(200);
        let whole = json!({"type": "space_moderator", "resource_type": ASSEMBLY,
            "resource_id": council.to_string(), "user_id": nora, "colour": "red"});
        assert_eq!(
            change(&moderator, whole).await.is(200).body,
            before.body,
            "the same type changes nothing"
        );
    }
}
