//! Class names (contract 01 §2): those with the prefix of an older product are understood in filters, bodies and ids of
//! roles; the prefix on output is a setting.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use civitas_tests::service::{CITIES, Service};
use serde_json::{Value, json};

/// The id of a role with another prefix of its class name.
fn renamed(id: &Value, from: &str, to: &str) -> String {
    let text = String::from_utf8(URL_SAFE_NO_PAD.decode(id.as_str().unwrap()).unwrap()).unwrap();
    assert!(text.contains(&format!("\"{from}::")), "{text}");
    URL_SAFE_NO_PAD.encode(text.replace(&format!("{from}::"), &format!("{to}::")))
}

#[tokio::test]
async fn class_names_with_the_older_prefix_are_understood() {
    for service in Service::on_both_engines().await {
        let machine = service.machine().await;
        let (council, luis) = (service.id("space", "council"), service.id("user", "luisortega"));
        let body = |class: &str| {
            json!({"data": {"type": "role", "attributes": {
                "resource_type": class, "resource_id": council, "user_id": luis, "type": "space_moderator"}}})
        };
        let given = machine.post("/roles/sync", &body("Decidim::Assembly")).await.is(201);
        assert_eq!(given.data()["attributes"]["resource_type"], "Platform::Assembly");
        let changed = format!("/roles/{}/sync", given.data()["id"].as_str().unwrap());
        machine.put(&changed, &body("Decidim::Assembly")).await.is(200);
        machine.put(&changed, &body("Decidim::Conference")).await.is(422);
        for (list, field, class) in [
            ("/components/search", "participatory_space_type", "ParticipatoryProcess"),
            ("/roles", "resource_type", "Assembly"),
        ] {
            let ask = async |predicate: &str, prefix: &str| {
                let path = format!("{list}?filter[{field}_{predicate}]={prefix}::{class}");
                machine.get(&path).await.is(200).body["data"].clone()
            };
            for predicate in ["eq", "not_eq", "in", "start", "matches"] {
                let found = ask(predicate, "Platform").await;
                assert_eq!(ask(predicate, "Decidim").await, found, "{list} {predicate}");
                assert!(predicate == "not_eq" || found != json!([]), "{list} {predicate}");
            }
            let all = ask("eq", "Platform").await;
            for pattern in ["matches]=%25Decidim::", "matches]=decidim::%25", "start]=decidim::"] {
                let path = format!("{list}?filter[{field}_{pattern}{class}");
                assert_eq!(machine.get(&path).await.is(200).body["data"], all, "{path}");
            }
            let path = format!("{list}?filter[{field}_matches]=Decidim::Nothing%25");
            assert_eq!(machine.get(&path).await.is(200).body["data"], json!([]), "{path}");
        }
        machine.get("/attachments?filter[attached_to_type_eq]=Decidim::Proposals::Proposal").await.is(200);
        machine.post("/roles/sync", &body("Other::Assembly")).await.is(422);
    }
}

#[tokio::test]
async fn ids_of_roles_with_the_older_prefix_name_the_same_role() {
    for service in Service::on_both_engines().await {
        let machine = service.machine().await;
        let (council, luis) = (service.id("space", "council"), service.id("user", "luisortega"));
        let body = json!({"data": {"attributes": {"resource_type": "Decidim::Assembly", "resource_id": council,
            "user_id": luis, "type": "space_moderator"}}});
        let given = machine.post("/roles/sync", &body).await.is(201).data().clone();
        let older = renamed(&given["id"], "Platform", "Decidim");
        assert_eq!(*machine.get(&format!("/roles/{older}")).await.is(200).data(), given);
        let body = json!({"data": {"attributes": {"type": "space_valuator"}}});
        let changed = machine.put(&format!("/roles/{older}/sync"), &body).await.is(200).data()["id"].clone();
        let older = renamed(&changed, "Platform", "Decidim");
        let removed = machine.delete(&format!("/roles/{older}")).await.is(202);
        assert_eq!(machine.finished(&removed).await["status"], "completed");
        machine.get(&format!("/roles/{}", changed.as_str().unwrap())).await.is(404);
        let strange = renamed(&given["id"], "Platform", "Other");
        machine.get(&format!("/roles/{strange}")).await.is(404);
    }
}

#[tokio::test]
async fn the_prefix_of_class_names_on_output_is_a_setting() {
    for service in Service::on_both_engines_with(CITIES, &[("class_name_prefix", "Decidim")]).await {
        let machine = service.machine().await;
        let (council, luis) = (service.id("space", "council"), service.id("user", "luisortega"));
        let body = |class: &str| {
            json!({"data": {"attributes": {"resource_type": format!("{class}::Assembly"), "resource_id": council,
                "user_id": luis, "type": "space_moderator"}}})
        };
        let given = machine.post("/roles/sync", &body("Platform")).await.is(201).data().clone();
        assert_eq!(given["attributes"]["resource_type"], "Decidim::Assembly");
        for prefix in ["Decidim", "Platform"] {
            let id = renamed(&given["id"], "Decidim", prefix);
            assert_eq!(*machine.get(&format!("/roles/{id}")).await.is(200).data(), given);
            let list = machine.get(&format!("/roles?filter[resource_type]={prefix}::Assembly")).await.is(200);
            assert!(list.data().as_array().unwrap().contains(&given), "{prefix}");
        }
        let accepted =
            machine.put(&format!("/roles/{}", given["id"].as_str().unwrap()), &body("Decidim")).await;
        let job = machine.finished(&accepted.is(202)).await;
        assert_eq!(job["data"]["data"]["attributes"]["resource_type"], "Decidim::Assembly", "{job}");
        for (pattern, expected) in [
            ("start]=Decidim::Ass", true),
            ("matches]=deci%25mbly", true),
            ("matches]=Platform::%25", true),
            ("matches]=%25form%25", false),
        ] {
            let list = machine.get(&format!("/roles?filter[resource_type_{pattern}")).await.is(200);
            assert_eq!(list.data().as_array().unwrap().contains(&given), expected, "{pattern}");
        }
        for path in [
            "/roles".to_owned(),
            "/spaces/search".to_owned(),
            format!("/spaces/assemblies/{council}"),
            "/components/search".to_owned(),
            "/attachments".to_owned(),
            "/webhook_events/participatory_process.step_activated.succeeded".to_owned(),
            "/openapi.json".to_owned(),
        ] {
            let text = machine.get(&path).await.is(200).text;
            assert!(!text.contains("Platform::"), "{path}: {text}");
        }
        let space = machine.get(&format!("/spaces/assemblies/{council}")).await.data().clone();
        assert_eq!(space["attributes"]["participatory_space_type"], "Decidim::Assembly");
        let search = space["relationships"]["components"]["links"]["self"]["href"].as_str().unwrap();
        let query = search.split_once('?').unwrap().1;
        assert!(query.contains("Decidim%3A%3AAssembly"), "{query}");
        assert!(!machine.get(&format!("/components/search?{query}")).await.is(200).ids().is_empty());
    }
}
